/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From quota to nodes. A workload that was admitted but finds no node waits in a list and is
 * tried again, in order, whenever cards come free: that is fragmentation, and the ledger sees it.
 */
#include "models/fleet/taints.h"
#include "models/world/promised.h"
#include "models/world/quota_view.h"
#include "models/world/shape_view.h"
#include "models/world/world_lora.h"
#include "models/world/world_managed.h"
#include "models/world/world_preempt.h"
#include "models/world/world_priv.h"
#include "models/world/world_record.h"
#include "models/world/world_sharing.h"

#include <string.h>

/* ---- which node pools a source may use, per flavor ---- */

static bool label_holds(const struct node_pool_config *p, const struct label *l)
{
    for (int32_t i = 0; i < p->label_count; i++)
        if (strcmp(p->labels[i].key, l->key) == 0)
            return strcmp(p->labels[i].value, l->value) == 0;
    return false;
}

bool source_tolerates(const struct taint *tolerations, int32_t count, const struct taint *taint)
{
    return taint->effect == TAINT_PREFER_NO_SCHEDULE || taint_tolerated(taint, tolerations, count);
}

/* Labels match and each taint is tolerated by the source or by the flavor. */
static bool pool_allowed(const struct demand_config *d, int32_t source, const struct flavor_config *v,
                         const struct node_pool_config *p)
{
    bool job = source < d->stream_count;
    const struct job_stream_config *j = job ? &d->streams[source] : NULL;
    const struct service_config *c = job ? NULL : &d->services[source - d->stream_count];
    const struct label *labels = job ? j->node_selector : c->node_selector;
    int32_t label_count = job ? j->node_selector_count : c->node_selector_count;
    const struct taint *own = job ? j->tolerations : c->tolerations;
    int32_t own_count = job ? j->toleration_count : c->toleration_count;
    for (int32_t i = 0; i < label_count; i++)
        if (!label_holds(p, &labels[i]))
            return false;
    for (int32_t i = 0; i < p->taint_count; i++)
        if (!source_tolerates(own, own_count, &p->taints[i]) &&
            !source_tolerates(v->tolerations, v->toleration_count, &p->taints[i]))
            return false;
    return true;
}

bool source_may_use(const struct scenario *s, int32_t source, int32_t flavor, int32_t pool)
{
    return pool_allowed(&s->demand, source, &s->fleet.flavors[flavor], &s->fleet.pools[pool]);
}

/* Taints PreferNoSchedule that nobody tolerates: such pools come last (the fewer the better, as the
 * score of kube-scheduler's TaintToleration says). */
static int32_t unwanted(const struct demand_config *d, int32_t source, const struct flavor_config *v,
                        const struct node_pool_config *p)
{
    bool job = source < d->stream_count;
    const struct job_stream_config *j = job ? &d->streams[source] : NULL;
    const struct service_config *c = job ? NULL : &d->services[source - d->stream_count];
    int32_t n = 0;
    for (int32_t i = 0; i < p->taint_count; i++)
        n += p->taints[i].effect == TAINT_PREFER_NO_SCHEDULE &&
             !taint_tolerated(&p->taints[i], job ? j->tolerations : c->tolerations,
                              job ? j->toleration_count : c->toleration_count) &&
             !taint_tolerated(&p->taints[i], v->tolerations, v->toleration_count);
    return n;
}

/* Puts the pool behind those that are no less wanted. */
static void insert_pool(const struct world *w, int32_t *pools, int32_t count, int32_t source,
                        const struct flavor_config *v, int32_t pool)
{
    const struct fleet_config *f = &w->s->fleet;
    int32_t mine = unwanted(&w->s->demand, source, v, &f->pools[pool]), at = count;
    for (; at > 0 && unwanted(&w->s->demand, source, v, &f->pools[pools[at - 1]]) > mine; at--)
        pools[at] = pools[at - 1];
    pools[at] = pool;
}

static void source_init(struct world *w, struct source_pools *sp, int32_t source)
{
    const struct fleet_config *f = &w->s->fleet;
    sp->pools = arena_alloc(&w->arena, (size_t)f->flavor_count + 1, sizeof *sp->pools);
    sp->counts = arena_alloc(&w->arena, (size_t)f->flavor_count + 1, sizeof *sp->counts);
    for (int32_t k = 0; k < f->flavor_count; k++) {
        const struct flavor_config *v = &f->flavors[k];
        sp->pools[k] = arena_alloc(&w->arena, (size_t)v->pool_count + 1, sizeof(int32_t));
        for (int32_t i = 0; i < v->pool_count; i++)
            if (pool_allowed(&w->s->demand, source, v, &f->pools[v->pools[i]]))
                insert_pool(w, sp->pools[k], sp->counts[k]++, source, v, v->pools[i]);
    }
}

int32_t source_largest_node(const struct scenario *s, int32_t source)
{
    int32_t most = 0;
    for (int32_t k = 0; k < s->fleet.flavor_count; k++) {
        const struct flavor_config *v = &s->fleet.flavors[k];
        for (int32_t i = 0; i < v->pool_count; i++) {
            const struct node_pool_config *p = &s->fleet.pools[v->pools[i]];
            if (p->cards_per_node > most && pool_allowed(&s->demand, source, v, p))
                most = p->cards_per_node;
        }
    }
    return most;
}

int32_t source_first_pool(const struct scenario *s, const struct arbiter_config *arb, int32_t source,
                          int32_t queue)
{
    struct queue_config q = quota_view_queue(s, arb, queue);
    for (int32_t k = 0; k < q.quota_count; k++) {
        if (q.quotas[k].resource >= 0)
            continue;
        const struct flavor_config *v = &s->fleet.flavors[q.quotas[k].flavor];
        for (int32_t i = 0; i < v->pool_count; i++)
            if (pool_allowed(&s->demand, source, v, &s->fleet.pools[v->pools[i]]))
                return v->pools[i];
    }
    return -1;
}

bool sources_init(struct world *w)
{
    int32_t count = w->s->demand.stream_count + w->s->demand.service_count;
    w->sources = arena_alloc(&w->arena, (size_t)count + 1, sizeof *w->sources);
    for (int32_t i = 0; i < count; i++)
        source_init(w, &w->sources[i], i);
    return true;
}

/* ---- placement ---- */

void source_slice(const struct scenario *s, int32_t source, struct place_request *req)
{
    const struct demand_config *d = &s->demand;
    const struct tenant_config *t = source < d->stream_count ? &d->streams[source].tenant
                                                             : &d->services[source - d->stream_count].tenant;
    req->profile = t->profile;
    req->gpumem_mib = t->gpumem_mib;
    req->gpucores = t->gpucores;
}

void source_resources(const struct world *w, int32_t source, const struct job_amounts *amounts, int64_t *by_resource)
{
    const struct demand_config *d = &w->s->demand;
    bool job = source < d->stream_count;
    const struct resource_amount *a = job ? d->streams[source].per_worker
                                          : d->services[source - d->stream_count].per_replica;
    int32_t n = job ? d->streams[source].per_worker_count
                    : d->services[source - d->stream_count].per_replica_count;
    for (int32_t i = 0; i < n; i++)
        by_resource[a[i].resource] = a[i].amount;
    job_amounts_apply(&w->s->fleet, amounts, by_resource);
}

static void fill_resources(const struct world *w, const struct shape *sh, struct place_request *req)
{
    const struct demand_config *d = &w->s->demand;
    int32_t source = sh->source;
    bool job = source < d->stream_count;
    source_resources(w, source, &sh->amounts, req->resources);
    req->prefer_model = job ? d->streams[source].model : d->services[source - d->stream_count].model;
    if (w->arb->cache == CACHE_NONE)
        req->prefer_model = -1;
}

void place_request_of(const struct world *w, uint32_t ix, struct place_request *req)
{
    const struct workload *wl = &w->wl[ix];
    const struct shape *sh = &w->shapes[wl->shape];
    const struct source_pools *sp = &w->sources[sh->source];
    *req = (struct place_request){.cards = sh->share_milli > 0 ? 0 : sh->cards,
                                  .share_milli = sh->share_milli,
                                  .pools = sp->pools[wl->flavor],
                                  .pool_count = sp->counts[wl->flavor]};
    fill_resources(w, sh, req);
    source_slice(w->s, sharing_tenant(w, ix), req);
}

static enum workload_kind held_as(const struct world *w, const struct workload *wl)
{
    if (wl->kind != WL_BASE)
        return (enum workload_kind)wl->kind;
    return w->lora->groups[w->lora->instances[wl->owner].group].serves ? WL_REPLICA : WL_JOB;
}

/* All workers. */
static bool take_nodes(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    struct place_request req;
    place_request_of(w, ix, &req);
    wl->lease = fleet_lease_open(w->fleet);
    if (promised_place(w, ix, wl->lease, &req, wl->workers, true) == wl->workers)
        return true;
    fleet_lease_close(w->fleet, wl->lease);
    wl->lease = (struct lease_id){0};
    return false;
}

static bool try_place(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    if (!take_nodes(w, ix))
        return false;
    int32_t parts;
    const struct lease_part *p = fleet_lease_parts(w->fleet, wl->lease, &parts);
    wl->pool = p[0].pool;
    for (int32_t i = 0; i < parts; i++)
        wl->milli += p[i].milli;
    wl->since = w->now;
    ledger_alloc_change(w->ledger, w->now, (uint32_t)wl->pool, wl->milli);
    w->held_milli[held_as(w, wl)] += wl->milli;
    lora_cards_change(w, ix, wl->milli);
    sharing_placed(w, ix);
    preemption_placed(w, ix);
    return true;
}

static void placed(struct world *w, uint32_t ix)
{
    if (w->wl[ix].kind == WL_BASE)
        lora_placed(w, ix);
    else if (w->wl[ix].kind == WL_REPLICA)
        replica_placed(w, ix);
    else
        job_placed(w, ix);
}

static int64_t unplaced_milli(const struct world *w, uint32_t ix)
{
    const struct shape *sh = &w->shapes[w->wl[ix].shape];
    return sh->request_milli / (sh->workers > 0 ? sh->workers : 1) * w->wl[ix].workers;
}

static uint32_t unplaced_pool(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    const struct source_pools *sp = &w->sources[w->shapes[wl->shape].source];
    return sp->counts[wl->flavor] > 0 ? (uint32_t)sp->pools[wl->flavor][0] : 0;
}

/* The last in the list that does not go after the workload, NONE32: it goes first. */
static uint32_t last_before(const struct world *w, uint32_t ix)
{
    uint32_t before = NONE32;
    for (uint32_t i = w->unplaced_head; i != NONE32 && !preemption_before(w, ix, i);
         i = w->wl[i].unplaced_next)
        before = i;
    return before;
}

static void unplaced_append(struct world *w, uint32_t ix)
{
    record_unplaced(w, ix);
    w->wl[ix].state = WL_UNPLACED;
    uint32_t before = w->unplaced_tail;
    if (before != NONE32 && preemption_before(w, ix, before))
        before = last_before(w, ix);
    uint32_t *link = before == NONE32 ? &w->unplaced_head : &w->wl[before].unplaced_next;
    w->wl[ix].unplaced_next = *link;
    *link = ix;
    if (w->unplaced_tail == before)
        w->unplaced_tail = ix;
    ledger_idle_input_change(w->ledger, w->now, unplaced_pool(w, ix), LEDGER_INPUT_UNPLACED,
                             unplaced_milli(w, ix));
}

static void unplaced_remove(struct world *w, uint32_t before, uint32_t ix)
{
    uint32_t next = w->wl[ix].unplaced_next;
    if (before == NONE32)
        w->unplaced_head = next;
    else
        w->wl[before].unplaced_next = next;
    if (w->unplaced_tail == ix)
        w->unplaced_tail = before;
    ledger_idle_input_change(w->ledger, w->now, unplaced_pool(w, ix), LEDGER_INPUT_UNPLACED,
                             -unplaced_milli(w, ix));
}

void place_forget(struct world *w, uint32_t ix)
{
    uint32_t before = NONE32;
    for (uint32_t i = w->unplaced_head; i != NONE32; before = i, i = w->wl[i].unplaced_next)
        if (i == ix) {
            unplaced_remove(w, before, ix);
            preemption_withdrawn(w, ix);
            return;
        }
}

void place_admitted(struct world *w, uint32_t ix, int32_t flavor, int32_t workers)
{
    struct workload *wl = &w->wl[ix];
    wl->flavor = flavor;
    wl->workers = workers;
    bool waits = preemption_on(w) && w->freed; /* behind those that made room */
    if (!waits && try_place(w, ix)) {
        placed(w, ix);
        return;
    }
    unplaced_append(w, ix);
    if (!waits)
        preemption_try(w, ix);
}

void place_again(struct world *w, uint32_t ix)
{
    unplaced_append(w, ix);
}

/* Shapes that found no place in this pass: smaller requests may, equal ones cannot, unless a node is promised. */
#define FAILED_MAX 16
struct failed_shapes {
    uint32_t shape[FAILED_MAX];
    int32_t flavor[FAILED_MAX];
    int count;
};

static bool failed_before(const struct failed_shapes *f, const struct workload *wl)
{
    for (int i = 0; wl->promised == 0 && i < f->count; i++)
        if (f->shape[i] == wl->shape && f->flavor[i] == wl->flavor)
            return true;
    return false;
}

static void retry(struct world *w)
{
    struct failed_shapes failed = {.count = 0};
    uint32_t before = NONE32;
    for (uint32_t i = w->unplaced_head; i != NONE32;) {
        uint32_t next = w->wl[i].unplaced_next;
        if (!failed_before(&failed, &w->wl[i]) && try_place(w, i)) {
            unplaced_remove(w, before, i);
            placed(w, i);
        } else {
            if (failed.count < FAILED_MAX && !failed_before(&failed, &w->wl[i])) {
                failed.shape[failed.count] = w->wl[i].shape;
                failed.flavor[failed.count++] = w->wl[i].flavor;
            }
            preemption_try(w, i);
            before = i;
        }
        i = next;
    }
}

void place_retry(struct world *w)
{
    if (!w->freed)
        return;
    do {
        w->freed = false;
        (void)promised_room(w);
        retry(w);
    } while (promised_room(w));
}

void place_release(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    if (wl->state == WL_UNPLACED) {
        place_forget(w, ix);
        return;
    }
    if (wl->lease.index1 == 0)
        return; /* holds nothing; a neighbour may use all of a slice, and a job of cpu has no cards */
    ledger_alloc_change(w->ledger, w->now, (uint32_t)wl->pool, -wl->milli);
    w->held_milli[held_as(w, wl)] -= wl->milli;
    lora_cards_change(w, ix, -wl->milli);
    sharing_released(w, ix);
    preemption_released(w, ix);
    fleet_release(w->fleet, wl->lease, -1);
    fleet_lease_close(w->fleet, wl->lease);
    wl->lease = (struct lease_id){0};
    wl->milli = 0;
    w->freed = true;
}
