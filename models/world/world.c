/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event loop of one world. At every instant: all events of the instant in their stable order,
 * then the policy settles, then placement, until nothing more follows at this instant.
 */
#include "models/world/world.h"

#include <stdlib.h>
#include <string.h>

#include "models/policies/pending_view.h"
#include "models/world/gang_speed.h"
#include "models/world/world_lora.h"
#include "models/world/world_incidents.h"
#include "models/world/world_managed.h"
#include "models/world/world_preempt.h"
#include "models/world/world_priv.h"
#include "models/world/world_record.h"
#include "models/world/world_reconfigure.h"
#include "models/world/world_sharing.h"
#include "sim/check.h"

void world_event(struct world *w, sim_time t, enum event_class cls, uint32_t rank,
                 enum event_kind kind, uint32_t gen)
{
    if (t <= w->s->horizon)
        evq_push(&w->events, t, (uint8_t)cls, rank, (uint32_t)kind, gen);
}

uint32_t workload_new(struct world *w, enum workload_kind kind, uint32_t owner, uint32_t shape)
{
    uint32_t ix = w->wl_free;
    if (ix != NONE32) {
        w->wl_free = w->wl[ix].next;
    } else {
        w->wl = mem_grow(w->wl, &w->wl_capacity, w->wl_count + 1, sizeof *w->wl);
        ix = (uint32_t)w->wl_count++;
        w->wl[ix].gen = 0;
    }
    uint32_t gen = w->wl[ix].gen;
    w->wl[ix] = (struct workload){.gen = gen,
                                  .kind = (uint8_t)kind,
                                  .state = WL_PENDING,
                                  .owner = owner,
                                  .shape = shape,
                                  .flavor = -1,
                                  .pool = -1,
                                  .speed_ppm = SPEED_ONE,
                                  .base = NONE32,
                                  .prev = NONE32,
                                  .next = NONE32,
                                  .unplaced_next = NONE32};
    return ix;
}

void workload_free(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    REQUIRE(wl->milli == 0);
    wl->state = WL_FREE;
    wl->gen++;
    wl->next = w->wl_free;
    w->wl_free = ix;
}

/* ---- events ---- */

static void on_release(struct world *w, uint32_t ix)
{
    if (w->wl[ix].kind == WL_BASE)
        lora_released(w, ix);
    else if (w->wl[ix].kind == WL_REPLICA)
        replica_released(w, ix);
    else
        job_released(w, ix);
}

static void on_stage(struct world *w, uint32_t ix)
{
    if (w->wl[ix].kind == WL_BASE)
        lora_stage(w, ix);
    else if (w->wl[ix].kind == WL_REPLICA)
        replica_stage(w, ix);
    else
        job_stage(w, ix);
}

static sim_time period_length(const struct world *w)
{
    return w->opt.level != RECORD_LEVEL_SUMMARY && w->opt.replication == 0 ? SIM_HOUR : SIM_DAY;
}

static void on_period(struct world *w)
{
    book_everything(w);
    series_hour(w);
    world_event(w, w->now + period_length(w), EVC_PERIOD, 0, EV_PERIOD, 0);
}

static void handle(struct world *w, const struct ev *e)
{
    uint32_t rank = ev_rank(e);
    w->events_done++;
    switch ((enum event_kind)e->kind) {
    case EV_PERIOD:
        on_period(w);
        break;
    case EV_FINISH:
        if (w->jobs[rank].gen == e->gen)
            job_finish(w, rank);
        break;
    case EV_RELEASE:
        if (w->wl[rank].gen == e->gen)
            on_release(w, rank);
        break;
    case EV_STAGE:
        if (w->wl[rank].gen == e->gen)
            on_stage(w, rank);
        break;
    case EV_TRAFFIC:
        services_traffic(w);
        break;
    case EV_ARRIVAL:
        job_arrive(w, rank);
        break;
    case EV_SUBMIT:
        admission_decide(w);
        break;
    case EV_SCALE:
        if (w->services[rank].scale_gen == e->gen)
            service_scale(w, rank);
        break;
    case EV_RECONFIGURE:
        reconfigure_due(w, rank);
        break;
    case EV_LAYOUT:
        if (reconfigure_gen(w, rank) == e->gen)
            reconfigure_node(w, rank);
        break;
    case EV_FAULT:
        if (w->wl[rank].gen == e->gen)
            incident_fault(w, rank);
        break;
    case EV_WAKE:
        break; /* the settle that follows every instant does the work */
    }
}

static bool events_due(const struct world *w)
{
    struct ev e;
    return evq_peek(&w->events, &e) && e.time <= w->now;
}

/* Everything that happens at w->now. */
static void run_instant(struct world *w)
{
    do {
        struct ev e;
        while (events_due(w) && evq_pop(&w->events, &e))
            handle(w, &e);
        admission_settle(w);
        reconfigure_settle(w);
        place_retry(w);
    } while (events_due(w) || w->in[w->in_use].count > 0);
    admission_schedule_wake(w);
}

static bool interrupted(struct world *w)
{
    if (w->opt.stop == NULL || !atomic_load_explicit(w->opt.stop, memory_order_relaxed))
        return false;
    err_set(w->err, ERR_STOPPED, "interrupted");
    return true;
}

static void run_events(struct world *w)
{
    struct ev e;
    uint64_t instants = 0;
    run_instant(w); /* second 0: replicas were submitted before any event */
    while (evq_peek(&w->events, &e) && e.time <= w->s->horizon && w->err->code == ERR_NONE) {
        CHECK(e.time >= w->now);
        w->now = e.time;
        run_instant(w);
        if (++instants % 1024 == 0) {
            if (w->opt.progress_ns != NULL)
                atomic_store_explicit(w->opt.progress_ns, w->now, memory_order_relaxed);
            if (interrupted(w))
                return;
        }
    }
    w->now = w->s->horizon;
}

/* ---- life ---- */

static void tallies_init(struct world *w)
{
    int32_t teams = w->s->quota.team_count;
    for (int c = 0; c < CLASS_COUNT; c++)
        qhist_init(&w->wait[c], 0.005, 1e-3, 1e9);
    w->team_wait = arena_alloc(&w->arena, (size_t)teams + 1, sizeof *w->team_wait);
    for (int32_t t = 0; t < teams; t++)
        qhist_init(&w->team_wait[t], 0.01, 1.0, 1e9);
    w->team_evictions = arena_alloc(&w->arena, (size_t)teams + 1, sizeof *w->team_evictions);
    w->team_rework = arena_alloc(&w->arena, (size_t)teams + 1, sizeof *w->team_rework);
    w->team_unfinished_h = arena_alloc(&w->arena, (size_t)teams + 1, sizeof *w->team_unfinished_h);
    quota_use_init(w);
    w->llm_held = arena_alloc(&w->arena, (size_t)w->s->fleet.pool_count, sizeof *w->llm_held);
}

static void coldstart_setup(struct world *w)
{
    const struct transfer_config *t = &w->s->transfer;
    w->coldstart = coldstart_defaults();
    w->coldstart.mode = w->arb->cache == CACHE_NONE   ? COLDSTART_NONE
                        : w->arb->cache == CACHE_NODE ? COLDSTART_NODE
                                                      : COLDSTART_FLUID;
    w->coldstart.image_bytes_per_s = t->image_bytes_per_s;
    w->coldstart.store_bytes_per_s = t->store_bytes_per_s;
    w->coldstart.fluid_bytes_per_s = t->fluid_bytes_per_s;
    w->coldstart.node_bytes_per_s = t->node_bytes_per_s;
    w->coldstart.process_start = t->process_start;
    w->cluster_cached = arena_alloc(&w->arena, (size_t)w->s->demand.model_count + 1, sizeof(bool));
}

static void ledger_setup(struct world *w)
{
    const struct fleet_config *f = &w->s->fleet;
    struct ledger_config cfg = {.pool_count = (uint32_t)f->pool_count,
                                .team_count = (uint32_t)w->s->quota.team_count,
                                .period = SIM_DAY,
                                .horizon = w->s->horizon};
    w->ledger = ledger_create(&cfg);
    for (int32_t p = 0; p < f->pool_count; p++)
        ledger_capacity_change(w->ledger, 0, (uint32_t)p, fleet_pool_capacity_milli(w->fleet, p));
}

static bool world_init(struct world *w)
{
    w->wl_free = w->job_free = w->unplaced_head = w->unplaced_tail = NONE32;
    w->next_wake = SIM_NEVER;
    evq_init(&w->events, 4096);
    tallies_init(w);
    coldstart_setup(w);
    w->fleet_config = sharing_fleet(w);
    w->fleet = fleet_create(w->fleet_config, w->arb->placement, w->s->seed, w->opt.replication);
    if (w->arb->placement_across_pools)
        fleet_place_across(w->fleet);
    if (w->arb->network_locality)
        fleet_keep_local(w->fleet);
    gang_init(w);
    preemption_init(w);
    ledger_setup(w);
    sharing_init(w);
    reconfigure_init(w);
    w->series = series_create(w);
    w->record = record_create(w);
    size_t sources = (size_t)w->s->demand.stream_count + (size_t)w->s->demand.service_count;
    w->demand_hash = arena_alloc(&w->arena, sources + 1, sizeof *w->demand_hash);
    for (size_t i = 0; i < sources; i++)
        w->demand_hash[i] = FNV_START;
    world_event(w, period_length(w), EVC_PERIOD, 0, EV_PERIOD, 0);
    return expected_pods_init(w) && sources_init(w) && lora_init(w) && admission_init(w) && services_init(w) && jobs_init(w);
}

static void world_fini(struct world *w)
{
    jobs_fini(w);
    services_fini(w);
    admission_fini(w);
    lora_fini(w);
    series_destroy(w->series);
    sharing_fini(w);
    reconfigure_fini(w);
    pending_destroy(w->pending);
    record_destroy(w->record);
    preemption_fini(w);
    fleet_destroy(w->fleet);
    ledger_destroy(w->ledger);
    for (int c = 0; c < CLASS_COUNT; c++)
        qhist_fini(&w->wait[c]);
    for (int32_t t = 0; w->team_wait != NULL && t < w->s->quota.team_count; t++)
        qhist_fini(&w->team_wait[t]);
    evq_fini(&w->events);
    free(w->wl);
    free(w->jobs);
    for (int i = 0; i < 2; i++) {
        free(w->in[i].inputs);
        free(w->in[i].submits);
    }
    free(w->shapes);
    free(w->shape_map);
    free(w->shape_map_keys);
    free(w->groups);
    free(w->group_map);
    free(w->delayed);
    arena_fini(&w->arena);
}

static void finish(struct world *w)
{
    for (int32_t k = 0; k < w->s->demand.service_count; k++)
        service_advance(w, (uint32_t)k);
    book_everything(w);
    if (w->now % SIM_HOUR != 0)
        series_hour(w);
    ledger_finish(w->ledger, w->now);
    results_emit(w);
    sharing_emit(w);
    world_pending_emit(w);
    record_emit(w);
}

static bool fleet_run(const struct scenario *s, const struct world_options *opt,
                      struct world_outcome *outcome, struct err *err)
{
    struct world *w = mem_zalloc(1, sizeof *w);
    w->s = s;
    w->opt = *opt;
    w->arb = &s->arbiters[opt->arbiter];
    w->err = err;
    bool ok = world_init(w);
    if (ok) {
        run_events(w);
        ok = err->code == ERR_NONE;
    }
    if (ok)
        finish(w);
    *outcome = (struct world_outcome){
        .events = w->events_done, .policy_settles = w->settles, .loops = w->loops};
    if (ok)
        outcome->demand_hash = demand_hash_all(
            w->demand_hash, w->s->demand.stream_count + w->s->demand.service_count);
    world_fini(w);
    free(w);
    return ok;
}

bool world_run(const struct scenario *s, const struct world_options *opt,
               struct world_outcome *outcome, struct err *err)
{
    *outcome = (struct world_outcome){0};
    return s->arbiters[opt->arbiter].backend == BACKEND_MANAGED ? managed_run(s, opt, outcome, err)
                                                                : fleet_run(s, opt, outcome, err);
}
