/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fixtures of Kubernetes' own horizontal controller tests, restated as facts (specs 3.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/elastic/hpa_rules.h"

#define NOW (100000 * SIM_SECOND)

static struct hpa_behavior behavior(void)
{
    return hpa_behavior_defaults(300);
}

static struct hpa_memory memory_of(const struct hpa_record *ages, size_t n)
{
    struct hpa_memory m = {0};
    for (size_t i = 0; i < n; i++) {
        struct hpa_record r = {ages[i].value, NOW - ages[i].t * SIM_SECOND};
        m.records = realloc(m.records, (n + 1) * sizeof r);
        assert_non_null(m.records);
        m.records[m.record_count++] = r;
    }
    m.record_capacity = n + 1;
    return m;
}

struct stabilise_case {
    struct hpa_record ages[4]; /* value, age in seconds */
    size_t count;
    int32_t current, raw, up_s, down_s, expected;
};

static void windows_look_at_past_recommendations(void **state)
{
    (void)state;
    static const struct stabilise_case cases[] = {
        {{{4, 120}, {5, 60}}, 2, 100, 3, 0, 180, 5},                     /* T34 */
        {{{4, 120}, {5, 60}}, 2, 1, 7, 300, 0, 4},                       /* T35 */
        {{{1, 120}, {2, 60}}, 2, 100, 3, 300, 0, 3},                     /* T36 */
        {{{4, 120}, {5, 60}}, 2, 1, 3, 0, 300, 3},                       /* T37 */
        {{{10, 6000}, {6, 60}, {5, 120}, {9, 180}}, 4, 1, 100, 300, 0, 5}, /* T38 */
        {{{2, 6000}, {3, 180}}, 2, 2, 1, 300, 300, 2},                   /* T39 */
        {{{2, 6000}, {1, 180}}, 2, 2, 3, 300, 300, 2},                   /* T40 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct stabilise_case *c = &cases[i];
        struct hpa_memory m = memory_of(c->ages, c->count);
        struct hpa_behavior b = behavior();
        b.scaleUp.stabilizationWindowSeconds = c->up_s;
        b.scaleDown.stabilizationWindowSeconds = c->down_s;
        assert_int_equal(hpa_stabilise(hpa_window_behavior(&m, &b, NOW, c->raw), c->current),
                         c->expected);
        hpa_memory_fini(&m);
    }
}

static void the_legacy_window_takes_the_largest(void **state)
{
    (void)state;
    static const struct stabilise_case cases[] = {
        {{{0, 0}}, 0, 0, 5, 0, 0, 5},
        {{{4, 120}, {5, 60}}, 2, 0, 3, 0, 0, 5},
        {{{1, 60}, {2, 30}}, 2, 0, 3, 0, 0, 3},
        {{{10, 600}, {9, 540}}, 2, 0, 3, 0, 0, 3},
        {{{10, 600}, {4, 60}, {5, 120}, {9, 540}}, 4, 0, 3, 0, 0, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hpa_memory m = memory_of(cases[i].ages, cases[i].count);
        struct hpa_window w = hpa_window_legacy(&m, 300 * SIM_SECOND, NOW, cases[i].raw);
        assert_int_equal(w.hi, cases[i].expected);
        hpa_memory_fini(&m);
    }
}

static void the_age_test_is_inclusive_in_legacy_only(void **state)
{
    (void)state;
    struct hpa_record age = {9, 300};
    struct hpa_memory m = memory_of(&age, 1);
    struct hpa_behavior b = behavior();
    assert_int_equal(hpa_window_legacy(&m, 300 * SIM_SECOND, NOW, 3).hi, 9);
    assert_int_equal(hpa_window_legacy(&m, 300 * SIM_SECOND, NOW + 1, 3).hi, 3);
    assert_int_equal(hpa_window_behavior(&m, &b, NOW, 3).hi, 3);
    assert_int_equal(hpa_window_behavior(&m, &b, NOW - 1, 3).hi, 9);
    /* and the instant at which it leaves is announced */
    assert_int_equal(hpa_window_legacy(&m, 300 * SIM_SECOND, NOW, 3).next, NOW + 1);
    assert_int_equal(hpa_window_behavior(&m, &b, NOW - 1, 3).next, NOW);
    assert_true(hpa_window_behavior(&m, &b, NOW, 3).next == SIM_NEVER);
    hpa_memory_fini(&m);
}

/* --- TestScalingWithRules: T41-T61 ------------------------------------------------------------- */

struct limit_case {
    int32_t current, desired, min, max;
    struct hpa_policy policies[2];
    uint32_t policy_count;
    int32_t up[3], down[3]; /* sizes of recent events */
    int32_t expected;
};

#define PODS(v, p) {HPA_POLICY_PODS, v, p}
#define PERCENT(v, p) {HPA_POLICY_PERCENT, v, p}

static const struct limit_case limit_cases[] = {
    {100, 1000, 1, 150, {PERCENT(10000, 60)}, 1, {0}, {0}, 150},
    {3, 1000, 1, 2000, {PERCENT(1, 60)}, 1, {0}, {0}, 4},
    {10, 50, 1, 2000, {PODS(4, 15), PERCENT(100, 15)}, 2, {0}, {0}, 20},
    {10, 500, 1, 2000, {PODS(100, 60), PERCENT(100, 60)}, 2, {0}, {0}, 110},
    {10, 500, 1, 2000, {PODS(2, 60), PERCENT(100, 60)}, 2, {0}, {0}, 20},
    {10, 50, 1, 2000, {PODS(30, 60)}, 1, {0}, {0}, 40},
    {10, 50, 1, 2000, {PERCENT(200, 60)}, 1, {0}, {0}, 30},
    {100, 2, 1, 2000, {PODS(20, 60), PERCENT(1, 60)}, 2, {0}, {0}, 80},
    {100, 2, 1, 2000, {PODS(2, 60), PERCENT(1, 60)}, 2, {0}, {0}, 98},
    {10, 2, 1, 2000, {PODS(5, 60)}, 1, {0}, {0}, 5},
    {10, 5, 1, 2000, {PERCENT(50, 60)}, 1, {0}, {0}, 5},
    {10, 0, 1, 2000, {PODS(100, 60)}, 1, {0}, {0}, 1},
    {10, 2, 5, 2000, {PERCENT(100, 60)}, 1, {0}, {0}, 5},
    {100, 500, 1, 2000, {PODS(5, 120)}, 1, {1, 5, 9}, {0}, 100},
    {100, 500, 1, 2000, {PODS(150, 120)}, 1, {1, 5, 9}, {0}, 235},
    {100, 500, 1, 2000, {PERCENT(200, 120)}, 1, {1, 5, 9}, {0}, 255},
    {6, 24, 1, 2000, {PERCENT(300, 300)}, 1, {4}, {2}, 16},
    {100, 2, 1, 2000, {PODS(5, 120)}, 1, {0}, {1, 5, 9}, 100},
    {100, 0, 1, 2000, {PERCENT(50, 120)}, 1, {0}, {2, 4, 6}, 56},
    {10, 1, 1, 2000, {PERCENT(50, 180)}, 1, {2}, {4}, 6},
    {100, 0, 1, 2000, {PERCENT(10, 120)}, 1, {0}, {10, 10, 10}, 100},
};

static void add_events(struct hpa_event_list *l, const int32_t sizes[3])
{
    l->items = calloc(4, sizeof *l->items);
    assert_non_null(l->items);
    l->capacity = 4;
    for (int i = 0; i < 3; i++)
        if (sizes[i] > 0)
            l->items[l->count++] = (struct hpa_event){sizes[i], NOW - SIM_SECOND};
}

static void rate_policies_and_bounds_limit_a_change(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof limit_cases / sizeof limit_cases[0]; i++) {
        const struct limit_case *c = &limit_cases[i];
        struct hpa_behavior b = behavior();
        struct hpa_scaling_rules *r = c->desired > c->current ? &b.scaleUp : &b.scaleDown;
        r->policy_count = c->policy_count;
        memcpy(r->policies, c->policies, sizeof c->policies);
        struct hpa_memory m = {0};
        add_events(&m.up, c->up);
        add_events(&m.down, c->down);
        struct hpa_bounds bounds = {c->min, c->max};
        struct hpa_limited l = hpa_limit_behavior(&b, &m, NOW, c->current, c->desired, bounds);
        assert_int_equal(l.replicas, c->expected);
        hpa_memory_fini(&m);
    }
}

static void select_min_takes_the_smallest_change_and_disabled_none(void **state)
{
    (void)state;
    struct hpa_memory m = {0};
    struct hpa_behavior b = behavior();
    struct hpa_policy policies[2] = {PODS(2, 60), PERCENT(50, 60)};
    b.scaleUp.policy_count = b.scaleDown.policy_count = 2;
    memcpy(b.scaleUp.policies, policies, sizeof policies);
    memcpy(b.scaleDown.policies, policies, sizeof policies);
    b.scaleUp.selectPolicy = b.scaleDown.selectPolicy = HPA_SELECT_MIN;
    assert_int_equal(hpa_up_limit(&b, &m, NOW, 1), 2);
    assert_int_equal(hpa_down_limit(&b, &m, NOW, 5), 3);
    b.scaleUp.selectPolicy = b.scaleDown.selectPolicy = HPA_SELECT_DISABLED;
    assert_int_equal(hpa_up_limit(&b, &m, NOW, 7), 7);
    assert_int_equal(hpa_down_limit(&b, &m, NOW, 7), 7);
}

static void percentages_are_taken_in_doubles(void **state)
{
    (void)state;
    struct hpa_memory m = {0};
    struct hpa_behavior b = behavior();
    b.scaleUp.policy_count = b.scaleDown.policy_count = 1;
    b.scaleUp.policies[0] = (struct hpa_policy)PERCENT(10, 60);
    assert_int_equal(hpa_up_limit(&b, &m, NOW, 100), 111);
    assert_int_equal(hpa_up_limit(&b, &m, NOW, 50), 56);
    b.scaleDown.policies[0] = (struct hpa_policy)PERCENT(80, 60);
    assert_int_equal(hpa_down_limit(&b, &m, NOW, 5), 0);
    b.scaleDown.policies[0] = (struct hpa_policy)PERCENT(90, 60);
    assert_int_equal(hpa_down_limit(&b, &m, NOW, 10), 0);
}

static void the_legacy_cap_doubles_or_gives_four(void **state)
{
    (void)state;
    static const int32_t cases[][5] = {{5, 7, 3, 8, 7},        {3, 1, 2, 8, 2},
                                       {1, 0, 0, 10, 0},       {20, 1000, 1, 10, 10},
                                       {3, 1000, 1, 2000, 6},  {1, 1000, 1, 2000, 4},
                                       {0, 1000, 0, 2000, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int32_t *c = cases[i];
        assert_int_equal(hpa_limit_legacy(c[0], c[1], (struct hpa_bounds){c[2], c[3]}).replicas,
                         c[4]);
    }
}

static void an_old_event_gives_its_slot_to_the_next(void **state)
{
    (void)state;
    struct hpa_memory m = {0};
    struct hpa_behavior b = behavior();
    b.scaleUp.policy_count = 1;
    b.scaleUp.policies[0] = (struct hpa_policy)PODS(7, 60);
    hpa_events_store(&m, &b, NOW - 61 * SIM_SECOND, 1, 8);
    hpa_events_store(&m, &b, NOW - 30 * SIM_SECOND, 8, 10);
    assert_int_equal(m.up.count, 2);
    assert_int_equal(hpa_up_limit(&b, &m, NOW, 10), 15); /* 2 count: base 8 + 7 */
    hpa_events_store(&m, &b, NOW, 10, 13);
    assert_int_equal(m.up.count, 2);
    assert_int_equal(m.up.items[0].change, 3);
    assert_int_equal(m.up.items[1].change, 2);
    hpa_events_store(&m, &b, NOW, 13, 13);
    assert_int_equal(m.up.count, 2);
    hpa_memory_fini(&m);
}

static void an_event_one_period_old_no_longer_counts(void **state)
{
    (void)state;
    struct hpa_memory m = {0};
    struct hpa_behavior b = behavior();
    hpa_events_store(&m, &b, NOW, 4, 8);
    assert_int_equal(hpa_up_limit(&b, &m, NOW + 15 * SIM_SECOND - 1, 8), 8);
    assert_int_equal(hpa_up_limit(&b, &m, NOW + 15 * SIM_SECOND, 8), 16);
    assert_int_equal(hpa_events_next(&m, &b, NOW), NOW + 15 * SIM_SECOND);
    assert_true(hpa_events_next(&m, &b, NOW + 15 * SIM_SECOND) == SIM_NEVER);
    hpa_memory_fini(&m);
}

static void equal_recommendations_share_a_record(void **state)
{
    (void)state;
    struct hpa_memory m = {0};
    for (int i = 0; i < 1000; i++)
        hpa_memory_record(&m, i * SIM_SECOND, i < 500 ? 4 : 5, 300 * SIM_SECOND);
    assert_int_equal(m.record_count, 1); /* the 4s are older than 300 s */
    assert_int_equal(m.records[0].t, 999 * SIM_SECOND);
    hpa_memory_record(&m, 1000 * SIM_SECOND, 4, 300 * SIM_SECOND);
    assert_int_equal(m.record_count, 2);
    hpa_memory_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_look_at_past_recommendations),
        cmocka_unit_test(the_legacy_window_takes_the_largest),
        cmocka_unit_test(the_age_test_is_inclusive_in_legacy_only),
        cmocka_unit_test(rate_policies_and_bounds_limit_a_change),
        cmocka_unit_test(select_min_takes_the_smallest_change_and_disabled_none),
        cmocka_unit_test(percentages_are_taken_in_doubles),
        cmocka_unit_test(the_legacy_cap_doubles_or_gives_four),
        cmocka_unit_test(an_old_event_gives_its_slot_to_the_next),
        cmocka_unit_test(an_event_one_period_old_no_longer_counts),
        cmocka_unit_test(equal_recommendations_share_a_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
