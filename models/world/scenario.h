/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A scenario as plain structs: fleet + demand + quota + a list of arbiters (design, section 3.1).
 * Filled by scenarios/load, read by models/world and studies. Every struct has a function that
 * returns its defaults (scenario_defaults.c), so that no field is ever unset. All memory belongs
 * to scenario.arena.
 *
 * Field names follow their source: Kueue's for quota, KEDA's and HPA's for scaling.
 */
#ifndef MODELS_WORLD_SCENARIO_H
#define MODELS_WORLD_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "models/demand/demand.h"
#include "models/fleet/fleet.h"
#include "models/fleet/fleet_config.h"
#include "models/fleet/sharing/speed.h"
#include "sim/arena.h"
#include "sim/sim_time.h"

/* ---- quota: Kueue's objects; amounts of the card resource in milli-cards ---- */

#define QUOTA_UNSET INT64_MIN /* nil: borrowingLimit or lendingLimit not given */

enum preempt_policy { PREEMPT_NEVER, PREEMPT_LOWER_PRIORITY, PREEMPT_LOWER_OR_NEWER_EQUAL, PREEMPT_ANY };
enum queueing_strategy { QUEUE_BEST_EFFORT_FIFO, QUEUE_STRICT_FIFO };
enum fungibility { FUNGIBILITY_MAY_STOP_SEARCH, FUNGIBILITY_TRY_NEXT_FLAVOR };
enum flavor_preference { PREFER_BORROWING, PREFER_PREEMPTION }; /* flavorFungibility.preference */
enum stop_policy { STOP_NONE, STOP_HOLD, STOP_HOLD_AND_DRAIN };

struct quota_amount {             /* one (flavor, resource) of a cluster queue or cohort */
    int32_t flavor;               /* index into fleet.flavors */
    int32_t resource;             /* -1 = cards, else index into fleet.resources */
    int64_t nominal;              /* milli-cards, or Kueue's unit of the resource */
    int64_t borrowing_limit, lending_limit; /* or QUOTA_UNSET */
};

struct cohort_config {
    const char *name;
    int32_t parent;               /* index into cohorts, -1 = root */
    double weight;                /* fairSharing.weight */
    struct quota_amount *quotas;
    int32_t quota_count;
};

struct queue_config {             /* a ClusterQueue with its one LocalQueue of the same name */
    const char *name;
    int32_t team;
    int32_t cohort;               /* index, -1 = none */
    enum queueing_strategy strategy;
    struct quota_amount *quotas;  /* flavors in the order they are tried */
    int32_t quota_count;
    enum preempt_policy within_cluster_queue, reclaim_within_cohort, borrow_within_cohort;
    bool has_borrow_threshold;
    int32_t borrow_threshold;     /* borrowWithinCohort.maxPriorityThreshold */
    enum fungibility when_can_borrow, when_can_preempt;
    enum flavor_preference preference;
    enum stop_policy stop;        /* a stopped queue admits nothing; its quota stays in the cohort */
    double weight;                /* fairSharing.weight */
};

struct team_config {
    const char *name;
};

/* Kubernetes' preemptionPolicy: whether the scheduler may evict for it; it may be evicted either way. */
enum preemption_policy { PREEMPTION_POLICY_LOWER_PRIORITY, PREEMPTION_POLICY_NEVER };

struct priority_class_config {
    const char *name;
    int32_t value;
    enum preemption_policy preemption_policy;
};

struct quota_config {
    struct team_config *teams;
    int32_t team_count;
    struct cohort_config *cohorts;
    int32_t cohort_count;
    struct queue_config *queues;
    int32_t queue_count;
    struct priority_class_config *priority_classes;
    int32_t priority_class_count;
};

/* ---- scaling: KEDA and HPA, one for all services unless a service overrides it ---- */

struct scaling_config {
    sim_time polling_interval, cooldown_period;
    sim_time sync_period;         /* HPA controller, 15 s */
    double tolerance;             /* 0.1 */
    double activation_threshold;  /* requests in flight above which a service at zero wakes */
    sim_time scale_up_stabilization, scale_down_stabilization;
    bool has_behavior;            /* false: HPA's path without `behavior` */
    int32_t scale_up_percent, scale_up_pods;     /* per 15 s, larger wins */
    int32_t scale_down_percent;                  /* per 15 s */
    int32_t idle_replica_count;   /* -1 = unset */
    double target_load;           /* threshold of the trigger, as a part of the rate that one replica
                                     carries within its SLO */
};

/* ---- arbiters ---- */

enum arbiter_preset { PRESET_POOLS, PRESET_COHORT, PRESET_HYPERPOD, PRESET_MANAGED, PRESET_COUNT };
enum arbiter_backend { BACKEND_FLEET, BACKEND_MANAGED };
enum gang_mode { GANG_QUOTA, GANG_PODS };
enum scaler_kind { SCALER_NONE, SCALER_KEDA };
enum sharing_kind { SHARING_WHOLE, SHARING_FRACTION };
enum cache_kind { CACHE_NONE, CACHE_NODE, CACHE_FLUID };

struct managed_config {
    sim_time job_start;           /* instances are made for each job: unbilled delay */
    double job_uplift;            /* ml.* price over the instance's on-demand price */
    double request_latency_s;     /* time to first token of the service */
    double output_tokens_per_s;   /* speed of one response */
    double tokens_per_minute;     /* quota per service; 0 = none */
    double requests_per_minute;   /* quota per service; 0 = none */
    double output_burndown;       /* quota tokens per output token */
    int64_t input_uusd_per_mtok, output_uusd_per_mtok;
    double simple_uusd_per_s;     /* non-LLM services: per second of compute */
};

/* One pool's sharing under one arbiter, instead of the pool's own. */
struct pool_sharing {
    int32_t pool;                 /* index into fleet.pools */
    struct share_config sharing;
};

/* Which Kueue decides: models/policies/policy.h, policy_config. */
enum kueue_version { KUEUE_HEAD, KUEUE_V0_19, KUEUE_V0_18 };
enum kueue_strategies { KUEUE_BOTH_SHARES, KUEUE_FINAL_SHARE, KUEUE_INITIAL_SHARE };

struct kueue_gate {
    const char *name;
    bool on;
};

struct kueue_config {
    enum kueue_version version;
    struct kueue_gate *gates;     /* that differ from the version's */
    int32_t gate_count;
    enum kueue_strategies strategies; /* fairSharing.preemptionStrategies */
};

struct arbiter_config {
    const char *name;
    enum arbiter_preset preset;
    enum arbiter_backend backend;
    /* admission */
    bool borrowing;               /* queues keep their cohorts; false: every queue stands alone */
    bool fair_sharing;            /* Kueue's fairSharing instead of the classical order */
    struct kueue_config kueue;
    bool strict_fifo;             /* overrides every queue's strategy */
    bool preemption;              /* false: every preemption policy is Never */
    bool reclaim_any;             /* reclaimWithinCohort: Any for all queues */
    int32_t borrow_limit_percent; /* HyperPod BorrowLimit: borrowingLimit = nominal x this / 100; -1 = as configured */
    sim_time requeue_batch;       /* Kueue collects wake-ups this long */
    sim_time decision_delay;      /* from submission to the first decision; 0 = none */
    sim_time eviction_grace;      /* quota stays used this long after an eviction decision */
    enum gang_mode gang;
    enum scaler_kind scaler;
    enum placement_kind placement;
    bool placement_across_pools;  /* one worker takes the best node of all its pools (fleet_place_across) */
    bool fgd_knows_demand;        /* FGD expects all jobs of the run, not those placed last (expected_pods.c) */
    bool scheduler_preemption;    /* kube-scheduler evicts lower priorities for who finds no node */
    bool network_locality;        /* gangs take the tightest network domain (fleet_keep_local) */
    enum sharing_kind sharing;
    struct pool_sharing *pool_sharings;
    int32_t pool_sharing_count;
    enum cache_kind cache;
    bool checkpoint;              /* false: jobs take no checkpoints */
    bool lora_base;               /* tenants of one base model share its instances (world_lora.c) */
    int32_t lora_slots;           /* adapters of an instance, 1..LORA_SLOTS_MAX */
    enum lora_mode lora_mode;
    double lora_gain;             /* of fused tuning over taking turns */
    double price_factor;          /* multiplies node prices (ml uplift of HyperPod) */
    double engineers;             /* platform engineers, for cost */
    const char *policy_file;      /* shared object built against policy.h, or NULL */
    struct managed_config managed;
    /* overrides of single queues: whole rows that replace quota.queues[queue] */
    int32_t *queue_override_ix;
    struct queue_config *queue_overrides;
    int32_t queue_override_count;
};

struct transfer_config {          /* where bytes come from; see models/data */
    double image_bytes_per_s, store_bytes_per_s, fluid_bytes_per_s, node_bytes_per_s;
    sim_time process_start;       /* container create + process start */
    sim_time drain;               /* a stopping replica finishes what it has */
};

/* How tenants of one card disturb each other (models/fleet/sharing). */
struct sharing_model {
    struct speed_params speed;
    double faults_per_card_hour;  /* GPU faults a tenant causes per hour of running on a card; 0 = none */
    double memory_variation;      /* peaks of single runs lie within 1 +- this of the tenant's memory */
    int64_t context_bytes;        /* CUDA context of a process, outside of HAMi's and MPS' limits */
    bool any_victim;              /* a full card hits any tenant, not the one that allocates */
};

struct money_config {
    int64_t engineer_uusd_per_year;
};

enum record_level { RECORD_LEVEL_SUMMARY, RECORD_LEVEL_SERIES, RECORD_LEVEL_FULL };

enum { REPLAY_FILES_MAX = 64 };

/* Instead of fleet, quota and demand: the objects of a cluster, replayed (studies/manifest_run.h). */
struct replay_config {
    const char **manifests;
    int32_t manifest_count;
    const char *durations;        /* file or law, or NULL */
    sim_time horizon;             /* 0 = until nothing follows */
};

struct scenario {
    struct arena arena;
    const char *path;             /* file it was read from */
    const char *text;             /* its text after --set, for the database */
    uint64_t text_hash;
    const struct replay_config *replay; /* NULL: a world; else nothing below but horizon and seed counts */
    const char *name, *description;
    sim_time horizon;
    sim_time start_epoch;         /* Unix ns of t = 0 (UTC); hours and weekdays come from it */
    uint64_t seed;
    int32_t replications;
    struct fleet_config fleet;
    struct quota_config quota;
    struct demand_config demand;
    struct scaling_config scaling;          /* default of all services */
    struct scaling_config *service_scaling; /* per service, parallel to demand.services */
    struct transfer_config transfer;
    struct sharing_model sharing_model;
    struct money_config money;
    struct lora_sharing lora;
    struct arbiter_config *arbiters;
    int32_t arbiter_count;
    /* how files of demand are opened; set by the loader */
    void *loader;
    job_open_fn open_jobs;
    traffic_open_fn open_traffic;
    /* resolved by the loader: input files and their hashes */
    const char **input_files;
    uint64_t *input_hashes;
    int32_t input_count;
};

/* Defaults, by value. The arbiter's depend on its preset. */
struct scenario scenario_defaults(void);
struct node_pool_config node_pool_defaults(void);
struct queue_config queue_defaults(void);
struct cohort_config cohort_defaults(void);
struct job_stream_config job_stream_defaults(void);
struct service_config service_defaults(void);
struct scaling_config scaling_defaults(void);
struct transfer_config transfer_defaults(void);
struct sharing_model sharing_model_defaults(void);
struct tenant_config tenant_defaults(void);
struct arbiter_config arbiter_defaults(enum arbiter_preset preset);
/* world_place.c: may a source (a stream, or stream_count + service) run in the pool as that flavor? And what
 * it asks of MIG and HAMi. */
bool source_may_use(const struct scenario *s, int32_t source, int32_t flavor, int32_t pool);
void source_slice(const struct scenario *s, int32_t source, struct place_request *req);
const char *arbiter_preset_name(enum arbiter_preset preset);

#endif
