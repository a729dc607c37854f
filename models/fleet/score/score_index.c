/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/score/score_index.h"

#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/check.h"

#define BLOCK 64

/* Every level of a tree of the best is whole blocks; the last is one. */
static void lay_out(struct score_index *x)
{
    int64_t count = x->nodes;
    do {
        REQUIRE(x->levels < SCORE_INDEX_LEVELS);
        count = (count + BLOCK - 1) / BLOCK;
        x->start[x->levels + 1] = x->start[x->levels] + (count > 0 ? count : 1) * BLOCK;
        x->levels++;
    } while (count > 1);
}

void score_index_init(struct score_index *x, int32_t nodes, bool sums,
                      int32_t (*score)(void *owner, int32_t class_index, int32_t node), void *owner)
{
    *x = (struct score_index){.nodes = nodes, .leaves = 1, .sums = sums, .score = score,
                              .owner = owner, .newest = -1};
    while (x->leaves < nodes)
        x->leaves *= 2;
    lay_out(x);
    x->change = mem_zalloc((size_t)nodes + 1, sizeof(*x->change));
    for (int32_t i = 0; i < nodes; i++)
        x->change[i] = (struct score_change){0, i - 1, i + 1 < nodes ? i + 1 : -1};
    x->newest = nodes > 0 ? 0 : -1;
    score_index_touch_all(x);
}

void score_index_fini(struct score_index *x)
{
    for (size_t i = 0; i < x->class_count; i++) {
        free(x->classes[i].best);
        free(x->classes[i].sums);
    }
    free(x->classes);
    free(x->change);
    *x = (struct score_index){0};
}

int32_t score_index_add(struct score_index *x)
{
    x->classes = mem_grow(x->classes, &x->class_capacity, x->class_count + 1, sizeof(*x->classes));
    struct score_class *c = &x->classes[x->class_count];
    *c = (struct score_class){0};
    if (x->sums)
        c->sums = mem_alloc((size_t)x->leaves * 2, sizeof(*c->sums));
    else
        c->best = mem_alloc((size_t)x->start[x->levels], sizeof(*c->best));
    score_index_reset(x, (int32_t)x->class_count);
    return (int32_t)x->class_count++;
}

void score_index_reset(struct score_index *x, int32_t class_index)
{
    struct score_class *c = &x->classes[class_index];
    c->seen = 0;
    if (x->sums)
        memset(c->sums, 0, (size_t)x->leaves * 2 * sizeof(*c->sums));
    else
        memset(c->best, 0, (size_t)x->start[x->levels] * sizeof(*c->best));
}

void score_index_touch(struct score_index *x, int32_t node)
{
    struct score_change *c = &x->change[node];
    c->at = ++x->clock;
    if (x->newest == node)
        return;
    x->change[c->newer].older = c->older;
    if (c->older >= 0)
        x->change[c->older].newer = c->newer;
    x->change[x->newest].newer = node;
    c->older = x->newest;
    c->newer = -1;
    x->newest = node;
}

void score_index_touch_all(struct score_index *x)
{
    x->clock++;
    for (int32_t i = 0; i < x->nodes; i++)
        x->change[i].at = x->clock;
}

static uint8_t best_of(const uint8_t block[BLOCK])
{
    uint8_t best = 0;
    for (int i = 0; i < BLOCK; i++)
        best = block[i] > best ? block[i] : best;
    return best;
}

/* Upwards as long as the best of a block changes. */
static void set_best(const struct score_index *x, uint8_t *tree, int64_t at, int32_t score)
{
    CHECK(score >= -1 && score < UINT8_MAX);
    uint8_t value = (uint8_t)(score + 1);
    for (int l = 0; l < x->levels; l++, at /= BLOCK) {
        uint8_t *mine = tree + x->start[l] + at, before = *mine;
        if (before == value)
            return;
        *mine = value;
        if (l + 1 == x->levels)
            return;
        uint8_t best = tree[x->start[l + 1] + at / BLOCK];
        if (value < best && before < best)
            return;
        if (value < best)
            value = best_of(mine - at % BLOCK);
    }
}

static void set_sum(int32_t *tree, int32_t at, int32_t value)
{
    int32_t change = value - tree[at];
    for (; change != 0 && at > 0; at /= 2)
        tree[at] += change;
}

static const struct score_class *catch_up(struct score_index *x, int32_t class_index)
{
    REQUIRE(class_index >= 0 && (size_t)class_index < x->class_count);
    struct score_class *c = &x->classes[class_index];
    for (int32_t i = x->newest; i >= 0 && x->change[i].at > c->seen; i = x->change[i].older) {
        int32_t next = x->change[i].older; /* its place in the tree is far away: on its way meanwhile */
        if (next >= 0 && !x->sums)
            __builtin_prefetch(c->best + next, 1);
        int32_t value = x->score(x->owner, class_index, i);
        x->looks++;
        if (x->sums)
            set_sum(c->sums, x->leaves + i, value >= 0);
        else
            set_best(x, c->best, i, value);
    }
    c->seen = x->clock;
    return c;
}

int32_t score_index_best(struct score_index *x, int32_t class_index)
{
    const uint8_t *tree = catch_up(x, class_index)->best;
    uint8_t best = best_of(tree + x->start[x->levels - 1]);
    if (best == 0)
        return -1;
    int64_t at = 0;
    for (int l = x->levels - 1; l >= 0; l--) {
        const uint8_t *block = tree + x->start[l] + at * BLOCK;
        at = at * BLOCK + ((const uint8_t *)memchr(block, best, BLOCK) - block);
    }
    return (int32_t)at;
}

int32_t score_index_draw(struct score_index *x, int32_t class_index, struct rng *rng)
{
    const int32_t *tree = catch_up(x, class_index)->sums;
    if (tree[1] == 0)
        return -1;
    int32_t skip = (int32_t)rng_below(rng, (uint64_t)tree[1]), at = 1;
    while (at < x->leaves) {
        at *= 2;
        if (skip >= tree[at])
            skip -= tree[at++];
    }
    return at - x->leaves;
}
