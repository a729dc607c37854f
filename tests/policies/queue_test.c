/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queues, wakes and flavor choice: rules of the specification that Kueue's tests name. */
#include "tests/policies/cluster.h"

static enum policy_place place(struct cluster *c, uint32_t id)
{
    return c->ops->place(c->policy, id);
}

static void best_effort_tries_the_next_one_and_strict_waits(void **state)
{
    (void)state;
    for (int strict = 0; strict <= 1; strict++) {
        struct cluster *c = cl_new();
        cl_queue(c, "q", POLICY_NONE, 4, CL_NIL, CL_NIL);
        c->queues[0].queueing = strict ? POLICY_STRICT_FIFO : POLICY_BEST_EFFORT_FIFO;
        cl_start(c);
        const uint32_t big = cl_submit(c, 1, 0, 0, 5);
        const uint32_t small = cl_submit(c, 2, 0, 0, 1);
        assert_int_equal(place(c, big), strict ? POLICY_PLACE_QUEUE : POLICY_PLACE_PARKED);
        assert_int_equal(c->admitted[small], !strict);
        cl_end(c);
    }
}

static void a_class_is_parked_in_bulk_and_blocked_until_the_flush(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_queue(c, "q", POLICY_NONE, 4, CL_NIL, CL_NIL);
    c->cfg.requeue_batch_ns = CL_S;
    cl_start(c);
    const uint32_t running = cl_submit(c, 1, 0, 0, 4);
    const uint32_t first = cl_submit(c, 2, 0, 0, 2), second = cl_submit(c, 3, 0, 0, 2);
    assert_int_equal(place(c, first), POLICY_PLACE_PARKED);
    assert_int_equal(place(c, second), POLICY_PLACE_PARKED); /* its shape is blocked */
    cl_give(c, 10, POLICY_IN_FINISHED, running);
    assert_false(c->admitted[first]); /* the wake comes a second later */
    assert_int_equal(settle_next(c->settle, false), 11 * (int64_t)CL_S);
    cl_settle(c, 11);
    assert_true(c->admitted[first] && c->admitted[second]);
    cl_end(c);
}

static void a_nil_namespace_selector_matches_nothing(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_queue(c, "q", POLICY_NONE, 4, CL_NIL, CL_NIL);
    c->queues[0].namespace_selector = NULL;
    cl_start(c);
    const uint32_t w = cl_submit(c, 1, 0, 0, 1);
    assert_false(c->admitted[w]);
    assert_int_equal(place(c, w), POLICY_PLACE_PARKED);
    cl_end(c);
}

static void a_held_queue_starts_nothing_and_a_change_wakes_it(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_queue(c, "q", POLICY_NONE, 4, CL_NIL, CL_NIL);
    c->queues[0].stop = POLICY_HOLD;
    cl_start(c);
    const uint32_t w = cl_submit(c, 1, 0, 0, 1);
    assert_false(c->admitted[w]);
    c->queues[0].stop = POLICY_RUN;
    const struct policy_input in = {.kind = POLICY_IN_OBJECT,
                                    .object_kind = POLICY_OBJ_CLUSTER_QUEUE,
                                    .object_id = 0,
                                    .object = &c->queues[0]};
    policy_settle(c->settle, 5 * (int64_t)CL_S, &in, 1);
    assert_true(c->admitted[w]);
    cl_end(c);
}

/* Spec 4.6: A nominal 10 with borrowing limit 1, B nominal 10; A is used by 2, another queue of
 * the cohort offers 1 of A; a request of 9 fits on A only by borrowing. */
static void borrowing_may_try_the_next_flavor(void **state)
{
    (void)state;
    for (int next = 0; next <= 1; next++) {
        struct cluster *c = cl_new();
        c->cfg.flavor_count = 2;
        cl_cohort(c, "cohort", POLICY_NONE, -1, CL_NIL, CL_NIL);
        cl_queue(c, "q", 0, 0, CL_NIL, CL_NIL);
        cl_queue(c, "other", 0, 1, CL_NIL, CL_NIL);
        const struct policy_quota two[] = {{10, 1, CL_NIL}, {10, CL_NIL, CL_NIL}};
        c->queues[0].groups = cl_group(c, 2, two);
        c->queues[0].when_can_borrow = next ? POLICY_TRY_NEXT_FLAVOR : POLICY_MAY_STOP_SEARCH;
        cl_start(c);
        cl_submit(c, 1, 0, 0, 2);
        const uint32_t w = cl_submit(c, 2, 0, 0, 9);
        struct policy_quota_state on_b;
        assert_true(c->admitted[w]);
        assert_true(c->ops->quota(c->policy, POLICY_OBJ_CLUSTER_QUEUE, 0, 1, 0, &on_b));
        assert_int_equal(on_b.used, next ? 9 : 0);
        assert_int_equal(c->last_admit.borrowing_level, next ? 0 : 1);
        cl_end(c);
    }
}

static void partial_admission_takes_the_largest_count_that_fits(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_queue(c, "q", POLICY_NONE, 7, CL_NIL, CL_NIL);
    cl_start(c);
    cl_submit_shape(c, 1, 0, 0, cl_shape(c, 10, 3, 1));
    assert_int_equal(c->admit_count, 1);
    assert_int_equal(cl_quota(c, POLICY_OBJ_CLUSTER_QUEUE, 0).used, 7);
    cl_end(c);
}

static void a_withdrawn_workload_leaves_nothing_behind(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_queue(c, "q", POLICY_NONE, 4, CL_NIL, CL_NIL);
    cl_start(c);
    const uint32_t a = cl_submit(c, 1, 0, 0, 3), b = cl_submit(c, 2, 0, 0, 3);
    assert_int_equal(c->ops->pending_count(c->policy, 0), 1);
    cl_give(c, 3, POLICY_IN_WITHDRAW, b);
    assert_int_equal(c->ops->pending_count(c->policy, 0), 0);
    cl_give(c, 4, POLICY_IN_WITHDRAW, a);
    assert_int_equal(c->ops->admitted_count(c->policy, 0), 0);
    assert_int_equal(cl_quota(c, POLICY_OBJ_CLUSTER_QUEUE, 0).used, 0);
    cl_end(c);
}

static void unknown_gates_and_profiles_are_refused(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    char error[256];
    const struct policy_gate gate = {"NoSuchGate", true};
    c->cfg.gates = &gate;
    c->cfg.gate_count = 1;
    assert_null(policy_kueue()->create(&c->cfg, NULL, error, sizeof error));
    assert_string_equal(error, "unknown feature gate 'NoSuchGate'");
    c->cfg.gate_count = 0;
    c->cfg.profile = "v0.1";
    assert_null(policy_kueue()->create(&c->cfg, NULL, error, sizeof error));
    assert_non_null(strstr(error, "unknown profile 'v0.1'"));
    free(c);
}

static void cohorts_in_a_circle_make_their_queues_inactive(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_cohort(c, "a", 1, 9, CL_NIL, CL_NIL);
    cl_cohort(c, "b", 0, 9, CL_NIL, CL_NIL);
    cl_queue(c, "q", 0, 4, CL_NIL, CL_NIL);
    cl_start(c);
    const uint32_t w = cl_submit(c, 1, 0, 0, 1);
    assert_false(c->admitted[w]);
    c->cohorts[1].parent = POLICY_NONE;
    const struct policy_input in = {.kind = POLICY_IN_OBJECT,
                                    .object_kind = POLICY_OBJ_COHORT,
                                    .object_id = 1,
                                    .object = &c->cohorts[1]};
    policy_settle(c->settle, 2 * (int64_t)CL_S, &in, 1);
    assert_true(c->admitted[w]);
    cl_end(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_effort_tries_the_next_one_and_strict_waits),
        cmocka_unit_test(a_class_is_parked_in_bulk_and_blocked_until_the_flush),
        cmocka_unit_test(a_nil_namespace_selector_matches_nothing),
        cmocka_unit_test(a_held_queue_starts_nothing_and_a_change_wakes_it),
        cmocka_unit_test(borrowing_may_try_the_next_flavor),
        cmocka_unit_test(partial_admission_takes_the_largest_count_that_fits),
        cmocka_unit_test(a_withdrawn_workload_leaves_nothing_behind),
        cmocka_unit_test(unknown_gates_and_profiles_are_refused),
        cmocka_unit_test(cohorts_in_a_circle_make_their_queues_inactive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
