/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole-card requests in a pool whose cards are all advertised several times (time-slicing, MPS):
 * `nvidia.com/gpu: 8` is eight replicas of one node, of however few cards (gpu-sharing 3.1;
 * managed-and-costs 4.5). The scheduler sees counts; the device plugin then takes the card with the
 * fewest replicas handed out, the lowest among equals (its default, `distributed`).
 *
 * Nodes are indexed by their free replicas. A worker holds one part per replica.
 */
#include "models/fleet/placement.h"
#include "sim/check.h"

static const int64_t no_amounts[FLEET_RESOURCES_MAX];

/* spread takes the emptiest node, every other rule the fullest that fits. */
static int32_t choose_node(const struct fleet *f, const struct place_ask *ask)
{
    const struct fleet_pool *p = &ask->pool;
    struct fitset *s = &p->share->by_free;
    int64_t row = p->node_count, least = ask->replicas * row, key = -1;
    if (f->rule != &place_spread)
        key = fitset_first(s, least, s->size, ask->req.resources);
    for (int64_t last = s->size; key < 0 && f->rule == &place_spread;) {
        last = fitset_last(s, last);
        if (last < least)
            break;
        last -= last % row;
        key = fitset_first(s, last, last + row, ask->req.resources);
    }
    return key < 0 ? -1 : p->first_node + (int32_t)(key % row);
}

static int32_t emptiest_card(const struct fleet *f, const struct fleet_pool *p, int32_t node)
{
    const int16_t *tenants = f->card_tenants + node_first_card(f, node);
    int32_t best = 0;
    for (int32_t c = 1; c < p->cards_per_node; c++)
        if (tenants[c] < tenants[best])
            best = c;
    return best;
}

void place_replicas_on(struct fleet *f, struct lease *l, const struct place_ask *ask, int32_t pool, int32_t node)
{
    for (int32_t i = 0; i < ask->replicas; i++) {
        const int64_t *amounts = i == 0 ? ask->req.resources : no_amounts;
        int32_t card = emptiest_card(f, &ask->pool, node);
        struct lease_part part = {.pool = pool, .node = node, .first_card = card, .instance = -1};
        part.milli = pool_share_grant(f, &ask->pool, node_first_card(f, node) + card, ask->req.share_milli);
        node_take_share(f, &part, amounts);
        part.shape = shape_hold(&f->shapes, amounts);
        lease_push(&f->leases, l, part);
    }
}

bool place_replicas(struct fleet *f, struct lease *l, const struct place_ask *ask, int32_t pool)
{
    int32_t node = choose_node(f, ask);
    if (node >= 0)
        place_replicas_on(f, l, ask, pool, node);
    return node >= 0;
}
