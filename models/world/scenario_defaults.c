/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Defaults of a scenario's structs, each with its source. Where a source gives none, the value is
 * an assumption and docs/fidelity.md lists it.
 */
#include "models/world/scenario.h"

#include "sim/check.h"

struct node_pool_config node_pool_defaults(void)
{
    return (struct node_pool_config){
        .card = -1,
        .cards_per_node = 8,
        .purchase = PURCHASE_ON_DEMAND,
        .cache_slots = 4, /* assumption: a node's NVMe keeps the weights of four models */
    };
}

/* Kueue's API defaulting (specs/kueue.md 1.3). */
struct queue_config queue_defaults(void)
{
    return (struct queue_config){
        .team = -1,
        .cohort = -1,
        .strategy = QUEUE_BEST_EFFORT_FIFO,
        .within_cluster_queue = PREEMPT_NEVER,
        .reclaim_within_cohort = PREEMPT_NEVER,
        .borrow_within_cohort = PREEMPT_NEVER,
        .when_can_borrow = FUNGIBILITY_MAY_STOP_SEARCH,
        .when_can_preempt = FUNGIBILITY_TRY_NEXT_FLAVOR,
        .weight = 1,
    };
}

struct cohort_config cohort_defaults(void)
{
    return (struct cohort_config){.parent = -1, .weight = 1};
}

static struct rate_profile flat_profile(void)
{
    return (struct rate_profile){
        .weekday = {1, 1, 1, 1, 1, 1, 1},
        .ou_tau = SIM_HOUR,
        .burst_factor = 1,
        .burst_length = 10 * SIM_MINUTE,
    };
}

/* gpu-sharing 4.2, 4.3: one that can use the whole card, and half of its bandwidth (assumption). */
struct tenant_config tenant_defaults(void)
{
    struct speed_tenant t = speed_tenant_default();
    return (struct tenant_config){.compute_demand = t.demand, .bandwidth = t.bandwidth};
}

/* Speeds: gpu-sharing 4.3. A context takes 100 to 500 MB (2.6, HAMi #1026). No faults unless asked for. */
struct sharing_model sharing_model_defaults(void)
{
    return (struct sharing_model){.speed = speed_params_default(), .context_bytes = INT64_C(300) << 20};
}

struct job_stream_config job_stream_defaults(void)
{
    return (struct job_stream_config){
        .team = -1,
        .queue = -1,
        .model = -1,
        .lora_base = -1,
        .checkpoint_interval = SIM_HOUR,   /* assumption */
        .checkpoint_stall = 30 * SIM_SECOND, /* cache-and-checkpoint 5: minutes when synchronous, seconds when not */
        .restart = 3 * SIM_MINUTE,         /* process, rendezvous and checkpoint load: assumption */
        .tenant = tenant_defaults(),
        .arrivals = flat_profile(),
        .arrival_cv = 1,
        .time_scale = 1,
        .work_scale = 1,
    };
}

struct service_config service_defaults(void)
{
    return (struct service_config){
        .kind = SERVICE_LLM,
        .team = -1,
        .queue = -1,
        .model = -1,
        .lora_base = -1,
        .cards_per_replica = 1,
        .tenant = tenant_defaults(),
        .min_replicas = 1,
        .max_replicas = 1,
        .traffic = {.profile = flat_profile(), .scale = 1, .input_tokens_mean = 1155,
                    .input_tokens_cv = 0.96,
                    .output_tokens_mean = 211, .output_tokens_cv = 0.77, .arrival_cv = 1}, /* Azure conversation trace */
        .law = {.max_num_seqs = 256, .max_num_batched_tokens = 8192, .api_overhead_s = 0.015},
        .service_time_cv = 1,
        .servers_per_replica = 1,
        .slo_latency_s = 30,
        .slo_target = 0.99,
        .on_no_replica = NO_REPLICA_QUEUE,
        .engine_start = 60 * SIM_SECOND, /* cache-and-checkpoint 4.3: 30 to 200 s for LLM engines */
    };
}

/* Upstream's values (specs/autoscaling.md 1.1, 2.1, 7); a nil behavior block. */
struct scaling_config scaling_defaults(void)
{
    return (struct scaling_config){
        .polling_interval = 30 * SIM_SECOND,
        .cooldown_period = 300 * SIM_SECOND,
        .sync_period = 15 * SIM_SECOND,
        .tolerance = 0.1,
        .activation_threshold = 0,
        .scale_up_stabilization = 0,
        .scale_down_stabilization = 300 * SIM_SECOND,
        .has_behavior = false,
        .scale_up_percent = 100,
        .scale_up_pods = 4,
        .scale_down_percent = 100,
        .idle_replica_count = -1,
        .target_load = 0.8, /* headroom for drift while a replica starts: assumption */
    };
}

struct transfer_config transfer_defaults(void)
{
    return (struct transfer_config){
        .image_bytes_per_s = 30e6, /* cache-and-checkpoint 3.1: effective pull without lazy loading */
        .store_bytes_per_s = 1e9,  /* 4.1: S3 with 8 to 16 streams, 0.5 to 1.8 GB/s */
        .fluid_bytes_per_s = 3e9,  /* 4.1: object-store cap of a streaming loader, from a near cache */
        .node_bytes_per_s = 3.2e9, /* 4.2: safetensors from NVMe */
        .process_start = 20 * SIM_SECOND, /* 4.3: up to 19 s before the device is touched */
        .drain = 30 * SIM_SECOND,  /* Kubernetes terminationGracePeriodSeconds */
    };
}

static struct managed_config managed_defaults(void)
{
    return (struct managed_config){
        .job_start = 600 * SIM_SECOND,  /* managed-and-costs 2.4: 8-GPU P types, assumption */
        .job_uplift = 1.15,             /* 2.6: ml.* over EC2, P family */
        .request_latency_s = 0.5,       /* assumption */
        .output_tokens_per_s = 80,      /* assumption */
        .output_burndown = 1,           /* 2.1: generic models */
        .input_uusd_per_mtok = 720000,  /* 2.1: Llama 3.3 70B Instruct */
        .output_uusd_per_mtok = 720000,
        .simple_uusd_per_s = 1.127e6 / 3600, /* 2.6: ml.g6.xlarge */
    };
}

/* Engineers: managed-and-costs 3.4 (A 0.5, B 4, C 1, D 0.25). */
struct arbiter_config arbiter_defaults(enum arbiter_preset preset)
{
    struct arbiter_config a = {
        .name = arbiter_preset_name(preset),
        .preset = preset,
        .backend = BACKEND_FLEET,
        .borrowing = true,
        .preemption = true,
        .borrow_limit_percent = -1,
        .requeue_batch = SIM_SECOND,         /* Kueue batches wake-ups of inadmissible workloads */
        .eviction_grace = 30 * SIM_SECOND,   /* terminationGracePeriodSeconds of the victim's pods */
        .gang = GANG_QUOTA,
        .scaler = SCALER_KEDA,
        .placement = PLACE_BINPACK,
        .sharing = SHARING_FRACTION,
        .cache = CACHE_FLUID,
        .checkpoint = true,
        .lora_base = true,
        .lora_slots = 5,                     /* workload-models 5.3: Twinkle's max_loras */
        .lora_mode = LORA_TIME_SHARE,
        .lora_gain = 0.17,                   /* 5.3: range 0 to 0.5 */
        .price_factor = 1,
        .engineers = 4,
        .managed = managed_defaults(),
    };
    switch (preset) {
    case PRESET_POOLS: /* a fixed boundary, FIFO per pool, no lending, replicas at their peak */
        a.borrowing = a.preemption = false;
        a.strict_fifo = true;
        a.gang = GANG_PODS;
        a.scaler = SCALER_NONE;
        a.sharing = SHARING_WHOLE;
        a.lora_base = false;
        a.cache = CACHE_NODE;
        a.engineers = 0.5;
        break;
    case PRESET_COHORT:
        break;
    case PRESET_HYPERPOD: /* managed-and-costs 1.3, 1.4, 1.6: whole cards or MIG, BorrowLimit 50 */
        a.fair_sharing = a.reclaim_any = true;
        a.borrow_limit_percent = 50;
        a.sharing = SHARING_WHOLE;
        a.lora_base = false; /* no software slicing */
        a.cache = CACHE_NODE;
        a.price_factor = 1.15;
        a.engineers = 1;
        break;
    case PRESET_MANAGED:
        a.backend = BACKEND_MANAGED;
        a.borrowing = a.preemption = false;
        a.scaler = SCALER_NONE;
        a.sharing = SHARING_WHOLE;
        a.lora_base = false;
        a.cache = CACHE_NONE;
        a.engineers = 0.25;
        break;
    case PRESET_COUNT:
        break;
    }
    return a;
}

const char *arbiter_preset_name(enum arbiter_preset preset)
{
    static const char *const names[PRESET_COUNT] = {"pools", "cohort", "hyperpod", "managed"};
    REQUIRE((int)preset >= 0 && preset < PRESET_COUNT);
    return names[preset];
}

struct scenario scenario_defaults(void)
{
    return (struct scenario){
        .name = "unnamed",
        .description = "",
        .horizon = 7 * SIM_DAY,
        .start_epoch = INT64_C(1767571200) * SIM_SECOND, /* Monday 2026-01-05T00:00:00Z */
        .seed = 1,
        .replications = 1,
        .demand = {.traffic_step = 5 * SIM_MINUTE},
        .scaling = scaling_defaults(),
        .transfer = transfer_defaults(),
        .sharing_model = sharing_model_defaults(),
        .lora = lora_sharing_defaults(),
        .money = {.engineer_uusd_per_year = INT64_C(200000) * 1000000}, /* managed-and-costs 3.4 */
    };
}
