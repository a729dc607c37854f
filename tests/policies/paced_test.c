/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kueue's performance test at the pace of its API client: closed forms of the pace, and the means
 * that Kueue's authors published. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/kueue/published.h"

#define MS INT64_C(1000000)

static void near(double value, double expected, double tolerance)
{
    const double off = value > expected ? value - expected : expected - value;
    if (off > tolerance)
        fail_msg("%.3f is not within %.3f of %.3f", value, tolerance, expected);
}

/* All fit at once: 100 writes are free, then one every 20 ms, in the order of decision. */
static void writes_beyond_the_burst_wait_for_their_token(void **state)
{
    (void)state;
    const struct paced_config c = {1, 1, 1000000, 0, {{"only", 300, 0, 0, 0, 1}, {"", 0, 0, 0, 0, 1}, {"", 0, 0, 0, 0, 1}}};
    struct paced_result r;
    paced_run(&c, 20 * MS, &r);
    assert_int_equal(r.admissions, 300);
    assert_int_equal(r.writes, 300);
    near(r.admission_ms[0], 20.0 * 200 * 201 / 2 / 300, 20.0 * 200 / 300);
    near(r.decision_ms[0], 0, 1e-9);
    near(r.wall_ms, 20.0 * 200, 20.0);
}

/* Its client creates 2,000 at once and then 1,000 a second. */
static void the_generator_is_held_back_by_its_own_client(void **state)
{
    (void)state;
    const struct paced_config c = {1, 100, 1000000, 0, {{"only", 50, 0, 0, 0, 1}, {"", 0, 0, 0, 0, 1}, {"", 0, 0, 0, 0, 1}}};
    struct paced_result r;
    paced_run(&c, 1, &r);
    assert_int_equal(r.admissions, 5000);
    near(r.wall_ms, 3000, 2);
}

/* One at a time fits, so each waits for the one before: its write, its run time, the wake after 1 s,
 * and its own write. The first wake is that of the new objects, due 1 s after the start. */
static void a_full_queue_admits_at_the_pace_of_the_wakes(void **state)
{
    (void)state;
    const struct paced_config c = {1, 1, 1, 0, {{"only", 5, 0, 500, 0, 1}, {"", 0, 0, 0, 0, 1}, {"", 0, 0, 0, 0, 1}}};
    struct paced_result r;
    paced_run(&c, 20 * MS, &r);
    assert_int_equal(r.admissions, 5);
    near(r.wall_ms, 5 * 500.0 + 500.0 + 3 * 1000.0, 5 * 20.0);
}

static void within(const struct paced_result *r, const struct paced_published *p, int class, double tolerance)
{
    near(r->admission_ms[class], p->admission_ms[class], tolerance * p->admission_ms[class]);
}

/* At the rate that the client is set to, 50 writes a second, nothing is fitted at all. */
static void the_published_means_come_out_in_order_and_near(void **state)
{
    (void)state;
    struct paced_result base, large;
    paced_run(&paced_baseline.config, 20 * MS, &base);
    within(&base, &paced_baseline, 0, 0.05);
    within(&base, &paced_baseline, 1, 0.05);
    near(base.wall_ms, paced_baseline.wall_ms, 0.05 * paced_baseline.wall_ms);
    paced_run(&paced_large_scale.config, 20 * MS, &large);
    assert_true(large.admission_ms[2] < large.admission_ms[1] && large.admission_ms[1] < large.admission_ms[0]);
    within(&large, &paced_large_scale, 0, 0.15);
    within(&large, &paced_large_scale, 1, 0.15);
    within(&large, &paced_large_scale, 2, 0.17);
    near(large.wall_ms, paced_large_scale.wall_ms, 0.15 * paced_large_scale.wall_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_beyond_the_burst_wait_for_their_token),
        cmocka_unit_test(the_generator_is_held_back_by_its_own_client),
        cmocka_unit_test(a_full_queue_admits_at_the_pace_of_the_wakes),
        cmocka_unit_test(the_published_means_come_out_in_order_and_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
