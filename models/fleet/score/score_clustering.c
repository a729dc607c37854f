/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pods of one kind together (gpu-sharing 5.5, GpuClustering): the kind is "share" or the number of
 * cards. Above that, the node with less left.
 */
#include "models/fleet/score/score.h"

static int32_t score(const struct score_settings *s, const struct score_pod *pod,
                     const struct score_node *node, int32_t *card)
{
    (void)card;
    uint32_t tag = score_tag(pod);
    if (tag == 0)
        return 0;
    int32_t base = (int32_t)(25 * (double)(s->card_norm_milli - node->left_sum) /
                             (double)s->card_norm_milli);
    if (node->tags == 0)
        return base + 25;
    if (node->tags == tag)
        return base + 75;
    return (node->tags & tag) != 0 ? base + 50 : base;
}

const struct score_rule score_clustering = {"clustering", false, SCORE_CARD_LEAST_LEFT, score};
