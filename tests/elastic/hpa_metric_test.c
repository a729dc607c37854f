/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fixtures of Kubernetes' own replica calculator tests, restated as facts (specs 3.1, T1-T33). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/elastic/hpa_metric.h"

enum { PODS = 8 };

/* Requests are 1.0 CPU, pods started long ago and are ready, unless a test says otherwise. */
struct scene {
    struct hpa_metric metric;
    struct hpa_calculator calc;
    struct hpa_target target;
    struct hpa_pod pods[PODS];
    struct hpa_sample samples[PODS];
    struct hpa_reading reading;
};

#define NOW (1000 * SIM_SECOND)
#define NONE (-1) /* no sample */

static struct hpa_pod ready_pod(void)
{
    return (struct hpa_pod){.phase = HPA_POD_RUNNING,
                            .ready = HPA_READY_TRUE,
                            .has_start = true,
                            .start = 0,
                            .transition = 10 * SIM_SECOND,
                            .cpu_request_milli = 1000,
                            .memory_request_milli = 1000};
}

static void scene_init(struct scene *s, int32_t current, int32_t pod_count, const int64_t *use)
{
    memset(s, 0, sizeof *s);
    s->calc = (struct hpa_calculator){{0.1, 0.1}, 300 * SIM_SECOND, 30 * SIM_SECOND};
    s->target = (struct hpa_target){current, current, pod_count, pod_count, s->pods};
    s->reading.samples = s->samples;
    for (int32_t i = 0; i < pod_count; i++) {
        s->pods[i] = ready_pod();
        if (use[i] != NONE)
            s->samples[s->reading.sample_count++] =
                (struct hpa_sample){i, use[i], NOW - SIM_SECOND, 30 * SIM_SECOND};
    }
}

static void utilization(struct scene *s, int32_t percent)
{
    s->metric = (struct hpa_metric){.type = HPA_METRIC_RESOURCE,
                                    .target = HPA_TARGET_UTILIZATION,
                                    .averageUtilization = percent,
                                    .resource = HPA_RESOURCE_CPU};
}

static void plain(struct scene *s, int64_t milli)
{
    s->metric = (struct hpa_metric){.type = HPA_METRIC_PODS, .target_milli = milli};
}

/* Not ready, and never was: the transition lies before start + readiness delay. */
static void make_unready(struct hpa_pod *p)
{
    p->ready = HPA_READY_FALSE;
}

static int32_t propose(struct scene *s)
{
    unsigned char scratch[PODS];
    struct hpa_proposal p = hpa_metric_propose(&s->metric, &s->calc, &s->target, &s->reading, NOW,
                                               scratch);
    return p.error == HPA_METRIC_OK ? p.replicas : -1;
}

#define USE(...) (const int64_t[]){__VA_ARGS__}

static void utilization_scales_up_and_down(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 3, 3, USE(300, 500, 700)); /* T1 */
    utilization(&s, 30);
    assert_int_equal(propose(&s), 5);
    scene_init(&s, 5, 5, USE(100, 300, 500, 250, 250)); /* T6 */
    utilization(&s, 50);
    assert_int_equal(propose(&s), 3);
    make_unready(&s.pods[3]); /* T7 */
    make_unready(&s.pods[4]);
    assert_int_equal(propose(&s), 2);
}

static void unready_and_hot_pods_slow_a_scale_up(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 3, 3, USE(300, 500, 700)); /* T2 */
    utilization(&s, 30);
    make_unready(&s.pods[0]);
    assert_int_equal(propose(&s), 4);
    scene_init(&s, 3, 3, USE(300, 500, 700)); /* T3: inside cpu-init, sample begins before ready */
    utilization(&s, 30);
    s.pods[0].start = NOW - 60 * SIM_SECOND;
    s.pods[0].transition = NOW - 10 * SIM_SECOND;
    assert_int_equal(propose(&s), 4);
    scene_init(&s, 3, 3, USE(400, 500, 700)); /* T4 */
    utilization(&s, 30);
    make_unready(&s.pods[1]);
    make_unready(&s.pods[2]);
    assert_int_equal(propose(&s), 3);
}

static void failed_and_pending_pods_do_not_count(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 2, 4, USE(500, 700, NONE, NONE)); /* T5 */
    utilization(&s, 30);
    s.pods[2].phase = s.pods[3].phase = HPA_POD_FAILED;
    assert_int_equal(propose(&s), 4);
    scene_init(&s, 5, 5, USE(100, NONE, NONE, NONE, NONE)); /* T8 */
    utilization(&s, 50);
    for (int i = 1; i < 5; i++)
        s.pods[i].phase = HPA_POD_PENDING;
    assert_int_equal(propose(&s), 1);
}

static void plain_metrics_are_means_of_whole_milli_values(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 3, 3, USE(20000, 10000, 30000)); /* T9 */
    plain(&s, 15000);
    assert_int_equal(propose(&s), 4);
    scene_init(&s, 3, 3, USE(50000, 10000, 30000)); /* T10: a plain metric ignores readiness */
    plain(&s, 15000);
    make_unready(&s.pods[2]);
    assert_int_equal(propose(&s), 6);
    scene_init(&s, 3, 3, USE(50000, 15000, 30000)); /* T11 */
    plain(&s, 15000);
    assert_int_equal(propose(&s), 7);
    scene_init(&s, 5, 5, USE(20000, 19000, 21000, NONE, NONE)); /* T31 */
    plain(&s, 20000);
    assert_int_equal(propose(&s), 5);
}

static int32_t external(enum hpa_metric_type type, enum hpa_target_type target, int64_t milli,
                        int64_t usage, struct hpa_target t)
{
    struct hpa_metric m = {.type = type, .target = target, .target_milli = milli};
    struct hpa_calculator c = {.tolerance = {0.1, 0.1}};
    struct hpa_reading r = {.value_milli = usage};
    struct hpa_proposal p = hpa_metric_propose(&m, &c, &t, &r, NOW, NULL);
    return p.error == HPA_METRIC_OK ? p.replicas : -1;
}

static struct hpa_target target_of(int32_t current, int32_t ready)
{
    return (struct hpa_target){current, current, current, ready, NULL};
}

static void value_targets_multiply_by_ready_pods(void **state)
{
    (void)state;
    enum hpa_target_type value = HPA_TARGET_VALUE;
    assert_int_equal(external(HPA_METRIC_OBJECT, value, 15000, 20000, target_of(3, 3)), 4); /* T12 */
    assert_int_equal(external(HPA_METRIC_OBJECT, value, 10000, 50000, target_of(3, 1)), 5); /* T14 */
    assert_int_equal(external(HPA_METRIC_EXTERNAL, value, 4400, 8600, target_of(3, 1)), 2); /* T15 */
    assert_int_equal(external(HPA_METRIC_EXTERNAL, value, 14334, 8600, target_of(5, 5)), 3); /* T18 */
    assert_int_equal(external(HPA_METRIC_EXTERNAL, value, 8888, 8600, target_of(3, 3)), 3); /* T22 */
    /* D9: a total as Value is a loop that feeds on itself */
    assert_int_equal(external(HPA_METRIC_EXTERNAL, value, 10000, 100000, target_of(4, 4)), 40);
    assert_int_equal(external(HPA_METRIC_EXTERNAL, value, 10000, 100000, target_of(40, 40)), 400);
    /* no pod at all is an error, unless there are no replicas */
    assert_int_equal(external(HPA_METRIC_EXTERNAL, value, 1000, 5000, (struct hpa_target){.current = 1}),
                     -1);
    assert_int_equal(external(HPA_METRIC_EXTERNAL, value, 1000, 5000, (struct hpa_target){.current = 0}),
                     5);
}

static void average_value_targets_ignore_readiness(void **state)
{
    (void)state;
    enum hpa_target_type avg = HPA_TARGET_AVERAGE_VALUE;
    assert_int_equal(external(HPA_METRIC_OBJECT, avg, 5000, 20000, target_of(3, 0)), 4); /* T13 */
    assert_int_equal(external(HPA_METRIC_EXTERNAL, avg, 2150, 8600, target_of(3, 0)), 4); /* T16 */
    assert_int_equal(external(HPA_METRIC_OBJECT, avg, 2000, 6000, target_of(5, 5)), 3);   /* T17 */
    assert_int_equal(external(HPA_METRIC_EXTERNAL, avg, 2867, 8600, target_of(5, 5)), 3); /* T19 */
    assert_int_equal(external(HPA_METRIC_OBJECT, avg, 5000, 20166, target_of(4, 4)), 4);  /* T21 */
    assert_int_equal(external(HPA_METRIC_EXTERNAL, avg, 2900, 8600, target_of(3, 3)), 3); /* T23 */
    /* D8, D10: both ends of the tolerance belong to it */
    assert_int_equal(external(HPA_METRIC_EXTERNAL, avg, 10000, 100000, target_of(4, 4)), 10);
    assert_int_equal(external(HPA_METRIC_EXTERNAL, avg, 10000, 95000, target_of(9, 9)), 9);
    assert_int_equal(external(HPA_METRIC_EXTERNAL, avg, 10000, 99000, target_of(9, 9)), 9);
    assert_int_equal(external(HPA_METRIC_EXTERNAL, avg, 10000, 100000, target_of(9, 9)), 10);
}

static void missing_pods_are_filled_in_against_the_change(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 4, 4, USE(400, 95, NONE, NONE)); /* T25 */
    utilization(&s, 100);
    assert_int_equal(propose(&s), 3);
    static const int64_t use[] = {1000, 1900, 600}; /* T26 */
    for (int i = 0; i < 3; i++) {
        scene_init(&s, 2, 2, USE(use[i], NONE));
        utilization(&s, 100);
        assert_int_equal(propose(&s), 2);
    }
    scene_init(&s, 3, 3, USE(NONE, 450, NONE)); /* T27 */
    utilization(&s, 50);
    s.pods[0].phase = HPA_POD_PENDING;
    assert_int_equal(propose(&s), 3);
    scene_init(&s, 3, 3, USE(100, 2000, NONE)); /* T28 */
    utilization(&s, 50);
    make_unready(&s.pods[0]);
    assert_int_equal(propose(&s), 4);
    scene_init(&s, 4, 4, USE(100, 100, 100, NONE)); /* T29 */
    utilization(&s, 50);
    make_unready(&s.pods[0]);
    assert_int_equal(propose(&s), 3);
    scene_init(&s, 4, 4, USE(200, 100, 100, NONE)); /* T30: target above 100 % */
    utilization(&s, 300);
    s.pods[2].cpu_request_milli = s.pods[3].cpu_request_milli = 2000;
    assert_int_equal(propose(&s), 2);
}

static void samples_of_unknown_pods_do_not_change_the_percentage(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 4, 4, USE(4000, 9500, 3000, 7000)); /* T24 */
    utilization(&s, 100);
    s.samples[4] = (struct hpa_sample){-1, 3200, NOW, SIM_SECOND};
    s.samples[5] = (struct hpa_sample){-1, 2000, NOW, SIM_SECOND};
    s.reading.sample_count = 6;
    assert_int_equal(propose(&s), 24);
}

static void no_usable_sample_is_an_error(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 3, 3, USE(NONE, NONE, NONE)); /* T33 */
    utilization(&s, 100);
    assert_int_equal(propose(&s), -1);
    scene_init(&s, 3, 3, USE(100, 100, 100));
    utilization(&s, 100);
    s.pods[1].cpu_request_milli = HPA_NO_REQUEST;
    assert_int_equal(propose(&s), -1);
    scene_init(&s, 1, 1, USE(NONE));
    utilization(&s, 100);
    s.samples[0] = (struct hpa_sample){-1, 100, NOW, SIM_SECOND};
    s.reading.sample_count = 1;
    assert_int_equal(propose(&s), -1);
}

static void tolerance_is_per_direction(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 3, 3, USE(900, 1030, 1130)); /* T20 has requests .9, 1, 1.1; 102 % of them */
    utilization(&s, 100);
    assert_int_equal(propose(&s), 3);
    scene_init(&s, 3, 3, USE(1010, 1010, 1010));
    utilization(&s, 100);
    s.calc.tolerance = (struct hpa_tolerance){0, 0};
    assert_int_equal(propose(&s), 4);
    scene_init(&s, 3, 3, USE(1900, 1900, 1900));
    utilization(&s, 100);
    s.calc.tolerance = (struct hpa_tolerance){0, 2.0};
    assert_int_equal(propose(&s), 3);
    scene_init(&s, 3, 3, USE(650, 650, 650));
    utilization(&s, 100);
    s.calc.tolerance = (struct hpa_tolerance){0.36, 0};
    assert_int_equal(propose(&s), 3);
    s.calc.tolerance = (struct hpa_tolerance){0.34, 0};
    assert_int_equal(propose(&s), 2);
}

static void a_rolling_update_with_surge_keeps_its_count(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 2, 3, USE(100, 100, NONE)); /* T32: 2 of 3 pods have samples */
    utilization(&s, 50);
    assert_int_equal(propose(&s), 2);
}

static void doubles_are_taken_as_they_are(void **state)
{
    (void)state;
    /* specs 2.6: 1.12 x 25 is 28.000000000000004 in doubles, hence 29 */
    assert_int_equal(
        external(HPA_METRIC_EXTERNAL, HPA_TARGET_VALUE, 1000, 1120, target_of(20, 25)), 29);
    assert_true(hpa_tolerance_holds((struct hpa_tolerance){0.1, 0.1}, 1.1));
    assert_true(hpa_tolerance_holds((struct hpa_tolerance){0.1, 0.1}, 0.9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utilization_scales_up_and_down),
        cmocka_unit_test(unready_and_hot_pods_slow_a_scale_up),
        cmocka_unit_test(failed_and_pending_pods_do_not_count),
        cmocka_unit_test(plain_metrics_are_means_of_whole_milli_values),
        cmocka_unit_test(value_targets_multiply_by_ready_pods),
        cmocka_unit_test(average_value_targets_ignore_readiness),
        cmocka_unit_test(missing_pods_are_filled_in_against_the_change),
        cmocka_unit_test(samples_of_unknown_pods_do_not_change_the_percentage),
        cmocka_unit_test(no_usable_sample_is_an_error),
        cmocka_unit_test(tolerance_is_per_direction),
        cmocka_unit_test(a_rolling_update_with_surge_keeps_its_count),
        cmocka_unit_test(doubles_are_taken_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
