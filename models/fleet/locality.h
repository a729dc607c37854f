/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gangs near each other. The nodes of a pool lie, in order, in domains of equal size at each level
 * (rack, block, ...; node_pool_config.domains, innermost first; the last domain may be smaller).
 * With fleet_keep_local a gang of whole cards, placed all or nothing, goes to the tightest
 * place that holds it: one node, else one domain of the innermost level that has one, and so
 * outward; if none holds it, it is placed as without (Kueue's TAS calls this "preferred"). Among
 * domains of one level: the one with room for the fewest workers that is still enough (Kueue's BestFit),
 * lowest index among equals. Among nodes of a domain, and for the single node: the fullest that fits,
 * lowest index among equals.
 *
 * Cached weights, the fleet's placement rule and its random stream have no say while a domain is
 * found. Shares, and pools whose cards are shared, are placed as without.
 *
 * State: the last SHAPES_MAX shapes of workers each keep how many fit on every node and, per level, the
 * domains by the sum. Nodes that change are noted in a ring; a decision looks again at those that
 * changed since its shape was last asked, and at no others. Cost: O(nodes changed + levels + nodes of the
 * gang), whatever the fleet; a shape that is new, was forgotten, or has missed more changes than the ring
 * holds (one for each node of the pool) looks at all nodes once.
 */
#ifndef MODELS_FLEET_LOCALITY_H
#define MODELS_FLEET_LOCALITY_H

#include "models/fleet/fleet_priv.h"

#define LOCALITY_SHAPES_MAX 64

struct locality_level {
    int32_t nodes, domain_count; /* nodes of a domain */
};

struct locality_shape {
    int32_t cards;
    int64_t resources[FLEET_RESOURCES_MAX];
    int64_t asked;               /* by locality.clock */
    int64_t seen;                /* changes that are in the numbers below */
    int32_t *on_node;            /* [node] workers that fit */
    int64_t **room;              /* [level][domain] workers that fit */
    struct fitset *by_room;      /* [level] key room * domain_count + domain */
};

struct pool_locality {
    int32_t level_count;
    struct locality_level *levels; /* innermost first */
    struct locality_shape shapes[LOCALITY_SHAPES_MAX];
    int32_t shape_count;
    int64_t clock;
    int64_t looked;              /* changes that some shape has seen */
    int64_t changes;             /* ever noted; the last ring_size of them are in ring */
    int64_t ring_size;           /* a power of two, at least the nodes of the pool */
    int32_t *ring;
};

void locality_fini(struct fleet_pool *p);
/* Free cards or amounts of the node (pool-local) have changed; p->locality is not NULL. */
void locality_changed(struct fleet_pool *p, int32_t local);
/* Places all `count` workers in one node or domain: true; else nothing changed. */
bool locality_place(struct fleet *f, struct lease_id lease, const struct place_request *req, int32_t pool,
                    int32_t count);

#endif
