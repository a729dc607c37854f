/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * M/M/1, arrivals 0.9 a second, service 1 s: the mean time in system is 1/(mu - lambda) = 10 s.
 * The estimate's standard error comes from 20 batch means (style-anchors 4.7), so a wrong engine
 * is noticed while its speed is measured.
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "sim/arena.h"
#include "sim/evq.h"
#include "sim/rng.h"
#include "sim/tally.h"

enum { BATCHES = 20, DRAWN_AHEAD = 256 };
enum { ARRIVAL, DEPARTURE };
#define ARRIVAL_MEAN_NS (1e9 / 0.9)
#define SERVICE_MEAN_NS 1e9

/* Arrival times of those in the system, oldest first. */
struct line {
    sim_time *arrived;
    size_t head, count, mask;
};

/* Durations of one stream, drawn some hundred at a time. */
struct durations {
    struct rng rng;
    double mean_ns;
    unsigned used;
    double ahead_ns[DRAWN_AHEAD];
};

struct mm1 {
    struct evq queue;
    struct durations arrivals, services;
    struct line line;
    uint64_t customers, arrived, departed, batch_size;
    int64_t batch_sum_ns;
    struct welford batch_means_s;
};

static void line_grow(struct line *l)
{
    size_t size = l->mask + 1;
    sim_time *grown = mem_alloc(2 * size, sizeof *grown);
    for (size_t i = 0; i < l->count; i++)
        grown[i] = l->arrived[(l->head + i) & l->mask];
    free(l->arrived);
    *l = (struct line){.arrived = grown, .count = l->count, .mask = 2 * size - 1};
}

static void durations_init(struct durations *d, uint64_t seed, uint32_t purpose, double mean_ns)
{
    rng_open(&d->rng, seed, 0, purpose, 0);
    d->mean_ns = mean_ns;
    d->used = DRAWN_AHEAD;
}

static inline sim_time draw(struct durations *d)
{
    if (d->used == DRAWN_AHEAD) {
        rng_exp_fill(&d->rng, d->mean_ns, d->ahead_ns, DRAWN_AHEAD);
        d->used = 0;
    }
    return (sim_time)(d->ahead_ns[d->used++] + 0.5);
}

static void start_service(struct mm1 *m, sim_time now)
{
    evq_push(&m->queue, now + draw(&m->services), DEPARTURE, 0, DEPARTURE, 0);
}

static void on_arrival(struct mm1 *m, sim_time now)
{
    struct line *l = &m->line;
    if (++m->arrived < m->customers)
        evq_push(&m->queue, now + draw(&m->arrivals), ARRIVAL, 0, ARRIVAL, 0);
    if (l->count > l->mask)
        line_grow(l);
    l->arrived[(l->head + l->count++) & l->mask] = now;
    if (l->count == 1)
        start_service(m, now);
}

static void on_departure(struct mm1 *m, sim_time now)
{
    struct line *l = &m->line;
    m->batch_sum_ns += now - l->arrived[l->head++ & l->mask];
    if (++m->departed % m->batch_size == 0) {
        double mean_ns = (double)m->batch_sum_ns / (double)m->batch_size;
        welford_add(&m->batch_means_s, mean_ns / 1e9);
        m->batch_sum_ns = 0;
    }
    if (--l->count > 0)
        start_service(m, now);
}

static void mm1_init(struct mm1 *m, uint64_t customers, uint64_t seed)
{
    *m = (struct mm1){.customers = customers, .batch_size = customers / BATCHES};
    evq_init(&m->queue, 16);
    durations_init(&m->arrivals, seed, ARRIVAL, ARRIVAL_MEAN_NS);
    durations_init(&m->services, seed, DEPARTURE, SERVICE_MEAN_NS);
    m->line.mask = 1023;
    m->line.arrived = mem_alloc(m->line.mask + 1, sizeof *m->line.arrived);
    evq_push(&m->queue, draw(&m->arrivals), ARRIVAL, 0, ARRIVAL, 0);
}

static void mm1_run(struct mm1 *m)
{
    struct ev e;
    while (evq_pop(&m->queue, &e)) {
        if (e.kind == ARRIVAL)
            on_arrival(m, e.time);
        else
            on_departure(m, e.time);
    }
}

static void mm1_fini(struct mm1 *m)
{
    evq_fini(&m->queue);
    free(m->line.arrived);
}

static void note_estimate(const struct bench_report *report, const struct mm1 *m)
{
    const struct welford *w = &m->batch_means_s;
    double sigma = sqrt(welford_variance(w) / (double)w->count);
    double half = gsl_cdf_tdist_Pinv(0.975, (double)w->count - 1) * sigma;
    bench_note(report,
               "mean time in system %.4f s, 95%% interval %.4f to %.4f (%d batches), "
               "%s 3 sigma of 10.0",
               w->mean,
               w->mean - half,
               w->mean + half,
               BATCHES,
               fabs(w->mean - 10) <= 3 * sigma ? "within" : "NOT within");
}

bool bench_mm1(struct bench_report *report, struct err *e)
{
    const struct bench_options *o = report->options;
    uint64_t customers = o->customers > 0 ? o->customers : 20000000;
    if (customers < BATCHES)
        return err_set(e, ERR_INPUT, "--customers must be at least %d", BATCHES);
    struct mm1 m;
    char parameter[32];
    mm1_init(&m, customers, o->seed);
    double start = bench_cpu_s();
    mm1_run(&m);
    double cpu_s = bench_cpu_s() - start;
    snprintf(parameter, sizeof parameter, "customers=%llu", (unsigned long long)customers);
    bench_add(report, parameter, customers, m.queue.popped, cpu_s);
    note_estimate(report, &m);
    mm1_fini(&m);
    return true;
}
