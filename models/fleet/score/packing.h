/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cluster of nodes of any make that is packed with pods by one score rule: the model of the FGD
 * experiment (gpu-sharing 5.3). Node order breaks ties, lowest first. Fragmentation is kept for
 * every rule, so that rules can be compared.
 */
#ifndef MODELS_FLEET_SCORE_PACKING_H
#define MODELS_FLEET_SCORE_PACKING_H

#include "models/fleet/score/frag.h"
#include "models/fleet/score/score.h"

#define PACKING_CARDS_MAX 64
#define PACKING_PODS_PER_NODE 1001

struct packing_node {
    int64_t cpu_milli, memory_mib;
    int32_t cards; /* up to PACKING_CARDS_MAX */
    int32_t model; /* bit of score_pod.models, -1 = unknown */
};

struct packing_pod {
    struct score_pod pod; /* milli below 1000 only with cards 1 */
    int64_t memory_mib;
};

/* Where a pod is. node -1 = nowhere. */
struct packing_spot {
    int32_t node, kind;
    uint64_t cards; /* bit per card */
};

struct packing_totals {
    int64_t capacity_milli, used_milli, cpu_used_milli, memory_used_mib;
    int64_t cards_touched; /* cards that are not idle */
    double frag_milli;     /* sum of frag_of over all nodes */
};

struct packing;

/* mix outlives the packing; seed feeds the random rule. */
struct packing *packing_create(const struct packing_node *nodes, int32_t node_count,
                               enum score_kind rule, const struct frag_mix *mix, uint64_t seed);
void packing_destroy(struct packing *p);

/* Makes a kind of pod known; equal kinds may be given once or several times. */
int32_t packing_add_kind(struct packing *p, const struct packing_pod *pod);

/* Places one pod of the kind, or says node -1. */
struct packing_spot packing_place(struct packing *p, int32_t kind);
void packing_take_back(struct packing *p, struct packing_spot spot);

const struct packing_totals *packing_totals_of(const struct packing *p);
/* The node as the rules see it. */
struct score_node packing_view(const struct packing *p, int32_t node);
int64_t packing_looks(const struct packing *p); /* scores computed so far */

#endif
