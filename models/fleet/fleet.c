/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building a fleet, placing workers into leases and taking them back. */
#include "models/fleet/fleet.h"

#include <stdlib.h>

#include "models/fleet/locality.h"
#include "models/fleet/placement.h"
#include "sim/check.h"

/* The value of PURPOSE_PLACEMENT in models/demand/demand.h, which is above this folder. */
#define PLACEMENT_PURPOSE 8

/* ---- building ---- */

static void count_nodes(struct fleet *f, int64_t *cards)
{
    const struct fleet_config *cfg = f->cfg;
    *cards = 0;
    for (int32_t i = 0; i < cfg->pool_count; i++) {
        const struct node_pool_config *from = &cfg->pools[i];
        struct fleet_pool *p = &f->pools[i];
        REQUIRE(from->node_count >= 0 && from->cards_per_node >= 0 &&
                from->node_count <= INT32_MAX - f->node_count);
        p->first_node = f->node_count;
        p->node_count = from->node_count;
        p->cards_per_node = from->cards_per_node;
        p->first_card = *cards;
        p->card_count = (int64_t)from->node_count * from->cards_per_node;
        p->home = i;
        f->node_count += from->node_count;
        *cards += p->card_count;
    }
    f->pool_count = cfg->pool_count;
    layouts_make(f, cards);
}

static void fill_pool(struct fleet *f, int32_t index)
{
    struct fleet_pool *p = &f->pools[index];
    const struct node_pool_config *from = &f->cfg->pools[p->home];
    bool whole = from->sharing.kind != SHARE_MIG; /* else its cards are cut */
    for (int32_t n = p->first_node; n < p->first_node + p->node_count; n++) {
        f->node_pool[n] = index;
        f->node_free[n] = whole ? p->cards_per_node : 0;
        for (int32_t a = 0; a < from->allocatable_count; a++)
            f->node_amounts[(int64_t)n * f->resources + from->allocatable[a].resource] +=
                from->allocatable[a].amount;
    }
    const int64_t *amounts = f->node_amounts + (int64_t)p->first_node * f->resources;
    p->free_nodes = mem_zalloc((size_t)p->cards_per_node + 1, sizeof(*p->free_nodes));
    for (int32_t k = 0; k <= p->cards_per_node; k++) {
        p->free_nodes[k] = (struct fitset){.size = p->node_count,
                                           .resources = f->resources,
                                           .amounts = amounts,
                                           .modulus = p->node_count,
                                           .divisor = 1,
                                           .usual = p->node_count > 0 ? amounts : NULL,
                                           .ranked = f->rule == &place_random,
                                           .looks = &f->looks};
        fitset_init(&p->free_nodes[k]);
    }
    for (int32_t n = 0; n < p->node_count; n++)
        fitset_add(&p->free_nodes[whole ? p->cards_per_node : 0], n);
    p->open_cards = (struct fitset){.size = CARD_MILLI * (int64_t)p->node_count,
                                    .resources = f->resources,
                                    .amounts = amounts,
                                    .modulus = p->node_count,
                                    .divisor = 1,
                                    .usual = p->node_count > 0 ? amounts : NULL,
                                    .ranked = f->rule == &place_random,
                                    .looks = &f->looks};
    fitset_init(&p->open_cards);
    p->set = -1;
    pool_share_init(f, index);
    place_score_init(f, index);
}

struct fleet *fleet_create(const struct fleet_config *cfg, enum placement_kind kind, uint64_t seed,
                           uint32_t replication)
{
    REQUIRE(cfg->resource_count >= 0 && cfg->resource_count <= FLEET_RESOURCES_MAX);
    struct fleet *f = mem_zalloc(1, sizeof(*f));
    f->cfg = cfg;
    f->rule = place_rule_of(kind);
    f->resources = cfg->resource_count;
    f->pools = mem_zalloc((size_t)(cfg->pool_count + layouts_count(cfg)) + 1, sizeof(*f->pools));
    int64_t cards;
    count_nodes(f, &cards);
    size_t nodes = (size_t)f->node_count;
    f->node_pool = mem_alloc(nodes + 1, sizeof(*f->node_pool));
    f->node_shut = mem_zalloc(nodes + 1, sizeof(*f->node_shut));
    f->node_free = mem_alloc(nodes + 1, sizeof(*f->node_free));
    f->node_amounts = mem_zalloc(nodes * (size_t)f->resources + 1, sizeof(*f->node_amounts));
    f->card_free = mem_alloc((size_t)cards + 1, sizeof(*f->card_free));
    f->card_tenants = mem_zalloc((size_t)cards + 1, sizeof(*f->card_tenants));
    f->card_busy = mem_zalloc((size_t)cards + 1, sizeof(*f->card_busy));
    for (int64_t c = 0; c < cards; c++)
        f->card_free[c] = CARD_MILLI;
    for (int32_t i = 0; i < f->pool_count; i++)
        fill_pool(f, i);
    for (int32_t n = 0; n < f->node_count; n++)
        if (f->pools[f->node_pool[n]].layout > 0)
            node_shut_change(f, n, true);
    shapes_init(&f->shapes, f->resources);
    node_cache_init(f);
    rng_open(&f->rng, seed, replication, PLACEMENT_PURPOSE, 0);
    return f;
}

void fleet_destroy(struct fleet *f)
{
    if (f == NULL)
        return;
    for (int32_t i = 0; i < f->pool_count; i++) {
        for (int32_t k = 0; k <= f->pools[i].cards_per_node; k++)
            fitset_fini(&f->pools[i].free_nodes[k]);
        free(f->pools[i].free_nodes);
        fitset_fini(&f->pools[i].open_cards);
        pool_share_fini(&f->pools[i]);
        place_score_fini(&f->pools[i]);
        locality_fini(&f->pools[i]);
    }
    place_across_fini(f);
    lease_table_fini(&f->leases);
    shapes_fini(&f->shapes);
    node_cache_fini(f);
    free(f->pools);
    free(f->node_pool);
    free(f->node_shut);
    free(f->node_free);
    free(f->node_amounts);
    free(f->card_free);
    free(f->card_tenants);
    free(f->card_busy);
    free(f);
}

/* ---- leases ---- */

struct lease_id fleet_lease_open(struct fleet *f)
{
    return lease_open(&f->leases);
}

const struct lease_part *fleet_lease_parts(const struct fleet *f, struct lease_id lease,
                                           int32_t *count)
{
    const struct lease *l = lease_get(&f->leases, lease);
    *count = l->count;
    return l->parts;
}

void fleet_release(struct fleet *f, struct lease_id lease, int32_t count)
{
    struct lease *l = lease_get(&f->leases, lease);
    REQUIRE(count <= l->count);
    for (int32_t left = count < 0 ? l->count : count; left > 0; left--) {
        const struct lease_part *part = &l->parts[--l->count];
        node_fetch(f, &f->pools[part->pool], part->node);
        const int64_t *amounts = f->shapes.items[part->shape].amounts;
        if (part->instance >= 0)
            node_give_instance(f, layouts_node(f, part), part->first_card, part->instance, amounts);
        else if (part->first_card < 0)
            node_give(f, part->node, part->milli / CARD_MILLI, amounts);
        else
            node_give_share(f, part, amounts);
        shape_drop(&f->shapes, part->shape);
    }
}

void fleet_lease_close(struct fleet *f, struct lease_id lease)
{
    fleet_release(f, lease, -1);
    lease_shut(&f->leases, lease);
}

/* ---- placing ---- */

/* Workers that the free cards of a pool in one layout could hold, amounts aside; never too few. */
static int64_t room_in_layout(struct fleet *f, int32_t pool, const struct place_request *req)
{
    struct place_ask ask;
    const struct fleet_pool *p = &ask.pool;
    if (req->cards == 0 && req->share_milli == 0)
        return INT32_MAX;
    if (!place_ask_make(f, pool, req, &ask))
        return 0;
    if (p->set >= 0)
        return p->share->free_instances[p->set];
    int64_t n = 0;
    if (ask.replicas > 0)
        return (p->card_count * CARD_MILLI - p->used_milli) / ask.req.share_milli / ask.replicas;
    if (req->share_milli > 0 && p->share != NULL && p->share->axes != NULL)
        return card_axes_room(p->share->axes, &ask.amounts);
    if (req->share_milli > 0)
        return (p->card_count * CARD_MILLI - p->used_milli) / ask.req.share_milli;
    for (int32_t k = req->cards; k <= p->cards_per_node; k++)
        n += p->free_nodes[k].total * (k / req->cards);
    return n;
}

static int64_t room(struct fleet *f, int32_t pool, const struct place_request *req)
{
    int64_t n = 0;
    for (int32_t k = pool + 1; k > 0; k = f->pools[k - 1].next_layout1)
        n += room_in_layout(f, k - 1, req);
    return n;
}

struct lease_part place_take(struct fleet *f, const struct place_ask *ask, struct place_choice c)
{
    const struct fleet_pool *p = &ask->pool;
    const int64_t *amounts = ask->req.resources;
    struct lease_part part = {.node = c.node,
                              .first_card = c.card,
                              .milli = ask->req.cards * CARD_MILLI,
                              .instance = -1};
    if (p->set >= 0) {
        part.instance = pool_share_free_instance(f, p, node_first_card(f, c.node) + c.card);
        node_take_instance(f, c.node, c.card, part.instance, amounts);
        part.milli = p->share->made != NULL ? mig_pool_last_milli(p, node_first_card(f, c.node) + c.card)
                                            : p->share->cards.instance_milli[part.instance];
    } else if (ask->req.share_milli > 0) {
        part.milli = pool_share_grant(f, p, node_first_card(f, c.node) + c.card, ask->req.share_milli);
        if (p->share != NULL && p->share->axes != NULL) {
            part.memory_mib = (int32_t)ask->amounts.axis[SHARE_MEMORY];
            part.cores = (int32_t)ask->amounts.axis[SHARE_COMPUTE];
        }
        node_take_share(f, &part, amounts);
    } else {
        node_take(f, c.node, ask->req.cards, amounts);
    }
    part.shape = shape_hold(&f->shapes, amounts);
    return part;
}

static bool place_in_layout(struct fleet *f, struct lease *l, const struct place_request *req,
                            int32_t pool)
{
    struct place_ask ask;
    if (!place_ask_make(f, pool, req, &ask))
        return false;
    if (ask.replicas > 0)
        return place_replicas(f, l, &ask, pool);
    struct place_choice c = place_choose(f, &ask);
    if (c.node < 0)
        return false;
    struct lease_part part = place_take(f, &ask, c);
    part.pool = f->node_pool[c.node];
    layouts_outside(f, &part);
    lease_push(&f->leases, l, part);
    return true;
}

static bool place_one(struct fleet *f, struct lease *l, const struct place_request *req, int32_t pool)
{
    for (int32_t k = pool + 1; k > 0; k = f->pools[k - 1].next_layout1)
        if (place_in_layout(f, l, req, k - 1))
            return true;
    return false;
}

static int32_t place_in(struct fleet *f, struct lease *l, const struct place_request *req,
                        int32_t pool, int32_t count)
{
    int32_t placed = 0;
    while (placed < count && place_one(f, l, req, pool))
        placed++;
    return placed;
}

static bool is_across(const struct fleet *f, int32_t pool)
{
    return f->across != NULL && f->pools[pool].score == f->across;
}

/* One worker on the best node of all the pools that share a score. */
static bool place_across(struct fleet *f, struct lease *l, const struct place_request *req)
{
    for (int32_t i = 0; i < req->pool_count; i++)
        if (is_across(f, req->pools[i]))
            return place_one(f, l, req, req->pools[i]);
    return false;
}

/* Workers in the i-th pool of the request and no other. */
static int32_t place_here(struct fleet *f, struct lease *l, const struct place_request *req, int32_t i, int32_t count)
{
    struct place_request here = *req;
    here.pools = &req->pools[i];
    here.pool_count = 1;
    return place_in(f, l, &here, here.pools[0], count);
}

/* All workers in the first pool that holds them all; else, unless all_or_nothing, as many as
 * possible in the pool that holds most. */
static int32_t place_one_pool(struct fleet *f, struct lease_id lease,
                              const struct place_request *req, int32_t count, bool all_or_nothing)
{
    struct lease *l = lease_get(&f->leases, lease);
    int32_t best = -1, best_placed = 0;
    if (count == 1 && place_across(f, l, req))
        return 1;
    for (int32_t i = 0; i < req->pool_count; i++) {
        if (count == 1 && is_across(f, req->pools[i]))
            continue;
        int64_t most = room(f, req->pools[i], req);
        if (all_or_nothing ? most < count : most <= best_placed)
            continue;
        if (all_or_nothing && locality_place(f, lease, req, req->pools[i], count))
            return count;
        struct rng before = f->rng;
        int32_t parts = l->count, placed = place_here(f, l, req, i, count);
        if (placed == count)
            return placed;
        fleet_release(f, lease, l->count - parts);
        f->rng = before;
        if (placed > best_placed) {
            best_placed = placed;
            best = i;
        }
    }
    if (all_or_nothing || best < 0)
        return 0;
    return place_here(f, l, req, best, best_placed);
}

static int32_t place_any_pool(struct fleet *f, struct lease_id lease,
                              const struct place_request *req, int32_t count, bool all_or_nothing)
{
    struct lease *l = lease_get(&f->leases, lease);
    int64_t most = 0;
    for (int32_t i = 0; i < req->pool_count && most < count; i++)
        most += room(f, req->pools[i], req);
    if (all_or_nothing && most < count)
        return 0;
    struct rng before = f->rng;
    int32_t parts = l->count, placed = 0;
    for (int32_t i = 0; i < req->pool_count && placed < count; i++)
        placed += place_in(f, l, req, req->pools[i], count - placed);
    if (all_or_nothing && placed < count) {
        fleet_release(f, lease, l->count - parts);
        f->rng = before;
        placed = 0;
    }
    return placed;
}

void fleet_place_noted(struct fleet *f, struct lease_id lease, const struct place_request *req, int32_t count)
{
    const struct lease *l = lease_get(&f->leases, lease);
    for (int32_t i = l->count - count; f->rule->score != NULL && i < l->count; i++)
        place_score_note(f, l->parts[i].pool, req);
}

int32_t fleet_place(struct fleet *f, struct lease_id lease, const struct place_request *req,
                    int32_t count, bool all_or_nothing, bool one_pool)
{
    REQUIRE(count >= 0 && req->cards >= 0);
    REQUIRE(req->share_milli >= 0 && req->share_milli < CARD_MILLI);
    REQUIRE(req->cards == 0 || req->share_milli == 0);
    if (count == 0)
        return 0;
    int32_t placed = one_pool ? place_one_pool(f, lease, req, count, all_or_nothing)
                              : place_any_pool(f, lease, req, count, all_or_nothing);
    if (!req->trial)
        fleet_place_noted(f, lease, req, placed);
    return placed;
}

/* ---- questions ---- */

int64_t fleet_pool_capacity_milli(const struct fleet *f, int32_t pool)
{
    return f->pools[pool].card_count * CARD_MILLI;
}

int64_t fleet_pool_used_milli(const struct fleet *f, int32_t pool)
{
    int64_t used = 0;
    for (int32_t k = pool + 1; k > 0; k = f->pools[k - 1].next_layout1)
        used += f->pools[k - 1].used_milli;
    return used;
}

int32_t fleet_pool_largest_free(const struct fleet *f, int32_t pool)
{
    const struct fleet_pool *p = &f->pools[pool];
    for (int32_t k = p->cards_per_node; k > 0; k--)
        if (p->free_nodes[k].total > 0)
            return k;
    return 0;
}

int64_t fleet_looks(const struct fleet *f)
{
    return f->looks;
}

/* Workers with whole cards that one empty node of the pool holds; replicas count as cards. */
static int64_t whole_workers(const struct node_pool_config *p, const struct place_request *req)
{
    struct share_pool cards = {.replicas = 1};
    struct err e = {0};
    if (!fleet_pool_accepts(p, req, &e))
        return 0;
    if (p->sharing.kind != SHARE_WHOLE)
        fleet_pool_cards(p, &cards);
    int32_t each = p->sharing.kind == SHARE_MIG ? cards.layout.count : cards.replicas > 0 ? cards.replicas : 1;
    return (int64_t)p->cards_per_node * each / req->cards;
}

/* Workers that one empty node of the pool holds. */
static int64_t node_holds(const struct fleet_config *cfg, const struct node_pool_config *p,
                          const struct place_request *req)
{
    int64_t n = INT32_MAX;
    if (req->share_milli > 0)
        n = (int64_t)p->cards_per_node * pool_share_per_card(p, req);
    else if (req->cards > 0)
        n = whole_workers(p, req);
    for (int32_t r = 0; r < cfg->resource_count; r++) {
        int64_t have = 0;
        for (int32_t a = 0; a < p->allocatable_count; a++)
            if (p->allocatable[a].resource == r)
                have += p->allocatable[a].amount;
        if (req->resources[r] > 0 && have / req->resources[r] < n)
            n = have / req->resources[r];
    }
    return n;
}

bool fleet_could_place(const struct fleet_config *cfg, const struct place_request *req,
                       int32_t count)
{
    int64_t most = 0;
    for (int32_t i = 0; i < req->pool_count && most < count; i++) {
        const struct node_pool_config *p = &cfg->pools[req->pools[i]];
        most += node_holds(cfg, p, req) * p->node_count;
    }
    return most >= count;
}
