/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workloads that hold quota. Lists per queue are in candidate order (5.2, without the queue), so
 * that a search stops at the first one out of reach. Changes while a cycle is in progress wait for
 * its end: it decides on the state at its start.
 */
#ifndef MODELS_POLICIES_KUEUE_LIVE_H
#define MODELS_POLICIES_KUEUE_LIVE_H

#include "models/policies/kueue/kq.h"

/* Records the assignment as the workload's usage; it holds quota from now on. */
void kq_reserve(struct kq *k, int64_t now, struct kq_wl *w, const struct kq_assign *a);
/* Gives the quota back. */
void kq_release(struct kq *k, struct kq_wl *w);
/* Marks it as evicted (the quota stays used), or re-sorts it after a change of priority. */
void kq_mark_evicted(struct kq *k, struct kq_wl *w, int64_t now, enum policy_evict_reason reason);
void kq_set_priority(struct kq *k, struct kq_wl *w, int64_t priority);

/* An update of a workload that holds quota replaced its record (3.5, generation). */
void kq_replaced(struct kq *k, struct kq_wl *w);

/* The object changes when the cycle in progress is over. */
void kq_defer_object(struct kq *k, const struct policy_input *in);

/* The cycle is over: everything deferred happens, in order. */
void kq_run_deferred(struct kq *k, int64_t now, struct policy_outputs *out);

/* It holds quota and its pods are not ready (blockAdmission waits for these). */
void kq_count_unready(struct kq *k, struct kq_wl *w, bool counts);

#endif
