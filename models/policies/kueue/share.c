/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/share.h"

#include "models/policies/kueue/quota.h"

static struct kq_share compute(const struct kq_node *n)
{
    struct kq_share s = {0.0, n->weight, false};
    const struct kq_tree *t = n->tree;
    for (uint32_t i = 0; i < t->fr_count;) {
        const uint32_t resource = t->frs[i].resource;
        int64_t over = 0;
        for (; i < t->fr_count && t->frs[i].resource == resource; i++)
            if (n->q[i].set && n->q[i].use > n->q[i].subtree)
                over = kq_plus(over, kq_minus(n->q[i].use, n->q[i].subtree));
        if (over == 0)
            continue;
        s.borrows = true;
        const double lend = n->parent->lend[resource];
        if (lend > 0.0) {
            const double ratio = (double)over * 1000.0 / lend;
            if (ratio > s.ratio)
                s.ratio = ratio;
        }
    }
    return s;
}

struct kq_share kq_share_of(struct kq_node *n)
{
    if (n->parent == NULL)
        return (struct kq_share){0.0, n->weight, false};
    if (n->share_serial != n->use_serial) {
        const struct kq_share s = compute(n);
        n->share_serial = n->use_serial;
        n->share_ratio = s.ratio;
        n->share_borrows = s.borrows;
    }
    return (struct kq_share){n->share_ratio, n->weight, n->share_borrows};
}

int kq_share_compare(struct kq_share a, struct kq_share b)
{
    const bool ia = kq_share_infinite(a), ib = kq_share_infinite(b);
    double x = a.ratio, y = b.ratio;
    if (ia != ib)
        return ia ? 1 : -1;
    if (!ia) {
        x = x == 0.0 ? 0.0 : x / a.weight;
        y = y == 0.0 ? 0.0 : y / b.weight;
    }
    return (x > y) - (x < y);
}

static void lendable(struct kq_node *n, const struct kq_node *root, uint32_t resource_count,
                     struct arena *mem)
{
    const struct kq_tree *t = n->tree;
    n->lend = arena_alloc(mem, resource_count, sizeof *n->lend);
    for (uint32_t i = 0; i < t->fr_count;) {
        const uint32_t resource = t->frs[i].resource;
        int64_t sum = 0;
        for (; i < t->fr_count && t->frs[i].resource == resource; i++)
            if (root->q[i].set)
                sum = kq_plus(sum, n->q[i].potential);
        n->lend[resource] = (double)sum;
    }
    for (uint32_t c = 0; c < n->cohort_count; c++)
        lendable(n->cohorts[c], root, resource_count, mem);
}

void kq_share_static(struct kq_node *root, uint32_t resource_count, struct arena *mem)
{
    if (!root->is_queue)
        lendable(root, root, resource_count, mem);
}
