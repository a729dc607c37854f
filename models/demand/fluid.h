/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fluid inference (design, section 6; workload-models 2): per interval of constant rate and
 * constant ready replicas, what was served, rejected and is still queued, how busy the replicas
 * were, and the latency mass. Formulas and sources are stated in fluid.c.
 */
#ifndef MODELS_DEMAND_FLUID_H
#define MODELS_DEMAND_FLUID_H

#include <stdint.h>

#include "models/demand/demand.h"
#include "sim/tally.h"

struct fluid {                     /* state of one service, open: the world owns it by value */
    const struct service_config *cfg;
    double backlog;                /* requests waiting because capacity was short */
    double arrived, served, rejected, timed_out; /* requests so far; arrived = sum of the rest + backlog */
    double tokens_in, tokens_out;  /* of served requests */
    double tokens_arrived, tokens_lost, tokens_backlog; /* conservation: arrived = served + lost + backlog */
    double slo_met, slo_total;
    /* derived, filled by fluid_init */
    double work_s, lone_s;         /* w and A of workload-models 2.1 */
    double lambda_max;             /* capacity of one replica, requests/s */
    double priv[24];               /* quadrature of request sizes */
};

struct fluid_result {
    double served, rejected, timed_out; /* requests in this interval */
    double busy;                   /* share of time a replica has a request in flight, 0..1: `serving` */
    double load;                   /* work done / work the ready replicas could do, 0..1: `work` */
    double in_flight;              /* mean requests in service + queued over all replicas (scaler's metric) */
    double latency_mean_s, ttft_mean_s;
};

void fluid_init(struct fluid *f, const struct service_config *cfg);

/* Advances by `length` at arrival rate `point` with `replicas` ready. Adds mass to `latency` and
 * `ttft` (may be NULL). length > 0. */
void fluid_step(struct fluid *f, sim_time length, const struct traffic_point *point,
                int32_t replicas, struct qhist *latency, struct qhist *ttft,
                struct fluid_result *out);

/* Replicas needed at this rate so that the SLO holds in the stationary formulas (>= 1). */
int32_t fluid_replicas_for(const struct fluid *f, const struct traffic_point *point);

#endif
