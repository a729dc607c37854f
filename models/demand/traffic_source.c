/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traffic of one service: the mean rate of each step, from the profile (intensity.h) or a file.
 * The rate knows nothing of replicas, so every arbiter sees the same curve.
 */
#include "models/demand/demand.h"

#include <stdlib.h>

#include "models/demand/intensity.h"
#include "sim/arena.h"
#include "sim/check.h"

struct traffic_source {
    const struct service_config *cfg;
    sim_time step, expected;
    struct intensity rate;
    bool has_file;
    struct traffic_reader reader;
};

struct traffic_source *traffic_source_open(const struct service_config *cfg, int32_t index,
                                           uint64_t seed, uint32_t replication, sim_time start_epoch,
                                           sim_time step, traffic_open_fn open_file, void *loader,
                                           struct err *err)
{
    REQUIRE(step > 0);
    struct traffic_source *s = mem_zalloc(1, sizeof *s);
    s->cfg = cfg;
    s->step = step;
    if (cfg->traffic.file != NULL) {
        s->has_file = open_file(loader, cfg, &s->reader, err);
        if (!s->has_file) {
            free(s);
            return NULL;
        }
        return s;
    }
    struct rng noise, bursts;
    rng_open(&noise, seed, replication, PURPOSE_TRAFFIC_RATE, (uint64_t)index);
    rng_open(&bursts, seed, replication, PURPOSE_TRAFFIC_BURST, (uint64_t)index);
    intensity_init(&s->rate, &cfg->traffic.profile, cfg->traffic.scale, start_epoch,
                   sim_time_seconds(step), &noise, &bursts);
    return s;
}

static bool next_from_file(struct traffic_source *s, sim_time t, struct traffic_point *out,
                           struct err *err)
{
    if (!s->reader.at(s->reader.ctx, t, s->step, out, err))
        return false;
    out->rate_per_s *= s->cfg->traffic.scale;
    if (!(out->rate_per_s >= 0.0 && out->rate_per_s < 1e15))
        return err_set(err, ERR_INPUT, "traffic of '%s' at %.3f s: rate is not a number >= 0",
                       s->cfg->traffic.file, sim_time_seconds(t));
    return true;
}

bool traffic_source_next(struct traffic_source *s, sim_time t, struct traffic_point *out,
                         struct err *err)
{
    REQUIRE(t == s->expected);
    s->expected += s->step;
    *out = (struct traffic_point){.input_tokens_mean = s->cfg->traffic.input_tokens_mean,
                                  .output_tokens_mean = s->cfg->traffic.output_tokens_mean};
    if (s->has_file)
        return next_from_file(s, t, out, err);
    if (s->cfg->traffic.profile.base_per_s <= 0.0)
        return true;
    double from_s = sim_time_seconds(t), to_s = sim_time_seconds(t + s->step);
    out->rate_per_s = intensity_cell(&s->rate, from_s, to_s)
                      * intensity_burst_mean(&s->rate, from_s, to_s);
    return true;
}

void traffic_source_close(struct traffic_source *s)
{
    if (s == NULL)
        return;
    if (s->has_file && s->reader.close != NULL)
        s->reader.close(s->reader.ctx);
    free(s);
}
