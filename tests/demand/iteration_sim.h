/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One replica simulated iteration by iteration (workload-models 1.2 and 1.4, chunked prefill,
 * no KV limit), on the engine's event queue: the independent reference for the fluid formulas.
 */
#ifndef TESTS_DEMAND_ITERATION_SIM_H
#define TESTS_DEMAND_ITERATION_SIM_H

#include "models/demand/demand_config.h"

struct sim_request {
    double arrival_s;
    int32_t prompt, output;
    /* results */
    double scheduled_s, first_s, last_s;
};

struct sim_result {
    int64_t iterations;
    double busy_s, end_s;
    double decode_s, decode_tokens; /* sums of iteration lengths and tokens of decodes */
    int32_t left_at_end;            /* in the system at the last arrival */
};

/* Runs all requests (in order of arrival). law->max_num_seqs and max_num_batched_tokens must be
 * > 0; aq and API overhead are not used. */
void iteration_sim(struct sim_request *requests, int32_t count, const struct replica_law *law,
                   struct sim_result *out);

/* Poisson arrivals at rate_per_s; lengths lognormal with these means and CVs (0 = constant),
 * at least 1. */
void iteration_sim_draw(struct sim_request *requests, int32_t count, double rate_per_s,
                        double prompt_mean, double prompt_cv, double output_mean, double output_cv,
                        uint64_t seed);

#endif
