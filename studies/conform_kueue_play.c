/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/conform_kueue_play.h"

#include <stdlib.h>

#include "models/policies/settle.h"
#include "sim/sim_time.h"

enum { LINES_MAX = 1500, TIME_MAX_S = 20000, CYCLES_MAX = 60 }; /* where the recorder stopped a case */

struct player {
    struct kueue_case *c;
    struct kueue_result *r;
    const struct policy_ops *ops;
    void *policy;
    struct settle *settle;
    struct policy_input *inputs;
    size_t input_count, input_capacity;
    uint32_t next_job, next_change;
    uint32_t *by_time; /* jobs by arrival, list order within a second */
    size_t kept; /* lines that stay: up to the last cycle that changed something */
};

static void push_time(struct kueue_times *t, int64_t now)
{
    t->v = mem_grow(t->v, &t->capacity, t->count + 1, sizeof *t->v);
    t->v[t->count++] = now;
}

static void cancel(struct kueue_run *run)
{
    run->ready = run->unready = run->recovered = run->end = POLICY_NEVER;
}

static int64_t at(int64_t now, int64_t after)
{
    return after == POLICY_NEVER ? POLICY_NEVER : now + after;
}

static void admitted(struct player *p, uint32_t job, int64_t now)
{
    struct kueue_run *run = &p->r->runs[job];
    const struct kueue_job *j = &p->c->jobs[job];
    const size_t n = run->admitted.count;
    const struct kueue_attempt *a =
        &j->attempts[n < j->attempt_count ? n : j->attempt_count - 1];
    push_time(&run->admitted, now);
    run->ready = at(now, a->ready);
    run->unready = at(now, a->unready);
    run->recovered = at(now, a->recovered);
    run->end = at(now, a->end);
}

static void evicted(struct player *p, const struct policy_output *o, int64_t now)
{
    struct kueue_run *run = &p->r->runs[o->workload];
    cancel(run);
    if (o->u.evict.preemptor != POLICY_NONE) {
        push_time(&run->preempted, now);
        return;
    }
    run->evict_reasons = mem_grow(run->evict_reasons, &run->evict_reason_capacity,
                                  run->evicted.count + 1, sizeof *run->evict_reasons);
    run->evict_reasons[run->evicted.count] = o->u.evict.reason;
    push_time(&run->evicted, now);
}

static void apply(void *ctx, int64_t now, const struct policy_output *outputs, size_t count)
{
    struct player *p = ctx;
    const uint32_t number = settle_cycles(p->settle);
    for (size_t i = 0; i < count; i++) { /* entries come before their cycle's own line */
        if (outputs[i].kind == POLICY_SAY_CYCLE)
            p->r->log.cycle_began_ns = outputs[i].u.cycle.began_ns;
    }
    for (size_t i = 0; i < count; i++) {
        const struct policy_output *o = &outputs[i];
        kueue_log_output(&p->r->log, o, number);
        p->r->entries += o->kind == POLICY_SAY_ENTRY;
        if (o->kind == POLICY_DO_ADMIT)
            admitted(p, o->workload, now);
        else if (o->kind == POLICY_DO_EVICT)
            evicted(p, o, now);
        else if (o->kind == POLICY_DO_DEACTIVATE)
            p->r->runs[o->workload].deactivated = now;
        else if (o->kind == POLICY_SAY_CYCLE && now > o->u.cycle.began_ns)
            p->kept = p->r->log.line_count; /* a blocked cycle always admits */
    }
}

static void cycle_over(void *ctx, int64_t now, bool changed)
{
    struct player *p = ctx;
    (void)now;
    p->r->cycles++;
    if (changed)
        p->kept = p->r->log.line_count;
}

static struct policy_input *add_input(struct player *p, enum policy_input_kind kind, uint32_t job)
{
    p->inputs = mem_grow(p->inputs, &p->input_capacity, p->input_count + 1, sizeof *p->inputs);
    struct policy_input *in = &p->inputs[p->input_count++];
    *in = (struct policy_input){.kind = kind, .workload = job};
    return in;
}

static void due_changes(struct player *p, int64_t now)
{
    for (; p->next_change < p->c->change_count && p->c->changes[p->next_change].at_ns <= now;
         p->next_change++) {
        struct policy_input *in = add_input(p, POLICY_IN_OBJECT, POLICY_NONE);
        in->object_kind = POLICY_OBJ_CLUSTER_QUEUE;
        in->object_id = p->c->changes[p->next_change].id;
        in->object = &p->c->changes[p->next_change].queue;
    }
}

static void due_run(struct player *p, uint32_t job, int64_t now)
{
    struct kueue_run *run = &p->r->runs[job];
    if (run->end <= now) {
        cancel(run);
        run->finished = now;
        add_input(p, POLICY_IN_FINISHED, job);
        return;
    }
    if (run->ready <= now || run->recovered <= now)
        add_input(p, POLICY_IN_READY, job);
    else if (run->unready <= now)
        add_input(p, POLICY_IN_UNREADY, job);
    run->ready = run->ready <= now ? POLICY_NEVER : run->ready;
    run->unready = run->unready <= now ? POLICY_NEVER : run->unready;
    run->recovered = run->recovered <= now ? POLICY_NEVER : run->recovered;
}

static void due_jobs(struct player *p, int64_t now)
{
    for (uint32_t i = 0; i < p->c->job_count; i++)
        due_run(p, i, now);
    for (; p->next_job < p->c->job_count && p->c->jobs[p->by_time[p->next_job]].at_ns <= now;
         p->next_job++) {
        struct kueue_job *j = &p->c->jobs[p->by_time[p->next_job]];
        p->r->runs[p->by_time[p->next_job]].arrived = true;
        add_input(p, POLICY_IN_SUBMIT, POLICY_NONE)->submit = &j->workload;
    }
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t next_instant(struct player *p)
{
    int64_t t = settle_next(p->settle, false);
    if (p->next_job < p->c->job_count)
        t = earlier(t, p->c->jobs[p->by_time[p->next_job]].at_ns);
    if (p->next_change < p->c->change_count)
        t = earlier(t, p->c->changes[p->next_change].at_ns);
    for (uint32_t i = 0; i < p->c->job_count; i++) {
        const struct kueue_run *run = &p->r->runs[i];
        t = earlier(t, earlier(earlier(run->ready, run->unready), earlier(run->recovered, run->end)));
    }
    return t == POLICY_NEVER ? t : earlier(t, settle_next(p->settle, true));
}

static void play(struct player *p)
{
    for (int64_t now; (now = next_instant(p)) != POLICY_NEVER;) {
        p->input_count = 0;
        due_changes(p, now);
        due_jobs(p, now);
        const enum settle_status status = policy_settle(p->settle, now, p->inputs, p->input_count);
        kueue_log_cut(&p->r->log,
                      p->kept > p->r->log.events_end ? p->kept : p->r->log.events_end);
        kueue_log_flush(&p->r->log);
        p->kept = p->r->log.line_count;
        if (status == SETTLE_LOOP) {
            p->r->stopped = "cycles";
            return;
        }
        if (p->r->log.line_count > LINES_MAX || now > TIME_MAX_S * SIM_SECOND) {
            p->r->stopped = "length";
            return;
        }
    }
}

static void begin(struct player *p)
{
    struct kueue_result *r = p->r;
    const size_t n = p->c->job_count;
    const size_t had = r->run_capacity;
    r->runs = mem_grow(r->runs, &r->run_capacity, n, sizeof *r->runs);
    for (size_t i = had; i < r->run_capacity; i++)
        r->runs[i] = (struct kueue_run){.arrived = false};
    for (size_t i = 0; i < n; i++) {
        struct kueue_run *run = &r->runs[i];
        run->admitted.count = run->preempted.count = run->evicted.count = 0;
        run->finished = run->deactivated = POLICY_NEVER;
        run->arrived = false;
        cancel(run);
    }
    r->places = mem_grow(r->places, &r->place_capacity, n, sizeof *r->places);
    r->stopped = NULL;
    r->entries = 0;
    kueue_log_clear(&r->log, p->c);
    p->by_time = arena_alloc(&p->c->mem, n + 1, sizeof *p->by_time);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = i;
        for (; j > 0 && p->c->jobs[i].at_ns < p->c->jobs[p->by_time[j - 1]].at_ns; j--)
            p->by_time[j] = p->by_time[j - 1];
        p->by_time[j] = i;
        p->c->jobs[i].workload.shape = p->ops->register_shape(p->policy, &p->c->jobs[i].shape);
    }
}

bool kueue_play(struct kueue_case *c, bool entries, struct kueue_result *r, struct err *e)
{
    char error[256] = "";
    struct player p = {.c = c, .r = r, .ops = policy_kueue()};
    c->config.record_entries = entries;
    p.policy = p.ops->create(&c->config, NULL, error, sizeof error);
    if (p.policy == NULL)
        return err_set(e, ERR_INPUT, "case '%s': %s", c->name, error);
    const struct settle_config cfg = {.eviction_ns = c->eviction_ns, .cycle_cap = CYCLES_MAX};
    const struct settle_host host = {&p, apply, cycle_over};
    p.settle = settle_create(p.ops, p.policy, &cfg, &host);
    begin(&p);
    play(&p);
    for (uint32_t i = 0; i < c->job_count; i++)
        r->places[i] = p.ops->place(p.policy, i);
    r->counts = kq_counts_of(p.policy);
    settle_destroy(p.settle);
    p.ops->destroy(p.policy);
    free(p.inputs);
    return true;
}

void kueue_result_fini(struct kueue_result *r)
{
    kueue_log_fini(&r->log);
    for (size_t i = 0; i < r->run_capacity; i++) {
        free(r->runs[i].admitted.v);
        free(r->runs[i].preempted.v);
        free(r->runs[i].evicted.v);
        free(r->runs[i].evict_reasons);
    }
    free(r->runs);
    free(r->places);
}
