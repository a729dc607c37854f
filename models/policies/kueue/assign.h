/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flavor assignment (spec section 4) and the decision on a whole workload (4.7, 4.8). */
#ifndef MODELS_POLICIES_KUEUE_ASSIGN_H
#define MODELS_POLICIES_KUEUE_ASSIGN_H

#include "models/policies/kueue/kq.h"

struct kq_decide {
    struct kq_wl *wl;
    struct kq_cq *cq;
    const struct kq_shape *shape;
    const struct kq_plan *plan;
    const uint32_t *pin; /* flavor per cell that may be used; NULL: any (2.8 step A) */
};

/* Assignment for the full counts, or for fewer pods where that helps, and its victims. The state
 * of the trees is as before. */
void kq_decide_run(struct kq *k, const struct kq_decide *d, struct kq_assign *assign,
                   struct kq_targets *targets);

/* One assignment for given counts, topology included (4.1 to 4.6, 6.2). */
void kq_assign_run(struct kq *k, const struct kq_decide *d, const int64_t *counts,
                   struct kq_assign *a);

/* Topology flavor of pod set i of an assignment; POLICY_NONE. */
uint32_t kq_assign_topology_flavor(const struct kq *k, const struct kq_shape *s,
                                   const struct kq_assign *a, uint32_t set);

void kq_assign_fini(struct kq_assign *a);

#endif
