/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An interval has a rate lambda, R replicas and the capacity C = R lambda_max (llm.h, simple.h).
 *
 * Nobody queued and lambda < C: stationary formulas at each interval (pointwise stationary
 * approximation, Whitt 1991). Latency mass over the quadrature of nodes.h. With patience D the
 * share (1-rho) P(W > D)/(1 - rho P(W > D)) is lost (queueing.h).
 * Near C (|lambda - C| sqrt(t) < 2 sigma, sigma^2 = lambda ca^2 + C cs^2, t = how long the load has
 * been near) the mean wait is at most that of a Brownian backlog that started empty, E[Q(4t/9)]/C:
 * for lambda = C the mean of E[Q] over [0, t] is exactly its value at 4t/9. Above C its excess over
 * the fluid backlog is added to the waits.
 * Otherwise the fluid backlog (backlog.h): Q' = lambda - C, served first come first served, waits
 * uniform within a stretch; every slot is taken, so own times are those of the saturated replica.
 * Where the queue runs empty inside the interval, the rest of it is stationary.
 * No replica: C = 0; arrivals queue (up to max_queue) or are rejected.
 */
#include "models/demand/fluid.h"

#include "models/demand/fluid_priv.h"
#include "models/demand/queueing.h"
#include "models/demand/simple.h"
#include "sim/check.h"
#include "sim/dmath.h"

#define PHASE_STRIDE 14   /* coprime to NODES_PHASES: neighbouring steps see distant phases */
#define QUEUE_PIECES 64
#define NARROW 0.05      /* waits within 5 % of each other: points instead of uniform pieces */
#define CUTS 4

/* One call of fluid_step. */
struct step {
    struct fluid *f;
    const struct traffic_point *point;
    int32_t replicas;
    double capacity, rate;
    struct qhist *latency, *ttft;
    struct fluid_result *out;
    double latency_sum, ttft_sum;   /* request-seconds of the served */
    double in_flight_s, busy_s;     /* integrals over the interval */
    double excess_wait_s;           /* Brownian part of the waits in overload */
};

static double least(double x, double y)
{
    return x < y ? x : y;
}

static double capacity_of(const struct fluid *f, int32_t replicas)
{
    double one = f->cfg->kind == SERVICE_LLM ? f->sizes.lambda_max : f->lambda_max * f->speed;
    return one * (double)replicas;
}

void fluid_station_at(const struct fluid *f, const struct llm_sizes *sizes, double rate,
                      int32_t replicas, struct station *out)
{
    const struct service_config *cfg = f->cfg;
    if (cfg->kind == SERVICE_LLM)
        llm_station(sizes, &cfg->law, rate, replicas, cfg->traffic.arrival_cv, out);
    else
        simple_station(cfg, rate, replicas, out);
}

void fluid_sizes_for(const struct fluid *f, const struct traffic_point *p, struct llm_sizes *out)
{
    const struct traffic_config *t = &f->cfg->traffic;
    llm_sizes_init(out, &f->cfg->law, p->input_tokens_mean, t->input_tokens_cv,
                   p->output_tokens_mean, t->output_tokens_cv);
}

void fluid_init(struct fluid *f, const struct service_config *cfg)
{
    *f = (struct fluid){.cfg = cfg, .station_rate = -1.0, .speed = 1.0, .kv_part = 1.0};
    const struct traffic_config *t = &cfg->traffic;
    if (cfg->kind == SERVICE_LLM) {
        nodes_init(&f->nodes, NODES_LOGNORMAL, t->output_tokens_cv, t->input_tokens_cv);
        struct traffic_point p = {.input_tokens_mean = t->input_tokens_mean,
                                  .output_tokens_mean = t->output_tokens_mean};
        fluid_sizes_for(f, &p, &f->sizes);
        f->work_s = f->sizes.work_s;
        f->lone_s = f->sizes.lone_s;
        f->lambda_max = f->sizes.lambda_max;
    } else {
        nodes_init(&f->nodes, NODES_GAMMA, cfg->service_time_cv, 0.0);
        f->work_s = cfg->service_time_s;
        f->lambda_max = simple_lambda_max(cfg);
    }
    fluid_station_at(f, &f->sizes, f->lambda_max * 2.0, 1, &f->full);
    fluid_find_targets(f);
}

/* The law or service time at f->speed: processor sharing seen by one of those who share. */
static struct service_config at_speed(const struct fluid *f)
{
    struct service_config c = *f->cfg;
    double s = f->speed;
    c.law.c0_s /= s;
    c.law.a_s /= s;
    c.law.aq_s /= s;
    c.law.d1_s /= s;
    c.law.d2_s /= s;
    c.law.kv_capacity_tokens *= f->kv_part;
    c.service_time_s /= s;
    return c;
}

static void sizes_now(struct fluid *f, double input_mean, double output_mean)
{
    struct service_config c = at_speed(f);
    llm_sizes_init(&f->sizes, &c.law, input_mean, c.traffic.input_tokens_cv, output_mean,
                   c.traffic.output_tokens_cv);
}

static void station_now(const struct fluid *f, double rate, int32_t replicas, struct station *out)
{
    struct service_config c = at_speed(f);
    if (c.kind == SERVICE_LLM)
        llm_station(&f->sizes, &c.law, rate, replicas, c.traffic.arrival_cv, out);
    else
        simple_station(&c, rate, replicas, out);
}

void fluid_adjust(struct fluid *f, double speed, double kv_part)
{
    REQUIRE(speed > 0.0 && kv_part > 0.0);
    if (speed >= f->speed && speed <= f->speed && kv_part >= f->kv_part && kv_part <= f->kv_part)
        return;
    f->speed = speed;
    f->kv_part = kv_part;
    f->station_rate = -1.0;
    if (f->cfg->kind == SERVICE_LLM)
        sizes_now(f, f->sizes.input_mean, f->sizes.output_mean);
    station_now(f, capacity_of(f, 1) * 2.0, 1, &f->full);
}

double fluid_load_alone(const struct fluid *f, const struct traffic_point *point)
{
    if (f->cfg->kind == SERVICE_SIMPLE)
        return point->rate_per_s / f->lambda_max;
    struct replica_law law = f->cfg->law;
    law.kv_capacity_tokens *= f->kv_part;
    struct llm_sizes sizes;
    llm_sizes_init(&sizes, &law, point->input_tokens_mean, f->cfg->traffic.input_tokens_cv,
                   point->output_tokens_mean, f->cfg->traffic.output_tokens_cv);
    return point->rate_per_s / sizes.lambda_max;
}

/* Brings f->sizes, f->station and f->full to this point; a repeated (rate, replicas) is free. */
static void refresh(struct fluid *f, const struct traffic_point *p, int32_t replicas)
{
    bool same_sizes = f->cfg->kind == SERVICE_SIMPLE
                      || (p->input_tokens_mean == f->sizes.input_mean
                          && p->output_tokens_mean == f->sizes.output_mean);
    if (!same_sizes) {
        sizes_now(f, p->input_tokens_mean, p->output_tokens_mean);
        station_now(f, f->sizes.lambda_max * 2.0, 1, &f->full);
    }
    if (same_sizes && p->rate_per_s == f->station_rate && replicas == f->station_replicas)
        return;
    f->station_rate = p->rate_per_s;
    f->station_replicas = replicas;
    if (replicas > 0)
        station_now(f, p->rate_per_s, replicas, &f->station);
}

static bool within_slo(const struct service_config *cfg, double latency_s, double ttft_s)
{
    return (cfg->slo_latency_s <= 0.0 || latency_s <= cfg->slo_latency_s)
           && (cfg->slo_ttft_s <= 0.0 || cfg->kind != SERVICE_LLM || ttft_s <= cfg->slo_ttft_s);
}

static void book_served(struct step *s, double mass, double tokens_in, double tokens_out)
{
    struct fluid *f = s->f;
    f->served += mass;
    f->tokens_in += mass * tokens_in;
    f->tokens_out += mass * tokens_out;
    f->slo_total += mass;
    s->out->served += mass;
}

static void book_lost(struct step *s, double mass, double tokens)
{
    struct fluid *f = s->f;
    f->tokens_lost += mass * tokens;
    f->slo_total += mass;
    if (s->latency != NULL)
        qhist_add_infinite(s->latency, mass);
    if (s->ttft != NULL)
        qhist_add_infinite(s->ttft, mass);
}

static void book_timed_out(struct step *s, double mass, double tokens)
{
    s->f->timed_out += mass;
    s->out->timed_out += mass;
    book_lost(s, mass, tokens);
}

static void book_rejected(struct step *s, double mass)
{
    s->f->rejected += mass;
    s->out->rejected += mass;
    book_lost(s, mass, s->point->input_tokens_mean + s->point->output_tokens_mean);
}

static int next_phase(struct fluid *f)
{
    f->phase = (f->phase + PHASE_STRIDE) % NODES_PHASES;
    if (f->phase == 0)
        f->round = (f->round + 1) % NODES_PHASES;
    return f->phase;
}

/* One phase of points with these waits added; spread over [wait_from, wait_to] by level. */
static void book_points(struct step *s, double mass, const struct station *st, double wait_from_s,
                        double wait_to_s)
{
    struct fluid *f = s->f;
    struct nodes_times t;
    int phase = next_phase(f);
    nodes_times(&f->nodes, phase, f->round, st, &t);
    double met = 0.0;
    for (int i = 0; i < NODES_COUNT; i++) {
        double part = mass * nodes_mass[i];
        double wait = wait_from_s + (wait_to_s - wait_from_s) * f->nodes.level[phase][i];
        double latency = wait + t.latency_s[i], ttft = wait + t.ttft_s[i];
        if (within_slo(f->cfg, latency, ttft))
            met += part;
        if (s->latency != NULL)
            qhist_add(s->latency, latency, part);
        if (s->ttft != NULL)
            qhist_add(s->ttft, ttft, part);
    }
    f->slo_met += met;
}

/* Share of [from, to] (either order) at or below x. */
static double share_below(double from, double to, double x)
{
    double lo = from < to ? from : to, hi = from < to ? to : from;
    if (x >= hi)
        return 1.0;
    return x <= lo ? 0.0 : (x - lo) / (hi - lo);
}

/* Adds uniform waits to the own times of the points, these merged to three means. */
static void add_uniform(struct qhist *h, const double *own_s, double mass, double lo, double hi)
{
    static const int ends[] = {3, 5, NODES_COUNT};
    if (h == NULL)
        return;
    for (int g = 0, i = 0; g < 3; g++) {
        double weight = 0.0, sum = 0.0;
        for (; i < ends[g]; i++) {
            weight += nodes_mass[i];
            sum += nodes_mass[i] * own_s[i];
        }
        qhist_add_uniform(h, lo + sum / weight, hi + sum / weight, mass * weight);
    }
}

/* As book_points with the waits of every point uniform: for ranges so wide that they dominate. */
static void book_uniform(struct step *s, double mass, double lo, double hi)
{
    struct fluid *f = s->f;
    const struct service_config *cfg = f->cfg;
    struct nodes_times t;
    int phase = next_phase(f);
    nodes_times(&f->nodes, phase, f->round, &f->full, &t);
    for (int i = 0; i < NODES_COUNT; i++) {
        double wait_most = DM_INF;
        if (cfg->slo_latency_s > 0.0)
            wait_most = cfg->slo_latency_s - t.latency_s[i];
        if (cfg->slo_ttft_s > 0.0 && cfg->kind == SERVICE_LLM)
            wait_most = least(wait_most, cfg->slo_ttft_s - t.ttft_s[i]);
        f->slo_met += mass * nodes_mass[i] * share_below(lo, hi, wait_most);
    }
    add_uniform(s->latency, t.latency_s, mass, lo, hi);
    add_uniform(s->ttft, t.ttft_s, mass, lo, hi);
}

/* Waits between lo and hi: a narrow range by points, cut into at most CUTS; a wide one uniform. */
static void book_range(struct step *s, double mass, double lo, double hi)
{
    double cuts = dm_ceil((hi - lo) / (NARROW * (lo + s->f->full.own_mean_s)));
    if (cuts > CUTS) {
        book_uniform(s, mass, lo, hi);
        return;
    }
    int n = cuts > 1.0 ? (int)cuts : 1;
    for (int k = 0; k < n; k++)
        book_points(s, mass / n, &s->f->full, lo + (hi - lo) * k / n, lo + (hi - lo) * (k + 1) / n);
}

/* backlog_book_fn */
static void book_queued(void *ctx, const struct backlog_part *part)
{
    struct step *s = ctx;
    const struct station *full = &s->f->full;
    if (part->lost > 0.0)
        book_timed_out(s, part->lost, part->tokens_in + part->tokens_out);
    if (!(part->served > 0.0))
        return;
    double from = part->wait_from_s + s->excess_wait_s, to = part->wait_to_s + s->excess_wait_s;
    double lo = from < to ? from : to, hi = from < to ? to : from;
    book_served(s, part->served, part->tokens_in, part->tokens_out);
    book_range(s, part->served, lo, hi);
    double wait = 0.5 * (lo + hi);
    s->latency_sum += part->served * (wait + full->own_mean_s);
    s->ttft_sum += part->served * (wait + full->own_ttft_s);
}

static double variance_per_s(const struct fluid *f, double rate, double capacity)
{
    double ca = f->cfg->traffic.arrival_cv, cs = f->cfg->service_time_cv;
    double cs2 = f->cfg->kind == SERVICE_LLM ? f->sizes.work_cs2 : cs * cs;
    return rate * ca * ca + capacity * cs2;
}

/* E[Q(4t/9)] of the Brownian backlog when the load is near capacity, else -1. Counts the time. */
static double near_capacity(struct step *s, double length_s)
{
    struct fluid *f = s->f;
    double drift = s->rate - s->capacity;
    double bound = 4.0 * variance_per_s(f, s->rate, s->capacity);
    if (!(drift * drift * length_s < bound)) {
        f->near_s = 0.0;
        return -1.0;
    }
    f->near_s += length_s;
    if (!(drift * drift * f->near_s < bound))
        return -1.0;
    return queue_rbm_mean(drift, 0.25 * bound, f->near_s * (4.0 / 9.0));
}

/* Mean wait of the state, at most what a Brownian backlog could have reached; sets its scale. */
static double limit_wait(struct step *s, double length_s, struct station *st)
{
    if (s->rate >= s->capacity) { /* equal, but for rounding: everybody waits for the noise */
        st->p_wait = 1.0;
        st->wait_scale_s = 1e12;
    }
    double wait = st->p_wait * st->wait_scale_s;
    if (!(wait > 0.0)) {
        s->f->near_s = 0.0;
        return 0.0;
    }
    double queue = near_capacity(s, length_s);
    if (queue >= 0.0 && queue < wait * s->capacity) {
        wait = queue / s->capacity;
        st->wait_scale_s = wait / st->p_wait;
    }
    return wait;
}

/* The interval, or what is left of it, with nobody queued and rate < capacity. */
static void stationary(struct step *s, double length_s, double mass)
{
    struct fluid *f = s->f;
    struct station st = f->station;
    double rho = s->rate / s->capacity;
    double wait = limit_wait(s, length_s, &st);
    double served = mass;
    if (f->cfg->timeout_s > 0.0 && wait > 0.0) {
        double tail = st.p_wait * dm_exp(-f->cfg->timeout_s / st.wait_scale_s);
        double lost = mass * queue_loss_with_patience(rho, tail);
        if (lost > 0.0)
            book_timed_out(s, lost, s->point->input_tokens_mean + s->point->output_tokens_mean);
        served -= lost;
    }
    book_served(s, served, s->point->input_tokens_mean, s->point->output_tokens_mean);
    book_points(s, served, &st, 0.0, 0.0);
    s->latency_sum += served * (st.own_mean_s + wait);
    s->ttft_sum += served * (st.own_ttft_s + wait);
    s->in_flight_s += length_s * s->rate * (st.own_mean_s + wait); /* Little */
    s->busy_s += length_s * st.busy;
}

/* Pushes the arrivals of [from, to); over max_queue they are rejected. Room made by time-outs
 * inside the piece is seen from the next piece on. */
static void admit(struct step *s, double from_s, double to_s)
{
    struct fluid *f = s->f;
    const struct service_config *cfg = f->cfg;
    double length = to_s - from_s, net = s->rate - s->capacity;
    struct cohort c = {.from_s = from_s, .to_s = to_s, .mass = s->rate * length,
                       .tokens_in = s->point->input_tokens_mean,
                       .tokens_out = s->point->output_tokens_mean};
    if (s->replicas == 0 && cfg->on_no_replica == NO_REPLICA_REJECT) {
        if (c.mass > 0.0)
            book_rejected(s, c.mass);
        return;
    }
    double room = cfg->max_queue - backlog_mass(&f->queue);
    if (cfg->max_queue <= 0.0 || net * length <= room || net <= 0.0) {
        backlog_push(&f->queue, &c);
        return;
    }
    double full_s = room > 0.0 ? room / net : 0.0;
    struct cohort rest = c;
    c.to_s = rest.from_s = from_s + full_s;
    c.mass = s->rate * full_s;
    rest.mass = s->capacity * (length - full_s);
    backlog_push(&f->queue, &c);
    backlog_push(&f->queue, &rest);
    book_rejected(s, net * (length - full_s));
}

/* One piece of an interval in which somebody waits or capacity is short. */
static void queued_piece(struct step *s, double from_s, double to_s)
{
    struct fluid *f = s->f;
    double patience = f->cfg->timeout_s > 0.0 ? f->cfg->timeout_s : DM_INF;
    double before = backlog_mass(&f->queue), rest;
    admit(s, from_s, to_s);
    s->excess_wait_s = 0.0;
    if (s->capacity > 0.0 && s->rate >= s->capacity) {
        double queue = near_capacity(s, to_s - from_s);
        double fluid_queue = (s->rate - s->capacity) * f->near_s * (4.0 / 9.0);
        if (queue > fluid_queue)
            s->excess_wait_s = (queue - fluid_queue) / s->capacity;
    }
    double empty_s = backlog_serve(&f->queue, from_s, to_s, s->capacity, patience, book_queued, s,
                                   &rest);
    double after = backlog_mass(&f->queue), waited_s = empty_s - from_s;
    double in_service = f->full.in_service * (double)s->replicas;
    s->in_flight_s += waited_s * (0.5 * (before + after) + in_service
                                  + s->excess_wait_s * s->capacity);
    s->busy_s += s->replicas > 0 ? waited_s : 0.0;
    if (rest > 0.0)
        stationary(s, to_s - empty_s, rest);
}

static void queued(struct step *s, double length_s)
{
    const struct service_config *cfg = s->f->cfg;
    int pieces = 1;
    if (cfg->max_queue > 0.0 && cfg->timeout_s > 0.0) {
        double wanted = dm_ceil(4.0 * length_s / cfg->timeout_s);
        pieces = wanted < QUEUE_PIECES ? (int)wanted : QUEUE_PIECES;
        pieces = pieces > 0 ? pieces : 1;
    }
    double start = s->f->now_s;
    for (int i = 0; i < pieces; i++)
        queued_piece(s, start + length_s * i / pieces, start + length_s * (i + 1) / pieces);
}

static void finish(struct step *s, double length_s)
{
    struct fluid *f = s->f;
    struct fluid_result *out = s->out;
    f->now_s = f->queue.count > 0 ? f->now_s + length_s : 0.0; /* small numbers stay exact */
    f->backlog = backlog_mass(&f->queue);
    f->tokens_backlog = backlog_tokens(&f->queue);
    out->in_flight = s->in_flight_s / length_s;
    /* min: sums of parts may round above 1. */
    out->busy = least(s->busy_s / length_s, 1.0);
    if (s->capacity > 0.0)
        out->load = least(out->served / (s->capacity * length_s), 1.0);
    if (out->served > 0.0) {
        out->latency_mean_s = s->latency_sum / out->served;
        out->ttft_mean_s = s->ttft_sum / out->served;
    }
}

void fluid_step(struct fluid *f, sim_time length, const struct traffic_point *point,
                int32_t replicas, struct qhist *latency, struct qhist *ttft,
                struct fluid_result *out)
{
    REQUIRE(length > 0 && replicas >= 0 && point->rate_per_s >= 0.0);
    double length_s = sim_time_seconds(length), mass = point->rate_per_s * length_s;
    *out = (struct fluid_result){0};
    refresh(f, point, replicas);
    struct step s = {.f = f, .point = point, .replicas = replicas, .rate = point->rate_per_s,
                     .capacity = capacity_of(f, replicas), .latency = latency,
                     .ttft = f->cfg->kind == SERVICE_LLM ? ttft : NULL, .out = out};
    f->arrived += mass;
    f->tokens_arrived += mass * (point->input_tokens_mean + point->output_tokens_mean);
    if (f->queue.count > 0 || (mass > 0.0 && s.rate >= s.capacity))
        queued(&s, length_s);
    else if (mass > 0.0)
        stationary(&s, length_s, mass);
    else
        f->near_s = 0.0;
    finish(&s, length_s);
}
