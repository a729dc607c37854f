/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/managed_job.h"

#include "models/world/failure.h"

struct managed_life managed_job_run(const struct job_stream_config *c, int32_t stream,
                                    const struct job_spec *j, const struct managed_clock *clock)
{
    struct managed_life life = {.start = SIM_NEVER};
    sim_time t = j->submit + clock->delay, saved = 0;
    for (uint32_t attempt = 0; t < clock->horizon; attempt++, t += clock->delay) {
        sim_time mark = failure_mark(c, stream, j, attempt, saved, clock->seed, clock->replication);
        sim_time end = mark < j->work ? mark : j->work, left = clock->horizon - t;
        bool whole = end - saved <= left;
        sim_time run = whole ? end - saved : left;
        life.start = life.start == SIM_NEVER ? t : life.start;
        life.billed += run;
        life.done = saved + run > life.done ? saved + run : life.done;
        if (!whole)
            return life;
        if (mark >= j->work) {
            life.finished = true;
            return life;
        }
        sim_time kept = j->checkpoint_interval > 0 ? run / j->checkpoint_interval * j->checkpoint_interval : 0;
        life.lost += run - kept;
        saved += kept;
        if ((int32_t)attempt >= c->max_retries) {
            life.gave_up = true;
            return life;
        }
        t += run;
    }
    return life;
}
