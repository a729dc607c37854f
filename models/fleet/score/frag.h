/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fragmentation of a node against the pods to expect (Weng et al., USENIX ATC 2023; gpu-sharing
 * 5.4): F_n = sum over pod types of probability * milli of the node that the type cannot use.
 */
#ifndef MODELS_FLEET_SCORE_FRAG_H
#define MODELS_FLEET_SCORE_FRAG_H

#include "models/fleet/score/score.h"

struct frag_type {
    struct score_pod pod;
    double p;
    int32_t threshold; /* index of its milli among the distinct ones */
};

/* The pods to expect, most frequent first. Zeroed = none. */
struct frag_mix {
    struct frag_type *types; /* owned */
    int32_t count;
    int16_t *thresholds;     /* owned: distinct milli of types with cards, ascending */
    int32_t threshold_count;
};

struct frag_count {
    struct score_pod pod;
    int64_t count;
};

/* The shortest list of most frequent kinds that covers share (0.95 in the paper) of all pods;
 * equal counts: larger (cpu, milli, cards, spec) first. kinds is sorted in place. */
void frag_mix_init(struct frag_mix *mix, struct frag_count *kinds, int32_t count, double share);
/* The types as they are, probabilities not normalised: p[i] for pods[i]. */
void frag_mix_set(struct frag_mix *mix, const struct score_pod *pods, const double *p,
                  int32_t count);
void frag_mix_fini(struct frag_mix *mix);

/* Milli-cards of the node that the mix cannot use, in expectation. node->frag_milli is not read. */
double frag_of(const struct frag_mix *mix, const struct score_node *node);

#endif
