/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a world says at its end: metrics, ledger rows, histograms (names: studies/run_results.h). */
#include <math.h>
#include <stdio.h>

#include "models/world/distributions.h"
#include "models/world/gang_speed.h"
#include "models/world/world_lora.h"
#include "models/world/offered.h"
#include "models/world/tables.h"
#include "models/world/world_preempt.h"
#include "models/world/world_priv.h"
#include "sim/check.h"

void results_metric(struct world *w, const char *kind, const char *scope, const char *name,
                    double value, bool censored)
{
    struct record_value v[] = {rec_int(w->opt.run_id), rec_text(kind), rec_text(scope),
                               rec_text(name),         rec_real(value), rec_int(censored ? 1 : 0)};
    record_row(&w->opt.sink, &table_metric, v);
}

static void all(struct world *w, const char *name, double value)
{
    results_metric(w, "all", "", name, value, false);
}

/* ---- ledger ---- */

static const char *purchase_name(enum purchase p)
{
    static const char *const names[] = {"on_demand", "reserved", "spot", "owned"};
    return names[p];
}

static void emit_ledger(struct world *w)
{
    struct ledger_cursor at = {0};
    struct ledger_row r;
    while (ledger_next_row(w->ledger, &at, &r)) {
        const struct node_pool_config *p = &w->s->fleet.pools[r.pool];
        struct i128_card_s split = i128_split(r.mcns);
        struct record_value v[] = {
            rec_int(w->opt.run_id),
            rec_int(r.period),
            rec_text(p->name),
            rec_text(purchase_name(p->purchase)),
            rec_text(r.team >= 0 ? w->s->quota.teams[r.team].name : NULL),
            rec_text(ledger_class_name(r.workload_class)),
            rec_text(ledger_bucket_name(r.bucket)),
            rec_int(split.card_s),
            rec_int(split.rest_mcns)};
        record_row(&w->opt.sink, &table_ledger, v);
    }
}

static double bucket_sum(const struct world *w, int32_t pool, enum ledger_bucket b)
{
    struct ledger_query q = ledger_query_all();
    q.pool = pool;
    q.bucket = (int32_t)b;
    return i128_card_hours(ledger_sum(w->ledger, q));
}

static void emit_utilisation(struct world *w, const char *kind, const char *scope, int32_t pool)
{
    static const struct {
        enum ledger_bucket bucket;
        const char *name;
    } idle[] = {{LEDGER_IDLE_NO_DEMAND, "idle.no_demand"},
                {LEDGER_IDLE_QUOTA, "idle.quota"},
                {LEDGER_IDLE_BLOCKED, "idle.blocked"},
                {LEDGER_IDLE_FRAGMENTED, "idle.fragmented"},
                {LEDGER_IDLE_RESERVED, "idle.reserved"}};
    struct ledger_utilisation u = ledger_utilisations(w->ledger, pool);
    results_metric(w, kind, scope, "utilization.allocated", u.allocated, false);
    results_metric(w, kind, scope, "utilization.real", u.real, false);
    results_metric(w, kind, scope, "utilization.useful", u.useful, false);
    results_metric(w, kind, scope, "utilization.work", u.work, false);
    double capacity = i128_card_hours(ledger_capacity_integral(w->ledger, pool, LEDGER_ANY)) -
                      bucket_sum(w, pool, LEDGER_OFFLINE);
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        results_metric(w, kind, scope, idle[i].name,
                       capacity > 0 ? bucket_sum(w, pool, idle[i].bucket) / capacity : 0, false);
}

/* ---- waiting ---- */

/* Ages of the jobs that have not started; team -1: of all teams. */
static void add_ages(const struct world *w, struct qhist *ages, enum workload_class cls, int32_t team)
{
    for (size_t i = 0; i < w->job_count; i++) {
        const struct job *j = &w->jobs[i];
        if (j->in_use && j->first_start == SIM_NEVER && job_class(w, (uint32_t)i) == cls &&
            (team < 0 || j->spec.team == team))
            qhist_add(ages, sim_time_seconds(w->now - j->spec.submit), 1.0);
    }
}

static void emit_quantile(struct world *w, const char *kind, const char *scope, const char *name,
                          const struct qhist *ended, const struct qhist *ages, double p)
{
    struct bound b = distribution_quantile(ended, ages, p);
    results_metric(w, kind, scope, name, b.value, b.censored);
}

static void emit_wait(struct world *w, const char *kind, const char *scope, const char *prefix,
                      const struct qhist *started, enum workload_class cls, int32_t team)
{
    char name[64];
    struct qhist ages;
    qhist_init(&ages, started->alpha, started->least, 1e9);
    add_ages(w, &ages, cls, team);
    (void)snprintf(name, sizeof name, "%s.wait.p50", prefix);
    emit_quantile(w, kind, scope, name, started, &ages, 0.5);
    (void)snprintf(name, sizeof name, "%s.wait.p95", prefix);
    emit_quantile(w, kind, scope, name, started, &ages, 0.95);
    (void)snprintf(name, sizeof name, "%s.wait", prefix);
    if (team < 0)
        distribution_rows(&w->opt.sink, w->opt.run_id, name, started, &ages);
    qhist_fini(&ages);
}

/* ---- jobs ---- */

sim_time job_reached(const struct world *w, const struct job *j)
{
    sim_time reached = job_progress(w, j).reached;
    return reached > j->high_water ? reached : j->high_water;
}

static void emit_losses(struct world *w, const char *prefix, enum workload_class cls)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%s.rework", prefix);
    all(w, name, i128_card_hours(w->rework_of[cls]));
    (void)snprintf(name, sizeof name, "%s.failed", prefix);
    all(w, name, (double)w->failed[cls]);
    (void)snprintf(name, sizeof name, "%s.abandoned", prefix);
    all(w, name, i128_card_hours(w->abandoned[cls]));
    (void)snprintf(name, sizeof name, "%s.lost", prefix);
    all(w, name, i128_card_hours(w->lost_of[cls]));
    (void)snprintf(name, sizeof name, "%s.preemptions", prefix);
    all(w, name, (double)w->preemptions[cls]);
}

static void emit_jobs(struct world *w)
{
    static const char *const prefix[CLASS_COUNT] = {"training", "inference", "lora"};
    double unfinished[CLASS_COUNT] = {0};
    for (size_t i = 0; i < w->job_count; i++) {
        const struct job *j = &w->jobs[i];
        if (!j->in_use)
            continue;
        double left = sim_time_seconds(j->spec.work - job_reached(w, j)) * (double)offered_job_milli(&j->spec) / 3.6e6;
        unfinished[w->s->demand.streams[j->stream].cls] += left;
        if (j->spec.team >= 0 && job_class(w, (uint32_t)i) == CLASS_TRAINING)
            w->team_unfinished_h[j->spec.team] += left;
    }
    for (int c = 0; c < CLASS_COUNT; c++) {
        char name[64];
        if (c == CLASS_INFERENCE)
            continue;
        emit_wait(w, "all", "", prefix[c], &w->wait[c], (enum workload_class)c, -1);
        (void)snprintf(name, sizeof name, "%s.unfinished", prefix[c]);
        all(w, name, unfinished[c]);
        (void)snprintf(name, sizeof name, "%s.submitted", prefix[c]);
        all(w, name, (double)w->submitted[c]);
        (void)snprintf(name, sizeof name, "%s.started", prefix[c]);
        all(w, name, (double)w->started[c]);
        (void)snprintf(name, sizeof name, "%s.finished", prefix[c]);
        all(w, name, (double)w->finished[c]);
        emit_losses(w, prefix[c], (enum workload_class)c);
    }
    const struct welford *waited = &w->waited[CLASS_TRAINING];
    double started = (double)w->started[CLASS_TRAINING];
    all(w, "training.waited", (double)waited->count);
    all(w, "training.wait.mean", started > 0 ? waited->mean * (double)waited->count / started : 0.0);
    all(w, "training.wait.max", waited->count > 0 ? waited->max : 0.0);
}

/* ---- services ---- */

struct served {
    double arrived, served, rejected, timed_out, queued, met, total, cold;
    double tokens, tokens_arrived, tokens_lost, tokens_queued; /* tokens: of served requests */
    struct qhist latency, ttft, latency_age, ttft_age; /* of the answered; of those still queued */
};

static void served_init(struct served *s)
{
    *s = (struct served){0};
    qhist_init(&s->latency, 0.01, 1e-4, 1e7);
    qhist_init(&s->ttft, 0.01, 1e-4, 1e7);
    qhist_init(&s->latency_age, 0.01, 1e-4, 1e7);
    qhist_init(&s->ttft_age, 0.01, 1e-4, 1e7);
}

static void served_fini(struct served *s)
{
    qhist_fini(&s->latency);
    qhist_fini(&s->ttft);
    qhist_fini(&s->latency_age);
    qhist_fini(&s->ttft_age);
}

static void served_add(struct served *s, const struct service_state *sv)
{
    s->arrived += sv->fluid.arrived;
    s->served += sv->fluid.served;
    s->rejected += sv->fluid.rejected;
    s->timed_out += sv->fluid.timed_out;
    s->queued += sv->fluid.backlog;
    qhist_merge(&s->latency, &sv->latency);
    /* A request that is queued longer than its target is late, whenever it will be answered. */
    s->total += fluid_queued(&sv->fluid, &s->latency_age);
    if (sv->cfg->kind == SERVICE_LLM) {
        qhist_merge(&s->ttft, &sv->ttft);
        (void)fluid_queued(&sv->fluid, &s->ttft_age);
        s->tokens += sv->fluid.tokens_in + sv->fluid.tokens_out;
        s->tokens_arrived += sv->fluid.tokens_arrived;
        s->tokens_lost += sv->fluid.tokens_lost;
        s->tokens_queued += sv->fluid.tokens_backlog;
    }
    s->met += sv->fluid.slo_met;
    s->total += sv->fluid.slo_total;
    s->cold += (double)sv->cold_starts;
}

static void emit_served(struct world *w, const char *kind, const char *scope, const struct served *s)
{
    emit_quantile(w, kind, scope, "inference.latency.p50", &s->latency, &s->latency_age, 0.50);
    emit_quantile(w, kind, scope, "inference.latency.p99", &s->latency, &s->latency_age, 0.99);
    emit_quantile(w, kind, scope, "inference.ttft.p50", &s->ttft, &s->ttft_age, 0.50);
    emit_quantile(w, kind, scope, "inference.ttft.p99", &s->ttft, &s->ttft_age, 0.99);
    results_metric(w, kind, scope, "inference.slo_attainment",
                   s->total > 0 ? s->met / s->total : (double)NAN, false);
    results_metric(w, kind, scope, "inference.cold_starts", s->cold, false);
    results_metric(w, kind, scope, "inference.arrived", s->arrived, false);
    results_metric(w, kind, scope, "inference.served", s->served, false);
    results_metric(w, kind, scope, "inference.rejected", s->rejected, false);
    results_metric(w, kind, scope, "inference.timed_out", s->timed_out, false);
    results_metric(w, kind, scope, "inference.queued", s->queued, false);
    results_metric(w, kind, scope, "inference.tokens", s->tokens, false);
    results_metric(w, kind, scope, "inference.tokens_arrived", s->tokens_arrived, false);
    results_metric(w, kind, scope, "inference.tokens_lost", s->tokens_lost, false);
    results_metric(w, kind, scope, "inference.tokens_queued", s->tokens_queued, false);
}

static void emit_services(struct world *w)
{
    struct served sum, one;
    served_init(&sum);
    double seconds = sim_time_seconds(w->s->horizon);
    for (int32_t k = 0; k < w->s->demand.service_count; k++) {
        struct service_state *sv = &w->services[k];
        served_init(&one);
        served_add(&one, sv);
        served_add(&sum, sv);
        emit_served(w, "service", sv->cfg->name, &one);
        results_metric(w, "service", sv->cfg->name, "replicas.mean", sv->replica_seconds / seconds, false);
        served_fini(&one);
    }
    if (w->s->demand.service_count > 0)
        emit_served(w, "all", "", &sum);
    all(w, "replicas.preemptions", (double)w->replica_preemptions);
    distribution_rows(&w->opt.sink, w->opt.run_id, "inference.latency", &sum.latency, &sum.latency_age);
    served_fini(&sum);
}

/* ---- teams ---- */

static void emit_team_quota(struct world *w, int32_t t, const char *name)
{
    const struct quota_use *u = &w->quota;
    int64_t nominal = 0;
    i128 used = 0, lent = 0, borrowed = 0;
    for (int32_t i = 0; i < w->s->quota.queue_count * u->flavors; i++) {
        const struct quota_cell *c = &u->cells[i];
        if (w->s->quota.queues[i / u->flavors].team != t)
            continue;
        nominal += c->nominal;
        used += c->used_mcns;
        lent += c->lent_mcns;
        borrowed += c->borrowed_mcns;
    }
    double hours = sim_time_seconds(w->s->horizon) / 3600.0;
    results_metric(w, "team", name, "quota.nominal", (double)nominal / 1000.0, false);
    results_metric(w, "team", name, "quota.used", i128_card_hours(used) / hours, false);
    results_metric(w, "team", name, "quota.lent", i128_card_hours(lent) / hours, false);
    results_metric(w, "team", name, "quota.borrowed", i128_card_hours(borrowed) / hours, false);
}

static void emit_team(struct world *w, int32_t t)
{
    const char *name = w->s->quota.teams[t].name;
    emit_team_quota(w, t, name);
    emit_wait(w, "team", name, "training", &w->team_wait[t], CLASS_TRAINING, t);
    results_metric(w, "team", name, "training.unfinished", w->team_unfinished_h[t], false);
    results_metric(w, "team", name, "training.rework", i128_card_hours(w->team_rework[t]), false);
    results_metric(w, "team", name, "training.evictions", (double)w->team_evictions[t], false);
    struct served one;
    served_init(&one);
    for (int32_t k = 0; k < w->s->demand.service_count; k++)
        if (w->services[k].cfg->team == t)
            served_add(&one, &w->services[k]);
    results_metric(w, "team", name, "inference.slo_attainment",
                   one.total > 0 ? one.met / one.total : (double)NAN, false);
    served_fini(&one);
}

void results_emit(struct world *w)
{
    all(w, "demand.offered",
        i128_ratio(w->offered, ledger_capacity_integral(w->ledger, LEDGER_ANY, LEDGER_ANY)));
    for (int32_t f = 0; f < w->s->fleet.flavor_count; f++)
        quota_use_advance(w, f);
    emit_utilisation(w, "all", "", LEDGER_ANY);
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        emit_utilisation(w, "node_pool", w->s->fleet.pools[p].name, p);
    emit_jobs(w);
    emit_services(w);
    gang_emit(w);
    lora_emit(w);
    for (int32_t t = 0; t < w->s->quota.team_count; t++)
        emit_team(w, t);
    preemption_emit(w);
    cost_emit(w);
    emit_ledger(w);
    series_emit(w);
    assumptions_emit(w);
}
