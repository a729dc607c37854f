/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/ledger/quota_wait.h"

#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/check.h"

#define FIRST_CAPACITY 64

void quota_wait_init(struct quota_wait *q, uint32_t pool_count)
{
    memset(q, 0, sizeof *q);
    q->pool_count = pool_count;
    q->capacity = FIRST_CAPACITY;
    q->sizes = mem_zalloc(q->capacity, sizeof *q->sizes);
    q->trees = mem_zalloc((size_t)pool_count * q->capacity, sizeof *q->trees);
    q->totals = mem_zalloc(pool_count, sizeof *q->totals);
}

void quota_wait_fini(struct quota_wait *q)
{
    free(q->sizes);
    free(q->trees);
    free(q->totals);
    memset(q, 0, sizeof *q);
}

/* Number of known sizes <= limit, which is also the 1-based index of the last of them. */
static size_t rank_of(const struct quota_wait *q, int64_t limit)
{
    size_t lo = 0, hi = q->size_count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (q->sizes[mid] <= limit)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int64_t prefix(const int64_t *tree, size_t i)
{
    int64_t sum = 0;
    for (; i > 0; i &= i - 1)
        sum += tree[i - 1];
    return sum;
}

static void tree_add(int64_t *tree, size_t n, size_t i, int64_t amount)
{
    for (; i <= n; i += i & (~i + 1))
        tree[i - 1] += amount;
}

/* Turns a tree of n - 1 entries into one of n, the new (empty) one at 0-based position at. */
static void tree_insert(int64_t *tree, size_t n, size_t at)
{
    for (size_t i = n - 1; i > 0; i--) { /* to plain values, from the end */
        for (size_t j = i - 1, stop = i & (i - 1); j > stop; j &= j - 1)
            tree[i - 1] -= tree[j - 1];
    }
    memmove(tree + at + 1, tree + at, (n - 1 - at) * sizeof *tree);
    tree[at] = 0;
    for (size_t i = 1; i <= n; i++) { /* and back, in linear time */
        size_t parent = i + (i & (~i + 1));
        if (parent <= n)
            tree[parent - 1] += tree[i - 1];
    }
}

static void grow(struct quota_wait *q)
{
    size_t old = q->capacity;
    q->capacity *= 2;
    q->sizes = mem_realloc(q->sizes, q->capacity, sizeof *q->sizes);
    int64_t *trees = mem_zalloc((size_t)q->pool_count * q->capacity, sizeof *trees);
    for (uint32_t p = 0; p < q->pool_count; p++)
        memcpy(trees + (size_t)p * q->capacity, q->trees + (size_t)p * old,
               q->size_count * sizeof *trees);
    free(q->trees);
    q->trees = trees;
}

void quota_wait_register(struct quota_wait *q, int64_t size_milli)
{
    REQUIRE(size_milli > 0);
    size_t at = rank_of(q, size_milli);
    if (at > 0 && q->sizes[at - 1] == size_milli)
        return;
    if (q->size_count == q->capacity)
        grow(q);
    memmove(q->sizes + at + 1, q->sizes + at, (q->size_count - at) * sizeof *q->sizes);
    q->sizes[at] = size_milli;
    q->size_count++;
    for (uint32_t p = 0; p < q->pool_count; p++)
        tree_insert(q->trees + (size_t)p * q->capacity, q->size_count, at);
}

void quota_wait_change(struct quota_wait *q, uint32_t pool, int64_t size_milli, int64_t delta)
{
    quota_wait_register(q, size_milli);
    int64_t amount = size_milli * delta;
    tree_add(q->trees + (size_t)pool * q->capacity, q->size_count, rank_of(q, size_milli), amount);
    q->totals[pool] += amount;
}

int64_t quota_wait_up_to(const struct quota_wait *q, uint32_t pool, int64_t limit_milli)
{
    if (q->totals[pool] == 0)
        return 0;
    return prefix(q->trees + (size_t)pool * q->capacity, rank_of(q, limit_milli));
}

int64_t quota_wait_total(const struct quota_wait *q, uint32_t pool)
{
    return q->totals[pool];
}
