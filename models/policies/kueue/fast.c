/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/fast.h"

#include "models/policies/kueue/cycle.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/shape.h"
#include "models/policies/kueue/share.h"

enum { BOUNDS_MAX = 4 };

struct kq_bound { /* over classes that lack this resource: the least request, the best priority */
    uint32_t resource;
    int64_t least, priority;
    bool hard; /* some of them need NO_FIT_ON itself */
};

enum verdict { /* on one flavor, from worst to best */
    NO_FIT_ON, /* the mode is NoFit */
    NOBODY,    /* no candidates, or none that helps; reserves nothing */
    NOBODY_RESERVES,
    UNKNOWN
};

struct kq_share_pair {
    struct kq_share first, second;
    const struct kq_node *of; /* the queue with the highest share */
};

/* ---- facts about a tree ---- */

static int64_t lowest_priority(const struct kq *k, const struct kq_cq *cq)
{
    int64_t lowest = INT64_MAX;
    for (size_t i = 0; i < cq->live.count; i++) { /* evicted ones first, each part ascending */
        const struct kq_wl *w = kq_wl(k, cq->live.v[i]);
        lowest = w->priority < lowest ? w->priority : lowest;
        if (!w->evicted)
            break;
    }
    return lowest;
}

static void note_share(struct kq_share_pair *p, struct kq_node *n)
{
    const struct kq_share s = kq_share_of(n);
    if (!s.borrows)
        return;
    if (p->of == NULL || kq_share_compare(s, p->first) > 0) {
        p->second = p->first;
        p->first = s;
        p->of = n;
    } else if (kq_share_compare(s, p->second) > 0) {
        p->second = s;
    }
}

static void refresh_facts(struct kq *k, struct kq_tree *t)
{
    if (t->facts_version == t->version)
        return;
    t->facts_version = t->version;
    t->lowest_priority = INT64_MAX;
    t->flat = t->root->cohort_count == 0;
    if (t->shares == NULL)
        t->shares = arena_alloc(&k->build, 1, sizeof *t->shares);
    *t->shares = (struct kq_share_pair){.first = {0.0, 1.0, false}, .second = {0.0, 1.0, false}};
    for (uint32_t i = 0; i < t->queue_count; i++) {
        const int64_t p = lowest_priority(k, t->queues[i]);
        t->lowest_priority = p < t->lowest_priority ? p : t->lowest_priority;
        if (k->cfg.fair_sharing && t->flat && t->queues[i]->active)
            note_share(t->shares, &t->queues[i]->node);
    }
}

/* ---- proofs ---- */

static bool reachable(const struct kq_wl *w, int64_t priority, enum policy_preemption policy)
{
    switch (policy) {
    case POLICY_LOWER_PRIORITY:
        return w->priority < priority;
    case POLICY_LOWER_OR_NEWER_EQUAL:
        return w->priority <= priority;
    case POLICY_ANY:
        return true;
    case POLICY_NEVER_PREEMPT:
    case POLICY_UNSET:
        break;
    }
    return false;
}

static int64_t sum_own(const struct kq *k, const struct kq_cq *cq, uint32_t fr, int64_t priority)
{
    const enum policy_preemption policy = cq->spec.within_cluster_queue;
    int64_t sum = 0;
    for (size_t i = 0; i < cq->live.count; i++) {
        const struct kq_wl *w = kq_wl(k, cq->live.v[i]);
        if (!reachable(w, priority, policy)) {
            if (!w->evicted)
                break; /* sorted by priority */
            continue;
        }
        for (size_t u = 0; u < w->use_count; u++)
            sum = kq_plus(sum, w->use[u].fr == fr ? w->use[u].amount : 0);
    }
    return sum;
}

/* What its own workloads of lower priority hold; remembered until the queue's list changes. */
static int64_t own_reach(const struct kq *k, struct kq_cq *cq, uint32_t fr, int64_t priority)
{
    struct kq_reach *r = &cq->reach[((uint64_t)priority * 7 + fr) % KQ_REACH];
    if (r->serial != cq->live_serial || r->fr != fr || r->priority != priority)
        *r = (struct kq_reach){cq->live_serial, priority, sum_own(k, cq, fr, priority), fr};
    return r->sum;
}

/* Classical: others' candidates only help with rights below the root, by priority, or where the
 * queue gets back within its nominal quota. own: what its own candidates hold. */
static bool others_useless_classic(struct kq *k, const struct kq_cq *cq, uint32_t fr, int64_t v,
                                   int64_t priority, int64_t own)
{
    const struct kq_quota *q = &cq->node.q[fr];
    bool may_reclaim;
    kq_borrow_level(&cq->node, fr, v, &may_reclaim);
    if (may_reclaim)
        return false;
    if (cq->spec.borrow_within_cohort == POLICY_NEVER_PREEMPT)
        return q->use >= q->nominal || kq_plus(kq_minus(q->use, own), v) > q->nominal;
    refresh_facts(k, cq->node.tree);
    return own == 0 && cq->node.tree->lowest_priority >= priority;
}

/* Fair sharing: with v, and without all its own candidates, the queue's share is still above
 * every other one, so both strategies refuse. */
static bool others_useless_fair(struct kq *k, const struct kq_cq *cq, uint32_t fr, int64_t v,
                                int64_t priority, int64_t own)
{
    struct kq_tree *t = cq->node.tree;
    const struct kq_quota *q = &cq->node.q[fr];
    refresh_facts(k, t);
    if (cq->spec.reclaim_within_cohort == POLICY_LOWER_PRIORITY && own == 0 &&
        t->lowest_priority >= priority)
        return true;
    const int64_t over = kq_minus(kq_plus(kq_minus(q->use, own), v), q->subtree);
    if (!t->flat || kq_plus(q->use, v) <= q->nominal || over <= 0)
        return false;
    const double lend = cq->node.parent->lend[t->frs[fr].resource];
    const struct kq_share least = {lend > 0.0 ? (double)over * 1000.0 / lend : 0.0,
                                   cq->node.weight, true};
    return kq_share_compare(least, t->shares->of == &cq->node ? t->shares->second
                                                              : t->shares->first) > 0;
}

/* Its own borrowingLimit stands in the way: whatever others give back does not help. (3.3: the limit
 * leaves subtree + borrowingLimit - use, whether or not a part of the quota is never lent.) */
static bool limit_forbids(const struct kq_quota *q, int64_t v, int64_t own)
{
    return q->borrow != POLICY_NIL &&
           v > kq_plus(kq_minus(kq_plus(q->subtree, q->borrow), q->use), own);
}

/* v on one (flavor, resource) of the queue at this priority. */
static enum verdict prove(struct kq *k, struct kq_cq *cq, uint32_t fr, int64_t v, int64_t priority)
{
    const struct kq_quota *q = &cq->node.q[fr];
    bool may_reclaim;
    if (v > q->potential)
        return NO_FIT_ON;
    if (v <= kq_avail(cq, fr))
        return UNKNOWN;
    kq_borrow_level(&cq->node, fr, v, &may_reclaim);
    const bool never = cq->spec.reclaim_within_cohort == POLICY_NEVER_PREEMPT;
    if (q->nominal < v && !may_reclaim &&
        cq->spec.borrow_within_cohort == POLICY_NEVER_PREEMPT && (never || !k->cfg.fair_sharing))
        return NO_FIT_ON; /* nobody is looked for (4.4) */
    const int64_t own = own_reach(k, cq, fr, priority);
    if (v <= kq_plus(kq_available(&cq->node, fr), own))
        return UNKNOWN;
    if (cq->node.parent != NULL && !never && !limit_forbids(q, v, own) &&
        !(k->cfg.fair_sharing ? others_useless_fair(k, cq, fr, v, priority, own)
                              : others_useless_classic(k, cq, fr, v, priority, own)))
        return UNKNOWN;
    return cq->spec.reclaim_within_cohort == POLICY_ANY ? NOBODY : NOBODY_RESERVES;
}

static bool usable(const struct kq *k, const struct kq_cq *cq)
{
    return k->fast && !cq->split && cq->matches && cq->active && !cq->has_topology &&
           cq->spec.queueing == POLICY_BEST_EFFORT_FIFO && !cq->node.tree->by_usage;
}

static enum verdict worse(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

/* On all flavors of the resource group of r (index into the plan group). */
static enum verdict prove_resource(struct kq *k, struct kq_cq *cq, const struct kq_plan_group *g,
                                   uint32_t r, int64_t priority)
{
    const uint32_t rg = (uint32_t)g->resources[r].group;
    const struct kq_cq_group *group = &cq->groups[rg];
    enum verdict all = NO_FIT_ON;
    for (uint32_t f = 0; f < group->flavor_count && all != UNKNOWN; f++)
        if (g->flavor_ok[rg] >> f & 1)
            all = worse(all, prove(k, cq,
                                   group->frs[(size_t)f * group->resource_count +
                                              g->resources[r].slot],
                                   g->want[r], priority));
    return all;
}

/* Only a failure of the flavors themselves is sure to leave no scan progress behind where other
 * resource groups or pod sets get a flavor too (4.6). */
static bool needs_no_fit(const struct kq *k, const struct kq_plan *p)
{
    const struct kq_plan_group *g = &p->groups[0];
    bool several = p->group_count > 1 || !k->gate[KQ_FLAVOR_FUNGIBILITY];
    for (uint32_t r = 1; r < g->resource_count; r++)
        several |= g->resources[r].group != g->resources[0].group;
    return several;
}

static enum kq_proof as_proof(enum verdict v, bool hard)
{
    if (v == NO_FIT_ON)
        return KQ_WAITS;
    if (v == UNKNOWN || hard)
        return KQ_OPEN;
    return v == NOBODY ? KQ_WAITS : KQ_RESERVES;
}

enum kq_proof kq_prove_class(struct kq *k, struct kq_cq *cq, struct kq_class *c, uint32_t *resource)
{
    const struct kq_shape *s = k->shapes[c->shape];
    k->counts.proofs++;
    if (!usable(k, cq) || s->reducible || s->topology || c->progress > 0)
        return KQ_OPEN;
    if (c->plan == NULL)
        c->plan = kq_plan_make(k, cq, s);
    const struct kq_plan_group *g = &c->plan->groups[0];
    const bool hard = needs_no_fit(k, c->plan);
    for (uint32_t r = 0; r < g->resource_count; r++) {
        if (g->resources[r].group < 0)
            continue;
        const enum kq_proof p = as_proof(prove_resource(k, cq, g, r, c->priority), hard);
        *resource = r;
        if (p != KQ_OPEN)
            return p;
    }
    return KQ_OPEN;
}

/* ---- parked classes of a queue ---- */

void kq_parked_changed(struct kq_cq *cq)
{
    cq->bounds_stale = true;
}

static bool add_bound(struct kq_cq *cq, struct kq_bound one)
{
    for (uint32_t i = 0; i < cq->bound_count; i++) {
        struct kq_bound *b = &cq->bounds[i];
        if (b->resource != one.resource)
            continue;
        b->least = one.least < b->least ? one.least : b->least;
        b->priority = one.priority > b->priority ? one.priority : b->priority;
        b->hard |= one.hard;
        return true;
    }
    if (cq->bound_count == BOUNDS_MAX)
        return false;
    cq->bounds[cq->bound_count++] = one;
    return true;
}

/* Proves each parked class by itself, and remembers the bounds that proved them. */
static enum kq_proof prove_each(struct kq *k, struct kq_cq *cq)
{
    enum kq_proof worst = KQ_WAITS;
    if (cq->bounds == NULL)
        cq->bounds = arena_alloc(&k->build, BOUNDS_MAX, sizeof *cq->bounds);
    cq->bound_count = 0;
    cq->provable = false;
    for (size_t i = 0; i < cq->parked.count; i++) {
        struct kq_class *c = &k->classes[k->groups[cq->parked.v[i]].cls];
        uint32_t r = 0;
        const enum kq_proof p =
            c->blocked_epoch == cq->epoch ? kq_prove_class(k, cq, c, &r) : KQ_OPEN;
        if (p == KQ_OPEN)
            return KQ_OPEN;
        worst = p == KQ_WAITS ? worst : p;
        const struct kq_plan_group *g = &c->plan->groups[0];
        const struct kq_bound one = {g->resources[r].resource, g->want[r], c->priority,
                                     needs_no_fit(k, c->plan)};
        if (!add_bound(cq, one))
            return KQ_OPEN;
    }
    cq->provable = true;
    cq->bounds_stale = false;
    return worst;
}

/* The bounds alone: no class can need less, or have a better priority. */
static enum kq_proof prove_bounds(struct kq *k, struct kq_cq *cq)
{
    enum kq_proof worst = KQ_WAITS;
    k->counts.proofs++;
    for (uint32_t i = 0; i < cq->bound_count; i++) {
        const struct kq_bound *b = &cq->bounds[i];
        const struct kq_cq_group *g = &cq->groups[cq->group_of[b->resource]];
        uint32_t slot = 0;
        while (g->resources[slot] != b->resource)
            slot++;
        for (uint32_t f = 0; f < g->flavor_count; f++) {
            const enum kq_proof p =
                as_proof(prove(k, cq, g->frs[(size_t)f * g->resource_count + slot], b->least,
                               b->priority),
                         b->hard);
            if (p == KQ_OPEN)
                return KQ_OPEN;
            worst = p == KQ_WAITS ? worst : p;
        }
    }
    return worst;
}

enum kq_proof kq_prove_parked(struct kq *k, struct kq_cq *cq)
{
    if (!usable(k, cq) || cq->emptied || cq->heap_count > 0)
        return KQ_OPEN;
    if (!cq->bounds_stale && cq->provable) {
        const enum kq_proof p = prove_bounds(k, cq);
        if (p != KQ_OPEN)
            return p;
    }
    return prove_each(k, cq);
}

/* ---- heads in a cycle ---- */

static void note_waiting(struct kq *k, struct kq_class *c)
{
    if (c->has_reason && c->reason.wait == POLICY_WAIT_QUOTA) {
        c->reason.repeats++;
        return;
    }
    kq_note_proven(k, c);
}

bool kq_park_proven(struct kq *k, struct kq_ids *order)
{
    size_t kept = 0;
    for (size_t i = 0; i < order->count; i++) {
        struct kq_cq *cq = k->cqs[order->v[i]];
        uint32_t r;
        struct kq_class *c = &k->classes[kq_wl(k, kq_top(k, cq))->cls];
        cq->proof = (uint8_t)kq_prove_class(k, cq, c, &r);
        if (cq->proof == KQ_OPEN)
            cq->node.tree->open_cycle = k->cycle;
    }
    for (size_t i = 0; i < order->count; i++) {
        struct kq_cq *cq = k->cqs[order->v[i]];
        if (cq->proof == KQ_OPEN ||
            (cq->proof == KQ_RESERVES && cq->node.tree->open_cycle == k->cycle)) {
            order->v[kept++] = order->v[i];
            continue;
        }
        const uint32_t cls = kq_wl(k, kq_top(k, cq))->cls;
        note_waiting(k, &k->classes[cls]);
        kq_park_class(k, cls);
        k->counts.proven++;
        cq->node.tree->moved = true;
    }
    const bool any = kept < order->count;
    order->count = kept;
    return any;
}
