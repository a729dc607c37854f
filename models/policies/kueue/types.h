/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the Kueue engine's data: gates, quota tree, shapes, assignments. */
#ifndef MODELS_POLICIES_KUEUE_TYPES_H
#define MODELS_POLICIES_KUEUE_TYPES_H

#include "models/policies/policy.h"
#include "sim/arena.h"

struct kq_cq;

enum kq_gate {
    KQ_PARTIAL_ADMISSION,
    KQ_FLAVOR_FUNGIBILITY,
    KQ_PRESERVE_SCAN_PROGRESS,
    KQ_PRIORITY_SORTING,
    KQ_PRIORITIZE_PREEMPTOR,
    KQ_FS_WITHIN_NOMINAL,
    KQ_FS_NON_BORROWING,
    KQ_RECOMPUTE_OVERLAP,
    KQ_SHAPE_HASHING,
    KQ_QUOTA_CHECK_STRATEGY,
    KQ_TOPOLOGY,
    KQ_TOPOLOGY_RECOMPUTE,
    KQ_TOPOLOGY_MIXED,
    KQ_TOPOLOGY_OVERLAPPING,
    KQ_TOPOLOGY_LAYERS,
    KQ_ADMISSION_FAIR_SHARING,
    KQ_GATE_COUNT
};

#define KQ_NO_PROGRESS ((int8_t)-2) /* no index recorded; -1 means "start over" */

/* A vector of ids that grows by doubling. */
struct kq_ids {
    uint32_t *v;
    size_t count, capacity;
};

/* ---- quota tree (quota.h, tree.h) ---- */

struct kq_quota {
    int64_t nominal, borrow, lend;    /* limits: POLICY_NIL = not set */
    int64_t subtree, local, potential; /* static */
    int64_t use;
    bool set; /* this node, or one below it, mentions the resource on the flavor */
};

struct kq_fr {
    uint32_t flavor, resource;
};

struct kq_candidate { /* by what workloads that hold quota are ordered as candidates (5.2) */
    int64_t priority, reserved_s;
    uint64_t uid_order;
    bool evicted;
};

struct kq_node {
    struct kq_node *parent;
    struct kq_tree *tree;
    struct kq_quota *q; /* by index into tree->frs */
    double *lend;       /* lendable to children, by resource id (5.7) */
    struct kq_node **cohorts, **queues; /* children by name; queues: active ones only */
    uint32_t cohort_count, queue_count, all_queue_count;
    const char *name;
    uint32_t id;
    uint32_t height; /* 3.5 */
    bool is_queue, bad; /* bad: its parents run in a circle */
    double weight;
    uint64_t use_serial; /* grows with every change of usage here */
    uint64_t share_serial; /* the share below is of this use_serial */
    uint64_t share_key;
    double share_ratio;
    bool share_borrows;
    struct kq_candidate first; /* of a queue: of its live list */
    struct kq_rank *siblings;  /* of an active queue, under fair sharing */
    bool ranked, unsorted;     /* it stands there, and may have to stand elsewhere */
    uint64_t ranked_share;
    struct kq_candidate ranked_first;
    int64_t wake_at; /* of a root: when its tree is flushed; POLICY_NEVER */
    uint64_t mark;   /* scratch of a search: k->stamp when pruned */
    uint64_t logged; /* grows with every change of usage that entries of a cycle make */
    uint32_t left;   /* entries below it that are still to be processed */
    struct kq_cq *winner; /* of a cohort: the best one of them, if known; else NULL */
    /* scratch of a search, of queues (walk.c) */
    uint32_t cursor; /* its candidates, index + 1; 0: not looked for, POLICY_NONE: it has none */
    uint32_t retry;  /* its first candidate that is left to the second strategy; POLICY_NONE */
    struct kq_rank *rank; /* of cohorts, under fair sharing */
};

struct kq_ranked {
    uint64_t share; /* kq_share_key */
    struct kq_candidate first;
    struct kq_node *q;
};

/* The queues of a cohort by share, for searches for victims (walk.c). */
struct kq_rank {
    struct kq_ranked *by_share; /* those that borrow, highest share first; then by `first` */
    uint32_t ranked;
    struct kq_node **unsorted; /* those that have changed since */
    uint32_t unsorted_count;
    uint64_t state; /* of the tree, when they were put in order */
    /* scratch of a search */
    uint64_t stamp; /* of the walk that opened it */
    uint32_t next;  /* in by_share: the first one that the walk has not come to */
    struct kq_node **open; /* those that it came to and did not prune: a heap, the best first */
    uint32_t open_count;
};

struct kq_tree {
    struct kq_node *root;
    struct kq_fr *frs; /* by resource, then flavor */
    uint32_t fr_count;
    struct kq_cq **queues; /* all, by name */
    uint32_t queue_count;
    uint64_t version; /* grows with every change that a nomination can see */
    /* Which usage and candidates it has: another number for every change, but who has put back
     * everything that was changed goes back to the number from before. */
    uint64_t state, states;
    bool topology; /* some queue uses a topology flavor */
    bool quiet;    /* the last cycle proved that another one changes nothing */
    bool listed;   /* in k->warm */
    bool moved;    /* by the cycle in progress */
    uint64_t cycle; /* the last one that evaluated its heads */
    bool by_usage; /* some queue orders by usage */
    /* facts about all its queues, of the version `facts_version` (fast.c) */
    uint64_t facts_version;
    int64_t lowest_priority;        /* of workloads that hold quota; INT64_MAX: none */
    struct kq_share_pair *shares;   /* the two highest shares of queues, flat cohorts only */
    bool flat;
    uint64_t open_cycle; /* the last cycle with a head that may do more than wait */
    /* queues woken in proof: their classes would all be parked again, one in each cycle */
    struct kq_ids woken;
    uint64_t woken_version;
    struct kq_ids left; /* tournament: queues with entries, by name or best first (order.c) */
    size_t left_done;   /* in front of it: those processed, where it is sorted */
    bool left_sorted;
    uint32_t name_rank; /* order of trees in the log: root name, "/" before a lone queue's */
    struct kq_ids victims; /* chosen by entries of the cycle in progress */
    struct kq_ids hot; /* queues with something in their heap */
};

/* ---- what a gang asks for (shape.h) ---- */

struct kq_shape {
    struct arena mem;
    struct policy_pod_set *sets;
    uint32_t set_count;
    uint32_t *cell_base; /* first cell of each pod set; its last cell is the implicit "pods" */
    uint32_t cell_count;
    uint32_t *cell_resource; /* resource of each cell; POLICY_NONE: implicit pods */
    uint32_t *pods_cell;     /* cell of "pods" of each set: its own request, or the implicit one */
    bool reducible;          /* some minCount < count */
    bool topology;           /* some explicit topology request */
    uint64_t hash;
    char *bytes; /* canonical form, for equality */
    size_t byte_count;
};

struct kq_plan_resource {
    uint32_t resource;
    int32_t group; /* resource group of the queue; -1: not covered */
    uint32_t slot; /* index within that group */
    uint32_t *cells; /* by pod set of the plan group; POLICY_NONE: not requested there */
};

struct kq_plan_group { /* pod sets that get the same flavors */
    uint32_t *sets;
    uint32_t set_count;
    struct kq_plan_resource *resources; /* by FNV-1a of the name (4.1) */
    uint32_t resource_count;
    int64_t *want;          /* summed requests for the full counts, by resource of the group */
    uint64_t *flavor_ok; /* per resource group: flavors that pass the filters of 4.3 */
};

/* A shape as one cluster queue sees it. Lives until an object changes. */
struct kq_plan {
    struct kq_plan_group *groups;
    uint32_t group_count;
};

/* ---- assignments (assign.h) ---- */

enum kq_mode { KQ_NO_FIT, KQ_NO_CANDIDATES, KQ_PREEMPT, KQ_RECLAIM, KQ_FIT };

struct kq_use {
    int64_t amount;
    uint32_t fr, flavor, resource;
};

struct kq_cell {
    int64_t amount;
    uint32_t flavor, fr, level;
    uint8_t mode;
    bool set;
};

struct kq_domain {
    uint32_t leaf;
    int64_t pods;
};

struct kq_placement { /* of one pod set */
    uint32_t flavor; /* topology flavor; POLICY_NONE: not placed */
    uint32_t first, count; /* into kq_places.domains */
};

struct kq_places {
    struct kq_placement *sets;
    size_t set_capacity;
    struct kq_domain *domains;
    size_t domain_count, domain_capacity;
    bool valid;
};

struct kq_try { /* one grade of the scan, for explanations */
    uint32_t fr, level;
    int64_t amount, available, used;
    enum kq_mode mode;
};

struct kq_assign {
    enum policy_mode mode;
    uint32_t level;
    uint32_t sets_done; /* pod sets that have flavors (in group order) */
    struct kq_cell *cells;
    int8_t *progress; /* by cell */
    size_t cell_capacity, progress_capacity;
    int64_t *counts;
    bool *assigned; /* by pod set */
    size_t set_capacity, assigned_capacity;
    struct kq_use *use; /* merged by fr */
    size_t use_count, use_capacity;
    struct kq_ids contested; /* frs whose own mode is Preempt */
    bool needs_place;
    struct kq_places places;
    uint32_t tried;            /* last flavor looked at */
    uint32_t why_fr;           /* fr that decided against Fit; POLICY_NONE */
    uint32_t why_resource;
    int64_t why_amount;
    enum kq_mode why_mode;
    struct kq_try *tries; /* while reasons are recorded */
    size_t try_count, try_capacity;
};

struct kq_target {
    uint32_t workload;
    enum policy_evict_reason reason;
    bool already;
};

struct kq_targets {
    struct kq_target *v;
    size_t count, capacity;
    struct kq_ids returned; /* by fill-back, while reasons are recorded */
};

#endif
