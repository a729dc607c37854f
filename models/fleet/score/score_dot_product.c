/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Alignment of what is left with what is asked, as vectors of cpu and cards (gpu-sharing 5.5,
 * dimension "merge", normalised by the largest node): low alignment is good.
 */
#include "models/fleet/score/score.h"

static int32_t score(const struct score_settings *s, const struct score_pod *pod,
                     const struct score_node *node, int32_t *card)
{
    (void)card;
    double cpu_norm = (double)s->cpu_norm_milli, card_norm = (double)s->card_norm_milli;
    double cpu = (double)node->cpu_free_milli / cpu_norm * ((double)pod->cpu_milli / cpu_norm);
    double cards = (double)node->left_sum / card_norm *
                   ((double)((int64_t)pod->cards * pod->milli) / card_norm);
    return (int32_t)(SCORE_MAX * (1 - (cpu + cards) / 2));
}

const struct score_rule score_dot_product = {"dot-product", false, SCORE_CARD_LEAST_LEFT, score};
