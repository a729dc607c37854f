/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups of equal waiting workloads: two heaps by (queue-order time, UID), one of them active. */
#ifndef MODELS_POLICIES_KUEUE_GROUP_H
#define MODELS_POLICIES_KUEUE_GROUP_H

#include "models/policies/kueue/kq.h"

/* Earlier in the queue among equals of one class. */
static inline bool kq_earlier(const struct kq_wl *a, const struct kq_wl *b)
{
    if (a->qtime_ms != b->qtime_ms)
        return a->qtime_ms < b->qtime_ms;
    return a->uid_order < b->uid_order;
}

void kq_group_push(struct kq *k, uint32_t group, uint32_t which, struct kq_wl *w);
void kq_group_remove(struct kq *k, struct kq_wl *w);
/* Moves everything from the active array to the other one, or back; returns how many. */
size_t kq_group_move(struct kq *k, uint32_t group, bool to_active);

#endif
