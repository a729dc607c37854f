/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * FGD that knows its demand (fgdKnowsDemand): the jobs of the whole run are read ahead, from the same streams
 * with the same random numbers, and counted by what one worker asks for. Services are not counted.
 */
#include <stdlib.h>
#include <string.h>

#include "models/world/world_priv.h"

struct expected {
    struct fleet_expected *pods;
    size_t count, capacity;
    size_t last; /* most jobs are as the one before, or as a few others */
};

static bool same(const struct place_request *a, const struct place_request *b)
{
    return a->cards == b->cards && a->share_milli == b->share_milli &&
           memcmp(a->resources, b->resources, sizeof a->resources) == 0;
}

static void count_pod(struct expected *e, const struct place_request *req, int64_t workers)
{
    size_t i = e->last;
    if (i >= e->count || !same(&e->pods[i].request, req))
        for (i = 0; i < e->count && !same(&e->pods[i].request, req); i++) {
        }
    if (i == e->count) {
        e->pods = mem_grow(e->pods, &e->capacity, e->count + 1, sizeof *e->pods);
        e->pods[e->count++] = (struct fleet_expected){*req, 0};
    }
    e->pods[i].count += workers;
    e->last = i;
}

static bool read_stream(const struct world *w, int32_t k, struct expected *e)
{
    const struct scenario *s = w->s;
    struct job_source *src = job_source_open(&s->demand.streams[k], k, s->seed, w->opt.replication, s->start_epoch,
                                             s->horizon, s->open_jobs, s->loader, w->err);
    if (src == NULL)
        return false;
    struct job_spec job;
    while (job_source_next(src, &job, w->err)) {
        struct place_request req = {.prefer_model = -1};
        job_worker_request(w, &job, &req.cards, &req.share_milli);
        source_resources(w, k, &job.amounts, req.resources);
        source_slice(s, k, &req);
        count_pod(e, &req, job.workers);
    }
    job_source_close(src);
    return w->err->code == ERR_NONE;
}

bool expected_pods_init(struct world *w)
{
    struct expected e = {.count = 0};
    bool ok = true;
    if (!w->arb->fgd_knows_demand || w->arb->placement != PLACE_FGD || w->arb->backend != BACKEND_FLEET)
        return true;
    for (int32_t k = 0; ok && k < w->s->demand.stream_count; k++)
        ok = read_stream(w, k, &e);
    if (ok)
        fleet_expect(w->fleet, e.pods, (int32_t)e.count);
    free(e.pods);
    return ok;
}
