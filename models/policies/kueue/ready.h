/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waitForPodsReady: timeouts, back-off, deactivation (spec 2.12). */
#ifndef MODELS_POLICIES_KUEUE_READY_H
#define MODELS_POLICIES_KUEUE_READY_H

#include "models/policies/kueue/kq.h"

/* Sets or drops the workload's timer from its state. */
void kq_ready_arm(struct kq *k, struct kq_wl *w);

void kq_ready_changed(struct kq *k, int64_t now, struct kq_wl *w, bool ready);

/* After the release of an evicted workload: queued again, or in back-off. */
void kq_ready_released(struct kq *k, int64_t now, struct kq_wl *w, struct policy_outputs *out);

/* Timeouts and ends of back-off that are due, by name; true if there were any. */
bool kq_ready_due(struct kq *k, int64_t now, struct policy_outputs *out);
int64_t kq_ready_next(const struct kq *k);

#endif
