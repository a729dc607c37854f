/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dominant resource shares against the values of Kueue's own tests. */
#include "tests/policies/cluster.h"

#include "models/policies/kueue/kq.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/share.h"

static struct kq_node *queue(struct cluster *c, uint32_t id)
{
    return &((struct kq *)c->policy)->cqs[id]->node;
}

static void expect_near(double got, double want)
{
    assert_true(got > want - 1e-9 && got < want + 1e-9);
}

/* One queue of `nominal`, another of `other`, and `use` on the first. */
static double share(int64_t nominal, int64_t other, int64_t use, double weight)
{
    struct cluster *c = cl_new();
    c->cfg.fair_sharing = true;
    cl_cohort(c, "cohort", POLICY_NONE, -1, CL_NIL, CL_NIL);
    cl_queue(c, "q", 0, nominal, CL_NIL, CL_NIL);
    cl_queue(c, "other", 0, other, CL_NIL, CL_NIL);
    c->queues[0].weight = weight;
    cl_start(c);
    kq_add(queue(c, 0), 0, use);
    const double s = c->ops->share(c->policy, POLICY_OBJ_CLUSTER_QUEUE, 0);
    cl_end(c);
    return s;
}

static void the_share_is_what_is_borrowed_over_what_is_lendable(void **state)
{
    (void)state;
    expect_near(share(5, 5, 7, 1.0), 200.0);
    expect_near(share(5, 5, 3, 1.0), 0.0);
    expect_near(share(5, 5, 7, 2.0), 100.0);
    expect_near(share(5, 5, 7, 0.5), 400.0);
    expect_near(share(500, 1000, 501, 1.0), 2.0 / 3.0);
    expect_near(share(500, 1000, 800, 300.0), 2.0 / 3.0);
}

static void weight_zero_and_borrowing_is_above_everything(void **state)
{
    (void)state;
    assert_true(share(5, 5, 7, 0.0) == -1.0); /* infinite */
    expect_near(share(5, 5, 5, 0.0), 0.0);
    const struct kq_share zero = {1.0, 0.0, true}, more = {2.0, 0.0, true}, big = {9e9, 1.0, true};
    assert_true(kq_share_compare(zero, big) > 0);
    assert_true(kq_share_compare(zero, more) < 0);
}

static void a_cohort_has_a_share_among_its_siblings(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_cohort(c, "root", POLICY_NONE, 45, CL_NIL, CL_NIL);
    cl_cohort(c, "child", 0, -1, CL_NIL, CL_NIL);
    c->cohorts[1].weight = 2.0;
    cl_queue(c, "cq", 1, 5, CL_NIL, CL_NIL);
    cl_start(c);
    kq_add(queue(c, 0), 0, 10);
    expect_near(c->ops->share(c->policy, POLICY_OBJ_CLUSTER_QUEUE, 0), 100.0);
    expect_near(c->ops->share(c->policy, POLICY_OBJ_COHORT, 1), 50.0);
    cl_end(c);
}

static void a_borrowing_limit_bounds_what_is_lendable(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_cohort(c, "root", POLICY_NONE, 50, CL_NIL, CL_NIL);
    cl_cohort(c, "child", 0, 0, 10, CL_NIL);
    cl_queue(c, "cq", 1, 0, CL_NIL, CL_NIL);
    cl_start(c);
    kq_add(queue(c, 0), 0, 10);
    expect_near(c->ops->share(c->policy, POLICY_OBJ_CLUSTER_QUEUE, 0), 1000.0);
    expect_near(c->ops->share(c->policy, POLICY_OBJ_COHORT, 1), 200.0);
    cl_end(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_is_what_is_borrowed_over_what_is_lendable),
        cmocka_unit_test(weight_zero_and_borrowing_is_above_everything),
        cmocka_unit_test(a_cohort_has_a_share_among_its_siblings),
        cmocka_unit_test(a_borrowing_limit_bounds_what_is_lendable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
