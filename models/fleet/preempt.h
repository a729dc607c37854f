/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preemption as kube-scheduler's plugin DefaultPreemption does it (kubernetes/kubernetes,
 * pkg/scheduler/framework/plugins/defaultpreemption and framework/preemption):
 *
 *  - on one node (SelectVictimsOnNode): all pods of lower priority go; if the pod fits then, they
 *    come back one by one, the most important first (higher priority, then earlier start), unless
 *    the pod no longer fits; who cannot come back is a victim;
 *  - among nodes (pickOneNodeForPreemption): the lowest of the highest victim priorities, then the
 *    smallest sum of (priority + 2^31), then the fewest victims, then the latest start among the
 *    earliest of the victims of highest priority, then the first node;
 *  - as many candidates are looked for as DefaultPreemptionArgs say: a tenth of the nodes, at least
 *    a hundred;
 *  - "fits" means beside the pods of no lower priority that are nominated for the node
 *    (RunFilterPluginsWithNominatedPods in framework/runtime): preempt_promised.
 *
 * Left out: pod disruption budgets (as if there were none), extenders.
 * Nothing here changes the fleet: one node at a time is copied and tried on.
 */
#ifndef MODELS_FLEET_PREEMPT_H
#define MODELS_FLEET_PREEMPT_H

#include "models/fleet/fleet.h"

/* One pod on the node looked at. */
struct preempt_pod {
    uint32_t id;             /* the caller's */
    int64_t priority;
    int64_t started_ns;
    struct lease_part part;
};

/* What the choice among nodes goes by. */
struct preempt_rank {
    int64_t highest;         /* priority of the most important victim */
    int64_t sum;             /* of (priority + 2^31) */
    int32_t victims;
    int64_t earliest_ns;     /* start of the first among those of highest priority */
};

struct preempt_view;

struct preempt_view *preempt_open(const struct fleet *f);
void preempt_close(struct preempt_view *v);

/* Nodes of a pool: first .. first + returned - 1. */
int32_t preempt_pool_nodes(const struct fleet *f, int32_t pool, int32_t *first);

/* The view becomes a copy of this node as it is. */
void preempt_look(struct preempt_view *v, int32_t node);
/* The worker is gone from, or back on, the viewed node. */
void preempt_without(struct preempt_view *v, const struct lease_part *part);
void preempt_with(struct preempt_view *v, const struct lease_part *part);
/* On the viewed node this worker comes first, until the next look. The request's pools must outlive that. */
void preempt_promised(struct preempt_view *v, const struct place_request *req);
/* Does one worker of the request fit, after those that come first? False, too, when one of them asks for a share
 * and does not fit. */
bool preempt_fits(const struct preempt_view *v, const struct place_request *req);
/* One worker of the request is put there; it fits. */
void preempt_put(struct preempt_view *v, const struct place_request *req);

/* pods: all that may go from the viewed node. They are reordered, victims in front by importance;
 * returns how many victims, 0 when the worker would not fit even without all of them. The view is
 * left without the victims. */
int32_t preempt_victims(struct preempt_view *v, const struct place_request *req,
                        struct preempt_pod *pods, int32_t count);

struct preempt_rank preempt_rank_of(const struct preempt_pod *victims, int32_t count);
/* Is the first node to be preferred (not only equal)? */
bool preempt_better(const struct preempt_rank *a, const struct preempt_rank *b);
/* Candidates to look for among so many nodes (minCandidateNodesPercentage 10, Absolute 100). */
int32_t preempt_candidates(int32_t nodes);

#endif
