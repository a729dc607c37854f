/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cards asked for by workloads that wait for quota, per node pool, by size of the request: the sum
 * over requests <= I in O(log n). One sorted table of distinct sizes for all pools, and a Fenwick
 * tree (Fenwick 1994) over it per pool. Sizes are few (a new one rebuilds the trees); workloads
 * are many. Internal to the ledger.
 */
#ifndef MODELS_LEDGER_QUOTA_WAIT_H
#define MODELS_LEDGER_QUOTA_WAIT_H

#include <stddef.h>
#include <stdint.h>

struct quota_wait {
    uint32_t pool_count;
    size_t size_count, capacity; /* distinct sizes, and room for them */
    int64_t *sizes;              /* ascending, milli-cards */
    int64_t *trees;              /* [pool][capacity], 1-based inside: milli-cards waiting */
    int64_t *totals;             /* per pool, milli-cards waiting */
};

void quota_wait_init(struct quota_wait *q, uint32_t pool_count);
void quota_wait_fini(struct quota_wait *q);
/* Adds a size (> 0, milli-cards) if it is new; the only call that may allocate. */
void quota_wait_register(struct quota_wait *q, int64_t size_milli);
/* delta workloads of that size begin or cease to wait; the count never falls below 0. */
void quota_wait_change(struct quota_wait *q, uint32_t pool, int64_t size_milli, int64_t delta);
/* Milli-cards of waiting workloads whose size is <= limit. */
int64_t quota_wait_up_to(const struct quota_wait *q, uint32_t pool, int64_t limit_milli);
int64_t quota_wait_total(const struct quota_wait *q, uint32_t pool);

#endif
