/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kueue's performance test at the pace of its API client: closed forms of the pace, and the means
 * that Kueue's authors published. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/kueue/range.h"

#define MS INT64_C(1000000)

static const struct paced_pace only_writes = {.write_ns = 20 * MS};

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
    paced_run(&c, &only_writes, &r);
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
    paced_run(&c, &(struct paced_pace){.write_ns = 1}, &r);
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
    paced_run(&c, &only_writes, &r);
    assert_int_equal(r.admissions, 5);
    near(r.wall_ms, 5 * 500.0 + 500.0 + 3 * 1000.0, 5 * 20.0);
}

/* The big one misses 1 beside the blocker, 2 while a short one runs. It is looked at when it comes, after
 * 1 s, and 1 s after the end of each short one, when the next one runs. Its text changes with the first
 * of these and after the last; the wakes between find it unchanged. */
static void a_head_that_goes_back_for_the_same_reason_is_not_written_again(void **state)
{
    (void)state;
    const struct paced_config c = {1, 1, 10, 0, {{"blocker", 1, 0, 10000, 0, 6}, {"big", 1, 100, 0, 0, 5}, {"short", 4, 1500, 1450, 0, 1}}};
    struct paced_result r;
    paced_run(&c, &only_writes, &r);
    assert_int_equal(r.admissions, 6);
    assert_int_equal(r.writes, 6 + 3);
    near(r.admission_ms[1], 11000 - 100, 1);
}

/* One queue gives one head a cycle, so the nth is decided after n cycles. */
static void a_cycle_takes_time_for_each_queue_and_head(void **state)
{
    (void)state;
    const struct paced_pace pace = {.write_ns = 20 * MS, .queue_ns = 1 * MS, .creating_ns = 4 * MS, .quiet_ns = 2 * MS};
    struct paced_config c = {1, 1, 1000000, 0, {{"only", 50, 0, 0, 0, 1}, {"", 0, 0, 0, 0, 1}, {"late", 0, 10000, 0, 0, 1}}};
    struct paced_result r;
    paced_run(&c, &pace, &r);
    near(r.decision_ms[0], 51 / 2.0 * (1 + 2), 1e-6);
    c.classes[2].count = 1; /* is still to be created */
    paced_run(&c, &pace, &r);
    near(r.decision_ms[0], 51 / 2.0 * (1 + 4), 1e-6);
    near(r.decision_ms[2], 1 + 2, 1e-6);
}

static void within(const struct paced_result *r, const struct paced_published *p, int class, double tolerance)
{
    near(r->admission_ms[class], p->admission_ms[class], tolerance * p->admission_ms[class]);
}

/* One parameter is fitted on the baseline; the large-scale test is predicted. */
static void the_published_means_come_out_in_order_and_within_15_percent(void **state)
{
    (void)state;
    struct paced_result base, large;
    const int64_t write_ns = range_fit(&paced_baseline);
    near((double)write_ns, 20.0 * MS, 0.02 * 20.0 * MS); /* what the client is set to */
    range_mean(&paced_baseline, write_ns, &base);
    within(&base, &paced_baseline, 0, 0.02); /* the spread that its authors give */
    within(&base, &paced_baseline, 1, 0.02);
    near(base.wall_ms, paced_baseline.wall_ms, 0.05 * paced_baseline.wall_ms);
    range_mean(&paced_large_scale, write_ns, &large);
    assert_true(large.admission_ms[2] < large.admission_ms[1] && large.admission_ms[1] < large.admission_ms[0]);
    for (int c = 0; c < PACED_CLASSES; c++)
        within(&large, &paced_large_scale, c, 0.15);
    near(large.wall_ms, paced_large_scale.wall_ms, 0.15 * paced_large_scale.wall_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_beyond_the_burst_wait_for_their_token),
        cmocka_unit_test(the_generator_is_held_back_by_its_own_client),
        cmocka_unit_test(a_full_queue_admits_at_the_pace_of_the_wakes),
        cmocka_unit_test(a_head_that_goes_back_for_the_same_reason_is_not_written_again),
        cmocka_unit_test(a_cycle_takes_time_for_each_queue_and_head),
        cmocka_unit_test(the_published_means_come_out_in_order_and_within_15_percent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
