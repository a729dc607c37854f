/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backend: managed. No fleet: requests pay per token and are throttled by a quota per minute;
 * jobs start after a delay on instances made for them and pay per card-hour (managed-and-costs
 * 2.1, 2.4). The cloud has no end, so nothing here interacts and no events are needed: each job
 * and each traffic step is settled by itself.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/demand/fluid.h"
#include "models/world/demand_hash.h"
#include "models/fleet/catalogue.h"
#include "models/ledger/i128.h"
#include "models/world/offered.h"
#include "models/world/record_jobs.h"
#include "models/world/tables.h"
#include "models/world/world_managed.h"
#include "sim/dmath.h"
#include "sim/tally.h"

#define SIZE_NODES 16 /* equal-mass response lengths */

struct managed_sum { /* one service, one team, or all */
    double arrived, served, rejected, met, total, usd;
    double tokens, tokens_arrived; /* of served requests; of all */
};

struct managed {
    const struct scenario *s;
    const struct arbiter_config *arb;
    const struct world_options *opt;
    struct err *err;
    struct arena arena;
    struct managed_sum *services, *teams, all;
    struct qhist latency, ttft, wait[CLASS_COUNT];
    uint64_t submitted[CLASS_COUNT], started[CLASS_COUNT], finished[CLASS_COUNT];
    double unfinished[CLASS_COUNT], job_card_h, job_usd;
    i128 offered;
    i128 *billed, *computing; /* [team][class] */
    double *team_usd;
    uint64_t events, *hashes; /* per stream, then per service */
};

static void put(const struct managed *m, const char *kind, const char *scope, const char *name,
                double value)
{
    struct record_value v[] = {rec_int(m->opt->run_id), rec_text(kind), rec_text(scope),
                               rec_text(name),          rec_real(value), rec_int(0)};
    record_row(&m->opt->sink, &table_metric, v);
}

/* ---- requests ---- */

/* Share of the requests that the quota lets through (token bucket in its mean, per step). */
static double admitted_share(const struct managed_config *c, const struct traffic_point *p)
{
    double share = 1.0, per_minute = p->rate_per_s * 60.0;
    double need = p->input_tokens_mean + p->output_tokens_mean * c->output_burndown;
    if (c->requests_per_minute > 0 && per_minute > c->requests_per_minute)
        share = c->requests_per_minute / per_minute;
    if (c->tokens_per_minute > 0 && per_minute * need > c->tokens_per_minute) {
        double by_tokens = c->tokens_per_minute / (per_minute * need);
        share = by_tokens < share ? by_tokens : share;
    }
    return share;
}

/* Latency of a served request at quantile node i of its response length. */
static double latency_at(const struct managed_config *c, const struct service_config *sv,
                         const struct traffic_point *p, int i)
{
    double cv = sv->kind == SERVICE_LLM ? sv->traffic.output_tokens_cv : sv->service_time_cv;
    double mean = sv->kind == SERVICE_LLM ? p->output_tokens_mean / c->output_tokens_per_s
                                          : sv->service_time_s;
    double s2 = dm_log(1.0 + cv * cv);
    double z = dm_norm_inv((i + 0.5) / SIZE_NODES);
    return c->request_latency_s + mean * dm_exp(z * dm_sqrt(s2) - s2 / 2);
}

static void serve(struct managed *m, const struct service_config *sv, struct managed_sum *sum,
                  const struct traffic_point *p, double seconds)
{
    const struct managed_config *c = &m->arb->managed;
    double n = p->rate_per_s * seconds;
    double share = sv->kind == SERVICE_LLM ? admitted_share(c, p) : 1.0;
    double served = n * share;
    sum->arrived += n;
    sum->served += served;
    sum->rejected += n - served;
    sum->total += n;
    for (int i = 0; i < SIZE_NODES; i++) {
        double t = latency_at(c, sv, p, i);
        qhist_add(&m->latency, t, served / SIZE_NODES);
        bool ttft_ok = sv->slo_ttft_s <= 0 || c->request_latency_s <= sv->slo_ttft_s;
        if (ttft_ok && (sv->slo_latency_s <= 0 || t <= sv->slo_latency_s))
            sum->met += served / SIZE_NODES;
    }
    qhist_add(&m->ttft, c->request_latency_s, served);
    if (sv->kind == SERVICE_LLM) {
        sum->tokens_arrived += n * (p->input_tokens_mean + p->output_tokens_mean);
        double in = served * p->input_tokens_mean, out = served * p->output_tokens_mean;
        sum->tokens += in + out;
        sum->usd += (in * (double)c->input_uusd_per_mtok + out * (double)c->output_uusd_per_mtok) / 1e12;
    } else {
        sum->usd += served * sv->service_time_s * c->simple_uusd_per_s / 1e6;
    }
}

static void sum_add(struct managed_sum *into, const struct managed_sum *s)
{
    into->arrived += s->arrived;
    into->served += s->served;
    into->rejected += s->rejected;
    into->tokens += s->tokens;
    into->tokens_arrived += s->tokens_arrived;
    into->met += s->met;
    into->total += s->total;
    into->usd += s->usd;
}

static bool run_service(struct managed *m, int32_t k)
{
    const struct scenario *s = m->s;
    const struct service_config *sv = &s->demand.services[k];
    struct traffic_source *src = traffic_source_open(sv, k, s->seed, m->opt->replication, s->start_epoch,
                                                     s->demand.traffic_step, s->open_traffic, s->loader,
                                                     m->err);
    if (src == NULL)
        return false;
    struct fluid sizing;
    fluid_init(&sizing, sv);
    for (sim_time t = 0; t < s->horizon; t += s->demand.traffic_step) {
        struct traffic_point p;
        if (!traffic_source_next(src, t, &p, m->err))
            break;
        sim_time len = s->horizon - t < s->demand.traffic_step ? s->horizon - t : s->demand.traffic_step;
        uint64_t *hash = &m->hashes[s->demand.stream_count + k];
        *hash = demand_hash_traffic(*hash, &p);
        serve(m, sv, &m->services[k], &p, sim_time_seconds(len));
        m->offered += offered_traffic(sv, &sizing, &p, len);
        m->events++;
    }
    traffic_source_close(src);
    sum_add(&m->all, &m->services[k]);
    if (sv->team >= 0)
        sum_add(&m->teams[sv->team], &m->services[k]);
    return m->err->code == ERR_NONE;
}

/* ---- jobs ---- */

/* On-demand price of a card that the job may use: that of the first node pool it selects. */
static double card_usd_per_h(const struct scenario *s, const struct job_stream_config *c)
{
    for (int32_t p = 0; p < s->fleet.pool_count; p++) {
        const struct node_pool_config *pool = &s->fleet.pools[p];
        bool fits = true;
        for (int32_t i = 0; i < c->node_selector_count; i++) {
            bool has = false;
            for (int32_t l = 0; l < pool->label_count; l++)
                has |= strcmp(pool->labels[l].key, c->node_selector[i].key) == 0 &&
                       strcmp(pool->labels[l].value, c->node_selector[i].value) == 0;
            fits &= has;
        }
        if (fits && pool->cards_per_node > 0)
            return (double)pool->price_uusd_per_node_h / 1e6 / pool->cards_per_node;
    }
    return 0;
}

static void run_job(struct managed *m, const struct job_stream_config *c, const struct job_spec *j,
                    double usd_per_card_h)
{
    enum workload_class cls = c->cls;
    sim_time start = j->submit + m->arb->managed.job_start;
    double asked = (double)offered_job_milli(j) / 1000.0;
    int64_t cards = (int64_t)(j->cards_per_worker > 0 ? j->cards_per_worker : 1) * j->workers;
    m->submitted[cls]++;
    m->offered += offered_job(j);
    if (start >= m->s->horizon) {
        m->unfinished[cls] += asked * sim_time_seconds(j->work) / 3600.0;
        return;
    }
    m->started[cls]++;
    qhist_add(&m->wait[cls], sim_time_seconds(m->arb->managed.job_start), 1.0);
    sim_time run = m->s->horizon - start < j->work ? m->s->horizon - start : j->work;
    m->finished[cls] += run == j->work;
    m->unfinished[cls] += asked * sim_time_seconds(j->work - run) / 3600.0;
    double card_h = (double)cards * sim_time_seconds(run) / 3600.0;
    m->job_card_h += card_h;
    double usd = card_h * usd_per_card_h * m->arb->managed.job_uplift;
    m->job_usd += usd;
    if (j->team >= 0) {
        size_t at = (size_t)j->team * CLASS_COUNT + (size_t)cls;
        m->billed[at] += i128_mcns(cards * 1000, run);
        m->computing[at] += i128_mcns(j->share_milli > 0 ? j->share_milli * (int64_t)j->workers
                                                         : cards * 1000,
                                      run);
        m->team_usd[j->team] += usd;
    }
}

static bool run_stream(struct managed *m, int32_t k)
{
    const struct scenario *s = m->s;
    const struct job_stream_config *c = &s->demand.streams[k];
    struct job_source *src = job_source_open(c, k, s->seed, m->opt->replication, s->start_epoch,
                                             s->horizon, s->open_jobs, s->loader, m->err);
    if (src == NULL)
        return false;
    double price = card_usd_per_h(s, c);
    struct job_spec j;
    while (job_source_next(src, &j, m->err)) {
        m->hashes[k] = demand_hash_job(m->hashes[k], &j);
        run_job(m, c, &j, price);
        record_jobs_managed(m->opt, s, k, &j, j.submit + m->arb->managed.job_start);
        m->events++;
    }
    job_source_close(src);
    return m->err->code == ERR_NONE;
}

/* ---- results ---- */

static void put_served(const struct managed *m, const char *kind, const char *scope,
                       const struct managed_sum *s)
{
    put(m, kind, scope, "inference.slo_attainment", s->total > 0 ? s->met / s->total : (double)NAN);
    put(m, kind, scope, "inference.arrived", s->arrived);
    put(m, kind, scope, "inference.served", s->served);
    put(m, kind, scope, "inference.rejected", s->rejected);
    put(m, kind, scope, "inference.timed_out", 0);
    put(m, kind, scope, "inference.queued", 0);
    put(m, kind, scope, "inference.tokens", s->tokens);
    put(m, kind, scope, "inference.tokens_arrived", s->tokens_arrived);
    put(m, kind, scope, "inference.tokens_lost", s->tokens_arrived - s->tokens);
    put(m, kind, scope, "inference.tokens_queued", 0);
}

static void put_jobs(const struct managed *m)
{
    static const char *const prefix[CLASS_COUNT] = {"training", "inference", "lora"};
    for (int c = 0; c < CLASS_COUNT; c++) {
        char name[64];
        if (c == CLASS_INFERENCE)
            continue;
        (void)snprintf(name, sizeof name, "%s.wait.p50", prefix[c]);
        put(m, "all", "", name, qhist_quantile(&m->wait[c], 0.5));
        (void)snprintf(name, sizeof name, "%s.wait.p95", prefix[c]);
        put(m, "all", "", name, qhist_quantile(&m->wait[c], 0.95));
        (void)snprintf(name, sizeof name, "%s.unfinished", prefix[c]);
        put(m, "all", "", name, m->unfinished[c]);
        (void)snprintf(name, sizeof name, "%s.submitted", prefix[c]);
        put(m, "all", "", name, (double)m->submitted[c]);
        (void)snprintf(name, sizeof name, "%s.started", prefix[c]);
        put(m, "all", "", name, (double)m->started[c]);
        (void)snprintf(name, sizeof name, "%s.finished", prefix[c]);
        put(m, "all", "", name, (double)m->finished[c]);
    }
    put(m, "all", "", "training.rework", 0);
    put(m, "all", "", "training.preemptions", 0);
    put(m, "all", "", "managed.job_card_hours", m->job_card_h);
}

/* Accounts whose capacity is the billed time: computing, and paid for but not computing. */
static void put_accounts(const struct managed *m)
{
    static const char *const cls_name[CLASS_COUNT] = {"training", "inference", "lora"};
    static const char *const bucket[CLASS_COUNT] = {"training_useful", "serving", "lora_useful"};
    for (int32_t t = 0; t < m->s->quota.team_count; t++)
        for (int c = 0; c < CLASS_COUNT; c++) {
            i128 billed = m->billed[t * CLASS_COUNT + c], busy = m->computing[t * CLASS_COUNT + c];
            for (int part = 0; part < 2; part++) {
                i128 amount = part == 0 ? busy : billed - busy;
                struct i128_card_s split = i128_split(amount);
                struct record_value v[] = {rec_int(m->opt->run_id),
                                           rec_int(0),
                                           rec_text("managed"),
                                           rec_text("on_demand"),
                                           rec_text(m->s->quota.teams[t].name),
                                           rec_text(cls_name[c]),
                                           rec_text(part == 0 ? bucket[c] : "input_wait"),
                                           rec_int(split.card_s),
                                           rec_int(split.rest_mcns)};
                if (amount != 0)
                    record_row(&m->opt->sink, &table_ledger, v);
            }
        }
}

static void put_cost(const struct managed *m, const char *team, const char *item, double usd)
{
    struct record_value v[] = {rec_int(m->opt->run_id), rec_text("managed"), rec_text("on_demand"),
                               rec_text(team),          rec_text(item),      rec_int((int64_t)(usd * 1e6 + 0.5))};
    record_row(&m->opt->sink, &table_cost, v);
}

static void put_money(const struct managed *m)
{
    double years = sim_time_seconds(m->s->horizon) / (365.0 * 86400.0);
    double engineers = m->arb->engineers * (double)m->s->money.engineer_uusd_per_year / 1e6 * years;
    double llm = 0;
    for (int32_t k = 0; k < m->s->demand.service_count; k++)
        if (m->s->demand.services[k].kind == SERVICE_LLM)
            llm += m->services[k].usd;
    i128 useful = 0;
    for (int32_t i = 0; i < m->s->quota.team_count * CLASS_COUNT; i++)
        useful += m->computing[i];
    put_cost(m, NULL, "tokens", m->all.usd);
    put_cost(m, NULL, "jobs", m->job_usd);
    put_cost(m, NULL, "engineers", engineers);
    put(m, "all", "", "cost.total", m->all.usd + m->job_usd + engineers);
    put(m, "all", "", "cost.per_million_tokens", m->all.tokens > 0 ? llm / (m->all.tokens / 1e6) : (double)NAN);
    put(m, "all", "", "managed.throttled", m->all.arrived > 0 ? m->all.rejected / m->all.arrived : 0);
    double hours = i128_card_hours(useful);
    put(m, "all", "", "managed.per_job_card_hour", hours > 0 ? m->job_usd / hours : (double)NAN);
}

static void put_results(struct managed *m)
{
    int64_t cards = 0;
    for (int32_t p = 0; p < m->s->fleet.pool_count; p++)
        cards += (int64_t)m->s->fleet.pools[p].node_count * m->s->fleet.pools[p].cards_per_node;
    put(m, "all", "", "demand.offered", i128_ratio(m->offered, i128_mcns(cards * 1000, m->s->horizon)));
    put_jobs(m);
    put_served(m, "all", "", &m->all);
    put(m, "all", "", "inference.latency.p50", qhist_quantile(&m->latency, 0.5));
    put(m, "all", "", "inference.latency.p99", qhist_quantile(&m->latency, 0.99));
    put(m, "all", "", "inference.ttft.p50", qhist_quantile(&m->ttft, 0.5));
    put(m, "all", "", "inference.ttft.p99", qhist_quantile(&m->ttft, 0.99));
    for (int32_t k = 0; k < m->s->demand.service_count; k++)
        put_served(m, "service", m->s->demand.services[k].name, &m->services[k]);
    for (int32_t t = 0; t < m->s->quota.team_count; t++) {
        const char *name = m->s->quota.teams[t].name;
        put(m, "team", name, "cost.total", m->team_usd[t] + m->teams[t].usd);
        put(m, "team", name, "inference.slo_attainment",
            m->teams[t].total > 0 ? m->teams[t].met / m->teams[t].total : (double)NAN);
    }
    put_money(m);
    put_accounts(m);
}

static void managed_init(struct managed *m)
{
    size_t teams = (size_t)m->s->quota.team_count + 1;
    m->services = arena_alloc(&m->arena, (size_t)m->s->demand.service_count + 1, sizeof *m->services);
    m->teams = arena_alloc(&m->arena, teams, sizeof *m->teams);
    m->billed = arena_alloc(&m->arena, teams * CLASS_COUNT, sizeof *m->billed);
    m->computing = arena_alloc(&m->arena, teams * CLASS_COUNT, sizeof *m->computing);
    m->team_usd = arena_alloc(&m->arena, teams, sizeof *m->team_usd);
    size_t sources = (size_t)(m->s->demand.stream_count + m->s->demand.service_count);
    m->hashes = arena_alloc(&m->arena, sources + 1, sizeof *m->hashes);
    for (size_t i = 0; i < sources; i++)
        m->hashes[i] = FNV_START;
    qhist_init(&m->latency, 0.01, 1e-4, 1e7);
    qhist_init(&m->ttft, 0.01, 1e-4, 1e7);
    for (int c = 0; c < CLASS_COUNT; c++)
        qhist_init(&m->wait[c], 0.005, 1e-3, 1e9);
}

static void managed_fini(struct managed *m)
{
    qhist_fini(&m->latency);
    qhist_fini(&m->ttft);
    for (int c = 0; c < CLASS_COUNT; c++)
        qhist_fini(&m->wait[c]);
    arena_fini(&m->arena);
}

bool managed_run(const struct scenario *s, const struct world_options *opt,
                 struct world_outcome *outcome, struct err *err)
{
    struct managed m = {.s = s, .arb = &s->arbiters[opt->arbiter], .opt = opt, .err = err};
    managed_init(&m);
    bool ok = true;
    for (int32_t k = 0; ok && k < s->demand.service_count; k++)
        ok = run_service(&m, k);
    for (int32_t k = 0; ok && k < s->demand.stream_count; k++)
        ok = run_stream(&m, k);
    if (ok)
        put_results(&m);
    outcome->events = m.events;
    outcome->demand_hash = demand_hash_all(m.hashes, s->demand.stream_count + s->demand.service_count);
    if (opt->progress_ns != NULL)
        atomic_store_explicit(opt->progress_ns, s->horizon, memory_order_relaxed);
    managed_fini(&m);
    return ok;
}
