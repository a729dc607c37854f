/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/theory/queue_model.h"

#include <stdlib.h>

#include "sim/arena.h"
#include "sim/check.h"
#include "sim/evq.h"

enum purpose { INTERARRIVAL, SERVICE };
enum event_class { DEPARTURE, ARRIVAL };

struct customer {
    sim_time arrived, service;
    uint64_t number;
};

struct queue {
    const struct queue_setup *setup;
    struct queue_outcome *out;
    struct evq events;
    struct rng interarrivals, services;
    struct customer *waiting; /* ring */
    size_t head, waiting_count, ring_size;
    struct customer *served; /* per server */
    uint32_t *idle;          /* stack of idle servers */
    uint32_t idle_count;
    uint64_t arrived, in_system;
};

static void count_in_system(struct queue *q, sim_time now, int change)
{
    q->in_system += (uint64_t)(int64_t)change;
    tw_set(&q->out->number, now, (double)q->in_system);
}

static void schedule_arrival(struct queue *q, sim_time now)
{
    double gap_s = rng_exp(&q->interarrivals, 1 / q->setup->arrivals_per_s);
    if (q->arrived < q->setup->warm_up + q->setup->customers)
        evq_push(&q->events, now + sim_time_from_seconds(gap_s), ARRIVAL, 0, ARRIVAL, 0);
}

static void serve(struct queue *q, struct customer c, sim_time now)
{
    uint32_t server = q->idle[--q->idle_count];
    q->served[server] = c;
    evq_push(&q->events, now + c.service, DEPARTURE, server, DEPARTURE, 0);
    if (c.number < q->setup->warm_up)
        return;
    double wait_s = sim_time_seconds(now - c.arrived);
    welford_add(&q->out->wait_s, wait_s);
    qhist_add(&q->out->wait_hist, wait_s, 1);
    q->out->waited += now > c.arrived;
}

static void join_line(struct queue *q, struct customer c)
{
    if (q->waiting_count == q->ring_size) {
        struct customer *grown = mem_alloc(2 * q->ring_size, sizeof *grown);
        for (size_t i = 0; i < q->waiting_count; i++)
            grown[i] = q->waiting[(q->head + i) % q->ring_size];
        free(q->waiting);
        q->waiting = grown;
        q->head = 0;
        q->ring_size *= 2;
    }
    q->waiting[(q->head + q->waiting_count++) % q->ring_size] = c;
}

static void on_arrival(struct queue *q, sim_time now)
{
    struct customer c = {.arrived = now, .number = q->arrived++};
    c.service = sim_time_from_seconds(q->setup->service_s(&q->services));
    count_in_system(q, now, 1);
    schedule_arrival(q, now);
    if (q->idle_count > 0)
        serve(q, c, now);
    else
        join_line(q, c);
}

static void on_departure(struct queue *q, uint32_t server, sim_time now)
{
    const struct customer *c = &q->served[server];
    q->out->sojourn_sum_ns += now - c->arrived;
    if (c->number >= q->setup->warm_up) {
        double sojourn_s = sim_time_seconds(now - c->arrived);
        welford_add(&q->out->sojourn_s, sojourn_s);
        qhist_add(&q->out->sojourn_hist, sojourn_s, 1);
    }
    count_in_system(q, now, -1);
    q->idle[q->idle_count++] = server;
    if (q->waiting_count == 0)
        return;
    struct customer next = q->waiting[q->head];
    q->head = (q->head + 1) % q->ring_size;
    q->waiting_count--;
    serve(q, next, now);
}

static void queue_init(struct queue *q, const struct queue_setup *setup, struct queue_outcome *out)
{
    *q = (struct queue){.setup = setup, .out = out, .ring_size = 64};
    *out = (struct queue_outcome){0};
    qhist_init(&out->wait_hist, 0.001, 1e-6, 1e6);
    qhist_init(&out->sojourn_hist, 0.001, 1e-6, 1e6);
    tw_start(&out->number, 0, 0);
    evq_init(&q->events, setup->servers + 1);
    q->waiting = mem_alloc(q->ring_size, sizeof *q->waiting);
    q->served = mem_zalloc(setup->servers, sizeof *q->served);
    q->idle = mem_alloc(setup->servers, sizeof *q->idle);
    for (uint32_t i = 0; i < setup->servers; i++)
        q->idle[q->idle_count++] = i;
}

static void queue_fini(struct queue *q)
{
    evq_fini(&q->events);
    free(q->waiting);
    free(q->served);
    free(q->idle);
}

void queue_run(const struct queue_setup *setup, uint64_t seed, uint32_t replication,
               struct queue_outcome *out)
{
    struct queue q;
    struct ev e;
    queue_init(&q, setup, out);
    rng_open(&q.interarrivals, seed, replication, INTERARRIVAL, 0);
    rng_open(&q.services, seed, replication, SERVICE, 0);
    schedule_arrival(&q, 0);
    while (evq_pop(&q.events, &e)) {
        if (e.kind == ARRIVAL)
            on_arrival(&q, e.time);
        else
            on_departure(&q, ev_rank(&e), e.time);
        out->end = e.time;
    }
    REQUIRE(q.in_system == 0 && q.waiting_count == 0);
    queue_fini(&q);
}

void queue_outcome_fini(struct queue_outcome *out)
{
    qhist_fini(&out->wait_hist);
    qhist_fini(&out->sojourn_hist);
}
