/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waiting workloads of a cluster queue (spec 2.1, 2.2, 2.10, 2.11). They are kept by class (shape
 * and priority), so that a flush or a bulk park moves classes: each group has two arrays, one of
 * which is the active one; moving everything is a flip, or a merge of the smaller into the larger.
 */
#ifndef MODELS_POLICIES_KUEUE_QUEUE_H
#define MODELS_POLICIES_KUEUE_QUEUE_H

#include "models/policies/kueue/kq.h"

/* Finds or makes the class of a workload in its queue: after a change of shape or priority. */
void kq_classify(struct kq *k, struct kq_wl *w);
static inline struct kq_class *kq_class_of(struct kq *k, const struct kq_wl *w)
{
    return &k->classes[w->cls];
}

/* One more, or one fewer, of its class waits (queued, parked, in flight or in back-off). */
void kq_count_waiting(struct kq *k, const struct kq_wl *w, int by);

/* It waits in a list with scan progress pending, or no longer. */
void kq_count_progress(struct kq *k, struct kq_wl *w, bool pending);

/* Into the heap, or parked if its class was parked in bulk since the last flush. */
void kq_enqueue(struct kq *k, struct kq_wl *w);
/* Back from a cycle: into the heap, or parked. */
void kq_requeue(struct kq *k, struct kq_wl *w, bool to_heap);
/* Out of whatever list it waits in (heap or parked). */
void kq_dequeue(struct kq *k, struct kq_wl *w);

/* First of the heap, POLICY_NONE when it is empty. pop takes it out, in flight. */
uint32_t kq_top(const struct kq *k, const struct kq_cq *cq);
uint32_t kq_pop(struct kq *k, struct kq_cq *cq);

/* Parks the whole class and blocks it until the next flush; true if something moved. */
bool kq_park_class(struct kq *k, uint32_t cls);

/* Flushes a queue: everything parked whose namespace matches goes to the heap. */
bool kq_flush(struct kq *k, struct kq_cq *cq);

/* Asks for a flush of the queue's tree; flushes those that are due. */
void kq_ask_wake(struct kq *k, int64_t now, struct kq_node *n);
bool kq_wake_due(struct kq *k, int64_t now);
int64_t kq_next_wake(const struct kq *k);

/* Where a workload is. */
enum policy_place kq_place(const struct kq *k, const struct kq_wl *w);

/* Queue-order time of 2.3, in milliseconds, from the workload's conditions. */
int64_t kq_queue_time(const struct kq *k, const struct kq_wl *w);

/* The tree was rebuilt or the queue's spec changed. */
void kq_queue_rebuilt(struct kq *k, struct kq_cq *cq);

/* Something that a nomination in this tree can see has changed. */
void kq_touch(struct kq *k, struct kq_tree *t);
/* The tree is looked at in the next cycle. */
void kq_warm_up(struct kq *k, struct kq_tree *t);

/* Whether the namespace of a local queue matches the selector of its queue. */
bool kq_namespace_matches(const struct kq *k, const struct kq_cq *cq, uint32_t lq);

void kq_mark_class(struct kq *k, struct kq_class *c);

#endif
