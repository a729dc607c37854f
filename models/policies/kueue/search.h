/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Search for victims (spec section 5): what both algorithms share. */
#ifndef MODELS_POLICIES_KUEUE_SEARCH_H
#define MODELS_POLICIES_KUEUE_SEARCH_H

#include "models/policies/kueue/kq.h"

/* Victims for the search in `targets`; false and none if there are no sufficient ones. Leaves the
 * trees as they were. */
bool kq_search_run(struct kq *k, const struct kq_search *s, struct kq_targets *targets);

bool kq_search_classic(struct kq *k, const struct kq_search *s, struct kq_targets *targets);
bool kq_search_fair(struct kq *k, const struct kq_search *s, struct kq_targets *targets);

/* Takes the usage of an admitted workload out of the trees and topologies, and puts it back. */
void kq_take(struct kq *k, const struct kq_wl *w);
void kq_put(struct kq *k, const struct kq_wl *w);

/* 5.1 */
bool kq_allowed(const struct kq_wl *preemptor, const struct kq_wl *candidate,
                enum policy_preemption policy);
bool kq_search_fits(struct kq *k, const struct kq_search *s, bool allow_borrow);

/* Collects candidates of one queue that use a contested fr and may be preempted under `policy`. */
struct kq_gather {
    const struct kq_search *s;
    enum policy_preemption policy;
    struct kq_node *ancestor;
    uint8_t list;
    void (*classify)(const struct kq_gather *g, const struct kq_wl *w, struct kq_cand *c);
};
void kq_gather_queue(struct kq *k, const struct kq_gather *g, struct kq_cq *cq);

/* Sorts k->cands by 5.2 within (evicted, list). */
void kq_cands_sort(struct kq *k);

/* 5.4; fits is asked with everything else in place. */
void kq_fill_back(struct kq *k, struct kq_targets *t, bool (*fits)(struct kq *, void *), void *arg);

void kq_targets_push(struct kq_targets *t, uint32_t workload, enum policy_evict_reason reason);

#endif
