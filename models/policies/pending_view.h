/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pending view of one policy instance: follows its outputs, keeps quota over time at every node
 * (quota_flow.h), and raises an alarm where the head of a queue would fit the quota that the queue
 * itself has left and stays out nevertheless.
 *
 * An alarm begins when an instant has settled and the first waiting workload of a queue asks for
 * no more than nominal - used of the queue, on flavors that it may use; it ends when that is no
 * longer so, or another workload is first. It counts when it lasted longer than `patience_ns`:
 * at rest the policy admits such a head in its next cycle, so the wake-up's batch and the grace of
 * an eviction are the longest waits that mean nothing.
 */
#ifndef MODELS_POLICIES_PENDING_VIEW_H
#define MODELS_POLICIES_PENDING_VIEW_H

#include "models/policies/quota_flow.h"

#define PENDING_ALARMS_MAX 1000 /* kept; all are counted */
#define PENDING_NAME_SIZE 160
/* Added to the batch of wake-ups and the grace of evictions. */
#define PENDING_PATIENCE_NS (INT64_C(60) * 1000000000)

struct pending_alarm {
    int64_t from_ns, to_ns;
    uint32_t cluster_queue;
    char workload[PENDING_NAME_SIZE];
    const char *reason; /* a word, see pending_alarm.c */
    char why[400];      /* the numbers */
};

struct pending_options {
    const struct policy_config *config; /* must outlive the view */
    const struct policy_ops *ops;
    void *policy;
    int64_t patience_ns;
    uint32_t main_resource; /* a head without any of it is not looked at while none is left; POLICY_NONE */
    const double *units;    /* by resource: policy units in one unit as people say it */
    void *ctx;
    void (*name)(void *ctx, uint32_t workload, char name[PENDING_NAME_SIZE]);
    bool holdings;          /* keep who held what, see pending_holdings */
};

struct pending_view;

struct pending_view *pending_create(const struct pending_options *options);
void pending_destroy(struct pending_view *v);
struct qflow *pending_flow(struct pending_view *v);

/* A shape before the first output that names it. */
void pending_shape(struct pending_view *v, uint32_t id, const struct policy_shape *shape);

/* Outputs ADMIT and PENDING; others are passed over. An admitted workload reserves its quota; it is
 * `admitted` when `checks_ns` have passed (its admission checks). `shape`: of an admitted one. */
void pending_output(struct pending_view *v, int64_t now, const struct policy_output *o, uint32_t shape,
                    int64_t checks_ns);
/* It gave its quota back. */
void pending_release(struct pending_view *v, int64_t now, uint32_t workload);
/* An instant is at rest. */
void pending_settled(struct pending_view *v, int64_t now);
void pending_finish(struct pending_view *v, int64_t now);

/* Alarms in order of their end. *count: kept; the result: all. */
uint64_t pending_alarms(const struct pending_view *v, const struct pending_alarm **alarms, size_t *count);

/* What one workload held of one cell, in order of admission. */
struct pending_holding {
    const char *workload;
    uint32_t cell; /* of its cluster queue */
    int64_t amount, from_ns, to_ns; /* POLICY_NEVER: it still holds it */
};
size_t pending_holdings(const struct pending_view *v, const struct pending_holding **holdings);

/* ---- inside: pending_alarm.c ---- */
struct pending_watch;
struct pending_watch *pending_watch_create(const struct pending_options *o, const struct qflow *flow);
void pending_watch_destroy(struct pending_watch *w);
void pending_watch_dirty(struct pending_watch *w, uint32_t cluster_queue);
void pending_watch_settled(struct pending_watch *w, int64_t now);
void pending_watch_finish(struct pending_watch *w, int64_t now);
uint64_t pending_watch_alarms(const struct pending_watch *w, const struct pending_alarm **alarms, size_t *count);

#endif
