/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What nodes keep on disk (weights, images): least recently used of the pool's cache_slots, whole
 * objects. Bytes are not counted: a slot is sized for the largest model by who writes the scenario.
 */
#include <stdlib.h>
#include <string.h>

#include "models/fleet/fleet_priv.h"
#include "sim/check.h"

void node_cache_init(struct fleet *f)
{
    f->cache_first = mem_alloc((size_t)f->node_count + 1, sizeof(*f->cache_first));
    int64_t next = 0;
    for (int32_t n = 0; n < f->node_count; n++) {
        f->cache_first[n] = next;
        int32_t slots = f->pools[f->node_pool[n]].layout > 0 ? 0 : f->cfg->pools[f->node_pool[n]].cache_slots;
        next += slots > 0 ? slots : 0;
    }
    f->cache_first[f->node_count] = next;
    f->cache_slot = mem_zalloc(next > 0 ? (size_t)next : 1, sizeof(*f->cache_slot));
}

void node_cache_fini(struct fleet *f)
{
    free(f->cache_first);
    free(f->cache_slot);
    free(f->holders);
}

/* Position of the object among the node's slots, or -1. */
static int32_t slot_of(const struct fleet *f, int32_t node, int32_t object)
{
    const int32_t *slot = f->cache_slot + f->cache_first[node];
    int32_t n = (int32_t)(f->cache_first[node + 1] - f->cache_first[node]);
    for (int32_t i = 0; i < n; i++)
        if (slot[i] == object + 1)
            return i;
    return -1;
}

bool fleet_cache_has(const struct fleet *f, int32_t node, int32_t object)
{
    REQUIRE(node >= 0 && node < f->node_count && object >= 0);
    return slot_of(f, node, object) >= 0;
}

/* Remembers the node as the newest holder of the object. */
static void remember(struct fleet *f, int32_t node, int32_t object)
{
    size_t need = (size_t)object + 1;
    f->holders = mem_grow(f->holders, &f->holder_capacity, need, sizeof(*f->holders));
    for (; f->holder_count < need; f->holder_count++)
        for (int i = 0; i < CACHE_HOLDERS; i++)
            f->holders[f->holder_count].node[i] = -1;
    int32_t *holder = f->holders[object].node;
    int last = 0;
    while (last < CACHE_HOLDERS - 1 && holder[last] != node)
        last++;
    memmove(holder + 1, holder, (size_t)last * sizeof(*holder));
    holder[0] = node;
}

bool fleet_cache_touch(struct fleet *f, int32_t node, int32_t object)
{
    REQUIRE(node >= 0 && node < f->node_count && object >= 0 && object < INT32_MAX);
    int32_t *slot = f->cache_slot + f->cache_first[node];
    int32_t slots = (int32_t)(f->cache_first[node + 1] - f->cache_first[node]);
    if (slots == 0)
        return false;
    int32_t at = slot_of(f, node, object);
    int32_t moved = at >= 0 ? at : slots - 1;
    memmove(slot + 1, slot, (size_t)moved * sizeof(*slot));
    slot[0] = object + 1;
    remember(f, node, object);
    return at >= 0;
}
