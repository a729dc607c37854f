/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/kueue/paced.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/policies/policy.h"
#include "sim/arena.h"
#include "sim/check.h"
#include "sim/rng.h"
#include "sim/sim_time.h"

enum { MANAGER_BURST = 100, RUNNER_BURST = 2000 };
static const int64_t runner_ns = SIM_SECOND / 1000, max_backoff = 10 * SIM_MS;

enum kind { AT_CREATE, AT_WRITTEN, AT_END, AT_RELEASE };

struct event {
    int64_t at;
    uint64_t order; /* of pushing */
    uint32_t id, generation; /* workload; of CREATE the set */
    enum kind kind;
};

/* A client's token bucket: requests are served in the order in which they ask. */
struct bucket {
    int64_t per_ns, burst, next; /* when the token of the next request would be there */
};

struct job {
    int64_t created, admitted, written; /* the last time */
    uint64_t condition; /* the text of QuotaReserved False; 0: another one than any below */
    uint32_t queue, generation;
    uint8_t class;
};

struct paced {
    const struct paced_config *cfg;
    const struct paced_pace *pace;
    struct arena mem;
    const struct policy_ops *ops;
    void *policy;
    struct policy_outputs out;
    struct job *jobs;
    uint32_t *made; /* of each set */
    int64_t *available; /* to each queue when the cycle began */
    uint32_t shapes[PACED_CLASSES], queue_count, job_count, job_total, finished;
    struct rng rng;
    struct event *events;
    size_t event_count, event_capacity;
    uint64_t order, uids;
    struct bucket manager, runner;
    int64_t now, ended, cycle_ends, backoff;
    bool awake; /* something happened since a cycle found nothing to do */
    struct paced_result *r;
};

/* ---- time ---- */

static bool sooner(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void push(struct paced *p, struct event e)
{
    e.order = p->order++;
    p->events = mem_grow(p->events, &p->event_capacity, p->event_count + 1, sizeof *p->events);
    size_t at = p->event_count++;
    for (; at > 0 && sooner(&e, &p->events[(at - 1) / 2]); at = (at - 1) / 2)
        p->events[at] = p->events[(at - 1) / 2];
    p->events[at] = e;
}

static struct event pop(struct paced *p)
{
    const struct event top = p->events[0], last = p->events[--p->event_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < p->event_count; at = child) {
        if (child + 1 < p->event_count && sooner(&p->events[child + 1], &p->events[child]))
            child++;
        if (!sooner(&p->events[child], &last))
            break;
        p->events[at] = p->events[child];
    }
    if (p->event_count > 0)
        p->events[at] = last;
    return top;
}

/* When a request that asks now is served. */
static int64_t token(struct bucket *b, int64_t now)
{
    const int64_t earliest = now - b->burst * b->per_ns;
    b->next = (b->next > earliest ? b->next : earliest) + b->per_ns;
    return b->next > now ? b->next : now;
}

/* Of a request to the API server, beside the wait for its token. */
static int64_t round_trip(struct paced *p)
{
    return p->pace->round_trip_ns > 0 ? (int64_t)rng_below(&p->rng, (uint64_t)p->pace->round_trip_ns + 1) : 0;
}

/* ---- what a cycle does ---- */

static void admit(struct paced *p, const struct policy_output *o)
{
    struct job *j = &p->jobs[o->workload];
    j->admitted = p->cycle_ends; /* where the cycle is by now */
    j->condition = 0;
    j->generation++;
    p->r->admissions++;
    p->r->writes++;
    push(p, (struct event){.at = token(&p->manager, p->cycle_ends), .id = o->workload,
                           .generation = j->generation, .kind = AT_WRITTEN});
}

static void wait_for_write(struct paced *p)
{
    p->r->writes++;
    p->cycle_ends = token(&p->manager, p->cycle_ends);
}

static void evict(struct paced *p, const struct policy_output *o)
{
    p->jobs[o->workload].condition = 0; /* the runner's text */
    p->jobs[o->workload].generation++;
    p->r->evictions++;
    wait_for_write(p);
    push(p, (struct event){.at = p->cycle_ends, .id = o->workload, .kind = AT_RELEASE});
}

/* The text of a head that goes back, as a number: "15 more needed" (flavorassigner.go), with
 * ". Pending the preemption of 3 workload(s)", or one without numbers (scheduler.go). */
static uint64_t condition_of(const struct paced *p, const struct policy_entry *e)
{
    const uint64_t kind = ((uint64_t)e->outcome + 1) << 56;
    if (e->outcome == POLICY_OUT_SKIPPED)
        return kind;
    const int64_t missing = p->cfg->classes[p->jobs[e->workload].class].request - p->available[e->cluster_queue];
    return kind | (uint64_t)e->victim_count << 32 | (uint32_t)missing;
}

static void put_back(struct paced *p, const struct policy_entry *e)
{
    const uint64_t condition = condition_of(p, e);
    if (p->jobs[e->workload].condition == condition)
        return;
    p->jobs[e->workload].condition = condition;
    wait_for_write(p);
}

/* Admissions and evictions come in the order in which entries were processed, then heads go back. */
static void apply(struct paced *p)
{
    for (size_t i = 0; i < p->out.count; i++) {
        const struct policy_output *o = &p->out.items[i];
        if (o->kind == POLICY_DO_ADMIT)
            admit(p, o);
        else if (o->kind == POLICY_DO_EVICT)
            evict(p, o);
    }
    for (size_t i = 0; i < p->out.count; i++) {
        const struct policy_output *o = &p->out.items[i];
        if (o->kind == POLICY_SAY_ENTRY && o->u.entry->outcome != POLICY_OUT_ADMITTED)
            put_back(p, o->u.entry);
    }
    p->out.count = 0;
    p->ops->release_outputs(p->policy);
}

static void look_at_quota(struct paced *p)
{
    for (uint32_t q = 0; q < p->queue_count; q++) {
        struct policy_quota_state s;
        REQUIRE(p->ops->quota(p->policy, POLICY_OBJ_CLUSTER_QUEUE, q, 0, 0, &s));
        p->available[q] = s.available;
    }
}

/* What a cycle with this output works. */
static int64_t working_ns(const struct paced *p)
{
    const int64_t head = p->job_count < p->job_total ? p->pace->creating_ns : p->pace->quiet_ns;
    int64_t heads = 0;
    for (size_t i = 0; i < p->out.count; i++)
        heads += p->out.items[i].kind == POLICY_SAY_ENTRY;
    return heads > 0 ? p->queue_count * p->pace->queue_ns + heads * head : 0;
}

static void cycle(struct paced *p)
{
    look_at_quota(p);
    const enum policy_cycle c = p->ops->cycle(p->policy, p->now, &p->out);
    p->cycle_ends = p->now + working_ns(p);
    p->awake = c == POLICY_CYCLE_CHANGED || (c == POLICY_CYCLE_SAME && p->out.count > 1);
    const uint64_t before = p->r->admissions;
    apply(p);
    if (c == POLICY_CYCLE_NONE)
        return;
    p->r->cycles++;
    if (p->r->admissions > before)
        p->backoff = 0;
    else /* without success: 1 ms, doubled up to 10 */
        p->backoff = p->backoff == 0 ? SIM_MS : p->backoff < max_backoff / 2 ? 2 * p->backoff : max_backoff;
    p->cycle_ends += p->backoff;
}

/* ---- events ---- */

static void give(struct paced *p, struct policy_input in)
{
    p->ops->input(p->policy, p->now, &in, &p->out);
    p->out.count = 0;
    p->ops->release_outputs(p->policy);
    p->awake = true;
}

static void ask_next(struct paced *p, uint32_t set)
{
    const struct paced_class *c = &p->cfg->classes[set % PACED_CLASSES];
    if (p->made[set] < c->count)
        push(p, (struct event){.at = p->now + c->interval_ms * SIM_MS + round_trip(p), .id = set, .kind = AT_CREATE});
}

static void created(struct paced *p, uint32_t set)
{
    const uint32_t class = set % PACED_CLASSES, id = p->job_count++;
    p->jobs[id] = (struct job){.created = p->now, .queue = set / PACED_CLASSES, .class = (uint8_t)class};
    const struct policy_workload w = {.id = id, .local_queue = p->jobs[id].queue, .shape = p->shapes[class],
                                      .priority = p->cfg->classes[class].priority, .created_ns = p->now,
                                      .uid_order = p->uids, .name_order = p->uids};
    p->uids++;
    p->made[set]++;
    give(p, (struct policy_input){.kind = POLICY_IN_SUBMIT, .workload = POLICY_NONE, .submit = &w});
    ask_next(p, set);
}

static void happen(struct paced *p, struct event e)
{
    switch (e.kind) {
    case AT_CREATE: /* generation 1: it has its token */
        if (e.generation == 1)
            created(p, e.id);
        else
            push(p, (struct event){.at = token(&p->runner, p->now), .id = e.id, .generation = 1, .kind = AT_CREATE});
        break;
    case AT_WRITTEN:
        if (p->jobs[e.id].generation != e.generation)
            break;
        p->ops->observed(p->policy, p->now, e.id, &p->out);
        p->jobs[e.id].written = p->now;
        push(p, (struct event){.at = p->now + p->cfg->classes[p->jobs[e.id].class].runtime_ms * SIM_MS + round_trip(p),
                               .id = e.id, .generation = e.generation, .kind = AT_END});
        break;
    case AT_END:
        if (p->jobs[e.id].generation != e.generation)
            break;
        p->finished++;
        p->ended = p->now;
        give(p, (struct policy_input){.kind = POLICY_IN_FINISHED, .workload = e.id});
        break;
    case AT_RELEASE:
        give(p, (struct policy_input){.kind = POLICY_IN_RELEASED, .workload = e.id});
        break;
    }
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void play(struct paced *p)
{
    for (;;) {
        const int64_t wake = p->ops->next_due(p->policy, POLICY_DUE_WAKES);
        int64_t t = p->event_count > 0 ? p->events[0].at : POLICY_NEVER;
        t = earlier(t, wake);
        if (p->awake && p->cycle_ends < t) { /* the scheduler is free before anything else happens */
            p->now = p->cycle_ends > p->now ? p->cycle_ends : p->now;
            cycle(p);
            continue;
        }
        if (t == POLICY_NEVER)
            return;
        p->now = t;
        if (wake <= t)
            p->awake |= p->ops->due(p->policy, t, POLICY_DUE_WAKES, &p->out);
        else
            happen(p, pop(p));
    }
}

/* ---- the cluster ---- */

static void make_objects(struct paced *p, struct policy_config *config)
{
    const uint32_t n = p->queue_count;
    struct policy_cohort *cohorts = arena_alloc(&p->mem, p->cfg->cohorts, sizeof *cohorts);
    struct policy_cluster_queue *queues = arena_alloc(&p->mem, n, sizeof *queues);
    struct policy_local_queue *locals = arena_alloc(&p->mem, n, sizeof *locals);
    struct policy_resource_group *group = arena_alloc(&p->mem, 1, sizeof *group);
    struct policy_quota *quota = arena_alloc(&p->mem, 1, sizeof *quota);
    const struct policy_selector *all = arena_alloc(&p->mem, 1, sizeof *all);
    const uint32_t *zero = arena_alloc(&p->mem, 1, sizeof *zero);
    *quota = (struct policy_quota){p->cfg->nominal, p->cfg->borrowing, POLICY_NIL};
    *group = (struct policy_resource_group){zero, zero, quota, 1, 1};
    for (uint32_t i = 0; i < p->cfg->cohorts; i++)
        cohorts[i] = (struct policy_cohort){.name = arena_printf(&p->mem, "cohort-%u", i), .parent = POLICY_NONE, .weight = 1.0};
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t cohort = i / p->cfg->queues;
        queues[i] = (struct policy_cluster_queue){
            .name = arena_printf(&p->mem, "cq-0-%u-cohort-%u", i % p->cfg->queues, cohort), .cohort = cohort,
            .groups = group, .group_count = 1, .namespace_selector = all, .when_can_preempt = POLICY_TRY_NEXT_FLAVOR,
            .within_cluster_queue = POLICY_LOWER_PRIORITY, .reclaim_within_cohort = POLICY_ANY,
            .max_priority_threshold = POLICY_NIL, .weight = 1.0};
        locals[i] = (struct policy_local_queue){.name = queues[i].name, .cluster_queue = i, .weight = 1.0};
    }
    config->cohorts = cohorts;
    config->cohort_count = p->cfg->cohorts;
    config->cluster_queues = queues;
    config->local_queues = locals;
    config->cluster_queue_count = config->local_queue_count = n;
}

static void make_policy(struct paced *p)
{
    static const char *const resources[] = {"cpu"};
    static const struct policy_flavor flavors[] = {{.name = "rf", .topology = POLICY_NONE}};
    static const struct policy_gate hashing_off[] = {{"SchedulingEquivalenceHashing", false}};
    struct policy_config config = {.abi = POLICY_ABI, .size = sizeof config, .requeue_batch_ns = SIM_SECOND,
        .record_entries = true, .resources = resources, .resource_count = 1, .flavors = flavors, .flavor_count = 1,
        .gates = hashing_off, .gate_count = p->pace->before_hashing ? 1 : 0};
    char error[256] = "";
    make_objects(p, &config);
    p->ops = policy_kueue();
    p->policy = p->ops->create(&config, NULL, error, sizeof error);
    REQUIRE(p->policy != NULL);
    for (uint32_t i = 0; i < PACED_CLASSES; i++) {
        const struct policy_amount request = {0, p->cfg->classes[i].request};
        const struct policy_pod_set set = {.name = "main", .count = 1, .min_count = POLICY_NIL,
                                           .requests = &request, .request_count = 1};
        p->shapes[i] = p->ops->register_shape(p->policy, &(struct policy_shape){&set, 1});
    }
}

static void sum_up(struct paced *p)
{
    double seen[PACED_CLASSES] = {0}, decided[PACED_CLASSES] = {0};
    uint32_t counts[PACED_CLASSES] = {0};
    for (uint32_t i = 0; i < p->job_count; i++) {
        const struct job *j = &p->jobs[i];
        seen[j->class] += (double)(j->written - j->created) / 1e6;
        decided[j->class] += (double)(j->admitted - j->created) / 1e6;
        counts[j->class]++;
    }
    for (int c = 0; c < PACED_CLASSES; c++) {
        p->r->admission_ms[c] = counts[c] > 0 ? seen[c] / counts[c] : 0;
        p->r->decision_ms[c] = counts[c] > 0 ? decided[c] / counts[c] : 0;
    }
    p->r->wall_ms = (double)p->ended / 1e6;
}

void paced_run(const struct paced_config *config, const struct paced_pace *pace, struct paced_result *result)
{
    struct paced p = {.cfg = config, .pace = pace, .r = result, .queue_count = config->cohorts * config->queues,
                      .manager = {pace->write_ns, MANAGER_BURST, INT64_MIN / 2},
                      .runner = {runner_ns, RUNNER_BURST, INT64_MIN / 2}};
    for (int c = 0; c < PACED_CLASSES; c++)
        p.job_total += p.queue_count * config->classes[c].count;
    *result = (struct paced_result){0};
    rng_open(&p.rng, pace->seed, 0, 0, 0);
    make_policy(&p);
    p.jobs = mem_alloc((size_t)p.job_total + 1, sizeof *p.jobs);
    p.made = mem_zalloc((size_t)p.queue_count * PACED_CLASSES + 1, sizeof *p.made);
    p.available = mem_alloc((size_t)p.queue_count + 1, sizeof *p.available);
    for (uint32_t s = 0; s < p.queue_count * PACED_CLASSES; s++)
        ask_next(&p, s);
    play(&p);
    REQUIRE(p.finished == p.job_count && p.job_count == p.job_total);
    sum_up(&p);
    p.ops->destroy(p.policy);
    free(p.out.items);
    free(p.jobs);
    free(p.made);
    free(p.available);
    free(p.events);
    arena_fini(&p.mem);
}
