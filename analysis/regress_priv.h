/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the parts of the gate. Both databases are seen by one connection: tables of the later
 * one have `after.` in front. */
#ifndef ANALYSIS_REGRESS_PRIV_H
#define ANALYSIS_REGRESS_PRIV_H

#include "analysis/figure.h"
#include "analysis/regress.h"

struct regress_reading {
    struct regress *r;
    struct results *before, *after; /* `before` has `after` attached */
    const struct regress_options *options;
    struct err *err;
    const char *only; /* SQL: AND r.arbiter = ..., or "" */
};

void regress_note(struct regress *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Judges before[i] -> after[i] over n replications and adds the finding. NaN pairs are left out;
 * nothing is added when none is left, or when neither direction is bad. */
struct regress_pairs {
    const char *arbiter, *kind, *scope;
    const struct metric_def *def;
    const double *before, *after;
    size_t n;
    bool censored;
    const struct tolerance_limit *limit; /* NULL: as tolerance_of says */
};
void regress_judge(struct regress_reading *g, const struct regress_pairs *p);

void regress_read_metrics(struct regress_reading *g);
void regress_read_jobs(struct regress_reading *g);
void regress_read_decisions(struct regress_reading *g);

/* "team research", "priority 100", "whole fleet". */
void regress_scope_text(char *out, size_t size, const struct regress_finding *f);
/* "3.1h", with its unit where the figure has none: "61.8 %". */
void regress_value_text(char out[FIGURE_SIZE], const struct metric_def *def, double value);
void regress_change_text(char out[FIGURE_SIZE], const struct regress_finding *f);
/* "5 %" or "0.01": what was allowed, as a figure. */
void regress_allowed_text(char out[FIGURE_SIZE], const struct regress_finding *f);
/* Simulated time: "3d 04h 12m 05s". */
void regress_time_text(char out[FIGURE_SIZE], double seconds);
const char *regress_verdict_word(enum regress_verdict v);
/* One line about the whole: "worse: 3 of 120 figures". */
void regress_headline(char *out, size_t size, const struct regress *r);

/* Runs `write` on a temporary file beside path and renames it. */
bool regress_file(const char *path, const struct regress *r, void (*write)(FILE *, const struct regress *),
                  struct err *err);

void regress_json(FILE *out, const struct regress *r);
void regress_table(FILE *out, const struct regress *r);

#endif
