/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Streams (known answers, addressing, independence) and distributions. Distributions are compared
 * with GSL's distribution functions by Kolmogorov-Smirnov or chi-square; seeds are fixed, and a
 * test statistic beyond its 0.1 % point fails.
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/fnv.h"
#include "sim/rng.h"

enum { DRAWS = 100000 };

/* Random123 1.14, tests/kat_vectors, philox4x64 10. */
static void philox_gives_the_published_known_answers(void **state)
{
    static const struct {
        uint64_t counter[4], key[2], want[4];
    } known[] = {
        {{0, 0, 0, 0},
         {0, 0},
         {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}},
        {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
         {UINT64_MAX, UINT64_MAX},
         {0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}},
        {{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
         {0x452821e638d01377, 0xbe5466cf34e90c6c},
         {0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint64_t out[4];
        rng_philox(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].want, sizeof out);
    }
}

/* First outputs of splitmix64 with states 1234567 and 0 (Vigna's reference code). */
static void hash_is_the_splitmix64_step(void **state)
{
    (void)state;
    assert_int_equal(rng_hash(1234567), UINT64_C(6457827717110365317));
    assert_int_equal(rng_hash(0), UINT64_C(0xe220a8397b1dcdaf));
}

static void a_stream_is_the_counter_and_key_that_the_header_states(void **state)
{
    struct rng r;
    uint64_t out[4];
    (void)state;
    rng_open(&r, 42, 3, 7, 99);
    uint64_t key[2] = {r.key[0], r.key[1]};
    for (uint64_t block = 0; block < 3; block++) {
        uint64_t counter[4] = {block, 99, 7, 0};
        rng_philox(counter, key, out);
        for (int i = 0; i < 4; i++)
            assert_int_equal(rng_u64(&r), out[i]);
    }
}

static void opening_again_gives_the_same_numbers(void **state)
{
    struct rng a, b;
    (void)state;
    rng_open(&a, 1, 2, 3, 4);
    for (int i = 0; i < 13; i++)
        rng_u64(&a);
    rng_open(&a, 1, 2, 3, 4);
    rng_open(&b, 1, 2, 3, 4);
    for (int i = 0; i < 100; i++)
        assert_int_equal(rng_u64(&a), rng_u64(&b));
}

static void seeking_reaches_any_block_without_the_others(void **state)
{
    struct rng sequential, direct;
    (void)state;
    rng_open(&sequential, 5, 0, 1, 8);
    for (uint64_t block = 0; block < 50; block++) {
        rng_open(&direct, 5, 0, 1, 8);
        rng_unit(&direct);
        rng_seek(&direct, block);
        for (int i = 0; i < 4; i++)
            assert_int_equal(rng_u64(&sequential), rng_u64(&direct));
    }
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Neighbouring seeds, replications, purposes and entities: no number of 64 bits comes twice, so no
 * stream is a shifted copy of another. */
static void neighbouring_streams_share_no_number(void **state)
{
    enum { STREAMS = 200, EACH = 500 };
    uint64_t *all = malloc(4 * STREAMS * EACH * sizeof *all);
    size_t n = 0;
    (void)state;
    for (uint32_t s = 0; s < 4 * STREAMS; s++) {
        struct rng r;
        uint32_t i = s / 4 + 1;
        uint32_t one_of[4] = {0};
        one_of[s % 4] = i;
        rng_open(&r, one_of[0], one_of[1], one_of[2], one_of[3]);
        for (int k = 0; k < EACH; k++)
            all[n++] = rng_u64(&r);
    }
    qsort(all, n, sizeof *all, compare_u64);
    for (size_t i = 1; i < n; i++)
        assert_true(all[i] != all[i - 1]);
    free(all);
}

/* Correlation of n independent pairs is normal with deviation 1/sqrt(n). */
static double correlation_with_next_seed(uint64_t seed, int lag)
{
    struct rng a, b;
    double sum = 0;
    rng_open(&a, seed, 0, 0, 0);
    rng_open(&b, seed + 1, 0, 0, 0);
    for (int i = 0; i < lag; i++)
        rng_unit(&b);
    for (int i = 0; i < DRAWS; i++)
        sum += (rng_unit(&a) - 0.5) * (rng_unit(&b) - 0.5);
    return 12 * sum / DRAWS;
}

static void seeds_that_differ_by_one_are_not_correlated_at_any_small_lag(void **state)
{
    (void)state;
    for (int lag = 0; lag < 20; lag++) {
        double r = correlation_with_next_seed(7, lag);
        assert_true(fabs(r) < 4 / sqrt(DRAWS));
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* sqrt(n) times the largest distance between the empirical and the stated distribution; its 0.1 %
 * point is 1.95 (Kolmogorov). */
static double kolmogorov(double *x, size_t n, double (*cdf)(double))
{
    double worst = 0;
    qsort(x, n, sizeof *x, compare_doubles);
    for (size_t i = 0; i < n; i++) {
        double f = cdf(x[i]), below = f - (double)i / (double)n;
        double above = (double)(i + 1) / (double)n - f;
        worst = fmax(worst, fmax(below, above));
    }
    return worst * sqrt((double)n);
}

static double draw_exp(struct rng *r)
{
    return rng_exp(r, 3);
}

static double draw_lognormal(struct rng *r)
{
    return rng_lognormal(r, 1.5, 0.7);
}

static double draw_gamma_small(struct rng *r)
{
    return rng_gamma(r, 0.3, 2);
}

static double draw_gamma_one(struct rng *r)
{
    return rng_gamma(r, 1, 2);
}

static double draw_gamma_large(struct rng *r)
{
    return rng_gamma(r, 7.5, 0.5);
}

static double draw_weibull(struct rng *r)
{
    return rng_weibull(r, 0.7, 4);
}

static double draw_pareto(struct rng *r)
{
    return rng_pareto(r, 1.5, 2);
}

static double cdf_unit(double x)
{
    return x;
}

static double cdf_exp(double x)
{
    return gsl_cdf_exponential_P(x, 3);
}

static double cdf_lognormal(double x)
{
    return gsl_cdf_lognormal_P(x, 1.5, 0.7);
}

static double cdf_gamma_small(double x)
{
    return gsl_cdf_gamma_P(x, 0.3, 2);
}

static double cdf_gamma_one(double x)
{
    return gsl_cdf_exponential_P(x, 2);
}

static double cdf_gamma_large(double x)
{
    return gsl_cdf_gamma_P(x, 7.5, 0.5);
}

static double cdf_weibull(double x)
{
    return gsl_cdf_weibull_P(x, 4, 0.7);
}

static double cdf_pareto(double x)
{
    return gsl_cdf_pareto_P(x, 1.5, 2);
}


static void continuous_variates_follow_their_distributions(void **state)
{
    static const struct {
        double (*draw)(struct rng *r);
        double (*cdf)(double);
    } cases[] = {
        {rng_unit, cdf_unit},
        {draw_exp, cdf_exp},
        {rng_normal, gsl_cdf_ugaussian_P},
        {draw_lognormal, cdf_lognormal},
        {draw_gamma_small, cdf_gamma_small},
        {draw_gamma_one, cdf_gamma_one},
        {draw_gamma_large, cdf_gamma_large},
        {draw_weibull, cdf_weibull},
        {draw_pareto, cdf_pareto},
    };
    double *x = malloc(DRAWS * sizeof *x);
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct rng r;
        rng_open(&r, 2024, 0, 0, c);
        for (int i = 0; i < DRAWS; i++)
            x[i] = cases[c].draw(&r);
        double distance = kolmogorov(x, DRAWS, cases[c].cdf);
        print_message("# distribution %zu: distance %.3f (0.1 %% point 1.95)\n", c, distance);
        assert_true(distance < 1.95);
    }
    free(x);
}

/* Mean of n draws within 4 standard errors, variance within 4 of its own (for kurtosis k the
 * variance's relative standard error is sqrt((k - 1) / n)). */
static void moments_agree_with_the_formulas(void **state)
{
    static const struct {
        double (*draw)(struct rng *r);
        double mean, variance, kurtosis;
    } cases[] = {
        {rng_unit, 0.5, 1.0 / 12, 1.8},
        {draw_exp, 3, 9, 9},
        {rng_normal, 0, 1, 3},
        {draw_gamma_small, 0.6, 1.2, 3 + 6 / 0.3},
        {draw_gamma_large, 3.75, 1.875, 3 + 6 / 7.5},
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct rng r;
        double sum = 0, squares = 0, n = DRAWS;
        rng_open(&r, 77, 0, 1, c);
        for (int i = 0; i < DRAWS; i++) {
            double x = cases[c].draw(&r) - cases[c].mean;
            sum += x;
            squares += x * x;
        }
        assert_true(fabs(sum / n) < 4 * sqrt(cases[c].variance / n));
        double relative = squares / n / cases[c].variance - 1;
        assert_true(fabs(relative) < 4 * sqrt((cases[c].kurtosis - 1) / n));
    }
}

static void exponential_blocks_are_the_same_numbers_as_single_draws(void **state)
{
    double block[64];
    (void)state;
    for (size_t before = 0; before < 6; before++) {
        for (size_t n = 0; n < 64; n += 1) {
            struct rng a, b;
            rng_open(&a, 1, 0, 0, 0);
            rng_open(&b, 1, 0, 0, 0);
            for (size_t i = 0; i < before; i++)
                assert_int_equal(rng_u64(&a), rng_u64(&b));
            rng_exp_fill(&a, 2.5, block, n);
            for (size_t i = 0; i < n; i++)
                assert_true(block[i] == rng_exp(&b, 2.5));
            assert_int_equal(rng_u64(&a), rng_u64(&b));
        }
    }
}

static void unit_never_is_zero_or_one(void **state)
{
    struct rng r;
    (void)state;
    rng_open(&r, 1, 0, 0, 0);
    static const uint64_t extremes[4] = {0, UINT64_MAX, 0x7ff, UINT64_MAX - 0x7ff};
    memcpy(r.block, extremes, sizeof extremes);
    r.used = 0;
    for (int i = 0; i < 4; i++) {
        double u = rng_unit(&r);
        assert_true(u > 0 && u < 1);
    }
}

/* p value of a chi-square over cells with the given expected counts. */
static double chi_square_p(const double *seen, const double *expected, size_t cells)
{
    double sum = 0;
    for (size_t i = 0; i < cells; i++)
        sum += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
    return gsl_cdf_chisq_Q(sum, (double)cells - 1);
}

static void below_is_uniform_also_for_awkward_ranges(void **state)
{
    static const uint64_t ranges[] = {2, 3, 7, 10, 100, UINT64_C(3) << 62};
    (void)state;
    for (size_t k = 0; k < sizeof ranges / sizeof ranges[0]; k++) {
        uint64_t n = ranges[k], cells = n < 100 ? n : 100;
        double seen[100] = {0}, expected[100];
        struct rng r;
        rng_open(&r, 31, 0, 2, k);
        for (int i = 0; i < DRAWS; i++) {
            uint64_t x = rng_below(&r, n);
            assert_true(x < n);
            seen[n <= 100 ? x : x / (n / 100 + 1)]++;
        }
        for (uint64_t i = 0; i < cells; i++)
            expected[i] = (double)DRAWS / (double)cells;
        assert_true(chi_square_p(seen, expected, cells) > 0.001);
    }
    struct rng r;
    rng_open(&r, 1, 0, 0, 0);
    assert_int_equal(rng_below(&r, 1), 0);
}

enum { CELLS = 26 };

/* Cells that expect fewer than 20 join their neighbour towards the middle; returns how many stay. */
static size_t join_small_cells(double *seen, double *expected)
{
    size_t n = 0;
    for (size_t i = 0; i < CELLS; i++) {
        bool left = i < CELLS / 2;
        size_t from = left ? i : CELLS - 1 - (i - CELLS / 2), to = left ? from + 1 : from - 1;
        if (expected[from] < 20) {
            expected[to] += expected[from];
            seen[to] += seen[from];
            expected[from] = seen[from] = 0;
        }
    }
    for (size_t i = 0; i < CELLS; i++) {
        if (expected[i] > 0) {
            expected[n] = expected[i];
            seen[n++] = seen[i];
        }
    }
    return n;
}

/* Cell 0 is below `first`, the last holds the upper tail, the others have `step` numbers each. */
static double poisson_p_value(double mean, uint64_t stream)
{
    uint64_t step = (uint64_t)(sqrt(mean) / 4) + 1;
    double low = mean - 3 * sqrt(mean), seen[CELLS] = {0}, expected[CELLS];
    uint64_t first = low > 0 ? (uint64_t)low : 0;
    struct rng r;
    rng_open(&r, 8, 0, 3, stream);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t k = rng_poisson(&r, mean);
        uint64_t cell = k < first ? 0 : (k - first) / step + 1;
        seen[cell < CELLS ? cell : CELLS - 1]++;
    }
    double below = 0;
    for (uint64_t c = 0; c < CELLS; c++) {
        unsigned end = (unsigned)(first + c * step);
        double up_to = end == 0 ? 0 : gsl_cdf_poisson_P(end - 1, mean);
        up_to = c == CELLS - 1 ? 1 : up_to;
        expected[c] = DRAWS * (up_to - below);
        below = up_to;
    }
    size_t cells = join_small_cells(seen, expected);
    return chi_square_p(seen, expected, cells);
}

static void poisson_follows_its_distribution_in_both_methods(void **state)
{
    static const double means[] = {0.1, 1, 5, 9.99, 10, 12.5, 30, 100, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        double p = poisson_p_value(means[i], i);
        print_message("# mean %g: p value %.3f\n", means[i], p);
        assert_true(p > 0.001);
    }
    struct rng r;
    rng_open(&r, 1, 0, 0, 0);
    assert_int_equal(rng_poisson(&r, 0), 0);
}

static void poisson_of_a_huge_mean_stays_near_it(void **state)
{
    struct rng r;
    double sum = 0;
    (void)state;
    rng_open(&r, 1, 0, 0, 0);
    for (int i = 0; i < 1000; i++)
        sum += ((double)rng_poisson(&r, 1e12) - 1e12) / 1e6;
    assert_true(fabs(sum / 1000) < 4 / sqrt(1000));
}

static void pick_follows_the_weights_and_never_takes_a_zero(void **state)
{
    static const double weight[] = {0, 1, 0, 3, 6, 0};
    double seen[6] = {0};
    struct rng r;
    (void)state;
    rng_open(&r, 4, 0, 0, 0);
    for (int i = 0; i < DRAWS; i++)
        seen[rng_pick(&r, weight, 6)]++;
    assert_true(seen[0] + seen[2] + seen[5] == 0);
    double kept[3] = {seen[1], seen[3], seen[4]};
    double expected[3] = {0.1 * DRAWS, 0.3 * DRAWS, 0.6 * DRAWS};
    assert_true(chi_square_p(kept, expected, 3) > 0.001);
}

/* Pins the bits across compilers, flags and processors; the tests above judge the values. */
static void variates_have_the_same_bits_in_every_build(void **state)
{
    static const double weight[] = {1, 2.5, 0.25};
    uint64_t h = FNV_START;
    (void)state;
    for (uint64_t entity = 0; entity < 20000; entity++) {
        struct rng r;
        rng_open(&r, 12345, (uint32_t)entity % 7, 2, entity);
        double x[] = {rng_exp(&r, 2),           rng_normal(&r),        rng_lognormal(&r, 0, 1),
                      rng_gamma(&r, 0.4, 1),    rng_gamma(&r, 3, 1),   rng_weibull(&r, 1.3, 2),
                      rng_pareto(&r, 1.1, 0.5), (double)rng_poisson(&r, 4),
                      (double)rng_poisson(&r, 50), (double)rng_pick(&r, weight, 3),
                      (double)rng_below(&r, 1000)};
        h = fnv_add(h, x, sizeof x);
    }
    print_message("# hash 0x%016llx\n", (unsigned long long)h);
    assert_int_equal(h, UINT64_C(0x272700ac402c64d6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_known_answers),
        cmocka_unit_test(hash_is_the_splitmix64_step),
        cmocka_unit_test(a_stream_is_the_counter_and_key_that_the_header_states),
        cmocka_unit_test(opening_again_gives_the_same_numbers),
        cmocka_unit_test(seeking_reaches_any_block_without_the_others),
        cmocka_unit_test(neighbouring_streams_share_no_number),
        cmocka_unit_test(seeds_that_differ_by_one_are_not_correlated_at_any_small_lag),
        cmocka_unit_test(continuous_variates_follow_their_distributions),
        cmocka_unit_test(moments_agree_with_the_formulas),
        cmocka_unit_test(exponential_blocks_are_the_same_numbers_as_single_draws),
        cmocka_unit_test(unit_never_is_zero_or_one),
        cmocka_unit_test(below_is_uniform_also_for_awkward_ranges),
        cmocka_unit_test(poisson_follows_its_distribution_in_both_methods),
        cmocka_unit_test(poisson_of_a_huge_mean_stays_near_it),
        cmocka_unit_test(pick_follows_the_weights_and_never_takes_a_zero),
        cmocka_unit_test(variates_have_the_same_bits_in_every_build),
    };
    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
