/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * MIG without a fixed layout: instances are made when somebody asks for them, at a legal start that is free,
 * and destroyed when they are given back. What stays runs on (gpu-sharing 1.6, scope `instance`: HAMi's
 * dynamic MIG, the DRA driver). Starts come in HAMi's order (MIG_HIGH_ODD), in which no 1g is lost to a 3g that
 * lies low (1.5), or in the driver's.
 */
#ifndef MODELS_FLEET_SHARING_MIG_DYNAMIC_H
#define MODELS_FLEET_SHARING_MIG_DYNAMIC_H

#include "models/fleet/sharing/mig.h"

/* An instance as one number, 0 or more: what lease parts and tenants carry. */
static inline int32_t mig_code(struct mig_instance i)
{
    return i.profile * 8 + i.start;
}

static inline struct mig_instance mig_of_code(int32_t code)
{
    return (struct mig_instance){(int8_t)(code / 8), (int8_t)(code % 8)};
}

/* Instances of the profile that could still be made if nothing else is; 0 exactly when one is refused. */
int32_t mig_room(const struct mig_card *card, const struct mig_layout *there, int32_t profile);

/* The instance is made: the layout stays legal. It is destroyed: it is there; the others keep their order. */
void mig_add(const struct mig_card *card, struct mig_layout *layout, struct mig_instance made);
void mig_drop(struct mig_layout *layout, struct mig_instance gone);

/* The smallest profile of the card that gives at least that part (milli) of its compute and memory slices; among
 * equals the one that a card takes most of. -1: none. */
int32_t mig_smallest(const struct mig_card *card, int32_t milli);
/* Nearest milli of a part of the slices. */
int32_t mig_part_milli(int32_t part, int32_t of);

#endif
