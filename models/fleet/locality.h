/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gangs near each other. The nodes of a pool lie, in order, in domains of equal size at each level
 * (rack, block, ...; node_pool_config.domains, innermost first; the last domain may be smaller).
 * With fleet_keep_local a gang of whole cards, placed all or nothing, goes to the tightest
 * place that holds it: one node, else one domain of the innermost level that has one, and so
 * outward; if none holds it, it is placed as without (Kueue's TAS calls this "preferred"). Among
 * domains of one level: the one with the fewest free cards, lowest index among equals. Among nodes
 * of a domain, and for the single node: the fullest that fits, lowest index among equals.
 *
 * Cached weights, the fleet's placement rule and its random stream have no say while a domain is
 * found. Shares, and pools whose cards are shared, are placed as without.
 *
 * State: per domain, the number of nodes with k free cards, kept by node.c as nodes change. Cost of
 * a decision: O(domains * cards per node) and the search for nodes in the chosen domain; unchanged
 * nodes are not looked at. A domain whose amounts (cpu, ...) turn out too small is tried and left.
 */
#ifndef MODELS_FLEET_LOCALITY_H
#define MODELS_FLEET_LOCALITY_H

#include "models/fleet/fleet_priv.h"

struct locality_level {
    int32_t nodes, domain_count; /* nodes of a domain */
    int32_t *with_free;          /* [domain * (cards_per_node + 1) + free cards] nodes */
    int64_t *free_cards;         /* [domain] */
};

struct pool_locality {
    int32_t level_count;
    struct locality_level *levels; /* innermost first */
};

void locality_fini(struct fleet_pool *p);
/* The node (pool-local) had `before` free cards and has `after`; p->locality is not NULL. */
void locality_changed(struct fleet_pool *p, int32_t local, int32_t before, int32_t after);
/* Places all `count` workers in one node or domain: true; else nothing changed. */
bool locality_place(struct fleet *f, struct lease_id lease, const struct place_request *req, int32_t pool,
                    int32_t count);

#endif
