/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workloads that evict each other without end. Each workload remembers who evicted it last; a
 * chain of these that comes back to its start, after enough evictions, is a loop: it is reported,
 * not repaired. (Real ones: Kueue issues 3779, 7101, 14543.)
 */
#ifndef MODELS_POLICIES_LOOPS_H
#define MODELS_POLICIES_LOOPS_H

#include "models/policies/settle.h"

struct loops;

struct loops *loops_create(void);
void loops_destroy(struct loops *l);

/* victim was evicted for preemptor by the rule. Returns how often it was in this instant. */
uint32_t loops_note(struct loops *l, uint32_t victim, uint32_t preemptor, enum policy_evict_reason rule,
                int64_t now);
/* The workload made progress for good, or is gone: it starts from nothing. */
void loops_forget(struct loops *l, uint32_t workload);

/* Report on the instant that does not come to rest, from the latest evictions. */
void loops_instant(struct loops *l, int64_t now, uint32_t cycles);

/* The latest report, or NULL. */
const struct settle_loop *loops_last(const struct loops *l);

#endif
