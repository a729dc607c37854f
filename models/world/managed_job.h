/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One job as a managed training job (managed-and-costs 2.4): each attempt begins `delay` after it
 * was asked for, unbilled, and is billed while it runs. Checkpoints cost no time here (they are
 * uploaded beside the job); a retry resumes at the last one.
 */
#ifndef MODELS_WORLD_MANAGED_JOB_H
#define MODELS_WORLD_MANAGED_JOB_H

#include "models/demand/demand.h"

struct managed_clock {
    sim_time delay, horizon;
    uint64_t seed; /* of failures */
    uint32_t replication;
};

struct managed_life {
    sim_time start;  /* of the first attempt; SIM_NEVER: not within the horizon */
    sim_time billed; /* run time of all attempts within the horizon */
    sim_time done;   /* high-water mark of its work; billed - done was rework */
    sim_time lost;   /* work that failures threw away */
    bool finished, gave_up;
};

struct managed_life managed_job_run(const struct job_stream_config *c, int32_t stream,
                                    const struct job_spec *j, const struct managed_clock *clock);

#endif
