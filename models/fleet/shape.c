/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interned amounts of container shapes, counted by their users. */
#include <stdlib.h>
#include <string.h>

#include "models/fleet/fleet_priv.h"
#include "sim/check.h"

void shapes_init(struct fleet_shapes *s, int32_t resources)
{
    *s = (struct fleet_shapes){.free_head = -1, .resources = resources};
    for (int i = 0; i < SHAPE_BUCKETS; i++)
        s->bucket[i] = -1;
}

void shapes_fini(struct fleet_shapes *s)
{
    free(s->items);
    s->items = NULL;
}

static int32_t *chain_of(struct fleet_shapes *s, const int64_t *amounts)
{
    uint64_t h = 0;
    for (int32_t r = 0; r < s->resources; r++)
        h = rng_hash(h ^ (uint64_t)amounts[r]);
    return &s->bucket[h % SHAPE_BUCKETS];
}

int32_t shape_hold(struct fleet_shapes *s, const int64_t *amounts)
{
    size_t bytes = (size_t)s->resources * sizeof(int64_t);
    int32_t *chain = chain_of(s, amounts);
    for (int32_t i = *chain; i >= 0; i = s->items[i].next)
        if (memcmp(s->items[i].amounts, amounts, bytes) == 0) {
            s->items[i].users++;
            return i;
        }
    int32_t i = s->free_head;
    if (i >= 0) {
        s->free_head = s->items[i].next;
    } else {
        s->items = mem_grow(s->items, &s->capacity, s->count + 1, sizeof(*s->items));
        i = (int32_t)s->count++;
    }
    s->items[i] = (struct fleet_shape){.users = 1, .next = *chain};
    memcpy(s->items[i].amounts, amounts, bytes);
    *chain = i;
    return i;
}

void shape_drop(struct fleet_shapes *s, int32_t shape)
{
    struct fleet_shape *item = &s->items[shape];
    REQUIRE(item->users > 0);
    if (--item->users > 0)
        return;
    int32_t *link = chain_of(s, item->amounts);
    while (*link != shape)
        link = &s->items[*link].next;
    *link = item->next;
    item->next = s->free_head;
    s->free_head = shape;
}
