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
#include "models/money/money.h"
#include "models/world/distributions.h"
#include "models/world/managed_job.h"
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
    uint64_t failed[CLASS_COUNT];
    i128 unfinished[CLASS_COUNT], abandoned[CLASS_COUNT], lost[CLASS_COUNT];
    i128 offered;
    i128 *billed, *useful, *rework; /* [team][class]; the last team is nobody */
    i128 billed_all;
    int64_t *team_uusd, job_uusd;
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
    double first = sv->kind == SERVICE_LLM ? c->request_latency_s : 0; /* a call to an endpoint costs little */
    return first + mean * dm_exp(z * dm_sqrt(s2) - s2 / 2);
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
        bool ttft_ok = sv->kind != SERVICE_LLM || sv->slo_ttft_s <= 0 || c->request_latency_s <= sv->slo_ttft_s;
        if (ttft_ok && (sv->slo_latency_s <= 0 || t <= sv->slo_latency_s))
            sum->met += served / SIZE_NODES;
    }
    qhist_add_infinite(&m->latency, n - served);
    if (sv->kind == SERVICE_LLM) {
        qhist_add(&m->ttft, c->request_latency_s, served);
        qhist_add_infinite(&m->ttft, n - served);
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

/* Price of a card-hour for jobs of this queue: that of the first node pool that they may use, as a
 * managed instance. */
static int64_t card_uusd_per_h(const struct managed *m, int32_t stream, int32_t queue)
{
    int32_t p = source_first_pool(m->s, m->arb, stream, queue);
    if (p < 0 || m->s->fleet.pools[p].cards_per_node == 0)
        return 0;
    const struct node_pool_config *pool = &m->s->fleet.pools[p];
    double card = (double)pool->price_uusd_per_node_h / pool->cards_per_node;
    return (int64_t)dm_round(card * m->arb->managed.job_uplift);
}

static void bill_job(struct managed *m, enum workload_class cls, const struct job_spec *j,
                     const struct managed_life *life, int64_t uusd_per_card_h)
{
    int64_t cards = (int64_t)(j->cards_per_worker > 0 ? j->cards_per_worker : 1) * j->workers;
    int32_t team = j->team >= 0 ? j->team : m->s->quota.team_count;
    size_t at = (size_t)team * CLASS_COUNT + (size_t)cls;
    int64_t uusd = money_time_uusd(uusd_per_card_h, cards, life->billed);
    m->billed_all += i128_mcns(cards * 1000, life->billed);
    m->billed[at] += i128_mcns(cards * 1000, life->billed);
    m->useful[at] += i128_mcns(offered_job_milli(j), life->done);
    m->rework[at] += i128_mcns(offered_job_milli(j), life->billed - life->done);
    m->team_uusd[team] += uusd;
    m->job_uusd += uusd;
}

static void run_job(struct managed *m, int32_t stream, const struct job_spec *j, int64_t uusd_per_card_h)
{
    const struct job_stream_config *c = &m->s->demand.streams[stream];
    enum workload_class cls = c->cls;
    struct managed_clock clock = {.delay = m->arb->managed.job_start, .horizon = m->s->horizon,
                                  .seed = m->s->seed, .replication = m->opt->replication};
    struct managed_life life = managed_job_run(c, stream, j, &clock);
    int64_t milli = offered_job_milli(j);
    i128 left = i128_mcns(milli, j->work - life.done);
    m->submitted[cls]++;
    m->started[cls] += life.start != SIM_NEVER;
    m->finished[cls] += life.finished;
    m->failed[cls] += life.gave_up;
    qhist_add(&m->wait[cls], sim_time_seconds(clock.delay), 1.0);
    m->offered += offered_job(j);
    m->unfinished[cls] += life.gave_up ? 0 : left;
    m->abandoned[cls] += life.gave_up ? left : 0;
    m->lost[cls] += i128_mcns(milli, life.lost);
    bill_job(m, cls, j, &life, uusd_per_card_h);
    record_jobs_managed(m->opt, m->s, stream, j, &life);
}

static bool run_stream(struct managed *m, int32_t k)
{
    const struct scenario *s = m->s;
    const struct job_stream_config *c = &s->demand.streams[k];
    struct job_source *src = job_source_open(c, k, s->seed, m->opt->replication, s->start_epoch,
                                             s->horizon, s->open_jobs, s->loader, m->err);
    if (src == NULL)
        return false;
    int64_t price = 0;
    int32_t queue = -1;
    struct job_spec j;
    while (job_source_next(src, &j, m->err)) {
        m->hashes[k] = demand_hash_job(m->hashes[k], &j, s->quota.queues[j.queue].name);
        if (j.queue != queue)
            price = card_uusd_per_h(m, k, queue = j.queue);
        run_job(m, k, &j, price);
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

static void put_losses(const struct managed *m, const char *prefix, int cls)
{
    char name[64];
    i128 rework = 0;
    for (int32_t t = 0; t <= m->s->quota.team_count; t++)
        rework += m->rework[t * CLASS_COUNT + cls];
    (void)snprintf(name, sizeof name, "%s.failed", prefix);
    put(m, "all", "", name, (double)m->failed[cls]);
    (void)snprintf(name, sizeof name, "%s.abandoned", prefix);
    put(m, "all", "", name, i128_card_hours(m->abandoned[cls]));
    (void)snprintf(name, sizeof name, "%s.rework", prefix);
    put(m, "all", "", name, i128_card_hours(rework));
    (void)snprintf(name, sizeof name, "%s.lost", prefix);
    put(m, "all", "", name, i128_card_hours(m->lost[cls]));
    (void)snprintf(name, sizeof name, "%s.preemptions", prefix);
    put(m, "all", "", name, 0);
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
        put(m, "all", "", name, i128_card_hours(m->unfinished[c]));
        (void)snprintf(name, sizeof name, "%s.submitted", prefix[c]);
        put(m, "all", "", name, (double)m->submitted[c]);
        (void)snprintf(name, sizeof name, "%s.started", prefix[c]);
        put(m, "all", "", name, (double)m->started[c]);
        (void)snprintf(name, sizeof name, "%s.finished", prefix[c]);
        put(m, "all", "", name, (double)m->finished[c]);
        put_losses(m, prefix[c], c);
    }
}

static void put_account(const struct managed *m, int32_t t, int cls, const char *bucket, i128 amount)
{
    static const char *const cls_name[CLASS_COUNT] = {"training", "inference", "lora"};
    struct i128_card_s split = i128_split(amount);
    struct record_value v[] = {rec_int(m->opt->run_id),
                               rec_int(0),
                               rec_text("managed"),
                               rec_text("on_demand"),
                               rec_text(t < m->s->quota.team_count ? m->s->quota.teams[t].name : NULL),
                               rec_text(cls_name[cls]),
                               rec_text(bucket),
                               rec_int(split.card_s),
                               rec_int(split.rest_mcns)};
    if (amount != 0)
        record_row(&m->opt->sink, &table_ledger, v);
}

/* Accounts whose capacity is the billed time: computing, and paid for but not computing. */
static void put_accounts(const struct managed *m)
{
    static const char *const bucket[CLASS_COUNT] = {"training_useful", "serving", "lora_useful"};
    for (int32_t t = 0; t <= m->s->quota.team_count; t++)
        for (int c = 0; c < CLASS_COUNT; c++) {
            int32_t at = t * CLASS_COUNT + c;
            put_account(m, t, c, bucket[c], m->useful[at]);
            put_account(m, t, c, "training_rework", m->rework[at]);
            put_account(m, t, c, "input_wait", m->billed[at] - m->useful[at] - m->rework[at]);
        }
}

static void put_cost(const struct managed *m, const char *team, const char *item, int64_t uusd)
{
    struct record_value v[] = {rec_int(m->opt->run_id), rec_text("managed"), rec_text("on_demand"),
                               rec_text(team),          rec_text(item),      rec_int(uusd)};
    record_row(&m->opt->sink, &table_cost, v);
}

/* Each service is a bill, rounded once; so rows by team and by item have the same sum. */
static void bill_services(struct managed *m, int64_t *tokens, int64_t *endpoints)
{
    for (int32_t k = 0; k < m->s->demand.service_count; k++) {
        const struct service_config *c = &m->s->demand.services[k];
        int64_t uusd = (int64_t)dm_round(m->services[k].usd * 1e6);
        *(c->kind == SERVICE_LLM ? tokens : endpoints) += uusd;
        m->team_uusd[c->team >= 0 ? c->team : m->s->quota.team_count] += uusd;
    }
}

static void put_money(struct managed *m)
{
    int64_t engineers = cost_engineers_uusd(m->s, m->arb), tokens = 0, endpoints = 0;
    bill_services(m, &tokens, &endpoints);
    put_cost(m, NULL, "tokens", tokens);
    put_cost(m, NULL, "endpoints", endpoints);
    put_cost(m, NULL, "jobs", m->job_uusd);
    put_cost(m, NULL, "engineers", engineers);
    for (int32_t t = 0; t <= m->s->quota.team_count; t++) {
        bool team = t < m->s->quota.team_count;
        const char *name = team ? m->s->quota.teams[t].name : "__unallocated__";
        if (m->team_uusd[t] > 0)
            put_cost(m, name, "use", m->team_uusd[t]);
        if (team)
            put(m, "team", name, "cost.total", (double)m->team_uusd[t] / 1e6);
    }
    double hours = i128_card_hours(m->billed_all);
    put(m, "all", "", "cost.engineers", (double)engineers / 1e6);
    put(m, "all", "", "cost.total", (double)(tokens + endpoints + m->job_uusd + engineers) / 1e6);
    put(m, "all", "", "cost.per_million_tokens", money_per_million_tokens(tokens, m->all.tokens));
    put(m, "all", "", "managed.throttled", m->all.arrived > 0 ? m->all.rejected / m->all.arrived : 0);
    put(m, "all", "", "managed.job_card_hours", hours);
    put(m, "all", "", "managed.per_job_card_hour", money_per_useful_card_hour(m->job_uusd, hours));
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
        put(m, "team", name, "inference.slo_attainment",
            m->teams[t].total > 0 ? m->teams[t].met / m->teams[t].total : (double)NAN);
    }
    put_money(m);
    put_accounts(m);
    distribution_rows(&m->opt->sink, m->opt->run_id, "training.wait", &m->wait[CLASS_TRAINING], NULL);
    distribution_rows(&m->opt->sink, m->opt->run_id, "lora.wait", &m->wait[CLASS_LORA], NULL);
    distribution_rows(&m->opt->sink, m->opt->run_id, "inference.latency", &m->latency, NULL);
}

static void managed_init(struct managed *m)
{
    size_t teams = (size_t)m->s->quota.team_count + 1;
    m->services = arena_alloc(&m->arena, (size_t)m->s->demand.service_count + 1, sizeof *m->services);
    m->teams = arena_alloc(&m->arena, teams, sizeof *m->teams);
    m->billed = arena_alloc(&m->arena, teams * CLASS_COUNT, sizeof *m->billed);
    m->useful = arena_alloc(&m->arena, teams * CLASS_COUNT, sizeof *m->useful);
    m->rework = arena_alloc(&m->arena, teams * CLASS_COUNT, sizeof *m->rework);
    m->team_uusd = arena_alloc(&m->arena, teams, sizeof *m->team_uusd);
    size_t sources = (size_t)m->s->demand.stream_count + (size_t)m->s->demand.service_count;
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
