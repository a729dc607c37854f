/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole-card requests in a pool whose cards are all advertised several times (time-slicing, MPS):
 * `nvidia.com/gpu: 8` is eight replicas of one node, of however few cards (gpu-sharing 3.1;
 * managed-and-costs 4.5). The scheduler sees counts; the device plugin then takes the card with the
 * fewest replicas handed out, the lowest among equals (its default, `distributed`).
 *
 * The cost is one look at every node of the pool. A worker holds one part per replica.
 */
#include "models/fleet/placement.h"
#include "sim/check.h"

static const int64_t no_amounts[FLEET_RESOURCES_MAX];

static int32_t free_replicas(const struct fleet *f, const struct fleet_pool *p, int32_t node)
{
    int64_t first = node_first_card(f, node);
    int32_t n = 0;
    for (int64_t c = first; c < first + p->cards_per_node; c++)
        n += p->share->slots - f->card_tenants[c];
    return n;
}

static bool amounts_fit(const struct fleet *f, const int64_t *amounts, int32_t node)
{
    const int64_t *have = f->node_amounts + (int64_t)node * f->resources;
    for (int32_t r = 0; r < f->resources; r++)
        if (have[r] < amounts[r])
            return false;
    return true;
}

/* spread takes the emptiest node, every other rule the fullest that fits. */
static int32_t choose_node(struct fleet *f, const struct place_ask *ask)
{
    const struct fleet_pool *p = &ask->pool;
    int32_t best = -1, best_free = 0;
    for (int32_t n = p->first_node; n < p->first_node + p->node_count; n++) {
        int32_t room = free_replicas(f, p, n);
        f->looks++;
        if (room < ask->replicas || !amounts_fit(f, ask->req.resources, n))
            continue;
        bool better = f->rule == &place_spread ? room > best_free : room < best_free;
        if (best < 0 || better) {
            best = n;
            best_free = room;
        }
    }
    return best;
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

bool place_replicas(struct fleet *f, struct lease *l, const struct place_ask *ask, int32_t pool)
{
    int32_t node = choose_node(f, ask);
    for (int32_t i = 0; node >= 0 && i < ask->replicas; i++) {
        const int64_t *amounts = i == 0 ? ask->req.resources : no_amounts;
        int32_t card = emptiest_card(f, &ask->pool, node);
        struct lease_part part = {.pool = pool, .node = node, .first_card = card, .instance = -1};
        part.milli = pool_share_grant(f, &ask->pool, node_first_card(f, node) + card, ask->req.share_milli);
        node_take_share(f, &part, amounts);
        part.shape = shape_hold(&f->shapes, amounts);
        lease_push(&f->leases, l, part);
    }
    return node >= 0;
}
