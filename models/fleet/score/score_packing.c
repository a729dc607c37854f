/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fill cards in use first, then idle cards of nodes in use, then idle nodes (gpu-sharing 5.5,
 * GpuPacking): three bands of scores, 50..100, 33..50 and up to 33.
 */
#include "models/fleet/score/score.h"

/* Where the pod's parts go, fullest cards first: idle cards taken and percents left of the rest. */
struct taken {
    int32_t idle, percent_left;
};

static struct taken take(const struct score_pod *pod, const struct score_node *node)
{
    struct taken t = {0, 0};
    int32_t last = -1, last_left = -1;
    for (int32_t parts = pod->cards; parts > 0; parts--) {
        int32_t best = -1; /* the next card in order of (left, index) */
        for (int32_t i = 0; i < node->cards; i++) {
            int32_t left = node->left[i];
            bool later = left > last_left || (left == last_left && i > last);
            if (left >= pod->milli && later && (best < 0 || left < node->left[best]))
                best = i;
        }
        if (best < 0)
            break; /* the rest shares cards already counted */
        last = best;
        last_left = node->left[best];
        if (last_left == SCORE_CARD_MILLI)
            t.idle++;
        else
            t.percent_left += last_left * 100 / SCORE_CARD_MILLI;
    }
    return t;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t score(const struct score_settings *s, const struct score_pod *pod,
                     const struct score_node *node, int32_t *card)
{
    (void)s;
    (void)card;
    if (pod->cards == 0)
        return 0;
    if (node->left_sum == node->cards * SCORE_CARD_MILLI)
        return larger(33 - node->cards, node->cards);
    struct taken t = take(pod, node);
    return t.idle > 0 ? larger(50 - t.idle, 33) : larger(100 - t.percent_left / 10, 50);
}

const struct score_rule score_packing = {"packing", false, SCORE_CARD_LEAST_LEFT, score};
