/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hash of the demand as it arrived: one per job stream and service, combined in their order, so
 * that it does not depend on how an arbiter interleaves them. Equal hash = same demand.
 */
#ifndef MODELS_WORLD_DEMAND_HASH_H
#define MODELS_WORLD_DEMAND_HASH_H

#include <string.h>

#include "models/demand/demand.h"
#include "sim/fnv.h"

/* A queue is known by its name: its place in the list may change while the demand does not. */
static inline uint64_t demand_hash_job(uint64_t h, const struct job_spec *j, const char *queue)
{
    int64_t v[] = {j->submit, j->work, j->workers, j->cards_per_worker, j->share_milli, j->priority};
    h = fnv_add(fnv_add(h, v, sizeof v), queue, strlen(queue));
    bool plain = j->amounts.cpu_milli < 0 && j->amounts.memory_bytes < 0;
    return plain ? h : fnv_add(h, &j->amounts, sizeof j->amounts);
}

static inline uint64_t demand_hash_traffic(uint64_t h, const struct traffic_point *p)
{
    double v[] = {p->rate_per_s, p->input_tokens_mean, p->output_tokens_mean};
    return fnv_add(h, v, sizeof v);
}

/* parts: one hash per stream, then per service; 0 counts as FNV_START. */
static inline uint64_t demand_hash_all(const uint64_t *parts, int32_t count)
{
    return fnv_add(FNV_START, parts, (size_t)count * sizeof *parts);
}

#endif
