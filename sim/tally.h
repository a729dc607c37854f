/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tallies: Welford mean and variance, time-weighted mean, and a mergeable quantile histogram.
 * All merge; merging in a fixed order gives the same bits.
 */
#ifndef SIM_TALLY_H
#define SIM_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "sim/sim_time.h"

struct welford {
    uint64_t count;
    double mean, m2, min, max;
};
void welford_add(struct welford *w, double x);
void welford_merge(struct welford *into, const struct welford *from);
double welford_variance(const struct welford *w); /* n-1; 0 when count < 2 */

/* Time-weighted mean of a piecewise constant value. Start with tw_set at the first instant. */
struct tw {
    sim_time since;
    double value, integral_s, max; /* integral in value-seconds */
    sim_time begun;
};
void tw_start(struct tw *t, sim_time now, double value);
void tw_set(struct tw *t, sim_time now, double value);
double tw_mean(struct tw *t, sim_time now); /* includes the last, open interval */

/*
 * Quantile histogram with logarithmic bins: every quantile it returns is within relative error
 * `alpha` of the exact sample quantile (as in DDSketch, Masson et al. 2019). Holds non-negative
 * values; zero and values below `least` share one bin; mass at +infinity has a bin of its own
 * (lost requests, jobs that never started). Mass is a double so that fluid models can add
 * fractions of requests. Bins are fixed at creation: no allocation when adding.
 */
struct qhist {
    double alpha, least, log_gamma, inv_log_gamma;
    uint32_t bin_count;
    double *bins;     /* bin_count */
    double zero, infinite, total, sum; /* sum over finite values, for the mean */
};

/* least > 0, most > least, 0 < alpha < 0.5. Values above most fall into the last bin. */
void qhist_init(struct qhist *h, double alpha, double least, double most);
void qhist_fini(struct qhist *h);
void qhist_add(struct qhist *h, double value, double mass);
void qhist_add_infinite(struct qhist *h, double mass);
/* Mass spread evenly over [lo, hi]; exact per bin, O(bins covered). */
void qhist_add_uniform(struct qhist *h, double lo, double hi, double mass);
/* Same parameters required. */
void qhist_merge(struct qhist *into, const struct qhist *from);
/* Value at cumulative share p in (0, 1]; NaN when empty, INFINITY in the infinite bin. */
double qhist_quantile(const struct qhist *h, double p);
/* Share of the mass at values <= x. */
double qhist_share_below(const struct qhist *h, double x);
/* Lower and upper edge of bin i. */
void qhist_bin_edges(const struct qhist *h, uint32_t i, double *lo, double *hi);

#endif
