/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Output analysis of simulations: intervals over replications, paired differences, batch means and
 * the warm-up cut MSER-5. Sources: A. M. Law, "Simulation Modeling and Analysis", 5th ed., ch. 9-10
 * (intervals 9.4.1, paired-t 10.2.1, Bonferroni 9.7); Hoad, Robinson, Davies, "Automating
 * warm-up length estimation", WSC 2008 (MSER-5).
 */
#ifndef ANALYSIS_STATS_H
#define ANALYSIS_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Quantile of Student's t at probability p in (0, 1) for df > 0 degrees of freedom (GSL). */
double stats_student(double p, double df);

/* Mean with a two-sided interval; low and high are NaN when count < 2 (no spread is known). */
struct interval {
    double mean, low, high;
    size_t count;
};

/* Interval of the mean of n independent values at `level` (0.95). NaN values are left out. */
struct interval stats_interval(const double *values, size_t n, double level);

/* Interval of the mean of b[i] - a[i] (common random numbers: the same i is the same
 * replication). Pairs with a NaN are left out. */
struct interval stats_paired(const double *a, const double *b, size_t n, double level);

/* Level of each of `comparisons` intervals so that all hold together at `level` (Bonferroni). */
double stats_bonferroni(double level, size_t comparisons);

/* Steady-state mean of one long run from `batches` batch means (>= 2; 20 is the usual choice).
 * n / batches values form a batch, a remainder at the start is left out. */
struct batch_means {
    struct interval interval;
    double lag1; /* correlation of neighbouring batch means; above 0.1 the run is too short */
};
struct batch_means stats_batch_means(const double *values, size_t n, size_t batches, double level);

/*
 * MSER-5: number of leading values to cut, a multiple of 5, in the first half of the series. Apply
 * it to the series averaged over replications (stats_average), one cut for all. too_short (may be
 * NULL) is set when the best cut lies at the edge of the half: the run is too short to tell.
 */
size_t stats_mser5(const double *values, size_t n, bool *too_short);

/* average[i] = mean over the `rows` series (row-major, n values each). */
void stats_average(const double *series, size_t rows, size_t n, double *average);

#endif
