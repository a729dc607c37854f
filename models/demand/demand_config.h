/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is asked of the fleet, as plain structs filled by scenarios/load. Demand never depends on
 * the arbiter (design, section 3.1). Durations are sim_time (ns), rates per second.
 * Strings belong to the scenario's arena; indices refer to arrays of the same scenario.
 */
#ifndef MODELS_DEMAND_DEMAND_CONFIG_H
#define MODELS_DEMAND_DEMAND_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "models/demand/communication.h"
#include "models/demand/lora_base.h"
#include "models/fleet/fleet_config.h"
#include "models/fleet/sharing/share_isolation.h"
#include "sim/sim_time.h"

/* A law of a positive random quantity. */
enum law_kind { LAW_CONSTANT, LAW_UNIFORM, LAW_EXPONENTIAL, LAW_LOGNORMAL, LAW_GAMMA, LAW_WEIBULL, LAW_PARETO };
struct law {
    enum law_kind kind;
    double a, b;        /* constant a; uniform a..b; exponential mean a; lognormal mu a, sigma b;
                           gamma and weibull shape a, scale b; pareto shape a, minimum b */
    double least, most; /* clipped to; most 0 = no limit */
};

/* A base model: what a cold start has to move. */
struct model_config {
    const char *name;
    int64_t weight_bytes;
    int64_t image_bytes;        /* container image that serves it */
    int64_t kv_bytes_per_token; /* of its cache; 0 = not known: adapters take nothing from it */
};

/* ---- tenants of shared cards ---- */

/* What one worker or replica really does with a card (gpu-sharing 0: what is reserved and what is used are
 * kept apart), what it asks of a mechanism, and what it requires of its neighbours. */
struct tenant_config {
    int64_t memory_bytes;       /* actual peak; 0 = not known: never runs out of memory */
    double duty;                /* share of time with kernels to run when alone; 0 = its share, or 1 */
    double compute_demand;      /* compute it can use, of a whole card; also the parallel part of its work */
    double bandwidth;           /* memory bandwidth it uses alone */
    const char *profile;        /* MIG profile; NULL = the smallest that covers its share */
    int32_t gpumem_mib;         /* HAMi; 0 = by its share */
    int32_t gpucores;           /* HAMi, percent; 0 = none with gpumem, else by its share */
    enum share_isolation requires;
    const char *isolation_reason; /* or NULL */
};

/* ---- training and LoRA jobs ---- */

enum workload_class { CLASS_TRAINING, CLASS_INFERENCE, CLASS_LORA, CLASS_COUNT };

/* One shape of gang in a synthetic stream. */
struct gang_shape {
    double weight;              /* relative frequency */
    int32_t workers;
    int32_t cards_per_worker;
    struct law duration_s;      /* run time at the reference card, undisturbed */
};

/* Rate profile of arrivals and traffic: base * hour-of-day * day-of-week * exp(OU) + bursts.
 * (workload-models 3.2; the two harmonics may be replaced by an explicit 24-point profile.) */
struct rate_profile {
    double base_per_s;          /* mean rate before the factors */
    double a1, phase1_h;        /* daily harmonic */
    double a2, phase2_h;        /* twice-daily harmonic */
    double weekday[7];          /* Monday first, UTC; all 0 = not given, all 1 */
    double hours[24];           /* factor at h:00 UTC, joined by lines; used when has_hours */
    bool has_hours;
    double ou_sigma;            /* standard deviation of the log rate */
    sim_time ou_tau;
    double burst_per_day;       /* bursts a day on average (Poisson) */
    double burst_factor;        /* rate multiplied by this during a burst */
    sim_time burst_length;
};

/* A stream of jobs, synthetic or from a jobs file. */
struct job_stream_config {
    const char *name;
    enum workload_class cls;    /* CLASS_TRAINING or CLASS_LORA */
    int32_t team, queue;        /* indices */
    int32_t priority;
    const char *priority_class; /* or NULL */
    /* where it may run: flavors by label selector on nodes; empty = anywhere the queue has quota */
    struct label *node_selector;
    int32_t node_selector_count;
    struct taint *tolerations;
    int32_t toleration_count;
    struct resource_amount *per_worker; /* named resources beside cards */
    int32_t per_worker_count;
    sim_time checkpoint_interval;  /* 0 = none */
    sim_time checkpoint_stall;     /* cards stall this long per checkpoint */
    sim_time restart;              /* process start + checkpoint load on every (re)start */
    int32_t model;                 /* base model, -1 = none */
    int64_t dataset_bytes;         /* read at every start; 0 = none */
    int32_t share_milli;           /* LoRA: part of a card asked, 1..1000; also its duty cycle */
    int32_t lora_base;             /* LoRA: model whose instance it shares with others, -1 = none */
    struct lora_adapter adapter;   /* with lora_base */
    struct tenant_config tenant;
    double failure_probability;    /* user failures, workload-models 4.7; 0 = none */
    int32_t max_retries;
    struct communication communication; /* what its gangs lose to the network; training only */
    bool reference_speed;          /* durations are at the reference card (A100-80), else at the card it gets */

    /* synthetic: */
    struct rate_profile arrivals;  /* jobs per second; base_per_s 0 = not synthetic */
    double arrival_cv;             /* of the time-warped renewal process (gamma); 1 = Poisson */
    struct gang_shape *shapes;
    int32_t shape_count;
    /* from a file: */
    const char *file;              /* jobs file (docs/jobs-file.md), or NULL */
    const char *file_queue_column; /* NULL; else the column that names the queue of each job */
    double time_scale, work_scale; /* 1 (or 0) = as it is; times of a file are divided, a synthetic
                                      rate is multiplied by time_scale; durations by work_scale */
};

/* ---- inference services ---- */

enum service_kind {
    SERVICE_LLM,    /* batching replica, closed forms of workload-models 2 */
    SERVICE_SIMPLE  /* one request at a time per server: M/G/c */
};

struct traffic_config {
    struct rate_profile profile;
    const char *file;             /* traffic file (docs/traffic-file.md), or NULL */
    double scale;                 /* multiplies every rate */
    double input_tokens_mean, input_tokens_cv;
    double output_tokens_mean, output_tokens_cv;
    double arrival_cv;            /* burstiness of arrivals within a step, 1 = Poisson */
};

/* Iteration law of one replica: workload-models 1.2 */
struct replica_law {
    double c0_s, a_s, aq_s, d1_s, d2_s;
    int32_t max_num_seqs;
    int32_t max_num_batched_tokens;
    double kv_capacity_tokens;
    double api_overhead_s;
};

enum no_replica { NO_REPLICA_QUEUE, NO_REPLICA_REJECT };

struct service_config {
    const char *name;
    enum service_kind kind;
    int32_t team, queue;
    int32_t priority;
    const char *priority_class;
    int32_t model;                /* index, -1 for SERVICE_SIMPLE without weights */
    int32_t lora_base;            /* it serves an adapter of this model, -1 = it is a model of its own */
    struct lora_adapter adapter;  /* with lora_base */
    int32_t cards_per_replica;    /* whole cards; or share_milli */
    int32_t share_milli;          /* fraction of a card per replica, 0 = whole cards */
    struct tenant_config tenant;
    struct label *node_selector;
    int32_t node_selector_count;
    struct taint *tolerations;
    int32_t toleration_count;
    struct resource_amount *per_replica;
    int32_t per_replica_count;
    int32_t min_replicas, max_replicas; /* max is the peak number, kept by arbiters without scaler */
    struct traffic_config traffic;
    struct replica_law law;       /* SERVICE_LLM */
    double service_time_s, service_time_cv; /* SERVICE_SIMPLE */
    int32_t servers_per_replica;  /* SERVICE_SIMPLE: parallel servers, normally 1 */
    double slo_latency_s;         /* end-to-end target (TTFT target below if > 0) */
    double slo_ttft_s;
    double slo_target;            /* e.g. 0.99: the share that must meet it */
    enum no_replica on_no_replica;
    double max_queue;             /* requests; 0 = no limit */
    double timeout_s;             /* patience; 0 = none */
    sim_time engine_start;        /* process + engine init after weights */
    /* what the scaler targets: requests in flight + queued per replica */
    double target_per_replica;    /* 0 = derived from the law at the SLO */
};

struct demand_config {
    struct model_config *models;
    int32_t model_count;
    struct job_stream_config *streams;
    int32_t stream_count;
    struct service_config *services;
    int32_t service_count;
    sim_time traffic_step;        /* rates are constant within a step */
};

#endif
