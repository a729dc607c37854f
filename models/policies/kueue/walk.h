/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The walk of a fair-sharing search (spec 5.6): from which queue the next candidate is taken. In
 * every cohort that is the queue with the highest share, of equal ones the one whose first candidate
 * comes first; queues without candidates, and others' that do not borrow, are left out.
 *
 * The queues of a cohort are kept in the order of their shares from search to search; a search takes
 * them from the front, and asks for candidates only there. A victim changes the share of its own
 * queue and of the cohorts above it, so only that queue gets another place.
 */
#ifndef MODELS_POLICIES_KUEUE_WALK_H
#define MODELS_POLICIES_KUEUE_WALK_H

#include "models/policies/kueue/search.h"

struct kq_walk {
    struct kq *k;
    const struct kq_search *s;
    struct kq_node *own, *root;
    struct kq_gather others, within; /* candidates of other queues, of its own */
    bool has_others, has_within;
    bool final_share; /* set by the search: LessThanOrEqualToFinalShare decides on its siblings */
    bool second; /* draws from what the first walk left to the second strategy */
    struct kq_node *picked; /* the last one */
    uint64_t state; /* of the tree, before the search changed anything */
};

/* Before anything is changed for the search; false: nobody can have a candidate. */
bool kq_walk_begin(struct kq_walk *w, struct kq *k, const struct kq_search *s);
/* Once more over the candidates that were left to the second strategy. */
void kq_walk_second(struct kq_walk *w);
/* The usage is as it was at kq_walk_begin again. */
void kq_walk_end(const struct kq_walk *w);

/* Next queue to take a victim from; NULL: there is none. */
struct kq_node *kq_walk_pick(struct kq_walk *w);
/* Its first candidate, POLICY_NONE if it has no more; takes it. */
uint32_t kq_walk_first(struct kq_walk *w, struct kq_node *q);
uint32_t kq_walk_pop(struct kq_walk *w, struct kq_node *q);
/* A candidate is left to the second strategy; only the first one of a queue is asked for there. */
void kq_walk_leave(struct kq_walk *w, struct kq_node *q, uint32_t workload);
/* The queue picked last has no more candidates. */
void kq_walk_close(struct kq_walk *w, struct kq_node *q);
/* Nothing below the cohort is picked any more; what the walk would have come to is left to the second
 * strategy or (as that is sure to refuse it) not at all. */
void kq_walk_close_below(struct kq_walk *w, struct kq_node *cohort, bool leave);

/* Without any one of the candidates of q the share of y, an ancestor, would be below this key. */
bool kq_walk_refused(struct kq_walk *w, struct kq_node *q, struct kq_node *y, uint64_t floor);

/* Memory of the cohorts of a tree. */
void kq_walk_static(struct kq_node *root, struct arena *mem);

#endif
