/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Order in which the entries of a cycle are processed (spec 2.7). */
#include <string.h>

#include "models/policies/kueue/cycle.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/share.h"

/* ---- classical ---- */

static bool before(const struct kq *k, uint32_t a, uint32_t b)
{
    const struct kq_cq *p = k->cqs[a], *q = k->cqs[b];
    const struct kq_wl *v = kq_wl(k, p->entry.workload), *w = kq_wl(k, q->entry.workload);
    if (k->gate[KQ_PRIORITIZE_PREEMPTOR] &&
        p->entry.recorded_preemptor != q->entry.recorded_preemptor)
        return p->entry.recorded_preemptor;
    if (p->entry.assign.level != q->entry.assign.level)
        return p->entry.assign.level < q->entry.assign.level;
    if (k->gate[KQ_PRIORITY_SORTING] && v->priority != w->priority)
        return v->priority > w->priority;
    if (v->qtime_ms != w->qtime_ms)
        return v->qtime_ms < w->qtime_ms;
    return p->name_rank < q->name_rank; /* random in the real scheduler (section 9) */
}

void kq_sort_entries(struct kq *k, struct kq_ids *queues)
{
    for (size_t gap = queues->count / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < queues->count; i++) {
            const uint32_t q = queues->v[i];
            size_t j = i;
            for (; j >= gap && before(k, q, queues->v[j - gap]); j -= gap)
                queues->v[j] = queues->v[j - gap];
            queues->v[j] = q;
        }
}

/* ---- fair sharing ---- */

/* Share and borrowing of one node on the way of an entry to the root, its own usage counted. */
struct kq_share_key {
    struct kq_share share;
    bool borrows_requested;
};

enum { DEPTH_MAX = 32 };

static bool borrows_requested(const struct kq_node *n, const struct kq_assign *a)
{
    for (size_t i = 0; i < a->use_count; i++)
        if (a->use[i].amount > 0 && kq_borrowing_with(n, a->use[i].fr, 0))
            return true;
    return false;
}

static struct kq_share_key *keys_of(struct kq *k, const struct kq_cq *cq)
{
    return &k->share_keys[(size_t)cq->left_slot * DEPTH_MAX];
}

static void compute_keys(struct kq *k, struct kq_cq *cq)
{
    const struct kq_assign *a = &cq->entry.assign;
    struct kq_share_key *keys = keys_of(k, cq);
    for (size_t i = 0; i < a->use_count; i++)
        kq_add(&cq->node, a->use[i].fr, a->use[i].amount);
    uint32_t depth = 0;
    for (struct kq_node *n = &cq->node; n->parent != NULL && depth < DEPTH_MAX;
         n = n->parent, depth++)
        keys[depth] = (struct kq_share_key){kq_share_of(n), borrows_requested(n, a)};
    for (size_t i = 0; i < a->use_count; i++)
        kq_remove(&cq->node, a->use[i].fr, a->use[i].amount);
    cq->keys_stamp = cq->node.tree->share_stamp;
}

/* a is strictly better than b at a cohort; depth_*: of the child they came from. */
static bool better(struct kq *k, const struct kq_cq *a, uint32_t depth_a, const struct kq_cq *b,
                   uint32_t depth_b)
{
    const struct kq_share_key *x = &keys_of(k, a)[depth_a], *y = &keys_of(k, b)[depth_b];
    if (k->gate[KQ_PRIORITIZE_PREEMPTOR] &&
        a->entry.recorded_preemptor != b->entry.recorded_preemptor)
        return a->entry.recorded_preemptor;
    if (k->gate[KQ_FS_NON_BORROWING] && x->borrows_requested != y->borrows_requested)
        return y->borrows_requested;
    const int c = kq_share_compare(x->share, y->share);
    if (c != 0)
        return c < 0;
    const struct kq_wl *v = kq_wl(k, a->entry.workload), *w = kq_wl(k, b->entry.workload);
    if (k->gate[KQ_PRIORITY_SORTING] && v->priority != w->priority)
        return v->priority > w->priority;
    return v->qtime_ms < w->qtime_ms;
}

/* Number of steps from the queue up to the child of n on its way. */
static uint32_t depth_below(const struct kq_cq *cq, const struct kq_node *n)
{
    uint32_t depth = 0;
    for (const struct kq_node *c = &cq->node; c->parent != n; c = c->parent)
        depth++;
    return depth;
}

static struct kq_cq *winner(struct kq *k, struct kq_node *n)
{
    struct kq_cq *best = NULL;
    for (uint32_t i = 0; i < n->cohort_count; i++) {
        struct kq_cq *x = n->cohorts[i]->left > 0 ? winner(k, n->cohorts[i]) : NULL;
        if (x != NULL &&
            (best == NULL || better(k, x, depth_below(x, n), best, depth_below(best, n))))
            best = x;
    }
    for (uint32_t i = 0; i < n->queue_count; i++) {
        struct kq_cq *x = k->cqs[n->queues[i]->id];
        if (x->left_slot != POLICY_NONE &&
            (best == NULL || better(k, x, 0, best, depth_below(best, n))))
            best = x;
    }
    return best;
}

static void count_left(struct kq_node *n, uint32_t by)
{
    for (; n != NULL; n = n->parent)
        n->left += by;
}

static void begin(struct kq *k)
{
    const size_t need = k->left.count * DEPTH_MAX;
    k->share_keys =
        mem_grow(k->share_keys, &k->share_key_capacity, need, sizeof *k->share_keys);
    for (size_t i = 0; i < k->left.count; i++) {
        struct kq_cq *cq = k->cqs[k->left.v[i]];
        cq->left_slot = (uint32_t)i;
        cq->keys_stamp = 0;
        cq->node.tree->share_stamp = 1;
        cq->node.tree->share_undo = 0;
        count_left(&cq->node, 1);
    }
    k->left_first = 0;
    k->left_begun = true;
}

/* Keys of all entries of the tree that are still there; only when the usage has changed. */
static void refresh(struct kq *k, struct kq_tree *t)
{
    if (t->share_undo != k->undo_count) {
        t->share_undo = k->undo_count;
        t->share_stamp++;
    }
    for (size_t i = k->left_first; i < k->left.count; i++) {
        struct kq_cq *cq = k->cqs[k->left.v[i]];
        if (cq->left_slot != POLICY_NONE && cq->node.tree == t && cq->keys_stamp != t->share_stamp)
            compute_keys(k, cq);
    }
}

/* The tree of the first queue by name that still has an entry is served; trees do not meet. */
struct kq_cq *kq_tournament(struct kq *k)
{
    if (!k->left_begun)
        begin(k);
    while (k->cqs[k->left.v[k->left_first]]->left_slot == POLICY_NONE)
        k->left_first++;
    struct kq_cq *cq = k->cqs[k->left.v[k->left_first]];
    if (cq->node.parent != NULL) {
        refresh(k, cq->node.tree);
        cq = winner(k, cq->node.tree->root);
    }
    cq->left_slot = POLICY_NONE;
    count_left(&cq->node, UINT32_MAX); /* minus one */
    k->left_count--;
    return cq;
}
