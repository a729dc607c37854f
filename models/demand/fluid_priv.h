/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by fluid.c and fluid_slo.c only. */
#ifndef MODELS_DEMAND_FLUID_PRIV_H
#define MODELS_DEMAND_FLUID_PRIV_H

#include "models/demand/fluid.h"

/* Stationary state at a rate and number of replicas; sizes only matter for SERVICE_LLM. */
void fluid_station_at(const struct fluid *f, const struct llm_sizes *sizes, double rate,
                      int32_t replicas, struct station *out);

/* Work of the requests of this point. */
void fluid_sizes_for(const struct fluid *f, const struct traffic_point *p, struct llm_sizes *out);

/* Fills lambda_slo, slo_rates and target_in_flight; nodes, sizes and lambda_max are set. */
void fluid_find_targets(struct fluid *f);

#endif
