/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * MIG instances that are made on request, while a world runs (gpu-sharing 1.6, scope `instance`). A tenant's
 * instance is made when it gets its place: the driver works on a card one thing after another, first what it is
 * still to destroy there, and the tenant starts when its instance exists; until then it is `starting`. It keeps
 * the instance through restarts, and when it leaves, the slices are free for placement at once and destroyed
 * before the next instance on the card is made.
 *
 * What the instances of a card hold of it changes with its neighbours: design 3.3 over those that exist.
 */
#ifndef MODELS_WORLD_WORLD_INSTANCES_H
#define MODELS_WORLD_WORLD_INSTANCES_H

#include "models/world/world_sharing.h"

/* The tenant's instance on the card of its slot is made from now on; it leaves. Other pools: nothing. */
void instance_make(struct world *w, int32_t pool, struct share_place *at, struct share_slot *slot);
void instance_destroy(struct world *w, int32_t pool, struct share_place *at);
/* How long until all instances of the workload exist. */
sim_time instance_wait(const struct world *w, uint32_t wl);
/* Grants of the card anew; counted up to now. */
void instance_grants(struct world *w, int32_t pool, struct share_place *at);
void instances_emit(struct world *w); /* metrics of pools under dynamic MIG */

#endif
