/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Speeds that change while a workload runs: its neighbours on a shared card come and go.
 *
 * A run of a job is a chain of segments of one speed each. Within a segment everything is the
 * closed form of models/data/checkpoint.h, entered at `run_offset` of its cycle, so that a change
 * of speed costs one event whatever the length of the run. Checkpoints go by computing time: a
 * slower job saves as often, and less each time.
 */
#include "models/world/gang_speed.h"
#include "models/world/world_priv.h"
#include "sim/check.h"

struct checkpoint_plan job_checkpoints(const struct world *w, const struct job *j)
{
    return (struct checkpoint_plan){
        .interval = w->arb->checkpoint ? j->spec.checkpoint_interval : 0,
        .stall = w->s->demand.streams[j->stream].checkpoint_stall};
}

/* Where the current attempt ends, by itself: done, or failed. */
static sim_time attempt_end(const struct job *j)
{
    return j->fail_at < j->spec.work ? j->fail_at : j->spec.work;
}

/* Of the gang: its slowest card beside its neighbours, less what it waits for the network. */
static int32_t speed_of(const struct world *w, const struct job *j)
{
    bool reference = w->s->demand.streams[j->stream].reference_speed;
    int64_t slowest = INT64_MAX;
    for (uint32_t i = j->first_workload; i != NONE32; i = w->wl[i].next) {
        int64_t card = SPEED_ONE;
        if (reference) {
            int32_t milli = catalogue_builtin()->cards[w->s->fleet.pools[w->wl[i].pool].card].speed_milli;
            card = milli > 0 ? (int64_t)milli * (SPEED_ONE / 1000) : SPEED_ONE;
        }
        int64_t s = card * w->wl[i].speed_ppm / SPEED_ONE;
        slowest = s < slowest ? s : slowest;
    }
    slowest = slowest * j->gang_ppm / SPEED_ONE;
    return slowest < 1 ? 1 : (int32_t)slowest;
}

sim_time job_time_at(const struct job *j, sim_time work)
{
    return (sim_time)(((i128)work * SPEED_ONE + j->speed_ppm - 1) / j->speed_ppm);
}

static sim_time work_at(const struct job *j, sim_time computed)
{
    i128 work = (i128)j->run_work + (i128)computed * j->speed_ppm / SPEED_ONE;
    return work > attempt_end(j) ? attempt_end(j) : (sim_time)work;
}

struct job_progress job_progress(const struct world *w, const struct job *j)
{
    if (j->run_since == SIM_NEVER)
        return (struct job_progress){.reached = j->committed, .saved = j->committed};
    struct checkpoint_plan plan = job_checkpoints(w, j);
    sim_time before = checkpoint_progress(&plan, j->run_offset).computed;
    struct checkpoint_progress p = checkpoint_progress(&plan, j->run_offset + w->now - j->run_since);
    struct job_progress out = {.reached = work_at(j, p.computed - before), .saved = j->committed};
    sim_time since = j->run_work, carried = j->run_unsaved;
    if (p.committed > 0) { /* a checkpoint ended in this segment */
        since = out.saved = work_at(j, p.committed - before);
        carried = 0;
    }
    out.unsaved = carried + (sim_time)((i128)(out.reached - since) * SPEED_ONE / j->speed_ppm);
    return out;
}

static void schedule_end(struct world *w, uint32_t job)
{
    struct job *j = &w->jobs[job];
    struct checkpoint_plan plan = job_checkpoints(w, j);
    sim_time before = checkpoint_progress(&plan, j->run_offset).computed;
    sim_time wall = checkpoint_wall(&plan, before + job_time_at(j, attempt_end(j) - j->run_work));
    wall = wall > j->run_offset ? wall - j->run_offset : 0;
    world_event(w, sim_time_after(w->now, wall), EVC_FINISH, job, EV_FINISH, j->gen);
}

void job_run_begin(struct world *w, uint32_t job)
{
    struct job *j = &w->jobs[job];
    j->gang_ppm = gang_speed_ppm(w, j); /* its nodes stay the same while it runs */
    j->speed_ppm = speed_of(w, j);
    j->run_since = w->now;
    j->run_work = j->committed;
    j->run_offset = j->run_unsaved = j->booked = 0;
    schedule_end(w, job);
}

/* The running segment ends, another begins. */
static void job_speed_refresh(struct world *w, uint32_t job)
{
    struct job *j = &w->jobs[job];
    int32_t speed = speed_of(w, j);
    if (j->run_since == SIM_NEVER || speed == j->speed_ppm)
        return;
    book_run(w, job);
    struct job_progress p = job_progress(w, j);
    struct checkpoint_plan plan = job_checkpoints(w, j);
    sim_time at = j->run_offset + w->now - j->run_since;
    j->run_offset = plan.interval > 0 ? at % (plan.interval + plan.stall) : 0;
    j->run_work = p.reached;
    j->committed = p.saved;
    j->run_unsaved = p.unsaved;
    if (p.reached > j->high_water)
        j->high_water = p.reached;
    j->run_since = w->now;
    j->booked = 0;
    j->speed_ppm = speed;
    j->gen++; /* its finish event is dead */
    schedule_end(w, job);
}

/* Replicas of a service are taken as equal: each is as fast as they are on average. */
void service_speed_refresh(struct world *w, uint32_t service)
{
    struct service_state *sv = &w->services[service];
    if (sv->ready > 0)
        fluid_adjust(&sv->fluid, (double)sv->speed_sum / sv->ready / SPEED_ONE, sv->kv_part);
}

void workload_speed_change(struct world *w, uint32_t ix, int32_t speed_ppm)
{
    struct workload *wl = &w->wl[ix];
    REQUIRE(speed_ppm >= 1);
    if (wl->speed_ppm == speed_ppm)
        return;
    bool running = wl->state == WL_RUNNING;
    if (running && wl->kind == WL_REPLICA) {
        service_advance(w, wl->owner); /* at the old speed up to now */
        w->services[wl->owner].speed_sum += speed_ppm - wl->speed_ppm;
    }
    wl->speed_ppm = speed_ppm;
    if (running && wl->kind == WL_REPLICA)
        service_speed_refresh(w, wl->owner);
    else if (running)
        job_speed_refresh(w, wl->owner);
}
