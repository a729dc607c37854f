/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placement of pod sets in a topology (spec 6.2, phases 1 and 2), and its effect on the mode. */
#ifndef MODELS_POLICIES_KUEUE_PLACE_H
#define MODELS_POLICIES_KUEUE_PLACE_H

#include "models/policies/kueue/assign.h"

/* Places all topology pod sets of an assignment, one after the other, on what is free now, or on
 * the empty cluster. False: one of them has no place; places->valid says the same. */
bool kq_place_sets(struct kq *k, const struct kq_shape *s, const struct kq_assign *a, bool empty,
                   struct kq_places *places);

/* "Effect on the mode", points 1 and 2, after a quota assignment. */
void kq_place_assignment(struct kq *k, const struct kq_decide *d, struct kq_assign *a);

/* Point 5: every leaf of the placement, on its own, still holds its pods. */
bool kq_place_still_fits(const struct kq *k, const struct kq_shape *s,
                         const struct kq_assign *a);

/* One placement: `count` pods of `set`, and one pod of `leader` beside them if it is not NULL. */
struct kq_find {
    struct kq_topo *topo;
    uint32_t flavor;
    const struct policy_pod_set *set, *leader;
    int64_t count;
    bool empty;
    /* pods of earlier pod sets of the same workload */
    const struct kq_placed_use *assumed;
    size_t assumed_count;
    const struct kq_shape *shape;
};
/* Appends the domains to `out` and stores the leader's leaf; false: no place. */
bool kq_find_run(struct kq *k, const struct kq_find *f, struct kq_places *out, uint32_t *leader);

struct kq_topo_scratch;
void kq_topo_scratch_destroy(struct kq_topo_scratch *s);

#endif
