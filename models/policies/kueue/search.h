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

/* 5.2 without the list; a and b are not the same workload. */
static inline struct kq_candidate kq_as_candidate(const struct kq_wl *w)
{
    return (struct kq_candidate){w->priority, w->reserved_s, w->uid_order, w->evicted};
}
static inline bool kq_candidate_before(const struct kq_candidate *a, const struct kq_candidate *b)
{
    if (a->evicted != b->evicted)
        return a->evicted;
    if (a->priority != b->priority)
        return a->priority < b->priority;
    if (a->reserved_s != b->reserved_s)
        return a->reserved_s > b->reserved_s;
    return a->uid_order < b->uid_order;
}

/* Adds the candidates of one queue that use a contested fr and may be preempted under `policy`;
 * none: no cursor. */
struct kq_gather {
    const struct kq_search *s;
    enum policy_preemption policy;
    struct kq_node *ancestor;
    uint8_t list;
};
void kq_cursor_add(struct kq *k, const struct kq_gather *g, struct kq_cq *cq);

/* The candidate that a cursor stands at; POLICY_NONE behind the last one. */
static inline uint32_t kq_cursor_at(const struct kq_cursor *c)
{
    return c->at < c->count ? c->ids[c->at] : POLICY_NONE;
}
void kq_cursor_step(struct kq *k, const struct kq_gather *g, struct kq_cursor *c);

/* 5.2, evicted ones first, then by list: a comes before b. */
bool kq_cursor_before(const struct kq *k, const struct kq_cursor *a, const struct kq_cursor *b);

/* All cursors from their first candidates on, as a heap in this order. */
void kq_cursors_begin(struct kq *k);
/* The top was moved on, or is dropped. */
void kq_cursors_settle(struct kq *k, bool drop);

/* 5.4; fits is asked with everything else in place. */
void kq_fill_back(struct kq *k, struct kq_targets *t, bool (*fits)(struct kq *, void *), void *arg);

void kq_targets_push(struct kq_targets *t, uint32_t workload, enum policy_evict_reason reason);

#endif
