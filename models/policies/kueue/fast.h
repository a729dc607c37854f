/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Evaluations that need not be made. A head that needs more of some resource than is available on
 * every flavor, and that can have no victims there, is NoFit or without candidates whatever else
 * holds; under BestEffortFIFO it is parked with its whole class. Such proofs are cheap, so
 *
 *  - a head with a proof is parked without an evaluation, and
 *  - a flush leaves a queue alone whose parked classes all have one: it only counts the cycles in
 *    which they would have been looked at, one class in each. When the tree changes before these
 *    cycles are over, the proof is made again, or the rest is really woken.
 *
 * The decisions are the same as without (the replay of recorded cases runs both ways). The cycle's
 * own log is not, so proofs are off while entries are recorded.
 */
#ifndef MODELS_POLICIES_KUEUE_FAST_H
#define MODELS_POLICIES_KUEUE_FAST_H

#include "models/policies/kueue/kq.h"

enum kq_proof {
    KQ_OPEN,     /* may fit, or find victims */
    KQ_WAITS,    /* waits, and touches nobody else */
    KQ_RESERVES  /* waits, but may reserve what others could take in the same cycle (2.8) */
};

/* A class of a queue, at the state as it is. *resource: the one that is short. */
enum kq_proof kq_prove_class(struct kq *k, struct kq_cq *cq, struct kq_class *c,
                             uint32_t *resource);

/* All parked classes of a queue at once. */
enum kq_proof kq_prove_parked(struct kq *k, struct kq_cq *cq);

/* Flushes a tree, in proof where that is possible; true if anything was parked. */
bool kq_flush_tree(struct kq *k, struct kq_tree *t);

/* A workload comes into a queue that is woken in proof: the rest of it is woken first. */
void kq_before_enqueue(struct kq *k, struct kq_cq *cq);

/* Before a cycle: queues woken in proof in trees that changed since are proven again or woken. */
void kq_recheck_woken(struct kq *k);
/* The last cycle in which a queue woken in proof has a class to look at; 0: there is none. */
uint64_t kq_woken_until(const struct kq *k);
void kq_end_woken(struct kq *k);
/* A queue is no longer woken in proof: what was not yet looked at was no decision. */
void kq_end_wake(struct kq *k, struct kq_cq *cq);

/* Takes heads with a proof out of `order` and parks them; true if there were any. */
bool kq_park_proven(struct kq *k, struct kq_ids *order);

/* The parked classes of a queue changed. */
void kq_parked_changed(struct kq_cq *cq);

#endif
