/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * KAI-Scheduler fractions: a part of the card's memory, smallest 0.01; nothing is enforced, so they
 * run as time-slicing (gpu-sharing 6.1). Accounted in integer milli-cards.
 */
#include "models/fleet/sharing/share_resource.h"

#define KAI_LEAST_MILLI 10

static bool setup(struct share_pool *pool, const struct share_config *cfg, struct err *e)
{
    (void)cfg;
    (void)e;
    pool->capacity.axis[SHARE_MEMORY] = SHARE_CARD_MILLI;
    return true;
}

static bool demand(const struct share_pool *pool, const struct share_request *req,
                   struct share_demand *d, struct err *e)
{
    int64_t milli = req->cards > 0 ? SHARE_CARD_MILLI : req->milli;
    if (milli == 0 && req->memory_mib > 0 && req->memory_mib <= pool->memory_mib) /* gpu-memory */
        milli = (req->memory_mib * SHARE_CARD_MILLI + pool->memory_mib - 1) / pool->memory_mib;
    if (milli < KAI_LEAST_MILLI)
        return err_set(e, ERR_INPUT, "gpu-fraction of %d/1000: expected 0.01 or more and less than 1, or gpu-memory up to %d MiB",
                       (int)milli, pool->memory_mib);
    d->cards = req->cards > 0 ? req->cards : 1;
    d->amounts.axis[SHARE_MEMORY] = milli;
    share_add_resource(d, RESOURCE_GPU, d->cards);
    return true;
}

const struct share_mechanism share_kai = {"kai", ISOLATION_NONE, true, setup, demand,
                                          speed_time_slicing};
