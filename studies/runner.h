/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runner: arbiters x replications over threads, into one results database. Each run writes to
 * a log of its own; the calling thread replays the logs in run order, so that the database does
 * not depend on the number of threads or on who finished first.
 */
#ifndef STUDIES_RUNNER_H
#define STUDIES_RUNNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "models/world/scenario.h"
#include "sim/err.h"

struct runner_options {
    const char *output;      /* results database */
    int jobs;                /* threads; 0 = one per processor */
    enum record_level level;
    bool progress;           /* bar with ETA on stderr */
    const atomic_bool *stop; /* set by a signal handler; may be NULL */
};

struct runner_result {
    int runs;
    uint64_t events;
    bool loops;              /* some run has workloads that evict each other without end */
    char partial[4096];      /* name of the partial database kept after an interrupt, or "" */
};

/* False with err: nothing is left but what `partial` names; an older output file is intact. */
bool runner_run(const struct scenario *s, const struct runner_options *options,
                struct runner_result *result, struct err *err);

#endif
