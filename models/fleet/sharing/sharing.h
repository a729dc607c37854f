/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mechanisms that share a card, behind one interface (gpu-sharing 0): how a request for a part of
 * a card becomes named resources and amounts, whether a card has room, what is booked, how well
 * tenants are kept apart, and how fast they run beside each other. One file and one row of the
 * table per mechanism.
 *
 * Amounts lie on three axes: slots, memory (MiB; MIG: memory slices) and compute (percent; MIG:
 * compute slices). An axis of capacity 0 does not count under the mechanism.
 */
#ifndef MODELS_FLEET_SHARING_SHARING_H
#define MODELS_FLEET_SHARING_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include "models/fleet/sharing/mig.h"
#include "models/fleet/sharing/mig_dynamic.h"
#include "models/fleet/sharing/share_config.h"
#include "models/fleet/sharing/share_isolation.h"
#include "models/fleet/sharing/share_round.h"
#include "models/fleet/sharing/speed.h"
#include "sim/err.h"

#define SHARE_MPS_CLIENTS_MAX 48 /* 16 on cards before compute capability 7.5 */
#define SHARE_HAMI_SLOTS 10      /* deviceSplitCount */

/* The cards of a pool under a mechanism. */
struct share_pool {
    enum share_kind kind;
    const char *card;
    int32_t memory_mib;
    struct share_amounts capacity;
    int32_t replicas, slots;
    bool unified_memory;     /* HAMi with memory scaling above 1: pages move instead of failing */
    bool mig_single, rename_shared, allow_above_one;
    const struct mig_card *mig;
    bool mig_dynamic;        /* no layout: instances are made on request, starts in this order */
    enum mig_policy starts;
    struct mig_layout layout;
    int32_t instance_milli[MIG_INSTANCES_MAX];
};

/* What a container asks of one card. Fill one of: cards, milli, profile, or memory and cores. */
struct share_request {
    int32_t cards;           /* whole cards */
    int32_t milli;           /* a fraction of one card, 1..999 */
    const char *profile;     /* MIG */
    int32_t replicas;        /* time-slicing, MPS: more than one buys nothing */
    int64_t memory_mib;      /* HAMi gpumem; 0 = unset */
    int32_t memory_percent;  /* HAMi gpumem-percentage; 0 = unset */
    int32_t cores;           /* HAMi gpucores, percent; -1 = unset */
};

#define SHARE_RESOURCES_MAX 3

struct share_resource {
    char name[64];
    int64_t amount;
};

/* What one tenant reserves: on one card, or so many whole cards. */
struct share_demand {
    struct share_resource resources[SHARE_RESOURCES_MAX];
    int32_t resource_count;
    struct share_amounts amounts;
    int32_t cards;           /* 1 for parts of a card */
    int32_t profile;         /* MIG, else -1 */
};

struct share_tenant {
    int32_t id;
    struct share_demand demand;
    int32_t instance;        /* MIG: of the pool's layout, dynamic: its mig_code; else -1 */
    uint32_t busy;           /* its bits of the card's */
};

/* One card at run time; zeroed = idle. Tenants in order of arrival. */
struct share_card {
    struct share_tenant tenants[SHARE_TENANTS_MAX];
    int32_t count;
    struct share_amounts used;
    uint32_t busy;           /* MIG instances in use; dynamic: memory slices */
};

struct share_mechanism {
    const char *name;
    enum share_isolation isolation;
    bool fault_hits_card;    /* a GPU fault of one tenant ends all of the card */
    /* Completes a pool whose card and memory are set; e names the legal values. */
    bool (*setup)(struct share_pool *pool, const struct share_config *cfg, struct err *e);
    /* From a checked request to amounts and resources. */
    bool (*demand)(const struct share_pool *pool, const struct share_request *req,
                   struct share_demand *d, struct err *e);
    /* Speed of the tenants; caps and shares are filled in. */
    void (*rates)(const struct speed_tenant *t, int32_t n, const struct speed_params *p,
                  double *rate);
};

extern const struct share_mechanism share_whole, share_mig, share_hami, share_time_slicing,
    share_mps, share_kai;

const struct share_mechanism *share_mechanism_of(enum share_kind kind);
/* By name: whole, mig, hami, time-slicing, mps, kai; SHARE_KINDS with e set when unknown. */
enum share_kind share_kind_find(const char *name, struct err *e);

/* May the two be on one card? Only time-slicing on MIG instances may (gpu-sharing 0). */
bool share_combination_ok(enum share_kind a, enum share_kind b, struct err *e);

/* card: catalogue name; memory_mib of the card. The name outlives the pool. */
bool share_pool_init(struct share_pool *pool, const struct share_config *cfg, const char *card,
                     int32_t memory_mib, struct err *e);

/* Checks the request against the pool and makes it amounts. */
bool share_demand_make(const struct share_pool *pool, const struct share_request *req,
                       struct share_demand *d, struct err *e);

bool share_fits(const struct share_pool *pool, const struct share_card *card,
                const struct share_demand *d);
/* The demand fits. */
void share_take(const struct share_pool *pool, struct share_card *card, int32_t id,
                const struct share_demand *d);
/* The tenant is there. */
void share_give(struct share_card *card, int32_t id);

/* Each axis of what one tenant reserves in milli of the card, rounded up; a slot is its part of the card. */
struct share_amounts share_milli_of(const struct share_pool *pool, const struct share_amounts *amounts);

/* Milli-cards of each tenant, in tenant order; returns the card's (share_round). */
int32_t share_allocated(const struct share_pool *pool, const struct share_card *card,
                        int32_t *milli);

/* Speed of each tenant beside the others, relative to alone on a whole card. t describes the
 * tenants, in card order; cap and sm_share come from what they hold. */
void share_rates(const struct share_pool *pool, const struct share_card *card,
                 const struct speed_tenant *t, const struct speed_params *p, double *rate);

#endif
