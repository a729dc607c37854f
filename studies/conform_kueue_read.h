/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorded case of the Kueue scheduler, as the policy's configuration and a list of jobs. */
#ifndef STUDIES_CONFORM_KUEUE_READ_H
#define STUDIES_CONFORM_KUEUE_READ_H

#include <cjson/cJSON.h>

#include "models/policies/policy.h"
#include "sim/arena.h"
#include "sim/err.h"

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

/* Shared by the parts of the reader. */
struct kueue_reader {
    struct kueue_case *c;
    const char **resources, **flavors, **cohorts, **queues, **locals, **topologies;
    uint32_t resource_count, flavor_count, cohort_count, queue_count, local_count, topology_count;
    struct err *e;
};
enum { KUEUE_NAMES_MAX = 4096 };
/* Index of a name, added if it is new. */
uint32_t kueue_name(struct kueue_reader *r, const char **names, uint32_t *count, const char *name);
uint32_t kueue_find(const char *const *names, uint32_t count, const char *name);

bool kueue_read_objects(struct kueue_reader *r, const cJSON *objects);
bool kueue_read_cluster_queue(struct kueue_reader *r, const cJSON *object,
                              struct policy_cluster_queue *q);
bool kueue_read_jobs(struct kueue_reader *r, const cJSON *jobs);
struct policy_selector kueue_read_selector(struct arena *mem, const cJSON *s);
struct policy_label *kueue_read_labels(struct arena *mem, const cJSON *map, uint32_t *count);
struct policy_toleration *kueue_read_tolerations(struct arena *mem, const cJSON *list,
                                                 uint32_t *count);
enum policy_effect kueue_read_effect(const char *text);
bool kueue_read_amount(struct kueue_reader *r, const char *resource, const cJSON *value,
                       int64_t *amount);

#endif
