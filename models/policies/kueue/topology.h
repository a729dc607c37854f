/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Domains of a topology flavor, their capacity and usage (spec 6.2, model). Domains of a level are
 * sorted by their level values, so the children of one are a range of the next level.
 */
#ifndef MODELS_POLICIES_KUEUE_TOPOLOGY_H
#define MODELS_POLICIES_KUEUE_TOPOLOGY_H

#include "models/policies/kueue/kq.h"

struct kq_dom {
    const char **values; /* of the levels down to its own */
    uint32_t parent, first_child, child_count;
    /* of the placement in progress (6.2, phase 1) */
    int64_t pods, pods_leader, units, units_leader;
    bool lead;
};

struct kq_topo {
    struct arena mem;
    const char *const *levels;
    uint32_t level_count, resource_count;
    bool host;             /* the last level is kubernetes.io/hostname: a leaf is one node */
    struct kq_dom **doms;  /* by level */
    uint32_t *dom_counts;
    int64_t *allocatable, *used; /* [leaf * resource_count + resource] */
    uint32_t *first_node, *nodes; /* nodes of leaf i: nodes[first_node[i] .. first_node[i + 1]) */
    uint32_t *leaf_of_node;       /* by node id; POLICY_NONE */
};

static inline uint32_t kq_topo_leaves(const struct kq_topo *t)
{
    return t->dom_counts[t->level_count - 1];
}

/* Builds the domains of all flavors anew and counts the usage of admitted workloads. */
void kq_topo_build(struct kq *k);
void kq_topo_destroy(struct kq_topo *t);

/* Level of this name, or POLICY_NONE. */
uint32_t kq_topo_level(const struct kq_topo *t, const char *name);

/* The topology has all levels that the request names. */
bool kq_topo_has_levels(const struct kq *k, uint32_t topology,
                        const struct policy_topology_request *r);

/* Usage of `pods` pods of a pod set on a leaf: sign +1 or -1. `own` only for changes within a
 * cycle, else in every flavor that sees it. */
void kq_topo_use(struct kq *k, const struct policy_pod_set *set, uint32_t flavor, uint32_t leaf,
                 int64_t pods);
void kq_topo_use_workload(struct kq *k, const struct kq_wl *w, int sign);
void kq_topo_commit(struct kq *k, const struct kq_wl *w, int sign);

/* Leaf of flavor `to` on the node of a leaf of flavor `from` when `to` sees its usage. */
uint32_t kq_topo_seen_as(const struct kq *k, uint32_t from, uint32_t leaf, uint32_t to);

#endif
