/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quota arithmetic on the tree (spec section 3), per (flavor, resource) index of the tree.
 * Amounts saturate as Kueue's do (1.1): POLICY_UNLIMITED absorbs.
 */
#ifndef MODELS_POLICIES_KUEUE_QUOTA_H
#define MODELS_POLICIES_KUEUE_QUOTA_H

#include "models/policies/kueue/kq.h"

static inline int64_t kq_plus(int64_t a, int64_t b)
{
    int64_t r;
    if (a == POLICY_UNLIMITED || b == POLICY_UNLIMITED)
        return POLICY_UNLIMITED;
    if (__builtin_add_overflow(a, b, &r))
        return b > 0 ? POLICY_UNLIMITED : INT64_MIN;
    return r;
}

static inline int64_t kq_minus(int64_t a, int64_t b)
{
    int64_t r;
    if (a == POLICY_UNLIMITED)
        return b == POLICY_UNLIMITED ? 0 : POLICY_UNLIMITED;
    if (b == POLICY_UNLIMITED)
        return INT64_MIN;
    if (__builtin_sub_overflow(a, b, &r))
        return b > 0 ? INT64_MIN : POLICY_UNLIMITED;
    return r;
}

static inline int64_t kq_times(int64_t per_pod, int64_t count)
{
    int64_t r;
    if (per_pod <= 0 || count <= 0)
        return 0;
    return __builtin_mul_overflow(per_pod, count, &r) ? POLICY_UNLIMITED : r;
}

static inline int64_t kq_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t kq_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Own guaranteed quota that is still free. */
static inline int64_t kq_free_local(const struct kq_quota *q)
{
    return q->local == 0 ? 0 : kq_max(0, kq_minus(q->local, q->use));
}

static inline bool kq_borrowing_with(const struct kq_node *n, uint32_t fr, int64_t v)
{
    return n->q[fr].subtree < kq_plus(n->q[fr].use, v);
}

/* Usage or candidates of the queue, and so of its tree, are others now. */
static inline void kq_changed(struct kq_node *n)
{
    struct kq_rank *r = n->siblings;
    n->tree->state = ++n->tree->states;
    if (r == NULL || n->unsorted)
        return;
    n->unsorted = true;
    r->unsorted[r->unsorted_count++] = n;
}

/* Usage up and down the tree (3.2). remove undoes add and the other way round when the order is
 * reversed; v >= 0 except for reservations, which kq_add_logged takes back. */
void kq_add(struct kq_node *n, uint32_t fr, int64_t v);
void kq_remove(struct kq_node *n, uint32_t fr, int64_t v);

/* add for the time of the cycle; kq_undo_all restores everything exactly. */
void kq_add_logged(struct kq *k, struct kq_node *n, uint32_t fr, int64_t v);
void kq_undo_all(struct kq *k);

/* 3.3. Of a queue, at least 0. */
int64_t kq_available(const struct kq_node *n, uint32_t fr);
static inline int64_t kq_avail(const struct kq_cq *cq, uint32_t fr)
{
    return kq_max(0, kq_available(&cq->node, fr));
}

/* Distance at which the quota for v is found (3.5); *may_reclaim as defined there. */
uint32_t kq_borrow_level(const struct kq_node *cq, uint32_t fr, int64_t v, bool *may_reclaim);

/* For all contested frs: usage within nominal (subtree) quota. */
bool kq_within_nominal(const struct kq_node *n, const uint32_t *frs, size_t count);

/* Static values of a node and everything below (3.1); then potentials from the root down. */
void kq_quota_static(struct kq_node *root);

#endif
