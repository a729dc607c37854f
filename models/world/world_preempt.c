/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/world_preempt.h"

#include <stdlib.h>

#include "models/fleet/preempt.h"
#include "models/world/promised.h"
#include "models/world/world_record.h"
#include "sim/check.h"
#include "sim/rng.h"

/* One worker of a workload on a node, in the lists of its node and of its workload. */
struct resident {
    uint32_t wl;
    int32_t part, node, pool;
    int64_t priority;
    int32_t next, prev;  /* on the node, -1 = end */
    int32_t sibling;     /* of the workload; in the free list the next free one */
    sim_time started;
};

struct level {
    int64_t priority, residents;
};

struct levels {
    struct level *items; /* by priority, ascending */
    size_t count, capacity;
};

/* Requests that found no victims; as long as nobody comes or goes they need not look again. */
#define IN_VAIN_MAX 16
struct in_vain {
    uint32_t shape;
    int32_t flavor, workers;
    int64_t priority;
};

struct preemption {
    struct preempt_view *view;
    struct rng rng;              /* where a search starts */
    struct resident *residents;
    size_t used, capacity;
    int32_t free_head;
    int32_t *node_head;          /* [node] */
    int32_t *wl_head;            /* [workload] */
    size_t wl_capacity;
    struct levels *levels;       /* [pool] residents by priority */
    struct in_vain in_vain[IN_VAIN_MAX];
    int in_vain_count;
    struct preempt_pod *pods, *best; /* scratch: pods of one node */
    size_t pods_capacity, best_capacity;
    struct lease_part *leaving;  /* scratch: parts of one node */
    size_t leaving_capacity;
    /* the plan: workloads that would go, nodes that workers would go to (one entry per worker) */
    uint32_t *victims;
    size_t victim_count, victim_capacity;
    int32_t *spots;
    size_t spot_count, spot_capacity;
    uint64_t evicted, gangs_broken;
    i128 gang_lost;              /* mcns */
};

static struct preemption *state_of(const struct world *w)
{
    return w->preemption;
}

bool preemption_on(const struct world *w)
{
    return w->preemption != NULL;
}

int64_t workload_priority(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    if (wl->kind > WL_REPLICA)
        return 0; /* instances of a LoRA base: neither victim nor preemptor */
    return wl->kind == WL_REPLICA ? w->services[wl->owner].cfg->priority
                                  : w->jobs[wl->owner].spec.priority;
}

bool preemption_before(const struct world *w, uint32_t a, uint32_t b)
{
    return preemption_on(w) && workload_priority(w, a) > workload_priority(w, b);
}

/* The loader refuses classes of one value with two policies. */
static bool may_preempt(const struct world *w, int64_t priority)
{
    const struct quota_config *q = &w->s->quota;
    for (int32_t i = 0; i < q->priority_class_count; i++)
        if (q->priority_classes[i].value == priority)
            return q->priority_classes[i].preemption_policy != PREEMPTION_POLICY_NEVER;
    return true;
}

/* ---- who is where ---- */

static void level_change(struct levels *l, int64_t priority, int64_t by)
{
    size_t i = 0;
    while (i < l->count && l->items[i].priority < priority)
        i++;
    if (i == l->count || l->items[i].priority != priority) {
        l->items = mem_grow(l->items, &l->capacity, l->count + 1, sizeof *l->items);
        for (size_t k = l->count++; k > i; k--)
            l->items[k] = l->items[k - 1];
        l->items[i] = (struct level){priority, 0};
    }
    l->items[i].residents += by;
}

static bool someone_below(const struct levels *l, int64_t priority)
{
    for (size_t i = 0; i < l->count && l->items[i].priority < priority; i++)
        if (l->items[i].residents > 0)
            return true;
    return false;
}

static struct in_vain ask_of(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    return (struct in_vain){wl->shape, wl->flavor, wl->workers, workload_priority(w, ix)};
}

static bool was_in_vain(const struct preemption *p, const struct in_vain *ask)
{
    for (int i = 0; i < p->in_vain_count; i++) {
        const struct in_vain *x = &p->in_vain[i];
        if (x->shape == ask->shape && x->flavor == ask->flavor && x->workers == ask->workers &&
            x->priority == ask->priority)
            return true;
    }
    return false;
}

static int32_t resident_new(struct preemption *p)
{
    int32_t r = p->free_head;
    if (r >= 0) {
        p->free_head = p->residents[r].sibling;
        return r;
    }
    p->residents = mem_grow(p->residents, &p->capacity, p->used + 1, sizeof *p->residents);
    return (int32_t)p->used++;
}

static void heads_grow(struct preemption *p, size_t need)
{
    size_t old = p->wl_capacity;
    p->wl_head = mem_grow(p->wl_head, &p->wl_capacity, need, sizeof *p->wl_head);
    for (size_t i = old; i < p->wl_capacity; i++)
        p->wl_head[i] = -1;
}

void preemption_placed(struct world *w, uint32_t ix)
{
    struct preemption *p = state_of(w);
    if (p == NULL || w->wl[ix].kind > WL_REPLICA)
        return;
    int32_t count;
    const struct lease_part *parts = fleet_lease_parts(w->fleet, w->wl[ix].lease, &count);
    promised_end(w, ix, parts, count);
    heads_grow(p, w->wl_count);
    p->in_vain_count = 0;
    int64_t priority = workload_priority(w, ix);
    for (int32_t i = 0; i < count; i++) {
        int32_t r = resident_new(p), node = parts[i].node, head = p->node_head[node];
        p->residents[r] = (struct resident){.wl = ix, .part = i, .node = node, .pool = parts[i].pool,
                                            .priority = priority, .next = head, .prev = -1,
                                            .sibling = p->wl_head[ix], .started = w->now};
        level_change(&p->levels[parts[i].pool], priority, 1);
        if (head >= 0)
            p->residents[head].prev = r;
        p->node_head[node] = r;
        p->wl_head[ix] = r;
    }
}

void preemption_released(struct world *w, uint32_t ix)
{
    struct preemption *p = state_of(w);
    if (p == NULL || ix >= p->wl_capacity)
        return;
    int32_t r = p->wl_head[ix];
    p->in_vain_count = 0;
    for (int32_t next; r >= 0; r = next) {
        struct resident *x = &p->residents[r];
        next = x->sibling;
        if (x->prev >= 0)
            p->residents[x->prev].next = x->next;
        else
            p->node_head[x->node] = x->next;
        if (x->next >= 0)
            p->residents[x->next].prev = x->prev;
        x->sibling = p->free_head;
        p->free_head = r;
        level_change(&p->levels[x->pool], x->priority, -1);
    }
    p->wl_head[ix] = -1;
    w->wl[ix].makes_room = false;
}

void preemption_withdrawn(struct world *w, uint32_t ix)
{
    struct preemption *p = state_of(w);
    if (p == NULL || w->wl[ix].promised == 0)
        return;
    p->in_vain_count = 0;
    promised_end(w, ix, NULL, 0);
}

/* ---- the plan ---- */

static bool planned(const struct preemption *p, uint32_t ix)
{
    for (size_t i = 0; i < p->victim_count; i++)
        if (p->victims[i] == ix)
            return true;
    return false;
}

static const struct lease_part *part_of(const struct world *w, const struct resident *r)
{
    int32_t count;
    return &fleet_lease_parts(w->fleet, w->wl[r->wl].lease, &count)[r->part];
}

const struct lease_part *preemption_leaving(struct world *w, int32_t node, int64_t priority, int32_t *count)
{
    struct preemption *p = state_of(w);
    *count = 0;
    for (int32_t r = p->node_head[node]; r >= 0; r = p->residents[r].next) {
        const struct resident *x = &p->residents[r];
        if (!w->wl[x->wl].makes_room || x->priority >= priority)
            continue;
        p->leaving = mem_grow(p->leaving, &p->leaving_capacity, (size_t)*count + 1, sizeof *p->leaving);
        p->leaving[(*count)++] = *part_of(w, x);
    }
    return p->leaving;
}

/* The node after the plan so far, beside what is promised to others. */
static void look(struct world *w, uint32_t ix, int32_t node, const struct place_request *req)
{
    struct preemption *p = state_of(w);
    preempt_look(p->view, node);
    promised_view(w, ix, p->view, node);
    for (int32_t r = p->node_head[node]; r >= 0 && p->victim_count > 0; r = p->residents[r].next)
        if (planned(p, p->residents[r].wl))
            preempt_without(p->view, part_of(w, &p->residents[r]));
    for (size_t i = 0; i < p->spot_count; i++)
        if (p->spots[i] == node)
            preempt_put(p->view, req);
}

/* Pods of the node that may go for this priority, into p->pods. */
static int32_t lower_pods(struct world *w, int32_t node, int64_t priority)
{
    struct preemption *p = state_of(w);
    int32_t n = 0;
    for (int32_t r = p->node_head[node]; r >= 0; r = p->residents[r].next) {
        const struct resident *x = &p->residents[r];
        if (x->priority >= priority || planned(p, x->wl))
            continue;
        p->pods = mem_grow(p->pods, &p->pods_capacity, (size_t)n + 1, sizeof *p->pods);
        p->pods[n++] = (struct preempt_pod){x->wl, x->priority, x->started, *part_of(w, x)};
    }
    return n;
}

static void plan_spot(struct preemption *p, int32_t node)
{
    p->spots = mem_grow(p->spots, &p->spot_capacity, p->spot_count + 1, sizeof *p->spots);
    p->spots[p->spot_count++] = node;
}

static void plan_victims(struct preemption *p, const struct preempt_pod *pods, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        if (planned(p, pods[i].id))
            continue;
        p->victims = mem_grow(p->victims, &p->victim_capacity, p->victim_count + 1, sizeof *p->victims);
        p->victims[p->victim_count++] = pods[i].id;
    }
}

/* Is there room where victims of the plan leave some? */
static bool plan_free_spot(struct world *w, uint32_t ix, const struct place_request *req)
{
    struct preemption *p = state_of(w);
    for (size_t i = 0; i < p->victim_count; i++)
        for (int32_t r = p->wl_head[p->victims[i]]; r >= 0; r = p->residents[r].sibling) {
            const struct lease_part *part = part_of(w, &p->residents[r]);
            if (part->pool != req->pools[0])
                continue;
            look(w, ix, part->node, req);
            if (preempt_fits(p->view, req)) {
                plan_spot(p, part->node);
                return true;
            }
        }
    return false;
}

/* One worker more, on the best of the candidates in the pool. */
static bool plan_worker(struct world *w, uint32_t ix, const struct place_request *req)
{
    struct preemption *p = state_of(w);
    int64_t priority = workload_priority(w, ix);
    int32_t first, nodes = preempt_pool_nodes(w->fleet, req->pools[0], &first);
    int32_t wanted = preempt_candidates(nodes), found = 0, node = -1, best_count = 0;
    struct preempt_rank best = {0, 0, 0, 0};
    if (nodes == 0)
        return false;
    int32_t offset = (int32_t)rng_below(&p->rng, (uint64_t)nodes);
    for (int32_t i = 0; i < nodes && found < wanted; i++) {
        int32_t at = first + (offset + i) % nodes, n = lower_pods(w, at, priority);
        if (n == 0)
            continue;
        look(w, ix, at, req);
        int32_t victims = preempt_victims(p->view, req, p->pods, n);
        if (victims == 0)
            continue;
        struct preempt_rank rank = preempt_rank_of(p->pods, victims);
        if (found++ > 0 && !preempt_better(&rank, &best))
            continue;
        best = rank;
        node = at;
        best_count = victims;
        p->best = mem_grow(p->best, &p->best_capacity, (size_t)victims, sizeof *p->best);
        for (int32_t k = 0; k < victims; k++)
            p->best[k] = p->pods[k];
    }
    if (node < 0)
        return false;
    plan_victims(p, p->best, best_count);
    plan_spot(p, node);
    return true;
}

/* Workers that have a place already are part of the plan. */
static void plan_placed(struct world *w, struct lease_id there, int32_t workers)
{
    int32_t count;
    const struct lease_part *parts = fleet_lease_parts(w->fleet, there, &count);
    for (int32_t i = 0; i < workers; i++)
        plan_spot(state_of(w), parts[i * (count / workers)].node);
}

/* All workers in this pool: those that fit already, then one by one. */
static bool plan_pool(struct world *w, uint32_t ix, struct place_request req, const int32_t *pool)
{
    struct preemption *p = state_of(w);
    const struct workload *wl = &w->wl[ix];
    if (!someone_below(&p->levels[*pool], workload_priority(w, ix)))
        return false;
    p->victim_count = p->spot_count = 0;
    req.pools = pool;
    req.pool_count = 1;
    struct lease_id there = fleet_lease_open(w->fleet);
    int32_t placed = wl->workers > 1 ? promised_place(w, ix, there, &req, wl->workers, false) : 0;
    bool ok = true;
    for (int32_t left = wl->workers - placed; ok && left > 0; left--)
        ok = plan_free_spot(w, ix, &req) || plan_worker(w, ix, &req);
    plan_placed(w, there, placed);
    fleet_lease_close(w->fleet, there);
    return ok && p->victim_count > 0;
}

/* ---- evicting ---- */

static void evict(struct world *w, uint32_t victim, uint32_t by)
{
    struct preemption *p = state_of(w);
    struct workload *wl = &w->wl[victim];
    wl->makes_room = true;
    if (wl->state == WL_DRAINING)
        return; /* goes already */
    p->evicted++;
    record_preempted(w, victim, by);
    if (wl->kind == WL_REPLICA) {
        replica_evicted(w, victim);
        return;
    }
    bool gang = w->jobs[wl->owner].spec.workers > 1;
    i128 lost = job_preempted(w, victim);
    p->gangs_broken += gang;
    p->gang_lost += gang ? lost : 0;
    admission_input(w, victim, POLICY_IN_UNREADY);
}

static bool plan(struct world *w, uint32_t ix)
{
    struct place_request req;
    place_request_of(w, ix, &req);
    for (int32_t i = 0; i < req.pool_count; i++)
        if (plan_pool(w, ix, req, &req.pools[i]))
            return true;
    return false;
}

/* The plan comes true, as far as that is up to the scheduler. */
static void carry_out(struct world *w, uint32_t ix)
{
    struct preemption *p = state_of(w);
    for (size_t i = 0; i < p->spot_count; i++) {
        uint32_t loser;
        while ((loser = promised_below(w, p->spots[i], workload_priority(w, ix))) != NONE32)
            preemption_withdrawn(w, loser);
        promise(w, ix, p->spots[i]);
    }
    for (size_t k = 0; k < p->victim_count; k++)
        evict(w, p->victims[k], ix);
}

void preemption_try(struct world *w, uint32_t ix)
{
    struct preemption *p = state_of(w);
    if (p == NULL || w->wl[ix].kind > WL_REPLICA || promised_waits(w, ix))
        return;
    struct in_vain ask = ask_of(w, ix);
    bool look = may_preempt(w, ask.priority) && !was_in_vain(p, &ask), found = look && plan(w, ix);
    preemption_withdrawn(w, ix); /* what it was promised did not do */
    if (found)
        carry_out(w, ix);
    else if (look && p->in_vain_count < IN_VAIN_MAX)
        p->in_vain[p->in_vain_count++] = ask;
}

/* ---- life ---- */

void preemption_init(struct world *w)
{
    if (!w->arb->scheduler_preemption)
        return;
    struct preemption *p = w->preemption = mem_zalloc(1, sizeof *p);
    int64_t nodes = 0;
    for (int32_t i = 0; i < w->s->fleet.pool_count; i++)
        nodes += w->s->fleet.pools[i].node_count;
    p->node_head = mem_alloc((size_t)nodes + 1, sizeof *p->node_head);
    for (int64_t n = 0; n < nodes; n++)
        p->node_head[n] = -1;
    p->free_head = -1;
    p->levels = mem_zalloc((size_t)w->s->fleet.pool_count + 1, sizeof *p->levels);
    p->view = preempt_open(w->fleet);
    promised_init(w, nodes);
    rng_open(&p->rng, w->s->seed, w->opt.replication, PURPOSE_PLACEMENT, 1);
}

void preemption_fini(struct world *w)
{
    struct preemption *p = state_of(w);
    if (p == NULL)
        return;
    preempt_close(p->view);
    promised_fini(w);
    free(p->leaving);
    free(p->residents);
    free(p->node_head);
    free(p->wl_head);
    for (int32_t i = 0; i < w->s->fleet.pool_count; i++)
        free(p->levels[i].items);
    free(p->levels);
    free(p->pods);
    free(p->best);
    free(p->victims);
    free(p->spots);
    free(p);
    w->preemption = NULL;
}

void preemption_emit(struct world *w)
{
    const struct preemption *p = state_of(w);
    if (p == NULL)
        return;
    results_metric(w, "all", "", "scheduler.preemptions", (double)p->evicted, false);
    results_metric(w, "all", "", "scheduler.gangs_broken", (double)p->gangs_broken, false);
    results_metric(w, "all", "", "scheduler.gang_lost", i128_card_hours(p->gang_lost), false);
}
