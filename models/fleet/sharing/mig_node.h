/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A node whose cards are cut by MIG, and the price of changing the layout (gpu-sharing 1.6):
 *   serving -> draining (pods on the cards that change must leave) -> reconfiguring -> serving,
 *   or failed when they do not leave in time: the old layout serves on.
 * The owner drives it: it asks for a layout, reports tenants coming and going, and calls
 * mig_node_settle at every change and at the times it returns. Idle amounts of cards that may not
 * be given out are counted as drained, apart from busy.
 */
#ifndef MODELS_FLEET_SHARING_MIG_NODE_H
#define MODELS_FLEET_SHARING_MIG_NODE_H

#include "models/fleet/sharing/mig.h"
#include "sim/sim_time.h"

enum mig_scope {
    MIG_SCOPE_NODE,    /* nvidia-mig-manager: the node advertises no card while it works */
    MIG_SCOPE_CARD,    /* mig-parted alone: a card that differs is wiped and rebuilt */
    MIG_SCOPE_INSTANCE /* on demand: instances that stay go on running */
};

/* All times are assumptions: no end-to-end measurement is public. */
struct mig_costs {
    enum mig_scope scope;
    sim_time create_ns, destroy_ns;  /* per instance */
    sim_time mode_ns, mode_reset_ns; /* per card: Hopper and later; Ampere, with its reset */
    sim_time cycle_ns;               /* per change of a node (clients stop and start) */
    sim_time drain_limit_ns;         /* give up draining after this; < 0: wait for ever */
    bool evict;                      /* the owner evicts instead of waiting (mig_node_blocking) */
};

/* 1 s, 1 s, 30 s, 60 s, 120 s, 5 min, no eviction, scope node. */
struct mig_costs mig_costs_default(void);

enum mig_state { MIG_SERVING, MIG_DRAINING, MIG_RECONFIGURING };

struct mig_node {
    const struct mig_card *card;
    int32_t cards;
    struct mig_costs costs;
    enum mig_state state;
    struct mig_layout *layouts, *targets; /* owned, [card]; no instance = MIG mode off */
    uint8_t *busy;                        /* owned, [card] instances in use as bits */
    sim_time asked_at, done_at, counted_to;
    int64_t drained_mcns, busy_mcns;      /* milli-card-ns so far */
    int32_t changes, failures;
};

/* All cards have the same layout at the start. */
void mig_node_init(struct mig_node *n, const struct mig_card *card, int32_t cards,
                   const struct mig_layout *layout, const struct mig_costs *costs, sim_time now);
void mig_node_fini(struct mig_node *n);

/* May instances of the card be given out now? */
bool mig_node_open(const struct mig_node *n, int32_t card);
/* Takes a free instance of the profile; its index on the card, or -1. */
int32_t mig_node_take(struct mig_node *n, int32_t card, int32_t profile, sim_time now);
void mig_node_give(struct mig_node *n, int32_t card, int32_t instance, sim_time now);

/* Asks for a layout on one card (card >= 0) or all (-1). False: a change is under way. A card that
 * has the layout already is left alone. */
bool mig_node_ask(struct mig_node *n, int32_t card, const struct mig_layout *target, sim_time now);

/* Goes on as far as possible at now; the next time something happens, or -1. */
sim_time mig_node_settle(struct mig_node *n, sim_time now);

/* Instances of the card, as bits, whose tenants hold up the change. */
uint8_t mig_node_blocking(const struct mig_node *n, int32_t card);

/* Work of a change from one layout to another on one card, without the node's cycle. */
sim_time mig_change_ns(const struct mig_card *card, const struct mig_layout *from,
                       const struct mig_layout *to, const struct mig_costs *costs);

#endif
