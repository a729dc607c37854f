/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Closed forms of queueing theory that the fluid fidelity stands on (workload-models 2.3, 2.4).
 * lambda: arrivals/s; all times in s; loads below capacity unless said.
 */
#ifndef MODELS_DEMAND_QUEUEING_H
#define MODELS_DEMAND_QUEUEING_H

#include <stdint.h>

/* Blocking of M/G/c/c with offered load a >= 0 (Erlang B), servers >= 0. Exact. */
double queue_erlang_b(int32_t servers, double load);

/* P(wait > 0) of M/M/c (Erlang C); 1 when load >= servers. Exact up to 1e-30. */
double queue_erlang_c(int32_t servers, double load);

/* Mean backlog at time t of a reflected Brownian motion that starts empty: drift = arrivals minus
 * capacity per s (any sign), variance per s > 0. (workload-models 2.4; Harrison 1985, 1.8) */
double queue_rbm_mean(double drift, double variance, double t);

/* Share lost when customers leave after waiting exactly `patience` and P(wait > patience) would be
 * `tail` without leaving: (1-rho) tail / (1 - rho tail). Exact for M/M/c with constant patience
 * (Boots and Tijms 1999). 0 <= rho < 1. */
double queue_loss_with_patience(double rho, double tail);

/* A replica with `slots` places whose n requests each progress at rate 1/(lone_s + n work_s):
 * birth-death chain with death rate mu(n) = n/(lone_s + n work_s) up to slots, mu(slots) above.
 * Exact for exponential work; below the limit insensitive to the law of work. */
struct slot_chain {
    double p_wait;       /* P(an arrival finds all slots taken) */
    double wait_mean_s;  /* over all arrivals */
    double wait_scale_s; /* of those that wait: exponential with this mean */
    double in_service;   /* mean number */
};

/* Needs lambda < mu(slots); slots >= 1 may be fractional; O(slots), less when far from the limit. */
void queue_slot_chain(double lambda, double lone_s, double work_s, double slots,
                      struct slot_chain *out);

#endif
