/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/score/score.h"

#include "sim/check.h"

#define TAG_SHARE_BIT 0
#define TAG_LAST_BIT 30

static const struct score_rule *const rules[SCORE_KINDS] = {
    [SCORE_RANDOM] = &score_random,         [SCORE_DOT_PRODUCT] = &score_dot_product,
    [SCORE_CLUSTERING] = &score_clustering, [SCORE_PACKING] = &score_packing,
    [SCORE_BEST_FIT] = &score_best_fit,     [SCORE_FGD] = &score_fgd,
};

const struct score_rule *score_rule_of(enum score_kind kind)
{
    REQUIRE((unsigned)kind < SCORE_KINDS);
    return rules[kind];
}

bool score_fits(const struct score_pod *pod, const struct score_node *node)
{
    if (node->cpu_free_milli < pod->cpu_milli || !score_accepts(pod, node->model))
        return false;
    if (pod->cards == 0)
        return true;
    if ((int64_t)pod->cards * pod->milli > node->left_sum)
        return false;
    int32_t parts = 0;
    for (int32_t i = 0; i < node->cards && parts < pod->cards; i++)
        if (node->left[i] >= pod->milli)
            parts += pod->cards == 1 ? 1 : node->left[i] / pod->milli;
    return parts >= pod->cards;
}

uint32_t score_tag(const struct score_pod *pod)
{
    if (pod->cards == 0)
        return 0;
    if (pod->milli < SCORE_CARD_MILLI)
        return UINT32_C(1) << TAG_SHARE_BIT;
    return UINT32_C(1) << (pod->cards < TAG_LAST_BIT ? pod->cards : TAG_LAST_BIT);
}

static int32_t least_left(const struct score_pod *pod, const struct score_node *node)
{
    int32_t best = -1;
    for (int32_t i = 0; i < node->cards; i++)
        if (node->left[i] >= pod->milli && (best < 0 || node->left[i] < node->left[best]))
            best = i;
    return best;
}

static int32_t any_card(const struct score_pod *pod, const struct score_node *node, struct rng *rng)
{
    uint64_t fitting = 0;
    for (int32_t i = 0; i < node->cards; i++)
        fitting += node->left[i] >= pod->milli;
    uint64_t skip = rng_below(rng, fitting);
    int32_t i = 0;
    while (node->left[i] < pod->milli || skip-- > 0)
        i++;
    return i;
}

int32_t score_choose_card(const struct score_rule *rule, const struct score_settings *s,
                          const struct score_pod *pod, const struct score_node *node,
                          struct rng *rng)
{
    int32_t card = -1;
    switch (rule->card) {
    case SCORE_CARD_LEAST_LEFT:
        return least_left(pod, node);
    case SCORE_CARD_RANDOM:
        return any_card(pod, node, rng);
    case SCORE_CARD_OWN:
        rule->score(s, pod, node, &card);
        return card;
    }
    return card;
}
