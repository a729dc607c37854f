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
};

static void as_fair(const struct kq_gather *g, const struct kq_wl *w, struct kq_cand *c)
{
    (void)g;
    (void)w;
    c->reason = POLICY_EVICT_IN_COHORT_FAIR_SHARING;
}

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
            kq_gather_queue(k, g, k->cqs[q->id]);
    }
    for (uint32_t i = 0; i < n->cohort_count; i++)
        collect_below(k, g, n->cohorts[i]);
}

static void collect(struct fair *f)
{
    const struct policy_cluster_queue *spec = &f->s->cq->spec;
    struct kq_gather g = {.s = f->s, .classify = as_fair};
    if (f->s->cq->node.parent != NULL && spec->reclaim_within_cohort != POLICY_NEVER_PREEMPT) {
        g.policy = spec->reclaim_within_cohort;
        g.list = LIST_OTHERS;
        collect_below(f->k, &g, f->root);
    }
    if (spec->within_cluster_queue != POLICY_NEVER_PREEMPT) {
        g.policy = spec->within_cluster_queue;
        g.list = LIST_OWN;
        kq_gather_queue(f->k, &g, f->s->cq);
    }
    kq_cands_sort(f->k);
}

/* Lists of candidates per queue, in sorted order: all, or those left for the second strategy. */
static void make_lists(struct kq *k, bool retry_only)
{
    k->stamp++;
    for (size_t i = 0; i < k->cands.count; i++)
        k->cands.v[i].cq->node.first = 0;
    for (size_t i = k->cands.count; i-- > 0;) {
        struct kq_cand *c = &k->cands.v[i];
        if (retry_only && !c->retry)
            continue;
        c->next = c->cq->node.first;
        c->cq->node.first = (uint32_t)i + 1;
    }
}

static struct kq_cand *pop(struct kq *k, struct kq_node *q)
{
    struct kq_cand *c = &k->cands.v[q->first - 1];
    q->first = c->next;
    return c;
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

static bool has_list(const struct fair *f, const struct kq_node *q)
{
    /* Queues without candidates in this search may hold an old list head. */
    return q->first > 0 && q->first <= f->k->cands.count &&
           &f->k->cands.v[q->first - 1].cq->node == q;
}

static struct kq_node *pick_queue(struct fair *f, struct kq_node *cohort, struct kq_share *share)
{
    struct kq_node *best = NULL;
    for (uint32_t i = 0; i < cohort->queue_count; i++) {
        struct kq_node *q = cohort->queues[i];
        if (q->mark == f->k->stamp)
            continue;
        if (!has_list(f, q)) {
            q->mark = f->k->stamp;
            continue;
        }
        const struct kq_share s = kq_share_of(q);
        if (!s.borrows && q != &f->s->cq->node) {
            q->mark = f->k->stamp;
            continue;
        }
        const int c = best == NULL ? 1 : kq_share_compare(s, *share);
        if (c > 0 || (c == 0 && q->first < best->first)) {
            best = q;
            *share = s;
        }
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
        return has_list(f, own) ? own : NULL;
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

static bool take(struct fair *f, const struct kq_cand *c, enum policy_evict_reason reason)
{
    kq_take(f->k, kq_wl(f->k, c->workload));
    kq_targets_push(f->t, c->workload, reason);
    return fits(f);
}

static struct kq_share share_without(struct fair *f, const struct kq_node *y, uint32_t workload)
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
    while (q->first != 0) {
        struct kq_cand *c = pop(f->k, q);
        if (!hopeless && strategy_allows(f, now, old, share_without(f, y, c->workload)))
            return take(f, c, POLICY_EVICT_IN_COHORT_FAIR_SHARING);
        c->retry = true;
    }
    return false;
}

static bool first_phase(struct fair *f)
{
    make_lists(f->k, false);
    for (struct kq_node *q; (q = pick(f)) != NULL;) {
        bool ok;
        if (q == &f->s->cq->node)
            ok = take(f, pop(f->k, q), POLICY_EVICT_IN_CLUSTER_QUEUE);
        else if (f->within)
            ok = take(f, pop(f->k, q), POLICY_EVICT_IN_COHORT_RECLAMATION);
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
    make_lists(f->k, true);
    for (struct kq_node *q, *x, *y; (q = pick(f)) != NULL; q->first = 0) {
        common_children(f, q, &x, &y);
        if (kq_share_compare(kq_share_of(x), kq_share_of(y)) < 0 &&
            take(f, pop(f->k, q), POLICY_EVICT_IN_COHORT_FAIR_SHARING))
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
    if (k->cands.count == 0)
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
