/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small clusters for tests: one resource and one flavor unless said otherwise, seconds as time. */
#ifndef TESTS_POLICIES_CLUSTER_H
#define TESTS_POLICIES_CLUSTER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/policies/settle.h"

enum { CL_MAX = 32, CL_WL_MAX = 256, CL_S = 1000000000 };
#define CL_NIL POLICY_NIL

struct cluster {
    struct policy_config cfg;
    struct policy_flavor flavors[4];
    struct policy_cohort cohorts[CL_MAX];
    struct policy_cluster_queue queues[CL_MAX];
    struct policy_local_queue locals[CL_MAX];
    struct policy_resource_group groups[2 * CL_MAX];
    struct policy_quota quotas[2 * CL_MAX][4];
    uint32_t group_count;
    const struct policy_ops *ops;
    void *policy;
    struct settle *settle;
    struct settle_config settling;
    struct policy_workload workloads[CL_WL_MAX];
    uint32_t workload_count;
    bool admitted[CL_WL_MAX];
    struct policy_entry last_admit;
    struct { /* since cl_forget */
        uint32_t victim, preemptor;
        enum policy_evict_reason reason;
        int64_t until_ns;
        uint32_t count;
    } evicted[CL_WL_MAX];
    uint32_t evicted_count, admit_count, deactivated_count;
};

static const char *const cl_resources[] = {"gpu"};
static const uint32_t cl_ids[] = {0, 1, 2, 3};
static const struct policy_selector cl_everything;

static inline struct cluster *cl_new(void)
{
    struct cluster *c = calloc(1, sizeof *c);
    static const char *const names[] = {"one", "two", "three", "four"};
    for (int i = 0; i < 4; i++)
        c->flavors[i] = (struct policy_flavor){.name = names[i], .topology = POLICY_NONE};
    c->cfg = (struct policy_config){.abi = POLICY_ABI,
                                    .size = sizeof c->cfg,
                                    .resources = cl_resources,
                                    .resource_count = 1,
                                    .flavors = c->flavors,
                                    .flavor_count = 1,
                                    .cohorts = c->cohorts,
                                    .cluster_queues = c->queues,
                                    .local_queues = c->locals};
    return c;
}

/* A group of the first n flavors with these quotas. */
static inline const struct policy_resource_group *cl_group(struct cluster *c, uint32_t n,
                                                           const struct policy_quota *q)
{
    struct policy_quota *to = c->quotas[c->group_count];
    for (uint32_t i = 0; i < n; i++)
        to[i] = q[i];
    c->groups[c->group_count] = (struct policy_resource_group){cl_ids, cl_ids, to, 1, n};
    return &c->groups[c->group_count++];
}

/* own < 0: no quota of its own. */
static inline uint32_t cl_cohort(struct cluster *c, const char *name, uint32_t parent, int64_t own,
                                 int64_t borrow, int64_t lend)
{
    struct policy_cohort *to = &c->cohorts[c->cfg.cohort_count];
    const struct policy_quota q = {own, borrow, lend};
    *to = (struct policy_cohort){.name = name, .parent = parent, .weight = 1.0};
    if (own >= 0) {
        to->groups = cl_group(c, 1, &q);
        to->group_count = 1;
    }
    return c->cfg.cohort_count++;
}

static inline uint32_t cl_queue(struct cluster *c, const char *name, uint32_t cohort, int64_t nominal,
                                int64_t borrow, int64_t lend)
{
    const struct policy_quota q = {nominal, borrow, lend};
    const uint32_t id = c->cfg.cluster_queue_count++;
    c->queues[id] = (struct policy_cluster_queue){.name = name,
                                                  .cohort = cohort,
                                                  .groups = cl_group(c, 1, &q),
                                                  .group_count = 1,
                                                  .namespace_selector = &cl_everything,
                                                  .when_can_preempt = POLICY_TRY_NEXT_FLAVOR,
                                                  .max_priority_threshold = POLICY_NIL,
                                                  .weight = 1.0};
    c->locals[id] = (struct policy_local_queue){.name = name, .cluster_queue = id, .weight = 1.0};
    c->cfg.local_queue_count++;
    return id;
}

static inline void cl_apply(void *ctx, int64_t now, const struct policy_output *o, size_t n)
{
    struct cluster *c = ctx;
    (void)now;
    for (size_t i = 0; i < n; i++) {
        if (o[i].kind == POLICY_DO_ADMIT) {
            c->admitted[o[i].workload] = true;
            c->last_admit = *o[i].u.entry;
            c->last_admit.sets = NULL; /* gone after this call */
            c->admit_count++;
        } else if (o[i].kind == POLICY_DO_EVICT) {
            c->admitted[o[i].workload] = false;
            c->evicted[c->evicted_count].victim = o[i].workload;
            c->evicted[c->evicted_count].preemptor = o[i].u.evict.preemptor;
            c->evicted[c->evicted_count].reason = o[i].u.evict.reason;
            c->evicted[c->evicted_count].count = o[i].u.evict.count;
            c->evicted[c->evicted_count++].until_ns = o[i].u.evict.until_ns;
        } else if (o[i].kind == POLICY_DO_DEACTIVATE) {
            c->deactivated_count++;
        }
    }
}

static inline void cl_start(struct cluster *c)
{
    char error[256];
    c->ops = policy_kueue();
    c->policy = c->ops->create(&c->cfg, NULL, error, sizeof error);
    assert_non_null(c->policy);
    const struct settle_host host = {.ctx = c, .apply = cl_apply};
    c->settle = settle_create(c->ops, c->policy, &c->settling, &host);
}

static inline void cl_end(struct cluster *c)
{
    settle_destroy(c->settle);
    c->ops->destroy(c->policy);
    free(c);
}

static inline void cl_forget(struct cluster *c)
{
    c->evicted_count = c->admit_count = c->deactivated_count = 0;
}

static inline uint32_t cl_shape(struct cluster *c, int64_t count, int64_t min_count, int64_t each)
{
    const struct policy_amount a = {0, each};
    const struct policy_pod_set set = {.name = "main",
                                       .count = count,
                                       .min_count = min_count,
                                       .requests = &a,
                                       .request_count = 1};
    const struct policy_shape shape = {&set, 1};
    return c->ops->register_shape(c->policy, &shape);
}

static inline enum settle_status cl_give(struct cluster *c, int64_t at_s, enum policy_input_kind kind,
                                         uint32_t workload)
{
    struct policy_input in = {.kind = kind, .workload = workload};
    if (kind == POLICY_IN_SUBMIT)
        in.submit = &c->workloads[workload];
    return policy_settle(c->settle, at_s * CL_S, &in, 1);
}

/* Submits a workload of a shape and settles; its id. UIDs and names in order of submission. */
static inline uint32_t cl_submit_shape(struct cluster *c, int64_t at_s, uint32_t queue, int64_t priority,
                                       uint32_t shape)
{
    const uint32_t id = c->workload_count++;
    c->workloads[id] = (struct policy_workload){.id = id,
                                                .local_queue = queue,
                                                .shape = shape,
                                                .priority = priority,
                                                .created_ns = at_s * CL_S,
                                                .uid_order = id,
                                                .name_order = id};
    cl_give(c, at_s, POLICY_IN_SUBMIT, id);
    return id;
}

static inline uint32_t cl_submit(struct cluster *c, int64_t at_s, uint32_t queue, int64_t priority,
                                 int64_t amount)
{
    return cl_submit_shape(c, at_s, queue, priority, cl_shape(c, 1, POLICY_NIL, amount));
}

static inline enum settle_status cl_settle(struct cluster *c, int64_t at_s)
{
    return policy_settle(c->settle, at_s * CL_S, NULL, 0);
}

static inline struct policy_quota_state cl_quota(struct cluster *c, enum policy_object_kind kind,
                                                 uint32_t id)
{
    struct policy_quota_state s;
    assert_true(c->ops->quota(c->policy, kind, id, 0, 0, &s));
    return s;
}

#endif
