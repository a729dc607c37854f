/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Uniform among the nodes that fit, and among their cards. */
#include "models/fleet/score/score.h"

static int32_t score(const struct score_settings *s, const struct score_pod *pod,
                     const struct score_node *node, int32_t *card)
{
    (void)s;
    (void)pod;
    (void)node;
    (void)card;
    return SCORE_MAX;
}

const struct score_rule score_random = {"random", true, SCORE_CARD_RANDOM, score};
