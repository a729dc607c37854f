/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Closed forms of a service whose servers each take one request at a time: G/G/c with all replicas
 * behind one queue. P(wait) by Erlang C, mean wait by Allen and Cunneen, C/(c mu - lambda) *
 * (ca^2 + cs^2)/2, those that wait wait exponentially (workload-models 2.4; exact for M/M/c, trust
 * it for CVs up to 1.5). Service times are gamma with the given mean and CV: 1 is exponential.
 */
#ifndef MODELS_DEMAND_SIMPLE_H
#define MODELS_DEMAND_SIMPLE_H

#include "models/demand/demand_config.h"
#include "models/demand/station.h"

/* Requests/s that one replica can serve. */
double simple_lambda_max(const struct service_config *cfg);

/* As llm_station: at or above capacity all servers are taken and the wait is the caller's. */
void simple_station(const struct service_config *cfg, double lambda, int32_t replicas,
                    struct station *out);

#endif
