/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fluid inference (design, section 6; workload-models 2): per interval of constant rate and
 * constant ready replicas, what was served, rejected and is still queued, how busy the replicas
 * were, and the latency mass. Formulas and sources are stated in fluid.c, llm.h and simple.h.
 *
 * Latency is booked when a request is served: what waited through a cold start appears with its
 * whole wait in the step that serves it. Rejected and timed-out requests go to the infinite bin
 * of both histograms and count as missed SLOs; what is still queued has no latency yet.
 */
#ifndef MODELS_DEMAND_FLUID_H
#define MODELS_DEMAND_FLUID_H

#include <stdbool.h>
#include <stdint.h>

#include "models/demand/backlog.h"
#include "models/demand/demand.h"
#include "models/demand/llm.h"
#include "models/demand/nodes.h"
#include "models/demand/station.h"
#include "sim/tally.h"

#define FLUID_SLO_GRID 24

struct fluid {                     /* state of one service, open: the world owns it by value */
    const struct service_config *cfg;
    double backlog;                /* requests waiting because capacity was short */
    double arrived, served, rejected, timed_out; /* requests so far; arrived = sum of the rest + backlog */
    double tokens_in, tokens_out;  /* of served requests */
    double tokens_arrived, tokens_lost, tokens_backlog; /* conservation: arrived = served + lost + backlog */
    double slo_met, slo_total;     /* of requests served or lost */
    /* derived, filled by fluid_init (from the configured token means) */
    double work_s, lone_s;         /* w and A of workload-models 2.1; w = service time of a simple one */
    double lambda_max;             /* capacity of one replica, requests/s */
    double lambda_slo;             /* rate of one lone replica that still meets the SLO */
    double target_in_flight;       /* requests in flight per replica there: target_per_replica's default */

    double speed, kv_part;         /* of a replica, see fluid_adjust */

    /* Private: not to be read or written outside fluid.c. */
    double now_s;                  /* since the queue was last empty */
    double near_s;                 /* how long the load has been near capacity */
    int phase, round;              /* of the quadrature */
    bool pooled;                   /* slo_rates hold: simple service with an SLO that can be met */
    double slo_rates[FLUID_SLO_GRID]; /* per replica, for growing numbers (fluid_slo.c) */
    struct llm_sizes sizes;        /* of the token means of the last step */
    struct station station, full;  /* at (station_rate, station_replicas); saturated */
    double station_rate;
    int32_t station_replicas;
    struct backlog queue;
    struct nodes nodes;
};

struct fluid_result {
    double served, rejected, timed_out; /* requests in this interval */
    double busy;                   /* share of time a replica has a request in flight, 0..1: `serving` */
    double load;                   /* work done / work the ready replicas could do, 0..1: `work` */
    double in_flight;              /* mean requests in service + queued over all replicas (scaler's metric) */
    double latency_mean_s, ttft_mean_s; /* of the requests served in it; 0 when none were.
                                           TTFT of a simple service is 0 */
};

/* cfg must outlive f. Costs about 0.3 ms. No memory is owned: no fini. */
void fluid_init(struct fluid *f, const struct service_config *cfg);

/* Advances by `length` at arrival rate `point` with `replicas` ready (>= 0). Adds mass to `latency`
 * and `ttft` (may be NULL; a simple service adds nothing to ttft). length > 0. Intervals follow
 * each other without gaps. */
void fluid_step(struct fluid *f, sim_time length, const struct traffic_point *point,
                int32_t replicas, struct qhist *latency, struct qhist *ttft,
                struct fluid_result *out);

/* From the next step on a replica is `speed` times as fast as configured (> 0: beside neighbours on its
 * card all of its times are divided by it) and holds kv_part (> 0) of the law's KV cache. What it is
 * asked for does not depend on it: lambda_max, the targets and fluid_replicas_for stay those of a
 * replica alone on its card. Free when nothing changed. */
void fluid_adjust(struct fluid *f, double speed, double kv_part);

/* Load of one replica with this rate if it were alone on its card: rate over its capacity, with kv_part. */
double fluid_load_alone(const struct fluid *f, const struct traffic_point *point);

/* Adds the requests still queued to `ages`, at the time they have waited so far (their latency is at
 * least that). Returns how many of them have missed the SLO already. */
double fluid_queued(const struct fluid *f, struct qhist *ages);

/* Replicas needed at this rate so that the SLO holds in the stationary formulas at a load of at most
 * 0.98 (>= 1, not limited by max_replicas). Without an SLO, or with one that even a lone request misses, the fewest at
 * which load stays at or below 0.8. Cheap when the token means are the configured ones (they are
 * looked up), else about 0.1 ms. */
int32_t fluid_replicas_for(const struct fluid *f, const struct traffic_point *point);

#endif
