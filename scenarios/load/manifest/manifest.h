/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The objects of a cluster that runs Kueue, as `kubectl get ... -o yaml|json` prints them, as the
 * configuration of the admission policy and a list of workloads (docs/manifests.md).
 *
 * What the API server or a webhook would refuse is an error with the field's path; what makes a
 * ClusterQueue inactive or a Workload inadmissible is kept with the controller's reason; a field
 * that would change a decision and is not modelled is a warning; unknown kinds are counted.
 * Defaults are those of the API (v1beta1 and v1beta2).
 */
#ifndef SCENARIOS_LOAD_MANIFEST_MANIFEST_H
#define SCENARIOS_LOAD_MANIFEST_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include "models/policies/policy.h"
#include "scenarios/load/manifest/mnode.h"
#include "sim/arena.h"
#include "sim/diag.h"

struct manifest_use { /* of a workload that holds quota: total of one pod set */
    uint32_t set, flavor, resource;
    int64_t amount;
};

struct manifest_workload {
    const char *name_space, *name, *uid; /* uid "" when it has none */
    const char *owner_kind;              /* Job, JobSet, ...; "Workload" without an owner */
    const char *owner;
    const char *queue;       /* spec.queueName */
    const char *class_name;  /* label of Kueue's performance generator, or "" */
    struct policy_shape shape;
    struct policy_workload policy; /* created_ns since manifest.start_ns; shape not yet filled in;
                                      local_queue POLICY_NONE: none */
    const char *inadmissible; /* why no queue will take it; NULL: it is looked at */
    bool active;              /* spec.active */
    bool finished, failed;
    bool forever;             /* a Deployment's pod: it does not end */
    /* Unix ns; POLICY_NEVER: not (or no longer) recorded */
    int64_t created, reserved, admitted, ready, ended;
    int64_t past_ns;     /* accumulated execution time before its evictions */
    int64_t limit_ns;    /* maximumExecutionTimeSeconds; POLICY_NEVER: none */
    int64_t duration_ns; /* of the recorded run; POLICY_NEVER: not known */
    int64_t startup_ns;  /* from the admission until all pods were ready; 0: not known */
    uint32_t cluster_queue; /* of status.admission; POLICY_NONE: holds no quota */
    struct manifest_use *uses;
    int64_t *held_counts; /* by pod set; NULL without an admission */
    uint32_t use_count;
    uint32_t evictions;     /* status.schedulingStats */
    const char *file;       /* as the caller named it */
    int32_t line, column; /* 0: not known (JSON) */
};

struct manifest_queue { /* beside config.cluster_queues[i] */
    const char *inactive;   /* why, as the controller says; NULL: active */
    int64_t check_delay_ns; /* between reservation and admission: its admission checks */
    bool has_checks;
};

struct manifest_object { /* as it was read; Workloads and what makes them are not among them */
    const char *kind, *name_space, *name; /* name_space "" where there is none */
    const char *file;
    const struct mnode *node;
};

struct manifest_kind {
    char name[64];
    uint32_t count;
    bool known;
};

struct manifest {
    struct arena mem;
    struct policy_config config; /* record flags are the caller's */
    int64_t start_ns;            /* Unix ns of t = 0: the earliest creation, whole seconds */
    struct manifest_workload *workloads; /* by (created, name); id = index */
    uint32_t workload_count;
    struct manifest_queue *queues;
    const char *const *local_queue_keys; /* "namespace/name" by id */
    struct manifest_kind *kinds;
    uint32_t kind_count;
    const char *version;      /* of the controller's image, or NULL */
    bool has_configuration;
    bool generator;           /* made from a file of the performance generator */
    uint32_t main_resource;   /* what figures count: GPUs, else cpu; POLICY_NONE */
    int64_t main_unit;        /* amount of one card or core: 1, or 1000 for cpu */
    uint64_t hash;            /* of the bytes read */
    /* Of manifest_read_objects alone: sorted by kind, namespace and name. */
    struct arena tree;
    struct manifest_object *objects;
    uint32_t object_count;
};

/* Reads files (plain, gzip or zstd; "-" = standard input). NULL after errors, which are in diags;
 * warnings are there as well. */
struct manifest *manifest_read(const char *const *paths, int count, struct diag_list *diags);

/* The same, and the objects themselves stay, so that problems found later can name their place. */
struct manifest *manifest_read_objects(const char *const *paths, int count, struct diag_list *diags);

/* NULL when there is none. name_space NULL: the kind has none. */
const struct manifest_object *manifest_find(const struct manifest *m, const char *kind, const char *name_space,
                                            const char *name);

/* The same from memory (NUL-terminated). */
struct manifest *manifest_read_text(const char *name, const char *text, size_t length,
                                    struct diag_list *diags);

/* Objects that somebody else parsed: Kubernetes objects, and ClusterQueues that replace those of
 * the same name later (their specs come back in `replaced`, in the manifest's memory). */
struct manifest_parts {
    const cJSON *const *objects;
    size_t object_count;
    const cJSON *const *replacements;
    size_t replacement_count;
    struct policy_cluster_queue *replaced; /* replacement_count of them, filled */
    uint32_t *replaced_ids;                /* filled; POLICY_NONE: there is no such queue */
};
struct manifest *manifest_read_parts(const char *name, const struct manifest_parts *parts,
                                     struct diag_list *diags);

/* NULL is allowed. */
void manifest_free(struct manifest *m);

/* One line each: what was read, what was not. */
void manifest_describe(const struct manifest *m, FILE *out);

/* Total request of a workload in amounts of a resource (all pods); saturates. */
int64_t manifest_request(const struct manifest_workload *w, uint32_t resource);

#endif
