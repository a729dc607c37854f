/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/placement.h"

#include "sim/check.h"

/* In the order of enum placement_kind. */
static const struct place_rule *const rules[PLACE_KIND_COUNT] = {
    [PLACE_BINPACK] = &place_binpack,
    [PLACE_SPREAD] = &place_spread,
    [PLACE_RANDOM] = &place_random,
    [PLACE_DOT_PRODUCT] = &place_dot_product,
    [PLACE_CLUSTERING] = &place_clustering,
    [PLACE_PACKING] = &place_packing,
    [PLACE_BEST_FIT] = &place_best_fit,
    [PLACE_FGD] = &place_fgd,
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

bool place_amounts_fit(const struct fleet *f, const struct place_request *req, int32_t node)
{
    const int64_t *have = f->node_amounts + (int64_t)node * f->resources;
    for (int32_t r = 0; r < f->resources; r++)
        if (have[r] < req->resources[r])
            return false;
    return true;
}

/* Milli free on the card if the share fits there; under MIG free instances of the set. -1 = it does not fit, or
 * the card has no share. */
static int32_t card_room(const struct fleet *f, const struct fleet_pool *p, const struct place_request *req,
                         int64_t card)
{
    int32_t room = 0;
    if (p->set >= 0)
        room = pool_share_left(f, p, p->set, card);
    else if (node_card_open(f, p, card))
        room = f->card_free[card];
    if (p->share != NULL && p->share->axes != NULL)
        return node_card_open(f, p, card) && card_axes_fit(f, p, p->card_need, card) ? room : -1;
    return room >= req->share_milli ? room : -1;
}

int32_t place_card_on(const struct fleet *f, const struct fleet_pool *p, const struct place_request *req, int32_t node)
{
    int64_t first = node_first_card(f, node);
    int32_t best = 0, card = -1;
    for (int32_t c = 0; c < p->cards_per_node; c++) {
        int32_t room = card_room(f, p, req, first + c);
        if (room >= 0 && (card < 0 || room < best)) {
            card = c;
            best = room;
        }
    }
    return card >= 0 ? card : node_closed_card(f, node);
}

/* Does one worker fit on this node of the pool? card receives the card for a share. */
static bool fits_node(const struct fleet *f, const struct fleet_pool *p,
                      const struct place_request *req, int32_t node, int32_t *card)
{
    *card = -1;
    if (f->node_shut[node] != 0 || !place_amounts_fit(f, req, node))
        return false;
    if (req->share_milli == 0)
        return f->node_free[node] >= req->cards;
    *card = place_card_on(f, p, req, node);
    return *card >= 0;
}

/* May the worker go to the node? It is of the pool, or of another of its pools that shares the score. */
static bool in_reach(const struct fleet *f, const struct fleet_pool *p, const struct place_request *req, int32_t node)
{
    if (node >= p->first_node && node < p->first_node + p->node_count)
        return true;
    if (f->across == NULL || p->score != f->across || f->pools[f->node_pool[node]].score != f->across)
        return false;
    for (int32_t i = 0; i < req->pool_count; i++)
        if (req->pools[i] == f->node_pool[node])
            return true;
    return false;
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
        if (!in_reach(f, p, req, node) || !fleet_cache_has(f, node, req->prefer_model) ||
            !fits_node(f, f->across != NULL && p->score == f->across ? &f->pools[f->node_pool[node]] : p, req, node, &card))
            continue;
        if (best.node < 0 || f->rule->compare(f->node_free[node], f->node_free[best.node]) < 0)
            best = (struct place_choice){node, card};
    }
    return best;
}

bool place_ask_make(struct fleet *f, int32_t pool, const struct place_request *req,
                    struct place_ask *ask)
{
    ask->req = *req;
    ask->pool = f->pools[pool];
    ask->replicas = 0;
    ask->amounts = (struct share_amounts){{0}};
    for (int32_t r = 0; r < CARD_ROW_MAX; r++)
        ask->pool.card_need[r] = r < f->resources ? req->resources[r] : 0;
    ask->pool.least_milli = req->share_milli;
    const struct pool_share *s = ask->pool.share;
    if (s == NULL || (req->cards == 0 && req->share_milli == 0))
        return true;
    int32_t need = pool_share_need(s, req, &ask->amounts);
    if (need > 0 && s->cards.replicas > 0 && req->cards > 0) {
        ask->replicas = req->cards;
        ask->req.cards = 0;
        ask->req.share_milli = need;
        return true;
    }
    ask->pool.least_milli = need;
    if (need >= 0 && s->set_count > 0) { /* one instance of the set */
        ask->pool.set = need;
        ask->pool.open_cards = s->sets[need];
        ask->req.cards = 0;
        ask->req.share_milli = ask->pool.least_milli = need = 1;
    } else if (req->share_milli > 0) {
        ask->req.share_milli = need;
        if (need > 0 && s->axes != NULL)
            card_axes_need(&ask->pool, &ask->amounts);
    }
    return need >= 0;
}

/* Cards of a node with as much free are not equal where they have instances, or two budgets. */
static bool by_card(const struct fleet_pool *p)
{
    return p->set >= 0 || (p->share != NULL && p->share->axes != NULL);
}

int64_t place_open_row(const struct fleet_pool *p)
{
    return by_card(p) ? p->card_count : p->node_count;
}

struct place_choice place_open_card(const struct fleet *f, const struct fleet_pool *p, int64_t key, int32_t k)
{
    int64_t row = place_open_row(p), at = key % row;
    if (by_card(p))
        return (struct place_choice){p->first_node + (int32_t)(at / p->cards_per_node),
                                     (int32_t)(at % p->cards_per_node)};
    int32_t node = p->first_node + (int32_t)at;
    return (struct place_choice){node, node_open_card(f, node, (int32_t)(key / row), k)};
}

struct place_choice place_choose(struct fleet *f, struct place_ask *ask)
{
    struct place_choice cached = choose_cached(f, &ask->pool, &ask->req);
    if (cached.node >= 0)
        return cached;
    return ask->req.share_milli > 0 ? f->rule->share(f, &ask->pool, &ask->req)
                                    : f->rule->whole(f, &ask->pool, &ask->req);
}
