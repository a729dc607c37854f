/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The replicas of a service in a stationary state, as far as latency is concerned: what
 * llm.c and simple.c compute and fluid.c turns into latency mass.
 *
 *   TTFT    = base_s + prefill_s * prompt + residual + wait          (LLM)
 *   latency = TTFT + decode_s * size * max(decode_least, 1 + decode_spread * z)
 *
 * prompt and size have mean 1; z is standard normal; residual is gamma with mean residual_s, drawn
 * as residual_s * max(0, residual_c1 + residual_c2 z)^3 (Wilson and Hilferty 1931); wait is 0 with
 * probability 1 - p_wait, else exponential with mean wait_scale_s.
 */
#ifndef MODELS_DEMAND_STATION_H
#define MODELS_DEMAND_STATION_H

struct station {
    double base_s, prefill_s;
    double residual_s, residual_c1, residual_c2;
    double decode_s, decode_least, decode_spread;
    double p_wait, wait_scale_s;
    double in_service;    /* mean requests in service, all replicas */
    double busy;          /* share of time a replica has a request in flight */
    double own_mean_s;    /* mean latency without wait */
    double own_ttft_s;    /* mean TTFT without wait */
};

#endif
