/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs of the policy interface, and watch events. */
#ifndef MODELS_POLICIES_KUEUE_INPUTS_H
#define MODELS_POLICIES_KUEUE_INPUTS_H

#include "models/policies/kueue/kq.h"

void kq_input(void *ctx, int64_t now, const struct policy_input *input, struct policy_outputs *out);
/* An object was created, replaced or deleted. */
void kq_change_object(struct kq *k, int64_t now, const struct policy_input *in,
                      struct policy_outputs *out);
void kq_observed(void *ctx, int64_t now, uint32_t workload, struct policy_outputs *out);
bool kq_observed_late(void *ctx, uint32_t workload);

#endif
