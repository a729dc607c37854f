/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fair-sharing search for victims (spec 5.6). */
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/search.h"
#include "models/policies/kueue/share.h"

enum { LIST_OTHERS, LIST_OWN };

struct fair {
    struct kq *k;
    const struct kq_search *s;
    struct kq_targets *t;
    struct kq_node *root;
    bool within;
    bool second; /* the second strategy draws from what the first one left */
};

static bool borrows_contested(const struct kq_search *s, const struct kq_node *q)
{
    for (size_t i = 0; i < s->contested_count; i++)
        if (kq_borrowing_with(q, s->contested[i], 0))
            return true;
    return false;
}

static void collect_below(struct kq *k, const struct kq_gather *g, struct kq_node *n)
{
    for (uint32_t i = 0; i < n->queue_count; i++) {
        struct kq_node *q = n->queues[i];
        if (q != &g->s->cq->node && borrows_contested(g->s, q))
            kq_cursor_add(k, g, k->cqs[q->id]);
    }
    for (uint32_t i = 0; i < n->cohort_count; i++)
        collect_below(k, g, n->cohorts[i]);
}

static void collect(struct fair *f)
{
    const struct policy_cluster_queue *spec = &f->s->cq->spec;
    struct kq_gather g = {.s = f->s};
    if (f->s->cq->node.parent != NULL && spec->reclaim_within_cohort != POLICY_NEVER_PREEMPT) {
        g.policy = spec->reclaim_within_cohort;
        g.list = LIST_OTHERS;
        collect_below(f->k, &g, f->root);
    }
    if (spec->within_cluster_queue != POLICY_NEVER_PREEMPT) {
        g.policy = spec->within_cluster_queue;
        g.list = LIST_OWN;
        kq_cursor_add(f->k, &g, f->s->cq);
    }
}

/* Each queue finds its candidates; nothing is pruned. */
static void begin_walk(struct fair *f)
{
    struct kq *k = f->k;
    k->stamp++;
    k->open.count = 0;
    for (size_t i = 0; i < k->cursors.count; i++) {
        struct kq_node *q = &k->cursors.v[i].cq->node;
        q->cursor = (uint32_t)i + 1;
        kq_ids_push(&k->open, (uint32_t)i);
        if (!f->second)
            q->retry = q->last_retry = 0;
    }
}

/* First candidate of a queue, POLICY_NONE if it has no more. */
static uint32_t first_of(const struct fair *f, const struct kq_node *q)
{
    const struct kq_cursors *all = &f->k->cursors;
    if (q->cursor == 0 || q->cursor > all->count || &all->v[q->cursor - 1].cq->node != q)
        return POLICY_NONE; /* it has none in this search */
    if (f->second)
        return q->retry == 0 ? POLICY_NONE : f->k->retries[q->retry - 1].workload;
    return kq_cursor_at(&all->v[q->cursor - 1]);
}

static uint32_t pop(struct fair *f, struct kq_node *q)
{
    const uint32_t id = first_of(f, q);
    if (f->second) {
        q->retry = f->k->retries[q->retry - 1].next;
        return id;
    }
    const struct kq_gather g = {.s = f->s,
                                .policy = q == &f->s->cq->node
                                              ? f->s->cq->spec.within_cluster_queue
                                              : f->s->cq->spec.reclaim_within_cohort};
    kq_cursor_step(f->k, &g, &f->k->cursors.v[q->cursor - 1]);
    return id;
}

static void leave_for_second(struct fair *f, struct kq_node *q, uint32_t workload)
{
    struct kq *k = f->k;
    k->retries = mem_grow(k->retries, &k->retry_capacity, k->retry_count + 1, sizeof *k->retries);
    k->retries[k->retry_count++] = (struct kq_retry){workload, 0};
    const uint32_t at = (uint32_t)k->retry_count;
    if (q->last_retry != 0)
        k->retries[q->last_retry - 1].next = at;
    else
        q->retry = at;
    q->last_retry = at;
}

/* 5.2 between the first candidates of two queues. */
static bool first_before(const struct fair *f, const struct kq_node *a, const struct kq_node *b)
{
    const struct kq_wl *v = kq_wl(f->k, first_of(f, a)), *w = kq_wl(f->k, first_of(f, b));
    const struct kq_node *own = &f->s->cq->node;
    if (v->evicted != w->evicted)
        return v->evicted;
    if ((a == own) != (b == own))
        return b == own;
    if (v->priority != w->priority)
        return v->priority < w->priority;
    if (v->reserved_s != w->reserved_s)
        return v->reserved_s > w->reserved_s;
    return v->uid_order < w->uid_order;
}

static void want(struct fair *f, bool add)
{
    for (size_t i = 0; i < f->s->want_count; i++) {
        if (add)
            kq_add(&f->s->cq->node, f->s->want[i].fr, f->s->want[i].amount);
        else
            kq_remove(&f->s->cq->node, f->s->want[i].fr, f->s->want[i].amount);
    }
}

static bool fits(struct fair *f)
{
    want(f, false);
    const bool ok = kq_search_fits(f->k, f->s, true);
    want(f, true);
    return ok;
}

static bool fits_without(struct kq *k, void *arg)
{
    const struct fair *f = arg;
    return kq_search_fits(k, f->s, true);
}

static bool is_ancestor(const struct kq_node *a, const struct kq_node *n)
{
    for (n = n->parent; n != NULL; n = n->parent)
        if (n == a)
            return true;
    return false;
}

static struct kq_node *pick_queue(struct fair *f, struct kq_node *cohort, struct kq_share *share)
{
    struct kq_node *best = NULL;
    for (uint32_t i = 0; i < cohort->queue_count; i++) {
        struct kq_node *q = cohort->queues[i];
        if (q->mark == f->k->stamp)
            continue;
        if (first_of(f, q) == POLICY_NONE) {
            q->mark = f->k->stamp;
            continue;
        }
        const struct kq_share s = kq_share_of(q);
        if (!s.borrows && q != &f->s->cq->node) {
            q->mark = f->k->stamp;
            continue;
        }
        const int c = best == NULL ? 1 : kq_share_compare(s, *share);
        if (c > 0 || (c == 0 && first_before(f, q, best))) {
            best = q;
            *share = s;
        }
    }
    return best;
}

/* The same where all queues hang on the root: what is pruned leaves the list. The choice does not
 * depend on its order, as no two candidates are equal. */
static struct kq_node *pick_flat(struct fair *f)
{
    struct kq_ids *open = &f->k->open;
    struct kq_node *best = NULL;
    struct kq_share share = {0};
    for (size_t i = 0; i < open->count;) {
        struct kq_node *q = &f->k->cursors.v[open->v[i]].cq->node;
        const struct kq_share s = kq_share_of(q);
        if ((!s.borrows && q != &f->s->cq->node) || first_of(f, q) == POLICY_NONE) {
            open->v[i] = open->v[--open->count];
            continue;
        }
        const int c = best == NULL ? 1 : kq_share_compare(s, share);
        if (c > 0 || (c == 0 && first_before(f, q, best))) {
            best = q;
            share = s;
        }
        i++;
    }
    return best;
}

static struct kq_node *pick_cohort(struct fair *f, struct kq_node *cohort, struct kq_share *share)
{
    struct kq_node *best = NULL;
    for (uint32_t i = 0; i < cohort->cohort_count; i++) {
        struct kq_node *h = cohort->cohorts[i];
        if (h->mark == f->k->stamp)
            continue;
        const struct kq_share s = kq_share_of(h);
        if (!s.borrows && !is_ancestor(h, &f->s->cq->node)) {
            h->mark = f->k->stamp;
            continue;
        }
        if (best == NULL || kq_share_compare(s, *share) >= 0) {
            best = h;
            *share = s;
        }
    }
    return best;
}

/* One walk from a cohort down; NULL when the cohort has nothing left and was pruned. */
static struct kq_node *walk(struct fair *f, struct kq_node *cohort)
{
    for (;;) {
        struct kq_share qs = {0}, hs = {0};
        struct kq_node *q = pick_queue(f, cohort, &qs);
        struct kq_node *h = pick_cohort(f, cohort, &hs);
        if (q == NULL && h == NULL) {
            cohort->mark = f->k->stamp;
            return NULL;
        }
        if (h == NULL || (q != NULL && kq_share_compare(hs, qs) < 0))
            return q;
        cohort = h;
    }
}

/* Next queue to take a victim from; NULL: all is pruned. */
static struct kq_node *pick(struct fair *f)
{
    struct kq_node *own = &f->s->cq->node;
    if (own->parent == NULL)
        return first_of(f, own) != POLICY_NONE ? own : NULL;
    if (f->root->cohort_count == 0)
        return pick_flat(f);
    while (f->root->mark != f->k->stamp) {
        struct kq_node *q = walk(f, f->root);
        if (q != NULL)
            return q;
    }
    return NULL;
}

/* The children of the lowest common ancestor on the way to the preemptor and to q. */
static void common_children(const struct fair *f, struct kq_node *q, struct kq_node **x,
                            struct kq_node **y)
{
    *y = q;
    while (!is_ancestor((*y)->parent, &f->s->cq->node))
        *y = (*y)->parent;
    *x = &f->s->cq->node;
    while ((*x)->parent != (*y)->parent)
        *x = (*x)->parent;
}

static bool take(struct fair *f, uint32_t workload, enum policy_evict_reason reason)
{
    kq_take(f->k, kq_wl(f->k, workload));
    kq_targets_push(f->t, workload, reason);
    return fits(f);
}

static struct kq_share share_without(struct fair *f, struct kq_node *y, uint32_t workload)
{
    const struct kq_wl *w = kq_wl(f->k, workload);
    struct kq_node *q = &f->k->cqs[w->cq]->node;
    for (size_t i = 0; i < w->use_count; i++)
        kq_remove(q, w->use[i].fr, w->use[i].amount);
    const struct kq_share s = kq_share_of(y);
    for (size_t i = 0; i < w->use_count; i++)
        kq_add(q, w->use[i].fr, w->use[i].amount);
    return s;
}

static bool strategy_allows(const struct fair *f, struct kq_share now, struct kq_share old,
                            struct kq_share after)
{
    if (f->k->strategies[0] == POLICY_LESS_OR_EQUAL_FINAL_SHARE)
        return kq_share_compare(now, after) <= 0;
    return kq_share_compare(now, old) < 0;
}

/* Takes candidates of another queue while the first strategy allows; true: it fits. */
static bool take_by_share(struct fair *f, struct kq_node *q)
{
    struct kq_node *x, *y;
    common_children(f, q, &x, &y);
    const struct kq_share now = kq_share_of(x), old = kq_share_of(y);
    const bool hopeless = kq_share_infinite(now) && !kq_share_infinite(old);
    while (first_of(f, q) != POLICY_NONE) {
        const uint32_t id = pop(f, q);
        if (!hopeless && strategy_allows(f, now, old, share_without(f, y, id)))
            return take(f, id, POLICY_EVICT_IN_COHORT_FAIR_SHARING);
        leave_for_second(f, q, id);
    }
    return false;
}

static bool first_phase(struct fair *f)
{
    f->k->retry_count = 0;
    begin_walk(f);
    for (struct kq_node *q; (q = pick(f)) != NULL;) {
        bool ok;
        if (q == &f->s->cq->node)
            ok = take(f, pop(f, q), POLICY_EVICT_IN_CLUSTER_QUEUE);
        else if (f->within)
            ok = take(f, pop(f, q), POLICY_EVICT_IN_COHORT_RECLAMATION);
        else
            ok = take_by_share(f, q);
        if (ok)
            return true;
    }
    return false;
}

static bool second_phase(struct fair *f)
{
    if (f->k->strategy_count < 2)
        return false;
    f->second = true;
    begin_walk(f);
    for (struct kq_node *q, *x, *y; (q = pick(f)) != NULL; q->retry = 0) {
        common_children(f, q, &x, &y);
        if (kq_share_compare(kq_share_of(x), kq_share_of(y)) < 0 &&
            take(f, pop(f, q), POLICY_EVICT_IN_COHORT_FAIR_SHARING))
            return true;
    }
    return false;
}

static bool within_nominal(const struct fair *f)
{
    if (!f->k->gate[KQ_FS_WITHIN_NOMINAL])
        return false;
    for (size_t i = 0; i < f->s->contested_count; i++) {
        const struct kq_quota *q = &f->s->cq->node.q[f->s->contested[i]];
        if (q->use > q->nominal)
            return false;
    }
    return true;
}

bool kq_search_fair(struct kq *k, const struct kq_search *s, struct kq_targets *t)
{
    struct fair f = {.k = k, .s = s, .t = t, .root = s->cq->node.tree->root};
    collect(&f);
    if (k->cursors.count == 0)
        return false;
    want(&f, true);
    f.within = within_nominal(&f);
    const bool ok = first_phase(&f) || second_phase(&f);
    want(&f, false);
    if (ok)
        kq_fill_back(k, t, fits_without, &f);
    for (size_t i = t->count; i-- > 0;)
        kq_put(k, kq_wl(k, t->v[i].workload));
    return ok;
}
