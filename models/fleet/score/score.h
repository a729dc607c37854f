/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement by score: every node that fits gets an integer 0..100, the highest wins, the caller's
 * order of nodes breaks ties. The six rules of the FGD experiment (Weng et al., USENIX ATC 2023;
 * gpu-sharing 5.3 to 5.5): one file and one row of the table each.
 *
 * Amounts: cpu in milli, cards in milli-cards (1000 = idle). Rules read one node and one pod;
 * what they may remember is in the settings.
 */
#ifndef MODELS_FLEET_SCORE_SCORE_H
#define MODELS_FLEET_SCORE_SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/rng.h"

#define SCORE_CARD_MILLI 1000
#define SCORE_ANY_MODEL UINT64_MAX
#define SCORE_MAX 100

/* What one pod asks. cards 0 = cpu only; milli is per card, below 1000 only with cards 1. */
struct score_pod {
    int64_t cpu_milli;
    int32_t cards, milli;
    uint64_t models; /* bit per card model accepted; SCORE_ANY_MODEL = no limit */
    int32_t spec;    /* order of the limit's text among all limits; tells equal pods apart */
};

struct score_node {
    int64_t cpu_free_milli;
    const int16_t *left; /* milli free of each card */
    int32_t cards;
    int32_t left_sum;
    int32_t model;       /* bit of score_pod.models, -1 = unknown: takes pods without a limit */
    uint32_t tags;       /* score_tag bits of the pods it holds */
    double frag_milli;   /* frag_of of the node as it is; only where the settings have a mix */
};

struct frag_mix;

struct score_settings {
    int64_t cpu_norm_milli;     /* cpu of the largest node */
    int64_t card_norm_milli;    /* cards of the largest node * 1000 */
    const struct frag_mix *mix; /* the pods to expect; FGD needs it */
    int16_t *scratch;           /* room for the cards of the largest node */
};

/* Which card a share goes to, among those that fit. */
enum score_card { SCORE_CARD_LEAST_LEFT, SCORE_CARD_RANDOM, SCORE_CARD_OWN };

struct score_rule {
    const char *name;
    bool uniform;         /* all scores are equal: draw one of the nodes that fit */
    enum score_card card;
    /* Score of a node that fits. With SCORE_CARD_OWN and a share, *card receives the card. */
    int32_t (*score)(const struct score_settings *s, const struct score_pod *pod,
                     const struct score_node *node, int32_t *card);
};

enum score_kind {
    SCORE_RANDOM, SCORE_DOT_PRODUCT, SCORE_CLUSTERING, SCORE_PACKING, SCORE_BEST_FIT, SCORE_FGD,
    SCORE_KINDS
};

extern const struct score_rule score_random, score_dot_product, score_clustering, score_packing,
    score_best_fit, score_fgd;

const struct score_rule *score_rule_of(enum score_kind kind);

static inline bool score_same_pod(const struct score_pod *a, const struct score_pod *b)
{
    return a->cpu_milli == b->cpu_milli && a->cards == b->cards && a->milli == b->milli &&
           a->models == b->models && a->spec == b->spec;
}

static inline bool score_accepts(const struct score_pod *pod, int32_t model)
{
    return pod->models == SCORE_ANY_MODEL || (model >= 0 && (pod->models >> model & 1) != 0);
}

/* Model, cpu and cards; a card holds as many parts of a pod as it has room for (5.3). */
bool score_fits(const struct score_pod *pod, const struct score_node *node);

/* Bit of the kind of pod: 0 for cpu only, one bit for shares, one per number of cards (1 to 29;
 * above, the last bit). */
uint32_t score_tag(const struct score_pod *pod);

/* The card of a share by the rule. The node fits. rng serves SCORE_CARD_RANDOM only. */
int32_t score_choose_card(const struct score_rule *rule, const struct score_settings *s,
                          const struct score_pod *pod, const struct score_node *node,
                          struct rng *rng);

#endif
