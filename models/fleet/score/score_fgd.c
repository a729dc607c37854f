/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fragmentation gradient descent (Weng et al., USENIX ATC 2023): where the expected fragment of
 * the node grows least, or shrinks most. The score is a sigmoid of the change in cards, cut to an
 * integer (gpu-sharing 5.5). A share goes to the card with the best score, first among equals.
 */
#include <string.h>

#include "models/fleet/score/frag.h"
#include "models/fleet/score/score.h"
#include "sim/dmath.h"

static int32_t sigmoid(double gain_milli)
{
    return (int32_t)(1 / (1 + dm_exp(-(gain_milli / SCORE_CARD_MILLI))) * SCORE_MAX);
}

static int32_t score_share(const struct score_settings *s, const struct score_pod *pod,
                           const struct score_node *node, int32_t *card)
{
    int32_t best = -1;
    struct score_node after = *node;
    memcpy(s->scratch, node->left, (size_t)node->cards * sizeof(*s->scratch));
    after.left = s->scratch;
    after.cpu_free_milli -= pod->cpu_milli;
    after.left_sum -= pod->milli;
    for (int32_t i = 0; i < node->cards; i++) {
        int16_t left = node->left[i];
        bool seen = left < pod->milli; /* a card like one before scores the same */
        for (int32_t j = 0; j < i && !seen; j++)
            seen = node->left[j] == left;
        if (seen)
            continue;
        s->scratch[i] = (int16_t)(left - pod->milli);
        int32_t score = sigmoid(node->frag_milli - frag_of(s->mix, &after));
        s->scratch[i] = left;
        if (score > best) {
            best = score;
            *card = i;
        }
    }
    return best;
}

static int32_t score(const struct score_settings *s, const struct score_pod *pod,
                     const struct score_node *node, int32_t *card)
{
    if (pod->cards == 1 && pod->milli < SCORE_CARD_MILLI)
        return score_share(s, pod, node, card);
    struct score_node after = *node;
    after.cpu_free_milli -= pod->cpu_milli;
    if (pod->cards > 0) {
        memcpy(s->scratch, node->left, (size_t)node->cards * sizeof(*s->scratch));
        int32_t parts = pod->cards;
        for (int32_t i = 0; parts > 0 && i < node->cards; i++)
            if (s->scratch[i] == SCORE_CARD_MILLI) {
                s->scratch[i] = 0;
                parts--;
            }
        after.left = s->scratch;
        after.left_sum -= pod->cards * SCORE_CARD_MILLI;
    }
    return sigmoid(node->frag_milli - frag_of(s->mix, &after));
}

const struct score_rule score_fgd = {"fgd", false, SCORE_CARD_OWN, score};
