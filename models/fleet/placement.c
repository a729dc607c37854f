/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/placement.h"

#include "sim/check.h"

/* In the order of enum placement_kind. */
static const struct place_rule *const rules[PLACE_KIND_COUNT] = {
    [PLACE_BINPACK] = &place_binpack,
    [PLACE_SPREAD] = &place_spread,
    [PLACE_RANDOM] = &place_random,
};

const struct place_rule *place_rule_of(enum placement_kind kind)
{
    REQUIRE((unsigned)kind < PLACE_KIND_COUNT);
    return rules[kind];
}

const char *fleet_placement_name(enum placement_kind kind)
{
    return place_rule_of(kind)->name;
}

static bool amounts_fit(const struct fleet *f, const struct place_request *req, int32_t node)
{
    const int64_t *have = f->node_amounts + (int64_t)node * f->resources;
    for (int32_t r = 0; r < f->resources; r++)
        if (have[r] < req->resources[r])
            return false;
    return true;
}

bool place_fits_node(const struct fleet *f, const struct place_request *req, int32_t node,
                     int32_t *card)
{
    *card = -1;
    if (!amounts_fit(f, req, node))
        return false;
    if (req->share_milli == 0)
        return f->node_free[node] >= req->cards;
    /* the least free share that fits; else a new card */
    const struct fleet_pool *p = &f->pools[f->node_pool[node]];
    const int16_t *card_free = f->card_free + node_first_card(f, node);
    for (int32_t c = 0; c < p->cards_per_node; c++)
        if (card_free[c] >= req->share_milli && card_free[c] < CARD_MILLI &&
            (*card < 0 || card_free[c] < card_free[*card]))
            *card = c;
    if (*card < 0)
        *card = node_closed_card(f, node);
    return *card >= 0;
}

/* The best node of the pool that keeps the model, among those remembered; -1 when none fits. */
static struct place_choice choose_cached(struct fleet *f, const struct fleet_pool *p,
                                         const struct place_request *req)
{
    struct place_choice best = {-1, -1};
    if (req->prefer_model < 0 || (size_t)req->prefer_model >= f->holder_count)
        return best;
    const int32_t *holder = f->holders[req->prefer_model].node;
    for (int i = 0; i < CACHE_HOLDERS && holder[i] >= 0; i++) {
        int32_t node = holder[i], card;
        f->looks++;
        if (node < p->first_node || node >= p->first_node + p->node_count ||
            !fleet_cache_has(f, node, req->prefer_model) || !place_fits_node(f, req, node, &card))
            continue;
        if (best.node < 0 || f->rule->compare(f->node_free[node], f->node_free[best.node]) < 0)
            best = (struct place_choice){node, card};
    }
    return best;
}

struct place_choice place_choose(struct fleet *f, struct fleet_pool *p,
                                 const struct place_request *req)
{
    struct place_choice cached = choose_cached(f, p, req);
    if (cached.node >= 0)
        return cached;
    return req->share_milli > 0 ? f->rule->share(f, p, req) : f->rule->whole(f, p, req);
}
