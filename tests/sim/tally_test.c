/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_math.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/dmath.h"
#include "sim/rng.h"
#include "sim/tally.h"

enum { SAMPLES = 20000 };

#define assert_close(got, want, tolerance)                                                         \
    assert_true(fabs((got) - (double)(want)) <= (tolerance) * (1 + fabs((double)(want))))

static void draw_samples(double *x, size_t n, uint64_t entity)
{
    struct rng r;
    rng_open(&r, 11, 0, 0, entity);
    for (size_t i = 0; i < n; i++)
        x[i] = rng_lognormal(&r, 1, 2);
}

static struct welford tally_of(const double *x, size_t n)
{
    struct welford w = {0};
    for (size_t i = 0; i < n; i++)
        welford_add(&w, x[i]);
    return w;
}

static void welford_agrees_with_gsl(void **state)
{
    double x[SAMPLES];
    (void)state;
    draw_samples(x, SAMPLES, 1);
    struct welford w = tally_of(x, SAMPLES);
    assert_int_equal(w.count, SAMPLES);
    assert_close(w.mean, gsl_stats_mean(x, 1, SAMPLES), 1e-12);
    assert_close(welford_variance(&w), gsl_stats_variance(x, 1, SAMPLES), 1e-12);
    assert_true(w.min == gsl_stats_min(x, 1, SAMPLES) && w.max == gsl_stats_max(x, 1, SAMPLES));
}

static void welford_keeps_its_digits_far_from_zero(void **state)
{
    struct welford w = {0};
    (void)state;
    for (int i = 0; i < 1000; i++)
        welford_add(&w, 1e9 + (i % 2));
    assert_close(welford_variance(&w), 250.0 / 999, 1e-6);
}

static void welford_merges_parts_as_if_they_were_one(void **state)
{
    double x[SAMPLES];
    (void)state;
    draw_samples(x, SAMPLES, 2);
    struct welford whole = tally_of(x, SAMPLES), parts = {0}, empty = {0};
    welford_merge(&parts, &empty);
    for (size_t i = 0; i < SAMPLES; i += 5000) {
        struct welford part = tally_of(x + i, 5000);
        welford_merge(&parts, &part);
    }
    welford_merge(&parts, &empty);
    assert_int_equal(parts.count, whole.count);
    assert_close(parts.mean, whole.mean, 1e-12);
    assert_close(welford_variance(&parts), welford_variance(&whole), 1e-12);
    assert_true(parts.min == whole.min && parts.max == whole.max);
}

static void variance_of_fewer_than_two_is_zero(void **state)
{
    struct welford w = {0};
    (void)state;
    assert_true(welford_variance(&w) == 0);
    welford_add(&w, -4);
    assert_true(welford_variance(&w) == 0 && w.min == -4 && w.max == -4);
}

/* 2 for 10 s, 5 for 20 s, 0 for 10 s: (20 + 100 + 0) / 40 = 3. */
static void time_weighted_mean_includes_the_open_interval(void **state)
{
    struct tw t;
    (void)state;
    tw_start(&t, 100 * SIM_SECOND, 2);
    assert_true(tw_mean(&t, 100 * SIM_SECOND) == 2);
    tw_set(&t, 110 * SIM_SECOND, 5);
    assert_close(tw_mean(&t, 120 * SIM_SECOND), 3.5, 1e-15);
    tw_set(&t, 130 * SIM_SECOND, 0);
    assert_close(tw_mean(&t, 140 * SIM_SECOND), 3, 1e-15);
    assert_close(tw_mean(&t, 150 * SIM_SECOND), 2.4, 1e-15);
    assert_true(t.max == 5);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The definition: the smallest sample at or below which lie at least the share p. */
static double exact_quantile(const double *sorted, size_t n, double p)
{
    size_t rank = (size_t)ceil(p * (double)n - 1e-9);
    return sorted[rank > 0 ? rank - 1 : 0];
}

static void quantiles_are_within_the_stated_relative_error(void **state)
{
    static const double alphas[] = {0.001, 0.01, 0.05};
    static const double ps[] = {0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1};
    double x[SAMPLES];
    (void)state;
    draw_samples(x, SAMPLES, 3);
    for (size_t a = 0; a < 3; a++) {
        struct qhist h;
        qhist_init(&h, alphas[a], 1e-6, 1e9);
        for (size_t i = 0; i < SAMPLES; i++)
            qhist_add(&h, x[i], 1);
        qsort(x, SAMPLES, sizeof *x, compare_doubles);
        for (size_t i = 0; i < sizeof ps / sizeof ps[0]; i++) {
            double exact = exact_quantile(x, SAMPLES, ps[i]);
            double error = fabs(qhist_quantile(&h, ps[i]) - exact) / exact;
            assert_true(error <= alphas[a] * (1 + 1e-9));
        }
        assert_close(h.sum / h.total, gsl_stats_mean(x, 1, SAMPLES), 1e-12);
        qhist_fini(&h);
    }
}

/* One value alone: the worst case is a value at the edge of a bin. */
static void a_single_value_is_returned_within_the_error(void **state)
{
    struct rng r;
    (void)state;
    rng_open(&r, 3, 0, 0, 0);
    for (int i = 0; i < 2000; i++) {
        struct qhist h;
        double lo, hi;
        qhist_init(&h, 0.02, 1e-3, 1e6);
        double value = dm_exp(-6.9 + 20 * rng_unit(&r));
        if (i % 2 == 0) {
            qhist_bin_edges(&h, (uint32_t)i % h.bin_count, &lo, &hi);
            value = lo;
        }
        qhist_add(&h, value, 0.25);
        assert_true(fabs(qhist_quantile(&h, 0.5) - value) <= 0.02 * value * (1 + 1e-9));
        qhist_fini(&h);
    }
}

static void bins_join_without_gaps_and_cover_the_range(void **state)
{
    struct qhist h;
    double lo, hi, before = 1e-3;
    (void)state;
    qhist_init(&h, 0.01, 1e-3, 1e4);
    for (uint32_t i = 0; i < h.bin_count; i++) {
        qhist_bin_edges(&h, i, &lo, &hi);
        assert_close(lo, before, 1e-12);
        assert_close(hi / lo, 1.01 / 0.99, 1e-11);
        before = hi;
    }
    assert_true(hi > 1e4);
    qhist_fini(&h);
}

static void zero_and_infinite_mass_have_bins_of_their_own(void **state)
{
    struct qhist h;
    (void)state;
    qhist_init(&h, 0.01, 1e-3, 1e3);
    assert_true(isnan(qhist_quantile(&h, 0.5)) && isnan(qhist_share_below(&h, 1)));
    qhist_add(&h, 0, 2);
    qhist_add(&h, 1e-4, 1);
    qhist_add(&h, 10, 5);
    qhist_add(&h, DM_INF, 1);
    qhist_add_infinite(&h, 1);
    assert_true(h.total == 10 && h.zero == 3 && h.infinite == 2);
    assert_close(h.sum, 50 + 1e-4, 1e-15);
    assert_true(qhist_quantile(&h, 0.3) == 0);
    assert_close(qhist_quantile(&h, 0.31), 10, 0.01);
    assert_close(qhist_quantile(&h, 0.8), 10, 0.01);
    assert_true(isinf(qhist_quantile(&h, 0.81)) && isinf(qhist_quantile(&h, 1)));
    assert_close(qhist_share_below(&h, 0), 0.3, 1e-15);
    assert_close(qhist_share_below(&h, 20), 0.8, 1e-15);
    assert_close(qhist_share_below(&h, 1e9), 0.8, 1e-15);
    qhist_fini(&h);
}

static void values_above_the_range_fall_into_the_last_bin(void **state)
{
    struct qhist h;
    (void)state;
    qhist_init(&h, 0.01, 1, 100);
    qhist_add(&h, 1e6, 1);
    assert_true(h.bins[h.bin_count - 1] == 1);
    assert_true(qhist_quantile(&h, 1) > 99);
    qhist_fini(&h);
}

static void merged_histograms_equal_one_of_all_samples(void **state)
{
    double x[SAMPLES];
    struct qhist whole, left, right;
    (void)state;
    draw_samples(x, SAMPLES, 4);
    qhist_init(&whole, 0.01, 1e-6, 1e9);
    qhist_init(&left, 0.01, 1e-6, 1e9);
    qhist_init(&right, 0.01, 1e-6, 1e9);
    for (size_t i = 0; i < SAMPLES; i++) {
        qhist_add(&whole, x[i], 1);
        qhist_add(i % 3 == 0 ? &left : &right, x[i], 1);
    }
    qhist_add_infinite(&whole, 4);
    qhist_add_infinite(&right, 4);
    qhist_merge(&left, &right);
    assert_memory_equal(left.bins, whole.bins, whole.bin_count * sizeof *whole.bins);
    assert_true(left.total == whole.total && left.infinite == 4 && left.zero == whole.zero);
    assert_close(left.sum, whole.sum, 1e-12);
    qhist_fini(&whole);
    qhist_fini(&left);
    qhist_fini(&right);
}

/* Quantiles of the uniform distribution on [lo, hi] are lo + p (hi - lo). */
static void uniform_mass_has_the_quantiles_of_a_uniform_distribution(void **state)
{
    static const double range[][2] = {{0, 1}, {5, 5.001}, {0.25, 4000}, {0, 1e-9}};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct qhist h;
        double lo = range[k][0], hi = range[k][1];
        qhist_init(&h, 0.01, 1e-12, 1e5);
        qhist_add_uniform(&h, lo, hi, 7);
        assert_close(h.total, 7, 1e-14);
        assert_close(h.sum, 7 * (lo + hi) / 2, 1e-13);
        for (double p = 0.01; p < 1; p += 0.01) {
            double exact = lo + p * (hi - lo);
            assert_true(fabs(qhist_quantile(&h, p) - exact) <= 0.0101 * exact);
            /* The bins of lo and hi are covered in part; all others are exact. */
            bool at_the_edge = exact < 1.03 * lo || exact > 0.97 * hi;
            double allowed = at_the_edge ? 0.0203 * hi / (hi - lo) : 1e-9;
            assert_true(fabs(qhist_share_below(&h, exact) - p) < allowed);
        }
        qhist_fini(&h);
    }
}

static void uniform_mass_is_conserved_bin_by_bin(void **state)
{
    struct qhist h;
    struct rng r;
    double added = 0;
    (void)state;
    rng_open(&r, 9, 0, 0, 0);
    qhist_init(&h, 0.01, 1e-3, 1e3);
    for (int i = 0; i < 5000; i++) {
        double lo = rng_below(&r, 4) == 0 ? 0 : rng_exp(&r, 1), mass = rng_unit(&r);
        double hi = rng_below(&r, 4) == 0 ? lo : lo + rng_exp(&r, 100);
        qhist_add_uniform(&h, lo, hi, mass);
        added += mass;
    }
    double held = h.zero;
    for (uint32_t i = 0; i < h.bin_count; i++) {
        assert_true(h.bins[i] >= 0);
        held += h.bins[i];
    }
    assert_close(held, added, 1e-12);
    assert_close(h.total, added, 1e-12);
    qhist_fini(&h);
}

/* Worked example of the fluid overload (workload models, section 2.7): waits of arrivals are
 * uniform between the backlogs at the ends of each interval, divided by the capacity. */
static void the_overload_example_has_its_published_quantiles(void **state)
{
    struct qhist h;
    (void)state;
    qhist_init(&h, 0.001, 1e-3, 1e5);
    qhist_add(&h, 0, 6 * 600.0);
    qhist_add_uniform(&h, 0, 240, 14 * 600.0);
    qhist_add_uniform(&h, 240, 360, 12 * 600.0);
    qhist_add_uniform(&h, 0, 360, 4 * 600.0);
    qhist_add(&h, 0, 4 * 600.0);
    assert_true(h.total == 24000);
    assert_close(h.sum / h.total, 150, 1e-12);
    assert_close(qhist_quantile(&h, 0.5), 144, 0.0011);
    assert_close(qhist_quantile(&h, 0.95), 342, 0.0011);
    assert_close(qhist_quantile(&h, 0.99), 356.4, 0.0011);
    assert_close(qhist_share_below(&h, 60), 0.3542, 1e-4);
    qhist_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(welford_agrees_with_gsl),
        cmocka_unit_test(welford_keeps_its_digits_far_from_zero),
        cmocka_unit_test(welford_merges_parts_as_if_they_were_one),
        cmocka_unit_test(variance_of_fewer_than_two_is_zero),
        cmocka_unit_test(time_weighted_mean_includes_the_open_interval),
        cmocka_unit_test(quantiles_are_within_the_stated_relative_error),
        cmocka_unit_test(a_single_value_is_returned_within_the_error),
        cmocka_unit_test(bins_join_without_gaps_and_cover_the_range),
        cmocka_unit_test(zero_and_infinite_mass_have_bins_of_their_own),
        cmocka_unit_test(values_above_the_range_fall_into_the_last_bin),
        cmocka_unit_test(merged_histograms_equal_one_of_all_samples),
        cmocka_unit_test(uniform_mass_has_the_quantiles_of_a_uniform_distribution),
        cmocka_unit_test(uniform_mass_is_conserved_bin_by_bin),
        cmocka_unit_test(the_overload_example_has_its_published_quantiles),
    };
    return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
