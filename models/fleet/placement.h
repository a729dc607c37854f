/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement rules: which node, which card. One rule is one file and one row of the table in
 * placement.c. A rule only chooses; fleet.c takes and gives back.
 */
#ifndef MODELS_FLEET_PLACEMENT_H
#define MODELS_FLEET_PLACEMENT_H

#include "models/fleet/card_axes.h"
#include "models/fleet/score/score.h"

struct place_choice {
    int32_t node; /* fleet-wide, -1 = nothing fits */
    int32_t card; /* on the node, for shares; -1 for whole cards */
};

struct place_rule {
    const char *name;
    /* A node of the pool with req->cards whole cards free and the amounts. */
    struct place_choice (*whole)(struct fleet *f, struct fleet_pool *p,
                                 const struct place_request *req);
    /* A card of the pool, open or not, that holds the share, and the amounts: open cards with p->card_need are
     * among those with p->least_milli free. */
    struct place_choice (*share)(struct fleet *f, struct fleet_pool *p,
                                 const struct place_request *req);
    /* Which of two nodes that fit (numbers of free whole cards) is better: < 0 the first. */
    int (*compare)(int32_t free_a, int32_t free_b);
    const struct score_rule *score; /* rules by score (place_score.c), else NULL */
};

extern const struct place_rule place_binpack, place_spread, place_random, place_dot_product,
    place_clustering, place_packing, place_best_fit, place_fgd;

const struct place_rule *place_rule_of(enum placement_kind kind);

/* A request as one pool sees it: the share is what the pool's mechanism needs for it. */
struct place_ask {
    struct place_request req;
    struct fleet_pool pool; /* the pool; under MIG its open cards are those with a fitting instance */
    int32_t replicas;       /* > 0: whole cards that are replicas here, each of req.share_milli */
    struct share_amounts amounts; /* of a share under a mechanism, on one card */
};

/* False: the pool can never hold it. */
bool place_ask_make(struct fleet *f, int32_t pool, const struct place_request *req,
                    struct place_ask *ask);

/* place_replicas.c: takes ask->replicas on one node. False: no node has as many. */
bool place_replicas(struct fleet *f, struct lease *l, const struct place_ask *ask, int32_t pool);
/* On this node, which has as many free; of the amounts, too. */
void place_replicas_on(struct fleet *f, struct lease *l, const struct place_ask *ask, int32_t pool, int32_t node);

/* The card that a key of pool.open_cards stands for; its k-th, when there are several. */
struct place_choice place_open_card(const struct fleet *f, const struct fleet_pool *p, int64_t key, int32_t k);
/* Keys of pool.open_cards for each amount of room: those with room r are r * this and on. */
int64_t place_open_row(const struct fleet_pool *p);

/* Does the node have the amounts? And the card of it that a share would get: the one with the least room, else a new
 * one; -1: none. */
bool place_amounts_fit(const struct fleet *f, const struct place_request *req, int32_t node);
int32_t place_card_on(const struct fleet *f, const struct fleet_pool *p, const struct place_request *req, int32_t node);
/* fleet.c: takes the choice, which fits; what the worker holds, pool not filled in. */
struct lease_part place_take(struct fleet *f, const struct place_ask *ask, struct place_choice c);

/* The rule's choice; a node that holds req.prefer_model and fits goes first. */
struct place_choice place_choose(struct fleet *f, struct place_ask *ask);

/* place_score.c: the index of a pool, when the fleet's rule goes by score. */
void place_score_init(struct fleet *f, int32_t pool);
void place_score_fini(struct fleet_pool *p);
void place_across_fini(struct fleet *f);
/* The best node by score: of the pool, or of all pools of the request that share its score. */
struct place_choice place_score_choose(struct fleet *f, struct fleet_pool *p, const struct place_request *req);
/* A worker of so many cards, or of a share, has been taken (sign 1) or given back (-1). */
void place_score_changed(struct fleet *f, int32_t node, int32_t cards, bool share, int sign);
/* A worker was placed for good. */
void place_score_note(struct fleet *f, int32_t pool, const struct place_request *req);

#endif
