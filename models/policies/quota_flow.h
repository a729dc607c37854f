/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quota over time at every node of the tree: who is waiting for it, who holds it, who borrows it
 * from whom, and what is free. A node is a cluster queue or a cohort, a cell is one (flavor,
 * resource) that the node, or one below it, has quota for. Of a cell, in policy units:
 *
 *   nominal   nominal quota of the node and all below it
 *   pending   requests of waiting workloads (Kueue's cluster_queue_resource_pending; of a cohort,
 *             the sum below it). A request counts on the flavor that was tried last, else on the
 *             first one of its resource group.
 *   reserved  quota that is reserved (cluster_queue_resource_reservation, cohort_subtree_
 *             resource_reservations)
 *   admitted  of it by workloads whose admission checks are done (cluster_queue_resource_usage)
 *   borrowed  what the node uses beyond its subtree quota, from outside of it: the `borrowed` of a
 *             ClusterQueue's status; 0 at a root, as there
 *   lent      quota of the node that nodes outside of it use. Kueue keeps no such figure: what is
 *             not used goes into one pot. What is taken from the pot of a cohort comes from its
 *             children's unused quota that may be lent (lendingLimit) and from its own quota, in
 *             proportion to these amounts.
 *   free      nominal − reserved + borrowed − lent: used by nobody
 *
 * Usage goes up the tree as in Kueue (decision specification 3.1, 3.2): a cohort uses what its
 * children use beyond the part that they never lend. At every cohort
 *     lent by children + own quota lent + borrowed = borrowed by children + lent,
 * and over a whole tree lent = borrowed, as long as no more is used than there is.
 *
 * A change costs O(depth of the tree), whatever the number of queues: integrals of the share of a
 * pot that is taken stand in for those of its children.
 */
#ifndef MODELS_POLICIES_QUOTA_FLOW_H
#define MODELS_POLICIES_QUOTA_FLOW_H

#include "models/policies/policy.h"

enum qflow_what { QFLOW_PENDING, QFLOW_RESERVED, QFLOW_ADMITTED, QFLOW_BORROWED, QFLOW_LENT, QFLOW_FREE, QFLOW_COUNT };

#define QFLOW_STEPS_MAX 1000
#define QFLOW_UNLIMITED (INT64_C(1) << 50) /* stands for POLICY_UNLIMITED, so that sums do not overflow */

struct qflow;

/* Objects of the configuration; it is not needed afterwards. Cohorts in a circle have no parent. */
struct qflow *qflow_create(const struct policy_config *config);
void qflow_destroy(struct qflow *f);

/* Means are kept per step: `step_ns` long, longer after 500 of them so that at most QFLOW_STEPS_MAX
 * follow. 0 (the default): nothing is kept. */
void qflow_keep(struct qflow *f, int64_t step_ns);
/* A round length for a run of `horizon_ns`: fewer steps where there are many cells. */
int64_t qflow_step(const struct qflow *f, int64_t horizon_ns);

/* Cells are numbered from 0. POLICY_NONE: the node has no such quota. */
uint32_t qflow_cell(const struct qflow *f, enum policy_object_kind kind, uint32_t id, uint32_t flavor, uint32_t resource);
uint32_t qflow_cell_count(const struct qflow *f);
/* Cell of a queue for a waiting request: the flavor tried if it has the resource, else the first. */
uint32_t qflow_waiting_cell(const struct qflow *f, uint32_t cluster_queue, uint32_t tried, uint32_t resource);

struct qflow_place {
    enum policy_object_kind kind; /* POLICY_OBJ_CLUSTER_QUEUE or POLICY_OBJ_COHORT */
    uint32_t id, flavor, resource;
    uint32_t parent;              /* cell; POLICY_NONE: a root, or a queue that stands alone */
};
struct qflow_place qflow_place(const struct qflow *f, uint32_t cell);

/* Most that the node can ever use: as if nothing were used (3.3). POLICY_UNLIMITED is kept. */
int64_t qflow_potential(const struct qflow *f, uint32_t cell);
/* Nominal quota of the node alone. */
int64_t qflow_own(const struct qflow *f, uint32_t cell);
/* Limits of the node; POLICY_NIL: not set. */
int64_t qflow_borrowing_limit(const struct qflow *f, uint32_t cell);
int64_t qflow_lending_limit(const struct qflow *f, uint32_t cell);
/* Nominal quota of the node and all below it. */
int64_t qflow_nominal(const struct qflow *f, uint32_t cell);

/* What is reserved now. */
int64_t qflow_reserved(const struct qflow *f, uint32_t cell);

/* A change at a cell of a cluster queue. `now` never goes back. */
void qflow_pend(struct qflow *f, int64_t now, uint32_t cell, int64_t delta);
void qflow_reserve(struct qflow *f, int64_t now, uint32_t cell, int64_t delta);
void qflow_admit(struct qflow *f, int64_t now, uint32_t cell, int64_t delta);

struct qflow_state {
    int64_t nominal, subtree; /* subtree: without what nodes below never lend (3.1) */
    int64_t pending, reserved, admitted;
    int64_t used;             /* as Kueue counts it: spilled over the parts that are never lent */
    int64_t borrowed, over;   /* over: used beyond what there is, by nodes without a parent */
    double lent, own_lent;    /* own_lent: of a cohort's own quota */
    double free;
};
struct qflow_state qflow_state(const struct qflow *f, uint32_t cell);

/* Ends the last step. */
void qflow_finish(struct qflow *f, int64_t now);

/* What was kept of a cell, in order of time; a step equal to the one before is left out.
 * value[i] is the mean of enum qflow_what i from t_ns on. */
void qflow_each(const struct qflow *f, uint32_t cell,
                void (*fn)(void *ctx, int64_t t_ns, const double value[QFLOW_COUNT]), void *ctx);

#endif
