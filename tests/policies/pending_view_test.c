/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pending view beside the policy that it follows, and its alarms. */
#include "tests/policies/cluster.h"

#include "models/policies/pending_view.h"
#include "sim/rng.h"

enum { MINUTE = 60 };

struct followed {
    struct cluster *c;
    struct pending_view *view;
    int64_t held[CL_WL_MAX]; /* from the log of decisions */
    int64_t asks[CL_WL_MAX];
};

static void name(void *ctx, uint32_t workload, char text[PENDING_NAME_SIZE])
{
    (void)ctx;
    (void)snprintf(text, PENDING_NAME_SIZE, "w%u", workload);
}

static void follow(void *ctx, int64_t now, const struct policy_output *o, size_t n)
{
    struct followed *f = ctx;
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = o[i].workload;
        if (o[i].kind == POLICY_DO_ADMIT)
            f->held[id] = f->asks[id];
        pending_output(f->view, now, &o[i], o[i].kind == POLICY_DO_ADMIT ? f->c->workloads[id].shape : 0, 0);
        if (o[i].kind == POLICY_DO_EVICT && f->c->settling.eviction_ns == 0) {
            f->held[id] = 0;
            pending_release(f->view, now, id);
        }
    }
}

static void start(struct followed *f, struct cluster *c, int64_t patience_s)
{
    static const double units[] = {1.0};
    char error[256];
    memset(f, 0, sizeof *f);
    f->c = c;
    c->cfg.record_pending = true;
    c->ops = policy_kueue();
    c->policy = c->ops->create(&c->cfg, NULL, error, sizeof error);
    assert_non_null(c->policy);
    const struct pending_options o = {.config = &c->cfg, .ops = c->ops, .policy = c->policy,
                                      .patience_ns = patience_s * CL_S, .main_resource = 0, .units = units, .name = name};
    f->view = pending_create(&o);
    const struct settle_host host = {.ctx = f, .apply = follow};
    c->settle = settle_create(c->ops, c->policy, &c->settling, &host);
}

static void end(struct followed *f)
{
    pending_destroy(f->view);
    cl_end(f->c);
}

static uint32_t submit(struct followed *f, int64_t at_s, uint32_t queue, int64_t priority, int64_t amount)
{
    const struct policy_amount a = {0, amount};
    const struct policy_pod_set set = {.name = "main", .count = 1, .min_count = POLICY_NIL, .requests = &a,
                                       .request_count = 1};
    const struct policy_shape shape = {&set, 1};
    const uint32_t id = f->c->ops->register_shape(f->c->policy, &shape);
    pending_shape(f->view, id, &shape);
    f->asks[f->c->workload_count] = amount;
    const uint32_t w = cl_submit_shape(f->c, at_s, queue, priority, id);
    pending_settled(f->view, at_s * CL_S);
    return w;
}

static void finish(struct followed *f, int64_t at_s, uint32_t workload)
{
    f->held[workload] = 0;
    pending_release(f->view, at_s * CL_S, workload);
    cl_give(f->c, at_s, POLICY_IN_FINISHED, workload);
    pending_settled(f->view, at_s * CL_S);
}

/* ---- figures ---- */

static void add_waiting(void *arg, const struct policy_pending *group)
{
    int64_t *sum = arg;
    sum[group->shape] += group->count;
}

static void compare(struct followed *f)
{
    struct cluster *c = f->c;
    const struct qflow *flow = pending_flow(f->view);
    int64_t shape_amount[CL_WL_MAX] = {0};
    for (uint32_t w = 0; w < c->workload_count; w++)
        shape_amount[c->workloads[w].shape] = f->asks[w];
    for (uint32_t q = 0; q < c->cfg.cluster_queue_count; q++) {
        const struct qflow_state s = qflow_state(flow, qflow_cell(flow, POLICY_OBJ_CLUSTER_QUEUE, q, 0, 0));
        const struct policy_quota_state k = cl_quota(c, POLICY_OBJ_CLUSTER_QUEUE, q);
        int64_t held = 0, waiting = 0, counts[CL_WL_MAX] = {0};
        for (uint32_t w = 0; w < c->workload_count; w++)
            held += c->workloads[w].local_queue == q ? f->held[w] : 0;
        c->ops->pending(c->policy, q, add_waiting, counts);
        for (uint32_t i = 0; i < CL_WL_MAX; i++)
            waiting += counts[i] * shape_amount[i];
        assert_int_equal(s.reserved, held);
        assert_int_equal(s.admitted, held);
        assert_int_equal(s.used, k.used);
        assert_int_equal(s.pending, waiting);
        assert_int_equal(s.borrowed + s.over, k.borrowed);
        assert_true(s.free >= -1e-9);
    }
    for (uint32_t h = 0; h < c->cfg.cohort_count; h++) {
        const struct qflow_state s = qflow_state(flow, qflow_cell(flow, POLICY_OBJ_COHORT, h, 0, 0));
        const struct policy_quota_state k = cl_quota(c, POLICY_OBJ_COHORT, h);
        assert_int_equal(s.used, k.used);
        assert_int_equal(s.subtree, k.subtree);
        assert_int_equal(s.borrowed + s.over, k.borrowed);
    }
}

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = rng_hash(*state + 1);
    return *state % below;
}

/* Random trees, arrivals, ends and evictions. */
static void figures_are_those_of_the_policy(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct cluster *c = cl_new();
        struct followed f;
        uint64_t r = seed;
        const uint32_t top = cl_cohort(c, "top", POLICY_NONE, (int64_t)draw(&r, 3) * 4, CL_NIL, CL_NIL);
        const uint32_t low = cl_cohort(c, "low", top, (int64_t)draw(&r, 3) * 4, CL_NIL, draw(&r, 2) == 0 ? (int64_t)draw(&r, 9) : CL_NIL);
        static const char *const names[] = {"a", "b", "c", "d"};
        for (uint32_t q = 0; q < 4; q++) {
            cl_queue(c, names[q], q < 2 ? low : top, (int64_t)draw(&r, 12), draw(&r, 3) == 0 ? (int64_t)draw(&r, 9) : CL_NIL,
                     draw(&r, 3) == 0 ? (int64_t)draw(&r, 9) : CL_NIL);
            c->queues[q].queueing = draw(&r, 2) == 0 ? POLICY_STRICT_FIFO : POLICY_BEST_EFFORT_FIFO;
            c->queues[q].within_cluster_queue = draw(&r, 2) == 0 ? POLICY_LOWER_PRIORITY : POLICY_NEVER_PREEMPT;
            c->queues[q].reclaim_within_cohort = draw(&r, 2) == 0 ? POLICY_ANY : POLICY_NEVER_PREEMPT;
        }
        start(&f, c, MINUTE);
        for (int64_t t = 0; t < 120; t++) {
            const uint32_t w = c->workload_count > 0 ? (uint32_t)draw(&r, c->workload_count) : 0;
            if (draw(&r, 2) == 0)
                submit(&f, t, (uint32_t)draw(&r, 4), (int64_t)draw(&r, 3), (int64_t)draw(&r, 8) + 1);
            else if (c->workload_count > 0 && f.held[w] > 0)
                finish(&f, t, w);
            else
                cl_settle(c, t);
            compare(&f);
        }
        end(&f);
    }
}

/* ---- alarms ---- */

/* "owner" has 8 and lends, "guest" has 4 and borrows all of it at second 0 (priority 5). */
static struct cluster *lent_out(enum policy_preemption reclaim)
{
    struct cluster *c = cl_new();
    const uint32_t all = cl_cohort(c, "all", POLICY_NONE, -1, CL_NIL, CL_NIL);
    cl_queue(c, "owner", all, 8, CL_NIL, CL_NIL);
    cl_queue(c, "guest", all, 4, CL_NIL, CL_NIL);
    c->queues[0].reclaim_within_cohort = reclaim;
    return c;
}

static const struct pending_alarm *only_alarm(struct followed *f, int64_t at_s)
{
    const struct pending_alarm *a;
    size_t count;
    pending_finish(f->view, at_s * CL_S);
    assert_int_equal(pending_alarms(f->view, &a, &count), 1);
    assert_int_equal(count, 1);
    return a;
}

static void assert_none(struct followed *f, int64_t at_s)
{
    const struct pending_alarm *a;
    size_t count;
    pending_finish(f->view, at_s * CL_S);
    assert_int_equal(pending_alarms(f->view, &a, &count), 0);
}

static void an_owner_whose_quota_is_lent_for_good_raises_an_alarm(void **state)
{
    (void)state;
    struct followed f;
    start(&f, lent_out(POLICY_NEVER_PREEMPT), MINUTE);
    const uint32_t guest = submit(&f, 0, 1, 5, 12);
    submit(&f, 10, 0, 5, 6);
    finish(&f, 310, guest);
    cl_settle(f.c, 311);
    pending_settled(f.view, INT64_C(311) * CL_S);
    const struct pending_alarm *a = only_alarm(&f, 400);
    assert_int_equal(a->from_ns, INT64_C(10) * CL_S);
    assert_int_equal(a->to_ns, INT64_C(310) * CL_S);
    assert_string_equal(a->workload, "w1");
    assert_string_equal(a->reason, "QuotaInUse");
    assert_non_null(strstr(a->why, "asks 6 gpu; one: nominal 8 − used 0 = 8 left, available 0; cohort all uses 12 of 12"));
    assert_non_null(strstr(a->why, "reclaimWithinCohort is Never"));
    end(&f);
}

static void a_short_wait_is_no_alarm(void **state)
{
    (void)state;
    struct followed f;
    start(&f, lent_out(POLICY_NEVER_PREEMPT), MINUTE);
    const uint32_t guest = submit(&f, 0, 1, 5, 12);
    submit(&f, 10, 0, 5, 6);
    finish(&f, 70, guest);
    assert_none(&f, 400);
    end(&f);
}

static void a_head_that_asks_for_more_than_is_left_is_no_alarm(void **state)
{
    (void)state;
    struct followed f;
    start(&f, lent_out(POLICY_NEVER_PREEMPT), MINUTE);
    submit(&f, 0, 1, 5, 12);
    submit(&f, 10, 0, 5, 9);
    submit(&f, 11, 0, 4, 1); /* fits, but is not the head */
    assert_none(&f, 4000);
    end(&f);
}

static void victims_that_do_not_let_go_are_named(void **state)
{
    (void)state;
    struct followed f;
    struct cluster *c = lent_out(POLICY_ANY);
    c->settling.eviction_ns = 600 * (int64_t)CL_S;
    start(&f, c, MINUTE);
    submit(&f, 0, 1, 0, 12);
    submit(&f, 10, 0, 5, 6);
    const struct pending_alarm *a = only_alarm(&f, 500);
    assert_string_equal(a->reason, "PendingPreemption");
    assert_int_equal(a->from_ns, INT64_C(10) * CL_S);
    end(&f);
}

static void a_stopped_queue_is_named(void **state)
{
    (void)state;
    struct followed f;
    struct cluster *c = cl_new();
    cl_queue(c, "held", POLICY_NONE, 8, CL_NIL, CL_NIL);
    c->queues[0].stop = POLICY_HOLD;
    start(&f, c, MINUTE);
    submit(&f, 0, 0, 0, 8);
    assert_string_equal(only_alarm(&f, 500)->reason, "Stopped");
    end(&f);
}

/* ---- what can never fit ---- */

static void what_no_quota_can_ever_hold_is_told_with_numbers(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    struct policy_numbers n;
    const uint32_t all = cl_cohort(c, "all", POLICY_NONE, -1, CL_NIL, CL_NIL);
    cl_queue(c, "limited", all, 8, 2, CL_NIL);
    cl_queue(c, "other", all, 20, CL_NIL, 5);
    cl_start(c);
    assert_true(c->ops->may_fit(c->policy, 0, cl_shape(c, 1, POLICY_NIL, 10), &n));
    assert_false(c->ops->may_fit(c->policy, 0, cl_shape(c, 1, POLICY_NIL, 11), &n));
    assert_int_equal(n.requested, 11);
    assert_int_equal(n.potential, 10);
    assert_true(c->ops->may_fit(c->policy, 0, cl_shape(c, 11, 10, 1), &n)); /* with fewer pods */
    assert_true(c->ops->may_fit(c->policy, 1, cl_shape(c, 28, POLICY_NIL, 1), &n));
    assert_false(c->ops->may_fit(c->policy, 1, cl_shape(c, 29, POLICY_NIL, 1), &n));
    cl_end(c);
}

struct reached {
    struct policy_reach last;
    uint32_t count;
};

static void keep_reach(void *arg, const struct policy_reach *r)
{
    struct reached *k = arg;
    k->last = *r;
    k->count++;
}

/* limited: its 8 and borrowingLimit 2. other: the 15 that it keeps by lendingLimit 5, and what is in the
 * cohort, its own 5 and the 8 of limited. */
static void the_arithmetic_of_what_could_ever_be_used_is_told_by_flavor(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    struct reached k = {.count = 0};
    const uint32_t all = cl_cohort(c, "all", POLICY_NONE, -1, CL_NIL, CL_NIL);
    cl_queue(c, "limited", all, 8, 2, CL_NIL);
    cl_queue(c, "other", all, 20, CL_NIL, 5);
    cl_start(c);
    c->ops->reach(c->policy, 0, cl_shape(c, 11, POLICY_NIL, 1), keep_reach, &k);
    assert_int_equal(k.count, 1);
    assert_true(k.last.allowed);
    assert_int_equal(k.last.numbers.requested, 11);
    assert_int_equal(k.last.numbers.potential, 10);
    assert_int_equal(k.last.numbers.nominal, 8);
    assert_int_equal(k.last.numbers.borrowing_limit, 2);
    c->ops->reach(c->policy, 0, cl_shape(c, 11, 10, 1), keep_reach, &k);
    assert_int_equal(k.last.numbers.requested, 10); /* as few as it takes */
    c->ops->reach(c->policy, 1, cl_shape(c, 29, POLICY_NIL, 1), keep_reach, &k);
    assert_int_equal(k.last.numbers.potential, 28);
    assert_int_equal(k.count, 3);
    cl_end(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_policy),
        cmocka_unit_test(an_owner_whose_quota_is_lent_for_good_raises_an_alarm),
        cmocka_unit_test(a_short_wait_is_no_alarm),
        cmocka_unit_test(a_head_that_asks_for_more_than_is_left_is_no_alarm),
        cmocka_unit_test(victims_that_do_not_let_go_are_named),
        cmocka_unit_test(a_stopped_queue_is_named),
        cmocka_unit_test(what_no_quota_can_ever_hold_is_told_with_numbers),
        cmocka_unit_test(the_arithmetic_of_what_could_ever_be_used_is_told_by_flavor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
