/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Worked examples of both searches for victims, with the values of Kueue's own tables. */
#include "tests/policies/cluster.h"

static void expect_victims(struct cluster *c, uint32_t n, const uint32_t *victims,
                           enum policy_evict_reason reason)
{
    assert_int_equal(c->evicted_count, n);
    for (uint32_t i = 0; i < n; i++) {
        bool found = false;
        for (uint32_t v = 0; v < n; v++)
            found |= c->evicted[v].victim == victims[i];
        assert_true(found);
        assert_int_equal(c->evicted[i].reason, reason);
    }
}

static struct cluster *alone(uint32_t ids[3])
{
    struct cluster *c = cl_new();
    c->settling.eviction_ns = 100 * (int64_t)CL_S;
    cl_queue(c, "q", POLICY_NONE, 6, CL_NIL, CL_NIL);
    c->queues[0].within_cluster_queue = POLICY_LOWER_PRIORITY;
    cl_start(c);
    ids[0] = cl_submit(c, 1, 0, -1, 2); /* low */
    ids[1] = cl_submit(c, 2, 0, 0, 2);  /* mid */
    ids[2] = cl_submit(c, 3, 0, 1, 2);  /* high */
    assert_int_equal(c->admit_count, 3);
    cl_forget(c);
    return c;
}

static void the_lowest_priority_goes_first(void **state)
{
    (void)state;
    uint32_t ids[3];
    struct cluster *c = alone(ids);
    cl_submit(c, 4, 0, 1, 2);
    expect_victims(c, 1, &ids[0], POLICY_EVICT_IN_CLUSTER_QUEUE);
    cl_end(c);
    c = alone(ids);
    cl_submit(c, 4, 0, 1, 4);
    expect_victims(c, 2, ids, POLICY_EVICT_IN_CLUSTER_QUEUE);
    cl_end(c);
}

/* c1 and c2 with nominal 6 and borrowing limit 6; c2 uses 12. */
static struct cluster *borrowed(enum policy_preemption reclaim, uint32_t *last)
{
    struct cluster *c = cl_new();
    c->settling.eviction_ns = 100 * (int64_t)CL_S;
    cl_cohort(c, "cohort", POLICY_NONE, -1, CL_NIL, CL_NIL);
    cl_queue(c, "c1", 0, 6, 6, CL_NIL);
    cl_queue(c, "c2", 0, 6, 6, CL_NIL);
    c->queues[0].reclaim_within_cohort = reclaim;
    cl_start(c);
    for (int i = 0; i < 4; i++)
        *last = cl_submit(c, 1 + i, 1, 0, 3);
    assert_int_equal(c->admit_count, 4);
    cl_forget(c);
    return c;
}

static void a_lender_reclaims_from_the_borrower(void **state)
{
    (void)state;
    uint32_t last;
    struct cluster *c = borrowed(POLICY_LOWER_PRIORITY, &last);
    cl_submit(c, 9, 0, 1, 3);
    expect_victims(c, 1, &last, POLICY_EVICT_IN_COHORT_RECLAMATION);
    cl_end(c);
    c = borrowed(POLICY_LOWER_PRIORITY, &last);
    cl_submit(c, 9, 0, 0, 3); /* the same priority is not lower */
    assert_int_equal(c->evicted_count, 0);
    cl_end(c);
    c = borrowed(POLICY_ANY, &last);
    cl_submit(c, 9, 0, -5, 3);
    expect_victims(c, 1, &last, POLICY_EVICT_IN_COHORT_RECLAMATION);
    cl_end(c);
}

static void a_subtree_has_rights_over_its_own_quota(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    c->settling.eviction_ns = 100 * (int64_t)CL_S;
    cl_cohort(c, "r", POLICY_NONE, -1, CL_NIL, CL_NIL);
    cl_cohort(c, "c", 0, 2, CL_NIL, CL_NIL);
    cl_queue(c, "q", 1, 0, CL_NIL, CL_NIL);
    cl_queue(c, "q_borrowing", 0, 0, CL_NIL, CL_NIL);
    c->queues[0].reclaim_within_cohort = POLICY_ANY;
    cl_start(c);
    const uint32_t victim = cl_submit(c, 1, 1, 5, 2);
    assert_int_equal(c->admit_count, 1);
    cl_submit(c, 2, 0, 0, 2);
    expect_victims(c, 1, &victim, POLICY_EVICT_IN_COHORT_RECLAMATION);
    cl_end(c);
}

static void a_threshold_protects_higher_priorities_from_borrowers(void **state)
{
    (void)state;
    for (int64_t priority = 0; priority <= 1; priority++) {
        struct cluster *c = cl_new();
        c->settling.eviction_ns = 100 * (int64_t)CL_S;
        cl_cohort(c, "cohort", POLICY_NONE, -1, CL_NIL, CL_NIL);
        cl_queue(c, "c1", 0, 2, CL_NIL, CL_NIL);
        cl_queue(c, "c2", 0, 2, CL_NIL, CL_NIL);
        c->queues[0].reclaim_within_cohort = POLICY_ANY;
        c->queues[0].borrow_within_cohort = POLICY_LOWER_PRIORITY;
        c->queues[0].max_priority_threshold = 0;
        cl_start(c);
        const uint32_t victim = cl_submit(c, 1, 1, priority, 4);
        assert_int_equal(c->admit_count, 1);
        cl_submit(c, 2, 0, 2, 3); /* would end up borrowing */
        if (priority == 0)
            expect_victims(c, 1, &victim, POLICY_EVICT_IN_COHORT_RECLAIM_WHILE_BORROWING);
        else
            assert_int_equal(c->evicted_count, 0);
        cl_end(c);
    }
}

/* ---- fair sharing: a, b, c with nominal 3, preemptible with 0 ---- */

struct row {
    const char *admitted; /* "a1 a1 b5": queue and amount, in order; ids from 0 */
    int64_t priorities[12];
    char queue;
    int64_t amount;
    int strategies; /* 0: both, 1: only the first, 2: only the second */
    uint32_t victims[4], victim_count;
    enum policy_evict_reason reason;
};

static void play_row(const struct row *r)
{
    struct cluster *c = cl_new();
    c->settling.eviction_ns = 100 * (int64_t)CL_S;
    c->cfg.fair_sharing = true;
    c->cfg.strategy_count = r->strategies != 0;
    c->cfg.strategies[0] =
        r->strategies == 2 ? POLICY_LESS_THAN_INITIAL_SHARE : POLICY_LESS_OR_EQUAL_FINAL_SHARE;
    cl_cohort(c, "all", POLICY_NONE, -1, CL_NIL, CL_NIL);
    for (int i = 0; i < 3; i++) {
        cl_queue(c, (const char *[]){"a", "b", "c"}[i], 0, 3, CL_NIL, CL_NIL);
        c->queues[i].within_cluster_queue = POLICY_LOWER_PRIORITY;
        c->queues[i].reclaim_within_cohort = POLICY_ANY;
    }
    cl_queue(c, "preemptible", 0, 0, CL_NIL, CL_NIL);
    cl_start(c);
    /* All reserved in the same second: the UID decides among equals, as in the real table. */
    struct policy_input in[12];
    uint32_t n = 0;
    for (const char *p = r->admitted; *p != '\0'; p += p[2] == ' ' ? 3 : 2, n++) {
        c->workloads[n] = (struct policy_workload){.id = n,
                                                   .local_queue = (uint32_t)(p[0] - 'a'),
                                                   .shape = cl_shape(c, 1, CL_NIL, p[1] - '0'),
                                                   .priority = r->priorities[n],
                                                   .uid_order = n,
                                                   .name_order = n};
        in[n] = (struct policy_input){.kind = POLICY_IN_SUBMIT, .submit = &c->workloads[n]};
    }
    c->workload_count = n;
    policy_settle(c->settle, CL_S, in, n);
    assert_int_equal(c->admit_count, n);
    cl_forget(c);
    const struct policy_workload w = {.id = n,
                                      .local_queue = (uint32_t)(r->queue - 'a'),
                                      .shape = cl_shape(c, 1, CL_NIL, r->amount),
                                      .priority = r->priorities[n],
                                      .created_ns = 2 * (int64_t)CL_S,
                                      .uid_order = n,
                                      .name_order = n};
    const struct policy_input submit = {.kind = POLICY_IN_SUBMIT, .submit = &w};
    policy_settle(c->settle, 2 * (int64_t)CL_S, &submit, 1);
    expect_victims(c, r->victim_count, r->victims, r->reason);
    cl_end(c);
}

static void fair_sharing_picks_the_victims_of_the_table(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"a1 a1 a1 b1 b1 b1 b1 b1 c1", {0}, 'c', 1, 0, {3}, 1, POLICY_EVICT_IN_COHORT_RECLAMATION},
        {"a1 a1 a1 b1 b1 b1 b1 b1 c1", {0}, 'a', 1, 0, {3}, 1, POLICY_EVICT_IN_COHORT_FAIR_SHARING},
        {"a1 a1 a1 b1 b1 b1 b1 b1", {0}, 'a', 2, 0, {0}, 0, POLICY_EVICT_IN_CLUSTER_QUEUE},
        {"b9", {0}, 'a', 2, 0, {0}, 1, POLICY_EVICT_IN_COHORT_RECLAMATION},
        {"a2 b7", {0}, 'a', 5, 0, {0}, 0, POLICY_EVICT_IN_CLUSTER_QUEUE},
        {"b2 b2 b3", {0}, 'a', 6, 0, {0}, 0, POLICY_EVICT_IN_CLUSTER_QUEUE},
        {"a3 b5 b1", {0, 0, 1, 0}, 'a', 1, 2, {1}, 1, POLICY_EVICT_IN_COHORT_FAIR_SHARING},
        {"a3 b5 b1", {0, 0, 1, 0}, 'a', 1, 1, {2}, 1, POLICY_EVICT_IN_COHORT_FAIR_SHARING},
        {"a1 a1 a1 a1 b1 b1 b1 b1 b1", {-1, -1, 0}, 'a', 2, 0, {0, 1}, 2, POLICY_EVICT_IN_CLUSTER_QUEUE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        play_row(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_priority_goes_first),
        cmocka_unit_test(a_lender_reclaims_from_the_borrower),
        cmocka_unit_test(a_subtree_has_rights_over_its_own_quota),
        cmocka_unit_test(a_threshold_protects_higher_priorities_from_borrowers),
        cmocka_unit_test(fair_sharing_picks_the_victims_of_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
