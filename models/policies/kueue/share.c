/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/share.h"

#include <string.h>

#include "models/policies/kueue/quota.h"

static int64_t amount_of(const struct kq_use *uses, size_t count, uint32_t fr)
{
    for (size_t i = 0; i < count; i++)
        if (uses[i].fr == fr)
            return uses[i].amount;
    return 0;
}

/* Above the quota of the node on one fr, without these uses. */
static int64_t over_on(const struct kq_node *n, uint32_t fr, const struct kq_use *uses, size_t count)
{
    const struct kq_quota *q = &n->q[fr];
    if (!q->set || q->use <= q->subtree)
        return 0;
    const int64_t use = kq_minus(q->use, amount_of(uses, count, fr));
    return use > q->subtree ? kq_minus(use, q->subtree) : 0;
}

static struct kq_share compute(const struct kq_node *n, const struct kq_use *uses, size_t count)
{
    struct kq_share s = {0.0, n->weight, false};
    const struct kq_tree *t = n->tree;
    for (uint32_t i = 0; i < t->fr_count;) {
        const uint32_t resource = t->frs[i].resource;
        int64_t over = 0;
        for (; i < t->fr_count && t->frs[i].resource == resource; i++)
            over = kq_plus(over, over_on(n, i, uses, count));
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

uint64_t kq_share_key(struct kq_share s)
{
    const bool infinite = kq_share_infinite(s);
    const double x = infinite || s.ratio == 0.0 ? s.ratio : s.ratio / s.weight;
    uint64_t key;
    memcpy(&key, &x, sizeof key);
    return infinite ? key | UINT64_C(1) << 63 : key;
}

void kq_share_remember(struct kq_node *n)
{
    const struct kq_share s =
        n->parent == NULL ? (struct kq_share){0.0, n->weight, false} : compute(n, NULL, 0);
    n->share_serial = n->use_serial;
    n->share_ratio = s.ratio;
    n->share_borrows = s.borrows;
    n->share_key = kq_share_key(s);
}

uint64_t kq_share_key_without(const struct kq_node *q, const struct kq_use *uses, size_t count)
{
    return kq_share_key(compute(q, uses, count));
}

int kq_share_compare(struct kq_share a, struct kq_share b)
{
    const uint64_t x = kq_share_key(a), y = kq_share_key(b);
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
