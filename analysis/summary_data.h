/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The views `summary` and `summary_by` in memory, by arbiter and metric: what tables and pages
 * print. */
#ifndef ANALYSIS_SUMMARY_DATA_H
#define ANALYSIS_SUMMARY_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/figure.h"
#include "analysis/store/results.h"
#include "sim/arena.h"

struct summary_arbiter {
    const char *name, *preset;
    int64_t replications;
    int64_t first_run; /* the run of the lowest replication */
};

/* Figures of one scope; figures[arbiter * metric_count + metric], see summary_figure. */
struct summary_scope {
    const char *name;
    struct figure *figures;
};

struct summary_data {
    struct arena arena; /* owns all that follows */
    struct summary_arbiter *arbiters;
    size_t arbiter_count;
    struct summary_scope *scopes; /* for kind 'all' one scope, "" */
    size_t scope_count;
    size_t metric_count; /* of metric_defs_all() */
    double horizon_s;
    const char *scenario; /* name */
    const char *kind;
};

/* Reads one scope kind: 'all', 'team', 'service', 'node_pool', 'flavor'. Always to be released
 * with summary_data_fini. */
bool summary_data_read(struct summary_data *data,
                       struct results *results,
                       const char *kind,
                       struct err *err);
void summary_data_fini(struct summary_data *data);

/* Figure of a metric by name; value NaN when there is none. */
struct figure summary_figure(const struct summary_data *data,
                             size_t scope,
                             size_t arbiter,
                             const char *metric);

/* True when any arbiter has a value for it in any scope. */
bool summary_has(const struct summary_data *data, const char *metric);

#endif
