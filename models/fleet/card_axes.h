/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cards with two budgets: HAMi reserves memory (MiB) and cores (percent) apart (gpu-sharing 2.2, 2.3). A share
 * fits on a card in use when a slot is free, its MiB are, and its cores are; without cores it needs a card
 * whose cores are not all reserved; with all 100 it needs a card without tenants.
 *
 * A pool under HAMi has a row per card: the amounts of its node, then free MiB, then free percent of cores. Its
 * open cards are keyed by what is free of their fuller budget, in milli. A card with less free than the smaller
 * part of a request cannot hold it, one with as much as the larger part does; between the two one of the budgets
 * decides, and the bounds of the set (fitset.h) skip the words without enough of it: a search costs what it
 * costs where cards have one budget.
 */
#ifndef MODELS_FLEET_CARD_AXES_H
#define MODELS_FLEET_CARD_AXES_H

#include "models/fleet/fleet_priv.h"

struct card_axes {
    int64_t capacity_mib;         /* of a card */
    int32_t slots;
    int32_t width;                /* of a row: resources of a node + 2 */
    int64_t *rows;                /* [card of the pool * width] */
    int32_t *memory_milli;        /* [card of the pool] of its tenants, each rounded up */
    int64_t free_mib, free_cores; /* of the pool; whole cards that are leased have none */
};

/* The rest of the pool is made; its open cards get the rows. */
void card_axes_init(struct fleet *f, struct fleet_pool *p);
void card_axes_fini(struct card_axes *a);

/* Amounts of the node have changed. One look at each of its cards. */
void card_axes_node(struct fleet *f, int32_t node);
/* So many whole cards were taken; < 0: given back. */
void card_axes_whole(struct card_axes *a, int32_t cards);

/* Tenants, and a slot, memory and cores left? */
bool card_axes_open(const struct fleet *f, const struct fleet_pool *p, int64_t card);
/* What is left of both. */
void card_axes_left(const struct fleet_pool *p, int64_t card, int64_t *mib, int64_t *cores);
/* Milli free of the fuller budget: 0..999 with tenants, CARD_MILLI without. */
int32_t card_axes_free(const struct card_axes *a, int64_t mib, int64_t cores, int32_t tenants);
/* The tenant comes (sign 1) or goes: row, tenants, card_free. Returns by how many milli what is booked of the
 * card grows (design 3.3: its fullest axis). The card is in no set. */
int32_t card_axes_move(struct fleet *f, struct fleet_pool *p, int64_t card, const struct lease_part *part, int sign);

/* Fills card_need and least_milli of the view, a copy of a pool under HAMi whose card_need holds the amounts. */
void card_axes_need(struct fleet_pool *view, const struct share_amounts *demand);
/* Would so much that is free do for the need, a row as card_need is? */
bool card_axes_enough(const struct card_axes *a, const int64_t *row, int64_t mib, int64_t cores);
/* Does the need fit on the card? On one without tenants always. The amounts of the node aside. */
bool card_axes_fit(const struct fleet *f, const struct fleet_pool *p, const int64_t *row, int64_t card);
/* Shares of that demand which the pool could hold, never too few; and which an empty card holds. */
int64_t card_axes_room(const struct card_axes *a, const struct share_amounts *demand);
int32_t card_axes_per_card(const struct share_pool *cards, const struct share_amounts *demand);

#endif
