/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/manifest_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/world/tables.h"
#include "sim/sim_time.h"
#include "sim/tally.h"

enum { SERIES_QUEUES_MAX = 64, STEPS = 900, POINTS_MAX = 12000 /* steps x queues */ };

struct sums { /* of one cluster queue; main units x seconds, unless said otherwise */
    double used, borrowed, lent, waiting;
    double nominal; /* main units */
};

struct group { /* jobs counted together */
    struct qhist wait, ages; /* started; not started */
    double waiting, unfinished, rework, lost;
    uint64_t submitted, started, finished, preemptions, evictions;
};

struct point {
    double t;
    double *used, *borrowed, *lent, *pending; /* by queue; pending: workloads */
};

struct mfigures {
    const struct manifest *m;
    struct sums *queues;
    uint32_t queue_count;
    int64_t last, step, next_point;
    struct point *points;
    size_t point_count, point_capacity;
    struct arena mem;
};

static double units(const struct manifest *m, int64_t amount)
{
    return (double)amount / (double)m->main_unit;
}

/* Nominal quota of the main resource, all flavors. */
static double nominal_of(const struct manifest *m, const struct policy_cluster_queue *q)
{
    double sum = 0;
    for (uint32_t g = 0; g < q->group_count; g++)
        for (uint32_t f = 0; f < q->groups[g].flavor_count; f++)
            for (uint32_t r = 0; r < q->groups[g].resource_count; r++)
                if (q->groups[g].resources[r] == m->main_resource)
                    sum += units(m, q->groups[g].quotas[f * q->groups[g].resource_count + r].nominal);
    return sum;
}

struct mfigures *mfigures_create(const struct manifest *m)
{
    struct mfigures *f = mem_zalloc(1, sizeof *f);
    f->m = m;
    f->queue_count = m->config.cluster_queue_count;
    f->queues = mem_zalloc((size_t)f->queue_count + 1, sizeof *f->queues);
    for (uint32_t i = 0; i < f->queue_count; i++)
        f->queues[i].nominal = nominal_of(m, &m->config.cluster_queues[i]);
    int64_t span = SIM_SECOND;
    for (uint32_t i = 0; i < m->workload_count; i++) {
        const struct manifest_workload *w = &m->workloads[i];
        const int64_t run = w->duration_ns == POLICY_NEVER ? 0 : w->duration_ns;
        span = sim_time_after(w->policy.created_ns, run) > span ? sim_time_after(w->policy.created_ns, run) : span;
    }
    const uint32_t fit = f->queue_count > 0 ? POINTS_MAX / f->queue_count + 1 : STEPS;
    f->step = span / (fit < STEPS ? fit : STEPS) + 1;
    return f;
}

void mfigures_destroy(struct mfigures *f)
{
    arena_fini(&f->mem);
    free(f->queues);
    free(f->points);
    free(f);
}

/* ---- over time ---- */

static void state_of(const struct mfigures *f, const struct mplay *p, uint32_t q, double *borrowed, double *lent)
{
    const struct policy_cluster_queue *cq = &f->m->config.cluster_queues[q];
    *borrowed = *lent = 0;
    for (uint32_t g = 0; g < cq->group_count; g++)
        for (uint32_t k = 0; k < cq->groups[g].flavor_count; k++) {
            struct policy_quota_state s;
            if (!p->ops->quota(p->policy, POLICY_OBJ_CLUSTER_QUEUE, q, cq->groups[g].flavors[k],
                               f->m->main_resource, &s))
                continue;
            *borrowed += units(f->m, s.borrowed);
            *lent += units(f->m, s.lent);
        }
}

static void add_point(struct mfigures *f, const struct mplay *p, int64_t from, int64_t now)
{
    const uint32_t n = f->queue_count;
    const double s = sim_time_seconds(now - from);
    const bool shown = n <= SERIES_QUEUES_MAX && f->point_count < 1000;
    struct point *at = NULL;
    if (shown) {
        f->points = mem_grow(f->points, &f->point_capacity, f->point_count + 1, sizeof *f->points);
        at = &f->points[f->point_count++];
        *at = (struct point){.t = sim_time_seconds(from), .used = arena_alloc(&f->mem, 4 * (size_t)n + 1, sizeof(double))};
        at->borrowed = at->used + n;
        at->lent = at->borrowed + n;
        at->pending = at->lent + n;
    }
    for (uint32_t q = 0; q < n; q++) {
        double borrowed, lent;
        const double waiting = p->ops->pending_count(p->policy, q);
        state_of(f, p, q, &borrowed, &lent);
        f->queues[q].borrowed += borrowed * s;
        f->queues[q].lent += lent * s;
        f->queues[q].waiting += waiting * s;
        if (at == NULL)
            continue;
        at->used[q] = units(f->m, p->queue_used[q]);
        at->borrowed[q] = borrowed;
        at->lent[q] = lent;
        at->pending[q] = waiting;
    }
}

void mfigures_instant(struct mfigures *f, const struct mplay *p, int64_t now)
{
    const double s = sim_time_seconds(now - f->last);
    for (uint32_t q = 0; q < f->queue_count; q++)
        f->queues[q].used += units(f->m, p->queue_used[q]) * s;
    f->last = now;
    if (now < f->next_point)
        return;
    const int64_t from = f->next_point > f->step ? f->next_point - f->step : 0;
    add_point(f, p, from, now);
    f->next_point = now + f->step;
}

/* ---- rows ---- */

struct emit {
    const struct mfigures *f;
    const struct mplay *p;
    int64_t run_id;
    const struct record_sink *sink;
};

static void metric(const struct emit *e, const char *kind, const char *scope, const char *name, double value,
                   bool censored)
{
    struct record_value v[] = {rec_int(e->run_id), rec_text(kind),  rec_text(scope),
                               rec_text(name),     rec_real(value), rec_int(censored ? 1 : 0)};
    record_row(e->sink, &table_metric, v);
}

static void group_init(struct group *g)
{
    memset(g, 0, sizeof *g);
    qhist_init(&g->wait, 0.01, 1e-3, 1e9);
    qhist_init(&g->ages, 0.01, 1e-3, 1e9);
}

static void group_fini(struct group *g)
{
    qhist_fini(&g->wait);
    qhist_fini(&g->ages);
}

static double cards_of(const struct manifest *m, const struct manifest_workload *w)
{
    return m->main_resource == POLICY_NONE ? 0 : units(m, manifest_request(w, m->main_resource));
}

static void count(struct group *g, const struct emit *e, uint32_t id)
{
    const struct manifest_workload *w = &e->f->m->workloads[id];
    const struct mplay_run *r = &e->p->runs[id];
    const double cards = cards_of(e->f->m, w);
    if (w->policy.created_ns > e->p->end_ns)
        return;
    g->submitted++;
    g->preemptions += r->preemptions;
    g->evictions += r->evictions;
    g->lost += cards * sim_time_seconds(r->lost_ns) / 3600.0;
    g->finished += r->finished != POLICY_NEVER;
    if (r->started != POLICY_NEVER) {
        g->started++;
        qhist_add(&g->wait, sim_time_seconds(r->started - w->policy.created_ns), 1.0);
    } else {
        g->waiting += 1;
        qhist_add(&g->ages, sim_time_seconds(e->p->end_ns - w->policy.created_ns), 1.0);
    }
    if (r->finished == POLICY_NEVER && w->duration_ns != POLICY_NEVER)
        g->unfinished += cards * sim_time_seconds(w->duration_ns) / 3600.0;
}

/* A quantile is a lower bound when moving the jobs that never started to infinity would move it. */
static void emit_wait(const struct emit *e, const char *kind, const char *scope, const struct group *g)
{
    static const struct {
        double p;
        const char *name;
    } quantiles[] = {{0.5, "training.wait.p50"}, {0.95, "training.wait.p95"}};
    struct qhist known, unknown;
    qhist_init(&known, 0.01, 1e-3, 1e9);
    qhist_init(&unknown, 0.01, 1e-3, 1e9);
    qhist_merge(&known, &g->wait);
    qhist_merge(&known, &g->ages);
    qhist_merge(&unknown, &g->wait);
    if (g->waiting > 0)
        qhist_add_infinite(&unknown, g->waiting);
    for (size_t i = 0; i < 2; i++) {
        const double q = qhist_quantile(&known, quantiles[i].p), most = qhist_quantile(&unknown, quantiles[i].p);
        metric(e, kind, scope, quantiles[i].name, q, known.total > 0 && most > q * (1 + 3 * known.alpha));
    }
    qhist_fini(&known);
    qhist_fini(&unknown);
}

static void emit_group(const struct emit *e, const char *kind, const char *scope, const struct group *g)
{
    emit_wait(e, kind, scope, g);
    metric(e, kind, scope, "training.submitted", (double)g->submitted, false);
    metric(e, kind, scope, "training.started", (double)g->started, false);
    metric(e, kind, scope, "training.finished", (double)g->finished, false);
    metric(e, kind, scope, "training.unfinished", g->unfinished, false);
    metric(e, kind, scope, "training.lost", g->lost, false);
    metric(e, kind, scope, "training.rework", g->lost, false); /* it is all done again */
    metric(e, kind, scope, "training.preemptions", (double)g->preemptions, false);
    metric(e, kind, scope, "training.evictions", (double)g->evictions, false);
}

/* Groups by a text of the workload: its namespace, its cluster queue. */
static const char *team_of(const struct manifest *m, uint32_t id)
{
    return m->workloads[id].name_space;
}

static const char *queue_of(const struct manifest *m, uint32_t id)
{
    const struct manifest_workload *w = &m->workloads[id];
    return w->policy.local_queue == POLICY_NONE ? "" : m->config.cluster_queues[mplay_queue(m, id)].name;
}

struct keyed {
    const char *key;
    uint32_t id;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    const int c = strcmp(x->key, y->key);
    return c != 0 ? c : (x->id > y->id) - (x->id < y->id);
}

static void emit_groups(const struct emit *e, const char *kind,
                        const char *(*key)(const struct manifest *m, uint32_t id))
{
    const struct manifest *m = e->f->m;
    struct keyed *list = mem_alloc((size_t)m->workload_count + 1, sizeof *list);
    for (uint32_t i = 0; i < m->workload_count; i++)
        list[i] = (struct keyed){key(m, i), i};
    if (m->workload_count > 1)
        qsort(list, m->workload_count, sizeof *list, by_key);
    for (uint32_t i = 0, next; i < m->workload_count; i = next) {
        struct group g;
        group_init(&g);
        for (next = i; next < m->workload_count && strcmp(list[next].key, list[i].key) == 0; next++)
            count(&g, e, list[next].id);
        if (list[i].key[0] != '\0')
            emit_group(e, kind, list[i].key, &g);
        group_fini(&g);
    }
    free(list);
}

static void emit_quota(const struct emit *e)
{
    const struct mfigures *f = e->f;
    const double s = sim_time_seconds(f->last) > 0 ? sim_time_seconds(f->last) : 1.0;
    for (uint32_t q = 0; q < f->queue_count; q++) {
        const char *name = f->m->config.cluster_queues[q].name;
        if (name == NULL)
            continue;
        metric(e, "queue", name, "quota.nominal", f->queues[q].nominal, false);
        metric(e, "queue", name, "quota.used", f->queues[q].used / s, false);
        metric(e, "queue", name, "quota.borrowed", f->queues[q].borrowed / s, false);
        metric(e, "queue", name, "quota.lent", f->queues[q].lent / s, false);
    }
}

static double seconds_or_null(int64_t t)
{
    return t == POLICY_NEVER ? (double)NAN : sim_time_seconds(t);
}

static void emit_workload(const struct emit *e, uint32_t id, const char *reason)
{
    const struct manifest *m = e->f->m;
    const struct manifest_workload *w = &m->workloads[id];
    const struct mplay_run *r = &e->p->runs[id];
    char name[512];
    int64_t pods = 0;
    snprintf(name, sizeof name, "%.250s/%.250s", w->name_space, w->name);
    for (uint32_t s = 0; s < w->shape.pod_set_count; s++)
        pods += w->shape.pod_sets[s].count;
    const double cards = cards_of(m, w);
    const double work = w->duration_ns == POLICY_NEVER ? 0 : sim_time_seconds(w->duration_ns);
    double done = r->finished != POLICY_NEVER ? work : 0;
    if (r->holds && r->run_since < e->p->end_ns)
        done = sim_time_seconds(e->p->end_ns - r->run_since);
    struct record_value v[] = {rec_int(e->run_id),
                               rec_text(name),
                               rec_text("training"),
                               rec_text(w->name_space),
                               rec_text(queue_of(m, id)),
                               rec_int(w->policy.priority),
                               rec_int(pods),
                               rec_int(cards < 9e15 ? (int64_t)(cards * 1000.0) : INT64_MAX),
                               rec_real(sim_time_seconds(w->policy.created_ns)),
                               rec_real(seconds_or_null(r->started)),
                               rec_real(seconds_or_null(r->finished)),
                               rec_real(work),
                               rec_real(done),
                               rec_int(r->evictions),
                               rec_real(cards_of(m, w) * sim_time_seconds(r->lost_ns)),
                               rec_text(w->inadmissible != NULL ? w->inadmissible : reason)};
    record_row(e->sink, &table_workload, v);
}

static void series_row(const struct emit *e, const char *name, const char *scope, double t, double value)
{
    struct record_value v[] = {rec_int(e->run_id), rec_text(name), rec_text(scope), rec_real(t), rec_real(value)};
    record_row(e->sink, &table_series, v);
}

static void emit_series(const struct emit *e)
{
    const struct mfigures *f = e->f;
    for (size_t i = 0; i < f->point_count; i++) {
        const struct point *at = &f->points[i];
        double used = 0;
        for (uint32_t q = 0; q < f->queue_count; q++) {
            const char *name = f->m->config.cluster_queues[q].name;
            if (name == NULL)
                continue;
            used += at->used[q];
            series_row(e, "quota.used", name, at->t, at->used[q]);
            series_row(e, "quota.borrowed", name, at->t, at->borrowed[q]);
            series_row(e, "quota.lent", name, at->t, at->lent[q]);
            series_row(e, "queue.pending", name, at->t, at->pending[q]);
        }
        series_row(e, "training.cards", "", at->t, used);
    }
}

static void emit_histogram(const struct emit *e, const struct qhist *h)
{
    for (uint32_t i = 0; i < h->bin_count; i++) {
        double lo, hi;
        if (!(h->bins[i] > 0))
            continue;
        qhist_bin_edges(h, i, &lo, &hi);
        struct record_value v[] = {rec_int(e->run_id), rec_text("training.wait"), rec_text(""), rec_real(lo),
                                   isinf(hi) ? rec_null() : rec_real(hi), rec_real(h->bins[i])};
        record_row(e->sink, &table_histogram, v);
    }
}

void mfigures_emit(struct mfigures *f, const struct mplay *p, int64_t run_id, const struct record_sink *sink,
                   const char *(*reason_of)(void *ctx, uint32_t workload), void *ctx)
{
    const struct emit e = {f, p, run_id, sink};
    struct group all;
    group_init(&all);
    for (uint32_t i = 0; i < f->m->workload_count; i++)
        count(&all, &e, i);
    emit_group(&e, "all", "", &all);
    emit_histogram(&e, &all.wait);
    group_fini(&all);
    emit_groups(&e, "team", team_of);
    emit_groups(&e, "queue", queue_of);
    emit_quota(&e);
    if (reason_of != NULL)
        emit_series(&e);
    for (uint32_t i = 0; i < f->m->workload_count && reason_of != NULL; i++)
        emit_workload(&e, i, reason_of(ctx, i));
}
