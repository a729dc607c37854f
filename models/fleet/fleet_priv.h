/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside of the fleet: what fleet.c, node.c, lease.c, node_cache.c and the placement rules share.
 *
 * Whole cards are anonymous: a node only knows how many of its cards are free. Shared cards have
 * an index on their node, the lowest that holds no share when one is opened; a node's free whole
 * cards are its cards minus whole leases minus open (shared) cards.
 *
 * Per pool there is one fitset of nodes for every number of free whole cards, and one fitset of open
 * cards keyed free_milli * nodes + node, so that "the least free share that fits, lowest id first" is
 * one search. A key stands for all open cards of the node with as much free; the lowest goes first.
 */
#ifndef MODELS_FLEET_FLEET_PRIV_H
#define MODELS_FLEET_FLEET_PRIV_H

#include "models/fleet/fitset.h"
#include "models/fleet/fleet.h"
#include "models/fleet/sharing/sharing.h"
#include "sim/arena.h"
#include "sim/rng.h"

#define CARD_MILLI 1000
#define CARD_ROW_MAX (FLEET_RESOURCES_MAX + 2) /* amounts of a node, then those of a card */

struct card_axes;

/* The mechanism of a pool. MIG: every profile of the layout has a set of cards with free instances
 * of it, keyed free instances * card_count + card, in place of the open cards. Without a layout
 * (mig_pool.c) every profile of the card has one, of cards with room for another instance. */
struct pool_share {
    struct share_pool cards;
    int32_t slots;                    /* tenants of a card at most, 0 = no limit */
    struct card_axes *axes;           /* HAMi, card_axes.h; else NULL */
    int32_t set_count;
    int32_t profile[MIG_PROFILES_MAX];    /* [set] */
    uint32_t members[MIG_PROFILES_MAX];   /* [set] instances of the layout as bits */
    int64_t free_instances[MIG_PROFILES_MAX];
    struct fitset sets[MIG_PROFILES_MAX];
    struct mig_layout *made;          /* [card of the pool] in order of creation; NULL: there is a layout */
    uint8_t *room;                    /* [card of the pool * set_count + set] mig_room */
    /* Replicas (time-slicing, MPS): how many each node has free, and the nodes keyed free * node_count + node. */
    int32_t *node_free;
    struct fitset by_free;
};

struct fleet_pool {
    int32_t home, layout;             /* pool of the configuration, and which of its layouts this is (layouts.c) */
    int32_t next_layout1;             /* the pool of its next layout + 1, 0 = none */
    int32_t first_node, node_count, cards_per_node;
    int64_t first_card, card_count;   /* cards of the fleet are numbered through */
    int64_t used_milli;
    struct fitset *free_nodes;        /* [free whole cards 0..cards_per_node] of pool-local nodes */
    struct fitset open_cards;         /* key free_milli * node_count + pool-local node (a view of a MIG
                                       * pool: free instances * card_count + pool-local card; under HAMi
                                       * free_milli * card_count + pool-local card) */
    struct pool_share *share;         /* NULL: no mechanism */
    struct pool_score *score;         /* place_score.c; NULL when the rule is not by score */
    struct pool_locality *locality;   /* locality.c; NULL: gangs go anywhere in the pool */
    int32_t set;                      /* in the view of a MIG pool that a rule gets; else -1 */
    /* In the view that a rule gets: what a row of open_cards must hold, and the least milli a card with it has. */
    int64_t card_need[CARD_ROW_MAX];
    int32_t least_milli;
};

/* Amounts of one container shape, shared by all parts that have it. */
struct fleet_shape {
    int64_t amounts[FLEET_RESOURCES_MAX];
    int64_t users;                    /* parts that hold it; 0 = on the free list */
    int32_t next;                     /* in its hash chain, or in the free list; -1 = end */
};

#define SHAPE_BUCKETS 1024

struct fleet_shapes {
    struct fleet_shape *items;
    size_t count, capacity;
    int32_t free_head;
    int32_t bucket[SHAPE_BUCKETS];
    int32_t resources;
};

#define LEASE_ALIGN 64 /* one line of the cache each */

struct lease {
    _Alignas(LEASE_ALIGN) uint32_t gen; /* odd while open */
    int32_t count, capacity;
    uint32_t next_free;               /* index1 of the next closed lease, 0 = none */
    struct lease_part *parts;         /* &inline_part, or a block of the parts pool */
    struct lease_part inline_part;
};

#define LEASE_CHUNK 1024
#define PART_CLASSES 28

struct lease_table {
    void **chunks;                    /* of LEASE_CHUNK leases; they never move: part pointers stay valid */
    size_t chunk_count, chunk_capacity;
    uint32_t used, free_head;         /* leases ever opened; index1 of the first closed one */
    struct lease_part *free_block[PART_CLASSES]; /* of 2^class parts, linked through the block */
    struct arena blocks;
};

#define CACHE_HOLDERS 16 /* how many nodes are remembered per object */

struct cache_holders {
    int32_t node[CACHE_HOLDERS];      /* newest first, -1 = none; may be out of date */
};

struct place_rule;

struct fleet {
    const struct fleet_config *cfg;
    const struct place_rule *rule;
    int32_t resources;
    int32_t node_count;
    int32_t pool_count;               /* of the configuration, then those of later layouts */
    struct fleet_pool *pools;
    struct pool_score *across;        /* score of all pools without a mechanism, or NULL (fleet_place_across) */
    uint8_t *node_shut;               /* has another layout at present, or none */
    int32_t *node_pool;
    int32_t *node_free;               /* free whole cards */
    int64_t *node_amounts;            /* [node * resources + r] free */
    int16_t *card_free;               /* milli free; CARD_MILLI = holds no share */
    int16_t *card_tenants;            /* shares on the card */
    uint8_t *card_busy;               /* MIG instances in use, as bits */
    struct fleet_shapes shapes;
    struct lease_table leases;
    int32_t *cache_slot;              /* object + 1 per slot, newest first; 0 = empty */
    int64_t *cache_first;             /* first slot of each node, node_count + 1 entries */
    struct cache_holders *holders;    /* by object */
    size_t holder_count, holder_capacity;
    struct rng rng;
    int64_t looks;                    /* words, nodes and cards looked at so far */
};

/* node.c: taking and giving back, with all indexes. Nodes and cards are fleet-wide numbers. */
void node_take(struct fleet *f, int32_t node, int32_t cards, const int64_t *amounts);
void node_give(struct fleet *f, int32_t node, int32_t cards, const int64_t *amounts);
/* The share that the part is, not of MIG. */
void node_take_share(struct fleet *f, const struct lease_part *part, const int64_t *amounts);
void node_give_share(struct fleet *f, const struct lease_part *part, const int64_t *amounts);
/* MIG: instance of the pool's layout. */
void node_take_instance(struct fleet *f, int32_t node, int32_t card, int32_t instance,
                        const int64_t *amounts);
void node_give_instance(struct fleet *f, int32_t node, int32_t card, int32_t instance,
                        const int64_t *amounts);
void node_fetch(const struct fleet *f, const struct fleet_pool *p, int32_t node);
/* Has the card shares, and room for another by milli and by slots? */
bool node_card_open(const struct fleet *f, const struct fleet_pool *p, int64_t card);
/* Lowest card of the node without shares, or -1 when no whole card is free. */
int32_t node_closed_card(const struct fleet *f, int32_t node);
/* The k-th card of the node (from 0) that is open with so much free. */
int32_t node_open_card(const struct fleet *f, int32_t node, int32_t free_milli, int32_t k);
int64_t node_first_card(const struct fleet *f, int32_t node);

/* layouts.c: the sharing of a pool, which for later layouts is not what the configuration says */
struct node_pool_config fleet_pool_config(const struct fleet *f, int32_t pool);
int32_t layouts_count(const struct fleet_config *cfg);
/* Pools of later layouts behind those of the configuration; nodes and cards go on counting. */
void layouts_make(struct fleet *f, int64_t *cards);
/* The part as the world sees it: pool and node of the configuration. */
void layouts_outside(const struct fleet *f, struct lease_part *part);
int32_t layouts_node(const struct fleet *f, const struct lease_part *part); /* inside */
/* The node, inside, in the layout that it has at present; -1: it has none. */
int32_t layouts_now(const struct fleet *f, int32_t node);
/* node.c: its cards leave (shut) or enter the sets of free instances */
void node_shut_change(struct fleet *f, int32_t node, bool shut);

/* pool_share.c */
void pool_share_init(struct fleet *f, int32_t pool);
void pool_share_fini(struct fleet_pool *p);
/* Milli a share needs on one card of the pool; MIG: the number of its set; -1 = never fits. *amounts: what it
 * reserves there, zero for whole cards. */
int32_t pool_share_need(const struct pool_share *s, const struct place_request *req, struct share_amounts *amounts);
/* Milli it gets on this card of the fleet, given what it needs. */
int32_t pool_share_grant(const struct fleet *f, const struct fleet_pool *p, int64_t card,
                         int32_t need_milli);
int32_t pool_share_free_instance(const struct fleet *f, const struct fleet_pool *p, int64_t card);
/* Instances of the set that are free on the card, or that it has room for. */
int32_t pool_share_left(const struct fleet *f, const struct fleet_pool *p, int32_t set, int64_t card);
/* Replicas: the node (pool-local) has so many more free. */
void pool_share_replicas_changed(struct fleet_pool *p, int32_t local, int32_t change);
/* Shares of this size that fit on an empty card of a pool with this configuration. */
int32_t pool_share_per_card(const struct node_pool_config *cfg, const struct place_request *req);

/* mig_pool.c: instances made on request. A lease part's instance is its mig_code. */
void mig_pool_init(struct fleet_pool *p); /* sets, and what is made on its cards: nothing */
void mig_pool_fini(struct pool_share *s);
/* The instance that would be made there; there is room. */
int32_t mig_pool_next(const struct pool_share *s, const struct mig_layout *made, int32_t profile);
/* Instances of the profile on one card when nothing else is there. */
int32_t mig_pool_most(const struct share_pool *cards, int32_t profile);
/* sign 1: the instance is made on the card (of the fleet); -1: destroyed. */
void mig_pool_change(struct fleet *f, struct fleet_pool *p, int64_t card, int32_t code, int sign);
/* Milli of the instance made last, among those that are there (share_round.h). */
int32_t mig_pool_last_milli(const struct fleet_pool *p, int64_t card);

/* shape.c */
void shapes_init(struct fleet_shapes *s, int32_t resources);
void shapes_fini(struct fleet_shapes *s);
int32_t shape_hold(struct fleet_shapes *s, const int64_t *amounts);
void shape_drop(struct fleet_shapes *s, int32_t shape);

/* lease.c */
void lease_table_fini(struct lease_table *t);
struct lease_id lease_open(struct lease_table *t);
struct lease *lease_get(const struct lease_table *t, struct lease_id id);
void lease_shut(struct lease_table *t, struct lease_id id);
void lease_push(struct lease_table *t, struct lease *l, struct lease_part part);

/* node_cache.c */
void node_cache_init(struct fleet *f);
void node_cache_fini(struct fleet *f);

#endif
