/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Distributions as results: quantiles that say when they are only a bound, and rows of the table
 * `histogram`. What has not ended is known by its age: jobs that never started, requests still
 * queued. It counts with that age, and a quantile that would move if it counted as infinite is
 * censored (prints >=). In the table its mass lies between its age and infinity (hi NULL), as does
 * that of lost requests, from the histogram's upper end.
 */
#ifndef MODELS_WORLD_DISTRIBUTIONS_H
#define MODELS_WORLD_DISTRIBUTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/record.h"
#include "sim/tally.h"

struct bound {
    double value; /* NaN: nothing was counted; INFINITY: lost requests */
    bool censored;
};

/* Quantile p of what ended and of ages (same parameters; may be NULL). */
struct bound distribution_quantile(const struct qhist *ended, const struct qhist *ages, double p);

/* ages may be NULL. */
void distribution_rows(const struct record_sink *sink, int64_t run, const char *name,
                       const struct qhist *ended, const struct qhist *ages);

#endif
