/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "sim/arena.h"
#include "sim/check.h"

double stats_student(double p, double df)
{
    return gsl_cdf_tdist_Pinv(p, df);
}

/* Interval from values without NaN. */
static struct interval interval_of(const double *values, size_t n, double level)
{
    struct interval in = {.mean = (double)NAN, .low = (double)NAN, .high = (double)NAN, .count = n};
    if (n == 0)
        return in;
    in.mean = gsl_stats_mean(values, 1, n);
    if (n < 2)
        return in;
    double sd = gsl_stats_sd_m(values, 1, n, in.mean);
    double half = stats_student(0.5 + level / 2, (double)(n - 1)) * sd / sqrt((double)n);
    in.low = in.mean - half;
    in.high = in.mean + half;
    return in;
}

struct interval stats_interval(const double *values, size_t n, double level)
{
    double *kept = mem_alloc(n + 1, sizeof *kept);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            kept[count++] = values[i];
    struct interval in = interval_of(kept, count, level);
    free(kept);
    return in;
}

struct interval stats_paired(const double *a, const double *b, size_t n, double level)
{
    double *differences = mem_alloc(n + 1, sizeof *differences);
    for (size_t i = 0; i < n; i++)
        differences[i] = b[i] - a[i]; /* NaN of either side stays NaN */
    struct interval in = stats_interval(differences, n, level);
    free(differences);
    return in;
}

double stats_bonferroni(double level, size_t comparisons)
{
    return comparisons < 2 ? level : 1 - (1 - level) / (double)comparisons;
}

struct batch_means stats_batch_means(const double *values, size_t n, size_t batches, double level)
{
    REQUIRE(batches >= 2 && n >= batches);
    size_t size = n / batches;
    const double *first = values + (n - size * batches);
    double *means = mem_alloc(batches, sizeof *means);
    for (size_t b = 0; b < batches; b++)
        means[b] = gsl_stats_mean(first + b * size, 1, size);
    struct batch_means result = {interval_of(means, batches, level),
                                 gsl_stats_lag1_autocorrelation(means, 1, batches)};
    free(means);
    return result;
}

/* Means of 5 from the back, so that sums over "all after the cut" grow by one term a step:
 * S(d) = sum of (z - mean)^2 over j >= d, divided by (m - d)^2. */
size_t stats_mser5(const double *values, size_t n, bool *too_short)
{
    size_t m = n / 5, best = 0;
    double mean = 0, m2 = 0, lowest = (double)INFINITY;
    for (size_t k = 1; k <= m; k++) {
        size_t d = m - k;
        double z = gsl_stats_mean(values + 5 * d, 1, 5);
        double delta = z - mean;
        mean += delta / (double)k;
        m2 += delta * (z - mean);
        double s = m2 / ((double)k * (double)k);
        if (d <= m / 2 && s <= lowest) {
            lowest = s;
            best = d;
        }
    }
    if (too_short != NULL)
        *too_short = m < 2 || best == m / 2;
    return 5 * best;
}

void stats_average(const double *series, size_t rows, size_t n, double *average)
{
    for (size_t i = 0; i < n; i++)
        average[i] = gsl_stats_mean(series + i, n, rows);
}
