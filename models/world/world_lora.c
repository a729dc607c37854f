/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instances of base models: who is on which, and their life. What they do with the card: lora_parts.c. */
#include "models/world/world_lora.h"

#include <stdlib.h>
#include <string.h>

#include "models/world/lora_parts.h"
#include "models/world/quota_view.h"
#include "models/world/world_record.h"
#include "sim/check.h"

static struct lora_instance *instance_of(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    return &w->lora->instances[wl->kind == WL_BASE ? wl->owner : wl->base];
}

static struct lora_group *group_of(const struct world *w, const struct lora_instance *in)
{
    return &w->lora->groups[in->group];
}

int32_t lora_queue(const struct world *w, uint32_t ix)
{
    return group_of(w, instance_of(w, ix))->queue;
}

int32_t lora_priority(const struct world *w, uint32_t ix)
{
    return group_of(w, instance_of(w, ix))->priority;
}

uint32_t lora_admitted_as(const struct world *w, uint32_t ix)
{
    return w->wl[ix].base == NONE32 ? ix : instance_of(w, ix)->workload;
}

/* ---- tenants and memory ---- */

const struct lora_adapter *lora_adapter_of(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    return wl->kind == WL_REPLICA ? &w->services[wl->owner].cfg->adapter
                                  : &w->s->demand.streams[w->jobs[wl->owner].stream].adapter;
}

struct lora_memory lora_instance_memory(const struct world *w, const struct lora_instance *in)
{
    const struct lora_group *g = group_of(w, in);
    struct lora_memory m =
        lora_memory_open(w->s->demand.models[g->base].weight_bytes, g->serves, &w->s->lora);
    for (int32_t i = 0; i < in->count; i++)
        lora_memory_add(&m, lora_adapter_of(w, in->tenants[i]), g->serves);
    return m;
}

/* A replica of every service must still be able to hold one request of mean size. */
static bool cache_suffices(const struct world *w, const struct lora_memory *m, int32_t service)
{
    const struct service_config *c = w->services[service].cfg;
    double tokens = c->traffic.input_tokens_mean + c->traffic.output_tokens_mean;
    return lora_cache_part(w, m, c) * c->law.kv_capacity_tokens >= tokens ||
           !(c->law.kv_capacity_tokens > 0);
}

static bool has_room(const struct world *w, const struct lora_instance *in, uint32_t ix)
{
    const struct lora_group *g = group_of(w, in);
    if (in->count >= w->arb->lora_slots)
        return false;
    struct lora_memory m = lora_instance_memory(w, in);
    lora_memory_add(&m, lora_adapter_of(w, ix), g->serves);
    if (!g->serves)
        return lora_memory_training(&m, w->arb->lora_mode) <= g->card_bytes;
    double room = w->s->lora.serve_utilization * (double)g->card_bytes;
    if ((double)lora_memory_serving(&m, m.count) > room ||
        !cache_suffices(w, &m, (int32_t)w->wl[ix].owner))
        return false;
    for (int32_t i = 0; i < in->count; i++) /* a second replica beside the first gives nothing */
        if (w->wl[in->tenants[i]].owner == w->wl[ix].owner ||
            !cache_suffices(w, &m, (int32_t)w->wl[in->tenants[i]].owner))
            return false;
    return true;
}

/* ---- opening and closing ---- */

uint32_t lora_shape(struct world *w, int32_t source)
{
    return admission_shape(w, w->lora->groups[w->lora->group_of[source]].source, 1, 1, 0, NULL);
}

static uint32_t instance_new(struct world *w, int32_t group)
{
    struct lora_world *l = w->lora;
    uint32_t ix = l->free;
    if (ix != NONE32) {
        l->free = l->instances[ix].next;
    } else {
        l->instances = mem_grow(l->instances, &l->capacity, l->count + 1, sizeof *l->instances);
        ix = (uint32_t)l->count++;
    }
    struct lora_group *g = &l->groups[group];
    l->instances[ix] = (struct lora_instance){
        .in_use = true, .group = group, .number = g->opened++, .next = NONE32};
    uint32_t *at = &g->first;
    while (*at != NONE32)
        at = &l->instances[*at].next;
    *at = ix;
    return ix;
}

static uint32_t instance_open(struct world *w, int32_t group)
{
    uint32_t ix = instance_new(w, group);
    const struct lora_group *g = &w->lora->groups[group];
    uint32_t wl = workload_new(w, WL_BASE, ix, admission_shape(w, g->source, 1, 1, 0, NULL));
    w->wl[wl].since = w->now;
    w->lora->instances[ix].workload = wl;
    uint64_t uid = UINT64_C(1) << 62 | (uint64_t)(uint32_t)group << 40 | w->lora->instances[ix].number;
    admission_submit(w, wl, g->queue, g->priority, w->now, uid);
    return ix;
}

static void instance_close(struct world *w, struct lora_instance *in)
{
    uint32_t wl = in->workload, ix = w->wl[wl].owner;
    uint32_t *at = &group_of(w, in)->first;
    if (w->wl[wl].state != WL_PENDING)
        admission_quota_back(w, wl);
    place_release(w, wl);
    admission_withdraw(w, wl);
    workload_free(w, wl);
    while (*at != ix)
        at = &w->lora->instances[*at].next;
    *at = in->next;
    in->in_use = false;
    in->next = w->lora->free;
    w->lora->free = ix;
}

/* ---- stages of a tenant ---- */

static sim_time adapter_time(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    int64_t bytes = lora_adapter_of(w, ix)->bytes;
    sim_time more = sim_time_from_seconds(w->s->lora.adapter_load_s);
    if (wl->kind != WL_REPLICA) {
        const struct job_stream_config *c = &w->s->demand.streams[w->jobs[wl->owner].stream];
        bytes += c->dataset_bytes;
        more += c->restart;
    }
    return coldstart_estimate(&w->coldstart, 0, true, bytes, false, false).loading + more;
}

/* It has a part of a card from now on. */
static void tenant_start(struct world *w, uint32_t ix, enum workload_state state)
{
    struct workload *wl = &w->wl[ix];
    wl->pool = w->wl[instance_of(w, ix)->workload].pool;
    wl->since = w->now;
    wl->state = (uint8_t)state;
    bool loaded = w->wl[instance_of(w, ix)->workload].state == WL_RUNNING; /* the base is */
    record_started(w, ix, 0, loaded ? adapter_time(w, ix) : 0);
    if (wl->kind != WL_REPLICA)
        job_note_start(w, wl->owner);
}

static void tenant_load(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    wl->state = WL_LOADING;
    wl->since = w->now;
    wl->loading = adapter_time(w, ix);
    world_event(w, w->now + wl->loading, EVC_STAGE, ix, EV_STAGE, wl->gen);
}

void lora_again(struct world *w, uint32_t ix)
{
    tenant_load(w, ix);
    lora_changed(w, ix);
}

void lora_changed(struct world *w, uint32_t ix)
{
    struct lora_instance *in = instance_of(w, ix);
    lora_book(w, in);
    lora_parts(w, in);
}

/* ---- joining and leaving ---- */

static uint32_t find_instance(const struct world *w, int32_t group, uint32_t ix)
{
    for (uint32_t i = w->lora->groups[group].first; i != NONE32; i = w->lora->instances[i].next)
        if (has_room(w, &w->lora->instances[i], ix))
            return i;
    return NONE32;
}

int32_t lora_source_of(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    return wl->kind == WL_REPLICA ? w->s->demand.stream_count + (int32_t)wl->owner
                                  : w->jobs[wl->owner].stream;
}

void lora_join(struct world *w, uint32_t ix, uint64_t uid)
{
    int32_t group = w->lora->group_of[lora_source_of(w, ix)];
    uint32_t at = find_instance(w, group, ix);
    if (at == NONE32)
        at = instance_open(w, group);
    struct lora_instance *in = &w->lora->instances[at];
    enum workload_state base = (enum workload_state)w->wl[in->workload].state;
    lora_book(w, in);
    in->tenants[in->count++] = ix;
    w->wl[ix].base = at;
    w->wl[ix].since = w->now;
    record_joined(w, ix, uid);
    bool starts = base == WL_STARTING || base == WL_LOADING || base == WL_RUNNING;
    if (starts)
        tenant_start(w, ix, base == WL_STARTING ? WL_STARTING : WL_LOADING);
    if (base == WL_RUNNING)
        tenant_load(w, ix);
    lora_parts(w, in);
}

void lora_leave(struct world *w, uint32_t ix)
{
    struct lora_instance *in = instance_of(w, ix);
    lora_book(w, in);
    int32_t at = 0;
    while (in->tenants[at] != ix)
        at++;
    in->count--;
    memmove(in->tenants + at, in->tenants + at + 1, (size_t)(in->count - at) * sizeof *in->tenants);
    w->wl[ix].base = NONE32;
    w->wl[ix].milli = w->wl[ix].busy_milli = 0;
    lora_parts(w, in);
    if (in->count == 0 && w->wl[in->workload].state != WL_DRAINING)
        instance_close(w, in);
}

/* ---- life of an instance ---- */

void lora_placed(struct world *w, uint32_t ix)
{
    struct lora_instance *in = instance_of(w, ix);
    const struct lora_group *g = group_of(w, in);
    const struct model_config *m = &w->s->demand.models[g->base];
    int32_t parts;
    int32_t node = fleet_lease_parts(w->fleet, w->wl[ix].lease, &parts)[0].node;
    bool image = fleet_cache_touch(w->fleet, node, w->s->demand.model_count + g->base);
    bool weights = fleet_cache_touch(w->fleet, node, g->base), shared = w->cluster_cached[g->base];
    w->cluster_cached[g->base] = true;
    struct coldstart_time t =
        coldstart_estimate(&w->coldstart, m->image_bytes, image, m->weight_bytes, weights, shared);
    if (g->serves)
        t.starting += w->s->demand.services[g->source - w->s->demand.stream_count].engine_start;
    record_started(w, ix, t.starting, t.loading);
    lora_seat(w, in);
    w->wl[ix].state = WL_STARTING;
    w->wl[ix].since = w->now;
    w->wl[ix].loading = t.loading;
    for (int32_t i = 0; i < in->count; i++)
        tenant_start(w, in->tenants[i], WL_STARTING);
    lora_parts(w, in);
    world_event(w, w->now + t.starting, EVC_STAGE, ix, EV_STAGE, w->wl[ix].gen);
}

void lora_stage(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    struct lora_instance *in = instance_of(w, ix);
    if (wl->state != WL_STARTING && wl->state != WL_LOADING)
        return;
    lora_book(w, in);
    bool loads = wl->state == WL_STARTING && wl->loading > 0;
    wl->state = loads ? WL_LOADING : WL_RUNNING;
    for (int32_t i = 0; i < in->count; i++) {
        if (loads)
            w->wl[in->tenants[i]].state = WL_LOADING;
        else
            tenant_load(w, in->tenants[i]);
    }
    if (loads)
        world_event(w, w->now + wl->loading, EVC_STAGE, ix, EV_STAGE, wl->gen);
    lora_parts(w, in);
}

/* Everybody on the instance loses its place on the card: the blast radius of sharing one. */
static void tenant_evicted(struct world *w, uint32_t ix, enum workload_state next)
{
    struct workload *wl = &w->wl[ix];
    if (wl->state == WL_DRAINING) /* a replica on its way out: its own release will come */
        return;
    record_tenant_evicted(w, ix);
    if (wl->kind == WL_REPLICA)
        replica_interrupted(w, ix);
    else
        job_note_eviction(w, wl->owner);
    w->wl[ix].evicted = true;
    w->wl[ix].state = (uint8_t)next;
    w->wl[ix].since = w->now;
    w->wl[ix].gen++;
}

void lora_evicted(struct world *w, uint32_t ix)
{
    struct lora_instance *in = instance_of(w, ix);
    bool held = w->wl[ix].state != WL_UNPLACED;
    if (held)
        lora_book(w, in);
    else
        place_forget(w, ix);
    for (int32_t i = 0; i < in->count; i++)
        tenant_evicted(w, in->tenants[i], held ? WL_DRAINING : WL_PENDING);
    w->wl[ix].state = WL_DRAINING;
    w->wl[ix].since = w->now;
    w->wl[ix].gen++;
    lora_parts(w, in);
    if (w->arb->eviction_grace > 0)
        world_event(w, w->now + w->arb->eviction_grace, EVC_RELEASE, ix, EV_RELEASE, w->wl[ix].gen);
    settle_release_at(w->settle, ix, w->now + w->arb->eviction_grace);
    if (w->arb->eviction_grace == 0)
        lora_released(w, ix);
}

void lora_released(struct world *w, uint32_t ix)
{
    struct lora_instance *in = instance_of(w, ix);
    int32_t services[LORA_SLOTS_MAX], count = 0;
    record_released(w, ix);
    lora_book(w, in);
    admission_quota_back(w, ix);
    place_release(w, ix);
    w->wl[ix].state = WL_PENDING;
    w->wl[ix].since = w->now;
    w->wl[ix].gen++;
    for (int32_t i = 0; i < in->count; i++) {
        struct workload *wl = &w->wl[in->tenants[i]];
        if (wl->evicted)
            wl->state = WL_PENDING;
        wl->evicted = false;
        if (wl->kind == WL_REPLICA)
            services[count++] = (int32_t)wl->owner;
    }
    lora_parts(w, in);
    if (in->count == 0)
        instance_close(w, in);
    for (int32_t i = 0; i < count; i++) /* fewer may be wanted by now */
        service_reconcile(w, (uint32_t)services[i]);
}

void lora_traffic(struct world *w)
{
    for (size_t i = 0; w->lora != NULL && i < w->lora->count; i++) {
        struct lora_instance *in = &w->lora->instances[i];
        if (!in->in_use || !group_of(w, in)->serves || w->wl[in->workload].state != WL_RUNNING)
            continue;
        lora_book(w, in);
        lora_parts(w, in);
    }
}
