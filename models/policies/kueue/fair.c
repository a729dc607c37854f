/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fair-sharing search for victims (spec 5.6). */
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/search.h"
#include "models/policies/kueue/share.h"
#include "models/policies/kueue/walk.h"

struct fair {
    struct kq *k;
    const struct kq_search *s;
    struct kq_targets *t;
    struct kq_walk walk;
    bool within;
};

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

/* Share of y if the workload, of queue q below it or y itself, were gone. */
static uint64_t share_without(struct fair *f, struct kq_node *y, struct kq_node *q, uint32_t workload)
{
    const struct kq_wl *w = kq_wl(f->k, workload);
    if (y == q)
        return kq_share_key_without(q, w->use, w->use_count);
    for (size_t i = 0; i < w->use_count; i++)
        kq_remove(q, w->use[i].fr, w->use[i].amount);
    const uint64_t s = kq_share_key_of(y);
    for (size_t i = 0; i < w->use_count; i++)
        kq_add(q, w->use[i].fr, w->use[i].amount);
    return s;
}

/* The first strategy is sure to refuse every candidate of q. */
static bool refuses_all(struct fair *f, struct kq_node *q, struct kq_node *y, uint64_t now)
{
    const uint64_t old = kq_share_key_of(y);
    if (f->k->strategies[0] != POLICY_LESS_OR_EQUAL_FINAL_SHARE)
        return now >= old;
    return now > old || (y != q && kq_walk_refused(&f->walk, q, y, now));
}

/* Takes candidates of another queue while the first strategy allows; true: it fits. A share does
 * not grow when a workload goes, so nobody is allowed where it is too low before. Then the side of the
 * preemptor has no more candidates: with its higher share they would come first. So nothing changes
 * there, and nobody is allowed on any other side, as their shares are lower still. */
static bool take_by_share(struct fair *f, struct kq_node *q)
{
    struct kq_node *x, *y;
    common_children(f, q, &x, &y);
    const uint64_t now = kq_share_key_of(x);
    const bool final = f->k->strategies[0] == POLICY_LESS_OR_EQUAL_FINAL_SHARE;
    if (refuses_all(f, q, y, now)) {
        kq_walk_leave(&f->walk, q, kq_walk_first(&f->walk, q));
        kq_walk_close(&f->walk, q);
        if (now > kq_share_key_of(y))
            kq_walk_close_below(&f->walk, y->parent, x != &f->s->cq->node);
        return false;
    }
    for (uint32_t id; (id = kq_walk_first(&f->walk, q)) != POLICY_NONE;) {
        kq_walk_pop(&f->walk, q);
        if (!final || now <= share_without(f, y, q, id))
            return take(f, id, POLICY_EVICT_IN_COHORT_FAIR_SHARING);
        kq_walk_leave(&f->walk, q, id);
    }
    return false;
}

static bool first_phase(struct fair *f)
{
    for (struct kq_node *q; (q = kq_walk_pick(&f->walk)) != NULL;) {
        bool ok;
        if (q == &f->s->cq->node)
            ok = take(f, kq_walk_pop(&f->walk, q), POLICY_EVICT_IN_CLUSTER_QUEUE);
        else if (f->within)
            ok = take(f, kq_walk_pop(&f->walk, q), POLICY_EVICT_IN_COHORT_RECLAMATION);
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
    kq_walk_second(&f->walk);
    for (struct kq_node *q, *x, *y; (q = kq_walk_pick(&f->walk)) != NULL;) {
        const uint32_t id = kq_walk_pop(&f->walk, q);
        common_children(f, q, &x, &y);
        const uint64_t now = kq_share_key_of(x), old = kq_share_key_of(y);
        if (now < old && take(f, id, POLICY_EVICT_IN_COHORT_FAIR_SHARING))
            return true;
        if (now > old)
            kq_walk_close_below(&f->walk, y->parent, false);
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
    struct fair f = {.k = k, .s = s, .t = t};
    if (!kq_walk_begin(&f.walk, k, s))
        return false;
    want(&f, true);
    f.within = within_nominal(&f);
    f.walk.final_share = !f.within && k->strategies[0] == POLICY_LESS_OR_EQUAL_FINAL_SHARE;
    const bool ok = first_phase(&f) || second_phase(&f);
    want(&f, false);
    if (ok)
        kq_fill_back(k, t, fits_without, &f);
    for (size_t i = t->count; i-- > 0;)
        kq_put(k, kq_wl(k, t->v[i].workload));
    kq_walk_end(&f.walk);
    return ok;
}
