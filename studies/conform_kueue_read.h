/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recorded case of the Kueue scheduler, as the policy's configuration and a list of jobs. Its
 * Kubernetes objects go through the reader of manifests, which users' objects go through as well.
 */
#ifndef STUDIES_CONFORM_KUEUE_READ_H
#define STUDIES_CONFORM_KUEUE_READ_H

#include <cjson/cJSON.h>

#include "models/policies/policy.h"
#include "sim/arena.h"
#include "sim/err.h"

struct manifest;

struct kueue_attempt { /* ns after the admission; POLICY_NEVER: does not happen */
    int64_t ready, unready, recovered, end;
};

struct kueue_job {
    const char *name;
    int64_t at_ns;
    struct kueue_attempt *attempts;
    uint32_t attempt_count;
    struct policy_shape shape;
    struct policy_workload workload; /* shape is filled in when it is registered */
};

struct kueue_change {
    int64_t at_ns;
    uint32_t id;
    struct policy_cluster_queue queue;
};

struct kueue_case {
    struct arena mem;
    struct manifest *manifest;
    const char *name, *group;
    struct policy_config config;
    int64_t eviction_ns;
    bool readiness; /* waitForPodsReady is configured: history has evictedAt */
    struct kueue_job *jobs;
    struct kueue_change *changes;
    uint32_t job_count, change_count;
    const cJSON *recorded; /* the whole case */
};

/* Fills c (zeroed before); pointers into `json` stay. False with e set: not such a case. */
bool kueue_case_read(const cJSON *json, struct kueue_case *c, struct err *e);
void kueue_case_fini(struct kueue_case *c);

/* Parts of it. Jobs come after the objects. */
bool kueue_read_objects(struct kueue_case *c, const cJSON *json, struct err *e);
bool kueue_read_jobs(struct kueue_case *c, const cJSON *jobs, struct err *e);

#endif
