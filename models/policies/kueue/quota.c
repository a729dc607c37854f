/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/quota.h"

void kq_add(struct kq_node *n, uint32_t fr, int64_t v)
{
    kq_changed(n);
    for (;;) {
        struct kq_quota *q = &n->q[fr];
        const int64_t free = kq_free_local(q);
        q->use = kq_plus(q->use, v);
        n->use_serial++;
        if (n->parent == NULL || v <= free)
            return;
        v = kq_minus(v, free);
        n = n->parent;
    }
}

void kq_remove(struct kq_node *n, uint32_t fr, int64_t v)
{
    kq_changed(n);
    for (;;) {
        struct kq_quota *q = &n->q[fr];
        const int64_t spilled = kq_minus(q->use, q->local);
        q->use = kq_minus(q->use, v);
        n->use_serial++;
        if (spilled <= 0 || n->parent == NULL)
            return;
        v = kq_min(v, spilled);
        n = n->parent;
    }
}

void kq_add_logged(struct kq *k, struct kq_node *n, uint32_t fr, int64_t v)
{
    kq_changed(n);
    for (;;) {
        struct kq_quota *q = &n->q[fr];
        const int64_t free = kq_free_local(q);
        if (k->undo_count == k->undo_capacity)
            k->undo = mem_grow(k->undo, &k->undo_capacity, k->undo_count + 1, sizeof *k->undo);
        k->undo[k->undo_count++] = (struct kq_undo){n, fr, q->use};
        q->use = kq_plus(q->use, v);
        n->use_serial++;
        n->logged++;
        if (n->parent == NULL || v <= free)
            return;
        v = kq_minus(v, free);
        n = n->parent;
    }
}

void kq_undo_all(struct kq *k)
{
    while (k->undo_count > 0) {
        const struct kq_undo *u = &k->undo[--k->undo_count];
        u->node->q[u->fr].use = u->old;
        u->node->use_serial++;
        kq_changed(u->node);
    }
}

int64_t kq_available(const struct kq_node *n, uint32_t fr)
{
    const struct kq_quota *q = &n->q[fr];
    if (n->parent == NULL)
        return kq_minus(q->subtree, q->use);
    int64_t p = kq_available(n->parent, fr);
    if (q->borrow != POLICY_NIL) {
        const int64_t lent = kq_minus(q->subtree, q->local);
        const int64_t spilled = kq_max(0, kq_minus(q->use, q->local));
        p = kq_min(p, kq_plus(kq_minus(lent, spilled), q->borrow));
    }
    return kq_plus(kq_free_local(q), p);
}

uint32_t kq_borrow_level(const struct kq_node *cq, uint32_t fr, int64_t v, bool *may_reclaim)
{
    if (cq->parent == NULL || !kq_borrowing_with(cq, fr, v)) {
        *may_reclaim = cq->parent != NULL;
        return 0;
    }
    int64_t rest = kq_minus(v, kq_free_local(&cq->q[fr]));
    const struct kq_node *a = cq->parent;
    for (;; a = a->parent) {
        if (!kq_borrowing_with(a, fr, rest)) {
            *may_reclaim = a->parent != NULL;
            return a->height;
        }
        if (a->parent == NULL)
            break;
        rest = kq_minus(rest, kq_free_local(&a->q[fr]));
    }
    *may_reclaim = false;
    return a->height;
}

bool kq_within_nominal(const struct kq_node *n, const uint32_t *frs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (n->q[frs[i]].use > n->q[frs[i]].subtree)
            return false;
    return true;
}

static void set_local(struct kq_quota *q)
{
    q->local = q->lend == POLICY_NIL ? 0 : kq_max(0, kq_minus(q->subtree, q->lend));
}

static void take_child(struct kq_node *n, const struct kq_node *child, uint32_t fr_count)
{
    for (uint32_t i = 0; i < fr_count; i++) {
        if (!child->q[i].set)
            continue;
        n->q[i].set = true;
        n->q[i].subtree =
            kq_plus(n->q[i].subtree, kq_minus(child->q[i].subtree, child->q[i].local));
    }
}

static void subtree(struct kq_node *n, struct kq_tree *t)
{
    for (uint32_t i = 0; i < t->fr_count; i++)
        n->q[i].subtree = n->q[i].nominal;
    for (uint32_t c = 0; c < n->cohort_count; c++) {
        subtree(n->cohorts[c], t);
        take_child(n, n->cohorts[c], t->fr_count);
    }
    for (uint32_t c = 0; c < n->all_queue_count; c++) {
        subtree(n->queues[c], t);
        take_child(n, n->queues[c], t->fr_count);
    }
    for (uint32_t i = 0; i < t->fr_count; i++)
        set_local(&n->q[i]);
}

static void potential(struct kq_node *n, struct kq_tree *t)
{
    for (uint32_t i = 0; i < t->fr_count; i++) {
        struct kq_quota *q = &n->q[i];
        q->potential = q->subtree;
        if (n->parent == NULL)
            continue;
        q->potential = kq_plus(q->local, n->parent->q[i].potential);
        if (q->borrow != POLICY_NIL)
            q->potential = kq_min(q->potential, kq_plus(q->subtree, q->borrow));
    }
    for (uint32_t c = 0; c < n->cohort_count; c++)
        potential(n->cohorts[c], t);
    for (uint32_t c = 0; c < n->all_queue_count; c++)
        potential(n->queues[c], t);
}

void kq_quota_static(struct kq_node *root)
{
    subtree(root, root->tree);
    potential(root, root->tree);
}
