/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * HAMi on NVIDIA cards: slot, MiB and percent of cores (gpu-sharing 2.1, 2.2). This is the amounts'
 * side; the scheduler extender, decision for decision, is hami.h.
 */
#include "models/fleet/sharing/share_resource.h"

static bool setup(struct share_pool *pool, const struct share_config *cfg, struct err *e)
{
    int32_t scaling = cfg->memory_scaling_percent > 0 ? cfg->memory_scaling_percent : 100;
    pool->slots = cfg->slots != 0 ? cfg->slots : SHARE_HAMI_SLOTS;
    if (pool->slots < 1 || pool->slots > SHARE_TENANTS_MAX)
        return err_set(e, ERR_INPUT, "deviceSplitCount %d: expected 1 to %d", pool->slots,
                       SHARE_TENANTS_MAX);
    pool->unified_memory = scaling > 100;
    pool->capacity.axis[SHARE_SLOTS] = pool->slots;
    pool->capacity.axis[SHARE_MEMORY] = (int64_t)pool->memory_mib * scaling / 100;
    pool->capacity.axis[SHARE_COMPUTE] = 100;
    return true;
}

/* Memory and cores of the request; unset memory is the whole card's, unset cores are none, or all
 * when memory is unset too (the exclusive default). A fraction asks for both. */
static void amounts_of(const struct share_pool *pool, const struct share_request *req,
                       struct share_demand *d)
{
    int64_t all = pool->capacity.axis[SHARE_MEMORY];
    d->amounts.axis[SHARE_SLOTS] = 1;
    if (req->cards > 0) {
        d->amounts.axis[SHARE_MEMORY] = all;
        d->amounts.axis[SHARE_COMPUTE] = 100;
        return;
    }
    if (req->milli > 0) {
        d->amounts.axis[SHARE_MEMORY] = all * req->milli / SHARE_CARD_MILLI;
        d->amounts.axis[SHARE_COMPUTE] = (req->milli + 9) / 10;
        return;
    }
    bool memory = req->memory_mib > 0 || req->memory_percent > 0;
    bool exclusive = req->cores < 0 && (req->memory_percent == 100 || !memory);
    d->amounts.axis[SHARE_MEMORY] = req->memory_mib > 0 ? req->memory_mib
                               : req->memory_percent > 0 ? all * req->memory_percent / 100
                                                         : all;
    d->amounts.axis[SHARE_COMPUTE] = exclusive ? 100 : req->cores > 0 ? req->cores : 0;
}

static bool demand(const struct share_pool *pool, const struct share_request *req,
                   struct share_demand *d, struct err *e)
{
    if (req->cores > 100 || req->cores < -1)
        return err_set(e, ERR_INPUT, "gpucores %d: expected 0 to 100 percent of a card", req->cores);
    if (req->memory_percent < 0 || req->memory_percent > 100)
        return err_set(e, ERR_INPUT, "gpumem-percentage %d: expected 0 to 100", req->memory_percent);
    if (req->memory_mib < 0 || req->memory_mib > pool->capacity.axis[SHARE_MEMORY])
        return err_set(e, ERR_INPUT, "gpumem %lld MiB: expected at most the card's %lld MiB",
                       (long long)req->memory_mib, (long long)pool->capacity.axis[SHARE_MEMORY]);
    amounts_of(pool, req, d);
    d->cards = req->cards > 0 ? req->cards : 1;
    share_add_resource(d, RESOURCE_GPU, d->cards);
    share_add_resource(d, "nvidia.com/gpumem", d->amounts.axis[SHARE_MEMORY]);
    share_add_resource(d, "nvidia.com/gpucores", d->amounts.axis[SHARE_COMPUTE]);
    return true;
}

const struct share_mechanism share_hami = {"hami", ISOLATION_SOFTWARE, true, setup, demand, speed_hami};
