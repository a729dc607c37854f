/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a gate lets pass: a text of lines
 *
 *     metric  scope  tolerance [tolerance]     # comment
 *
 * metric: a name of metric_def, jobs.wait.mean, jobs.evictions, workload.wait, workload.evictions,
 * or the begin of some with a star ("idle.*", "*"). scope: "*" (everywhere), "all" (the whole
 * fleet), or KIND:NAME with KIND team, queue, service, node_pool, flavor, class or priority, NAME
 * "*" for each of the kind. tolerance: "5%" of the base value, an absolute change in the unit of
 * the metric ("0.01", for seconds also "90s", "5m", "2h", "1d"), or the word "ignore". Of two
 * tolerances the larger counts. The last line that fits wins. docs/regress.md has examples.
 */
#ifndef ANALYSIS_TOLERANCE_H
#define ANALYSIS_TOLERANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/metric_defs.h"
#include "sim/arena.h"
#include "sim/diag.h"

enum { TOLERANCE_BYTES_MAX = 1 << 20, TOLERANCE_LINES_MAX = 10000 };

/* A change in the bad direction passes up to max(relative x |base|, absolute). */
struct tolerance_limit {
    double relative, absolute;
    bool ignore;
};

struct tolerance_line {
    const char *metric; /* a trailing star: begin of the name */
    const char *kind;   /* "*": every scope */
    const char *scope;  /* "*": each of the kind */
    struct tolerance_limit limit;
    long line;
};

struct tolerance_list {
    struct arena arena; /* owns the texts */
    struct tolerance_line *lines;
    size_t count, capacity;
};

/* Problems go to diags as file:line:column; false when there was any. A zeroed list is empty;
 * release it with tolerance_fini in every case. */
bool tolerance_read_file(struct tolerance_list *list, const char *path, struct diag_list *diags);
bool tolerance_read_text(struct tolerance_list *list, const char *name, const char *text, size_t length,
                         struct diag_list *diags);
void tolerance_fini(struct tolerance_list *list);

/* The last line for this metric in this scope (kind "all" has scope ""); NULL: none. */
const struct tolerance_line *tolerance_find(const struct tolerance_list *list, const char *metric,
                                            const char *kind, const char *scope);

/* The limit of a metric: of the file, else metric_def's with the least change that its unit counts
 * (a millisecond, for waits a second; half of one; a hundredth of a card-hour or usd). */
struct tolerance_limit tolerance_of(const struct tolerance_list *list, const struct metric_def *def,
                                    const char *kind, const char *scope);

/* Figures that only a gate knows, from single jobs; else as metric_defs_find. */
const struct metric_def *tolerance_metric(const char *name);

#endif
