/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kueue's cases of queues, re-queueing and order (TestBestEffortFIFORequeueIfNotPresent,
 * TestClusterQueueImpl, TestBackoffWaitingTimeExpired, TestRecordInadmissibleHash,
 * TestPushOrUpdateRespectsInadmissibleHashes, TestRequeueHashTriggerByReason,
 * TestGetQueueOrderTimestamp, TestQueueInadmissibleWorkloads), with their values.
 */
#include "tests/policies/named_queue.h"

#include "models/policies/kueue/cycle.h"
#include "models/policies/kueue/kq.h"
#include "models/policies/kueue/queue.h"
#include "tests/policies/cluster.h"

static struct kq *engine(struct cluster *c)
{
    return c->policy;
}

/* A workload that waits and that no cycle has looked at. */
static uint32_t push(struct cluster *c, uint32_t local, uint32_t shape)
{
    struct policy_outputs out = {NULL, 0, 0};
    const uint32_t id = c->workload_count++;
    c->workloads[id] = (struct policy_workload){
        .id = id, .local_queue = local, .shape = shape, .uid_order = id, .name_order = id};
    const struct policy_input in = {.kind = POLICY_IN_SUBMIT, .submit = &c->workloads[id]};
    c->ops->input(c->policy, 0, &in, &out);
    free(out.items);
    return id;
}

/* The first of the queue comes back from a cycle for this reason. */
static uint32_t come_back(struct cluster *c, uint32_t queue, enum policy_requeue_reason reason)
{
    struct policy_outputs out = {NULL, 0, 0};
    struct kq_cq *cq = engine(c)->cqs[queue];
    cq->entry.workload = kq_pop(engine(c), cq);
    cq->entry.outcome = POLICY_OUT_WAITING;
    cq->entry.nominated = false;
    cq->entry.reason = reason;
    kq_requeue_entry(engine(c), cq, 0, &out);
    free(out.items);
    return cq->entry.workload;
}

static enum policy_place place(struct cluster *c, uint32_t id)
{
    return c->ops->place(c->policy, id);
}

/* ---- re-queueing by reason, BestEffortFIFO ---- */

struct reason_row {
    enum policy_requeue_reason reason;
    int8_t progress[2]; /* index of the last flavor tried, by resource; -2: none recorded */
    bool parked, sticky, blocks;
};

static void requeue_by_reason(void **state)
{
    const struct reason_row *r = *state;
    static const struct policy_amount amounts[] = {{0, 1}, {1, 1}};
    static const char *const resources[] = {"cpu", "memory"};
    struct cluster *c = cl_new();
    c->cfg.resources = resources;
    c->cfg.resource_count = 2;
    cl_queue(c, "q", POLICY_NONE, 4, CL_NIL, CL_NIL);
    cl_start(c);
    const struct policy_pod_set set = {
        .name = "main", .count = 1, .min_count = POLICY_NIL, .requests = amounts, .request_count = 2};
    const struct policy_shape shape = {&set, 1};
    const uint32_t id = push(c, 0, c->ops->register_shape(c->policy, &shape));
    struct kq_wl *w = kq_wl(engine(c), id);
    if (r->progress[0] != KQ_NO_PROGRESS) {
        w->progress = calloc(3, 1);
        w->progress_capacity = 3;
        memcpy(w->progress, r->progress, 2);
        w->progress[2] = -1;
        w->has_progress = true;
    }
    come_back(c, 0, r->reason);
    const struct kq_cq *cq = engine(c)->cqs[0];
    assert_int_equal(place(c, id), r->parked ? POLICY_PLACE_PARKED : POLICY_PLACE_QUEUE);
    assert_int_equal(cq->preemptor == id && cq->preemptor_sticky, r->sticky);
    assert_int_equal(kq_class_of(engine(c), w)->blocked_epoch == cq->epoch, r->blocks);
    cl_end(c);
}

static const struct reason_row rows[] = {
    {POLICY_RQ_FAILED_AFTER_NOMINATION, {-2, -2}, false, false, false},
    {POLICY_RQ_PENDING_PREEMPTION, {-2, -2}, false, true, false},
    {POLICY_RQ_PREEMPTION_FAILED, {-2, -2}, false, false, false},
    {POLICY_RQ_NAMESPACE_MISMATCH, {-2, -2}, true, false, false},
    {POLICY_RQ_NONE, {-1, -1}, true, false, false},
    {POLICY_RQ_NONE, {-1, 0}, false, false, false},
    {POLICY_RQ_NO_FIT, {-2, -2}, true, false, true},
    {POLICY_RQ_PREEMPTION_NO_CANDIDATES, {-2, -2}, true, false, true},
};

/* ---- back-off ---- */

/* A workload is not ready for a minute at 61 and has to wait for another one. */
static struct cluster *in_backoff(int64_t eviction_s, uint32_t *id)
{
    static const char *const keys[] = {"eng", "sales"};
    static const struct policy_expr expr = {"dep", POLICY_IN, keys, 2};
    static const struct policy_selector selector = {NULL, &expr, 0, 1};
    static const struct policy_label eng = {"dep", "eng"}, sales = {"dep", "sales"};
    struct cluster *c = cl_new();
    c->settling.eviction_ns = eviction_s * CL_S;
    c->cfg.pods_ready = (struct policy_pods_ready){.on = true,
                                                   .timeout_ns = 60 * (int64_t)CL_S,
                                                   .backoff_limit = POLICY_NIL,
                                                   .backoff_base_ns = 60 * (int64_t)CL_S,
                                                   .backoff_max_ns = 3600 * (int64_t)CL_S};
    cl_queue(c, "q1", POLICY_NONE, 4, CL_NIL, CL_NIL);
    c->queues[0].namespace_selector = &selector;
    c->locals[0].namespace_labels = &eng;
    c->locals[0].namespace_label_count = 1;
    c->locals[1] = (struct policy_local_queue){.name = "q2", .cluster_queue = 0, .weight = 1.0,
                                               .namespace_labels = &sales, .namespace_label_count = 1};
    c->cfg.local_queue_count = 2;
    cl_start(c);
    *id = cl_submit(c, 1, 0, 0, 1);
    assert_int_equal(place(c, *id), POLICY_PLACE_ADMITTED);
    cl_settle(c, 61);
    assert_int_equal(c->evicted[0].until_ns, 121 * (int64_t)CL_S);
    return c;
}

static void a_flush_takes_what_is_parked_and_matches(void **state)
{
    (void)state;
    uint32_t w4;
    struct policy_outputs out = {NULL, 0, 0};
    struct cluster *c = in_backoff(0, &w4);
    const uint32_t shape = cl_shape(c, 1, POLICY_NIL, 1), w2 = push(c, 1, shape);
    assert_int_equal(come_back(c, 0, POLICY_RQ_NONE), w2);
    assert_int_equal(place(c, w2), POLICY_PLACE_PARKED);
    const uint32_t w1 = push(c, 0, shape);
    kq_ask_wake(engine(c), 62 * (int64_t)CL_S, &engine(c)->cqs[0]->node);
    c->ops->due(c->policy, 62 * (int64_t)CL_S, POLICY_DUE_WAKES, &out);
    assert_int_equal(place(c, w1), POLICY_PLACE_QUEUE);
    assert_int_equal(place(c, w2), POLICY_PLACE_QUEUE);
    assert_int_equal(place(c, w4), POLICY_PLACE_BACKOFF);
    assert_int_equal(engine(c)->cqs[0]->heap_count, 2);
    assert_int_equal(c->ops->pending_count(c->policy, 0), 3);
    free(out.items);
    cl_end(c);
}

/* Its pods have not stopped when the time is over: it is in no queue. */
static void not_before_its_eviction_is_complete(void **state)
{
    (void)state;
    uint32_t w;
    struct cluster *c = in_backoff(100, &w);
    cl_settle(c, 130);
    assert_int_equal(place(c, w), POLICY_PLACE_ADMITTED);
    assert_int_equal(c->admit_count, 1);
    cl_settle(c, 161);
    assert_int_equal(c->admit_count, 2);
    cl_end(c);
}

static void at_the_end_of_the_backoff(void **state)
{
    (void)state;
    uint32_t w;
    struct cluster *c = in_backoff(0, &w);
    cl_settle(c, 121);
    assert_int_equal(place(c, w), POLICY_PLACE_ADMITTED);
    assert_int_equal(c->admit_count, 2);
    cl_end(c);
}

static void not_before_the_end_of_the_backoff(void **state)
{
    (void)state;
    uint32_t w;
    struct cluster *c = in_backoff(0, &w);
    cl_settle(c, 120);
    assert_int_equal(place(c, w), POLICY_PLACE_BACKOFF);
    assert_int_equal(c->admit_count, 1);
    cl_end(c);
}

/* ---- shapes ---- */

/* Three of one shape, two of another. */
static struct cluster *two_shapes(uint32_t *first)
{
    struct cluster *c = cl_new();
    cl_queue(c, "q", POLICY_NONE, 4, CL_NIL, CL_NIL);
    cl_start(c);
    const uint32_t gpu = cl_shape(c, 1, POLICY_NIL, 2), cpu = cl_shape(c, 1, POLICY_NIL, 1);
    *first = push(c, 0, gpu);
    for (int i = 0; i < 2; i++)
        push(c, 0, cpu);
    for (int i = 0; i < 2; i++)
        push(c, 0, gpu);
    kq_park_class(engine(c), kq_wl(engine(c), *first)->cls);
    return c;
}

static void a_class_moves_at_once(void **state)
{
    (void)state;
    uint32_t first;
    struct cluster *c = two_shapes(&first);
    assert_int_equal(engine(c)->cqs[0]->heap_count, 2);
    assert_int_equal(engine(c)->cqs[0]->parked_count, 3);
    cl_end(c);
}

static void a_blocked_shape_is_parked_on_arrival(void **state)
{
    (void)state;
    uint32_t first;
    struct cluster *c = two_shapes(&first);
    const uint32_t late = push(c, 0, c->workloads[first].shape);
    assert_int_equal(place(c, late), POLICY_PLACE_PARKED);
    assert_int_equal(engine(c)->cqs[0]->heap_count, 2);
    cl_end(c);
}

/* ---- order ---- */

static void order_time(enum policy_evict_reason reason, int64_t with_eviction_s)
{
    for (int creation = 0; creation <= 1; creation++) {
        struct cluster *c = cl_new();
        c->cfg.pods_ready.on = true;
        c->cfg.pods_ready.creation_timestamp = creation;
        cl_queue(c, "q", POLICY_NONE, 4, CL_NIL, CL_NIL);
        cl_start(c);
        struct kq_wl w = {.created_ns = 1000 * (int64_t)CL_S,
                          .evicted = true,
                          .evict_reason = reason,
                          .evicted_ns = 4600 * (int64_t)CL_S};
        assert_int_equal(kq_queue_time(engine(c), &w), 1000 * (creation ? 1000 : with_eviction_s));
        cl_end(c);
    }
}

static void preempted_keeps_its_place(void **state)
{
    (void)state;
    order_time(POLICY_EVICT_IN_CLUSTER_QUEUE, 1000);
}

static void timed_out_goes_behind(void **state)
{
    (void)state;
    order_time(POLICY_EVICT_PODS_READY_TIMEOUT, 4600);
}

/* ---- two queues under one root ---- */

static void one_wake_for_the_whole_tree(void **state)
{
    (void)state;
    struct policy_outputs out = {NULL, 0, 0};
    struct cluster *c = cl_new();
    c->cfg.requeue_batch_ns = CL_S;
    cl_cohort(c, "root", POLICY_NONE, -1, CL_NIL, CL_NIL);
    cl_cohort(c, "child1", 0, -1, CL_NIL, CL_NIL);
    cl_cohort(c, "child2", 0, -1, CL_NIL, CL_NIL);
    cl_queue(c, "cq1", 1, 4, CL_NIL, CL_NIL);
    cl_queue(c, "cq2", 2, 4, CL_NIL, CL_NIL);
    cl_start(c);
    cl_settle(c, 2); /* the wake of the creation is over */
    const uint32_t shape = cl_shape(c, 1, POLICY_NIL, 1), a = push(c, 0, shape), b = push(c, 1, shape);
    come_back(c, 0, POLICY_RQ_NONE);
    come_back(c, 1, POLICY_RQ_NONE);
    assert_int_equal(place(c, a), POLICY_PLACE_PARKED);
    assert_int_equal(place(c, b), POLICY_PLACE_PARKED);
    kq_ask_wake(engine(c), 3 * (int64_t)CL_S, &engine(c)->cqs[0]->node);
    kq_ask_wake(engine(c), 3 * (int64_t)CL_S, &engine(c)->cqs[1]->node);
    assert_int_equal(engine(c)->wake_count, 1);
    c->ops->due(c->policy, 4 * (int64_t)CL_S, POLICY_DUE_WAKES, &out);
    assert_int_equal(place(c, a), POLICY_PLACE_QUEUE);
    assert_int_equal(place(c, b), POLICY_PLACE_QUEUE);
    free(out.items);
    cl_end(c);
}

#define BEST_EFFORT "TestBestEffortFIFORequeueIfNotPresent: "
#define ROW(name, i) {name, requeue_by_reason, NULL, NULL, (void *)(uintptr_t)&rows[i]}
#define ONE(name, fn) {name, fn, NULL, NULL, NULL}

const struct CMUnitTest named_queue_tests[] = {
    ROW(BEST_EFFORT "failure after nomination", 0),
    ROW(BEST_EFFORT "pending preemption", 1),
    ROW(BEST_EFFORT "preemption failed", 2),
    ROW(BEST_EFFORT "namespace doesn't match", 3),
    ROW(BEST_EFFORT "didn't fit and no pending flavors", 4),
    ROW(BEST_EFFORT "didn't fit but pending flavors", 5),
    ROW(BEST_EFFORT "nofit", 6),
    ROW(BEST_EFFORT "preempt no candidates", 7),
    ROW("TestRequeueHashTriggerByReason: nofit triggers hash", 6),
    ROW("TestRequeueHashTriggerByReason: preempt no candidates triggers hash", 7),
    ROW("TestRequeueHashTriggerByReason: namespace mismatch does not trigger hash", 3),
    ONE("TestClusterQueueImpl: re-queue inadmissible workload and flush", a_flush_takes_what_is_parked_and_matches),
    ONE("TestBackoffWaitingTimeExpired: workload still have Requeued=false", not_before_its_eviction_is_complete),
    ONE("TestBackoffWaitingTimeExpired: now already has exceeded requeueAt", at_the_end_of_the_backoff),
    ONE("TestBackoffWaitingTimeExpired: now hasn't yet exceeded requeueAt", not_before_the_end_of_the_backoff),
    ONE("TestRecordInadmissibleHash: bulk-moves matching workloads", a_class_moves_at_once),
    ONE("TestPushOrUpdateRespectsInadmissibleHashes: workload with blocked hash goes to inadmissible",
        a_blocked_shape_is_parked_on_arrival),
    ONE("TestGetQueueOrderTimestamp: evicted by preemption", preempted_keeps_its_place),
    ONE("TestGetQueueOrderTimestamp: evicted by PodsReady timeout", timed_out_goes_behind),
    ONE("TestQueueInadmissibleWorkloads: deduplication with shared root", one_wake_for_the_whole_tree),
};
const size_t named_queue_count = sizeof named_queue_tests / sizeof named_queue_tests[0];
