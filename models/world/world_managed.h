/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MODELS_WORLD_WORLD_MANAGED_H
#define MODELS_WORLD_WORLD_MANAGED_H

#include "models/world/world.h"

/* world_run of an arbiter with `backend: managed`. */
bool managed_run(const struct scenario *s, const struct world_options *opt,
                 struct world_outcome *outcome, struct err *err);

#endif
