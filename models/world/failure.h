/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs that the user's own error ends (workload-models 4.7): attempt k of a job fails with the
 * stream's probability, at a point drawn evenly over the work that it had left. Attempts count
 * failures, not evictions: a draw belongs to (job, attempt) and is the same under every arbiter.
 */
#ifndef MODELS_WORLD_FAILURE_H
#define MODELS_WORLD_FAILURE_H

#include "models/demand/demand.h"
#include "sim/rng.h"

/* Work at which the attempt that resumes at `from` fails, in (from, work); SIM_NEVER: it does not. */
static inline sim_time failure_mark(const struct job_stream_config *c, int32_t stream,
                                    const struct job_spec *j, uint32_t attempt, sim_time from,
                                    uint64_t seed, uint32_t replication)
{
    if (!(c->failure_probability > 0.0))
        return SIM_NEVER;
    struct rng r;
    rng_open(&r, seed, replication, PURPOSE_JOB_FAILURE, (uint64_t)(uint32_t)stream << 40 | j->id);
    rng_seek(&r, attempt);
    sim_time left = j->work - from;
    if (rng_unit(&r) >= c->failure_probability || left < 2)
        return SIM_NEVER;
    sim_time some = sim_time_from_seconds(sim_time_seconds(left) * rng_unit(&r));
    return from + (some < 1 ? 1 : some >= left ? left - 1 : some);
}

#endif
