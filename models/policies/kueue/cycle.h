/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One scheduling cycle (spec 2.4 to 2.9): heads, nomination, order, processing, requeue. */
#ifndef MODELS_POLICIES_KUEUE_CYCLE_H
#define MODELS_POLICIES_KUEUE_CYCLE_H

#include "models/policies/kueue/kq.h"

enum policy_cycle kq_cycle_run(struct kq *k, int64_t now, struct policy_outputs *out);
enum policy_cycle kq_cycle_resume(struct kq *k, int64_t now, struct policy_outputs *out);

/* Nominates the popped head of a queue on the state as it is (nominate.c). */
void kq_nominate(struct kq *k, struct kq_cq *cq, uint32_t workload);

/* Decides again within the cycle, pinned to the flavors it was nominated with (2.8 step A). */
void kq_decide_again(struct kq *k, struct kq_cq *cq);

/* Remembers the scan progress of the entry's assignment with the workload (4.6). */
void kq_keep_progress(struct kq *k, struct kq_cq *cq);
bool kq_progress_pending(const struct kq *k, const struct kq_wl *w);

/* Processes one entry; false: it stops before its admission (blockAdmission). */
bool kq_process(struct kq *k, struct kq_cq *cq, int64_t now, struct policy_outputs *out);
void kq_admit(struct kq *k, struct kq_cq *cq, int64_t now, struct policy_outputs *out);

/* Sorts k->order for classical mode, or takes the next entry out of k->left (order.c). */
void kq_sort_entries(struct kq *k, struct kq_ids *queues);
struct kq_cq *kq_tournament(struct kq *k);

/* Puts the entry's workload back where it belongs (2.9). */
void kq_requeue_entry(struct kq *k, struct kq_cq *cq, int64_t now, struct policy_outputs *out);

/* Entries as outputs, by tree (emit.c). */
const struct policy_entry *kq_make_entry(struct kq *k, const struct kq_cq *cq);
void kq_say_entries(struct kq *k, int64_t now, struct policy_outputs *out);
/* True when it is another one than before. */
bool kq_note_reason(struct kq *k, const struct kq_cq *cq);
/* A class waits for quota, by proof. */
void kq_note_proven(struct kq *k, struct kq_class *c);
void kq_say_classes(struct kq *k, int64_t now, struct policy_outputs *out);

#endif
