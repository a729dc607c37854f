/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Closed forms against a step-by-step walk, and interval advice against published values. */
#include "models/data/checkpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/rng.h"

/* The run walked one nanosecond at a time. */
static struct checkpoint_progress walk(const struct checkpoint_plan *plan, sim_time elapsed)
{
    struct checkpoint_progress p = {0};
    sim_time in_interval = 0, in_stall = 0;
    for (sim_time t = 0; t < elapsed; t++) {
        if (plan->interval == 0 || in_interval < plan->interval) {
            p.computed++;
            in_interval++;
        } else {
            p.stalled++;
            in_stall++;
        }
        if (plan->interval > 0 && in_interval == plan->interval && in_stall == plan->stall) {
            p.committed = p.computed;
            in_interval = in_stall = 0;
        }
    }
    return p;
}

static void progress_agrees_with_a_walk_by_nanoseconds(void **state)
{
    (void)state;
    for (sim_time interval = 0; interval <= 6; interval++)
        for (sim_time stall = 0; stall <= 4; stall++)
            for (sim_time t = 0; t <= 60; t++) {
                struct checkpoint_plan plan = {interval, stall};
                struct checkpoint_progress got = checkpoint_progress(&plan, t);
                struct checkpoint_progress want = walk(&plan, t);
                assert_int_equal(got.computed, want.computed);
                assert_int_equal(got.stalled, want.stalled);
                assert_int_equal(got.committed, want.committed);
            }
}

static void wall_time_is_the_inverse_of_progress(void **state)
{
    (void)state;
    struct rng r;
    rng_open(&r, 1, 0, 1000, 4);
    for (int i = 0; i < 100000; i++) {
        struct checkpoint_plan plan = {.interval = (sim_time)rng_below(&r, 3600) * SIM_SECOND,
                                       .stall = (sim_time)rng_below(&r, 300) * SIM_MS};
        sim_time work = 1 + (sim_time)rng_below(&r, (uint64_t)SIM_DAY * 40);
        if (i % 3 == 0 && plan.interval > 0)
            work = plan.interval * (1 + (sim_time)rng_below(&r, 50)); /* on the edge */
        sim_time wall = checkpoint_wall(&plan, work);
        assert_int_equal(checkpoint_progress(&plan, wall).computed, work);
        assert_int_equal(checkpoint_progress(&plan, wall - 1).computed, work - 1);
    }
}

static void a_job_ends_without_a_last_checkpoint(void **state)
{
    (void)state;
    struct checkpoint_plan plan = {SIM_HOUR, SIM_MINUTE};
    assert_int_equal(checkpoint_wall(&plan, SIM_HOUR), SIM_HOUR);
    assert_int_equal(checkpoint_wall(&plan, SIM_HOUR + 1), SIM_HOUR + SIM_MINUTE + 1);
    assert_int_equal(checkpoint_wall(&plan, 10 * SIM_HOUR), 10 * SIM_HOUR + 9 * SIM_MINUTE);
    assert_int_equal(checkpoint_wall(&plan, 0), 0);
}

static void times_beyond_the_clock_saturate(void **state)
{
    (void)state;
    struct checkpoint_plan plan = {1, SIM_DAY};
    assert_int_equal(checkpoint_wall(&plan, SIM_DAY), SIM_NEVER);
    struct checkpoint_plan late = {SIM_NEVER, 1};
    assert_int_equal(checkpoint_wall(&late, 5), 5);
    assert_int_equal(checkpoint_progress(&late, SIM_NEVER).committed, 0);
}

static void assert_near(double got, double want, double tolerance)
{
    if (got < want - tolerance || got > want + tolerance)
        fail_msg("got %.6g, expected %.6g within %.3g", got, want, tolerance);
}

static void interval_advice_gives_dalys_values(void **state)
{
    (void)state;
    /* Daly's table: stall 5 min, restart 10 min; minutes */
    assert_near(checkpoint_daly_s(300, 24 * 3600.0) / 60, 116.7, 0.05);
    assert_near(checkpoint_daly_s(300, 6 * 3600.0) / 60, 56.7, 0.05);
    assert_near(checkpoint_daly_s(300, 15 * 60.0) / 60, 9.1, 0.05);
    assert_near(checkpoint_daly_s(300, 100), 100, 0); /* stall above 2 M */
    /* first order by hand: sqrt(2 * 200 * (39400 + 600)) - 200 = 4000 - 200 */
    assert_near(checkpoint_daly_first_s(200, 39400, 600), 3800, 1e-9);
}

static void young_gives_the_published_intervals(void **state)
{
    (void)state;
    /* cache-and-checkpoint 7: rows of GPUs, M (h), stall 10, 60, 300 s; minutes */
    static const struct {
        double mtbf_h, minutes[3], tolerance;
    } rows[] = {{792, {126, 308, 689}, 0.6}, {99, {45, 109, 244}, 0.6}, {49.5, {32, 77, 172}, 0.6},
                {12.4, {16, 39, 86}, 0.6},   {3.1, {7.9, 19, 43}, 0.6}};
    static const double stalls[3] = {10, 60, 300};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int k = 0; k < 3; k++)
            assert_near(checkpoint_young_s(stalls[k], rows[i].mtbf_h * 3600) / 60,
                        rows[i].minutes[k], rows[i].tolerance);
}

static void efficiency_gives_the_worked_examples(void **state)
{
    (void)state;
    double m = 3.09 * 3600;
    assert_near(checkpoint_young_s(3.24, m), 269, 1);
    assert_near(checkpoint_efficiency(checkpoint_young_s(3.24, m), 3.24, m, 600), 0.925, 0.0005);
    assert_near(checkpoint_young_s(30, m), 817, 1);
    assert_near(checkpoint_efficiency(checkpoint_young_s(30, m), 30, m, 600), 0.880, 0.0005);
    assert_near(checkpoint_young_s(120, m), 1635, 1.5);
    assert_near(checkpoint_efficiency(checkpoint_young_s(120, m), 120, m, 1800), 0.732, 0.0005);
}

static void expected_rework_falls_below_half_an_interval(void **state)
{
    (void)state;
    static const double x[] = {0.01, 0.1, 0.5, 1, 2, 5};
    static const double ratio[] = {0.998, 0.983, 0.917, 0.836, 0.687, 0.386};
    for (int i = 0; i < 6; i++)
        assert_near(checkpoint_expected_rework_s(x[i] * 1000, 1000) / (x[i] * 500), ratio[i],
                    0.0005);
    assert_near(checkpoint_expected_rework_s(1e-3, 1e3), 5e-4, 1e-9);
}

/* 1 - N r (u0 + dt/2) over 1 + w/dt by hand: 100 nodes, one failure per 1e6 s each, u0 600 s,
 * dt 1800 s, w 18 s: (1 - 100e-6 * 1500) / 1.01 = 0.85 / 1.01. */
static void effective_training_time_follows_its_closed_form(void **state)
{
    (void)state;
    assert_near(checkpoint_ettr(100, 1e-6, 600, 1800, 18), 0.85 / 1.01, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_agrees_with_a_walk_by_nanoseconds),
        cmocka_unit_test(wall_time_is_the_inverse_of_progress),
        cmocka_unit_test(a_job_ends_without_a_last_checkpoint),
        cmocka_unit_test(times_beyond_the_clock_saturate),
        cmocka_unit_test(interval_advice_gives_dalys_values),
        cmocka_unit_test(young_gives_the_published_intervals),
        cmocka_unit_test(efficiency_gives_the_worked_examples),
        cmocka_unit_test(expected_rework_falls_below_half_an_interval),
        cmocka_unit_test(effective_training_time_follows_its_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
