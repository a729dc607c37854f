/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * MIG: a request names a profile, or a fraction takes the smallest profile of the layout (dynamic: of the
 * card) that gives at least that part of the compute and memory slices.
 */
#include "models/fleet/sharing/share_resource.h"

/* Instances made on request: nothing may fix them beforehand. */
static bool setup_dynamic(struct share_pool *pool, const struct share_config *cfg, struct err *e)
{
    if (cfg->mig_layout != NULL)
        return err_set(e, ERR_INPUT, "MIG layout '%.60s' in a pool whose instances are made on request: expected layout, or dynamic: true",
                       cfg->mig_layout);
    if (cfg->change_count > 0)
        return err_set(e, ERR_INPUT, "changes of a MIG layout in a pool whose instances are made on request: expected reconfigure, or dynamic: true");
    if (cfg->mig_single)
        return err_set(e, ERR_INPUT, "MIG strategy single needs a layout of one profile: expected mixed with dynamic: true");
    pool->mig_dynamic = true;
    pool->starts = cfg->mig_as_driver ? MIG_DRIVER : MIG_HIGH_ODD;
    return true;
}

static bool setup_layout(struct share_pool *pool, const struct share_config *cfg, struct err *e)
{
    const char *layout = cfg->mig_layout != NULL ? cfg->mig_layout : "all-balanced";
    if (!mig_layout_parse(pool->mig, layout, &pool->layout, e))
        return false;
    if (pool->layout.count == 0)
        return err_set(e, ERR_INPUT, "MIG layout '%.60s' has no instance: expected profiles of %s",
                       layout, pool->card);
    for (int i = 1; cfg->mig_single && i < pool->layout.count; i++)
        if (pool->layout.items[i].profile != pool->layout.items[0].profile)
            return err_set(e, ERR_INPUT, "MIG layout '%.60s' mixes profiles: strategy single needs one, mixed allows it",
                           layout);
    share_round_layout(pool->mig, &pool->layout, pool->instance_milli);
    return true;
}

static bool setup(struct share_pool *pool, const struct share_config *cfg, struct err *e)
{
    pool->mig = mig_card_find(pool->card);
    if (pool->mig == NULL)
        return err_set(e, ERR_INPUT, "%s has no MIG profiles: expected a card with MIG (A30, A100, H100, H200, B200, ...)",
                       pool->card);
    pool->capacity.axis[SHARE_MEMORY] = pool->mig->memory;
    pool->capacity.axis[SHARE_COMPUTE] = pool->mig->compute;
    return cfg->mig_dynamic ? setup_dynamic(pool, cfg, e) : setup_layout(pool, cfg, e);
}

/* Smallest profile of the layout that covers the fraction on both axes, or -1. */
static int32_t profile_for(const struct share_pool *pool, int32_t milli)
{
    if (pool->mig_dynamic)
        return mig_smallest(pool->mig, milli);
    int32_t best = -1;
    const struct mig_profile *all = pool->mig->profiles;
    for (int i = 0; i < pool->layout.count; i++) {
        int32_t k = pool->layout.items[i].profile;
        if (mig_part_milli(all[k].compute, pool->mig->compute) < milli ||
            mig_part_milli(all[k].size, pool->mig->memory) < milli)
            continue;
        if (best < 0 || all[k].size < all[best].size ||
            (all[k].size == all[best].size && all[k].compute < all[best].compute))
            best = k;
    }
    return best;
}

static bool in_layout(const struct share_pool *pool, int32_t profile)
{
    for (int i = 0; i < pool->layout.count; i++)
        if (pool->layout.items[i].profile == profile)
            return true;
    return pool->mig_dynamic;
}

static bool demand(const struct share_pool *pool, const struct share_request *req,
                   struct share_demand *d, struct err *e)
{
    if (req->cards > 1)
        return err_set(e, ERR_INPUT, "%d cards of a MIG pool: instances cannot be pooled, expected one profile",
                       req->cards);
    if (req->profile != NULL) {
        d->profile = mig_profile_find(pool->mig, req->profile, e);
        if (d->profile < 0)
            return false;
        if (!in_layout(pool, d->profile))
            return err_set(e, ERR_INPUT, "no card of the pool has an instance '%.40s'", req->profile);
    } else if (req->cards == 1) {
        d->profile = pool->mig_single ? pool->layout.items[0].profile : profile_for(pool, SHARE_CARD_MILLI);
    } else {
        d->profile = req->milli > 0 ? profile_for(pool, req->milli) : -1;
    }
    if (d->profile < 0)
        return err_set(e, ERR_INPUT, "no MIG instance of the %s gives %d/1000 of a card",
                       pool->mig_dynamic ? "card" : "layout",
                       req->cards > 0 ? SHARE_CARD_MILLI : req->milli);
    const struct mig_profile *p = &pool->mig->profiles[d->profile];
    char name[64];
    mig_resource_name(name, p);
    d->amounts.axis[SHARE_MEMORY] = p->size;
    d->amounts.axis[SHARE_COMPUTE] = p->compute;
    share_add_resource(d, pool->mig_single ? RESOURCE_GPU : name, 1);
    return true;
}

const struct share_mechanism share_mig = {"mig", ISOLATION_HARDWARE, false, setup, demand, speed_mig};
