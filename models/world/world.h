/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One world: one arbiter, one replication of a scenario, from t = 0 to the horizon. A world is a
 * value: many run side by side in threads, and none knows of another.
 */
#ifndef MODELS_WORLD_WORLD_H
#define MODELS_WORLD_WORLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "models/world/scenario.h"
#include "sim/err.h"
#include "sim/record.h"

struct world_options {
    int32_t arbiter;              /* index into scenario.arbiters */
    uint32_t replication;
    int64_t run_id;               /* first field of every row */
    enum record_level level;      /* SUMMARY: metrics and ledger only */
    struct record_sink sink;
    _Atomic int64_t *progress_ns; /* simulated time reached, for a progress bar; may be NULL */
    const atomic_bool *stop;      /* set by an interrupt; may be NULL */
};

/* What the runner learns beside the rows. */
struct world_outcome {
    uint64_t events, policy_settles;
    bool loops;                   /* workloads evict each other without end: exit status 4 */
    uint64_t demand_hash;         /* of every job and traffic step: equal under every arbiter */
};

/* Reads the jobs files up to the horizon: false with err on a bad row, or on a job that no node of
 * the fleet can hold. */
bool world_check_demand(const struct scenario *s, struct err *err);

/* Runs to the horizon and writes all rows. False with err on bad input files or an interrupt. */
bool world_run(const struct scenario *s, const struct world_options *options,
               struct world_outcome *outcome, struct err *err);

#endif
