/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs of one stream. Synthetic arrivals are a time-warped renewal process (workload-models 3.2):
 * unit-mean gamma gaps e_k of the wanted CV, t_k = inverse of the integrated rate at e_1+...+e_k.
 * The first gap is drawn from the equilibrium law of the gaps (U * Gamma(shape + 1)), so that the
 * renewal process is stationary and the mean number of arrivals is the integral of the rate also
 * for short runs and large CV. The rate is constant in cells of ou_tau/8, within 1 to 10 minutes.
 *
 * Job k draws its shape, then its duration, from a stream of its own; scaling the rate moves
 * arrivals but job k keeps its size.
 */
#include "models/demand/demand.h"

#include <stdlib.h>

#include "models/demand/intensity.h"
#include "models/demand/law.h"
#include "sim/arena.h"
#include "sim/check.h"
#include "sim/dmath.h"

struct job_source {
    const struct job_stream_config *cfg;
    int32_t index;
    uint64_t seed;
    uint32_t replication;
    sim_time horizon, last_submit;
    double horizon_s;
    uint64_t count;
    double time_scale, work_scale;
    bool ended;

    bool has_file;
    struct job_reader reader;

    struct intensity rate;
    struct rng gaps;
    double *weights;             /* of the shapes */
    double gap_shape;            /* 1/CV^2 */
    double t_s;                  /* where the warp stands */
    double cell_from_s, cell_s, cell_to_s, cell_rate;
};

static double or_one(double x)
{
    return x > 0.0 ? x : 1.0;
}

static void open_synthetic(struct job_source *s, sim_time start_epoch)
{
    const struct job_stream_config *cfg = s->cfg;
    struct rng noise, bursts;
    rng_open(&s->gaps, s->seed, s->replication, PURPOSE_ARRIVALS, (uint64_t)s->index);
    rng_open(&noise, s->seed, s->replication, PURPOSE_ARRIVAL_RATE, (uint64_t)s->index);
    rng_open(&bursts, s->seed, s->replication, PURPOSE_ARRIVAL_BURST, (uint64_t)s->index);
    double cell_s = 600.0;
    if (cfg->arrivals.ou_sigma > 0.0) {
        cell_s = sim_time_seconds(cfg->arrivals.ou_tau) / 8.0;
        cell_s = cell_s < 60.0 ? 60.0 : cell_s > 600.0 ? 600.0 : cell_s;
    }
    s->cell_s = cell_s;
    intensity_init(&s->rate, &cfg->arrivals, s->time_scale, start_epoch, cell_s, &noise, &bursts);
    s->gap_shape = cfg->arrival_cv > 0.0 ? 1.0 / (cfg->arrival_cv * cfg->arrival_cv) : 0.0;
    s->weights = mem_alloc((size_t)cfg->shape_count, sizeof *s->weights);
    for (int32_t k = 0; k < cfg->shape_count; k++)
        s->weights[k] = cfg->shapes[k].weight;
}

struct job_source *job_source_open(const struct job_stream_config *cfg, int32_t index, uint64_t seed,
                                   uint32_t replication, sim_time start_epoch, sim_time horizon,
                                   job_open_fn open_file, void *loader, struct err *err)
{
    REQUIRE(cfg->file != NULL || cfg->shape_count > 0 || !(cfg->arrivals.base_per_s > 0.0));
    struct job_source *s = mem_zalloc(1, sizeof *s);
    s->cfg = cfg;
    s->index = index;
    s->seed = seed;
    s->replication = replication;
    s->horizon = horizon;
    s->horizon_s = sim_time_seconds(horizon);
    s->time_scale = or_one(cfg->time_scale);
    s->work_scale = or_one(cfg->work_scale);
    if (cfg->file != NULL) {
        s->has_file = open_file(loader, cfg, &s->reader, err);
        if (!s->has_file) {
            job_source_close(s);
            return NULL;
        }
    } else if (cfg->arrivals.base_per_s > 0.0) {
        open_synthetic(s, start_epoch);
    } else {
        s->ended = true;
    }
    return s;
}

void job_source_close(struct job_source *s)
{
    if (s == NULL)
        return;
    if (s->has_file && s->reader.close != NULL)
        s->reader.close(s->reader.ctx);
    free(s->weights);
    free(s);
}

/* Unit-mean gap before job number s->count. */
static double next_gap(struct job_source *s)
{
    double shape = s->gap_shape;
    bool first = s->count == 0;
    if (shape == 0.0)
        return first ? rng_unit(&s->gaps) : 1.0;
    if (shape == 1.0)
        return rng_exp(&s->gaps, 1.0);
    if (first) {
        double u = rng_unit(&s->gaps);
        return u * rng_gamma(&s->gaps, shape + 1.0, 1.0 / shape);
    }
    return rng_gamma(&s->gaps, shape, 1.0 / shape);
}

/* Moves t_s to where the integral of the rate has grown by `gap`; false past the horizon. */
static bool warp(struct job_source *s, double gap)
{
    while (s->t_s < s->horizon_s) {
        if (s->t_s >= s->cell_to_s) {
            s->cell_from_s = s->cell_to_s;
            s->cell_to_s = s->cell_from_s + s->cell_s;
            s->cell_rate = intensity_cell(&s->rate, s->cell_from_s, s->cell_to_s);
        }
        double until;
        double rate = s->cell_rate * intensity_burst(&s->rate, s->t_s, &until);
        double end = until < s->cell_to_s ? until : s->cell_to_s;
        double mass = rate * (end - s->t_s);
        if (mass >= gap && rate > 0.0) {
            s->t_s += gap / rate;
            return s->t_s < s->horizon_s;
        }
        gap -= mass;
        s->t_s = end;
    }
    return false;
}

static sim_time scaled(sim_time t, double factor)
{
    return factor == 1.0 ? t : sim_time_from_seconds(sim_time_seconds(t) * factor);
}

static void draw_job(const struct job_source *s, struct job_spec *out)
{
    struct rng r;
    rng_open(&r, s->seed, s->replication, PURPOSE_JOB, (uint64_t)s->index << 40 | s->count);
    const struct gang_shape *shape = s->cfg->shapes;
    if (s->cfg->shape_count > 1)
        shape += rng_pick(&r, s->weights, (uint32_t)s->cfg->shape_count);
    out->workers = shape->workers;
    out->cards_per_worker = s->cfg->share_milli > 0 ? 0 : shape->cards_per_worker;
    out->work = sim_time_from_seconds(law_draw(&shape->duration_s, &r) * s->work_scale);
}

static void fill_defaults(const struct job_source *s, struct job_spec *out)
{
    const struct job_stream_config *cfg = s->cfg;
    *out = (struct job_spec){.id = s->count,
                             .workers = 1,
                             .cards_per_worker = cfg->share_milli > 0 ? 0 : 1,
                             .share_milli = cfg->share_milli,
                             .amounts = {-1, -1},
                             .queue = cfg->queue,
                             .team = cfg->team,
                             .priority = cfg->priority,
                             .checkpoint_interval = cfg->checkpoint_interval,
                             .trace_wait_s = DM_NAN};
}

static bool next_from_file(struct job_source *s, struct job_spec *out, struct err *err)
{
    if (!s->reader.next(s->reader.ctx, out, err))
        return false;
    out->id = s->count;
    out->submit = scaled(out->submit, 1.0 / s->time_scale);
    out->work = scaled(out->work, s->work_scale);
    if (out->submit < s->last_submit)
        return err_set(err, ERR_INPUT, "jobs of '%s' are not in order of submit: job %llu at %.3f s",
                       s->cfg->file, (unsigned long long)s->count, sim_time_seconds(out->submit));
    return true;
}

static bool next_synthetic(struct job_source *s, struct job_spec *out)
{
    if (!warp(s, next_gap(s)))
        return false;
    out->submit = sim_time_from_seconds(s->t_s);
    draw_job(s, out);
    return true;
}

bool job_source_next(struct job_source *s, struct job_spec *out, struct err *err)
{
    if (s->ended)
        return false;
    fill_defaults(s, out);
    bool got = s->has_file ? next_from_file(s, out, err) : next_synthetic(s, out);
    if (!got || out->submit >= s->horizon) {
        s->ended = true;
        return false;
    }
    if (out->work < 1)
        out->work = 1;
    s->last_submit = out->submit;
    s->count++;
    return true;
}
