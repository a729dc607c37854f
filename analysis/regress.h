/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The gate: did a change make anything worse, for whom, and which decision was the first to
 * differ? Two databases of the same demand are held against each other, arbiters by name, runs by
 * replication, metrics by scope, jobs by their identity (models/world/world_record.h).
 *
 * A metric is worse when the mean over the common replications moves in the bad direction by more
 * than its tolerance, and that is not chance: the paired 95 % interval leaves out 0, or every
 * single replication moves by more than the tolerance (two replications have no useful interval).
 * Else it is unclear, which fails the gate only when it is strict. With one replication there is
 * no spread, so the figure itself decides.
 */
#ifndef ANALYSIS_REGRESS_H
#define ANALYSIS_REGRESS_H

#include <stdio.h>

#include "analysis/rows_out.h"
#include "analysis/stats.h"
#include "analysis/tolerance.h"

enum regress_verdict { REGRESS_SAME, REGRESS_BETTER, REGRESS_UNCLEAR, REGRESS_WORSE };

/* One metric of one scope. before and after are means over the common replications. */
struct regress_finding {
    const char *arbiter, *kind, *scope; /* kind "job": scope is the job's id */
    const struct metric_def *def;
    double before, after;
    struct interval change; /* after - before; low and high NaN with one replication */
    double allowed;         /* what the tolerance lets pass, in the metric's unit */
    bool censored;          /* some value is only a lower bound */
    enum regress_verdict verdict;
    size_t arbiter_ix, metric_ix; /* for the order */
};

/* One job that waits longer or is evicted more often. A job without a start waits to the end. */
struct regress_job {
    const char *arbiter, *id, *team, *queue, *reason; /* reason: of its wait after the change, or "" */
    int64_t replication, priority, cards_milli;
    double wait_before_s, wait_after_s, rework_after_card_s;
    bool started_before, started_after;
    int64_t evictions_before, evictions_after;
};

struct regress_jobs { /* of one kind of worsening; the worst first */
    struct regress_job *items;
    size_t count, limit;
    int64_t total;
};

struct regress_side { /* what one database says about a workload at the first difference */
    bool found;
    int64_t t_ns;
    const char *kind, *reason, *detail; /* detail "" when there is none */
};

struct regress_difference {
    const char *arbiter, *workload, *queue;
    int64_t replication, t_ns;
    struct regress_side before, after;
};

struct regress_options {
    const struct tolerance_list *tolerance;
    const char *arbiter; /* only this one; NULL: all */
    size_t top;          /* jobs listed per kind */
    bool strict;         /* unclear counts as worse */
};

struct regress {
    struct arena arena; /* owns all that follows */
    const char *path_before, *path_after;
    struct regress_finding *findings; /* all that were judged: by arbiter, metric, scope */
    size_t finding_count, finding_capacity, counts[REGRESS_WORSE + 1];
    int64_t replications;
    size_t arbiter_count;
    bool has_jobs, has_decisions;
    int64_t jobs_paired, jobs_faster;
    double waited_longer_s, waited_less_s; /* summed over jobs */
    struct regress_jobs longer, evicted;
    struct regress_difference *differences; /* one per arbiter at most, in order */
    size_t difference_count;
    int64_t loops_before, loops_after;      /* runs in which workloads evict each other without end */
    bool new_loops, strict;
    const char **notes;
    size_t note_count, note_capacity;
};

/* False with err (ERR_INPUT) also when the demand differs. Always release with regress_fini. */
bool regress_read(struct regress *r, struct results *before, struct results *after,
                  const struct regress_options *options, struct err *err);
void regress_fini(struct regress *r);

/* 0 nothing worse, 1 worse, 4 new loops. */
int regress_status(const struct regress *r);

/* format ROWS_TABLE (80 columns) or ROWS_JSON. */
void regress_print(FILE *out, const struct regress *r, enum rows_format format);

/* Files that appear whole or not at all. */
bool regress_junit(const char *path, const struct regress *r, struct err *err);
bool regress_markdown(const char *path, const struct regress *r, struct err *err);

#endif
