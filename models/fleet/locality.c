/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/locality.h"

#include <stdlib.h>
#include <string.h>

#include "sim/check.h"

/* ---- building ---- */

static void init(struct fleet_pool *p, const struct node_pool_config *cfg)
{
    struct pool_locality *y = p->locality = mem_zalloc(1, sizeof *p->locality);
    y->level_count = cfg->domain_count;
    y->levels = mem_zalloc((size_t)cfg->domain_count, sizeof *y->levels);
    for (int32_t i = 0; i < cfg->domain_count; i++) {
        REQUIRE(cfg->domains[i].nodes > 0);
        y->levels[i].nodes = cfg->domains[i].nodes;
        y->levels[i].domain_count = (p->node_count - 1) / cfg->domains[i].nodes + 1;
    }
    for (y->ring_size = 1; y->ring_size < p->node_count;)
        y->ring_size *= 2;
    y->ring = mem_zalloc((size_t)y->ring_size, sizeof *y->ring);
}

void fleet_keep_local(struct fleet *f)
{
    for (int32_t i = 0; i < f->cfg->pool_count; i++) {
        struct fleet_pool *p = &f->pools[i];
        if (f->cfg->pools[i].domain_count > 0 && p->node_count > 0 && p->share == NULL && p->locality == NULL)
            init(p, &f->cfg->pools[i]);
    }
}

static void shape_fini(const struct pool_locality *y, struct locality_shape *s)
{
    for (int32_t i = 0; i < y->level_count; i++) {
        free(s->room[i]);
        fitset_fini(&s->by_room[i]);
    }
    free(s->room);
    free(s->by_room);
    free(s->on_node);
}

void locality_fini(struct fleet_pool *p)
{
    struct pool_locality *y = p->locality;
    if (y == NULL)
        return;
    for (int32_t k = 0; k < y->shape_count; k++)
        shape_fini(y, &y->shapes[k]);
    free(y->levels);
    free(y->ring);
    free(y);
    p->locality = NULL;
}

/* ---- how many workers of a shape fit where ---- */

void locality_changed(struct fleet_pool *p, int32_t local)
{
    struct pool_locality *y = p->locality;
    if (y->changes > y->looked && y->ring[(y->changes - 1) & (y->ring_size - 1)] == local)
        return; /* noted already, and nobody has looked since */
    y->ring[y->changes++ & (y->ring_size - 1)] = local;
}

static int32_t fitting(const struct fleet *f, const struct fleet_pool *p, const struct locality_shape *s, int32_t local)
{
    int32_t node = p->first_node + local, n = f->node_free[node] / s->cards;
    const int64_t *have = f->node_amounts + (int64_t)node * f->resources;
    for (int32_t r = 0; r < f->resources; r++)
        if (s->resources[r] > 0 && have[r] / s->resources[r] < n)
            n = (int32_t)(have[r] / s->resources[r]);
    return n;
}

static int64_t key_of(const struct locality_level *v, int64_t room, int32_t domain)
{
    return room * v->domain_count + domain;
}

/* All nodes. The sets are made anew. */
static void shape_fill(struct fleet *f, const struct fleet_pool *p, struct locality_shape *s)
{
    struct pool_locality *y = p->locality;
    for (int32_t n = 0; n < p->node_count; n++)
        s->on_node[n] = fitting(f, p, s, n);
    f->looks += p->node_count;
    for (int32_t i = 0; i < y->level_count; i++) {
        const struct locality_level *v = &y->levels[i];
        int64_t most = (int64_t)v->nodes * (p->cards_per_node / s->cards);
        memset(s->room[i], 0, (size_t)v->domain_count * sizeof *s->room[i]);
        for (int32_t n = 0; n < p->node_count; n++)
            s->room[i][n / v->nodes] += s->on_node[n];
        fitset_fini(&s->by_room[i]);
        s->by_room[i] = (struct fitset){.size = (most + 1) * v->domain_count, .amounts = f->node_amounts,
                                           .modulus = 1, .divisor = 1, .looks = &f->looks};
        fitset_init(&s->by_room[i]);
        for (int32_t d = 0; d < v->domain_count; d++)
            fitset_add(&s->by_room[i], key_of(v, s->room[i][d], d));
    }
    s->seen = y->changes;
}

static void look_again(struct fleet *f, const struct fleet_pool *p, struct locality_shape *s, int32_t local)
{
    const struct pool_locality *y = p->locality;
    int32_t now = fitting(f, p, s, local), change = now - s->on_node[local];
    f->looks++;
    if (change == 0)
        return;
    s->on_node[local] = now;
    for (int32_t i = 0; i < y->level_count; i++) {
        const struct locality_level *v = &y->levels[i];
        int32_t d = local / v->nodes;
        fitset_remove(&s->by_room[i], key_of(v, s->room[i][d], d));
        s->room[i][d] += change;
        fitset_add(&s->by_room[i], key_of(v, s->room[i][d], d));
    }
}

static struct locality_shape *new_shape(const struct fleet_pool *p, const struct place_request *req)
{
    struct pool_locality *y = p->locality;
    struct locality_shape *s = &y->shapes[0];
    if (y->shape_count < LOCALITY_SHAPES_MAX) {
        s = &y->shapes[y->shape_count++];
        s->on_node = mem_alloc((size_t)p->node_count, sizeof *s->on_node);
        s->room = mem_zalloc((size_t)y->level_count, sizeof(int64_t *));
        s->by_room = mem_zalloc((size_t)y->level_count, sizeof *s->by_room);
        for (int32_t i = 0; i < y->level_count; i++)
            s->room[i] = mem_alloc((size_t)y->levels[i].domain_count, sizeof *s->room[i]);
    } else {
        for (int32_t k = 1; k < y->shape_count; k++)
            s = y->shapes[k].asked < s->asked ? &y->shapes[k] : s;
    }
    s->cards = req->cards;
    memcpy(s->resources, req->resources, sizeof s->resources);
    return s;
}

/* The shape of the request's workers, up to date. */
static struct locality_shape *shape_of(struct fleet *f, const struct fleet_pool *p, const struct place_request *req)
{
    struct pool_locality *y = p->locality;
    struct locality_shape *s = NULL;
    for (int32_t k = 0; k < y->shape_count && s == NULL; k++)
        if (y->shapes[k].cards == req->cards &&
            memcmp(y->shapes[k].resources, req->resources, sizeof req->resources) == 0)
            s = &y->shapes[k];
    bool fresh = s == NULL;
    s = fresh ? new_shape(p, req) : s;
    s->asked = ++y->clock;
    if (fresh || y->changes - s->seen > y->ring_size)
        shape_fill(f, p, s);
    for (; s->seen < y->changes; s->seen++)
        look_again(f, p, s, y->ring[s->seen & (y->ring_size - 1)]);
    y->looked = y->changes;
    return s;
}

/* ---- placing ---- */

/* Workers in nodes lo..hi-1 of the pool, each on the fullest node that fits. There is room for all. */
static void place_between(struct fleet *f, struct lease_id lease, const struct place_request *req,
                          int32_t pool, int32_t count, int64_t lo, int64_t hi)
{
    struct fleet_pool *p = &f->pools[pool];
    struct lease *l = lease_get(&f->leases, lease);
    for (int32_t placed = 0; placed < count; placed++) {
        int64_t local = -1;
        for (int32_t k = req->cards; k <= p->cards_per_node && local < 0; k++)
            local = fitset_first(&p->free_nodes[k], lo, hi, req->resources);
        REQUIRE(local >= 0);
        int32_t node = p->first_node + (int32_t)local;
        node_take(f, node, req->cards, req->resources);
        struct lease_part part = {.pool = pool, .node = node, .first_card = -1, .milli = req->cards * CARD_MILLI,
                                  .instance = -1};
        part.shape = shape_hold(&f->shapes, req->resources);
        lease_push(&f->leases, l, part);
    }
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

bool locality_place(struct fleet *f, struct lease_id lease, const struct place_request *req, int32_t pool,
                    int32_t count)
{
    struct fleet_pool *p = &f->pools[pool];
    if (p->locality == NULL || req->cards == 0 || req->cards > p->cards_per_node || count < 2)
        return false;
    int64_t node = one_node(p, req, count);
    if (node >= 0) {
        place_between(f, lease, req, pool, count, node, node + 1);
        return true;
    }
    struct locality_shape *s = shape_of(f, p, req);
    for (int32_t i = 0; i < p->locality->level_count; i++) {
        const struct locality_level *v = &p->locality->levels[i];
        int64_t key = fitset_first(&s->by_room[i], key_of(v, count, 0), s->by_room[i].size, req->resources);
        if (key < 0)
            continue;
        int64_t lo = key % v->domain_count * v->nodes, hi = lo + v->nodes < p->node_count ? lo + v->nodes : p->node_count;
        place_between(f, lease, req, pool, count, lo, hi);
        return true;
    }
    return false;
}
