/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What differs: paired differences of the headline figures. Within one database every arbiter is
 * held against the first; with two, arbiters of the same name (B minus A). Replications of the
 * same number have the same demand (common random numbers), hence pairs; with k > 1 pairs of
 * arbiters each interval is at 1 - 0.05/k (Bonferroni), so that all of a row hold together.
 */
#ifndef ANALYSIS_COMPARE_H
#define ANALYSIS_COMPARE_H

#include <stdio.h>

#include "analysis/metric_defs.h"
#include "analysis/rows_out.h"
#include "analysis/stats.h"
#include "sim/arena.h"

enum compare_verdict { COMPARE_UNKNOWN, COMPARE_SAME, COMPARE_BETTER, COMPARE_WORSE, COMPARE_OTHER };

/* One metric of one pair. Verdict: unknown = fewer than two pairs; same = the interval holds 0;
 * other = it does not, and neither direction is better. */
struct compare_cell {
    double mean_a, mean_b;
    struct interval difference; /* b - a; mean NaN when it does not apply */
    enum compare_verdict verdict;
    bool censored; /* one of the values is only a lower bound */
};

struct compare {
    struct arena arena; /* owns all that follows */
    const char **names_a, **names_b; /* of the pairs */
    size_t pair_count, metric_count; /* metrics as in metric_defs_all() */
    struct compare_cell *cells;      /* [pair * metric_count + metric] */
    double level;
    bool demand_differs; /* only when forced */
};

/* b = NULL: within a. Refuses different demand unless `force`. Always release with compare_fini. */
bool compare_read(struct compare *compare,
                  struct results *a,
                  struct results *b,
                  bool force,
                  struct err *err);
void compare_fini(struct compare *compare);

/* Cell by metric name. */
const struct compare_cell *compare_cell(const struct compare *compare, size_t pair, const char *metric);

struct compare_options {
    enum rows_format format;
    bool force;
};

/* Prints the comparison; path_b may be NULL. Exit status as summary_print. */
int compare_print(FILE *out,
                  const char *path_a,
                  const char *path_b,
                  const struct compare_options *options,
                  struct err *err);

#endif
