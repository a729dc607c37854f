/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/kueue/churn.h"

#include <stdio.h>
#include <stdlib.h>

#include "models/policies/settle.h"
#include "sim/arena.h"
#include "sim/check.h"
#include "sim/rng.h"
#include "sim/sim_time.h"

enum { COHORT_QUEUES = 100, NOMINAL = 20, BORROWING = 100, CLASSES = 3 };
enum { STREAM_ENDS = 1, EVICTION = 250 * SIM_MS };

struct gang {
    uint32_t queue, shape;
    uint32_t slot; /* in the list of what runs in its queue; POLICY_NONE: it waits */
};

struct running {
    uint32_t *v;
    size_t count, capacity;
};

struct churn {
    struct churn_options opt;
    struct arena mem;
    const struct policy_ops *ops;
    void *policy;
    struct settle *settle;
    struct gang *gangs; /* by workload */
    uint32_t *shapes;   /* ids by number of cards - 1 */
    uint32_t gang_count;
    struct running *running; /* by queue */
    struct policy_workload *news; /* of a round */
    struct policy_input *inputs;
    struct rng ends;
    int64_t now, round;
    uint64_t created;
    uint32_t next_queue;
    struct churn_result result;
};

/* ---- what the policy does ---- */

static void note(struct churn *c, int64_t now, const struct policy_output *o)
{
    const uint64_t words[] = {(uint64_t)now, o->kind, o->workload};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        c->result.history = (c->result.history ^ words[i]) * UINT64_C(0x100000001b3);
}

static void start(struct churn *c, uint32_t id)
{
    struct running *r = &c->running[c->gangs[id].queue];
    r->v = mem_grow(r->v, &r->capacity, r->count + 1, sizeof *r->v);
    c->gangs[id].slot = (uint32_t)r->count;
    r->v[r->count++] = id;
    c->result.running++;
}

static void stop(struct churn *c, uint32_t id)
{
    struct running *r = &c->running[c->gangs[id].queue];
    const uint32_t last = r->v[--r->count];
    r->v[c->gangs[id].slot] = last;
    c->gangs[last].slot = c->gangs[id].slot;
    c->gangs[id].slot = POLICY_NONE;
    c->result.running--;
}

static void apply(void *ctx, int64_t now, const struct policy_output *outputs, size_t count)
{
    struct churn *c = ctx;
    for (size_t i = 0; i < count; i++) {
        const struct policy_output *o = &outputs[i];
        c->result.entries += o->kind == POLICY_SAY_ENTRY;
        if (o->kind == POLICY_DO_ADMIT) {
            note(c, now, o);
            c->result.admitted++;
            start(c, o->workload);
        } else if (o->kind == POLICY_DO_EVICT) {
            note(c, now, o);
            c->result.evicted++;
            stop(c, o->workload);
        }
    }
}

static void settle_at(struct churn *c, int64_t now, size_t inputs)
{
    c->now = now;
    REQUIRE(policy_settle(c->settle, now, c->inputs, inputs) == SETTLE_REST);
}

/* What follows without a new event, up to the next round: wakes, evictions that complete. */
static void run_on(struct churn *c, int64_t until)
{
    for (int64_t t; (t = settle_next(c->settle, false)) < until;)
        settle_at(c, t, 0);
}

/* ---- the cluster ---- */

static const char *numbered(struct churn *c, const char *kind, uint32_t i)
{
    return arena_printf(&c->mem, "%s-%06u", kind, i);
}

static struct policy_resource_group *quota_of(struct churn *c)
{
    struct policy_resource_group *g = arena_alloc(&c->mem, 1, sizeof *g);
    struct policy_quota *q = arena_alloc(&c->mem, 1, sizeof *q);
    uint32_t *ids = arena_alloc(&c->mem, 1, sizeof *ids);
    ids[0] = 0;
    *q = (struct policy_quota){NOMINAL, BORROWING, POLICY_NIL};
    *g = (struct policy_resource_group){ids, ids, q, 1, 1};
    return g;
}

static void make_queues(struct churn *c, struct policy_cluster_queue *queues,
                        struct policy_local_queue *locals)
{
    const struct policy_selector *all = arena_alloc(&c->mem, 1, sizeof *all);
    const struct policy_resource_group *quota = quota_of(c);
    const bool preempt = c->opt.mode != CHURN_NEVER;
    for (uint32_t i = 0; i < c->opt.queues; i++) {
        queues[i] = (struct policy_cluster_queue){
            .name = numbered(c, "queue", i),
            .cohort = i / c->opt.cohort_queues,
            .groups = quota,
            .group_count = 1,
            .namespace_selector = all,
            .when_can_preempt = POLICY_TRY_NEXT_FLAVOR,
            .within_cluster_queue = preempt ? POLICY_LOWER_PRIORITY : POLICY_NEVER_PREEMPT,
            .reclaim_within_cohort = preempt ? POLICY_ANY : POLICY_NEVER_PREEMPT,
            .max_priority_threshold = POLICY_NIL,
            .weight = 1.0};
        locals[i] = (struct policy_local_queue){.name = queues[i].name, .cluster_queue = i, .weight = 1.0};
    }
}

static void make_policy(struct churn *c)
{
    static const char *const resources[] = {"nvidia.com/gpu"};
    static const struct policy_flavor flavors[] = {{.name = "card", .topology = POLICY_NONE}};
    const uint32_t cohort_count = (c->opt.queues + c->opt.cohort_queues - 1) / c->opt.cohort_queues;
    struct policy_cluster_queue *queues = arena_alloc(&c->mem, c->opt.queues, sizeof *queues);
    struct policy_local_queue *locals = arena_alloc(&c->mem, c->opt.queues, sizeof *locals);
    struct policy_cohort *cohorts = arena_alloc(&c->mem, cohort_count, sizeof *cohorts);
    for (uint32_t i = 0; i < cohort_count; i++)
        cohorts[i] = (struct policy_cohort){.name = numbered(c, "cohort", i), .parent = POLICY_NONE, .weight = 1.0};
    make_queues(c, queues, locals);
    const struct policy_config config = {.abi = POLICY_ABI, .size = sizeof config,
        .fair_sharing = c->opt.mode == CHURN_FAIR, .requeue_batch_ns = SIM_SECOND,
        .record_entries = c->opt.entries, .resources = resources, .resource_count = 1,
        .flavors = flavors, .flavor_count = 1, .cohorts = cohorts, .cohort_count = cohort_count,
        .cluster_queues = queues, .cluster_queue_count = c->opt.queues,
        .local_queues = locals, .local_queue_count = c->opt.queues};
    char error[256] = "";
    c->ops = policy_kueue();
    c->policy = c->ops->create(&config, NULL, error, sizeof error);
    REQUIRE(c->policy != NULL);
}

static void make_shapes(struct churn *c)
{
    c->shapes = arena_alloc(&c->mem, c->opt.shapes, sizeof *c->shapes);
    for (uint32_t i = 0; i < c->opt.shapes; i++) {
        const struct policy_amount request = {0, 1};
        const struct policy_pod_set set = {.name = "main", .count = 1 + i, .min_count = POLICY_NIL,
                                           .requests = &request, .request_count = 1};
        c->shapes[i] = c->ops->register_shape(c->policy, &(struct policy_shape){&set, 1});
    }
}

/* ---- workloads ---- */

static struct policy_input submission(struct churn *c, uint32_t id, struct policy_workload *w)
{
    static const int64_t priorities[CLASSES] = {50, 100, 200};
    const struct gang *g = &c->gangs[id];
    *w = (struct policy_workload){.id = id, .local_queue = g->queue, .shape = c->shapes[g->shape],
                                  .priority = priorities[g->shape % CLASSES], .created_ns = c->now,
                                  .uid_order = c->created, .name_order = c->created};
    c->created++;
    return (struct policy_input){.kind = POLICY_IN_SUBMIT, .workload = POLICY_NONE, .submit = w};
}

/* What the quota can hold beside those who are to wait: the mean gang has (1 + shapes) / 2 cards. */
static uint32_t gangs_needed(const struct churn_options *o)
{
    return o->pending + o->queues * NOMINAL * 2 / (1 + o->shapes);
}

static void submit_all(struct churn *c)
{
    const uint32_t n = c->gang_count;
    struct policy_workload *first = mem_alloc(n, sizeof *first);
    c->inputs = mem_alloc((size_t)n + 2 * c->opt.queues, sizeof *c->inputs);
    for (uint32_t i = 0; i < n; i++) {
        c->gangs[i] = (struct gang){i % c->opt.queues, i / c->opt.queues % c->opt.shapes, POLICY_NONE};
        c->inputs[i] = submission(c, i, &first[i]);
    }
    settle_at(c, 0, n);
    free(first);
}

struct churn *churn_create(const struct churn_options *options)
{
    struct churn *c = mem_zalloc(1, sizeof *c);
    const struct settle_config sc = {.eviction_ns = EVICTION};
    const struct settle_host host = {c, apply, NULL};
    c->opt = *options;
    c->opt.cohort_queues = options->cohort_queues > 0 ? options->cohort_queues : COHORT_QUEUES;
    c->result.history = UINT64_C(0xcbf29ce484222325);
    make_policy(c);
    make_shapes(c);
    c->settle = settle_create(c->ops, c->policy, &sc, &host);
    c->gang_count = gangs_needed(options);
    c->gangs = mem_alloc(c->gang_count, sizeof *c->gangs);
    c->running = mem_zalloc(options->queues, sizeof *c->running);
    c->news = mem_alloc(options->changed, sizeof *c->news);
    rng_open(&c->ends, options->seed, 0, STREAM_ENDS, 0);
    submit_all(c);
    return c;
}

void churn_destroy(struct churn *c)
{
    settle_destroy(c->settle);
    c->ops->destroy(c->policy);
    for (uint32_t i = 0; i < c->opt.queues; i++)
        free(c->running[i].v);
    free(c->running);
    free(c->gangs);
    free(c->news);
    free(c->inputs);
    arena_fini(&c->mem);
    free(c);
}

/* ---- rounds ---- */

/* The next queue in which something runs, a cohort further each time. */
static uint32_t next_queue(struct churn *c)
{
    do {
        c->next_queue += c->opt.cohort_queues;
        c->next_queue += c->next_queue >= c->opt.queues ? 1u : 0u;
        c->next_queue %= c->opt.queues;
    } while (c->running[c->next_queue].count == 0);
    return c->next_queue;
}

static void one_round(struct churn *c)
{
    size_t n = 0;
    const uint32_t changed = c->opt.changed;
    const int64_t now = (c->round++ + 1) * SIM_SECOND;
    run_on(c, now);
    for (uint32_t i = 0; i < changed; i++) {
        const struct running *r = &c->running[next_queue(c)];
        const uint32_t id = r->v[rng_below(&c->ends, r->count)];
        stop(c, id);
        c->inputs[n++] = (struct policy_input){.kind = POLICY_IN_FINISHED, .workload = id};
        c->inputs[changed + i] = submission(c, id, &c->news[i]);
    }
    settle_at(c, now, 2 * (size_t)changed);
}

void churn_rounds(struct churn *c, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        one_round(c);
}

struct churn_result churn_result(const struct churn *c)
{
    struct churn_result r = c->result;
    r.counts = kq_counts_of(c->policy);
    r.waiting = c->gang_count - r.running;
    return r;
}
