/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws from the laws of positive quantities that scenarios name (demand_config.h). */
#ifndef MODELS_DEMAND_LAW_H
#define MODELS_DEMAND_LAW_H

#include "models/demand/demand_config.h"
#include "sim/rng.h"

/* One value of the law, clipped to [least, most] (most 0 = no upper limit). */
double law_draw(const struct law *law, struct rng *rng);

#endif
