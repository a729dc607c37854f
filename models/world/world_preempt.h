/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preemption by the scheduler (arbiter part schedulerPreemption): a workload that has quota but no
 * node evicts pods of lower priority on nodes it may use, by the rules of models/fleet/preempt.h.
 * Priorities are those of PriorityClass; `preemptionPolicy: Never` keeps a workload from evicting,
 * not from being evicted. It acts below the admission policy and knows no quota.
 *
 *  - A victim replica is replaced: a new workload that asks for quota again.
 *  - A victim job keeps its quota and place in the queue; its gang falls back to the last
 *    checkpoint and its lost pods (under `gang: quota` all of them, for a gang is placed whole) wait
 *    for a node again. The policy is told that pods are no longer ready.
 *  - A gang that is placed whole preempts whole: nobody is evicted unless all of its workers then
 *    have a place. Under `gang: pods` each pod is on its own, as in a real cluster.
 *  - The nodes of its plan are promised to a preemptor (promised.h). While pods leave them (evictionGrace)
 *    it evicts nobody else; others may count on such pods to go as well, and evict them no second time.
 *    Unplaced workloads are tried by priority, then in order; who comes new joins them while cards have just come free.
 */
#ifndef MODELS_WORLD_WORLD_PREEMPT_H
#define MODELS_WORLD_WORLD_PREEMPT_H

#include "models/world/world_priv.h"

/* All but the first two do nothing, or say no, when the arbiter has no scheduler preemption. */
void preemption_init(struct world *w);
void preemption_fini(struct world *w);
bool preemption_on(const struct world *w);

/* Where the workload holds cards now, and that it does no longer. */
void preemption_placed(struct world *w, uint32_t wl);
void preemption_released(struct world *w, uint32_t wl);

/* It is unplaced no more, without a place. */
void preemption_withdrawn(struct world *w, uint32_t wl);
/* Parts on the node whose pods, of a lower priority, go to make room; until the next such call. */
const struct lease_part *preemption_leaving(struct world *w, int32_t node, int64_t priority, int32_t *count);

/* The unplaced workload looks for victims and evicts them. */
void preemption_try(struct world *w, uint32_t wl);

int64_t workload_priority(const struct world *w, uint32_t wl);
/* Goes the first before the second in the list of unplaced ones? */
bool preemption_before(const struct world *w, uint32_t a, uint32_t b);

void preemption_emit(struct world *w); /* metrics */

#endif
