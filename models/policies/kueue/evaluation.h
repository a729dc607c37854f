/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an evaluation looked at, for explanations: every flavor with its grade and numbers, the
 * candidates that fill-back returned, shares before and after. Only while reasons are recorded.
 */
#ifndef MODELS_POLICIES_KUEUE_EVALUATION_H
#define MODELS_POLICIES_KUEUE_EVALUATION_H

#include "models/policies/kueue/kq.h"

/* One (flavor, resource) was graded; the state is the one it was graded on. */
void kq_note_try(const struct kq_cq *cq, struct kq_assign *a, uint32_t fr, int64_t amount, enum kq_mode mode,
                 uint32_t level);

/* Of the queue's entry; `counted` when its usage is already part of the state. Nothing when reasons
 * are not recorded. */
void kq_say_evaluation(struct kq *k, struct kq_cq *cq, bool counted, int64_t now, struct policy_outputs *out);

/* Of a class that waits by proof, hence without an evaluation: the numbers as they are now. */
void kq_say_proven(struct kq *k, const struct kq_class *c, int64_t now, struct policy_outputs *out);

#endif
