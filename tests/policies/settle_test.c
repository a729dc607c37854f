/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows within an instant, loops, and the reasons that the policy states. */
#include "tests/policies/cluster.h"

static void evictions_complete_when_the_host_says_so(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    c->settling.eviction_ns = -1;
    cl_queue(c, "q", POLICY_NONE, 4, CL_NIL, CL_NIL);
    c->queues[0].within_cluster_queue = POLICY_LOWER_PRIORITY;
    cl_start(c);
    const uint32_t low = cl_submit(c, 1, 0, 0, 4), high = cl_submit(c, 2, 0, 1, 4);
    assert_int_equal(c->evicted_count, 1);
    assert_int_equal(c->evicted[0].preemptor, high);
    settle_release_at(c->settle, low, 30 * (int64_t)CL_S);
    assert_int_equal(settle_next(c->settle, false), 30 * (int64_t)CL_S);
    assert_int_equal(cl_quota(c, POLICY_OBJ_CLUSTER_QUEUE, 0).used, 4); /* its pods still run */
    cl_settle(c, 30);
    assert_true(c->admitted[high]);
    assert_int_equal(c->ops->place(c->policy, low), POLICY_PLACE_PARKED);
    cl_end(c);
}

static void endless_evictions_over_time_are_reported(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    c->settling.eviction_ns = -1;
    cl_queue(c, "q", POLICY_NONE, 4, CL_NIL, CL_NIL);
    c->queues[0].within_cluster_queue = POLICY_LOWER_PRIORITY;
    cl_start(c);
    const uint32_t a = cl_submit(c, 1, 0, 0, 4);
    uint32_t b = cl_submit(c, 2, 0, 1, 4);
    /* Each is made the more important one in turn, so that they evict each other again and again. */
    for (int i = 0; i < 40 && settle_loop(c->settle) == NULL; i++) {
        const uint32_t victim = c->evicted[c->evicted_count - 1].victim;
        const uint32_t other = victim == a ? b : a;
        cl_give(c, 10 * i + 10, POLICY_IN_RELEASED, victim);
        assert_true(c->admitted[other]);
        const struct policy_input in = {
            .kind = POLICY_IN_PRIORITY, .workload = victim, .value = i + 2};
        policy_settle(c->settle, (10 * (int64_t)i + 15) * CL_S, &in, 1);
    }
    const struct settle_loop *l = settle_loop(c->settle);
    assert_non_null(l);
    assert_int_equal(l->count, 2);
    assert_int_equal(l->rules[0], POLICY_EVICT_IN_CLUSTER_QUEUE);
    assert_int_equal(l->preemptors[0], l->victims[1]);
    assert_int_equal(l->preemptors[1], l->victims[0]);
    cl_end(c);
}

struct heard {
    struct policy_reason reason;
    struct policy_pending pending;
    int reasons, pendings;
};

static void listen(void *ctx, int64_t now, const struct policy_output *o, size_t n)
{
    struct heard *h = ctx;
    (void)now;
    for (size_t i = 0; i < n; i++) {
        if (o[i].kind == POLICY_SAY_REASON) {
            h->reason = *o[i].u.reason;
            h->reasons++;
        } else if (o[i].kind == POLICY_SAY_PENDING) {
            h->pending = o[i].u.pending;
            h->pendings++;
        }
    }
}

static void a_reason_carries_the_numbers_that_made_it(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    char error[256];
    struct heard heard = {.reasons = 0};
    cl_cohort(c, "cohort", POLICY_NONE, -1, CL_NIL, CL_NIL);
    cl_queue(c, "q", 0, 8, 4, CL_NIL);
    cl_queue(c, "other", 0, 2, CL_NIL, CL_NIL);
    c->cfg.record_reasons = c->cfg.record_pending = true;
    c->ops = policy_kueue();
    c->policy = c->ops->create(&c->cfg, NULL, error, sizeof error);
    const struct settle_host host = {.ctx = &heard, .apply = listen};
    c->settle = settle_create(c->ops, c->policy, &c->settling, &host);
    cl_submit(c, 1, 0, 0, 7);
    const uint32_t w = cl_submit(c, 2, 0, 0, 8);
    assert_int_equal(heard.reasons, 1);
    assert_int_equal(heard.reason.workload, w);
    assert_int_equal(heard.reason.requeue, POLICY_RQ_PREEMPTION_NO_CANDIDATES);
    assert_int_equal(heard.reason.wait, POLICY_WAIT_QUOTA); /* nominal 8 >= 8: victims were looked for */
    assert_int_equal(heard.reason.numbers.requested, 8);
    assert_int_equal(heard.reason.numbers.available, 3); /* 8 of its own and 2 lent, 7 used */
    assert_int_equal(heard.reason.numbers.nominal, 8);
    assert_int_equal(heard.reason.numbers.used, 7);
    assert_int_equal(heard.reason.numbers.borrowing_limit, 4);
    assert_int_equal(heard.pending.count, 1);
    assert_int_equal(heard.pending.wait, POLICY_WAIT_QUOTA);
    cl_end(c);
}

/* ---- the same decisions, whether evaluations are left out or not ---- */

struct story {
    uint64_t hash, decisions;
    int64_t ends[CL_WL_MAX];
};

static void tell(void *ctx, int64_t now, const struct policy_output *o, size_t n)
{
    struct story *s = ctx;
    for (size_t i = 0; i < n; i++) {
        if (o[i].kind != POLICY_DO_ADMIT && o[i].kind != POLICY_DO_EVICT)
            continue;
        const bool admit = o[i].kind == POLICY_DO_ADMIT;
        s->ends[o[i].workload] =
            admit ? now + (10 + (int64_t)o[i].workload % 37) * CL_S : POLICY_NEVER;
        s->hash = (s->hash ^ (uint64_t)now ^ o[i].workload << 8 ^ (uint64_t)o[i].kind) *
                  UINT64_C(0x100000001b3);
        s->decisions++;
    }
}

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    return *x ^= *x << 17;
}

static void random_cluster(struct cluster *c, uint64_t seed, bool fair)
{
    uint64_t x = seed * 977 + 1;
    c->cfg.fair_sharing = fair;
    c->cfg.requeue_batch_ns = CL_S;
    cl_cohort(c, "cohort", POLICY_NONE, -1, CL_NIL, CL_NIL);
    for (int i = 0; i < 12; i++) {
        char *name = calloc(1, 16);
        snprintf(name, 16, "q%02d", i);
        cl_queue(c, name, 0, (int64_t)(next_random(&x) % 9), CL_NIL, CL_NIL);
        c->queues[i].within_cluster_queue = (enum policy_preemption)(next_random(&x) % 3);
        c->queues[i].reclaim_within_cohort =
            next_random(&x) % 2 ? POLICY_ANY : POLICY_LOWER_PRIORITY;
        c->queues[i].borrow_within_cohort =
            next_random(&x) % 3 ? POLICY_NEVER_PREEMPT : POLICY_LOWER_PRIORITY;
    }
}

static struct story play_story(uint64_t seed, bool fair, bool entries)
{
    struct story s = {.hash = 1};
    struct cluster *c = cl_new();
    uint64_t x = seed;
    char error[256];
    random_cluster(c, seed, fair);
    c->cfg.record_entries = entries;
    c->ops = policy_kueue();
    c->policy = c->ops->create(&c->cfg, NULL, error, sizeof error);
    c->settling.eviction_ns = 3 * (int64_t)CL_S;
    const struct settle_host host = {.ctx = &s, .apply = tell};
    c->settle = settle_create(c->ops, c->policy, &c->settling, &host);
    for (int i = 0; i < CL_WL_MAX; i++)
        s.ends[i] = POLICY_NEVER;
    for (int64_t t = 1; t < 400; t++) {
        for (uint32_t w = 0; w < c->workload_count; w++)
            if (s.ends[w] <= t * CL_S) {
                s.ends[w] = POLICY_NEVER;
                cl_give(c, t, POLICY_IN_FINISHED, w);
            }
        if (c->workload_count < CL_WL_MAX && t < 300)
            cl_submit(c, t, (uint32_t)(next_random(&x) % 12), (int64_t)(next_random(&x) % 3),
                      (int64_t)(1 + next_random(&x) % 7));
        cl_settle(c, t);
    }
    for (uint32_t q = 0; q < c->cfg.cluster_queue_count; q++)
        free((char *)(uintptr_t)c->queues[q].name);
    cl_end(c);
    return s;
}

static void decisions_are_the_same_with_and_without_evaluations_left_out(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++)
        for (int fair = 0; fair <= 1; fair++) {
            const struct story all = play_story(seed, fair, true);
            const struct story few = play_story(seed, fair, false);
            assert_true(all.decisions > 200);
            assert_int_equal(all.hash, few.hash);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evictions_complete_when_the_host_says_so),
        cmocka_unit_test(endless_evictions_over_time_are_reported),
        cmocka_unit_test(a_reason_carries_the_numbers_that_made_it),
        cmocka_unit_test(decisions_are_the_same_with_and_without_evaluations_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
