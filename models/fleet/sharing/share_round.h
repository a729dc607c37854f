/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From reserved amounts to milli-cards (design 3.3): the allocated share of a card is the largest
 * of reserved/capacity over the axes of its mechanism; among tenants it is divided in proportion
 * to each one's own largest axis, by largest remainder, equal remainders in id order.
 */
#ifndef MODELS_FLEET_SHARING_SHARE_ROUND_H
#define MODELS_FLEET_SHARING_SHARE_ROUND_H

#include "models/fleet/sharing/mig.h"

#define SHARE_CARD_MILLI 1000

enum share_axis { SHARE_SLOTS, SHARE_MEMORY, SHARE_COMPUTE, SHARE_AXES };

struct share_amounts {
    int64_t axis[SHARE_AXES];
};

/* amounts of each tenant and capacity[axis], 0 or more; an axis of capacity 0 does not count.
 * milli[tenant] receives the shares; returns their sum. Up to SHARE_TENANTS_MAX tenants. */
#define SHARE_TENANTS_MAX 128
int32_t share_round(const struct share_amounts *amounts, int32_t tenants,
                    const struct share_amounts *capacity, int32_t *milli);

/* The same for the instances of a MIG layout, as if all were in use: memory and compute slices. */
int32_t share_round_layout(const struct mig_card *card, const struct mig_layout *layout,
                           int32_t *milli);

/* Of n equal parts of a card, part i (0-based). */
static inline int32_t share_part_milli(int32_t n, int32_t i)
{
    return SHARE_CARD_MILLI / n + (i < SHARE_CARD_MILLI % n);
}

#endif
