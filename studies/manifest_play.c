/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/manifest_play.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"
#include "sim/sim_time.h"

enum {
    SPARE_CYCLES = 1000, /* in one instant, beside what admissions need */
    EVICTIONS_WITHOUT_PROGRESS = 20000 /* others may end a quarrel by finishing */
};

enum event_kind { AT_READY, AT_END };

struct mplay_event {
    int64_t at;
    uint32_t workload, generation;
    enum event_kind kind;
};

uint32_t mplay_queue(const struct manifest *m, uint32_t workload)
{
    return m->config.local_queues[m->workloads[workload].policy.local_queue].cluster_queue;
}

/* ---- events: a heap by (time, workload, kind) ---- */

static bool sooner(const struct mplay_event *a, const struct mplay_event *b)
{
    if (a->at != b->at)
        return a->at < b->at;
    return a->workload != b->workload ? a->workload < b->workload : a->kind < b->kind;
}

static void push(struct mplay *p, struct mplay_event e)
{
    p->events = mem_grow(p->events, &p->event_capacity, p->event_count + 1, sizeof *p->events);
    size_t at = p->event_count++;
    for (; at > 0 && sooner(&e, &p->events[(at - 1) / 2]); at = (at - 1) / 2)
        p->events[at] = p->events[(at - 1) / 2];
    p->events[at] = e;
}

static struct mplay_event pop(struct mplay *p)
{
    const struct mplay_event top = p->events[0], last = p->events[--p->event_count];
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

/* ---- what the policy says ---- */

static int64_t count_admitted(const struct policy_entry *e, const char *set)
{
    for (uint32_t i = 0; i < e->set_count; i++)
        if (strcmp(e->sets[i].name, set) == 0)
            return e->sets[i].count;
    return 0;
}

static int64_t amount_admitted(const struct manifest *m, uint32_t id, const struct policy_entry *e)
{
    const struct manifest_workload *w = &m->workloads[id];
    int64_t sum = 0;
    for (uint32_t s = 0; s < w->shape.pod_set_count; s++) {
        const struct policy_pod_set *set = &w->shape.pod_sets[s];
        for (uint32_t i = 0; i < set->request_count; i++)
            if (set->requests[i].resource == m->main_resource)
                sum += set->requests[i].amount * count_admitted(e, set->name);
    }
    return sum;
}

static void let_go(struct mplay *p, uint32_t id)
{
    struct mplay_run *r = &p->runs[id];
    if (!r->holds)
        return;
    r->holds = false;
    r->generation++;
    p->queue_used[mplay_queue(p->m, id)] -= r->counted;
    r->counted = 0;
}

static void admitted(struct mplay *p, uint32_t id, int64_t now, const struct policy_entry *e)
{
    const struct manifest_workload *w = &p->m->workloads[id];
    const uint32_t queue = mplay_queue(p->m, id);
    struct mplay_run *r = &p->runs[id];
    const int64_t start = sim_time_after(now, p->m->queues[queue].check_delay_ns);
    const int64_t ready = sim_time_after(start, w->startup_ns);
    r->holds = true;
    r->generation++;
    r->counted = amount_admitted(p->m, id, e);
    p->queue_used[queue] += r->counted;
    r->admissions++;
    r->last_reserved = now;
    if (r->reserved == POLICY_NEVER) {
        r->reserved = now;
        r->started = start;
    }
    r->run_since = ready;
    if (p->m->config.pods_ready.on) /* otherwise Kueue keeps no such condition */
        push(p, (struct mplay_event){ready, id, r->generation, AT_READY});
    int64_t end = w->forever || w->duration_ns == POLICY_NEVER ? POLICY_NEVER
                                                               : sim_time_after(ready, w->duration_ns);
    const int64_t limit = w->limit_ns == POLICY_NEVER ? POLICY_NEVER : sim_time_after(start, w->limit_ns);
    end = end < limit ? end : limit;
    if (end != POLICY_NEVER)
        push(p, (struct mplay_event){end, id, r->generation, AT_END});
}

static void evicted(struct mplay *p, int64_t now, const struct policy_output *o)
{
    struct mplay_run *r = &p->runs[o->workload];
    r->evictions++;
    p->idle_evictions++;
    r->preemptions += o->u.evict.preemptor != POLICY_NONE;
    if (r->run_since < now)
        r->lost_ns += now - r->run_since;
    let_go(p, o->workload);
}

static void apply(void *ctx, int64_t now, const struct policy_output *outputs, size_t count)
{
    struct mplay *p = ctx;
    for (size_t i = 0; i < count; i++) {
        const struct policy_output *o = &outputs[i];
        if (o->kind == POLICY_DO_ADMIT)
            admitted(p, o->workload, now, o->u.entry);
        else if (o->kind == POLICY_DO_EVICT)
            evicted(p, now, o);
        else if (o->kind == POLICY_DO_DEACTIVATE)
            p->runs[o->workload].deactivated = now;
        if (p->opt.watch.output != NULL)
            p->opt.watch.output(p->opt.watch.ctx, p, now, o);
    }
}

static void cycle_over(void *ctx, int64_t now, bool changed)
{
    struct mplay *p = ctx;
    (void)now;
    (void)changed;
    p->cycles++;
}

/* ---- instants ---- */

static struct policy_input *add_input(struct mplay *p, enum policy_input_kind kind, uint32_t id)
{
    p->inputs = mem_grow(p->inputs, &p->input_capacity, p->input_count + 1, sizeof *p->inputs);
    struct policy_input *in = &p->inputs[p->input_count++];
    *in = (struct policy_input){.kind = kind, .workload = id};
    return in;
}

static void due_event(struct mplay *p, int64_t now, struct mplay_event e)
{
    struct mplay_run *r = &p->runs[e.workload];
    if (e.generation != r->generation)
        return; /* of a run that was evicted */
    add_input(p, e.kind == AT_END ? POLICY_IN_FINISHED : POLICY_IN_READY, e.workload);
    if (e.kind == AT_READY)
        return;
    r->finished = now;
    p->idle_evictions = 0;
    let_go(p, e.workload);
    if (p->opt.watch.finished != NULL)
        p->opt.watch.finished(p->opt.watch.ctx, p, now, e.workload);
}

/* Workloads that no queue will take are passed over. */
static void skip_inadmissible(struct mplay *p)
{
    const struct manifest *m = p->m;
    while (p->next < m->workload_count && m->workloads[p->next].inadmissible != NULL)
        p->next++;
}

static void gather(struct mplay *p, int64_t now)
{
    p->input_count = 0;
    while (p->event_count > 0 && p->events[0].at <= now)
        due_event(p, now, pop(p));
    for (skip_inadmissible(p);
         p->next < p->m->workload_count && p->m->workloads[p->next].policy.created_ns <= now;
         p->next++, skip_inadmissible(p)) {
        const struct policy_workload *w = &p->m->workloads[p->next].policy;
        p->runs[w->id].submitted = true;
        add_input(p, POLICY_IN_SUBMIT, POLICY_NONE)->submit = w;
        if (p->opt.watch.submitted != NULL)
            p->opt.watch.submitted(p->opt.watch.ctx, p, now, w->id);
    }
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t next_instant(struct mplay *p)
{
    int64_t t = settle_next(p->settle, false);
    skip_inadmissible(p);
    if (p->next < p->m->workload_count)
        t = earlier(t, p->m->workloads[p->next].policy.created_ns);
    while (p->event_count > 0 && p->events[0].generation != p->runs[p->events[0].workload].generation)
        pop(p);
    if (p->event_count > 0)
        t = earlier(t, p->events[0].at);
    return t == POLICY_NEVER ? t : earlier(t, settle_next(p->settle, true));
}

static void play(struct mplay *p)
{
    for (int64_t now; (now = next_instant(p)) != POLICY_NEVER;) {
        if (now > p->opt.horizon_ns) {
            p->end_ns = p->opt.horizon_ns;
            return;
        }
        if (now > p->now && p->settles > 0 && p->opt.watch.instant != NULL)
            p->opt.watch.instant(p->opt.watch.ctx, p, now);
        p->now = p->end_ns = now;
        gather(p, now);
        p->settles++;
        const enum settle_status status = policy_settle(p->settle, now, p->inputs, p->input_count);
        p->loop |= settle_loop(p->settle) != NULL;
        p->stopped = status == SETTLE_LOOP || (p->loop && p->idle_evictions > EVICTIONS_WITHOUT_PROGRESS);
        if (p->stopped)
            return;
    }
    if (p->opt.horizon_ns != POLICY_NEVER)
        p->end_ns = p->opt.horizon_ns;
}

/* ---- life ---- */

static const char *workload_name(void *ctx, uint32_t id)
{
    const struct mplay *p = ctx;
    return id < p->m->workload_count ? p->m->workloads[id].name : "";
}

static bool create(struct mplay *p, struct err *err)
{
    char error[256] = "";
    struct policy_config cfg = p->m->config;
    const struct policy_host host = {
        .abi = POLICY_ABI, .size = sizeof host, .ctx = p, .workload_name = workload_name};
    cfg.record_reasons = cfg.record_pending = p->opt.reasons;
    cfg.requeue_batch_ns = p->opt.requeue_batch_ns;
    p->ops = policy_kueue();
    p->policy = p->ops->create(&cfg, &host, error, sizeof error);
    return p->policy != NULL || err_set(err, ERR_INPUT, "%s", error);
}

bool mplay_run(struct mplay *p, const struct manifest *m, const struct mplay_options *options,
               struct err *err)
{
    *p = (struct mplay){.m = m, .opt = *options};
    p->runs = mem_zalloc((size_t)m->workload_count + 1, sizeof *p->runs);
    p->queue_used = mem_zalloc((size_t)m->config.cluster_queue_count + 1, sizeof *p->queue_used);
    if (!create(p, err))
        return false;
    for (uint32_t i = 0; i < m->workload_count; i++) {
        struct manifest_workload *w = &m->workloads[i];
        p->runs[i].reserved = p->runs[i].last_reserved = p->runs[i].started = POLICY_NEVER;
        p->runs[i].finished = p->runs[i].deactivated = p->runs[i].run_since = POLICY_NEVER;
        if (w->inadmissible == NULL)
            w->policy.shape = p->ops->register_shape(p->policy, &w->shape);
    }
    /* One head of a queue is admitted in a cycle: a thousand workloads submitted at once take a
     * thousand cycles without being a loop. */
    const struct settle_config sc = {.eviction_ns = p->opt.eviction_ns,
                                     .cycle_cap = 2 * m->workload_count + SPARE_CYCLES};
    const struct settle_host host = {p, apply, cycle_over};
    p->settle = settle_create(p->ops, p->policy, &sc, &host);
    play(p);
    return true;
}

void mplay_fini(struct mplay *p)
{
    if (p->settle != NULL)
        settle_destroy(p->settle);
    if (p->policy != NULL)
        p->ops->destroy(p->policy);
    free(p->runs);
    free(p->queue_used);
    free(p->events);
    free(p->inputs);
}

void mplay_print_loop(const struct mplay *p, FILE *out)
{
    const struct settle_loop *l = settle_loop(p->settle);
    if (l == NULL)
        return;
    fprintf(out, "workloads evict each other %s since %.3f s:\n", p->stopped ? "without end" : "again and again",
            sim_time_seconds(l->time_ns));
    for (uint32_t i = 0; i < l->count; i++) {
        const struct manifest_workload *by = &p->m->workloads[l->preemptors[i]];
        const struct manifest_workload *w = &p->m->workloads[l->victims[i]];
        fprintf(out, "  %s/%s (queue %s) evicts %s/%s (queue %s): %s\n", by->name_space, by->name, by->queue,
                w->name_space, w->name, w->queue, policy_evict_reason_name(l->rules[i]));
    }
}
