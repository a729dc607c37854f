/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/locality.h"

#include <stdlib.h>

#include "sim/check.h"

/* ---- the counters ---- */

void locality_changed(struct fleet_pool *p, int32_t local, int32_t before, int32_t after)
{
    for (int32_t i = 0; i < p->locality->level_count; i++) {
        struct locality_level *v = &p->locality->levels[i];
        int32_t domain = local / v->nodes;
        int32_t *with_free = v->with_free + (int64_t)domain * (p->cards_per_node + 1);
        if (before >= 0)
            with_free[before]--;
        with_free[after]++;
        v->free_cards[domain] += after - (before >= 0 ? before : 0);
    }
}

static void init(struct fleet *f, struct fleet_pool *p, const struct node_pool_config *cfg)
{
    p->locality = mem_zalloc(1, sizeof *p->locality);
    p->locality->level_count = cfg->domain_count;
    p->locality->levels = mem_zalloc((size_t)cfg->domain_count, sizeof *p->locality->levels);
    for (int32_t i = 0; i < cfg->domain_count; i++) {
        struct locality_level *v = &p->locality->levels[i];
        REQUIRE(cfg->domains[i].nodes > 0);
        v->nodes = cfg->domains[i].nodes;
        v->domain_count = (p->node_count - 1) / v->nodes + 1;
        v->with_free = mem_zalloc((size_t)v->domain_count * (size_t)(p->cards_per_node + 1), sizeof *v->with_free);
        v->free_cards = mem_zalloc((size_t)v->domain_count, sizeof *v->free_cards);
    }
    for (int32_t n = 0; n < p->node_count; n++)
        locality_changed(p, n, -1, f->node_free[p->first_node + n]);
}

void fleet_keep_local(struct fleet *f)
{
    for (int32_t i = 0; i < f->cfg->pool_count; i++) {
        struct fleet_pool *p = &f->pools[i];
        if (f->cfg->pools[i].domain_count > 0 && p->node_count > 0 && p->share == NULL && p->locality == NULL)
            init(f, p, &f->cfg->pools[i]);
    }
}

void locality_fini(struct fleet_pool *p)
{
    if (p->locality == NULL)
        return;
    for (int32_t i = 0; i < p->locality->level_count; i++) {
        free(p->locality->levels[i].with_free);
        free(p->locality->levels[i].free_cards);
    }
    free(p->locality->levels);
    free(p->locality);
    p->locality = NULL;
}

/* ---- placing ---- */

/* Workers in nodes lo..hi-1 of the pool, each on the fullest node that fits; all or none. */
static bool place_between(struct fleet *f, struct lease_id lease, const struct place_request *req,
                          int32_t pool, int32_t count, int64_t lo, int64_t hi)
{
    struct fleet_pool *p = &f->pools[pool];
    struct lease *l = lease_get(&f->leases, lease);
    for (int32_t placed = 0; placed < count; placed++) {
        int64_t local = -1;
        for (int32_t k = req->cards; k <= p->cards_per_node && local < 0; k++)
            local = fitset_first(&p->free_nodes[k], lo, hi, req->resources);
        if (local < 0) {
            fleet_release(f, lease, placed);
            return false;
        }
        int32_t node = p->first_node + (int32_t)local;
        node_take(f, node, req->cards, req->resources);
        struct lease_part part = {.pool = pool, .node = node, .first_card = -1, .milli = req->cards * CARD_MILLI,
                                  .instance = -1};
        part.shape = shape_hold(&f->shapes, req->resources);
        lease_push(&f->leases, l, part);
    }
    return true;
}

/* The fullest node that holds the whole gang; -1: none does. */
static int64_t one_node(struct fleet_pool *p, const struct place_request *req, int32_t count)
{
    int64_t need[FLEET_RESOURCES_MAX], cards = (int64_t)req->cards * count, local = -1;
    for (int r = 0; r < FLEET_RESOURCES_MAX; r++)
        if (__builtin_mul_overflow(req->resources[r], (int64_t)count, &need[r]))
            return -1;
    for (int64_t k = cards; k <= p->cards_per_node && local < 0; k++)
        local = fitset_first(&p->free_nodes[k], 0, p->node_count, need);
    return local;
}

static int64_t room(const struct fleet_pool *p, const struct locality_level *v, int32_t domain, int32_t cards)
{
    const int32_t *with_free = v->with_free + (int64_t)domain * (p->cards_per_node + 1);
    int64_t n = 0;
    for (int32_t k = cards; k <= p->cards_per_node; k++)
        n += (int64_t)with_free[k] * (k / cards);
    return n;
}

/* The next domain after `last` by (free cards, index) with cards for the gang; -1: no more. */
static int32_t next_domain(struct fleet *f, const struct fleet_pool *p, const struct locality_level *v,
                           const struct place_request *req, int32_t count, int32_t last)
{
    int32_t best = -1;
    int64_t passed = last < 0 ? -1 : v->free_cards[last];
    for (int32_t d = 0; d < v->domain_count; d++) {
        f->looks++;
        int64_t mine = v->free_cards[d];
        bool behind = mine > passed || (mine == passed && d > last);
        if (behind && (best < 0 || mine < v->free_cards[best]) && room(p, v, d, req->cards) >= count)
            best = d;
    }
    return best;
}

bool locality_place(struct fleet *f, struct lease_id lease, const struct place_request *req, int32_t pool,
                    int32_t count)
{
    struct fleet_pool *p = &f->pools[pool];
    if (p->locality == NULL || req->cards == 0 || count < 2)
        return false;
    int64_t node = one_node(p, req, count);
    if (node >= 0 && place_between(f, lease, req, pool, count, node, node + 1))
        return true;
    for (int32_t i = 0; i < p->locality->level_count; i++) {
        const struct locality_level *v = &p->locality->levels[i];
        for (int32_t d = next_domain(f, p, v, req, count, -1); d >= 0; d = next_domain(f, p, v, req, count, d)) {
            int64_t lo = (int64_t)d * v->nodes, hi = lo + v->nodes < p->node_count ? lo + v->nodes : p->node_count;
            if (place_between(f, lease, req, pool, count, lo, hi))
                return true;
        }
    }
    return false;
}
