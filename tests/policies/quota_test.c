/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quota arithmetic against the inputs and results of Kueue's own TestAvailable. */
#include "tests/policies/cluster.h"

#include "models/policies/kueue/kq.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/quantity.h"

static struct kq_node *queue(struct cluster *c, uint32_t id)
{
    return &((struct kq *)c->policy)->cqs[id]->node;
}

static void expect(struct cluster *c, uint32_t id, int64_t available, int64_t potential)
{
    const struct kq_node *n = queue(c, id);
    assert_int_equal(kq_max(0, kq_available(n, 0)), available);
    assert_int_equal(n->q[0].potential, potential);
}

static void without_a_cohort_usage_above_quota_is_clamped(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_queue(c, "cq1", POLICY_NONE, 0, CL_NIL, CL_NIL);
    cl_queue(c, "cq2", POLICY_NONE, 5000, CL_NIL, CL_NIL);
    cl_start(c);
    kq_add(queue(c, 0), 0, 1000);
    kq_add(queue(c, 1), 0, 2500);
    expect(c, 0, 0, 0);
    expect(c, 1, 2500, 5000);
    cl_end(c);
}

static void a_cohort_offers_its_own_quota_and_what_is_lent(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_cohort(c, "cohort", POLICY_NONE, 10000, CL_NIL, CL_NIL);
    cl_queue(c, "cq1", 0, 10000, CL_NIL, CL_NIL);
    cl_queue(c, "cq2", 0, 10000, CL_NIL, 9000);
    cl_start(c);
    kq_add(queue(c, 0), 0, 1000);
    kq_add(queue(c, 1), 0, 500);
    expect(c, 0, 28000, 29000);
    expect(c, 1, 28500, 30000);
    cl_end(c);
}

static void a_queue_borrows_from_its_cohort(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_cohort(c, "cohort", POLICY_NONE, 10, CL_NIL, CL_NIL);
    cl_queue(c, "cq1", 0, 10, CL_NIL, CL_NIL);
    cl_start(c);
    kq_add(queue(c, 0), 0, 11);
    expect(c, 0, 9, 20);
    cl_end(c);
}

static void oversubscription_spills_into_the_cohort(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_cohort(c, "cohort", POLICY_NONE, 10, CL_NIL, CL_NIL);
    cl_queue(c, "cq1", 0, 10, CL_NIL, CL_NIL);
    cl_queue(c, "cq2", 0, 10, 0, 0);
    cl_start(c);
    kq_add(queue(c, 0), 0, 31);
    assert_int_equal(kq_available(queue(c, 0), 0), -11);
    assert_int_equal(kq_available(queue(c, 1), 0), -1);
    expect(c, 0, 0, 20);
    expect(c, 1, 0, 10);
    cl_end(c);
}

static void lending_and_borrowing_limits_are_respected(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_cohort(c, "cohort", POLICY_NONE, 10, CL_NIL, CL_NIL);
    cl_queue(c, "cq1", 0, 10, CL_NIL, CL_NIL);
    cl_queue(c, "cq2", 0, 10, 2, CL_NIL);
    cl_queue(c, "cq3", 0, 10, CL_NIL, 5);
    cl_start(c);
    kq_add(queue(c, 0), 0, 20);
    kq_add(queue(c, 1), 0, 10);
    kq_add(queue(c, 2), 0, 6);
    expect(c, 0, 4, 35);
    expect(c, 1, 2, 12);
    expect(c, 2, 4, 40);
    cl_end(c);
}

static void a_hierarchy_shares_what_it_lends(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_cohort(c, "root", POLICY_NONE, -1, CL_NIL, CL_NIL);
    cl_cohort(c, "left", 0, 10, CL_NIL, CL_NIL);
    cl_cohort(c, "right", 0, 10, CL_NIL, CL_NIL);
    cl_queue(c, "cq1", 1, 10, CL_NIL, CL_NIL);
    cl_queue(c, "cq2", 2, 10, CL_NIL, 0);
    cl_start(c);
    kq_add(queue(c, 0), 0, 10);
    kq_add(queue(c, 1), 0, 5);
    expect(c, 0, 20, 30);
    expect(c, 1, 25, 40);
    cl_end(c);
}

static void a_hierarchy_respects_borrowing_limits(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_cohort(c, "root", POLICY_NONE, -1, CL_NIL, CL_NIL);
    cl_cohort(c, "left", 0, 10, 5, CL_NIL);
    cl_cohort(c, "right", 0, 10, CL_NIL, CL_NIL);
    cl_queue(c, "l1", 1, 10, CL_NIL, CL_NIL);
    cl_queue(c, "l2", 1, 10, 5, CL_NIL);
    cl_queue(c, "r", 2, 10, CL_NIL, CL_NIL);
    cl_start(c);
    expect(c, 0, 35, 35);
    expect(c, 1, 15, 15);
    expect(c, 2, 50, 50);
    cl_end(c);
}

static void a_hierarchy_respects_lending_limits(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_cohort(c, "root", POLICY_NONE, -1, CL_NIL, CL_NIL);
    cl_cohort(c, "left", 0, 0, CL_NIL, 5);
    cl_cohort(c, "right", 0, 0, CL_NIL, CL_NIL);
    cl_queue(c, "l1", 1, 10, CL_NIL, 5);
    cl_queue(c, "l2", 1, 10, CL_NIL, CL_NIL);
    cl_queue(c, "r", 2, 0, CL_NIL, CL_NIL);
    cl_queue(c, "root-cq", 0, 0, CL_NIL, CL_NIL);
    cl_start(c);
    expect(c, 0, 20, 20);
    expect(c, 1, 15, 15);
    expect(c, 2, 5, 5);
    expect(c, 3, 5, 5);
    cl_end(c);
}

static void usage_spills_and_comes_back_step_by_step(void **state)
{
    (void)state;
    static const struct {
        int64_t change, use1, use, available1, available2;
    } steps[] = {{4, 4, 0, 11, 9},  {5, 9, 3, 6, 6},  {3, 12, 6, 3, 3},
                 {-5, 7, 1, 8, 8}, {-3, 4, 0, 11, 9}};
    struct cluster *c = cl_new();
    cl_cohort(c, "cohort", POLICY_NONE, -1, CL_NIL, CL_NIL);
    cl_queue(c, "cq1", 0, 10, CL_NIL, 4);
    cl_queue(c, "cq2", 0, 5, CL_NIL, CL_NIL);
    cl_start(c);
    expect(c, 0, 15, 15);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (steps[i].change > 0)
            kq_add(queue(c, 0), 0, steps[i].change);
        else
            kq_remove(queue(c, 0), 0, -steps[i].change);
        assert_int_equal(queue(c, 0)->q[0].use, steps[i].use1);
        assert_int_equal(queue(c, 0)->parent->q[0].use, steps[i].use);
        assert_int_equal(kq_available(queue(c, 0), 0), steps[i].available1);
        assert_int_equal(kq_available(queue(c, 1), 0), steps[i].available2);
    }
    cl_end(c);
}

static void unlimited_absorbs(void **state)
{
    (void)state;
    const int64_t u = POLICY_UNLIMITED;
    assert_int_equal(kq_plus(u, 5), u);
    assert_int_equal(kq_minus(u, 5), u);
    assert_int_equal(kq_minus(u, u), 0);
    assert_int_equal(kq_minus(5, u), INT64_MIN);
    assert_int_equal(kq_plus(INT64_MAX - 1, 5), u);
    assert_int_equal(kq_times(INT64_MAX / 2, 3), u);
}

static void quantities_round_up_to_their_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool milli;
        int64_t amount;
    } rows[] = {{"8", false, 8},         {"8", true, 8000},          {"500m", true, 500},
                {"0.1m", true, 1},       {"1500m", false, 2},        {"1Gi", false, 1073741824},
                {"1.5Ki", false, 1536},  {"1e3", false, 1000},       {"1E", false, 1000000000000000000},
                {"1e30", false, POLICY_UNLIMITED}, {"9223372036854775807", true, POLICY_UNLIMITED},
                {"100n", true, 1},       {"0", true, 0},             {"-2", false, -2}};
    int64_t v;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(quantity_parse(rows[i].text, rows[i].milli, &v));
        assert_int_equal(v, rows[i].amount);
    }
    static const char *const bad[] = {"", "x", "1x", "1e", "--1", "1..2", "Ki", "1 "};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(quantity_parse(bad[i], false, &v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_cohort_usage_above_quota_is_clamped),
        cmocka_unit_test(a_cohort_offers_its_own_quota_and_what_is_lent),
        cmocka_unit_test(a_queue_borrows_from_its_cohort),
        cmocka_unit_test(oversubscription_spills_into_the_cohort),
        cmocka_unit_test(lending_and_borrowing_limits_are_respected),
        cmocka_unit_test(a_hierarchy_shares_what_it_lends),
        cmocka_unit_test(a_hierarchy_respects_borrowing_limits),
        cmocka_unit_test(a_hierarchy_respects_lending_limits),
        cmocka_unit_test(usage_spills_and_comes_back_step_by_step),
        cmocka_unit_test(unlimited_absorbs),
        cmocka_unit_test(quantities_round_up_to_their_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
