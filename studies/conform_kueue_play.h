/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plays a recorded case through the shipped policy and policy_settle. */
#ifndef STUDIES_CONFORM_KUEUE_PLAY_H
#define STUDIES_CONFORM_KUEUE_PLAY_H

#include "models/policies/kueue/counts.h"
#include "studies/conform_kueue_log.h"

struct kueue_times {
    int64_t *v;
    size_t count, capacity;
};

struct kueue_run { /* of one job */
    struct kueue_times admitted, preempted, evicted;
    enum policy_evict_reason *evict_reasons;
    size_t evict_reason_capacity;
    int64_t finished, deactivated; /* POLICY_NEVER: not */
    int64_t ready, unready, recovered, end; /* of the attempt that runs */
    bool arrived;
};

struct kueue_result {
    struct kueue_log log;
    struct kueue_run *runs; /* by job */
    size_t run_capacity;
    enum policy_place *places; /* at the end, by job */
    size_t place_capacity;
    const char *stopped; /* "cycles", "length", or NULL */
    uint64_t cycles;     /* that ran, logged or not */
    struct kq_counts counts; /* at the end */
    uint64_t entries;    /* that were recorded */
};

/* False with e set: the policy refuses the case's configuration. Without `entries` there is no log
 * of cycles, and the policy leaves out evaluations that it can prove to be in vain, as it does in
 * simulations. */
bool kueue_play(struct kueue_case *c, bool entries, struct kueue_result *r, struct err *e);
void kueue_result_fini(struct kueue_result *r);

#endif
