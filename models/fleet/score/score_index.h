/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Best node per class of pods, kept up to date by looking at changed nodes only. A class is a kind
 * of pod; it has a tree of the scores of all nodes. A decision first looks at the nodes that have
 * changed since the class was last asked, each once, newest change first; then the answer is at
 * the root. Cost: O(log nodes) plus one score per changed node, whatever the number of others.
 */
#ifndef MODELS_FLEET_SCORE_SCORE_INDEX_H
#define MODELS_FLEET_SCORE_SCORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/rng.h"

#define SCORE_INDEX_LEVELS 6 /* 64^6 nodes */

struct score_class {
    int64_t seen;    /* changes up to here are in the tree */
    /* One of the two is owned. best: the scores of the nodes plus 1, 0 = does not fit, then the best of
     * each 64, the best of each 64 of these, ...; bytes, and few of them, so that the trees of many
     * classes stay near the processor. sums: node i's value at leaf leaves + i, root at 1. */
    uint8_t *best;
    int32_t *sums;
};

/* A node in the list by time of change. */
struct score_change {
    int64_t at;
    int32_t newer, older; /* -1 = end */
};

struct score_index {
    int32_t nodes, leaves;
    int32_t levels;               /* of best */
    int64_t start[SCORE_INDEX_LEVELS + 1]; /* of each level in best; last: its size */
    bool sums;       /* trees hold counts of nodes that fit, not best scores */
    int64_t clock;   /* changes so far */
    struct score_change *change;  /* [node] */
    int32_t newest;               /* node, -1 = none */
    struct score_class *classes;
    size_t class_count, class_capacity;
    int64_t looks;   /* scores computed */
    /* Score of the node for the class, 0 to 127; -1 = does not fit. Set by the owner. */
    int32_t (*score)(void *owner, int32_t class_index, int32_t node);
    void *owner;
};

/* sums: for score_index_draw; else for score_index_best. nodes may be 0. */
void score_index_init(struct score_index *x, int32_t nodes, bool sums,
                      int32_t (*score)(void *owner, int32_t class_index, int32_t node), void *owner);
void score_index_fini(struct score_index *x);

/* A new class; returns its number, counting from 0. */
int32_t score_index_add(struct score_index *x);

/* The class starts again as if new, for another kind of pod. */
void score_index_reset(struct score_index *x, int32_t class_index);

/* The node has changed. */
void score_index_touch(struct score_index *x, int32_t node);
/* Every node counts as changed. */
void score_index_touch_all(struct score_index *x);

/* The node with the highest score, the lowest among equals; -1 = none fits. */
int32_t score_index_best(struct score_index *x, int32_t class_index);
/* One of the nodes that fit, uniformly; -1 = none. Draws only when there is one. */
int32_t score_index_draw(struct score_index *x, int32_t class_index, struct rng *rng);

#endif
