/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole reconciles: end-to-end cases derived by hand from the rules (specs 3.2, 3.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/elastic/hpa.h"

struct run {
    struct hpa_config cfg;
    struct hpa_state s;
    int32_t current;
    struct hpa_decision last;
};

static struct run run_of(int32_t current, int32_t min, int32_t max, bool with_behavior)
{
    struct run r = {.cfg = hpa_config_defaults(), .current = current};
    r.cfg.minReplicas = min;
    r.cfg.maxReplicas = max;
    if (with_behavior)
        r.cfg.behavior = hpa_behavior_defaults(300);
    r.cfg.metric_count = 1;
    r.cfg.metrics[0] = (struct hpa_metric){.type = HPA_METRIC_EXTERNAL, .target_milli = 1000};
    return r;
}

/* One sync at t seconds with a demand of that many replicas; pods follow at once. */
static int32_t sync_at(struct run *r, int64_t t_s, int64_t demand)
{
    struct hpa_target t = {r->current, r->current, r->current, r->current, NULL};
    struct hpa_reading reading = {.failed = demand < 0, .value_milli = demand * 1000};
    hpa_sync(&r->s, &r->cfg, t_s * SIM_SECOND, &t, &reading, NULL, &r->last);
    r->current = r->last.replicas;
    return r->current;
}

static void without_a_block_two_replicas_double(void **state)
{
    (void)state;
    struct run r = run_of(2, 1, 100, false); /* D3a */
    assert_int_equal(sync_at(&r, 0, 20), 4);
    assert_int_equal(r.last.limit, HPA_SCALE_UP_LIMIT);
    assert_int_equal(sync_at(&r, 15, 20), 8);
    assert_int_equal(sync_at(&r, 30, 20), 16);
    assert_int_equal(sync_at(&r, 45, 20), 20);
    assert_int_equal(r.last.limit, HPA_WITHIN_RANGE);
    hpa_state_fini(&r.s);
}

static void with_the_documented_policies_two_become_six(void **state)
{
    (void)state;
    struct run r = run_of(2, 1, 100, true); /* D3b */
    assert_int_equal(sync_at(&r, 0, 20), 6);
    assert_int_equal(sync_at(&r, 15, 20), 12);
    assert_int_equal(sync_at(&r, 30, 20), 20);
    hpa_state_fini(&r.s);
}

static int64_t first_below(struct run *r, int32_t count)
{
    for (int64_t t = 0; t < 3000; t += 15)
        if (sync_at(r, t, t <= 600 ? 10 : 3) < count)
            return t;
    return -1;
}

static void the_scale_down_window_ends_a_sync_later_without_a_block(void **state)
{
    (void)state;
    struct run legacy = run_of(10, 1, 100, false), block = run_of(10, 1, 100, true);
    assert_int_equal(first_below(&legacy, 10), 915); /* D4a */
    assert_int_equal(legacy.current, 3);
    assert_int_equal(first_below(&block, 10), 900); /* D4b */
    assert_int_equal(block.current, 3);
    hpa_state_fini(&legacy.s);
    hpa_state_fini(&block.s);
}

static void a_pods_policy_steps_down_once_a_minute(void **state)
{
    (void)state;
    struct run r = run_of(10, 1, 100, true); /* D5 */
    r.cfg.behavior.scaleDown.policies[0] = (struct hpa_policy){HPA_POLICY_PODS, 1, 60};
    for (int64_t t = 0; t <= 1260; t += 15) {
        int32_t n = sync_at(&r, t, t <= 600 ? 10 : 3);
        int32_t expected = t < 900 ? 10 : (int32_t)(9 - (t - 900) / 60);
        assert_int_equal(n, expected < 3 ? 3 : expected);
    }
    assert_int_equal(r.current, 3);
    hpa_state_fini(&r.s);
}

static int changes_of(struct run *r)
{
    int changes = 0;
    for (int64_t t = 0; t < 3600; t += 15) {
        int32_t before = r->current;
        changes += sync_at(r, t, t / 60 % 2 == 0 ? 8 : 4) != before;
    }
    return changes;
}

static void the_window_masks_an_oscillation(void **state)
{
    (void)state;
    for (int block = 0; block < 2; block++) {
        struct run r = run_of(4, 1, 100, block); /* D6 */
        assert_int_equal(changes_of(&r), 1);
        assert_int_equal(r.current, 8);
        hpa_state_fini(&r.s);
    }
    struct run flap = run_of(4, 1, 100, true); /* D7 */
    flap.cfg.behavior.scaleDown.stabilizationWindowSeconds = 0;
    assert_int_equal(changes_of(&flap), 60);
    hpa_state_fini(&flap.s);
    struct run still = run_of(4, 1, 100, true); /* D16 */
    still.cfg.behavior.scaleUp.stabilizationWindowSeconds = 120;
    assert_int_equal(changes_of(&still), 0);
    hpa_state_fini(&still.s);
}

static void ten_percent_a_minute_rounds_up(void **state)
{
    (void)state;
    struct run r = run_of(10, 1, 300, true); /* D12 */
    r.cfg.behavior.scaleUp.policy_count = 1;
    r.cfg.behavior.scaleUp.policies[0] = (struct hpa_policy){HPA_POLICY_PERCENT, 10, 60};
    for (int64_t t = 0; t <= 120; t += 15)
        assert_int_equal(sync_at(&r, t, 200), t < 60 ? 11 : t < 120 ? 13 : 15);
    hpa_state_fini(&r.s);
}

static void zero_replicas_switch_the_controller_off(void **state)
{
    (void)state;
    struct run r = run_of(0, 1, 100, false); /* D15 */
    assert_int_equal(sync_at(&r, 0, 20), 0);
    assert_int_equal(r.last.conditions.active, HPA_SCALING_DISABLED);
    assert_true(hpa_next_change(&r.s) == SIM_NEVER);
    r.cfg.minReplicas = 0; /* someone else wrote the zero */
    assert_int_equal(sync_at(&r, 15, 20), 0);
    hpa_state_fini(&r.s);
    struct run own = run_of(3, 0, 100, true);
    own.cfg.behavior.scaleDown.stabilizationWindowSeconds = 0;
    assert_int_equal(sync_at(&own, 0, 0), 0);
    assert_int_equal(own.last.conditions.zero, HPA_SCALED_TO_ZERO);
    assert_int_equal(sync_at(&own, 14, 20), 7); /* base 3 by the event, plus 4 pods */
    own.current = 0; /* at 29 s no event counts any more: only the Pods policy can leave 0 */
    assert_int_equal(sync_at(&own, 29, 20), 0); /* and this zero was another's */
    hpa_state_fini(&own.s);
}

static void bounds_are_enforced_before_any_metric(void **state)
{
    (void)state;
    struct run r = run_of(6, 1, 5, false);
    assert_int_equal(sync_at(&r, 0, -1), 5);
    assert_int_equal(r.last.why, HPA_WHY_ABOVE_MAX);
    assert_int_equal(r.last.proposal_count, 0);
    r.cfg.maxReplicas = 20;
    r.cfg.minReplicas = 8;
    assert_int_equal(sync_at(&r, 15, -1), 8);
    assert_int_equal(r.last.why, HPA_WHY_BELOW_MIN);
    hpa_state_fini(&r.s);
}

static void a_failed_metric_forbids_a_scale_in_only(void **state)
{
    (void)state;
    struct run r = run_of(5, 1, 100, false);
    r.cfg.metric_count = 2;
    r.cfg.metrics[1] = r.cfg.metrics[0];
    r.cfg.downscale_stabilization = 0;
    struct hpa_target t = {5, 5, 5, 5, NULL};
    struct hpa_reading readings[2] = {{.value_milli = 2000}, {.failed = true}};
    hpa_sync(&r.s, &r.cfg, 0, &t, readings, NULL, &r.last);
    assert_int_equal(r.last.replicas, 5);
    assert_false(r.last.computed);
    readings[0].value_milli = 8000;
    hpa_sync(&r.s, &r.cfg, 15 * SIM_SECOND, &t, readings, NULL, &r.last);
    assert_int_equal(r.last.replicas, 8);
    assert_true(r.last.error);
    assert_int_equal(r.last.metric, 0);
    readings[0].failed = true;
    hpa_sync(&r.s, &r.cfg, 30 * SIM_SECOND, &t, readings, NULL, &r.last);
    assert_int_equal(r.last.replicas, 5);
    assert_int_equal(r.last.conditions.active, HPA_FAILED_GET_EXTERNAL);
    hpa_state_fini(&r.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_block_two_replicas_double),
        cmocka_unit_test(with_the_documented_policies_two_become_six),
        cmocka_unit_test(the_scale_down_window_ends_a_sync_later_without_a_block),
        cmocka_unit_test(a_pods_policy_steps_down_once_a_minute),
        cmocka_unit_test(the_window_masks_an_oscillation),
        cmocka_unit_test(ten_percent_a_minute_rounds_up),
        cmocka_unit_test(zero_replicas_switch_the_controller_off),
        cmocka_unit_test(bounds_are_enforced_before_any_metric),
        cmocka_unit_test(a_failed_metric_forbids_a_scale_in_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
