/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shapes of gangs, and how a cluster queue sees one (spec 1.5, 2.10, 4.1, 4.3). */
#ifndef MODELS_POLICIES_KUEUE_SHAPE_H
#define MODELS_POLICIES_KUEUE_SHAPE_H

#include "models/policies/kueue/kq.h"

/* Id of the shape; equal shapes share one. */
uint32_t kq_shape_register(struct kq *k, const struct policy_shape *shape);

/* Groups of pod sets, resources in hash order, and the flavors that pass the filters. Memory is
 * that of the trees, so a plan lives until the next kq_build. */
struct kq_plan *kq_plan_make(struct kq *k, const struct kq_cq *cq, const struct kq_shape *shape);

void kq_shapes_fini(struct kq *k);

#endif
