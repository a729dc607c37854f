/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Kueue engine, internal: the data that its parts share. Rules are those of Kueue's development
 * line (docs/kueue-fidelity.md lists sources and findings); section numbers in comments of this
 * folder are those of the decision specification that the documentation summarises.
 *
 * One arithmetic: the quota records of the trees are at once the live state and the snapshot of
 * the cycle in progress. What a cycle adds for its own purposes is written to an undo log and
 * taken back at its end; while a cycle is suspended, changes of the live state wait in `deferred`.
 */
#ifndef MODELS_POLICIES_KUEUE_KQ_H
#define MODELS_POLICIES_KUEUE_KQ_H

#include "models/policies/kueue/counts.h"
#include "models/policies/kueue/types.h"

/* ---- workloads ---- */

struct kq_placed_use { /* topology usage of an admitted workload */
    uint32_t flavor, leaf, set;
    int64_t pods;
};

struct kq_wl {
    /* what a search for victims reads: one cache line */
    int64_t priority, reserved_s;
    uint64_t uid_order;
    struct kq_use *use; /* what it holds, by (flavor, resource) */
    uint32_t use_count;
    uint32_t id, cq;
    bool live, evicted;
    bool out;    /* taken out of the snapshot for a recomputation */
    bool victim; /* chosen by an entry of the cycle in progress */
    int64_t qtime_ms;
    uint32_t lq, shape;
    uint32_t cls; /* class of the waiting workload */
    bool known;
    uint8_t place; /* enum policy_place, but see kq_place for QUEUE and PARKED */
    bool in_list;  /* in the live list of its queue */
    int64_t created_ns;
    uint64_t name_order;
    /* waiting */
    uint32_t group;
    uint32_t slot; /* in its array of the group */
    uint8_t which; /* which array */
    /* scan progress (4.6) */
    bool has_progress;
    bool counted_progress; /* in its class */
    int8_t *progress;
    size_t progress_capacity;
    uint64_t progress_cycle, progress_generation;
    /* holding quota */
    size_t use_capacity;
    struct kq_placed_use *placed;
    size_t placed_count, placed_capacity;
    enum policy_evict_reason evict_reason;
    int64_t evicted_ns, preempted_ns;
    bool preempted;
    enum policy_evict_reason preempt_reason;
    int64_t admitted_ns;
    /* readiness and back-off (2.12) */
    bool ready, was_ready, inactive, counts_unready;
    bool stopping;       /* deactivated, its pods still run */
    bool requeue_passed; /* requeue_at passed while it still held its quota */
    int64_t unready_ns, requeue_at;
    uint32_t backoff_count;
    int64_t timer_at; /* its entry in the timer heap */
    uint32_t timer_slot; /* POLICY_NONE: none */
    bool penalty; /* admission fair sharing (6.1): pending */
    uint32_t evictions; /* for explanations */
};

/* ---- waiting workloads of a queue (queue.h) ---- */

struct kq_heap {
    uint32_t *v;
    size_t count, capacity;
};

/* Workloads of one class (queue, shape, priority). With admission fair sharing, or where the
 * namespaces of a queue's local queues differ, one group per local queue. */
struct kq_group {
    int64_t priority, first_qtime_ms; /* of the first active one */
    uint64_t first_uid;
    uint32_t cls, lq; /* lq: POLICY_NONE when the group is not split */
    uint32_t next_in_class;
    struct kq_heap items[2];
    uint8_t active; /* items[active] is in the heap, the other one is parked */
    uint32_t heap_slot;   /* in the queue's heap of groups; POLICY_NONE */
    uint32_t parked_slot; /* in the queue's list of groups with parked ones; POLICY_NONE */
};

struct kq_class {
    uint32_t cq, shape;
    int64_t priority;
    uint32_t first_group;
    uint64_t blocked_epoch; /* == cq->epoch: parked in bulk, not flushed since (2.10) */
    struct kq_plan *plan;
    uint32_t waiting;
    uint32_t cq_slot;
    /* the last reason, shared by the whole class */
    struct policy_reason reason;
    bool has_reason, reason_new;
    uint32_t progress; /* members in a list that have scan progress pending */
    bool dirty; /* in k->dirty_classes */
};

/* ---- cluster queues ---- */

struct kq_cq_group {
    uint32_t *resources, *flavors;
    uint32_t resource_count, flavor_count;
    struct policy_quota *quotas; /* [flavor * resource_count + resource] */
    uint32_t *frs;               /* the same, indices into the tree */
};

struct kq_entry { /* the head of a queue in a cycle */
    uint32_t workload;
    struct kq_assign assign;
    struct kq_targets targets;
    enum policy_outcome outcome;
    enum policy_requeue_reason reason;
    uint8_t goes_to;
    bool nominated, live, recorded_preemptor;
    uint32_t position; /* in the order of its last cycle */
    int64_t at_ns;
    /* memory of the nomination */
    bool reusable;
    uint64_t version, topology_version;
    int8_t *progress_in; /* scan progress it started with */
    size_t progress_in_capacity;
};

enum { KQ_REACH = 8 };

struct kq_reach { /* remembered sum over a queue's live list (fast.c) */
    uint64_t serial;
    int64_t priority, sum;
    uint32_t fr;
};

enum { KQ_LEAST = 4 };

struct kq_least { /* remembered: the share a queue keeps at least when a victim is taken (walk.c) */
    uint64_t live_serial, use_serial;
    int64_t amount; /* the least use of fr in the live list; INT64_MAX: nobody uses it */
    uint64_t key;   /* without it */
    uint32_t fr;
};

struct kq_cq {
    struct kq_node node;
    struct arena mem; /* the copied spec */
    bool exists, active;
    struct policy_cluster_queue spec;
    struct policy_selector selector;
    bool has_selector;
    struct kq_cq_group *groups;
    uint32_t group_count;
    int8_t *group_of; /* by resource id; -1: not covered */
    bool covers_pods, has_topology, topology_only;
    uint32_t name_rank;
    /* queue */
    struct kq_ids heap;   /* groups with active ones, a binary heap */
    struct kq_ids parked; /* groups with parked ones */
    struct kq_ids classes;
    uint32_t heap_count, parked_count, backoff_count, waiting;
    uint32_t hot_slot; /* in tree->hot; POLICY_NONE */
    uint64_t epoch;    /* grows with every flush */
    bool flushed;      /* since the last pop */
    /* what its parked classes need at least, by resource; see fast.c */
    struct kq_bound *bounds;
    uint32_t bound_count;
    bool bounds_stale, provable;
    bool emptied;  /* a blocked class lost its last workload since the last flush */
    uint8_t proof; /* scratch: enum kq_proof */
    uint64_t woken_since; /* cycle after which its classes are taken, one each */
    uint32_t woken_left;  /* classes that were parked then; 0: not woken in proof */
    bool usage_order;  /* admission fair sharing is in force */
    bool split;        /* groups are per local queue */
    bool matches;      /* its local queues' namespaces match the selector (when not split) */
    uint32_t preemptor; /* POLICY_NONE */
    bool preemptor_sticky;
    uint64_t generation; /* 3.5 */
    /* holding quota, in candidate order (5.2) without the queue */
    struct kq_ids live;
    uint64_t live_serial; /* grows with every change of the list */
    struct kq_reach reach[KQ_REACH];
    struct kq_least least[KQ_LEAST];
    uint32_t admitted;
    struct kq_entry entry;
    uint32_t left_slot; /* tournament: its first key; POLICY_NONE: processed */
    uint64_t keys_stamp;
};

struct kq_cohort {
    struct kq_node node;
    struct arena mem;
    bool exists;
    uint32_t parent_id;
    struct kq_cq_group *groups;
    uint32_t group_count;
};

struct kq_lq {
    struct arena mem;
    bool exists;
    struct policy_local_queue spec;
    /* admission fair sharing */
    struct kq_lq_usage *usage;
};

struct kq_flavor {
    struct arena mem;
    bool exists;
    struct policy_flavor spec;
    struct kq_topo *topo; /* domains; NULL: not a topology flavor */
};

struct kq_topology {
    struct arena mem;
    bool exists;
    struct policy_topology spec;
};

struct kq_node_obj {
    struct arena mem;
    bool exists;
    struct policy_node spec;
};

/* ---- scratch ---- */

/* Candidates of one queue, in order (search.h). */
struct kq_cursor {
    const uint32_t *ids;
    size_t count, first, at;
    struct kq_cq *cq;
    struct kq_node *ancestor;
    uint8_t list;
};

struct kq_cursors {
    struct kq_cursor *v;
    uint32_t *heap; /* indices, by the current candidate of each */
    size_t count, capacity, heap_count, heap_capacity;
};

struct kq_request { /* amount contested or wanted per fr */
    uint32_t fr;
    int64_t amount;
};

struct kq_requests {
    struct kq_request *v;
    size_t count, capacity;
};

/* One search for victims (section 5). */
struct kq_search {
    struct kq_wl *wl;
    struct kq_cq *cq;
    const uint32_t *contested;
    size_t contested_count;
    const struct kq_request *want;
    size_t want_count;
    struct kq_assign *place; /* topology must be placed too; NULL */
};

struct kq_undo {
    struct kq_node *node;
    uint32_t fr;
    int64_t old;
};

struct kq_topo_undo {
    const struct policy_pod_set *set;
    uint32_t flavor, leaf;
    int64_t pods;
};

struct kq_deferred { /* a change of the live state that waits for the end of the cycle */
    uint8_t what;
    uint32_t workload;
    enum policy_object_kind kind; /* of an object, with its id and its copy in deferred_mem */
    uint32_t id;
    const void *object;
};

struct kq_bump_chunk;
struct kq_bump {
    struct kq_bump_chunk *first, *current;
};

struct kq_map { /* 64-bit key -> uint32, open addressing, no removal */
    uint64_t *keys;
    uint32_t *values;
    size_t count, capacity;
};

#define KQ_CHUNK_BITS 10u
#define KQ_CHUNK (1u << KQ_CHUNK_BITS)

struct kq {
    struct policy_config cfg; /* scalars only; arrays were copied elsewhere */
    struct policy_host host;
    bool gate[KQ_GATE_COUNT];
    uint32_t strategy_count;
    enum policy_strategy strategies[2];

    /* objects */
    char **resources;
    uint32_t resource_count, pods_resource, cpu_resource;
    struct kq_flavor *flavors;
    struct kq_cohort **cohorts;
    struct kq_cq **cqs;
    struct kq_lq *lqs;
    struct kq_topology *topologies;
    struct kq_node_obj *nodes;
    uint32_t flavor_count, cohort_count, cq_count, lq_count, topology_count, node_count;
    struct kq_ids lq_order; /* as created */
    uint32_t flavors_alive;
    bool built;

    /* trees; rebuilt when an object changes */
    struct arena build;
    struct kq_tree *trees;
    uint32_t tree_count;
    struct kq_cq **by_name; /* all queues */
    uint32_t by_name_count;
    uint64_t objects_version;
    uint64_t topology_version; /* grows with every change of topology usage */
    struct kq_ids warm;        /* trees with something in a heap that are not quiet */
    bool shared_topology;      /* topology flavors are used from several trees */

    /* shapes, classes, groups, workloads */
    struct kq_shape **shapes;
    size_t shape_count, shape_capacity;
    struct kq_map shape_map, class_map;
    struct kq_class *classes;
    size_t class_count, class_capacity;
    struct kq_group *groups;
    size_t group_count, group_capacity;
    struct kq_wl **chunks;
    size_t chunk_count, chunk_capacity;
    struct kq_node **wakes; /* roots with a wake due, in order of time: a ring */
    size_t wake_first, wake_count, wake_capacity;
    uint32_t ready_queues; /* active queues with something in their heap */
    struct kq_ids dirty_classes;

    /* cycle */
    uint64_t cycle;
    int64_t cycle_began_ns;
    bool suspended;
    struct kq_ids order;  /* queues whose entries are processed, in order */
    size_t order_done;
    struct kq_ids left;   /* fair sharing: queues with entries, by name */
    size_t left_first;
    uint32_t left_count; /* of them still to be processed */
    bool left_begun;
    struct kq_ids inadmissible;
    struct kq_ids logged; /* scratch */
    struct kq_ids victims; /* V of 2.8 */
    bool at_admission; /* suspended before the admission of order[order_done] */
    bool cycle_changed;
    struct kq_topo_undo *topo_undo;
    size_t topo_undo_count, topo_undo_capacity;
    struct kq_undo *undo;
    size_t undo_count, undo_capacity;
    struct kq_deferred *deferred;
    size_t deferred_count, deferred_capacity;
    struct arena deferred_mem;
    uint64_t stamp; /* marks of searches */

    /* readiness */
    uint32_t unready_live; /* workloads that hold quota and are not ready */
    struct kq_ids timers;  /* heap of workloads by (timer_at, name) */
    struct kq_ids due;     /* scratch */

    /* admission fair sharing */
    bool afs;
    double *resource_weights;

    /* waiting because their local queue is stopped */
    struct kq_ids held;

    /* fast.c */
    bool fast;              /* proofs may stand in for evaluations */
    struct kq_ids woken;    /* trees with queues woken in proof */
    uint32_t skipped;       /* cycles that the last call counted without running them */
    struct kq_counts counts;

    /* scratch */
    struct kq_cursors cursors;
    struct kq_requests requests, rest, single;
    struct kq_targets found, probe_targets;
    struct kq_request found_for; /* the single request that `found` answers */
    uint64_t found_in, decisions; /* in which decision; decisions so far */
    struct kq_assign probe, best;
    struct kq_ids pin;
    struct kq_ids retries; /* queues with a candidate left to the second strategy */
    struct kq_bump bump;
    struct kq_places place_scratch;
    struct kq_topo_scratch *topo_scratch;
    struct kq_order_key *order_keys;
    size_t order_key_capacity;
};

static inline struct kq_wl *kq_wl(const struct kq *k, uint32_t id)
{
    return &k->chunks[id >> KQ_CHUNK_BITS][id & (KQ_CHUNK - 1)];
}

/* ---- small things (base.c) ---- */
void kq_ids_push(struct kq_ids *ids, uint32_t id);
void kq_ids_fini(struct kq_ids *ids);
void *kq_bump_alloc(struct kq_bump *b, size_t count, size_t size);
void kq_bump_reset(struct kq_bump *b);
void kq_bump_fini(struct kq_bump *b);
uint32_t kq_map_get(const struct kq_map *m, uint64_t key); /* POLICY_NONE: absent */
void kq_map_put(struct kq_map *m, uint64_t key, uint32_t value);
void kq_map_fini(struct kq_map *m);
struct policy_output *kq_say(struct policy_outputs *out, enum policy_output_kind kind,
                             uint32_t workload, int64_t now);

#endif
