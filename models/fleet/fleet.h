/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fleet at run time: nodes, cards, what is free, and placement over indexes that do not scan
 * the fleet per decision (cost of a decision: O(workers + nodes touched), not O(nodes)).
 *
 * Amounts of cards are integer milli-cards. A whole-card container takes `cards` free cards of
 * one node; a fractional container takes `share_milli` (< 1000) of one card, beside others whose
 * shares fit. A pool's mechanism (models/fleet/sharing/sharing.h) decides what a share gets: a MIG
 * instance that covers it, a replica, a HAMi slot with cores in whole percents; lease_part.milli
 * says how much. Whole cards are not to be had in pools under MIG (strategy single: one card is one
 * instance). Without a MIG layout instances are made on request (sharing/mig_dynamic.h); milli is what
 * one got beside those that were there then. Under time-slicing and MPS a request for n cards gets n replicas of a node, one lease
 * part each, unless they are renamed or such requests fail.
 *
 * A lease is what an admitted workload holds: a list of (node, card amount) parts. Gangs of
 * arbiters with `gang: quota` are placed whole or not at all; with `gang: pods` worker by worker.
 */
#ifndef MODELS_FLEET_FLEET_H
#define MODELS_FLEET_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "models/fleet/fleet_config.h"
#include "sim/err.h"

/* The last five go by score (models/fleet/score): FGD and the rules it was compared with. */
enum placement_kind {
    PLACE_BINPACK, PLACE_SPREAD, PLACE_RANDOM,
    PLACE_DOT_PRODUCT, PLACE_CLUSTERING, PLACE_PACKING, PLACE_BEST_FIT, PLACE_FGD,
    PLACE_KIND_COUNT
};

struct fleet;

const char *fleet_placement_name(enum placement_kind kind);

/* One container shape: what each of `count` equal workers asks for. */
struct place_request {
    int32_t cards;        /* whole cards per worker; 0 when fractional */
    int32_t share_milli;  /* 1..999 of one card per worker; 0 when whole */
    const char *profile;  /* in pools under MIG, instead of share_milli; or NULL */
    int32_t gpumem_mib, gpucores; /* in pools under HAMi, instead of share_milli, when one is not 0 */
    int64_t resources[FLEET_RESOURCES_MAX]; /* per worker, by resource index */
    const int32_t *pools; /* pools allowed, in order of preference */
    int32_t pool_count;
    int32_t prefer_model; /* model whose cached weights make a node preferred, or -1 */
    bool trial;           /* not for good: fleet_place_noted follows, or fleet_release */
};

/* Handle of a lease: index + generation; zero = none. */
struct lease_id {
    uint32_t index1, gen;
};

/* One worker of a lease, or one of its replicas. */
struct lease_part {
    int32_t pool, node;  /* node index in the fleet */
    int32_t first_card;  /* card index on the node of the share, -1 for whole cards */
    int32_t milli;       /* cards * 1000, or the share: under HAMi its fullest axis, so that shares of a card may
                          * add up to more than the card (docs/sharing.md) */
    int32_t memory_mib, cores; /* HAMi: reserved of the card, cores in percent; else 0 */
    int32_t shape;       /* index of the interned amounts; private to the fleet */
    int32_t instance;    /* MIG instance of the layout; dynamic: its mig_code; else -1 */
    int32_t layout;      /* MIG: 0 = the pool's own, k = that of its k-th change */
};

/* Is the pool's sharing possible on its card? e names the legal values. fleet_create requires it. */
bool fleet_pool_sharing_ok(const struct node_pool_config *pool, struct err *e);
/* Can the mechanism of the pool ever give one worker what it asks of cards? e says why not. */
bool fleet_pool_accepts(const struct node_pool_config *pool, const struct place_request *req, struct err *e);
/* The cards of the pool under its mechanism (sharing.h); the configuration is possible. */
struct share_pool;
void fleet_pool_cards(const struct node_pool_config *pool, struct share_pool *cards);
/* What one worker with a share reserves there; false with e when it cannot. */
struct share_demand;
bool fleet_pool_demand(const struct share_pool *cards, const struct place_request *req,
                       struct share_demand *d, struct err *e);

/* seed and replication feed PLACE_RANDOM only. cfg must outlive the fleet. */
struct fleet *fleet_create(const struct fleet_config *cfg, enum placement_kind kind, uint64_t seed,
                           uint32_t replication);
void fleet_destroy(struct fleet *f);
/* From now on gangs take the tightest network domain that holds them (models/fleet/locality.h). */
void fleet_keep_local(struct fleet *f);

/* From now on one worker goes to the best node by score of all its pools that have no mechanism; ties: order
 * of the configuration. Workers of a gang stay in one pool, tried in order. Before anything is placed, for rules
 * by score and for random. */
void fleet_place_across(struct fleet *f);

/* FGD: these pods are to be expected, so many of each, whatever is placed. Other rules: nothing. */
struct fleet_expected {
    struct place_request request; /* cards, shares and resources; pools are not looked at */
    int64_t count;
};
void fleet_expect(struct fleet *f, const struct fleet_expected *pods, int32_t count);

/* Opens an empty lease. */
struct lease_id fleet_lease_open(struct fleet *f);

/* Adds up to `count` workers of the request; all_or_nothing: either all or none. Returns how many
 * were placed. Pools are filled in order; with one_pool all workers go to the
 * first pool that holds them all (else, unless all_or_nothing, to the one that holds most).
 * A request of no cards and no share asks for the amounts only. A node among the last 16
 * that cached prefer_model goes before others when it fits (Fluid adds preferred affinity, weight
 * 100: cache-and-checkpoint 1.3). On failure nothing changed, the random stream included. */
int32_t fleet_place(struct fleet *f, struct lease_id lease, const struct place_request *req,
                    int32_t count, bool all_or_nothing, bool one_pool);

/* The last `count` workers of the lease, of which place_request.trial was set, stay: FGD learns from them. */
void fleet_place_noted(struct fleet *f, struct lease_id lease, const struct place_request *req, int32_t count);

/* Parts of a lease, valid until the next change of this lease. */
const struct lease_part *fleet_lease_parts(const struct fleet *f, struct lease_id lease,
                                           int32_t *count);

/* Takes back the last `count` workers (count < 0: all). */
void fleet_release(struct fleet *f, struct lease_id lease, int32_t count);
/* Closes an empty or filled lease. */
void fleet_lease_close(struct fleet *f, struct lease_id lease);

/* MIG: the node (of the pool, idle unless layout is -1) gives out instances of that layout from now on, as
 * lease_part.layout counts them; -1: none. A change costs one look at each of its cards. */
void fleet_node_layout(struct fleet *f, int32_t pool, int32_t node, int32_t layout);
/* The cards of the pool under one of its layouts. */
void fleet_layout_cards(const struct node_pool_config *pool, int32_t layout, struct share_pool *cards);

/* Could the request ever be placed on the empty fleet (count workers)? Used before a run. */
bool fleet_could_place(const struct fleet_config *cfg, const struct place_request *req,
                       int32_t count);

/* Milli-cards in the pool, in use (under HAMi the fullest axis of every card), and the largest number of whole
 * cards free on one node. */
int64_t fleet_pool_capacity_milli(const struct fleet *f, int32_t pool);
int64_t fleet_pool_used_milli(const struct fleet *f, int32_t pool);
int32_t fleet_pool_largest_free(const struct fleet *f, int32_t pool);

/* Weights and images on nodes: least recently used of cache_slots. fleet_cache_touch returns true
 * when the object was there already, and puts it there. Objects are small non-negative ids. */
bool fleet_cache_has(const struct fleet *f, int32_t node, int32_t object);
bool fleet_cache_touch(struct fleet *f, int32_t node, int32_t object);

/* Words, nodes and cards looked at so far: the work of placement, for tests and bench. */
int64_t fleet_looks(const struct fleet *f);

#endif
