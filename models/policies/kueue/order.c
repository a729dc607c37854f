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
struct kq_order_key {
    uint64_t share;
    bool borrows_requested;
};

static bool borrows_requested(const struct kq_node *n, const struct kq_assign *a)
{
    for (size_t i = 0; i < a->use_count; i++)
        if (a->use[i].amount > 0 && kq_borrowing_with(n, a->use[i].fr, 0))
            return true;
    return false;
}

static struct kq_order_key *keys_of(struct kq *k, const struct kq_cq *cq)
{
    return &k->order_keys[cq->left_slot];
}

/* What other entries have changed on its way so far; never 0. */
static uint64_t changes_above(const struct kq_cq *cq)
{
    uint64_t sum = 1;
    for (const struct kq_node *n = &cq->node; n->parent != NULL; n = n->parent)
        sum += n->logged;
    return sum;
}

static void refresh_keys(struct kq *k, struct kq_cq *cq)
{
    const struct kq_assign *a = &cq->entry.assign;
    struct kq_order_key *key = keys_of(k, cq);
    const uint64_t stamp = changes_above(cq), state = cq->node.tree->state;
    if (cq->keys_stamp == stamp)
        return;
    for (size_t i = 0; i < a->use_count; i++)
        kq_add(&cq->node, a->use[i].fr, a->use[i].amount);
    for (struct kq_node *n = &cq->node; n->parent != NULL; n = n->parent, key++)
        *key = (struct kq_order_key){kq_share_key_of(n), borrows_requested(n, a)};
    for (size_t i = 0; i < a->use_count; i++)
        kq_remove(&cq->node, a->use[i].fr, a->use[i].amount);
    cq->keys_stamp = stamp;
    cq->node.tree->state = state;
}

/* Negative: a is better than b at a cohort; depth_*: of the child they came from. */
static int compare(struct kq *k, const struct kq_cq *a, uint32_t depth_a, const struct kq_cq *b,
                   uint32_t depth_b)
{
    const struct kq_order_key *x = &keys_of(k, a)[depth_a], *y = &keys_of(k, b)[depth_b];
    if (k->gate[KQ_PRIORITIZE_PREEMPTOR] &&
        a->entry.recorded_preemptor != b->entry.recorded_preemptor)
        return a->entry.recorded_preemptor ? -1 : 1;
    if (k->gate[KQ_FS_NON_BORROWING] && x->borrows_requested != y->borrows_requested)
        return y->borrows_requested ? -1 : 1;
    if (x->share != y->share)
        return x->share < y->share ? -1 : 1;
    const struct kq_wl *v = kq_wl(k, a->entry.workload), *w = kq_wl(k, b->entry.workload);
    if (k->gate[KQ_PRIORITY_SORTING] && v->priority != w->priority)
        return v->priority > w->priority ? -1 : 1;
    return (v->qtime_ms > w->qtime_ms) - (v->qtime_ms < w->qtime_ms);
}

/* Number of steps from the queue up to the child of n on its way. */
static uint32_t depth_below(const struct kq_cq *cq, const struct kq_node *n)
{
    uint32_t depth = 0;
    for (const struct kq_node *c = &cq->node; c->parent != n; c = c->parent)
        depth++;
    return depth;
}

static struct kq_cq *better_at(struct kq *k, const struct kq_node *n, struct kq_cq *best, struct kq_cq *x)
{
    refresh_keys(k, x);
    return best == NULL || compare(k, x, depth_below(x, n), best, depth_below(best, n)) < 0 ? x : best;
}

/* What an entry has changed is on its way to the root. So elsewhere the winners are as they were, but
 * while a cycle is suspended what is compared may change. */
static struct kq_cq *winner(struct kq *k, struct kq_node *n)
{
    if (n->winner != NULL && !k->cfg.pods_ready.block_admission)
        return n->winner;
    struct kq_cq *best = NULL;
    for (uint32_t i = 0; i < n->cohort_count; i++)
        if (n->cohorts[i]->left > 0)
            best = better_at(k, n, best, winner(k, n->cohorts[i]));
    for (uint32_t i = 0; i < n->queue_count; i++) {
        struct kq_cq *x = k->cqs[n->queues[i]->id];
        if (x->left_slot != POLICY_NONE)
            best = better_at(k, n, best, x);
    }
    return n->winner = best;
}

static void count_left(struct kq_node *n, uint32_t by)
{
    for (; n != NULL; n = n->parent) {
        n->left += by;
        n->winner = NULL;
    }
}

static uint32_t depth_of(const struct kq_cq *cq)
{
    uint32_t depth = 0;
    for (const struct kq_node *n = &cq->node; n->parent != NULL; n = n->parent)
        depth++;
    return depth;
}

static void begin(struct kq *k)
{
    uint32_t keys = 0;
    for (size_t i = 0; i < k->left.count; i++) {
        struct kq_tree *t = k->cqs[k->left.v[i]]->node.tree;
        t->left.count = t->left_done = 0;
        t->left_sorted = false;
    }
    for (size_t i = 0; i < k->left.count; i++) {
        struct kq_cq *cq = k->cqs[k->left.v[i]];
        cq->left_slot = keys;
        cq->keys_stamp = 0;
        keys += depth_of(cq);
        count_left(&cq->node, 1);
        kq_ids_push(&cq->node.tree->left, cq->node.id);
    }
    k->order_keys = mem_grow(k->order_keys, &k->order_key_capacity, keys, sizeof *k->order_keys);
    k->left_first = 0;
    k->left_begun = true;
}

/* Of equal ones the first by name; random in the real scheduler (section 9). */
static bool comes_first(struct kq *k, const struct kq_cq *a, const struct kq_cq *b)
{
    const int c = compare(k, a, 0, b, 0);
    return c != 0 ? c < 0 : a->name_rank < b->name_rank;
}

/* Where all queues hang on the root, an entry changes nothing for the others: one order holds for
 * the whole cycle, unless that is suspended, and what it compares may change. */
static struct kq_cq *next_sorted(struct kq *k, struct kq_tree *t)
{
    struct kq_ids *left = &t->left;
    if (!t->left_sorted) {
        for (size_t i = 0; i < left->count; i++)
            refresh_keys(k, k->cqs[left->v[i]]);
        for (size_t gap = left->count / 2; gap > 0; gap /= 2)
            for (size_t i = gap; i < left->count; i++) {
                const uint32_t q = left->v[i];
                size_t j = i;
                for (; j >= gap && comes_first(k, k->cqs[q], k->cqs[left->v[j - gap]]); j -= gap)
                    left->v[j] = left->v[j - gap];
                left->v[j] = q;
            }
        t->left_sorted = true;
    }
    return k->cqs[left->v[t->left_done++]];
}

static struct kq_cq *best_of(struct kq *k, struct kq_tree *t)
{
    if (t->root->cohort_count == 0 && !k->cfg.pods_ready.block_admission)
        return next_sorted(k, t);
    return winner(k, t->root);
}

/* The tree of the first queue by name that still has an entry is served; trees do not meet. */
struct kq_cq *kq_tournament(struct kq *k)
{
    if (!k->left_begun)
        begin(k);
    while (k->cqs[k->left.v[k->left_first]]->left_slot == POLICY_NONE)
        k->left_first++;
    struct kq_cq *cq = k->cqs[k->left.v[k->left_first]];
    if (cq->node.parent != NULL)
        cq = best_of(k, cq->node.tree);
    cq->left_slot = POLICY_NONE;
    count_left(&cq->node, UINT32_MAX); /* minus one */
    k->left_count--;
    return cq;
}
