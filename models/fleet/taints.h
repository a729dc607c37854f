/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Taints and tolerations as Kubernetes matches them (core/v1 Toleration.ToleratesTaint): an empty key
 * with operator Exists matches every key, no effect matches every effect, no value is operator Exists.
 */
#ifndef MODELS_FLEET_TAINTS_H
#define MODELS_FLEET_TAINTS_H

#include "models/fleet/fleet_config.h"

/* Is the taint matched by one of the tolerations? */
bool taint_tolerated(const struct taint *taint, const struct taint *tolerations, int32_t count);

#endif
