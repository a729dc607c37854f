/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The admission policy as a plug-in (design, section 5). A policy decides which waiting gang may
 * have quota, on which flavors, and who is evicted for it. It places nothing, except that a
 * topology-aware policy may fix domains.
 *
 * The header stands alone (C17, <stdint.h>, <stddef.h>, <stdbool.h>), so that a policy can be
 * built outside of this tree as a shared object that exports
 *
 *     const struct policy_ops *fleetsim_policy(void);
 *
 * Contracts that hold everywhere:
 *  - Times are int64_t nanoseconds since the start of the run. A policy compares them cut to whole
 *    seconds where the real system does.
 *  - Amounts are int64_t in Kueue's units: cpu in milli-cores, every other resource in whole units.
 *  - Ids are small non-negative integers chosen by the host, one space per kind of object (flavor,
 *    resource, cohort, cluster queue, local queue, topology, node, shape, workload); tables are
 *    sized by the largest id, so keep them dense. POLICY_NONE means "none". Workload ids may be
 *    reused after WITHDRAW or FINISHED, but not while a cycle is suspended.
 *  - Everything a policy needs of an object (names, labels, taints, ...) is given when the object
 *    is set; the policy copies it. Order "by name" is byte order of the names.
 *  - A policy keeps no mutable global; instances run side by side, one thread each at a time.
 *  - Outputs are appended to the list that the call was given; what they point to lives until
 *    release_outputs. The host applies them in order.
 */
#ifndef MODELS_POLICIES_POLICY_H
#define MODELS_POLICIES_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POLICY_ABI 1u
#define POLICY_NONE UINT32_MAX       /* no such object */
#define POLICY_NEVER INT64_MAX       /* no such instant */
#define POLICY_UNLIMITED INT64_MAX   /* a quota that does not fit into 63 bits */
#define POLICY_NIL INT64_MIN         /* a limit that is not set (differs from 0) */

/* ---- Selection: labels, taints, tolerations ---------------------------------------------- */

struct policy_label {
    const char *key, *value;
};

enum policy_effect { POLICY_EFFECT_ANY, POLICY_NO_SCHEDULE, POLICY_PREFER_NO_SCHEDULE, POLICY_NO_EXECUTE };

struct policy_taint {
    const char *key, *value; /* value may be "" */
    enum policy_effect effect;
};

struct policy_toleration {
    const char *key, *value; /* key "" with exists tolerates everything */
    enum policy_effect effect; /* POLICY_EFFECT_ANY: all effects */
    bool exists;             /* operator Exists; otherwise Equal */
};

enum policy_operator { POLICY_IN, POLICY_NOT_IN, POLICY_EXISTS, POLICY_DOES_NOT_EXIST, POLICY_GT, POLICY_LT };

struct policy_expr {
    const char *key;
    enum policy_operator op;
    const char *const *values;
    uint32_t value_count;
};

/* All labels and all expressions must hold. As an affinity term it has expressions only. */
struct policy_selector {
    const struct policy_label *labels;
    const struct policy_expr *exprs;
    uint32_t label_count, expr_count;
};

/* ---- Objects ----------------------------------------------------------------------------- */

struct policy_flavor {
    const char *name;
    const struct policy_label *labels; /* nodeLabels */
    const struct policy_taint *taints; /* nodeTaints */
    const struct policy_toleration *tolerations;
    uint32_t label_count, taint_count, toleration_count;
    uint32_t topology; /* topologyName; POLICY_NONE: not a topology flavor */
};

struct policy_quota {
    int64_t nominal;
    int64_t borrowing_limit, lending_limit; /* POLICY_NIL: not set */
};

/* One resource group: quotas[f * resource_count + r]. Flavors in order of preference. */
struct policy_resource_group {
    const uint32_t *resources, *flavors;
    const struct policy_quota *quotas;
    uint32_t resource_count, flavor_count;
};

struct policy_cohort {
    const char *name;
    uint32_t parent; /* POLICY_NONE: a root. A cohort that is only named is set with no groups. */
    const struct policy_resource_group *groups; /* the cohort's own quota */
    uint32_t group_count;
    double weight; /* fairSharing.weight, default 1 */
};

/* POLICY_UNSET is the empty string, which the API's defaulting replaces (spec 1.3, pitfall). */
enum policy_preemption {
    POLICY_NEVER_PREEMPT,
    POLICY_LOWER_PRIORITY,
    POLICY_LOWER_OR_NEWER_EQUAL,
    POLICY_ANY,
    POLICY_UNSET
};
enum policy_queueing { POLICY_BEST_EFFORT_FIFO, POLICY_STRICT_FIFO };
enum policy_when { POLICY_MAY_STOP_SEARCH, POLICY_TRY_NEXT_FLAVOR };
enum policy_preference { POLICY_BORROWING_OVER_PREEMPTION, POLICY_PREEMPTION_OVER_BORROWING };
enum policy_stop { POLICY_RUN, POLICY_HOLD, POLICY_HOLD_AND_DRAIN };

struct policy_cluster_queue {
    const char *name;
    uint32_t cohort; /* POLICY_NONE: alone */
    const struct policy_resource_group *groups;
    uint32_t group_count;
    enum policy_queueing queueing;
    const struct policy_selector *namespace_selector; /* NULL: nil, matches nothing; empty: all */
    enum policy_when when_can_borrow, when_can_preempt;
    enum policy_preference preference;
    enum policy_preemption within_cluster_queue, reclaim_within_cohort, borrow_within_cohort;
    int64_t max_priority_threshold; /* of borrowWithinCohort; POLICY_NIL: not set */
    double weight;                  /* fairSharing.weight, default 1 */
    enum policy_stop stop;
    bool usage_based_admission; /* admissionScope: UsageBasedAdmissionFairSharing */
    bool inactive;              /* a check that is missing or inactive */
};

struct policy_usage_amount {
    uint32_t resource;
    double consumed; /* cores, bytes, pieces */
};

struct policy_local_queue {
    const char *name;
    uint32_t cluster_queue;
    const struct policy_label *namespace_labels;
    uint32_t namespace_label_count;
    double weight; /* fairSharing.weight, default 1 */
    enum policy_stop stop;
    /* Decayed usage that admission fair sharing begins with: status.fairSharing
     * .admissionFairSharingStatus.consumedResources. Read when the queue is new, then never again. */
    const struct policy_usage_amount *consumed;
    uint32_t consumed_count;
};

struct policy_topology {
    const char *name;
    const char *const *levels; /* node label names, outermost first */
    uint32_t level_count;
};

struct policy_amount {
    uint32_t resource;
    int64_t amount;
};

struct policy_node {
    const char *name;
    const struct policy_label *labels;
    const struct policy_taint *taints;
    const struct policy_amount *allocatable;
    uint32_t label_count, taint_count, allocatable_count;
    bool ready, unschedulable;
};

/* ---- Shapes and workloads ---------------------------------------------------------------- */

enum policy_topology_mode {
    POLICY_TOPOLOGY_NONE,     /* no request, or nothing but group */
    POLICY_TOPOLOGY_REQUIRED,
    POLICY_TOPOLOGY_PREFERRED,
    POLICY_TOPOLOGY_UNCONSTRAINED,
    POLICY_TOPOLOGY_SLICES    /* slice constraints only */
};
#define POLICY_SLICES_MAX 3

struct policy_topology_request {
    enum policy_topology_mode mode;
    const char *level; /* REQUIRED, PREFERRED */
    const char *group; /* podSetGroupName, or NULL */
    struct {
        const char *level;
        int64_t size;
    } slices[POLICY_SLICES_MAX]; /* outermost first */
    uint32_t slice_count;
};

struct policy_pod_set {
    const char *name;
    int64_t count;
    int64_t min_count; /* partial admission; POLICY_NIL: not set */
    const struct policy_amount *requests; /* per pod, one entry per resource */
    const struct policy_label *node_selector;
    const struct policy_selector *affinity_terms; /* required node affinity: any term may hold */
    const struct policy_toleration *tolerations;
    uint32_t request_count, node_selector_count, affinity_term_count, toleration_count;
    struct policy_topology_request topology;
};

/* What a gang asks for. Equal shapes get the same id from register_shape, whoever registers. */
struct policy_shape {
    const struct policy_pod_set *pod_sets;
    uint32_t pod_set_count;
};

struct policy_workload {
    uint32_t id, local_queue, shape;
    int64_t priority;   /* effective: priority + boost */
    int64_t created_ns;
    uint64_t uid_order;  /* order of the UIDs (last tie-break); unique */
    uint64_t name_order; /* order of the names (order of events at one instant); unique */
};

/* ---- Inputs ------------------------------------------------------------------------------ */

enum policy_input_kind { /* in the order in which one instant applies them (oracle README) */
    POLICY_IN_OBJECT,    /* an object was created or its spec replaced: kind, id, object */
    POLICY_IN_PRIORITY,  /* value = new effective priority */
    POLICY_IN_FINISHED,  /* ended by itself: quota released */
    POLICY_IN_WITHDRAW,  /* deleted by its owner, in whatever state it is */
    POLICY_IN_RELEASED,  /* an eviction completed: pods are gone, quota released, queued again */
    POLICY_IN_READY,     /* all pods ready */
    POLICY_IN_UNREADY,   /* some pod is no longer ready, or lost */
    POLICY_IN_SUBMIT     /* submit = the workload */
};

enum policy_object_kind {
    POLICY_OBJ_FLAVOR,
    POLICY_OBJ_COHORT,
    POLICY_OBJ_CLUSTER_QUEUE,
    POLICY_OBJ_LOCAL_QUEUE,
    POLICY_OBJ_TOPOLOGY,
    POLICY_OBJ_NODE
};

struct policy_input {
    enum policy_input_kind kind;
    uint32_t workload;                    /* all but OBJECT and SUBMIT */
    int64_t value;                        /* PRIORITY */
    enum policy_object_kind object_kind;  /* OBJECT */
    uint32_t object_id;                   /* OBJECT */
    const void *object;                   /* OBJECT: the struct of its kind; NULL = deleted */
    const struct policy_workload *submit; /* SUBMIT */
};

/* ---- Outputs ----------------------------------------------------------------------------- */

enum policy_evict_reason {
    POLICY_EVICT_IN_CLUSTER_QUEUE,
    POLICY_EVICT_IN_COHORT_RECLAMATION,
    POLICY_EVICT_IN_COHORT_FAIR_SHARING,
    POLICY_EVICT_IN_COHORT_RECLAIM_WHILE_BORROWING,
    POLICY_EVICT_PODS_READY_TIMEOUT,
    POLICY_EVICT_DEACTIVATED, /* DeactivatedDueToRequeuingLimitExceeded */
    POLICY_EVICT_STOPPED,     /* ClusterQueueStopped, LocalQueueStopped */
    POLICY_EVICT_NODE_FAILURES
};

enum policy_place { /* where a waiting workload is */
    POLICY_PLACE_NONE,
    POLICY_PLACE_QUEUE,   /* active: looked at in the next cycle when it comes first */
    POLICY_PLACE_PARKED,  /* waits for a wake of its tree */
    POLICY_PLACE_FLIGHT,  /* popped for the cycle in progress */
    POLICY_PLACE_BACKOFF, /* waits for the end of its back-off */
    POLICY_PLACE_ADMITTED /* holds quota, possibly under eviction */
};

enum policy_mode { POLICY_NO_FIT, POLICY_PREEMPT, POLICY_DEFERRED_FIT, POLICY_FIT };

enum policy_requeue_reason {
    POLICY_RQ_NONE,
    POLICY_RQ_NAMESPACE_MISMATCH,
    POLICY_RQ_NO_FIT,
    POLICY_RQ_PREEMPTION_NO_CANDIDATES,
    POLICY_RQ_PENDING_PREEMPTION,
    POLICY_RQ_PREEMPTION_FAILED,
    POLICY_RQ_FAILED_AFTER_NOMINATION
};

/* Why a workload waits, coarsely (for the split of idle time). */
enum policy_wait { POLICY_WAIT_ORDER, POLICY_WAIT_QUOTA, POLICY_WAIT_OTHER };

struct policy_choice {
    uint32_t resource, flavor;
};

struct policy_domain {
    uint32_t node;             /* hostname topologies; otherwise POLICY_NONE */
    const char *const *values; /* of the levels named in policy_assigned_set */
    int64_t count;             /* pods */
};

struct policy_assigned_set {
    const char *name;
    int64_t count; /* after partial admission */
    const struct policy_choice *choices;
    uint32_t choice_count;
    bool placed; /* domains were fixed (domain_count may be 0: spec 6.2, slices) */
    const char *const *levels;
    const struct policy_domain *domains; /* by level values */
    uint32_t level_count, domain_count;
};

struct policy_victim {
    uint32_t workload;
    enum policy_evict_reason reason;
    bool already; /* its eviction was under way before */
};

enum policy_outcome { POLICY_OUT_WAITING, POLICY_OUT_ADMITTED, POLICY_OUT_PREEMPTING, POLICY_OUT_SKIPPED };

/* One head of one cycle: its decision, with the numbers of the flavor that decided. */
struct policy_entry {
    uint32_t workload, cluster_queue;
    enum policy_mode mode;
    bool nominated; /* false: inadmissible without an evaluation */
    enum policy_outcome outcome;
    enum policy_requeue_reason reason;
    enum policy_place goes_to;
    int64_t at_ns; /* admission time (blocked cycles: later than the cycle's start) */
    uint32_t borrowing_level;
    const struct policy_assigned_set *sets; /* admitted */
    uint32_t set_count;
    const struct policy_victim *victims; /* by name order */
    uint32_t victim_count;
};

/* Arithmetic of one (flavor, resource) at the nomination that decided. */
struct policy_numbers {
    uint32_t flavor, resource; /* POLICY_NONE: no single one decided */
    int64_t requested, available, potential;
    int64_t nominal, used, subtree, borrowing_limit, lending_limit; /* of the cluster queue */
    uint32_t level;
    bool has_candidates;
};

/* Written when the reason of a workload (or of its whole group) changes. */
struct policy_reason {
    uint32_t workload, cluster_queue;
    enum policy_outcome outcome;
    enum policy_mode mode;
    enum policy_requeue_reason requeue;
    enum policy_wait wait;
    uint32_t flavor_tried; /* the last flavor that was looked at */
    uint32_t repeats;      /* evaluations with the previous reason, now closed */
    uint32_t group_count;  /* workloads of its group that wait with it */
    struct policy_numbers numbers;
    double share_before, share_after; /* fair sharing; -1: does not apply */
};

/* How one (flavor, resource) was graded at a nomination. SHORT: asks for more than is available, and
 * it was proven without an evaluation that nobody can be evicted for it. */
enum policy_grade {
    POLICY_GRADE_NO_FIT,
    POLICY_GRADE_NO_CANDIDATES,
    POLICY_GRADE_PREEMPT,
    POLICY_GRADE_RECLAIM,
    POLICY_GRADE_FIT,
    POLICY_GRADE_SHORT
};

struct policy_try {
    enum policy_grade grade;
    struct policy_numbers numbers;
};

struct policy_shares { /* thousandths; infinite: weight 0 and borrowing */
    uint32_t cluster_queue;
    double before, after; /* once the workload is in and its victims are gone */
};

/* All that an evaluation looked at. Said before the ADMIT, EVICT or REASON that came of it. */
struct policy_evaluation {
    uint32_t workload, cluster_queue; /* workload POLICY_NONE: the group of the next REASON */
    const struct policy_try *tries;   /* in the order of the scan */
    const uint32_t *filled_back;      /* candidates that were chosen and spared in the end */
    const struct policy_shares *shares; /* fair sharing: its queue, then those of its victims */
    uint32_t try_count, filled_back_count, share_count;
};

/* The group (cluster queue, shape, priority) now has count waiting workloads, for this reason. */
struct policy_pending {
    uint32_t cluster_queue, shape;
    int64_t priority;
    uint32_t count;
    enum policy_wait wait;
    uint32_t flavor_tried; /* POLICY_NONE: not yet looked at */
};

enum policy_output_kind {
    POLICY_DO_ADMIT,      /* admit: entry */
    POLICY_DO_EVICT,      /* evict: workload, evict_reason, preemptor, count, until_ns */
    POLICY_DO_DEACTIVATE, /* workload: never queued again (an EVICT follows if it holds quota) */
    POLICY_DO_REQUEUE,    /* workload back from a cycle or a back-off: place, requeue_reason */
    POLICY_SAY_REASON,    /* reason (config.record_reasons) */
    POLICY_SAY_PENDING,   /* pending (config.record_pending) */
    POLICY_SAY_ENTRY,     /* entry: every head of every cycle (config.record_entries) */
    POLICY_SAY_CYCLE,     /* a cycle ended: cycle, began_ns; after its entries */
    POLICY_SAY_USAGE,     /* a usage sample: local_queue, usage (admission fair sharing) */
    POLICY_SAY_EVALUATION /* evaluation (config.record_reasons) */
};

struct policy_output {
    enum policy_output_kind kind;
    uint32_t workload;
    int64_t time_ns; /* when it was decided */
    union {
        const struct policy_entry *entry;
        struct {
            enum policy_evict_reason reason;
            uint32_t preemptor; /* POLICY_NONE: nobody */
            uint32_t count;     /* PODS_READY_TIMEOUT: number of this back-off */
            int64_t until_ns;   /* PODS_READY_TIMEOUT: requeueAt */
        } evict;
        struct {
            enum policy_place place;
            enum policy_requeue_reason reason;
            bool backoff_finished;
        } requeue;
        const struct policy_reason *reason;
        const struct policy_evaluation *evaluation;
        struct policy_pending pending;
        struct {
            uint64_t cycle;
            int64_t began_ns;
            bool changed;
        } cycle;
        struct {
            uint32_t local_queue, count;
            const struct policy_usage_amount *amounts; /* without zeros */
        } usage;
    } u;
};

/* Owned by the caller; grows by doubling (realloc). */
struct policy_outputs {
    struct policy_output *items;
    size_t count, capacity;
};

/* ---- Configuration ----------------------------------------------------------------------- */

struct policy_gate {
    const char *name;
    bool on;
};

struct policy_pods_ready { /* waitForPodsReady; durations in ns */
    bool on, block_admission;
    int64_t timeout_ns, recovery_timeout_ns; /* recovery 0: none */
    bool creation_timestamp;                 /* requeuingStrategy.timestamp Creation */
    int64_t backoff_limit;                   /* POLICY_NIL: no limit */
    int64_t backoff_base_ns, backoff_max_ns;
};

struct policy_admission_fair_sharing {
    bool on;
    int64_t half_life_ns, sampling_ns;
    const double *resource_weights; /* by resource id; NULL: all 1 */
};

enum policy_strategy { POLICY_LESS_OR_EQUAL_FINAL_SHARE, POLICY_LESS_THAN_INITIAL_SHARE };

struct policy_config {
    uint32_t abi;
    size_t size;         /* sizeof(struct policy_config) */
    const char *profile; /* "HEAD" (default when NULL), "v0.19", "v0.18" */
    const struct policy_gate *gates;
    uint32_t gate_count;
    bool fair_sharing;
    enum policy_strategy strategies[2]; /* strategy_count 0: both, in this order */
    uint32_t strategy_count;
    bool ignore_undeclared; /* quotaCheckStrategy IgnoreUndeclared */
    int64_t requeue_batch_ns;
    struct policy_pods_ready pods_ready;
    struct policy_admission_fair_sharing admission_fair_sharing;
    bool record_entries, record_reasons, record_pending;

    const char *const *resources; /* names; the index is the id */
    /* Objects with id = index. An entry with a NULL name does not exist. In creation order where
     * the order matters: `local_queue_order` lists ids as created (NULL: ascending). */
    const struct policy_flavor *flavors;
    const struct policy_cohort *cohorts;
    const struct policy_cluster_queue *cluster_queues;
    const struct policy_local_queue *local_queues;
    const struct policy_topology *topologies;
    const struct policy_node *nodes;
    uint32_t resource_count, flavor_count, cohort_count, cluster_queue_count, local_queue_count,
        topology_count, node_count;
    const char *options; /* free text for policies outside of the tree; NULL: none */
};

/* What a policy may ask the host. Members beyond `size` do not exist; a NULL member is "no". */
struct policy_host {
    uint32_t abi;
    size_t size;
    void *ctx;
    const char *(*workload_name)(void *ctx, uint32_t workload); /* for texts only */
    /* Amount of a node's resource used by pods that the policy does not place. */
    int64_t (*foreign_usage)(void *ctx, uint32_t node, uint32_t resource);
};

/* ---- State that can be asked for --------------------------------------------------------- */

struct policy_quota_state {
    int64_t nominal, subtree, used, available; /* available: of a cluster queue, at least 0 */
    int64_t borrowed, lent; /* borrowed: used above subtree; lent: own quota used by others */
};

/* What pods ask of one flavor of a queue, and how much of it the queue could ever use (potential). */
struct policy_reach {
    const char *pod_set;          /* the first of those that get the same flavors */
    struct policy_numbers numbers; /* requested: at least, where partial admission may take less;
                                      flavor POLICY_NONE: the queue has no quota of the resource */
    bool allowed;                 /* labels, taints and topology let them use the flavor */
};

/* The workload that stands first in a queue, whether it is looked at, parked or in flight. */
struct policy_head {
    uint32_t workload;
    enum policy_place place;
    bool fits_nominal;  /* each of its requests is within nominal - used of the queue itself, on some
                           flavor that it may use */
    struct policy_numbers numbers; /* there, of its first resource; else of what is too little */
};

enum policy_cycle { /* result of running a cycle */
    POLICY_CYCLE_NONE,      /* no active queue has anything to look at */
    POLICY_CYCLE_CHANGED,   /* admitted, evicted, or the sets of queued or parked differ */
    POLICY_CYCLE_SAME,      /* changed nothing; another one may */
    POLICY_CYCLE_IDENTICAL, /* changed nothing, and no repetition at this state can */
    POLICY_CYCLE_BLOCKED    /* stopped before an admission (waitForPodsReady.blockAdmission) */
};

enum policy_due { POLICY_DUE_TIMEOUTS, POLICY_DUE_SAMPLES, POLICY_DUE_WAKES };

/* ---- The policy -------------------------------------------------------------------------- */

/* All members but those marked optional are set. `ctx` is what create returned. */
struct policy_ops {
    uint32_t abi;
    size_t size;
    const char *name;

    /* NULL with a text in error (at least 256 bytes) if the configuration is refused. */
    void *(*create)(const struct policy_config *config, const struct policy_host *host, char *error,
                    size_t error_size);
    void (*destroy)(void *ctx);

    /* Id of a shape; equal shapes share one. */
    uint32_t (*register_shape)(void *ctx, const struct policy_shape *shape);

    /* One input at `now`. The host has ordered the inputs of an instant (settle.h does it). */
    void (*input)(void *ctx, int64_t now, const struct policy_input *input,
                  struct policy_outputs *out);

    /* Starts and runs one cycle; a blocked one goes on with resume when `ready_to_resume`. */
    enum policy_cycle (*cycle)(void *ctx, int64_t now, struct policy_outputs *out);
    bool (*blocked)(void *ctx);         /* optional: a cycle is suspended */
    bool (*ready_to_resume)(void *ctx); /* optional */
    enum policy_cycle (*resume)(void *ctx, int64_t now, struct policy_outputs *out); /* optional */

    /* Counts `cycles` more cycles that would be identical to the last one. */
    void (*repeat)(void *ctx, int64_t now, uint32_t cycles);

    /* The host's view of `workload` caught up with the policy's decision (watch event). With an
     * admission under admission fair sharing the settlement happens here. */
    void (*observed)(void *ctx, int64_t now, uint32_t workload, struct policy_outputs *out);
    /* The watch event of an admission of this workload comes one cycle later (optional). */
    bool (*observed_late)(void *ctx, uint32_t workload);

    /* Handles what is due at `now`; true if it moved something. */
    bool (*due)(void *ctx, int64_t now, enum policy_due what, struct policy_outputs *out);
    /* Earliest instant at which anything of `what` is due, or POLICY_NEVER. */
    int64_t (*next_due)(void *ctx, enum policy_due what);

    /* Number of cycles without change after which an instant is at rest. */
    uint32_t (*idle_limit)(void *ctx);

    /* ---- asking ---- */
    enum policy_place (*place)(void *ctx, uint32_t workload);
    /* State of one (flavor, resource) at a cluster queue or cohort; false: no quota there. */
    bool (*quota)(void *ctx, enum policy_object_kind kind, uint32_t id, uint32_t flavor,
                  uint32_t resource, struct policy_quota_state *state);
    uint32_t (*pending_count)(void *ctx, uint32_t cluster_queue);
    uint32_t (*admitted_count)(void *ctx, uint32_t cluster_queue);
    /* Calls fn for each group of waiting workloads of the queue, in a fixed order. */
    void (*pending)(void *ctx, uint32_t cluster_queue,
                    void (*fn)(void *arg, const struct policy_pending *group), void *arg);
    /* Last reason of a waiting workload; false if it was never looked at. */
    bool (*reason)(void *ctx, uint32_t workload, struct policy_reason *reason);
    /* Dominant resource share of a cluster queue or cohort, thousandths; -1: weight 0 and borrowing. */
    double (*share)(void *ctx, enum policy_object_kind kind, uint32_t id);
    /* Frees what outputs point to; the host calls it after it applied them. */
    void (*release_outputs)(void *ctx);

    /* Members from here on are optional, and absent where `size` ends before them. */

    /* First of the waiting workloads of a cluster queue, those in a back-off left out; false: none. */
    bool (*head)(void *ctx, uint32_t cluster_queue, struct policy_head *head);
    /* False when a gang of this shape can never be admitted there: some request is more than the
     * queue could use on any flavor that it may use if nothing else were admitted (numbers: of the
     * flavor that comes nearest; potential is that bound). */
    bool (*may_fit)(void *ctx, uint32_t cluster_queue, uint32_t shape, struct policy_numbers *numbers);
    /* Calls fn for each pod set, flavor and resource that a gang of this shape asks the queue for, in
     * the order of the scan: the arithmetic behind may_fit. */
    void (*reach)(void *ctx, uint32_t cluster_queue, uint32_t shape, void (*fn)(void *arg, const struct policy_reach *reach),
                  void *arg);
};

/* Policies of this tree. "kueue" serves the presets pools, cohort and hyperpod. */
const struct policy_ops *policy_kueue(void);

/* Opens a shared object; NULL with a text in error. The handle is closed at exit. */
const struct policy_ops *policy_open_shared(const char *path, char *error, size_t error_size);

/* Names as Kueue writes them. */
const char *policy_evict_reason_name(enum policy_evict_reason reason);
const char *policy_requeue_reason_name(enum policy_requeue_reason reason);
const char *policy_mode_name(enum policy_mode mode);
const char *policy_grade_name(enum policy_grade grade);
const char *policy_outcome_name(enum policy_outcome outcome);

#endif
