/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inference services: traffic steps, the fluid model between changes, replicas as workloads of
 * higher priority, cold starts, and the scaler. An evicted replica returns as a new workload.
 */
#include <string.h>

#include "models/world/offered.h"
#include "models/world/service_scaling.h"
#include "models/world/world_incidents.h"
#include "models/world/world_instances.h"
#include "models/world/world_lora.h"
#include "models/world/world_priv.h"
#include "models/world/world_record.h"
#include "models/world/world_sharing.h"
#include "sim/check.h"
#include "sim/dmath.h"

static struct service_state *service_of(struct world *w, uint32_t ix)
{
    return &w->services[w->wl[ix].owner];
}

/* ---- fluid ---- */

static void book_ready(struct world *w, const struct service_state *sv, sim_time from)
{
    const struct fleet_config *f = &w->s->fleet;
    for (int32_t p = 0; p < f->pool_count; p++) {
        int64_t milli = sv->ready_milli[p];
        if (milli == 0)
            continue;
        struct ledger_account a = {.pool = (uint32_t)p,
                                   .team = sv->cfg->team,
                                   .workload_class = LEDGER_CLASS_INFERENCE};
        sim_time dt = w->now - from;
        i128 held = ckpt_unit(milli, dt), lost = ckpt_unit(sv->ready_lost[p], dt);
        i128 overhead = book_part(lost, sv->last.busy), busy = book_part(held - lost, sv->last.busy);
        book_amount(w, a, LEDGER_SERVING, busy);
        book_amount(w, a, LEDGER_SHARING_OVERHEAD, overhead);
        book_amount(w, a, LEDGER_SERVING_HEADROOM, held - busy - overhead);
        ledger_work(w->ledger, (uint32_t)p, book_part(held - lost, sv->last.load));
        if (sv->cfg->kind == SERVICE_LLM)
            w->llm_held[p] += held;
    }
}

void service_advance(struct world *w, uint32_t k)
{
    struct service_state *sv = &w->services[k];
    sim_time from = sv->since;
    if (w->now <= from)
        return;
    sv->since = w->now;
    fluid_step(&sv->fluid, w->now - from, &sv->point, sv->ready, &sv->latency, &sv->ttft, &sv->last);
    sv->replica_seconds += sv->ready * sim_time_seconds(w->now - from);
    record_service(w, k, from);
    if (sv->ready > 0)
        book_ready(w, sv, from);
    if (w->lora != NULL)
        lora_book_replicas(w, k, from);
}

/* ---- replicas ---- */

static void list_append(struct world *w, struct service_state *sv, uint32_t ix)
{
    w->wl[ix].prev = sv->tail;
    w->wl[ix].next = NONE32;
    if (sv->tail == NONE32)
        sv->head = ix;
    else
        w->wl[sv->tail].next = ix;
    sv->tail = ix;
    sv->live++;
}

static void list_remove(struct world *w, struct service_state *sv, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    if (wl->prev == NONE32)
        sv->head = wl->next;
    else
        w->wl[wl->prev].next = wl->next;
    if (wl->next == NONE32)
        sv->tail = wl->prev;
    else
        w->wl[wl->next].prev = wl->prev;
    wl->prev = wl->next = NONE32;
    sv->live--;
}

static void replica_new(struct world *w, uint32_t k)
{
    struct service_state *sv = &w->services[k];
    const struct service_config *c = sv->cfg;
    int32_t source = w->s->demand.stream_count + (int32_t)k;
    uint64_t uid = UINT64_C(1) << 63 | (uint64_t)k << 40 | sv->ordinal++;
    if (lora_takes(w, source, c->queue, c->priority)) {
        uint32_t tenant = workload_new(w, WL_REPLICA, k, lora_shape(w, source));
        list_append(w, sv, tenant);
        lora_join(w, tenant, uid);
        return;
    }
    bool slice = c->share_milli > 0 && c->share_milli < 1000 && w->arb->sharing == SHARING_FRACTION;
    int32_t cards = slice ? 0 : c->cards_per_replica > 0 ? c->cards_per_replica : 1;
    uint32_t shape = admission_shape(w, source, 1, cards,
                                     slice ? c->share_milli : 0, NULL);
    uint32_t ix = workload_new(w, WL_REPLICA, k, shape);
    w->wl[ix].since = w->now;
    list_append(w, sv, ix);
    admission_submit(w, ix, c->queue, c->priority, w->now, uid);
}

/* Leaves the running set: the fluid model is brought up to now first. */
static void unready(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    service_advance(w, wl->owner);
    struct service_state *sv = service_of(w, ix);
    sv->ready--;
    sv->speed_sum -= wl->speed_ppm;
    if (wl->base == NONE32) {
        sv->ready_milli[wl->pool] -= wl->milli;
        sv->ready_lost[wl->pool] -= wl->lost_milli;
    }
    wl->since = w->now;
    service_speed_refresh(w, wl->owner);
}

static void close_stage(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    if (wl->state == WL_STARTING)
        book_segment(w, ix, LEDGER_STARTING);
    else if (wl->state == WL_LOADING)
        book_segment(w, ix, LEDGER_LOADING);
    else if (wl->state == WL_RUNNING)
        unready(w, ix);
}

static void replica_drop(struct world *w, uint32_t ix, bool held)
{
    if (w->wl[ix].base != NONE32) {
        lora_leave(w, ix);
        workload_free(w, ix);
        return;
    }
    if (held)
        admission_quota_back(w, ix);
    place_release(w, ix);
    admission_withdraw(w, ix);
    workload_free(w, ix);
}

/* Scale-down of one replica: what waits goes at once, what runs drains first. */
static void replica_stop(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    record_stopped(w, ix);
    if (wl->base != NONE32)
        service_advance(w, wl->owner); /* its card is booked while it is in the list */
    list_remove(w, service_of(w, ix), ix);
    bool running = wl->state == WL_RUNNING;
    close_stage(w, ix);
    if (!running || w->s->transfer.drain == 0) {
        replica_drop(w, ix, wl->state != WL_PENDING);
        return;
    }
    wl->state = WL_DRAINING;
    wl->gen++;
    sharing_touch(w, ix);
    if (wl->base != NONE32)
        lora_changed(w, ix);
    world_event(w, w->now + w->s->transfer.drain, EVC_RELEASE, ix, EV_RELEASE, wl->gen);
}

static bool on_its_way(const struct world *w, uint32_t ix)
{
    return w->wl[ix].since == w->now || w->wl[lora_admitted_as(w, ix)].since == w->now;
}

/* Order of removal: not yet admitted, not placed, starting, loading, ready; youngest first. A
 * replica that was submitted at this very instant stays (its submission is still on its way). */
static uint32_t stop_candidate(const struct world *w, const struct service_state *sv)
{
    static const enum workload_state order[] = {WL_PENDING, WL_UNPLACED, WL_STARTING, WL_LOADING,
                                                WL_RUNNING};
    int32_t not_ready = sv->live - sv->ready;
    for (size_t k = not_ready > 0 ? 0 : 4; k < sizeof order / sizeof *order; k++)
        for (uint32_t i = sv->tail; i != NONE32; i = w->wl[i].prev)
            if (w->wl[i].state == order[k] && !(order[k] == WL_PENDING && on_its_way(w, i)))
                return i;
    return NONE32;
}

void service_reconcile(struct world *w, uint32_t k)
{
    struct service_state *sv = &w->services[k];
    while (sv->live < sv->wanted)
        replica_new(w, k);
    while (sv->live > sv->wanted) {
        uint32_t ix = stop_candidate(w, sv);
        if (ix == NONE32)
            return;
        replica_stop(w, ix);
    }
}

static struct coldstart_time replica_start_time(struct world *w, uint32_t ix)
{
    const struct service_state *sv = service_of(w, ix);
    const struct service_config *c = sv->cfg;
    int32_t parts;
    const struct lease_part *p = fleet_lease_parts(w->fleet, w->wl[ix].lease, &parts);
    int64_t image = 0, weights = 0;
    bool image_cached = true, on_node = true, shared = false;
    if (c->model >= 0) {
        const struct model_config *m = &w->s->demand.models[c->model];
        image = m->image_bytes;
        weights = m->weight_bytes + c->adapter.bytes;
        image_cached = fleet_cache_touch(w->fleet, p[0].node, w->s->demand.model_count + c->model);
        on_node = fleet_cache_touch(w->fleet, p[0].node, c->model);
        shared = w->cluster_cached[c->model];
        w->cluster_cached[c->model] = true;
    }
    struct coldstart_time t =
        coldstart_estimate(&w->coldstart, image, image_cached, weights, on_node, shared);
    t.starting += c->engine_start;
    return t;
}

void replica_placed(struct world *w, uint32_t ix)
{
    struct coldstart_time t = replica_start_time(w, ix);
    t.starting += instance_wait(w, ix);
    t.starting += incident_backoff(service_of(w, ix)->crashes);
    struct workload *wl = &w->wl[ix];
    record_started(w, ix, t.starting, t.loading);
    wl->state = WL_STARTING;
    wl->since = w->now;
    wl->loading = t.loading;
    world_event(w, w->now + t.starting, EVC_STAGE, ix, EV_STAGE, wl->gen);
}

void replica_stage(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    if (wl->state == WL_STARTING && wl->loading > 0) {
        book_segment(w, ix, LEDGER_STARTING);
        wl->state = WL_LOADING;
        world_event(w, w->now + wl->loading, EVC_STAGE, ix, EV_STAGE, wl->gen);
        return;
    }
    if (wl->state != WL_STARTING && wl->state != WL_LOADING)
        return;
    book_segment(w, ix, wl->state == WL_STARTING ? LEDGER_STARTING : LEDGER_LOADING);
    service_advance(w, wl->owner);
    struct service_state *sv = service_of(w, ix);
    wl->state = WL_RUNNING;
    sv->ready++;
    sv->speed_sum += wl->speed_ppm;
    service_speed_refresh(w, wl->owner);
    if (wl->base == NONE32)
        sv->ready_milli[wl->pool] += wl->milli;
    else
        lora_changed(w, ix);
    sv->cold_starts++;
    uint32_t k = wl->owner;
    sharing_touch(w, ix);
    incident_running(w, ix);
    service_scaling_wake(w, k);
}

void replica_interrupted(struct world *w, uint32_t ix)
{
    w->replica_preemptions++;
    service_of(w, ix)->preemptions++;
    if (w->wl[ix].state == WL_RUNNING)
        unready(w, ix);
}

void replica_evicted(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    struct service_state *sv = service_of(w, ix);
    w->replica_preemptions++;
    sv->preemptions++;
    if (wl->state == WL_DRAINING) /* already on its way out: its own release will come */
        return;
    list_remove(w, sv, ix);
    close_stage(w, ix);
    if (wl->state == WL_UNPLACED)
        place_forget(w, ix);
    wl->state = WL_DRAINING;
    wl->gen++;
    wl->evicted = true;
    sharing_touch(w, ix);
    world_event(w, w->now + w->arb->eviction_grace, EVC_RELEASE, ix, EV_RELEASE, wl->gen);
}

i128 replica_crashed(struct world *w, uint32_t ix)
{
    uint32_t k = w->wl[ix].owner;
    w->services[k].crashes++;
    record_released(w, ix);
    list_remove(w, service_of(w, ix), ix);
    close_stage(w, ix);
    replica_drop(w, ix, true);
    service_reconcile(w, k);
    return 0;
}

void replica_released(struct world *w, uint32_t ix)
{
    uint32_t k = w->wl[ix].owner;
    record_released(w, ix);
    book_segment(w, ix, LEDGER_DRAINING);
    replica_drop(w, ix, true);
    service_reconcile(w, k);
}

/* ---- traffic and scaling ---- */

void services_traffic(struct world *w)
{
    sim_time step = w->s->demand.traffic_step;
    sim_time left = w->s->horizon - w->now;
    for (int32_t k = 0; k < w->s->demand.service_count; k++) {
        struct service_state *sv = &w->services[k];
        service_advance(w, (uint32_t)k);
        if (!traffic_source_next(sv->traffic, w->now, &sv->point, w->err))
            sv->point.rate_per_s = 0;
        uint64_t *hash = &w->demand_hash[w->s->demand.stream_count + k];
        *hash = demand_hash_traffic(*hash, &sv->point);
        i128 cards = offered_traffic(sv->cfg, &sv->fluid, &sv->point, left < step ? left : step);
        w->offered += cards;
        w->offered_drawn += sv->cfg->traffic.file == NULL ? cards : 0;
        service_scaling_wake(w, (uint32_t)k);
    }
    lora_traffic(w);
    series_step(w);
    if (step < left) /* the horizon begins no step */
        world_event(w, w->now + step, EVC_TRAFFIC, 0, EV_TRAFFIC, 0);
}

void service_scale(struct world *w, uint32_t k)
{
    service_advance(w, k);
    service_scaling_decide(w, k);
    service_reconcile(w, k);
}

/* ---- life ---- */

static bool service_init(struct world *w, int32_t k)
{
    const struct scenario *s = w->s;
    struct service_state *sv = &w->services[k];
    sv->cfg = &s->demand.services[k];
    sv->head = sv->tail = NONE32;
    sv->kv_part = 1;
    sv->ready_milli = arena_alloc(&w->arena, (size_t)s->fleet.pool_count, sizeof(int64_t));
    sv->ready_lost = arena_alloc(&w->arena, (size_t)s->fleet.pool_count, sizeof(int64_t));
    qhist_init(&sv->latency, 0.01, 1e-4, 1e7);
    qhist_init(&sv->ttft, 0.01, 1e-4, 1e7);
    fluid_init(&sv->fluid, sv->cfg);
    sv->traffic = traffic_source_open(sv->cfg, k, s->seed, w->opt.replication, s->start_epoch,
                                      s->demand.traffic_step, s->open_traffic, s->loader, w->err);
    return sv->traffic != NULL;
}

bool services_init(struct world *w)
{
    size_t n = (size_t)w->s->demand.service_count;
    w->services = arena_alloc(&w->arena, n + 1, sizeof *w->services);
    for (size_t k = 0; k < n; k++)
        if (!service_init(w, (int32_t)k))
            return false;
    services_traffic(w);
    for (size_t k = 0; k < n; k++) {
        service_scaling_init(w, (uint32_t)k);
        service_reconcile(w, (uint32_t)k);
    }
    return w->err->code == ERR_NONE;
}

void services_fini(struct world *w)
{
    for (int32_t k = 0; w->services != NULL && k < w->s->demand.service_count; k++) {
        service_scaling_fini(w, (uint32_t)k);
        if (w->services[k].traffic != NULL)
            traffic_source_close(w->services[k].traffic);
        qhist_fini(&w->services[k].latency);
        qhist_fini(&w->services[k].ttft);
    }
}
