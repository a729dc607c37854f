/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/import/chunks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"

enum { BLOCK_ROWS = 16384 };

void chunks_init(struct chunks *c, size_t item)
{
    memset(c, 0, sizeof *c);
    c->item = item;
}

void *chunks_add(struct chunks *c)
{
    if (c->count == c->block_count * BLOCK_ROWS) {
        c->block = mem_grow(c->block, &c->block_capacity, c->block_count + 1, sizeof *c->block);
        c->block[c->block_count++] = mem_zalloc(BLOCK_ROWS, c->item);
    }
    return chunks_at(c, c->count++);
}

void *chunks_at(const struct chunks *c, size_t i)
{
    return c->block[i / BLOCK_ROWS] + (i % BLOCK_ROWS) * c->item;
}

int64_t chunks_time(const struct chunks *c, size_t i)
{
    int64_t t;
    memcpy(&t, chunks_at(c, i), sizeof t);
    return t;
}

static void merge(const struct chunks *c, const uint32_t *from, uint32_t *to, size_t begin, size_t middle,
                  size_t end)
{
    size_t a = begin;
    size_t b = middle;
    for (size_t k = begin; k < end; k++) {
        bool left = b >= end || (a < middle && chunks_time(c, from[a]) <= chunks_time(c, from[b]));
        to[k] = left ? from[a++] : from[b++];
    }
}

static bool sorted(const struct chunks *c)
{
    for (size_t i = 1; i < c->count; i++) {
        if (chunks_time(c, i) < chunks_time(c, i - 1)) {
            return false;
        }
    }
    return true;
}

uint32_t *chunks_order(const struct chunks *c)
{
    if (c->count == 0) {
        return NULL;
    }
    uint32_t *order = mem_alloc(c->count, sizeof *order);
    for (size_t i = 0; i < c->count; i++) {
        order[i] = (uint32_t)i;
    }
    if (sorted(c)) {
        return order;
    }
    uint32_t *other = mem_alloc(c->count, sizeof *other);
    for (size_t width = 1; width < c->count; width *= 2) {
        for (size_t begin = 0; begin < c->count; begin += 2 * width) {
            size_t middle = begin + width < c->count ? begin + width : c->count;
            size_t end = begin + 2 * width < c->count ? begin + 2 * width : c->count;
            merge(c, order, other, begin, middle, end);
        }
        uint32_t *swap = order;
        order = other;
        other = swap;
    }
    free(other);
    return order;
}

void chunks_fini(struct chunks *c)
{
    for (size_t i = 0; i < c->block_count; i++) {
        free(c->block[i]);
    }
    free(c->block);
    memset(c, 0, sizeof *c);
}
