/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time-slicing and MPS of NVIDIA's device plugin: a card is advertised as several replicas
 * (gpu-sharing 3). Time-slicing limits nothing at run time; MPS divides memory and threads evenly.
 */
#include "models/fleet/sharing/share_resource.h"

static bool setup(struct share_pool *pool, const struct share_config *cfg, struct err *e)
{
    bool mps = pool->kind == SHARE_MPS;
    int32_t most = mps ? SHARE_MPS_CLIENTS_MAX : SHARE_TENANTS_MAX;
    if (cfg->replicas < 2 || cfg->replicas > most)
        return err_set(e, ERR_INPUT, "%s replicas %d: expected 2 to %d",
                       share_mechanism_of(pool->kind)->name, cfg->replicas, most);
    if (mps && cfg->mig_layout != NULL)
        return share_combination_ok(SHARE_MIG, SHARE_MPS, e);
    pool->replicas = pool->slots = cfg->replicas;
    pool->capacity.axis[SHARE_SLOTS] = cfg->replicas;
    return true;
}

/* More than one replica fails at allocation on the node (UnexpectedAdmissionError), after
 * scheduling: by default under MPS, under time-slicing only when asked for. */
static bool demand(const struct share_pool *pool, const struct share_request *req,
                   struct share_demand *d, struct err *e)
{
    int32_t wanted = req->replicas > 0 ? req->replicas : req->cards > 0 ? req->cards : 1;
    bool mps = pool->kind == SHARE_MPS;
    if (wanted > 1 && mps && !pool->allow_above_one)
        return err_set(e, ERR_INPUT, "%d replicas of a shared card: expected 1 (failRequestsGreaterThanOne)",
                       wanted);
    if (mps && req->milli > share_part_milli(pool->replicas, 0))
        return err_set(e, ERR_INPUT, "a fraction of %d/1000 under MPS with %d replicas: expected at most %d/1000",
                       req->milli, pool->replicas, share_part_milli(pool->replicas, 0));
    if (wanted > pool->replicas)
        return err_set(e, ERR_INPUT, "%d replicas of a card: expected at most %d", wanted, pool->replicas);
    d->amounts.axis[SHARE_SLOTS] = wanted;
    share_add_resource(d, pool->rename_shared ? RESOURCE_GPU ".shared" : RESOURCE_GPU, wanted);
    return true;
}

const struct share_mechanism share_time_slicing = {"time-slicing", ISOLATION_NONE, true, setup,
                                                   demand, speed_time_slicing};
const struct share_mechanism share_mps = {"mps", ISOLATION_SOFTWARE, true, setup, demand, speed_mps};
