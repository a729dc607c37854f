/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels, selectors, taints and tolerations as Kubernetes matches them. */
#ifndef MODELS_POLICIES_KUEUE_SELECT_H
#define MODELS_POLICIES_KUEUE_SELECT_H

#include "models/policies/policy.h"
#include "sim/arena.h"

/* Value of a label, or NULL. */
const char *kq_label(const struct policy_label *labels, uint32_t count, const char *key);

bool kq_expr_matches(const struct policy_expr *e, const struct policy_label *labels,
                     uint32_t count);

/* All labels and all expressions of the selector hold. */
bool kq_selector_matches(const struct policy_selector *s, const struct policy_label *labels,
                         uint32_t count);

/* Every NoSchedule and NoExecute taint is tolerated by one of a or b. */
bool kq_taints_tolerated(const struct policy_taint *taints, uint32_t taint_count,
                         const struct policy_toleration *a, uint32_t a_count,
                         const struct policy_toleration *b, uint32_t b_count);

/* Deep copies into an arena. */
struct policy_label *kq_copy_labels(struct arena *mem, const struct policy_label *from, uint32_t n);
struct policy_taint *kq_copy_taints(struct arena *mem, const struct policy_taint *from, uint32_t n);
struct policy_toleration *kq_copy_tolerations(struct arena *mem,
                                              const struct policy_toleration *from, uint32_t n);
struct policy_selector *kq_copy_selectors(struct arena *mem, const struct policy_selector *from,
                                          uint32_t n);

#endif
