/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Planned changes of a pool's MIG layout (gpu-sharing 1.6, nvidia-mig-manager's scope: the node). At its
 * time every node of the pool gives out no more instances and drains: tenants finish, or are evicted when
 * the pool says so. When the last has gone the work of the change begins (a cycle of the node's clients,
 * destroying and creating instances); then the node gives out the new layout. One that is not empty in time
 * gives up and goes on as it was. What its cards could not be used for meanwhile is offline in the ledger.
 */
#ifndef MODELS_WORLD_WORLD_RECONFIGURE_H
#define MODELS_WORLD_WORLD_RECONFIGURE_H

#include "models/world/world_priv.h"

void reconfigure_init(struct world *w); /* after sharing_init */
void reconfigure_fini(struct world *w);
void reconfigure_due(struct world *w, uint32_t change);  /* EV_RECONFIGURE */
void reconfigure_node(struct world *w, uint32_t node);   /* EV_LAYOUT: its work is done, or it gives up */
uint32_t reconfigure_gen(const struct world *w, uint32_t node); /* of its EV_LAYOUT event */
/* Instances of the pool's nodes are taken (sign 1) or given back. */
void reconfigure_held(struct world *w, const struct lease_part *part, int32_t sign);
void reconfigure_settle(struct world *w); /* nodes that have become empty; at the end of an instant's events */

#endif
