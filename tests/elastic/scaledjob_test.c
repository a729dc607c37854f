/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The examples of KEDA's documentation and cases by hand (specs 1.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/elastic/scaledjob.h"

static struct scaledjob_config config(int32_t min, int32_t max)
{
    return (struct scaledjob_config){.minReplicaCount = min, .maxReplicaCount = max};
}

static struct scaledjob_trigger trigger(int64_t queue, int64_t target)
{
    return (struct scaledjob_trigger){queue > 0, queue * 1000, target * 1000,
                                      HPA_TARGET_AVERAGE_VALUE};
}

static int64_t created(const struct scaledjob_config *cfg, int64_t queue, int64_t target,
                       int64_t running, int64_t pending)
{
    struct scaledjob_trigger t = trigger(queue, target);
    return scaledjob_poll(cfg, &t, 1, running, pending).created;
}

static void documented_examples_of_the_default_strategy(void **state)
{
    (void)state;
    static const int64_t cases[][5] = {/* queue, max, target, running, created */
                                       {10, 3, 1, 0, 3},
                                       {10, 3, 2, 0, 3},
                                       {10, 3, 1, 1, 2},
                                       {10, 100, 1, 0, 10},
                                       {4, 3, 5, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scaledjob_config cfg = config(SCALEDJOB_UNSET, (int32_t)cases[i][1]);
        assert_int_equal(created(&cfg, cases[i][0], cases[i][2], cases[i][3], 0), cases[i][4]);
    }
}

static void strategies_differ_in_what_they_subtract(void **state)
{
    (void)state;
    struct scaledjob_config cfg = config(SCALEDJOB_UNSET, 20);
    assert_int_equal(created(&cfg, 10, 1, 4, 2), 6);
    cfg.strategy = SCALEDJOB_ACCURATE;
    assert_int_equal(created(&cfg, 10, 1, 4, 2), 8);
    assert_int_equal(created(&cfg, 18, 1, 6, 2), 14);
    cfg.strategy = SCALEDJOB_EAGER;
    assert_int_equal(created(&cfg, 10, 1, 4, 2), 10);
    assert_int_equal(created(&cfg, 18, 1, 4, 2), 14);
    cfg.strategy = SCALEDJOB_CUSTOM;
    cfg.customScalingQueueLengthDeduction = 1;
    assert_int_equal(created(&cfg, 10, 1, 4, 2), 6); /* no percentage: as default */
    cfg.percentage_given = true;
    cfg.customScalingRunningJobPercentage = 0.7;
    assert_int_equal(created(&cfg, 10, 1, 4, 2), 7); /* 10 - 1 - trunc(2.8) */
}

static void the_minimum_is_made_first_and_taken_from_the_maximum(void **state)
{
    (void)state;
    struct scaledjob_config cfg = config(3, 10);
    assert_int_equal(created(&cfg, 0, 1, 1, 0), 2);
    assert_int_equal(created(&cfg, 50, 1, 3, 0), 7);
    cfg.maxReplicaCount = SCALEDJOB_UNSET;
    assert_int_equal(created(&cfg, 500, 1, 3, 0), 100);
    cfg = config(8, 5);
    assert_int_equal(created(&cfg, 0, 1, 0, 0), 5);
}

static void several_triggers_are_combined_as_asked(void **state)
{
    (void)state;
    struct scaledjob_trigger t[3] = {trigger(8, 2), trigger(3, 1), trigger(0, 1)};
    struct scaledjob_config cfg = config(SCALEDJOB_UNSET, 50);
    static const int64_t expected[4][2] = {/* queue, max_scale */
                                           {8, 4}, {3, 3}, {6, 4}, {11, 7}};
    for (int how = 0; how < 4; how++) {
        cfg.multipleScalersCalculation = (enum scaledjob_calculation)how;
        struct scaledjob_decision d = scaledjob_poll(&cfg, t, 3, 0, 0);
        assert_int_equal(d.queue, expected[how][0]);
        assert_int_equal(d.max_scale, expected[how][1]);
    }
    t[0].metricType = HPA_TARGET_VALUE;
    cfg.multipleScalersCalculation = SCALEDJOB_MAX;
    assert_int_equal(scaledjob_poll(&cfg, t, 1, 0, 0).created, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documented_examples_of_the_default_strategy),
        cmocka_unit_test(strategies_differ_in_what_they_subtract),
        cmocka_unit_test(the_minimum_is_made_first_and_taken_from_the_maximum),
        cmocka_unit_test(several_triggers_are_combined_as_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
