/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/hold.h"

#include "models/fleet/placement.h"

/* Where a worker goes: the lease, and the node as its present layout has it. */
struct spot {
    struct lease *lease;
    int32_t pool, node;
};

/* False: the node gives out nothing at present, or never what is asked. */
static bool spot_of(struct fleet *f, struct lease_id lease, int32_t node, const struct place_request *req,
                    struct spot *at, struct place_ask *ask)
{
    at->lease = lease_get(&f->leases, lease);
    at->node = layouts_now(f, node);
    at->pool = at->node < 0 ? -1 : f->node_pool[at->node];
    return at->node >= 0 && place_ask_make(f, at->pool, req, ask);
}

static void push(struct fleet *f, const struct spot *at, struct lease_part part)
{
    part.pool = at->pool;
    layouts_outside(f, &part);
    lease_push(&f->leases, at->lease, part);
}

static void take(struct fleet *f, const struct spot *at, const struct place_ask *ask, int32_t card)
{
    push(f, at, place_take(f, ask, (struct place_choice){at->node, card}));
}

static int32_t free_replicas(const struct fleet *f, const struct spot *at)
{
    const struct fleet_pool *p = &f->pools[at->pool];
    return p->share->node_free[at->node - p->first_node];
}

/* ---- what is left of a card ---- */

static void fill_instances(struct fleet *f, const struct spot *at, struct place_ask *ask, int32_t card)
{
    const struct fleet_pool *p = &f->pools[at->pool];
    int64_t c = node_first_card(f, at->node) + card;
    for (ask->pool.set = 0; ask->pool.set < p->share->set_count; ask->pool.set++)
        while (pool_share_left(f, p, ask->pool.set, c) > 0)
            take(f, at, ask, card);
}

static void fill_shares(struct fleet *f, const struct spot *at, struct place_ask *ask, int32_t card)
{
    const struct fleet_pool *p = &f->pools[at->pool];
    int64_t c = node_first_card(f, at->node) + card, mib, cores;
    int32_t replicas = p->share != NULL ? p->share->cards.replicas : 0;
    while (node_card_open(f, p, c)) {
        ask->req.share_milli = replicas > 0 ? CARD_MILLI / replicas : f->card_free[c];
        if (p->share != NULL && p->share->axes != NULL) {
            card_axes_left(p, c, &mib, &cores);
            ask->req.share_milli = CARD_MILLI; /* how much is said by the axes */
            ask->amounts.axis[SHARE_MEMORY] = mib;
            ask->amounts.axis[SHARE_COMPUTE] = cores;
        }
        take(f, at, ask, card);
    }
}

static void fill_card(struct fleet *f, const struct spot *at, int32_t card)
{
    const struct fleet_pool *p = &f->pools[at->pool];
    struct place_ask ask = {.req.prefer_model = -1, .pool = *p};
    if (p->share == NULL || p->share->set_count == 0)
        fill_shares(f, at, &ask, card);
    else if (p->share->made != NULL)
        fill_instances(f, at, &ask, card);
}

/* ---- one worker ---- */

/* False: cards are missing. */
static bool hold_cards(struct fleet *f, const struct spot *at, struct place_ask *ask)
{
    int32_t whole = ask->req.cards, card = -1;
    if (ask->replicas > 0) {
        int32_t wanted = ask->replicas, n = free_replicas(f, at);
        ask->replicas = n < wanted ? n : wanted;
        if (n > 0) {
            place_replicas_on(f, at->lease, ask, at->pool, at->node);
            return n >= wanted;
        }
    } else if (ask->req.share_milli > 0) {
        card = place_card_on(f, &ask->pool, &ask->req, at->node);
    }
    bool share = ask->req.share_milli > 0;
    if (share && card < 0) { /* the amounts only */
        ask->pool.set = -1;
        ask->req.share_milli = 0;
    }
    if (!share && f->node_free[at->node] < whole)
        ask->req.cards = f->node_free[at->node];
    take(f, at, ask, card);
    return share ? card >= 0 : ask->req.cards == whole;
}

void fleet_hold(struct fleet *f, struct lease_id lease, int32_t node, const struct place_request *req,
                const struct lease_part *leaving, int32_t leaving_count)
{
    struct spot at;
    struct place_ask ask;
    if (!spot_of(f, lease, node, req, &at, &ask))
        return;
    for (int32_t r = 0; r < f->resources; r++) {
        int64_t have = f->node_amounts[(int64_t)at.node * f->resources + r];
        if (have < ask.req.resources[r])
            ask.req.resources[r] = have;
    }
    if (hold_cards(f, &at, &ask))
        return;
    for (int32_t i = 0; i < leaving_count; i++)
        if (leaving[i].first_card >= 0)
            fill_card(f, &at, leaving[i].first_card);
}

bool fleet_place_on(struct fleet *f, struct lease_id lease, int32_t node, const struct place_request *req)
{
    struct spot at;
    struct place_ask ask;
    int32_t card = -1;
    if (!spot_of(f, lease, node, req, &at, &ask) || !place_amounts_fit(f, &ask.req, at.node))
        return false;
    if (ask.replicas > 0) {
        if (free_replicas(f, &at) < ask.replicas)
            return false;
        place_replicas_on(f, at.lease, &ask, at.pool, at.node);
    } else {
        if (ask.req.share_milli > 0)
            card = place_card_on(f, &ask.pool, &ask.req, at.node);
        if (ask.req.share_milli > 0 ? card < 0 : f->node_free[at.node] < ask.req.cards)
            return false;
        take(f, &at, &ask, card);
    }
    if (!req->trial)
        fleet_place_noted(f, lease, req, 1);
    return true;
}
