/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Training and LoRA jobs: arrival, quota, nodes, start, run, checkpoint, eviction, end.
 *
 * A run is closed-form: computing for `checkpoint_interval`, stalling for `checkpoint_stall`, and
 * so on (models/data/checkpoint.h), so that a run costs one event however long it is. Eviction
 * throws away the work since the last completed checkpoint; the job keeps its place in the queue.
 */
#include <stdlib.h>
#include <string.h>

#include "models/world/failure.h"
#include "models/world/offered.h"
#include "models/world/world_incidents.h"
#include "models/world/world_instances.h"
#include "models/world/world_lora.h"
#include "models/world/world_priv.h"
#include "models/world/world_record.h"
#include "models/world/world_sharing.h"
#include "sim/check.h"

static const struct job_stream_config *stream_of(const struct world *w, const struct job *j)
{
    return &w->s->demand.streams[j->stream];
}

enum workload_class job_class(const struct world *w, uint32_t job)
{
    return stream_of(w, &w->jobs[job])->cls;
}

static uint32_t job_new(struct world *w)
{
    uint32_t ix = w->job_free;
    if (ix != NONE32) {
        w->job_free = w->jobs[ix].first_workload;
    } else {
        w->jobs = mem_grow(w->jobs, &w->job_capacity, w->job_count + 1, sizeof *w->jobs);
        ix = (uint32_t)w->job_count++;
        w->jobs[ix].gen = 0;
    }
    uint32_t gen = w->jobs[ix].gen;
    w->jobs[ix] = (struct job){.gen = gen,
                               .in_use = true,
                               .gang_ppm = SPEED_ONE,
                               .first_start = SIM_NEVER,
                               .run_since = SIM_NEVER,
                               .first_workload = NONE32};
    return ix;
}

static void job_free(struct world *w, uint32_t ix)
{
    struct job *j = &w->jobs[ix];
    j->gen++;
    j->in_use = false;
    j->first_workload = w->job_free;
    w->job_free = ix;
}

/* ---- arrival ---- */

static bool schedule_next(struct world *w, uint32_t stream)
{
    if (!job_source_next(w->streams[stream], &w->next_job[stream], w->err))
        return w->err->code == ERR_NONE;
    world_event(w, w->next_job[stream].submit, EVC_ARRIVAL, stream, EV_ARRIVAL, 0);
    return true;
}

void job_worker_request(const struct world *w, const struct job_spec *spec, int32_t *cards, int32_t *share)
{
    *cards = spec->cards_per_worker;
    *share = 0;
    if (spec->share_milli > 0 && spec->share_milli < 1000) {
        *cards = w->arb->sharing == SHARING_FRACTION ? 0 : 1;
        *share = w->arb->sharing == SHARING_FRACTION ? spec->share_milli : 0;
    }
    bool no_cards = spec->amounts.cpu_milli > 0 || spec->amounts.memory_bytes > 0; /* and none wanted */
    if (*cards == 0 && *share == 0 && !no_cards)
        *cards = 1;
}

static uint64_t job_uid(const struct world *w, const struct job *j, int32_t pod)
{
    (void)w;
    return ((uint64_t)(uint32_t)j->stream + 1) << 52 | j->spec.id << 12 | (uint64_t)(uint32_t)pod;
}

static void job_submit(struct world *w, uint32_t ix)
{
    struct job *j = &w->jobs[ix];
    int32_t cards, share;
    if (j->spec.workers == 1 && lora_takes(w, j->stream, j->spec.queue, j->spec.priority)) {
        j->pods = 1;
        uint32_t tenant = workload_new(w, WL_JOB, ix, lora_shape(w, j->stream));
        j->first_workload = tenant;
        lora_join(w, tenant, job_uid(w, j, 0));
        return;
    }
    job_worker_request(w, &j->spec, &cards, &share);
    bool pods = w->arb->gang == GANG_PODS && j->spec.workers > 1;
    j->pods = pods ? j->spec.workers : 1;
    uint32_t shape = admission_shape(w, j->stream, pods ? 1 : j->spec.workers, cards, share, &j->spec.amounts);
    uint32_t last = NONE32;
    for (int32_t i = 0; i < j->pods; i++) {
        uint32_t wl = workload_new(w, pods ? WL_POD : WL_JOB, ix, shape);
        w->wl[wl].prev = last;
        if (last == NONE32)
            w->jobs[ix].first_workload = wl;
        else
            w->wl[last].next = wl;
        last = wl;
        j = &w->jobs[ix];
        admission_submit(w, wl, j->spec.queue, j->spec.priority, j->spec.submit, job_uid(w, j, i));
    }
}

static void draw_failure(struct world *w, struct job *j)
{
    j->fail_at = failure_mark(stream_of(w, j), j->stream, &j->spec, j->failures, j->committed, w->s->seed,
                              w->opt.replication);
}

void job_arrive(struct world *w, uint32_t stream)
{
    struct job_spec spec = w->next_job[stream];
    uint32_t ix = job_new(w);
    struct job *j = &w->jobs[ix];
    j->stream = (int32_t)stream;
    j->spec = spec;
    w->demand_hash[stream] = demand_hash_job(w->demand_hash[stream], &spec, w->s->quota.queues[spec.queue].name);
    w->submitted[w->s->demand.streams[stream].cls]++;
    w->offered += offered_job(&spec);
    w->offered_drawn += w->s->demand.streams[stream].file == NULL ? offered_job(&spec) : 0;
    draw_failure(w, j);
    job_submit(w, ix);
    schedule_next(w, stream);
}

/* ---- start ---- */

static struct coldstart_time start_time(struct world *w, uint32_t ix)
{
    const struct job *j = &w->jobs[w->wl[ix].owner];
    const struct job_stream_config *c = stream_of(w, j);
    int32_t parts;
    const struct lease_part *p = fleet_lease_parts(w->fleet, w->wl[ix].lease, &parts);
    int64_t image = 0, weights = 0;
    bool image_cached = true, on_node = true, shared = false;
    if (c->model >= 0) {
        image = w->s->demand.models[c->model].image_bytes;
        weights = w->s->demand.models[c->model].weight_bytes + c->adapter.bytes;
        for (int32_t i = 0; i < parts; i++) {
            image_cached &= fleet_cache_touch(w->fleet, p[i].node, w->s->demand.model_count + c->model);
            on_node &= fleet_cache_touch(w->fleet, p[i].node, c->model);
        }
        shared = w->cluster_cached[c->model];
        w->cluster_cached[c->model] = true;
    }
    struct coldstart_time t =
        coldstart_estimate(&w->coldstart, image, image_cached, weights + c->dataset_bytes, on_node, shared);
    t.starting += instance_wait(w, ix);
    t.loading += c->restart;
    return t;
}

void job_note_start(struct world *w, uint32_t job)
{
    struct job *j = &w->jobs[job];
    if (j->first_start != SIM_NEVER)
        return;
    j->first_start = w->now;
    enum workload_class c = stream_of(w, j)->cls;
    double wait = sim_time_seconds(w->now - j->spec.submit);
    w->started[c]++;
    qhist_add(&w->wait[c], wait, 1.0);
    if (wait > 0)
        welford_add(&w->waited[c], wait);
    if (c == CLASS_TRAINING && j->spec.team >= 0)
        qhist_add(&w->team_wait[j->spec.team], wait, 1.0);
}

static void gang_start(struct world *w, uint32_t job)
{
    struct job *j = &w->jobs[job];
    job_note_start(w, job);
    sim_time starting = 0, loading = 0; /* the slowest worker decides */
    for (uint32_t i = j->first_workload; i != NONE32; i = w->wl[i].next) {
        struct coldstart_time t = start_time(w, i);
        starting = t.starting > starting ? t.starting : starting;
        loading = t.loading > loading ? t.loading : loading;
    }
    starting += incident_backoff(j->crashes);
    record_started(w, j->first_workload, starting, loading);
    for (uint32_t i = j->first_workload; i != NONE32; i = w->wl[i].next) {
        if (w->wl[i].state == WL_GANG_WAIT)
            book_segment(w, i, LEDGER_GANG_WAIT);
        w->wl[i].state = WL_STARTING;
        w->wl[i].since = w->now;
        w->wl[i].loading = loading;
        sharing_touch(w, i);
    }
    world_event(w, w->now + starting, EVC_STAGE, j->first_workload, EV_STAGE,
                w->wl[j->first_workload].gen);
}

void job_placed(struct world *w, uint32_t ix)
{
    struct job *j = &w->jobs[w->wl[ix].owner];
    w->wl[ix].state = WL_GANG_WAIT;
    w->wl[ix].since = w->now;
    if (++j->pods_placed == j->pods)
        gang_start(w, w->wl[ix].owner);
}

/* ---- run ---- */

static void gang_run(struct world *w, uint32_t job)
{
    for (uint32_t i = w->jobs[job].first_workload; i != NONE32; i = w->wl[i].next)
        sharing_touch(w, i);
    job_run_begin(w, job);
    uint32_t gen = w->jobs[job].gen, crashes = w->jobs[job].crashes;
    for (uint32_t i = w->jobs[job].first_workload; i != NONE32; i = w->wl[i].next) {
        incident_running(w, i);
        if (w->jobs[job].gen != gen && w->jobs[job].crashes > crashes)
            return; /* it starts again */
    }
}

/* The event belongs to the gang's first workload; all workloads move together. */
void job_stage(struct world *w, uint32_t ix)
{
    uint32_t job = w->wl[ix].owner;
    struct job *j = &w->jobs[job];
    bool starting = w->wl[ix].state == WL_STARTING;
    if (!starting && w->wl[ix].state != WL_LOADING)
        return;
    sim_time loading = w->wl[ix].loading;
    for (uint32_t i = j->first_workload; i != NONE32; i = w->wl[i].next) {
        book_segment(w, i, starting ? LEDGER_STARTING : LEDGER_LOADING);
        w->wl[i].state = starting && loading > 0 ? WL_LOADING : WL_RUNNING;
    }
    if (starting && loading > 0)
        world_event(w, w->now + loading, EVC_STAGE, ix, EV_STAGE, w->wl[ix].gen);
    else
        gang_run(w, job);
    if (w->wl[ix].base != NONE32)
        lora_changed(w, ix);
}

/* Interrupts the current run of the gang: what was computed since the last checkpoint is lost (returned,
 * card-time). */
static i128 run_interrupt(struct world *w, uint32_t job)
{
    struct job *j = &w->jobs[job];
    if (j->run_since == SIM_NEVER)
        return 0;
    book_run(w, job);
    struct job_progress p = job_progress(w, j);
    if (p.reached > j->high_water)
        j->high_water = p.reached;
    i128 sum = 0;
    for (uint32_t i = j->first_workload; i != NONE32; i = w->wl[i].next)
        sum += ckpt_unit(book_busy_milli(w, i), p.unsaved);
    w->lost += sum;
    w->lost_of[stream_of(w, j)->cls] += sum;
    j->committed = p.saved;
    j->run_since = SIM_NEVER;
    j->gen++; /* its finish event is dead */
    return sum;
}

/* ---- end ---- */

/* Gives everything back: the job is done, or given up. */
static void job_leave(struct world *w, uint32_t job)
{
    record_job_end(w, job);
    for (uint32_t i = w->jobs[job].first_workload; i != NONE32;) {
        uint32_t next = w->wl[i].next;
        if (w->wl[i].base != NONE32) {
            lora_leave(w, i);
        } else {
            admission_quota_back(w, i);
            place_release(w, i);
            admission_input(w, i, POLICY_IN_FINISHED);
        }
        workload_free(w, i);
        i = next;
    }
    job_free(w, job);
}

/* The user's error ended the run. A retry keeps quota and cards (a pod is replaced, the workload
 * stays admitted) and starts from the last checkpoint. */
static void job_fail(struct world *w, uint32_t job)
{
    struct job *j = &w->jobs[job];
    enum workload_class cls = stream_of(w, j)->cls;
    (void)run_interrupt(w, job);
    if ((int32_t)j->failures++ < stream_of(w, j)->max_retries) {
        draw_failure(w, j);
        if (w->wl[j->first_workload].base != NONE32)
            lora_again(w, j->first_workload);
        else
            gang_start(w, job);
        return;
    }
    w->failed[cls]++;
    w->abandoned[cls] += i128_mcns(offered_job_milli(&j->spec), j->spec.work - j->high_water);
    job_leave(w, job);
}

i128 job_crashed(struct world *w, uint32_t ix)
{
    uint32_t job = w->wl[ix].owner;
    i128 lost = run_interrupt(w, job);
    w->jobs[job].crashes++;
    gang_start(w, job);
    return lost;
}

/* The run ends by itself. */
void job_finish(struct world *w, uint32_t job)
{
    struct job *j = &w->jobs[job];
    if (j->fail_at < j->spec.work) {
        job_fail(w, job);
        return;
    }
    book_run(w, job);
    w->finished[stream_of(w, j)->cls]++;
    lora_note_end(w, job);
    job_leave(w, job);
}

/* ---- eviction ---- */

static void close_segment(struct world *w, uint32_t ix)
{
    switch ((enum workload_state)w->wl[ix].state) {
    case WL_GANG_WAIT:
        book_segment(w, ix, LEDGER_GANG_WAIT);
        break;
    case WL_STARTING:
        book_segment(w, ix, LEDGER_STARTING);
        break;
    case WL_LOADING:
        book_segment(w, ix, LEDGER_LOADING);
        break;
    case WL_FREE:
    case WL_PENDING:
    case WL_UNPLACED:
    case WL_RUNNING:
    case WL_DRAINING:
        break;
    }
    w->wl[ix].since = w->now;
}

/* The rest of a gang that lost a pod holds its cards and waits for it. */
static void others_wait(struct world *w, struct job *j, uint32_t lost)
{
    for (uint32_t i = j->first_workload; i != NONE32; i = w->wl[i].next) {
        struct workload *wl = &w->wl[i];
        if (i == lost || (wl->state != WL_STARTING && wl->state != WL_LOADING && wl->state != WL_RUNNING))
            continue;
        close_segment(w, i);
        wl->state = WL_GANG_WAIT;
        wl->gen++;
        sharing_touch(w, i);
    }
}

/* It stays admitted: no eviction of the policy's. */
i128 job_preempted(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    struct job *j = &w->jobs[wl->owner];
    j->evictions++;
    i128 lost = run_interrupt(w, wl->owner);
    series_eviction(w, i128_card_hours(lost));
    j->pods_placed--;
    others_wait(w, j, ix);
    close_segment(w, ix);
    wl->state = WL_DRAINING;
    wl->preempted = true;
    wl->gen++;
    sharing_touch(w, ix);
    world_event(w, w->now + w->arb->eviction_grace, EVC_RELEASE, ix, EV_RELEASE, wl->gen);
    return lost;
}

void job_note_eviction(struct world *w, uint32_t job)
{
    struct job *j = &w->jobs[job];
    j->evictions++;
    enum workload_class cls = stream_of(w, j)->cls;
    w->preemptions[cls]++;
    if (cls == CLASS_TRAINING && j->spec.team >= 0)
        w->team_evictions[j->spec.team]++;
    series_eviction(w, i128_card_hours(run_interrupt(w, job)));
}

void job_evicted(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    struct job *j = &w->jobs[wl->owner];
    job_note_eviction(w, wl->owner);
    if (wl->preempted) { /* drains already: that release ends the eviction */
        wl->preempted = false;
        settle_release_at(w->settle, ix, wl->since + w->arb->eviction_grace);
        return;
    }
    if (wl->state != WL_UNPLACED) {
        j->pods_placed--;
        others_wait(w, j, ix);
        close_segment(w, ix);
    } else {
        place_forget(w, ix);
    }
    wl->state = WL_DRAINING;
    wl->gen++;
    sharing_touch(w, ix);
    if (w->arb->eviction_grace > 0)
        world_event(w, w->now + w->arb->eviction_grace, EVC_RELEASE, ix, EV_RELEASE, wl->gen);
    else
        job_released(w, ix);
    settle_release_at(w->settle, ix, w->now + w->arb->eviction_grace);
}

void job_released(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    record_released(w, ix);
    book_segment(w, ix, LEDGER_DRAINING);
    if (!wl->preempted)
        admission_quota_back(w, ix);
    place_release(w, ix);
    wl->gen++;
    if (wl->preempted) {
        wl->preempted = false;
        place_again(w, ix);
        return;
    }
    wl->state = WL_PENDING;
}

/* ---- life ---- */

bool jobs_init(struct world *w)
{
    const struct scenario *s = w->s;
    size_t n = (size_t)s->demand.stream_count;
    w->streams = arena_alloc(&w->arena, n + 1, sizeof *w->streams);
    w->next_job = arena_alloc(&w->arena, n + 1, sizeof *w->next_job);
    for (uint32_t i = 0; i < n; i++) {
        w->streams[i] = job_source_open(&s->demand.streams[i], (int32_t)i, s->seed, w->opt.replication,
                                        s->start_epoch, s->horizon, s->open_jobs, s->loader, w->err);
        if (w->streams[i] == NULL || !schedule_next(w, i))
            return false;
    }
    return true;
}

void jobs_fini(struct world *w)
{
    for (int32_t i = 0; w->streams != NULL && i < w->s->demand.stream_count; i++)
        if (w->streams[i] != NULL)
            job_source_close(w->streams[i]);
}
