/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/record_jobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/world/managed_job.h"
#include "models/world/tables.h"
#include "models/world/world_record.h"

/* One service since its rate or its replicas changed. */
struct open_interval {
    sim_time from, to;
    double rate;
    int32_t ready, wanted;
    double arrived, served, lost, backlog; /* within it; backlog at its end */
    double latency_s;                      /* sum over the served */
    double arrived_before;                 /* total of the service at its last step */
};

struct record_jobs {
    const char **waited; /* by job slot: reason of its last wait */
    size_t waited_capacity;
    struct open_interval *services;
    int32_t service_count;
};

struct record_jobs *record_jobs_create(const struct world *w)
{
    struct record_jobs *r = mem_zalloc(1, sizeof *r);
    r->service_count = w->s->demand.service_count;
    r->services = mem_zalloc((size_t)r->service_count + 1, sizeof *r->services);
    return r;
}

void record_jobs_destroy(struct record_jobs *r)
{
    free(r->waited);
    free(r->services);
    free(r);
}

/* ---- jobs ---- */

static void name_of(const struct scenario *s, int32_t stream, uint64_t id, char *name)
{
    (void)snprintf(name, RECORD_NAME_SIZE, "%.128s-%llu", s->demand.streams[stream].name,
                   (unsigned long long)id);
}

void record_job_name(const struct world *w, const struct job *j, char *name)
{
    name_of(w->s, j->stream, j->spec.id, name);
}

void record_jobs_begin(struct record_jobs *r, uint32_t job)
{
    if (job >= r->waited_capacity)
        r->waited = mem_grow(r->waited, &r->waited_capacity, (size_t)job + 1, sizeof *r->waited);
    r->waited[job] = NULL;
}

void record_jobs_waited(struct record_jobs *r, uint32_t job, const char *reason)
{
    r->waited[job] = reason;
}

struct life { /* of a job, as its row tells it */
    sim_time start, finish, done, rework; /* SIM_NEVER: did not happen */
    uint32_t evictions;
    const char *waits;
};

static double seconds_or_null(sim_time t)
{
    return t == SIM_NEVER ? (double)NAN : sim_time_seconds(t);
}

static int64_t asked_milli(const struct job_spec *j)
{
    return (j->share_milli > 0 ? j->share_milli : (int64_t)j->cards_per_worker * 1000) * j->workers;
}

static void put(const struct world_options *opt, const struct scenario *s, int32_t stream,
                const struct job_spec *j, const struct life *life)
{
    char name[RECORD_NAME_SIZE];
    name_of(s, stream, j->id, name);
    int64_t milli = asked_milli(j);
    struct record_value v[] = {
        rec_int(opt->run_id),
        rec_text(name),
        rec_text(s->demand.streams[stream].cls == CLASS_LORA ? "lora" : "training"),
        rec_text(j->team >= 0 ? s->quota.teams[j->team].name : ""),
        rec_text(j->queue >= 0 ? s->quota.queues[j->queue].name : ""),
        rec_int(j->priority),
        rec_int(j->workers),
        rec_int(milli),
        rec_real(sim_time_seconds(j->submit)),
        rec_real(seconds_or_null(life->start)),
        rec_real(seconds_or_null(life->finish)),
        rec_real(sim_time_seconds(j->work)),
        rec_real(sim_time_seconds(life->done)),
        rec_int(life->evictions),
        rec_real(sim_time_seconds(life->rework) * (double)milli / 1000.0),
        rec_text(life->waits)};
    record_row(&opt->sink, &table_workload, v);
}

void record_jobs_row(struct world *w, struct record_jobs *r, uint32_t job, const char *waits)
{
    const struct job *j = &w->jobs[job];
    sim_time done = job_reached(w, j);
    struct life life = {.start = j->first_start,
                        .finish = done >= j->spec.work ? w->now : SIM_NEVER,
                        .done = done,
                        .rework = j->rework,
                        .evictions = j->evictions,
                        .waits = waits != NULL ? waits : r->waited[job]};
    put(&w->opt, w->s, j->stream, &j->spec, &life);
}

void record_jobs_managed(const struct world_options *opt, const struct scenario *s, int32_t stream,
                         const struct job_spec *spec, const struct managed_life *managed)
{
    struct life life = {.start = managed->start,
                        .finish = managed->finished ? managed->start + managed->billed : SIM_NEVER,
                        .done = managed->done,
                        .rework = managed->billed - managed->done};
    if (opt->level == RECORD_LEVEL_FULL)
        put(opt, s, stream, spec, &life);
}

/* ---- services ---- */

static void interval_put(struct world *w, uint32_t k, const struct open_interval *o)
{
    const struct service_state *sv = &w->services[k];
    if (o->to <= o->from)
        return;
    struct record_value v[] = {rec_int(w->opt.run_id),
                               rec_text(sv->cfg->name),
                               rec_real(sim_time_seconds(o->from)),
                               rec_real(sim_time_seconds(o->to - o->from)),
                               rec_real(o->arrived),
                               rec_real(o->served),
                               rec_real(o->lost),
                               rec_real(o->backlog),
                               rec_int(o->ready),
                               rec_int(o->wanted),
                               o->served > 0 ? rec_real(o->latency_s / o->served) : rec_null()};
    record_row(&w->opt.sink, &table_service_interval, v);
}

static bool goes_on(const struct open_interval *o, const struct service_state *sv, sim_time from)
{
    bool same_rate = o->rate <= sv->point.rate_per_s && o->rate >= sv->point.rate_per_s;
    return o->to == from && o->ready == sv->ready && o->wanted == sv->wanted && same_rate;
}

/* Called after each step of the fluid model: steps without a change join into one row. */
void record_jobs_service(struct world *w, struct record_jobs *r, uint32_t k, sim_time from)
{
    const struct service_state *sv = &w->services[k];
    struct open_interval *o = &r->services[k];
    if (!goes_on(o, sv, from)) {
        interval_put(w, k, o);
        *o = (struct open_interval){.from = from,
                                    .rate = sv->point.rate_per_s,
                                    .ready = sv->ready,
                                    .wanted = sv->wanted,
                                    .arrived_before = o->arrived_before};
    }
    o->to = w->now;
    o->arrived += sv->fluid.arrived - o->arrived_before;
    o->arrived_before = sv->fluid.arrived;
    o->served += sv->last.served;
    o->lost += sv->last.rejected + sv->last.timed_out;
    o->latency_s += sv->last.latency_mean_s * sv->last.served;
    o->backlog = sv->fluid.backlog;
}

void record_jobs_close(struct world *w, struct record_jobs *r)
{
    for (int32_t k = 0; k < r->service_count; k++)
        interval_put(w, (uint32_t)k, &r->services[k]);
}
