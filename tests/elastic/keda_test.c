/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases derived by hand from the rules (specs 1.1-1.6, 3.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/elastic/keda.h"
#include "sim/dmath.h"

struct run {
    struct keda_config cfg;
    struct keda_state s;
    int32_t current, ready;
    struct keda_decision last;
};

static struct run run_of(double threshold, int32_t current)
{
    struct run r = {.cfg = keda_config_defaults(), .current = current, .ready = current};
    r.cfg.trigger_count = 1;
    r.cfg.triggers[0] = keda_trigger_defaults(threshold);
    keda_start(&r.s, &r.cfg, 0);
    return r;
}

static int32_t poll_sample(struct run *r, sim_time t, struct keda_sample sample)
{
    struct keda_sample samples[KEDA_TRIGGER_LIMIT] = {sample};
    struct keda_inputs in = {samples, r->current, r->ready};
    keda_poll(&r->s, &r->cfg, t, &in, &r->last);
    r->current = r->last.replicas;
    return r->current;
}

static int32_t poll_at(struct run *r, double t_s, double value)
{
    return poll_sample(r, sim_time_from_seconds(t_s),
                       (struct keda_sample){KEDA_ANSWER_VALUE, value});
}

static const struct keda_sample down = {KEDA_ANSWER_FAILED, 0};

static struct keda_read_result read_sample(struct run *r, struct keda_sample sample)
{
    struct keda_sample samples[KEDA_TRIGGER_LIMIT] = {sample};
    struct keda_inputs in = {samples, r->current, r->ready};
    return keda_read(&r->s, &r->cfg, 0, &in);
}

static void activity_takes_zero_to_one_at_the_next_poll(void **state)
{
    (void)state;
    struct run r = run_of(10, 0); /* D1 */
    assert_int_equal(poll_at(&r, 0, 0), 0);
    assert_int_equal(r.last.row, KEDA_ROW_NOTHING);
    assert_int_equal(poll_at(&r, 30, 5), 1);
    assert_int_equal(r.last.row, KEDA_ROW_ACTIVATE);
    assert_int_equal(r.s.last_active, 30 * SIM_SECOND);
}

static void activation_is_strictly_greater(void **state)
{
    (void)state;
    struct run r = run_of(10, 0);
    r.cfg.triggers[0].activationThreshold = 50;
    assert_int_equal(poll_at(&r, 0, 50), 0);
    assert_int_equal(poll_at(&r, 30, 50.0001), 1);
}

static void activation_outranks_scaling(void **state)
{
    (void)state;
    struct run r = run_of(10, 4); /* D13: the ratio asks for 4, activation says no */
    r.cfg.triggers[0].activationThreshold = 50;
    assert_int_equal(poll_at(&r, 0.5, 40), 0);
    assert_int_equal(r.last.row, KEDA_ROW_DEACTIVATE);
}

static void the_drop_waits_strictly_longer_than_the_cooldown(void **state)
{
    (void)state;
    struct run r = run_of(10, 1); /* D2 */
    assert_int_equal(poll_at(&r, 600, 5), 1);
    for (int t = 630; t <= 900; t += 30)
        assert_int_equal(poll_at(&r, t, 0), 1);
    assert_int_equal(r.last.row, KEDA_ROW_COOLDOWN);
    assert_int_equal(poll_at(&r, 930, 0), 0);
    struct run phase = run_of(10, 1); /* lastActive is cut to the second, now is not */
    assert_int_equal(poll_at(&phase, 600.25, 5), 1);
    for (int t = 630; t <= 870; t += 30)
        assert_int_equal(poll_at(&phase, t + 0.25, 0), 1);
    assert_int_equal(poll_at(&phase, 900.25, 0), 0);
}

static void never_active_counts_from_creation(void **state)
{
    (void)state;
    struct run r = run_of(10, 3);
    r.cfg.initialCooldownPeriod = 60 * SIM_SECOND;
    assert_int_equal(poll_at(&r, 60, 0), 3);
    assert_int_equal(poll_at(&r, 60.1, 0), 0);
    struct run at_once = run_of(10, 3);
    assert_int_equal(poll_at(&at_once, 0, 0), 3); /* exactly the creation instant */
    assert_int_equal(poll_at(&at_once, 30, 0), 0);
}

static void idle_replicas_are_left_and_entered_at_once(void **state)
{
    (void)state;
    struct run r = run_of(10, 7); /* D14 */
    r.cfg.minReplicaCount = 2;
    r.cfg.idleReplicaCount = 0;
    assert_int_equal(poll_at(&r, 1, 0), 0);
    assert_int_equal(poll_at(&r, 31, 5), 2);
    assert_int_equal(poll_at(&r, 61, 5), 2);
    assert_int_equal(r.last.row, KEDA_ROW_ACTIVE);
}

static void a_minimum_makes_activation_inert(void **state)
{
    (void)state;
    struct run r = run_of(10, 7);
    r.cfg.minReplicaCount = 2;
    assert_int_equal(poll_at(&r, 1000, 0), 7);
    r.current = 1;
    assert_int_equal(poll_at(&r, 1030, 0), 2);
    assert_int_equal(r.last.row, KEDA_ROW_SET_MIN);
    assert_false(r.s.has_last_active);
}

static void errors_without_fallback_hold(void **state)
{
    (void)state;
    struct run r = run_of(10, 4);
    assert_int_equal(poll_sample(&r, 1000 * SIM_SECOND, down), 4);
    assert_int_equal(r.last.row, KEDA_ROW_HOLD_ERROR);
    assert_int_equal(r.s.ready, KEDA_READY_TRIGGER_ERROR);
}

static void null_results_read_as_zero_or_fail(void **state)
{
    (void)state;
    struct run r = run_of(10, 4);
    assert_int_equal(poll_sample(&r, SIM_SECOND, (struct keda_sample){KEDA_ANSWER_EMPTY, 0}), 0);
    struct run strict = run_of(10, 4); /* an outage that looks like "no load" is an error here */
    strict.cfg.triggers[0].ignoreNullValues = false;
    assert_int_equal(poll_sample(&strict, SIM_SECOND, (struct keda_sample){KEDA_ANSWER_EMPTY, 0}),
                     4);
    struct run null = run_of(10, 0); /* JSON null is -1, whatever ignoreNullValues */
    null.cfg.triggers[0].activationThreshold = -1.5;
    assert_int_equal(poll_sample(&null, SIM_SECOND, (struct keda_sample){KEDA_ANSWER_NULL, 0}), 1);
    assert_int_equal(read_sample(&null, (struct keda_sample){KEDA_ANSWER_NULL, 0}).milli, 0);
}

static void fallback_starts_after_the_threshold(void **state)
{
    (void)state;
    struct run r = run_of(10, 2); /* D11 */
    r.cfg.fallback = (struct keda_fallback){.present = true, .failureThreshold = 3, .replicas = 6};
    for (int i = 0; i < 3; i++)
        assert_true(read_sample(&r, down).failed);
    struct keda_read_result x = read_sample(&r, down);
    assert_false(x.failed);
    assert_int_equal(x.milli, 60000); /* 10 x 6: AverageValue lands on 6 */
    assert_int_equal(r.s.store.health[0].failures, 4);
    assert_false(read_sample(&r, (struct keda_sample){KEDA_ANSWER_VALUE, 7}).failed);
    assert_int_equal(r.s.store.health[0].failures, 0);
}

static void fallback_activates_even_from_zero(void **state)
{
    (void)state;
    struct run r = run_of(10, 0);
    r.cfg.fallback = (struct keda_fallback){.present = true, .failureThreshold = 1, .replicas = 0};
    assert_int_equal(poll_sample(&r, SIM_SECOND, down), 0);
    assert_int_equal(poll_sample(&r, 31 * SIM_SECOND, down), 1);
    assert_int_equal(r.last.events,
                     (int)KEDA_EVENT_ACTIVATED | (int)KEDA_EVENT_FALLBACK_ACTIVATED);
}

static void fallback_behaviours_use_the_target_replicas(void **state)
{
    (void)state;
    static const struct {
        enum keda_fallback_behavior behavior;
        int32_t current;
        int64_t milli;
    } cases[] = {
        {KEDA_FALLBACK_STATIC, 9, 60000},
        {KEDA_FALLBACK_CURRENT_REPLICAS, 9, 90000},
        {KEDA_FALLBACK_CURRENT_IF_HIGHER, 9, 90000},
        {KEDA_FALLBACK_CURRENT_IF_HIGHER, 2, 60000},
        {KEDA_FALLBACK_CURRENT_IF_LOWER, 9, 60000},
        {KEDA_FALLBACK_CURRENT_IF_LOWER, 2, 20000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run r = run_of(10, cases[i].current);
        r.cfg.fallback = (struct keda_fallback){true, 0, 6, cases[i].behavior};
        assert_int_equal(read_sample(&r, down).milli, cases[i].milli);
    }
    struct run value = run_of(10, 4); /* Value: divided by the ready pods */
    value.cfg.fallback = (struct keda_fallback){true, 0, 6, KEDA_FALLBACK_STATIC};
    value.cfg.triggers[0].metricType = HPA_TARGET_VALUE;
    assert_int_equal(read_sample(&value, down).milli, 15000);
    value.ready = 0;
    assert_true(read_sample(&value, down).failed);
}

static void a_cached_metric_is_the_last_polled_one(void **state)
{
    (void)state;
    struct run r = run_of(10, 1);
    r.cfg.triggers[0].useCachedMetrics = true;
    assert_int_equal(read_sample(&r, (struct keda_sample){KEDA_ANSWER_VALUE, 3}).milli, 3000);
    poll_at(&r, 30, 5);
    assert_int_equal(read_sample(&r, (struct keda_sample){KEDA_ANSWER_VALUE, 3}).milli, 5000);
    poll_sample(&r, 60 * SIM_SECOND, down);
    assert_true(read_sample(&r, (struct keda_sample){KEDA_ANSWER_VALUE, 3}).failed);
}

static void a_formula_is_compared_after_cutting(void **state)
{
    (void)state;
    static const char *const names[] = {"a"};
    struct err e = {0};
    struct run r = run_of(10, 1);
    r.cfg.scalingModifiers = (struct keda_scaling_modifiers){.present = true, .target = 3.3335};
    assert_true(formula_parse(&r.cfg.scalingModifiers.formula, "a / 3", names, 1, &e));
    struct keda_sample sample = {KEDA_ANSWER_VALUE, 10};
    struct keda_inputs in = {&sample, 1, 1};
    assert_int_equal(keda_read(&r.s, &r.cfg, KEDA_COMPOSITE, &in).milli, 3333);
    r.cfg.scalingModifiers.activationTarget = 3.3329;
    poll_at(&r, 30, 10);
    assert_true(r.last.active);
    r.cfg.scalingModifiers.activationTarget = 3.3332; /* uncut, 3.33333 would exceed it */
    poll_at(&r, 60, 10);
    assert_false(r.last.active);
    struct hpa_config defaults = hpa_config_defaults();
    int32_t of[KEDA_TRIGGER_LIMIT];
    assert_int_equal(keda_hpa_config(&r.cfg, &defaults, of).metrics[0].target_milli, 3333);
}

static void values_are_rounded_to_three_decimals(void **state)
{
    (void)state;
    assert_int_equal(keda_metric_milli(0.0004), 0);
    assert_int_equal(keda_metric_milli(0.0005), 1); /* 0.0005 is slightly more in binary */
    assert_int_equal(keda_metric_milli(2.6755), 2675);
    assert_int_equal(keda_metric_milli(0.0625), 62); /* exact tie: to even */
    assert_int_equal(keda_metric_milli(0.1875), 188);
    assert_int_equal(keda_metric_milli(60.300000000000004), 60300);
    assert_int_equal(keda_metric_milli(-1.0), 0);
    assert_int_equal(keda_metric_milli(DM_NAN), 0);
    assert_int_equal(keda_metric_milli(1e12), 1000000000000000);
}

static void pausing_stops_the_loop_and_unpausing_makes_a_new_hpa(void **state)
{
    (void)state;
    struct run r = run_of(10, 3);
    r.cfg.annotations.paused_replicas = 5;
    struct keda_annotated a = keda_annotate(&r.s, &r.cfg, 3);
    assert_true(a.hpa_deleted);
    assert_int_equal(a.replicas, 5);
    assert_int_equal(poll_at(&r, 1000, 0), 3);
    assert_int_equal(r.last.row, KEDA_ROW_PAUSED);
    r.cfg.annotations.paused_replicas = KEDA_UNSET;
    a = keda_annotate(&r.s, &r.cfg, 5);
    assert_true(a.hpa_created);
    assert_true(keda_annotation_bool("yes"));
    assert_false(keda_annotation_bool("False"));
    assert_false(keda_annotation_bool(NULL));
}

static void half_pauses_hold_one_direction(void **state)
{
    (void)state;
    struct run r = run_of(10, 3);
    r.cfg.annotations.paused_scale_in = true;
    assert_int_equal(poll_at(&r, 1000, 0), 3);
    assert_int_equal(r.last.row, KEDA_ROW_SCALE_IN_PAUSED);
    struct hpa_config defaults = hpa_config_defaults();
    int32_t of[KEDA_TRIGGER_LIMIT];
    struct hpa_config hpa = keda_hpa_config(&r.cfg, &defaults, of);
    assert_true(hpa.behavior.present);
    assert_int_equal(hpa.behavior.scaleDown.selectPolicy, HPA_SELECT_DISABLED);
    assert_int_equal(hpa.behavior.scaleUp.policy_count, 2);
    struct run out = run_of(10, 0);
    out.cfg.annotations.paused_scale_out = true;
    assert_int_equal(poll_at(&out, 1, 5), 0);
    assert_false(out.s.has_last_active);
    out.cfg.annotations = (struct keda_annotations){.paused_replicas = KEDA_UNSET,
                                                    .force_activation = true};
    assert_int_equal(poll_at(&out, 31, 0), 1);
}

static void bounds_that_keda_refuses(void **state)
{
    (void)state;
    struct keda_config cfg = keda_config_defaults();
    assert_int_equal(keda_check(&cfg), KEDA_ACCEPTED);
    cfg.idleReplicaCount = 0;
    assert_int_equal(keda_check(&cfg), KEDA_IDLE_NOT_BELOW_MIN); /* a missing minimum is 0 */
    cfg.minReplicaCount = 0;
    assert_int_equal(keda_check(&cfg), KEDA_ACCEPTED); /* a written 0 counts as 1 */
    cfg.minReplicaCount = 101;
    assert_int_equal(keda_check(&cfg), KEDA_MIN_ABOVE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activity_takes_zero_to_one_at_the_next_poll),
        cmocka_unit_test(activation_is_strictly_greater),
        cmocka_unit_test(activation_outranks_scaling),
        cmocka_unit_test(the_drop_waits_strictly_longer_than_the_cooldown),
        cmocka_unit_test(never_active_counts_from_creation),
        cmocka_unit_test(idle_replicas_are_left_and_entered_at_once),
        cmocka_unit_test(a_minimum_makes_activation_inert),
        cmocka_unit_test(errors_without_fallback_hold),
        cmocka_unit_test(null_results_read_as_zero_or_fail),
        cmocka_unit_test(fallback_starts_after_the_threshold),
        cmocka_unit_test(fallback_activates_even_from_zero),
        cmocka_unit_test(fallback_behaviours_use_the_target_replicas),
        cmocka_unit_test(a_cached_metric_is_the_last_polled_one),
        cmocka_unit_test(a_formula_is_compared_after_cutting),
        cmocka_unit_test(values_are_rounded_to_three_decimals),
        cmocka_unit_test(pausing_stops_the_loop_and_unpausing_makes_a_new_hpa),
        cmocka_unit_test(half_pauses_hold_one_direction),
        cmocka_unit_test(bounds_that_keda_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
