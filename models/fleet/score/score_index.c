/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/score/score_index.h"

#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/check.h"

void score_index_init(struct score_index *x, int32_t nodes, bool sums,
                      int32_t (*score)(void *owner, int32_t class_index, int32_t node), void *owner)
{
    *x = (struct score_index){.nodes = nodes, .leaves = 1, .sums = sums, .score = score,
                              .owner = owner, .newest = -1};
    while (x->leaves < nodes)
        x->leaves *= 2;
    size_t n = (size_t)nodes + 1;
    x->changed_at = mem_zalloc(n, sizeof(*x->changed_at));
    x->newer = mem_alloc(n, sizeof(*x->newer));
    x->older = mem_alloc(n, sizeof(*x->older));
    for (int32_t i = 0; i < nodes; i++) {
        x->newer[i] = i - 1;
        x->older[i] = i + 1 < nodes ? i + 1 : -1;
    }
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
    free(x->changed_at);
    free(x->newer);
    free(x->older);
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
        c->best = mem_alloc((size_t)x->leaves * 2, sizeof(*c->best));
    score_index_reset(x, (int32_t)x->class_count);
    return (int32_t)x->class_count++;
}

void score_index_reset(struct score_index *x, int32_t class_index)
{
    struct score_class *c = &x->classes[class_index];
    c->seen = 0;
    size_t n = (size_t)x->leaves * 2;
    if (x->sums)
        memset(c->sums, 0, n * sizeof(*c->sums));
    else
        memset(c->best, -1, n * sizeof(*c->best));
}

void score_index_touch(struct score_index *x, int32_t node)
{
    x->changed_at[node] = ++x->clock;
    if (x->newest == node)
        return;
    x->older[x->newer[node]] = x->older[node];
    if (x->older[node] >= 0)
        x->newer[x->older[node]] = x->newer[node];
    x->newer[x->newest] = node;
    x->older[node] = x->newest;
    x->newer[node] = -1;
    x->newest = node;
}

void score_index_touch_all(struct score_index *x)
{
    x->clock++;
    for (int32_t i = 0; i < x->nodes; i++)
        x->changed_at[i] = x->clock;
}

static void set_best(int8_t *tree, int32_t at, int32_t value)
{
    CHECK(value <= INT8_MAX);
    tree[at] = (int8_t)value;
    for (at /= 2; at > 0; at /= 2) {
        int8_t left = tree[2 * at], right = tree[2 * at + 1], best = left >= right ? left : right;
        if (tree[at] == best)
            return;
        tree[at] = best;
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
    for (int32_t i = x->newest; i >= 0 && x->changed_at[i] > c->seen; i = x->older[i]) {
        int32_t value = x->score(x->owner, class_index, i);
        x->looks++;
        if (x->sums)
            set_sum(c->sums, x->leaves + i, value >= 0);
        else
            set_best(c->best, x->leaves + i, value);
    }
    c->seen = x->clock;
    return c;
}

int32_t score_index_best(struct score_index *x, int32_t class_index)
{
    const int8_t *tree = catch_up(x, class_index)->best;
    if (tree[1] < 0)
        return -1;
    int32_t at = 1;
    while (at < x->leaves)
        at = tree[2 * at] == tree[at] ? 2 * at : 2 * at + 1;
    return at - x->leaves;
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
