/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leases: a table of chunks that never move, and parts in blocks of powers of two. A lease of one
 * part has it inside; a block goes back to the list of its size when the lease outgrows or leaves it.
 */
#include <stdlib.h>
#include <string.h>

#include "models/fleet/fleet_priv.h"
#include "sim/check.h"

static struct lease *at(const struct lease_table *t, uint32_t index)
{
    uintptr_t block = (uintptr_t)t->chunks[index / LEASE_CHUNK];
    struct lease *first = (struct lease *)((block + LEASE_ALIGN - 1) / LEASE_ALIGN * LEASE_ALIGN);
    return &first[index % LEASE_CHUNK];
}

void lease_table_fini(struct lease_table *t)
{
    for (size_t i = 0; i < t->chunk_count; i++)
        free(t->chunks[i]);
    free(t->chunks);
    arena_fini(&t->blocks);
    *t = (struct lease_table){0};
}

struct lease_id lease_open(struct lease_table *t)
{
    uint32_t index1 = t->free_head;
    if (index1 != 0) {
        t->free_head = at(t, index1 - 1)->next_free;
    } else {
        if (t->used % LEASE_CHUNK == 0) {
            t->chunks =
                mem_grow(t->chunks, &t->chunk_capacity, t->chunk_count + 1, sizeof(void *));
            t->chunks[t->chunk_count++] = mem_zalloc(LEASE_CHUNK + 1, sizeof(struct lease));
        }
        index1 = ++t->used;
    }
    struct lease *l = at(t, index1 - 1);
    l->gen++;
    l->count = 0;
    l->capacity = 1;
    l->parts = &l->inline_part;
    return (struct lease_id){index1, l->gen};
}

struct lease *lease_get(const struct lease_table *t, struct lease_id id)
{
    REQUIRE(id.index1 > 0 && id.index1 <= t->used);
    struct lease *l = at(t, id.index1 - 1);
    REQUIRE(l->gen == id.gen && (l->gen & 1) == 1); /* a stale handle is a bug of the caller */
    return l;
}

static int class_of(int32_t capacity)
{
    return 31 - __builtin_clz((uint32_t)capacity);
}

/* A free block holds the pointer to the next one in its first bytes. */
static void block_give(struct lease_table *t, struct lease_part *block, int32_t capacity)
{
    int c = class_of(capacity);
    *(struct lease_part **)(void *)block = t->free_block[c];
    t->free_block[c] = block;
}

static struct lease_part *block_take(struct lease_table *t, int32_t capacity)
{
    int c = class_of(capacity);
    struct lease_part *block = t->free_block[c];
    if (block == NULL)
        return arena_alloc(&t->blocks, (size_t)capacity, sizeof(struct lease_part));
    t->free_block[c] = *(struct lease_part **)(void *)block;
    return block;
}

void lease_push(struct lease_table *t, struct lease *l, struct lease_part part)
{
    if (l->count == l->capacity) {
        REQUIRE(l->capacity < 1 << (PART_CLASSES - 1));
        struct lease_part *block = block_take(t, l->capacity * 2);
        memcpy(block, l->parts, (size_t)l->count * sizeof(*block));
        if (l->capacity > 1)
            block_give(t, l->parts, l->capacity);
        l->parts = block;
        l->capacity *= 2;
    }
    l->parts[l->count++] = part;
}

void lease_shut(struct lease_table *t, struct lease_id id)
{
    struct lease *l = lease_get(t, id);
    REQUIRE(l->count == 0);
    if (l->capacity > 1)
        block_give(t, l->parts, l->capacity);
    l->parts = NULL;
    l->gen++;
    l->next_free = t->free_head;
    t->free_head = id.index1;
}
