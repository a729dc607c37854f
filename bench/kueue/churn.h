/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Many waiting workloads in many queues, kept in motion: cohorts of 100 queues, one flavor,
 * nominal quota 20 and borrowing limit 100 each (as in Kueue's performance generator), gangs of 1 to
 * `shapes` cards in turn, everything full. In a round, which is a
 * second, `changed` running workloads, in as many queues spread over the cohorts, end, and for each a
 * new one is submitted in its queue; a second later the wake of their trees is due. Through the
 * policy interface and policy_settle, as a simulated world does it. An eviction takes 250 ms.
 */
#ifndef BENCH_KUEUE_CHURN_H
#define BENCH_KUEUE_CHURN_H

#include <stdbool.h>

#include "models/policies/kueue/counts.h"

enum churn_mode {
    CHURN_NEVER,   /* nobody is preempted */
    CHURN_PREEMPT, /* as in the generator: withinClusterQueue LowerPriority, reclaimWithinCohort Any */
    CHURN_FAIR     /* the same under fair sharing */
};

struct churn_options {
    uint32_t pending, queues, shapes, changed; /* pending: beside what runs */
    uint32_t cohort_queues; /* queues of a cohort; 0: 100 */
    enum churn_mode mode;
    uint64_t seed;   /* which workloads end */
    bool entries;    /* every entry recorded, so that no evaluation is left out */
};

struct churn;

/* All workloads are submitted, and as many as fit run. */
struct churn *churn_create(const struct churn_options *options);
void churn_destroy(struct churn *c);
void churn_rounds(struct churn *c, uint32_t rounds);

struct churn_result { /* since churn_create was called */
    struct kq_counts counts;
    uint64_t admitted, evicted;
    uint64_t entries;  /* recorded */
    uint64_t history;  /* hash of who was admitted and evicted, when */
    uint32_t running, waiting;
};
struct churn_result churn_result(const struct churn *c);

#endif
