/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole cards: a part of a card takes the card. */
#include "models/fleet/sharing/share_resource.h"

static bool setup(struct share_pool *pool, const struct share_config *cfg, struct err *e)
{
    (void)cfg;
    (void)e;
    pool->capacity.axis[SHARE_SLOTS] = 1;
    return true;
}

static bool demand(const struct share_pool *pool, const struct share_request *req,
                   struct share_demand *d, struct err *e)
{
    (void)pool;
    if (req->cards == 0 && req->milli == 0)
        return err_set(e, ERR_INPUT, "a request for no card: expected a number of cards");
    d->cards = req->cards > 0 ? req->cards : 1;
    d->amounts.axis[SHARE_SLOTS] = 1;
    share_add_resource(d, RESOURCE_GPU, d->cards);
    return true;
}

const struct share_mechanism share_whole = {"whole", ISOLATION_EXCLUSIVE, false, setup, demand,
                                            speed_whole};
