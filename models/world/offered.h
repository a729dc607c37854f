/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Demand without limits, in milli-card-ns: what `demand.offered` divides by capacity. A job offers
 * its undisturbed work times the cards it asks for (LoRA: its share of one), when it is submitted.
 * A service offers, step by step, the cards of as many replicas as the stationary formulas need for
 * its rate within its SLO. Integers: the sum is the same in any order, so under every arbiter.
 */
#ifndef MODELS_WORLD_OFFERED_H
#define MODELS_WORLD_OFFERED_H

#include "models/demand/fluid.h"
#include "models/ledger/i128.h"

/* Cards that a job asks for, all workers, milli. */
static inline int64_t offered_job_milli(const struct job_spec *j)
{
    int64_t one = j->share_milli > 0 ? j->share_milli : (int64_t)j->cards_per_worker * 1000;
    return one * j->workers;
}

static inline i128 offered_job(const struct job_spec *j)
{
    return i128_mcns(offered_job_milli(j), j->work);
}

/* Milli-cards of one replica. */
static inline int64_t offered_replica_milli(const struct service_config *c)
{
    bool part = c->share_milli > 0 && c->share_milli < 1000;
    return part ? c->share_milli : (int64_t)c->cards_per_replica * 1000;
}

static inline i128 offered_traffic(const struct service_config *c, const struct fluid *f,
                                   const struct traffic_point *p, sim_time length)
{
    if (!(p->rate_per_s > 0))
        return 0;
    return i128_mcns(offered_replica_milli(c) * fluid_replicas_for(f, p), length);
}

#endif
