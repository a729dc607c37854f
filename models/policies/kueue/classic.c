/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classical search for victims (spec 5.3). */
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/search.h"

enum { LIST_HIERARCHICAL, LIST_PRIORITY, LIST_SAME };
enum { VARIANT_OWN, VARIANT_HIERARCHICAL, VARIANT_NO_BORROW, VARIANT_WITH_BORROW };

struct drawn { /* what a candidate is to this search */
    uint8_t variant;
    enum policy_evict_reason reason;
};

static struct drawn draw(const struct kq_search *s, const struct kq_cursor *c,
                         const struct kq_wl *w)
{
    const struct policy_cluster_queue *spec = &s->cq->spec;
    const int64_t threshold = spec->max_priority_threshold;
    if (c->list == LIST_SAME)
        return (struct drawn){VARIANT_OWN, POLICY_EVICT_IN_CLUSTER_QUEUE};
    if (c->list == LIST_HIERARCHICAL)
        return (struct drawn){VARIANT_HIERARCHICAL, POLICY_EVICT_IN_COHORT_RECLAMATION};
    if (spec->borrow_within_cohort == POLICY_NEVER_PREEMPT || w->priority >= s->wl->priority ||
        (threshold != POLICY_NIL && w->priority > threshold))
        return (struct drawn){VARIANT_NO_BORROW, POLICY_EVICT_IN_COHORT_RECLAMATION};
    return (struct drawn){VARIANT_WITH_BORROW, POLICY_EVICT_IN_COHORT_RECLAIM_WHILE_BORROWING};
}

static void collect_below(struct kq *k, const struct kq_gather *g, struct kq_node *n,
                          const struct kq_node *except)
{
    const struct kq_search *s = g->s;
    for (uint32_t i = 0; i < n->queue_count; i++) {
        struct kq_node *q = n->queues[i];
        if (q != &s->cq->node && !kq_within_nominal(q, s->contested, s->contested_count))
            kq_cursor_add(k, g, k->cqs[q->id]);
    }
    for (uint32_t i = 0; i < n->cohort_count; i++) {
        struct kq_node *c = n->cohorts[i];
        if (c != except && !kq_within_nominal(c, s->contested, s->contested_count))
            collect_below(k, g, c, except);
    }
}

/* 3.5 fit_in_quota on all wanted frs; rest becomes what exceeds the node's guaranteed part. */
static bool fit_in_quota(struct kq *k, const struct kq_node *n)
{
    bool fit = true;
    for (size_t i = 0; i < k->rest.count; i++) {
        struct kq_request *r = &k->rest.v[i];
        const struct kq_quota *q = &n->q[r->fr];
        if (q->subtree < kq_plus(q->use, r->amount))
            fit = false;
        r->amount = kq_max(0, kq_minus(r->amount, kq_free_local(q)));
    }
    return fit;
}

static void collect_cohort(struct kq *k, const struct kq_search *s)
{
    k->rest.v = mem_grow(k->rest.v, &k->rest.capacity, s->want_count, sizeof *k->rest.v);
    k->rest.count = s->want_count;
    for (size_t i = 0; i < s->want_count; i++)
        k->rest.v[i] = s->want[i];
    struct kq_gather g = {.s = s, .policy = s->cq->spec.reclaim_within_cohort};
    bool advantage = fit_in_quota(k, &s->cq->node);
    const struct kq_node *previous = NULL;
    for (struct kq_node *a = s->cq->node.parent; a != NULL; a = a->parent) {
        g.ancestor = a;
        g.list = advantage ? LIST_HIERARCHICAL : LIST_PRIORITY;
        collect_below(k, &g, a, previous);
        advantage = fit_in_quota(k, a) || advantage;
        previous = a;
    }
}

static bool collect(struct kq *k, const struct kq_search *s)
{
    const struct policy_cluster_queue *spec = &s->cq->spec;
    if (s->cq->node.parent != NULL && spec->reclaim_within_cohort != POLICY_NEVER_PREEMPT)
        collect_cohort(k, s);
    const size_t others = k->cursors.count;
    const struct kq_gather own = {
        .s = s, .policy = spec->within_cluster_queue, .list = LIST_SAME};
    if (spec->within_cluster_queue != POLICY_NEVER_PREEMPT)
        kq_cursor_add(k, &own, s->cq);
    return others > 0;
}

/* Others' candidates are passed over once their queue, or a cohort between it and the common
 * ancestor, is back within its quota. Victims are only added, so that is for good. */
static bool back_within(const struct kq_search *s, const struct kq_cursor *c)
{
    if (c->list == LIST_SAME)
        return false;
    for (const struct kq_node *n = &c->cq->node; n != c->ancestor; n = n->parent)
        if (kq_within_nominal(n, s->contested, s->contested_count))
            return true;
    return false;
}

/* The whole list is of no use to an attempt that may borrow. */
static bool never_borrows(const struct kq_search *s, const struct kq_cursor *c, bool allow_borrow)
{
    return allow_borrow && c->list == LIST_PRIORITY &&
           s->cq->spec.borrow_within_cohort == POLICY_NEVER_PREEMPT;
}

struct attempt {
    const struct kq_search *s;
    bool allow_borrow;
};

static bool attempt_fits(struct kq *k, void *arg)
{
    const struct attempt *a = arg;
    return kq_search_fits(k, a->s, a->allow_borrow);
}

static bool attempt(struct kq *k, const struct kq_search *s, bool allow_borrow,
                    struct kq_targets *t)
{
    struct attempt a = {s, allow_borrow};
    bool ok = false;
    t->count = 0;
    kq_cursors_begin(k);
    while (k->cursors.heap_count > 0 && !ok) {
        struct kq_cursor *c = &k->cursors.v[k->cursors.heap[0]];
        const struct kq_wl *w = kq_wl(k, kq_cursor_at(c));
        if (never_borrows(s, c, allow_borrow) || back_within(s, c)) {
            kq_cursors_settle(k, true);
            continue;
        }
        const struct drawn d = draw(s, c, w);
        if (!(allow_borrow && d.variant == VARIANT_NO_BORROW)) {
            kq_take(k, w);
            kq_targets_push(t, w->id, d.reason);
            ok = kq_search_fits(k, s, allow_borrow);
        }
        const struct kq_gather g = {.s = s,
                                    .policy = c->list == LIST_SAME
                                                  ? s->cq->spec.within_cluster_queue
                                                  : s->cq->spec.reclaim_within_cohort};
        kq_cursor_step(k, &g, c);
        kq_cursors_settle(k, false);
    }
    if (ok)
        kq_fill_back(k, t, attempt_fits, &a);
    for (size_t i = t->count; i-- > 0;)
        kq_put(k, kq_wl(k, t->v[i].workload));
    return ok;
}

static bool below_nominal(const struct kq_search *s)
{
    for (size_t i = 0; i < s->contested_count; i++) {
        const struct kq_quota *q = &s->cq->node.q[s->contested[i]];
        if (q->use >= q->nominal)
            return false;
    }
    return true;
}

static bool any_hierarchical(const struct kq *k)
{
    for (size_t i = 0; i < k->cursors.count; i++)
        if (k->cursors.v[i].list == LIST_HIERARCHICAL)
            return true;
    return false;
}

bool kq_search_classic(struct kq *k, const struct kq_search *s, struct kq_targets *t)
{
    const bool others = collect(k, s);
    const bool never = s->cq->spec.borrow_within_cohort == POLICY_NEVER_PREEMPT;
    if (k->cursors.count == 0)
        return false;
    if (!others || (never && !below_nominal(s)))
        return attempt(k, s, true, t);
    const bool first = !(never && !any_hierarchical(k));
    return attempt(k, s, first, t) || attempt(k, s, !first, t);
}
