/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scaler of one service in the world: arbiters without a scaler keep max_replicas; the others
 * run models/elastic at its own clocks, but only at instants where a decision could differ.
 *
 * Metric: requests/s of the service plus its backlog over a minute, target: requests/s that one
 * replica carries within the SLO (the usual Prometheus trigger on a request rate).
 */
#ifndef MODELS_WORLD_SERVICE_SCALING_H
#define MODELS_WORLD_SERVICE_SCALING_H

#include <stdint.h>

struct world;

/* Sets the first number of replicas wanted; the fleet starts in the state that the load of the
 * first step asks for. */
void service_scaling_init(struct world *w, uint32_t service);
/* Inputs of the service changed: makes sure it is looked at at its next clock tick. */
void service_scaling_wake(struct world *w, uint32_t service);
/* Looks at it now and sets wanted. */
void service_scaling_decide(struct world *w, uint32_t service);
void service_scaling_fini(struct world *w, uint32_t service);

#endif
