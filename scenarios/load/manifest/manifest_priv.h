/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside of the manifest reader: the reading under way, typed getters, one function per kind. */
#ifndef SCENARIOS_LOAD_MANIFEST_MANIFEST_PRIV_H
#define SCENARIOS_LOAD_MANIFEST_MANIFEST_PRIV_H

#include "scenarios/load/import/names.h"
#include "scenarios/load/manifest/manifest.h"
#include "scenarios/load/manifest/mnode.h"

struct mf_slot { /* an object of some kind, by its id */
    bool defined;
    const char *file;
    int32_t line, column;
};

struct mf_ids { /* names of one kind; id = number - 1 */
    struct names names;
    struct mf_slot *slots;
    size_t capacity;
};

struct mf_namespace {
    struct policy_label *labels;
    uint32_t label_count;
};

enum mf_limit_type { MF_LIMIT_CONTAINER, MF_LIMIT_POD, MF_LIMIT_TYPES };

struct mf_amounts { /* resource -> amount, in order of appearance */
    struct policy_amount *v;
    uint32_t count;
};

struct mf_limits { /* LimitRanges of a namespace, summarised */
    bool set[MF_LIMIT_TYPES];
    struct mf_amounts max[MF_LIMIT_TYPES], min[MF_LIMIT_TYPES];
    struct mf_amounts defaults[MF_LIMIT_TYPES], default_requests[MF_LIMIT_TYPES];
};

struct mf_local { /* LocalQueue as read; its namespace is resolved at the end */
    struct policy_local_queue queue;
    uint32_t name_space;
};

struct mf_queue {
    struct policy_cluster_queue queue;
    const struct mnode *checks; /* names of admission checks: list of maps or texts */
};

struct mf_transformation {
    const char *input;
    bool replace;
    const char **outputs;
    double *factors; /* units of output per unit of input */
    uint32_t output_count;
};

struct mf_workload {
    struct manifest_workload w;
    const char *priority_class; /* key of mf.classes, NULL: none */
    bool has_priority;
    bool from_job; /* made from a Job and the like: dropped when a Workload of it exists */
};

struct mf_note {
    char text[160];
    uint32_t count;
};

struct mf {
    struct manifest *m;
    struct arena tree; /* nodes; freed at the end */
    struct diag_list *diags;
    const char *file;
    /* the object at hand */
    const char *kind, *name, *name_space;
    const struct mf_slot *slot; /* once all are read: where it stands; NULL */
    bool v1beta1;
    int phase; /* 0: objects, 1: workloads and what makes them */
    char path[256];
    size_t path_length;
    /* names */
    struct mf_ids resources, flavors, cohorts, queues, locals, topologies, nodes, namespaces, checks,
        classes, workload_names;
    /* objects by id */
    struct policy_flavor *flavor;
    struct policy_cohort *cohort;
    struct mf_queue *queue;
    struct mf_local *local;
    struct policy_topology *topology;
    struct policy_node *node;
    struct mf_namespace *name_space_of;
    struct mf_limits *limits; /* by namespace */
    bool *check_inactive;
    int64_t *class_value;
    size_t flavor_capacity, cohort_capacity, queue_capacity, local_capacity, topology_capacity,
        node_capacity, namespace_capacity, limits_capacity, check_capacity, class_capacity;
    struct mf_workload *workloads;
    size_t workload_count, workload_capacity;
    /* Kueue's configuration */
    bool configured;
    const char **excluded; /* excludeResourcePrefixes */
    uint32_t excluded_count;
    struct mf_transformation *transformations;
    uint32_t transformation_count;
    struct policy_gate *gates;
    size_t gate_count, gate_capacity;
    const struct mnode *weights; /* of admission fair sharing */
    bool pods_ready_set;
    int32_t minor; /* of the controller: 18 for v0.18; -1: not known */
    bool keep; /* objects stay with the manifest */
    struct manifest_object *objects;
    size_t object_count, object_capacity;
    struct mf_note *notes;
    size_t note_count, note_capacity, kind_capacity;
};

/* ---- manifest_field.c ---- */

/* Id of a name, new or known. */
uint32_t mf_id(struct mf_ids *ids, const char *name);
uint32_t mf_id_find(const struct mf_ids *ids, const char *name);
const char *mf_id_name(const struct mf_ids *ids, uint32_t id);
static inline uint32_t mf_id_count(const struct mf_ids *ids)
{
    return (uint32_t)ids->names.count;
}
/* Marks it as defined here; false after an error when it already was. */
bool mf_define(struct mf *r, struct mf_ids *ids, uint32_t id, const struct mnode *at);
bool mf_defined(const struct mf_ids *ids, uint32_t id);

/* Makes room for item id in *array, zeroing new ones. */
void *mf_room(void *array, size_t *capacity, size_t id, size_t size);

/* Goes into a field (printf of ".name" or "[%u]"); mf_out goes back. */
size_t mf_into(struct mf *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void mf_out(struct mf *r, size_t mark);
/* All are read: what is said next without a node is about this object, where it stands. */
void mf_about(struct mf *r, const char *kind, const char *name, const struct mf_ids *ids, uint32_t id);
/* Problem with the object's field at the path, or with `key` below it (NULL: the path itself). */
void mf_error(struct mf *r, const struct mnode *at, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void mf_warn(struct mf *r, const struct mnode *at, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Counts a field that is not modelled; told once at the end. */
void mf_unsupported(struct mf *r, const char *what);

/* Unknown members of a map are warned about, with the nearest known name. */
void mf_known(struct mf *r, const struct mnode *map, const char *const *names);
/* A member of that kind or NULL; another kind is an error. */
const struct mnode *mf_map(struct mf *r, const struct mnode *map, const char *key);
const struct mnode *mf_list(struct mf *r, const struct mnode *map, const char *key);
const char *mf_string(struct mf *r, const struct mnode *map, const char *key, const char *otherwise);
/* The resource that the key of a map names; POLICY_NONE, and reported, when it is empty. */
uint32_t mf_resource(struct mf *r, const struct mnode *at);
/* Reports a name or namespace that the API server would refuse; that there is one is mf_define's matter. */
void mf_object_name(struct mf *r, const struct mnode *meta);
bool mf_bool(struct mf *r, const struct mnode *map, const char *key, bool otherwise);
int64_t mf_int(struct mf *r, const struct mnode *map, const char *key, int64_t least, int64_t most,
               int64_t otherwise);
/* Index of the text among NULL-terminated names; another one is an error and gives otherwise. */
int mf_choice(struct mf *r, const struct mnode *map, const char *key, const char *const *names,
              int otherwise);
/* Quantity of a resource in Kueue's unit. False when missing (no error) or bad (error). */
bool mf_quantity(struct mf *r, const struct mnode *map, const char *key, const char *resource,
                 int64_t *amount);
/* resource -> quantity of a map such as requests. */
struct mf_amounts mf_amounts(struct mf *r, const struct mnode *map, const char *key, bool negative_ok);
int64_t mf_amount_of(const struct mf_amounts *a, uint32_t resource, int64_t otherwise);
void mf_amount_set(struct arena *a, struct mf_amounts *to, uint32_t resource, int64_t amount);
/* RFC 3339 in UTC or with an offset, as Unix ns; POLICY_NEVER when missing or (with an error) bad. */
int64_t mf_time(struct mf *r, const struct mnode *map, const char *key);
/* Go's duration text ("5m0s"); an error when bad. */
int64_t mf_duration(struct mf *r, const struct mnode *map, const char *key, int64_t otherwise);
bool mf_go_duration(const char *text, int64_t *ns);
struct policy_label *mf_labels(struct mf *r, const struct mnode *map, const char *key, uint32_t *count);
struct policy_selector mf_selector(struct mf *r, const struct mnode *s);
struct policy_taint *mf_taints(struct mf *r, const struct mnode *map, const char *key, uint32_t *count);
struct policy_toleration *mf_tolerations(struct mf *r, const struct mnode *map, const char *key,
                                         uint32_t *count);
/* Copy in the manifest's memory. */
const char *mf_keep(struct mf *r, const char *text);

/* ---- one object each; `o` is the object ---- */
void mf_cluster_queue(struct mf *r, const struct mnode *o);
/* The spec alone, for objects that replace another one. */
void mf_cluster_queue_spec(struct mf *r, const struct mnode *spec, struct policy_cluster_queue *q);
double mf_weight(struct mf *r, const struct mnode *spec);
enum policy_stop mf_stop(struct mf *r, const struct mnode *spec);
void mf_cohort(struct mf *r, const struct mnode *o);
void mf_flavor(struct mf *r, const struct mnode *o);
void mf_topology(struct mf *r, const struct mnode *o);
void mf_node(struct mf *r, const struct mnode *o);
void mf_local_queue(struct mf *r, const struct mnode *o);
void mf_namespace(struct mf *r, const struct mnode *o);
void mf_limit_range(struct mf *r, const struct mnode *o);
void mf_admission_check(struct mf *r, const struct mnode *o);
void mf_priority_class(struct mf *r, const struct mnode *o);
void mf_workload(struct mf *r, const struct mnode *o);
void mf_job(struct mf *r, const struct mnode *o);
void mf_jobset(struct mf *r, const struct mnode *o);
void mf_pytorch(struct mf *r, const struct mnode *o);
void mf_deployment(struct mf *r, const struct mnode *o);
void mf_configuration(struct mf *r, const struct mnode *o);
void mf_config_map(struct mf *r, const struct mnode *o);
/* A file of Kueue's performance generator, which is no object. */
bool mf_is_generator(const struct mnode *o);
void mf_generator(struct mf *r, const struct mnode *o);
/* Any document: lists are opened, unknown kinds counted. */
void mf_object(struct mf *r, const struct mnode *o);

/* ---- parts ---- */
/* A pod template's spec as a pod set: requests, selectors, tolerations. `why` receives why the
 * workload is inadmissible (requests above limits, LimitRange), or stays. */
void mf_pod_spec(struct mf *r, const struct mnode *spec, uint32_t name_space,
                 struct policy_pod_set *to, const char **why);
void mf_topology_request(struct mf *r, const struct mnode *t, struct policy_topology_request *to);
void mf_topology_annotations(struct mf *r, const struct mnode *annotations,
                             struct policy_topology_request *to);
/* A new workload of the object at hand. */
struct mf_workload *mf_workload_new(struct mf *r, const struct mnode *o);
/* Everything that needs all objects: references, defaults, order, configuration. */
void mf_link(struct mf *r);
void mf_link_workloads(struct mf *r);
/* A Deployment that runs the controller: its version and gates. False: it is another one. */
bool mf_controller(struct mf *r, const struct mnode *o);
/* manifest_objects.c: the object at hand is kept; at the end all of them go to the manifest. */
void mf_keep_object(struct mf *r, const struct mnode *o);
void mf_hand_over_objects(struct mf *r);
/* What the version decides when the configuration is silent. */
void mf_version_defaults(struct mf *r);
/* Configured transformations and exclusions of a pod's requests. */
void mf_transform(struct mf *r, struct mf_amounts *requests);

#endif
