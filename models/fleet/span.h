/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far apart the workers of a gang are, as the network sees it: on one node, in one domain of a
 * level, or across them (network_domain of a pool; nodes lie in domains in order of their numbers).
 * Cost: O(parts * levels). Nodes of different pools have all levels of both between them.
 */
#ifndef MODELS_FLEET_SPAN_H
#define MODELS_FLEET_SPAN_H

#include "models/fleet/fleet.h"

struct gang_span {
    int32_t pool;            /* of the first worker; -1: none yet */
    int32_t first, second;   /* nodes of the fleet that were met first; -1: none */
    int32_t nodes;           /* 0, 1, 2, or 3 = more */
    int32_t levels;          /* it leaves a domain of so many levels: 0 = one innermost domain holds it, or
                                its pool has no network */
    double oversubscription; /* product over these levels, >= 1 */
};

struct gang_span gang_span_none(void);
/* Adds the workers of a lease. */
void gang_span_add(const struct fleet *f, struct lease_id lease, struct gang_span *span);
/* What a gang of so many workers has at best in an empty pool: the fewest nodes, the fewest levels. */
struct gang_span gang_span_packed(const struct node_pool_config *pool, int32_t workers, int32_t cards_per_worker);

#endif
