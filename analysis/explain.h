/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why: every decision about a workload, in a queue, or around an instant, with its arithmetic and
 * what it means. Reads the tables `decision` and `workload`, that is, a database of --record full
 * (studies/explain_rerun.h makes one in memory for a run that was recorded with less).
 */
#ifndef ANALYSIS_EXPLAIN_H
#define ANALYSIS_EXPLAIN_H

#include <stdio.h>

#include "analysis/rows_out.h"
#include "sim/arena.h"

enum explain_what { EXPLAIN_WORKLOAD, EXPLAIN_QUEUE, EXPLAIN_AT };

struct explain_query {
    enum explain_what what;
    const char *name;   /* of the workload or queue */
    int64_t t_ns;       /* EXPLAIN_AT; EXPLAIN_QUEUE: INT64_MAX is the end of the run */
    size_t limit;       /* decisions shown of a queue or around an instant; 0: all */
    enum rows_format format; /* ROWS_TABLE: text in 80 columns; ROWS_JSON */
};

/* One run to be explained. */
struct explain_run {
    int64_t run, replication;
    const char *arbiter, *preset;
    bool has_decisions;
};

struct explain_runs {
    struct arena arena;
    struct explain_run *items;
    size_t count;
};

/* Runs of the replication: of one arbiter, or (NULL) of all that have a fleet. ERR_INPUT with the
 * names that exist when there is none. Always release with explain_runs_fini. */
bool explain_runs_read(struct explain_runs *runs, struct results *results, const char *arbiter,
                       int64_t replication, struct err *err);
void explain_runs_fini(struct explain_runs *runs);

/* Explains one run. ERR_INPUT, with the nearest name, when there is no such workload or queue. */
bool explain_print(FILE *out, struct results *results, const struct explain_run *run,
                   const struct explain_query *query, struct err *err);

#endif
