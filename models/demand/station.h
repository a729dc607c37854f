/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The replicas of a service in a stationary state, as far as latency is concerned: what
 * llm.c and simple.c compute and fluid.c turns into latency mass.
 *
 *   TTFT    = base_s + prefill_s * prompt + residual + wait          (LLM)
 *   latency = TTFT + decode_s * max(size * decode_least, size + sqrt(size) * (noise - 1))
 *
 * prompt and size have mean 1. residual and noise are gamma with means residual_s and 1, drawn as
 * mean * max(0, c1 + c2 z)^3, z standard normal (Wilson and Hilferty 1931). wait is 0 with
 * probability 1 - p_wait, else exponential with mean wait_scale_s.
 */
#ifndef MODELS_DEMAND_STATION_H
#define MODELS_DEMAND_STATION_H

struct station {
    double base_s, prefill_s;
    double residual_s, residual_c1, residual_c2;
    double decode_s, decode_least, decode_c1, decode_c2;
    double p_wait, wait_scale_s;
    double in_service;    /* mean requests in service, all replicas */
    double busy;          /* share of time a replica has a request in flight */
    double iteration_s;   /* mean iteration of a replica (TPOT by time): c0/(1-rho) */
    double gate_s;        /* mean wait for the running iteration to end, in residual_s */
    double own_mean_s;    /* mean latency without wait */
    double own_ttft_s;    /* mean TTFT without wait */
};

#endif
