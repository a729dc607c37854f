/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tenants of shared cards while a world runs (gpu-sharing 0, 4.3; design 3.3): who is on which card
 * beside whom, how fast each is, and how the card's time is divided among their accounts.
 *
 * A tenant is a source: a stream of jobs, or stream_count + a service. A part of a card that a
 * workload leases is a slot. What it asked for and what it gets are kept apart: the ledger
 * books held = granted, less what busy neighbours use of it, plus what it uses of theirs and of what
 * is idle. held adds up to the card's allocated share; got and lost (to switching, hooks and
 * interference) are the parts of it that compute.
 *
 * granted = asked, but under HAMi, where tenants lie on memory and cores apart: there the card's fullest axis
 * is divided among its tenants in proportion to each one's own fullest, anew whenever one comes or goes.
 *
 * The cost of any change on a card is that of its tenants. Pools without a mechanism have slots, too,
 * but no speeds: there a share is a part of a card that nothing disturbs.
 */
#ifndef MODELS_WORLD_WORLD_SHARING_H
#define MODELS_WORLD_WORLD_SHARING_H

#include "models/fleet/sharing/sharing.h"
#include "models/world/world_priv.h"

struct share_slot {
    uint32_t wl;
    bool fixed;                /* an instance of a LoRA base: divided by world_lora.c, neither lends nor borrows */
    int32_t tenant;
    int32_t instance, layout;  /* MIG: of that layout (lease_part), else -1 */
    sim_time made_at;          /* dynamic MIG: its instance exists from then on */
    int32_t asked, granted, held, got, lost; /* milli-cards */
    struct share_amounts axes; /* HAMi: what it reserves of each axis, in milli */
    int32_t speed_ppm;
    int64_t resident_mib;      /* of a running tenant whose memory is known */
    sim_time since;            /* its amounts are counted up to here */
};

/* Of one tenant in pools with a mechanism, milli-card-ns. */
struct share_account {
    i128 asked, got, lost;
};

/* Two tenants of one card, a < b. */
struct share_pair {
    int32_t a, b, next;        /* next pair of the card, -1 = none */
    int32_t times;
    sim_time from, to, open;   /* open: since when both are there, SIM_NEVER = not now */
    sim_time shared;
};

struct share_place {
    struct share_slot *slots;  /* in order of arrival */
    size_t count, capacity;
    int32_t pairs;             /* first, -1 = none */
    int32_t tenants;           /* different ones */
    sim_time driver_free;      /* dynamic MIG: instances are made and destroyed until then */
};

/* One node pool, and its integrals over time in cards x ns. */
struct share_pool_use {
    struct share_pool cards;   /* as configured under this arbiter */
    struct share_pool *later;  /* MIG: after each change of layout */
    int64_t first_node, first_card;
    int64_t in_use, peak, tenants, shared;
    i128 use_ns, tenants_ns, shared_ns;
    sim_time since;
    int64_t incidents, victims;
    int64_t made;              /* dynamic MIG: instances, and how long their tenants waited for them */
    sim_time made_wait;
    i128 made_mcns;            /* what they held of cards meanwhile */
};

struct sharing {
    struct share_pool_use *pools;
    struct share_place *places; /* by card of the fleet */
    struct share_pair *pairs;
    size_t pair_count, pair_capacity;
    struct share_account *accounts; /* by tenant */
    struct share_demand *demands; /* [tenant][pool], made when first needed: cards 0 = not yet */
    int64_t in_use, peak;       /* of all pools */
    int64_t incidents, victims;
    int64_t card_count;
};

void sharing_init(struct world *w);
void sharing_fini(struct world *w);
/* The fleet under this arbiter: its own sharing of pools in place of theirs. Memory of the arena. */
const struct fleet_config *sharing_fleet(struct world *w);

void sharing_placed(struct world *w, uint32_t wl);   /* it has a lease and wl->milli */
void sharing_released(struct world *w, uint32_t wl); /* before the lease ends; milli is no longer booked */
/* More (or fewer) tenants than one on the whole card of a LoRA base, and: it became shared, or alone. */
void sharing_base_change(struct world *w, int32_t pool, int64_t tenants, int64_t shared);
void sharing_touch(struct world *w, uint32_t wl);    /* it began or ceased to run; booked up to now */

/* Counts what everybody on the card asked for and got, up to now. */
void sharing_count(struct world *w, struct share_place *at);
/* world_instances.c: MIG profile of a slot, as an index into cards.mig->profiles. */
int32_t sharing_profile(const struct share_pool_use *u, const struct share_slot *slot);
/* Card of the fleet that a part lies on. */
int64_t sharing_card(const struct world *w, const struct lease_part *part);
int32_t sharing_tenant(const struct world *w, uint32_t wl);
const struct tenant_config *sharing_config(const struct world *w, int32_t tenant);
const char *sharing_name(const struct world *w, int32_t tenant);
/* What a tenant reserves in a pool with a mechanism. */
const struct share_demand *sharing_demand(struct world *w, int32_t tenant, int32_t pool);
enum share_isolation sharing_between(enum share_kind kind);

/* sharing_grant.c: each axis of a part of a card in milli; and what is booked for everybody on the card. */
struct share_amounts sharing_axes(const struct world *w, const struct lease_part *part);
void sharing_grant(struct world *w, int32_t pool, struct share_place *at);
/* sharing_pairs.c: the tenant comes to (begin) or leaves a card on which others are. */
void sharing_pairs(struct world *w, struct share_place *at, int32_t tenant, bool begin);
void sharing_advance(struct share_pool_use *u, sim_time now); /* integrals up to now */
void sharing_emit(struct world *w); /* sharing_record.c: tables tenant, sharing, sharing_pool; metrics */

#endif
