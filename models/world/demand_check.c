/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs files are read once before anything runs: a bad row at the end shows now, not in an hour. */
#include "models/world/world_priv.h"

static bool check_stream(const struct scenario *s, int32_t k, struct err *err)
{
    const struct job_stream_config *c = &s->demand.streams[k];
    struct job_source *src = job_source_open(c, k, s->seed, 0, s->start_epoch, s->horizon, s->open_jobs,
                                             s->loader, err);
    if (src == NULL)
        return false;
    int32_t most = source_largest_node(s, k);
    struct job_spec j;
    while (job_source_next(src, &j, err))
        if (j.cards_per_worker > most)
            err_set(err, ERR_INPUT, "%s: a job asks for %d cards per worker; the largest node it may use has %d "
                    "(job %llu, at %.3f s)", c->file, j.cards_per_worker, most, (unsigned long long)j.id + 1,
                    sim_time_seconds(j.submit));
    job_source_close(src);
    return err->code == ERR_NONE;
}

bool world_check_demand(const struct scenario *s, struct err *err)
{
    for (int32_t k = 0; k < s->demand.stream_count; k++)
        if (s->demand.streams[k].file != NULL && !check_stream(s, k, err))
            return false;
    return true;
}
