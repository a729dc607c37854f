/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dominant resource share of a node among its siblings (spec 5.7). */
#ifndef MODELS_POLICIES_KUEUE_SHARE_H
#define MODELS_POLICIES_KUEUE_SHARE_H

#include "models/policies/kueue/kq.h"

struct kq_share {
    double ratio, weight;
    bool borrows; /* above its quota on some resource; possible with ratio 0 */
};

/* Orders shares as kq_share_compare does: bits of a number that is not negative are in its order. */
uint64_t kq_share_key(struct kq_share s);

/* Both are remembered until the node's usage changes. */
void kq_share_remember(struct kq_node *n);
static inline struct kq_share kq_share_of(struct kq_node *n)
{
    if (n->share_serial != n->use_serial)
        kq_share_remember(n);
    return (struct kq_share){n->share_ratio, n->weight, n->share_borrows};
}
static inline uint64_t kq_share_key_of(struct kq_node *n)
{
    if (n->share_serial != n->use_serial)
        kq_share_remember(n);
    return n->share_key;
}

/* Key of a queue if it did not have these uses, each on another fr. */
uint64_t kq_share_key_without(const struct kq_node *q, const struct kq_use *uses, size_t count);

/* Sign of a - b. Weight 0 and borrowing is above everything else. */
int kq_share_compare(struct kq_share a, struct kq_share b);

static inline bool kq_share_infinite(struct kq_share s)
{
    return s.weight == 0.0 && s.ratio > 0.0;
}

/* Lendable amounts of every cohort below root (and root), by resource. */
void kq_share_static(struct kq_node *root, uint32_t resource_count, struct arena *mem);

#endif
