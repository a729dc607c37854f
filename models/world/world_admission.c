/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The world's side of the admission policy: inputs of an instant are collected, the policy
 * settles, its outputs are applied. Card quota is counted in milli-cards under the resource name
 * nvidia.com/gpu, as Kueue's resources.transformations would count shares; being a scale factor,
 * it changes no decision.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/policies/pending_view.h"
#include "models/world/quota_view.h"
#include "models/world/shape_view.h"
#include "models/world/world_lora.h"
#include "models/world/world_managed.h"
#include "models/world/world_priv.h"
#include "models/world/world_record.h"
#include "sim/check.h"
#include "sim/rng.h"

#define CYCLES_PER_INSTANT 100000

/* ---- shapes ---- */

static uint64_t shape_key(const struct shape *sh)
{
    uint64_t k = rng_hash((uint64_t)(uint32_t)sh->source << 32 | (uint32_t)sh->workers);
    k = rng_hash(k ^ ((uint64_t)(uint32_t)sh->cards << 32 | (uint32_t)sh->share_milli));
    if (sh->amounts.cpu_milli >= 0 || sh->amounts.memory_bytes >= 0)
        k = rng_hash(rng_hash(k ^ (uint64_t)sh->amounts.cpu_milli) ^ (uint64_t)sh->amounts.memory_bytes);
    return k | 1;
}

static void shape_map_grow(struct world *w)
{
    size_t old = w->shape_map_size, size = old == 0 ? 256 : old * 2;
    uint32_t *map = mem_zalloc(size, sizeof *map);
    uint64_t *keys = mem_zalloc(size, sizeof *keys);
    for (size_t i = 0; i < old; i++)
        if (w->shape_map_keys[i] != 0) {
            size_t at = w->shape_map_keys[i] & (size - 1);
            while (keys[at] != 0)
                at = (at + 1) & (size - 1);
            keys[at] = w->shape_map_keys[i];
            map[at] = w->shape_map[i];
        }
    free(w->shape_map);
    free(w->shape_map_keys);
    w->shape_map = map;
    w->shape_map_keys = keys;
    w->shape_map_size = size;
}

static uint32_t register_shape(struct world *w, const struct shape *sh, int64_t milli)
{
    struct shape_view view;
    shape_view_make(w->s, sh->source, sh->workers, milli, &view);
    shape_view_amounts(w->s, &sh->amounts, &view);
    uint32_t id = w->ops->register_shape(w->policy, &view.shape);
    if (w->pending != NULL)
        pending_shape(w->pending, id, &view.shape);
    return id;
}

static uint32_t shape_make(struct world *w, struct shape sh)
{
    int64_t milli = sh.share_milli > 0 ? sh.share_milli : (int64_t)sh.cards * 1000;
    uint32_t id = register_shape(w, &sh, milli);
    if (id >= w->shape_capacity) {
        size_t old = w->shape_capacity;
        w->shapes = mem_grow(w->shapes, &w->shape_capacity, id + 1, sizeof *w->shapes);
        memset(w->shapes + old, 0, (w->shape_capacity - old) * sizeof *w->shapes);
    }
    if (milli > 0)
        ledger_register_request(w->ledger, milli * sh.workers);
    sh.known = true;
    sh.request_milli = milli * sh.workers;
    w->shapes[id] = sh;
    return id;
}

uint32_t admission_shape(struct world *w, int32_t source, int32_t workers, int32_t cards,
                         int32_t share, const struct job_amounts *amounts)
{
    struct shape sh = {.source = source, .workers = workers, .cards = cards, .share_milli = share, .amounts = {-1, -1}};
    if (amounts != NULL)
        sh.amounts = *amounts;
    if (w->shape_map_used * 2 >= w->shape_map_size)
        shape_map_grow(w);
    uint64_t key = shape_key(&sh);
    size_t at = key & (w->shape_map_size - 1);
    while (w->shape_map_keys[at] != 0 && w->shape_map_keys[at] != key)
        at = (at + 1) & (w->shape_map_size - 1);
    if (w->shape_map_keys[at] == 0) {
        w->shape_map[at] = shape_make(w, sh);
        w->shape_map_keys[at] = key;
        w->shape_map_used++;
    }
    return w->shape_map[at];
}

/* ---- inputs ---- */

static size_t input_add(struct world *w, const struct policy_input *in)
{
    struct input_buffer *b = &w->in[w->in_use];
    if (b->count == b->capacity) {
        b->inputs = mem_grow(b->inputs, &b->capacity, b->count + 1, sizeof *b->inputs);
        b->submits = mem_realloc(b->submits, b->capacity, sizeof *b->submits);
    }
    b->inputs[b->count] = *in;
    return b->count++;
}

static void submit_now(struct world *w, const struct policy_workload *submit)
{
    struct policy_input in = {.kind = POLICY_IN_SUBMIT, .workload = submit->id};
    size_t at = input_add(w, &in);
    w->in[w->in_use].submits[at] = *submit;
}

/* A workload that waits for the decision delay: it blocks idle cards (design, section 3.3). */
static void undecided_book(struct world *w, uint32_t ix, int32_t queue, int sign)
{
    const struct shape *sh = &w->shapes[w->wl[ix].shape];
    int32_t pool = source_first_pool(w->s, w->arb, sh->source, queue);
    w->wl[ix].undecided = sign > 0;
    w->pending_milli += sign * sh->request_milli;
    if (pool >= 0)
        ledger_idle_input_change(w->ledger, w->now, (uint32_t)pool, LEDGER_INPUT_WAITING,
                                 sign * sh->request_milli);
}

void admission_submit(struct world *w, uint32_t wl, int32_t queue, int64_t priority,
                      sim_time created, uint64_t uid)
{
    struct policy_workload submit = {.id = wl,
                                     .local_queue = (uint32_t)queue,
                                     .shape = w->wl[wl].shape,
                                     .priority = priority,
                                     .created_ns = created,
                                     .uid_order = uid,
                                     .name_order = uid};
    w->wl[wl].uid = uid;
    record_submitted(w, wl, priority, uid);
    if (w->arb->decision_delay == 0) {
        submit_now(w, &submit);
        return;
    }
    if (w->delayed_first > 64 && w->delayed_first * 2 > w->delayed_count) {
        w->delayed_count -= w->delayed_first;
        memmove(w->delayed, w->delayed + w->delayed_first, w->delayed_count * sizeof *w->delayed);
        w->delayed_first = 0;
    }
    w->delayed = mem_grow(w->delayed, &w->delayed_capacity, w->delayed_count + 1, sizeof *w->delayed);
    w->delayed[w->delayed_count++] = (struct delayed_submit){submit, w->wl[wl].gen};
    undecided_book(w, wl, queue, 1);
    world_event(w, sim_time_after(w->now, w->arb->decision_delay), EVC_SUBMIT, 0, EV_SUBMIT, 0);
}

void admission_decide(struct world *w)
{
    const struct delayed_submit *d = &w->delayed[w->delayed_first++];
    if (w->wl[d->submit.id].gen != d->gen)
        return;
    undecided_book(w, d->submit.id, (int32_t)d->submit.local_queue, -1);
    w->wl[d->submit.id].since = w->now; /* on its way: not withdrawn at this instant */
    submit_now(w, &d->submit);
}

void admission_input(struct world *w, uint32_t wl, enum policy_input_kind kind)
{
    struct policy_input in = {.kind = kind, .workload = wl};
    input_add(w, &in);
}

/* ---- outputs ---- */

static int32_t queue_of(const struct world *w, const struct workload *wl)
{
    if (wl->kind == WL_BASE)
        return lora_queue(w, (uint32_t)(wl - w->wl));
    return wl->kind == WL_REPLICA ? w->services[wl->owner].cfg->queue : w->jobs[wl->owner].spec.queue;
}

void admission_withdraw(struct world *w, uint32_t ix)
{
    if (w->wl[ix].undecided)
        undecided_book(w, ix, queue_of(w, &w->wl[ix]), -1);
    else
        admission_input(w, ix, POLICY_IN_WITHDRAW);
}

void admission_quota_back(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    const struct shape *sh = &w->shapes[wl->shape];
    quota_use_change(w, queue_of(w, wl), wl->flavor, -(sh->request_milli / sh->workers * wl->workers));
    if (w->pending != NULL)
        pending_release(w->pending, w->now, ix);
}

static int32_t card_flavor(const struct policy_assigned_set *set)
{
    for (uint32_t i = 0; i < set->choice_count; i++)
        if (set->choices[i].resource == 0)
            return (int32_t)set->choices[i].flavor;
    return set->choice_count > 0 ? (int32_t)set->choices[0].flavor : 0;
}

static void apply_admit(struct world *w, uint32_t ix, const struct policy_entry *e)
{
    const struct shape *sh = &w->shapes[w->wl[ix].shape];
    int32_t workers = (int32_t)e->sets[0].count, flavor = card_flavor(&e->sets[0]);
    quota_use_change(w, queue_of(w, &w->wl[ix]), flavor, sh->request_milli / sh->workers * workers);
    place_admitted(w, ix, flavor, workers);
}

static void apply_evict(struct world *w, uint32_t ix)
{
    if (w->wl[ix].kind == WL_BASE)
        lora_evicted(w, ix);
    else if (w->wl[ix].kind == WL_REPLICA)
        replica_evicted(w, ix);
    else
        job_evicted(w, ix);
}

/* ---- why workloads wait, for the split of idle time ---- */

static struct pending_group *group_of(struct world *w, const struct policy_pending *p)
{
    uint64_t h = rng_hash((uint64_t)p->cluster_queue << 32 | p->shape) ^ (uint64_t)p->priority;
    if ((w->group_count + 1) * 2 > w->group_map_size) {
        size_t size = w->group_map_size == 0 ? 256 : w->group_map_size * 2;
        free(w->group_map);
        w->group_map = mem_zalloc(size, sizeof *w->group_map);
        w->group_map_size = size;
        for (size_t i = 0; i < w->group_count; i++) {
            const struct pending_group *g = &w->groups[i];
            uint64_t k = rng_hash((uint64_t)g->queue << 32 | g->shape) ^ (uint64_t)g->priority;
            size_t at = rng_hash(k) & (size - 1);
            while (w->group_map[at] != 0)
                at = (at + 1) & (size - 1);
            w->group_map[at] = (uint32_t)i + 1;
        }
    }
    size_t at = rng_hash(h) & (w->group_map_size - 1);
    for (; w->group_map[at] != 0; at = (at + 1) & (w->group_map_size - 1)) {
        struct pending_group *g = &w->groups[w->group_map[at] - 1];
        if (g->queue == p->cluster_queue && g->shape == p->shape && g->priority == p->priority)
            return g;
    }
    w->groups = mem_grow(w->groups, &w->group_capacity, w->group_count + 1, sizeof *w->groups);
    w->groups[w->group_count] = (struct pending_group){
        .queue = p->cluster_queue, .shape = p->shape, .priority = p->priority, .pool = -1,
        .first_pool = source_first_pool(w->s, w->arb, w->shapes[p->shape].source,
                                        (int32_t)p->cluster_queue)};
    w->group_map[at] = (uint32_t)++w->group_count;
    return &w->groups[w->group_count - 1];
}

static void group_book(struct world *w, const struct pending_group *g, int sign)
{
    if (g->count == 0 || g->pool < 0)
        return;
    int64_t request = w->shapes[g->shape].request_milli;
    w->pending_milli += sign * request * (int64_t)g->count;
    if (g->quota)
        ledger_quota_wait_change(w->ledger, w->now, (uint32_t)g->pool, request,
                                 sign * (int64_t)g->count);
    else
        ledger_idle_input_change(w->ledger, w->now, (uint32_t)g->pool, LEDGER_INPUT_WAITING,
                                 sign * request * (int64_t)g->count);
}

static void apply_pending(struct world *w, const struct policy_pending *p)
{
    struct pending_group *g = group_of(w, p);
    group_book(w, g, -1);
    g->count = p->count;
    g->quota = p->wait == POLICY_WAIT_QUOTA;
    const struct shape *sh = &w->shapes[p->shape];
    g->pool = g->first_pool;
    if (p->flavor_tried != POLICY_NONE && w->sources[sh->source].counts[p->flavor_tried] > 0)
        g->pool = w->sources[sh->source].pools[p->flavor_tried][0];
    group_book(w, g, 1);
}

static void apply(void *ctx, int64_t now, const struct policy_output *outputs, size_t count)
{
    struct world *w = ctx;
    (void)now;
    for (size_t i = 0; i < count; i++) {
        const struct policy_output *o = &outputs[i];
        i128 lost = w->lost;
        record_output(w, o);
        world_pending_output(w, o);
        switch (o->kind) {
        case POLICY_DO_ADMIT:
            apply_admit(w, o->workload, o->u.entry);
            break;
        case POLICY_DO_EVICT:
            apply_evict(w, o->workload);
            record_lost(w, w->lost - lost);
            break;
        case POLICY_SAY_PENDING:
            apply_pending(w, &o->u.pending);
            break;
        case POLICY_DO_DEACTIVATE:
        case POLICY_DO_REQUEUE:
        case POLICY_SAY_REASON:
        case POLICY_SAY_ENTRY:
        case POLICY_SAY_CYCLE:
        case POLICY_SAY_USAGE:
        case POLICY_SAY_EVALUATION:
            break;
        }
    }
    record_outputs_done(w);
}

void admission_settle(struct world *w)
{
    /* apply() may add inputs for the same instant: they go to the other buffer. */
    struct input_buffer *now = &w->in[w->in_use];
    for (size_t i = 0; i < now->count; i++)
        if (now->inputs[i].kind == POLICY_IN_SUBMIT)
            now->inputs[i].submit = &now->submits[i];
    w->in_use ^= 1;
    w->in[w->in_use].count = 0;
    w->settles++;
    bool loop = policy_settle(w->settle, w->now, now->inputs, now->count) == SETTLE_LOOP;
    loop |= settle_loop(w->settle) != NULL; /* over time: evictions take their grace */
    if (loop && !w->loops)
        record_loop(w);
    w->loops |= loop;
    if (w->pending != NULL)
        pending_settled(w->pending, w->now);
}

void admission_schedule_wake(struct world *w)
{
    int64_t t = settle_next(w->settle, false);
    if (t == POLICY_NEVER || (w->next_wake > w->now && w->next_wake <= t))
        return;
    w->next_wake = t;
    world_event(w, t, EVC_WAKE, 0, EV_WAKE, 0);
}

/* ---- life ---- */

bool admission_init(struct world *w)
{
    char text[256] = "";
    w->ops = policy_kueue();
    if (w->arb->policy_file != NULL)
        w->ops = policy_open_shared(w->arb->policy_file, text, sizeof text);
    if (w->ops == NULL)
        return err_set(w->err, ERR_INPUT, "%s", text);
    struct policy_config *cfg = quota_view_config(&w->arena, w->s, w->arb);
    cfg->record_reasons = w->opt.level == RECORD_LEVEL_FULL;
    struct policy_host host = {.abi = POLICY_ABI, .size = sizeof host, .ctx = w};
    w->policy = w->ops->create(cfg, &host, text, sizeof text);
    if (w->policy == NULL)
        return err_set(w->err, ERR_INPUT, "arbiter '%s': %s", w->arb->name, text);
    /* Each cycle admits one head per queue: a thousand replicas submitted at once take a thousand
     * cycles without being a loop. Evictions take time here, so a real loop shows over time. */
    struct settle_config sc = {.eviction_ns = -1, .cycle_cap = CYCLES_PER_INSTANT};
    world_pending_init(w, cfg);
    struct settle_host sh = {.ctx = w, .apply = apply};
    w->settle = settle_create(w->ops, w->policy, &sc, &sh);
    return true;
}

void admission_fini(struct world *w)
{
    if (w->settle != NULL)
        settle_destroy(w->settle);
    if (w->policy != NULL)
        w->ops->destroy(w->policy);
}
