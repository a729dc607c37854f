/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rate profiles: integrals in closed form, and statistics of the random factors. */
#include "models/demand/intensity.h"
#include "tests/demand/near.h"

#define HOUR 3600.0
#define DAY 86400.0
#define MONDAY_2026_11_30 (INT64_C(1795996800) * SIM_SECOND) /* 2026-11-30 00:00 UTC, a Monday */

static void start(struct intensity *i, const struct rate_profile *p, sim_time epoch, double cell_s,
                  uint64_t seed)
{
    struct rng noise, bursts;
    rng_open(&noise, seed, 0, 1, 0);
    rng_open(&bursts, seed, 0, 2, 0);
    intensity_init(i, p, 1.0, epoch, cell_s, &noise, &bursts);
}

/* T2: 10/s (1 + 0.5 cos(2 pi (t - 18h)/24h)). */
static void harmonic_integrals_are_exact(void **state)
{
    (void)state;
    struct rate_profile p = {.base_per_s = 10, .a1 = 0.5, .phase1_h = 18};
    struct intensity i;
    start(&i, &p, MONDAY_2026_11_30, HOUR, 1);
    assert_near(intensity_smooth(&i, 0, 6 * HOUR) * 6 * HOUR, 147245.06, 0.01);
    assert_near(intensity_smooth(&i, 0, DAY) * DAY, 864000, 1e-6);
    double sum = 0.0;
    for (int k = 0; k < 24 * 60; k++)
        sum += intensity_smooth(&i, 60.0 * k, 60.0 * (k + 1)) * 60;
    assert_near(sum, 864000, 1e-6);
}

/* Largest hourly mean over mean for the parameters of 3.2: by hand 1 + max of the harmonics. */
static void peak_over_mean_is_that_of_the_harmonics(void **state)
{
    (void)state;
    static const struct {
        double a1, p1, a2, p2;
    } rows[] = {{0.121, 18.9, 0.035, 12.0}, {0.229, 17.3, 0.187, 9.6}, {0.52, 0.5, 0.19, 0.6}};
    for (int r = 0; r < 3; r++) {
        struct rate_profile p = {.base_per_s = 1, .a1 = rows[r].a1, .phase1_h = rows[r].p1,
                                 .a2 = rows[r].a2, .phase2_h = rows[r].p2};
        struct intensity i;
        start(&i, &p, MONDAY_2026_11_30, 60, 1);
        double peak = 0.0, want = 0.0, mean = 0.0;
        for (int k = 0; k < 1440; k++) {
            double rate = intensity_smooth(&i, 60.0 * k, 60.0 * (k + 1)), t = (k + 0.5) / 60;
            double by_hand = 1 + rows[r].a1 * cos(2 * 3.14159265358979 * (t - rows[r].p1) / 24)
                             + rows[r].a2 * cos(2 * 3.14159265358979 * (t - rows[r].p2) / 12);
            assert_near(rate, by_hand, 1e-5);
            peak = rate > peak ? rate : peak;
            want = by_hand > want ? by_hand : want;
            mean += rate / 1440;
        }
        assert_near(peak / mean, want, 1e-4);
    }
}

static void hours_are_points_joined_by_lines(void **state)
{
    (void)state;
    struct rate_profile p = {.base_per_s = 2, .has_hours = true};
    double total = 0.0;
    for (int h = 0; h < 24; h++) {
        p.hours[h] = h >= 9 && h < 18 ? 1.0 + 0.1 * h : 0.0;
        total += p.hours[h];
    }
    struct intensity i;
    start(&i, &p, MONDAY_2026_11_30, HOUR, 1);
    assert_true(intensity_smooth(&i, 2 * HOUR, 3 * HOUR) == 0.0); /* a factor of 0 stays 0 */
    assert_near(intensity_smooth(&i, 8 * HOUR, 9 * HOUR), 2 * 0.5 * p.hours[9], 1e-12);
    assert_near(intensity_smooth(&i, 9.25 * HOUR, 9.75 * HOUR), p.hours[9] + p.hours[10], 1e-9);
    assert_near(intensity_smooth(&i, 0, DAY), 2 * total / 24, 1e-9);
    assert_near(intensity_smooth(&i, 23 * HOUR, 25 * HOUR), 0.0, 1e-12);
}

static void weekdays_follow_the_calendar(void **state)
{
    (void)state;
    struct rate_profile p = {.base_per_s = 1, .weekday = {0.86, 1.07, 1.14, 1.29, 1.44, 0.61, 0.59}};
    struct intensity i;
    start(&i, &p, MONDAY_2026_11_30, HOUR, 1);
    for (int d = 0; d < 15; d++)
        assert_near(intensity_smooth(&i, d * DAY, (d + 1) * DAY), p.weekday[d % 7], 1e-9);
    /* A cell across midnight takes each day's part. */
    assert_near(intensity_smooth(&i, DAY - 600, DAY + 1800), (600 * 0.86 + 1800 * 1.07) / 2400, 1e-9);
    start(&i, &p, 0, HOUR, 1); /* 1970-01-01: a Thursday */
    assert_near(intensity_smooth(&i, 0, DAY), 1.29, 1e-9);
    start(&i, &p, MONDAY_2026_11_30 + 5 * SIM_DAY + 18 * SIM_HOUR, HOUR, 1);
    assert_near(intensity_smooth(&i, 0, 6 * HOUR), 0.61, 1e-9);
    assert_near(intensity_smooth(&i, 6 * HOUR, 12 * HOUR), 0.59, 1e-9);
    struct rate_profile none = {.base_per_s = 1};
    start(&i, &none, 0, HOUR, 1); /* not given: all 1 */
    assert_near(intensity_smooth(&i, 0, 7 * DAY), 1.0, 1e-12);
}

static void harmonics_below_zero_are_clipped(void **state)
{
    (void)state;
    struct rate_profile p = {.base_per_s = 10, .a1 = 1.5, .phase1_h = 12};
    struct intensity i;
    start(&i, &p, MONDAY_2026_11_30, 60, 1);
    assert_near(intensity_smooth(&i, 0, 60), 0.02 * 10, 1e-12);
    assert_near(intensity_smooth(&i, 12 * HOUR, 12 * HOUR + 60), 25, 1e-3);
}

/* exp(Z - sigma^2/2) has mean 1, log standard deviation sigma, autocorrelation e^{-t/tau}:
 * 3.2 gives 0.88 over 10 minutes for tau 78 min. */
static void noise_has_the_wanted_spread_and_memory(void **state)
{
    (void)state;
    struct rate_profile p = {.base_per_s = 1, .ou_sigma = 0.383, .ou_tau = 78 * SIM_MINUTE};
    struct intensity i;
    start(&i, &p, 0, 600, 7);
    const int n = 400000;
    double mean = 0.0, log_mean = 0.0, square = 0.0, product = 0.0, last = 0.0;
    for (int k = 0; k < n; k++) {
        double rate = intensity_cell(&i, 600.0 * k, 600.0 * (k + 1));
        double z = log(rate) + 0.5 * 0.383 * 0.383;
        mean += rate / n;
        log_mean += z / n;
        square += z * z / n;
        product += k > 0 ? z * last / n : 0.0;
        last = z;
    }
    /* 400,000 steps of 1/7.8 memory: about 25,000 independent values; 5 standard errors. */
    assert_near(mean, 1.0, 5 * 0.4 / sqrt(25000));
    assert_near(log_mean, 0.0, 5 * 0.383 / sqrt(25000));
    assert_near_rel(sqrt(square), 0.383, 0.025);
    assert_near(product / square, exp(-10.0 / 78), 0.01);
}

/* The first value must be as spread as all others. */
static void noise_is_stationary_from_the_start(void **state)
{
    (void)state;
    struct rate_profile p = {.base_per_s = 1, .ou_sigma = 1.0, .ou_tau = SIM_HOUR};
    double square = 0.0;
    const int n = 20000;
    for (int k = 0; k < n; k++) {
        struct intensity i;
        start(&i, &p, 0, 60, (uint64_t)k);
        double z = log(intensity_cell(&i, 0, 60)) + 0.5;
        square += z * z / n;
    }
    assert_near(square, 1.0, 5 * sqrt(2.0 / n));
}

/* On with probability 1 - e^{-rate length} (a Poisson process of fixed lengths: M/D/infinity). */
static void bursts_cover_the_share_of_time_they_should(void **state)
{
    (void)state;
    struct rate_profile p = {.base_per_s = 1, .burst_per_day = 6, .burst_factor = 4,
                             .burst_length = SIM_HOUR};
    struct intensity i;
    start(&i, &p, 0, 300, 3);
    double share = 1 - exp(-6.0 / 24), mean = 0.0;
    const int n = 288 * 4000;
    for (int k = 0; k < n; k++) {
        double f = intensity_burst_mean(&i, 300.0 * k, 300.0 * (k + 1));
        assert_true(f >= 1.0 && f <= 4.0);
        mean += f / n;
    }
    /* About 24,000 bursts. */
    assert_near(mean, 1 + 3 * share, 5 * 3 * share / sqrt(20000));
}

static void burst_stretches_join_without_gaps(void **state)
{
    (void)state;
    struct rate_profile p = {.base_per_s = 1, .burst_per_day = 100, .burst_factor = 2,
                             .burst_length = 20 * SIM_MINUTE};
    struct intensity a, b;
    start(&a, &p, 0, 300, 11);
    start(&b, &p, 0, 300, 11);
    double sum = 0.0, until, t = 0.0;
    while (t < 100 * DAY) {
        double f = intensity_burst(&a, t, &until);
        double end = until < 100 * DAY ? until : 100 * DAY;
        assert_true(until > t);
        sum += f * (end - t);
        t = end;
    }
    assert_near_rel(intensity_burst_mean(&b, 0, 100 * DAY) * 100 * DAY, sum, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(harmonic_integrals_are_exact),
        cmocka_unit_test(peak_over_mean_is_that_of_the_harmonics),
        cmocka_unit_test(hours_are_points_joined_by_lines),
        cmocka_unit_test(weekdays_follow_the_calendar),
        cmocka_unit_test(harmonics_below_zero_are_clipped),
        cmocka_unit_test(noise_has_the_wanted_spread_and_memory),
        cmocka_unit_test(noise_is_stationary_from_the_start),
        cmocka_unit_test(bursts_cover_the_share_of_time_they_should),
        cmocka_unit_test(burst_stretches_join_without_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
