/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Admission fair sharing: decayed usage of local queues (spec 6.1). */
#ifndef MODELS_POLICIES_KUEUE_USAGE_H
#define MODELS_POLICIES_KUEUE_USAGE_H

#include "models/policies/kueue/kq.h"

struct kq_lq_usage;

struct kq_lq_usage *kq_usage_create(const struct kq *k, const struct policy_local_queue *q);

/* Weighted usage of a local queue, pending penalties included; lower goes first. */
double kq_usage_of(const struct kq *k, uint32_t lq);

/* The scheduler reserved quota for a workload that had none: its penalty is pending. */
void kq_usage_reserved(struct kq *k, struct kq_wl *w);
/* Admission confirmed: decay, add the penalty, drop the pending record. */
void kq_usage_settle(struct kq *k, int64_t now, struct kq_wl *w);
/* The workload is gone or will never be admitted again. */
void kq_usage_drop(struct kq *k, struct kq_wl *w);
/* Live usage of its local queue changed. */
void kq_usage_live(struct kq *k, const struct kq_wl *w, int sign);

/* Takes the samples that are due, in order of creation; true if there were any. */
bool kq_usage_sample(struct kq *k, int64_t now, struct policy_outputs *out);
int64_t kq_usage_next(const struct kq *k);

#endif
