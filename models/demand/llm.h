/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Closed forms of a continuous-batching replica (workload-models 2.1 to 2.3). Request sizes enter
 * by mean and coefficient of variation: prompts p and decode lengths o - 1, independent lognormals.
 *
 * Work of a request (2.1): alone A = c0 E[o-1]; shared w = a E[p] + aq E[p^2]/2 + d1 E[o-1]
 * + d2 E[(o-1)(p + (o-1)/2)]; rho = lambda w.
 * Capacity (2.2): the least of X/(x c0 + X w) over slots (X = S, x = E[o-1]), KV (X = K,
 * x = E[(o-1)(p + (o-1)/2)], times 0.93 for recomputation after preemption, 1.7) and token budget
 * (X = M, x = E[p + o - 1]); limits of 0 do not bind. All have the shape slots/(A + slots w), so
 * the binding one is kept as an equivalent number of slots.
 * Stationary (2.3): occupancy negative binomial with r = A/w + 1, idle share (1-rho)^r, mean
 * iteration c0/(1-rho), time in service (A + w)/(1-rho), mean TTFT from the gated iteration queue;
 * near the slot limit the birth-death chain. Time in service counts the o-1 iterations after the
 * first token; so latency = TTFT + time in service less the prefills paid in TTFT. That holds the
 * request's own share of w, which o-1 times c0/(1-rho) lacks. Against the iteration simulation in
 * tests: mean latency 0 to -6 % at rho to 0.75.
 */
#ifndef MODELS_DEMAND_LLM_H
#define MODELS_DEMAND_LLM_H

#include "models/demand/demand_config.h"
#include "models/demand/station.h"

struct llm_sizes {
    double input_mean, output_mean;
    double decode_tokens;           /* E[o-1] */
    double prefill_s, prefill2_s2, prefill3_s3; /* own prefill time: first three moments */
    double lone_s, work_s;          /* A, w */
    double slots;                   /* equivalent slots of the binding limit; INFINITY when none */
    double lambda_max;              /* capacity of one replica, requests/s */
    double work_cs2;                /* squared CV of the time a request needs alone */
};

void llm_sizes_init(struct llm_sizes *s, const struct replica_law *law, double input_mean,
                    double input_cv, double output_mean, double output_cv);

/*
 * Stationary state of `replicas` (>= 1) at `lambda` requests/s in total, arrivals with coefficient
 * of variation arrival_cv (2.3: TTFT by 1 + 0.28 (cv^2-1), TPOT by 1 + 0.015 (cv^2-1), the slope
 * that its measured +2..7 % at 2 and +18..28 % at 4 give). Replicas share one queue (least
 * outstanding requests, 1.12): the chain is that of replicas * slots places. lambda at or above
 * capacity gives the saturated state: every slot taken, wait left to the caller.
 */
void llm_station(const struct llm_sizes *s, const struct replica_law *law, double lambda,
                 int32_t replicas, double arrival_cv, struct station *out);

/* Largest rate of one replica at which mean TPOT is at most target_s: (1 - c0/target)/w. */
double llm_rate_for_tpot(const struct llm_sizes *s, const struct replica_law *law, double target_s);

#endif
