/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MODELS_WORLD_WORLD_MANAGED_H
#define MODELS_WORLD_WORLD_MANAGED_H

#include "models/world/world.h"

/* world_run of an arbiter with `backend: managed`. */
/* Both backends: first node pool that the source (stream, or stream_count + service) may use, in the
 * order of the queue's flavors; -1: none (world_place.c). */
int32_t source_first_pool(const struct scenario *s, const struct arbiter_config *arb, int32_t source,
                          int32_t queue);

/* Both backends: engineers of the arbiter over the horizon, micro-USD (world_cost.c). */
int64_t cost_engineers_uusd(const struct scenario *s, const struct arbiter_config *arb);

bool managed_run(const struct scenario *s, const struct world_options *opt,
                 struct world_outcome *outcome, struct err *err);

#endif
