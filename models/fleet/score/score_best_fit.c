/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Least left after placing, cpu and cards weighing the same (gpu-sharing 5.5, BestFit). The
 * original stretches the scores of the nodes that fit to 0..100; integer scores differ by at
 * least 1 before and after, so the order and its ties are the same without.
 */
#include "models/fleet/score/score.h"

static int32_t score(const struct score_settings *s, const struct score_pod *pod,
                     const struct score_node *node, int32_t *card)
{
    (void)card;
    double cpu = (double)(node->cpu_free_milli - pod->cpu_milli) / (double)s->cpu_norm_milli;
    double cards = (double)(node->left_sum - (int64_t)pod->cards * pod->milli) /
                   (double)s->card_norm_milli;
    return (int32_t)(SCORE_MAX * (1 - (0.5 * cpu + 0.5 * cards)));
}

const struct score_rule score_best_fit = {"best-fit", false, SCORE_CARD_LEAST_LEFT, score};
