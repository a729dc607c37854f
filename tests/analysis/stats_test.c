/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "sim/arena.h"
#include "tests/store/near.h"

/* Any printed table of Student's distribution, two-sided 95 %. */
static void student_quantiles_are_those_of_printed_tables(void **state)
{
    static const double rows[][2] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},
                                     {9, 2.262},  {10, 2.228}, {20, 2.086}, {30, 2.042}, {120, 1.980}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_near(stats_student(0.975, rows[i][0]), rows[i][1], 5e-4);
}

/* Law, "Simulation Modeling and Analysis", example 4.26: 1.34 +- 0.24 at 90 %. */
static void interval_is_that_of_laws_example(void **state)
{
    static const double x[] = {1.20, 1.50, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.50, 1.09};
    (void)state;
    struct interval in = stats_interval(x, 10, 0.90);
    assert_near(in.mean, 1.34, 5e-3);
    assert_near(in.high - in.mean, 0.24, 5e-3);
    assert_near(in.mean - in.low, 0.24, 5e-3);
}

/* Student's sleep data (Biometrika 6, 1908); the interval as R's t.test(paired) documents it. */
static void paired_interval_is_that_of_students_sleep_data(void **state)
{
    static const double a[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
    static const double b[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
    (void)state;
    struct interval in = stats_paired(a, b, 10, 0.95);
    assert_near(in.mean, 1.58, 1e-9);
    assert_near(in.low, 0.7001142, 1e-6);
    assert_near(in.high, 2.4598858, 1e-6);
}

static void unknown_values_are_left_out_and_one_value_has_no_interval(void **state)
{
    double x[] = {2, (double)NAN, 4}, y[] = {(double)NAN, 1, 5};
    (void)state;
    struct interval in = stats_interval(x, 3, 0.95);
    assert_int_equal(in.count, 2);
    assert_true(in.mean == 3);
    in = stats_paired(x, y, 3, 0.95);
    assert_int_equal(in.count, 1);
    assert_true(in.mean == 1 && isnan(in.low) && isnan(in.high));
    assert_true(isnan(stats_interval(x, 0, 0.95).mean));
    assert_near(stats_bonferroni(0.95, 5), 0.99, 1e-12);
    assert_true(stats_bonferroni(0.95, 1) == 0.95);
}

/* Share of hits in n trials must lie within three standard errors of p. */
static void assert_share(double hits, double n, double p)
{
    double error = 3 * sqrt(p * (1 - p) / n);
    if (fabs(hits / n - p) > error)
        fail_msg("coverage %.3f is not within %.3f of %.3f", hits / n, error, p);
}

static void student_interval_covers_as_it_claims(void **state)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int hits = 0, paired = 0, trials = 4000;
    (void)state;
    for (int t = 0; t < trials; t++) {
        double a[5], b[5];
        for (int i = 0; i < 5; i++) {
            double common = 10 * gsl_ran_ugaussian(rng);
            a[i] = 3 + common + gsl_ran_ugaussian(rng);
            b[i] = 5 + common + gsl_ran_ugaussian(rng);
        }
        struct interval in = stats_interval(a, 5, 0.95), d = stats_paired(a, b, 5, 0.95);
        hits += in.low <= 3 && 3 <= in.high;
        paired += d.low <= 2 && 2 <= d.high;
    }
    gsl_rng_free(rng);
    assert_share(hits, trials, 0.95);
    assert_share(paired, trials, 0.95);
}

/* AR(1) with mean 7; its correlation dies out within a batch of 1,000. */
static void batch_means_cover_a_correlated_process(void **state)
{
    enum { N = 20000 };
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double *x = mem_alloc(N, sizeof *x);
    int hits = 0, trials = 600;
    (void)state;
    for (int t = 0; t < trials; t++) {
        double e = gsl_ran_ugaussian(rng) / sqrt(1 - 0.25);
        for (int i = 0; i < N; i++) {
            e = 0.5 * e + gsl_ran_ugaussian(rng);
            x[i] = 7 + e;
        }
        struct batch_means b = stats_batch_means(x, N, 20, 0.95);
        hits += b.interval.low <= 7 && 7 <= b.interval.high;
    }
    gsl_rng_free(rng);
    free(x);
    assert_share(hits, trials, 0.95);
}

static void neighbouring_batches_of_a_slow_process_are_seen_to_correlate(void **state)
{
    double x[200];
    (void)state;
    for (int i = 0; i < 200; i++)
        x[i] = i;
    assert_true(stats_batch_means(x, 200, 20, 0.95).lag1 > 0.8);
}

/* The definition, term by term: S(d) = sum over j >= d of (z_j - mean)^2 / (m - d)^2. */
static size_t mser5_by_definition(const double *x, size_t n)
{
    size_t m = n / 5, best = 0;
    double lowest = (double)INFINITY;
    for (size_t d = 0; d <= m / 2 && d < m; d++) {
        double mean = 0, s = 0;
        for (size_t j = d; j < m; j++)
            for (size_t k = 0; k < 5; k++)
                mean += x[5 * j + k] / (5 * (double)(m - d));
        for (size_t j = d; j < m; j++) {
            double z = 0;
            for (size_t k = 0; k < 5; k++)
                z += x[5 * j + k] / 5;
            s += (z - mean) * (z - mean);
        }
        s /= (double)(m - d) * (double)(m - d);
        if (s < lowest) {
            lowest = s;
            best = d;
        }
    }
    return 5 * best;
}

static void mser5_cuts_where_its_definition_says(void **state)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double x[1003];
    bool too_short;
    (void)state;
    for (int t = 0; t < 30; t++) {
        for (int i = 0; i < 1003; i++)
            x[i] = (i < 200 ? 8 * (1 - i / 200.0) : 0) + gsl_ran_ugaussian(rng);
        assert_int_equal(stats_mser5(x, 1003, &too_short), mser5_by_definition(x, 1003));
        assert_false(too_short);
    }
    for (int i = 0; i < 1003; i++)
        x[i] = i; /* never settles */
    stats_mser5(x, 1003, &too_short);
    assert_true(too_short);
    gsl_rng_free(rng);
}

/*
 * M/M/1 at load 0.8 started with 30 waiting customers, 4,000 customers, 10 replications. The mean
 * wait in queue is rho / (mu - lambda) = 4. Without a cut the interval covers it in about 67 % of
 * the cases, with one MSER-5 cut from the averaged series in about 91 %.
 */
static void mser5_on_averaged_replications_repairs_the_coverage(void **state)
{
    enum { CUSTOMERS = 4000, REPLICATIONS = 10, TRIALS = 300 };
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double *waits = mem_alloc(CUSTOMERS * REPLICATIONS, sizeof *waits);
    double *average = mem_alloc(CUSTOMERS, sizeof *average), raw[REPLICATIONS], cut[REPLICATIONS];
    int raw_hits = 0, cut_hits = 0;
    (void)state;
    for (int t = 0; t < TRIALS; t++) {
        for (int r = 0; r < REPLICATIONS; r++) {
            double w = gsl_ran_gamma(rng, 30, 1);
            for (int i = 0; i < CUSTOMERS; i++) {
                waits[r * CUSTOMERS + i] = w;
                w += gsl_ran_exponential(rng, 1) - gsl_ran_exponential(rng, 1.25);
                w = w < 0 ? 0 : w;
            }
        }
        stats_average(waits, REPLICATIONS, CUSTOMERS, average);
        size_t d = stats_mser5(average, CUSTOMERS, NULL);
        for (int r = 0; r < REPLICATIONS; r++) {
            raw[r] = stats_interval(waits + r * CUSTOMERS, CUSTOMERS, 0.95).mean;
            cut[r] = stats_interval(waits + r * CUSTOMERS + d, CUSTOMERS - d, 0.95).mean;
        }
        struct interval a = stats_interval(raw, REPLICATIONS, 0.95);
        struct interval b = stats_interval(cut, REPLICATIONS, 0.95);
        raw_hits += a.low <= 4 && 4 <= a.high;
        cut_hits += b.low <= 4 && 4 <= b.high;
    }
    gsl_rng_free(rng);
    free(waits);
    free(average);
    assert_share(raw_hits, TRIALS, 0.67);
    assert_share(cut_hits, TRIALS, 0.91);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_quantiles_are_those_of_printed_tables),
        cmocka_unit_test(interval_is_that_of_laws_example),
        cmocka_unit_test(paired_interval_is_that_of_students_sleep_data),
        cmocka_unit_test(unknown_values_are_left_out_and_one_value_has_no_interval),
        cmocka_unit_test(student_interval_covers_as_it_claims),
        cmocka_unit_test(batch_means_cover_a_correlated_process),
        cmocka_unit_test(neighbouring_batches_of_a_slow_process_are_seen_to_correlate),
        cmocka_unit_test(mser5_cuts_where_its_definition_says),
        cmocka_unit_test(mser5_on_averaged_replications_repairs_the_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
