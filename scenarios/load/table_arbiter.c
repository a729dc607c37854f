/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of scaling and of arbiters. */
#include <string.h>

#include "scenarios/load/load_priv.h"

#define SCALE(member) offsetof(struct scaling_config, member)
static const struct field up_fields[] = {
    {.name = "stabilizationWindowSeconds", .kind = FIELD_WINDOW,
     .offset = SCALE(scale_up_stabilization), .max = 3600e9,
     .help = "Window of earlier recommendations."},
    {.name = "percent", .kind = FIELD_INT, .offset = SCALE(scale_up_percent), .max = 100000,
     .help = "Policy Percent per 15 s."},
    {.name = "pods", .kind = FIELD_INT, .offset = SCALE(scale_up_pods), .max = 100000,
     .help = "Policy Pods per 15 s; the larger of both counts."},
    {0}};
static const struct schema up_schema = {.title = "scaleUp", .fields = up_fields,
                                        .size = sizeof(struct scaling_config)};
static const struct field down_fields[] = {
    {.name = "stabilizationWindowSeconds", .kind = FIELD_WINDOW,
     .offset = SCALE(scale_down_stabilization), .max = 3600e9,
     .help = "Window of earlier recommendations."},
    {.name = "percent", .kind = FIELD_INT, .offset = SCALE(scale_down_percent), .min = 0,
     .max = 100, .help = "Policy Percent per 15 s."},
    {0}};
static const struct schema down_schema = {.title = "scaleDown", .fields = down_fields,
                                          .size = sizeof(struct scaling_config)};
static const struct field behavior_fields[] = {
    {.name = "scaleUp", .kind = FIELD_STRUCT, .sub = &up_schema, .help = "Limits on the way up."},
    {.name = "scaleDown", .kind = FIELD_STRUCT, .sub = &down_schema,
     .help = "Limits on the way down."},
    {0}};
static void behavior_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    (void)ctx;
    (void)map;
    ((struct scaling_config *)out)->has_behavior = true;
}
static const struct schema behavior_schema = {.title = "behavior",
                                              .about = "HPA's behavior. Leaving it out is not the same as its defaults: the HPA then takes its legacy path, max(2 x current, 4) per sync.",
                                              .fields = behavior_fields,
                                              .size = sizeof(struct scaling_config),
                                              .after = behavior_after};
static const struct field scaling_fields[] = {
    {.name = "pollingInterval", .kind = FIELD_DURATION, .offset = SCALE(polling_interval),
     .min = 1e9, .max = 86400e9, .help = "KEDA looks at a service at zero replicas this often."},
    {.name = "cooldownPeriod", .kind = FIELD_DURATION, .offset = SCALE(cooldown_period),
     .max = 604800e9, .help = "Without traffic this long, the last replica goes."},
    {.name = "syncPeriod", .kind = FIELD_DURATION, .offset = SCALE(sync_period), .min = 1e9,
     .max = 3600e9, .help = "HPA controller period."},
    {.name = "tolerance", .kind = FIELD_FRACTION, .offset = SCALE(tolerance), .max = 1,
     .help = "Ratios this near to 1 change nothing."},
    {.name = "activationThreshold", .kind = FIELD_REAL, .offset = SCALE(activation_threshold),
     .max = 1e9, .help = "Requests in flight above which a service at zero wakes."},
    {.name = "idleReplicaCount", .kind = FIELD_INT, .offset = SCALE(idle_replica_count), .max = 0,
     .min = 0, .fallback = "not set", .help = "KEDA supports only 0."},
    {.name = "targetLoad", .kind = FIELD_FRACTION, .offset = SCALE(target_load), .min = 0.05,
     .max = 1,
     .help = "Threshold of the trigger where a service gives none: this part of the rate one "
             "replica carries within its SLO."},
    {.name = "behavior", .kind = FIELD_STRUCT, .sub = &behavior_schema,
     .fallback = "none: the legacy path", .help = "Rate limits and windows."},
    {0}};
const struct schema scaling_schema = {.title = "scaling",
                                      .about = "KEDA and HPA, for all services unless one overrides it.", .fields = scaling_fields, .size = sizeof(struct scaling_config)};

static const struct enum_name preset_names[] = {{"pools", PRESET_POOLS}, {"cohort", PRESET_COHORT},
                                                {"hyperpod", PRESET_HYPERPOD}, {"managed",
                                                    PRESET_MANAGED}, {NULL, 0}};
static const struct enum_name backend_names[] = {{"fleet", BACKEND_FLEET},
                                                 {"managed", BACKEND_MANAGED}, {NULL, 0}};
static const struct enum_name gang_names[] = {{"quota", GANG_QUOTA}, {"pods", GANG_PODS},
                                              {NULL, 0}};
static const struct enum_name scaler_names[] = {{"none", SCALER_NONE}, {"keda", SCALER_KEDA},
                                                {NULL, 0}};
static const struct enum_name placement_names[] = {{"binpack", PLACE_BINPACK},
                                                   {"spread", PLACE_SPREAD},
                                                   {"random", PLACE_RANDOM},
                                                   {"dot-product", PLACE_DOT_PRODUCT},
                                                   {"gpu-clustering", PLACE_CLUSTERING},
                                                   {"gpu-packing", PLACE_PACKING},
                                                   {"best-fit", PLACE_BEST_FIT},
                                                   {"fgd", PLACE_FGD},
                                                   {NULL, 0}};
static const struct enum_name sharing_names[] = {{"whole", SHARING_WHOLE},
                                                 {"fraction", SHARING_FRACTION}, {NULL, 0}};
static const struct enum_name lora_mode_names[] = {{"time-share", LORA_TIME_SHARE},
                                                   {"fused", LORA_FUSED}, {NULL, 0}};
static const struct enum_name cache_names[] = {{"none", CACHE_NONE}, {"node", CACHE_NODE},
                                               {"fluid", CACHE_FLUID}, {NULL, 0}};

#define MANAGED(member) offsetof(struct managed_config, member)
static const struct field managed_fields[] = {
    {.name = "jobStart", .kind = FIELD_DURATION, .offset = MANAGED(job_start), .max = 86400e9,
     .help = "Instances are made for each job: unbilled delay."},
    {.name = "jobUplift", .kind = FIELD_REAL, .offset = MANAGED(job_uplift), .max = 100,
     .help = "ml.* price over the instance's on-demand price."},
    {.name = "requestLatency", .kind = FIELD_SECONDS, .offset = MANAGED(request_latency_s),
     .max = 3600, .help = "Time to the first token."},
    {.name = "outputTokensPerSecond", .kind = FIELD_REAL, .offset = MANAGED(output_tokens_per_s),
     .min = 0.001, .max = 1e6, .help = "Speed of one answer."},
    {.name = "tokensPerMinute", .kind = FIELD_PER_MINUTE, .offset = MANAGED(tokens_per_minute),
     .max = 1e15, .help = "Quota per service; 0/min = none."},
    {.name = "requestsPerMinute", .kind = FIELD_PER_MINUTE, .offset = MANAGED(requests_per_minute),
     .max = 1e12, .help = "Quota per service; 0/min = none."},
    {.name = "outputBurndown", .kind = FIELD_REAL, .offset = MANAGED(output_burndown), .max = 100,
     .help = "Quota tokens per output token."},
    {.name = "inputPrice", .kind = FIELD_TOKEN_PRICE, .offset = MANAGED(input_uusd_per_mtok),
     .max = 1e12, .help = "Price of input tokens."},
    {.name = "outputPrice", .kind = FIELD_TOKEN_PRICE, .offset = MANAGED(output_uusd_per_mtok),
     .max = 1e12, .help = "Price of output tokens."},
    {.name = "simplePrice", .kind = FIELD_USD_SECOND, .offset = MANAGED(simple_uusd_per_s),
     .max = 1e12, .help = "Non-LLM services: price of computing time."},
    {0}};
static const struct schema managed_schema = {.title = "managed",
                                             .about = "The service outside the cluster (Bedrock, SageMaker).", .fields = managed_fields, .size = sizeof(struct managed_config)};

#define ARB(member) offsetof(struct arbiter_in, member)
static const struct field arbiter_fields[] = {
    {.name = "preset", .kind = FIELD_ENUM, .offset = ARB(c.preset), .names = preset_names,
     .flags = FIELD_REQUIRED, .fallback = "none",
     .help = "Where every other field's default comes from."},
    {.name = "name", .kind = FIELD_NAME, .offset = ARB(c.name), .fallback = "the preset's",
     .help = "Name in results; two arbiters may not share one."},
    {.name = "backend", .kind = FIELD_ENUM, .offset = ARB(c.backend), .names = backend_names,
     .help = "fleet: our cards. managed: a service outside."},
    {.name = "borrowing", .kind = FIELD_BOOL, .offset = ARB(c.borrowing),
     .help = "Queues keep their cohorts; false: every queue stands alone."},
    {.name = "fairSharing", .kind = FIELD_BOOL, .offset = ARB(c.fair_sharing),
     .help = "Kueue's fair sharing instead of the classical order."},
    {.name = "kueue", .kind = FIELD_STRUCT, .offset = ARB(c.kueue), .sub = &kueue_schema,
     .help = "Release, gates and strategies of the policy."},
    {.name = "strictFifo", .kind = FIELD_BOOL, .offset = ARB(c.strict_fifo),
     .help = "Every queue is StrictFIFO."},
    {.name = "preemption", .kind = FIELD_BOOL, .offset = ARB(c.preemption),
     .help = "false: every preemption policy is Never."},
    {.name = "reclaimAny", .kind = FIELD_BOOL, .offset = ARB(c.reclaim_any),
     .help = "reclaimWithinCohort is Any for all queues."},
    {.name = "borrowLimitPercent", .kind = FIELD_INT, .offset = ARB(c.borrow_limit_percent),
     .min = -1, .max = 10000,
     .help = "HyperPod's BorrowLimit: borrowingLimit in percent of nominalQuota; -1 = as the "
             "queues say."},
    {.name = "requeueBatch", .kind = FIELD_DURATION, .offset = ARB(c.requeue_batch), .max = 3600e9,
     .help = "Wake-ups of waiting workloads are collected this long."},
    {.name = "decisionDelay", .kind = FIELD_DURATION, .offset = ARB(c.decision_delay),
     .max = 86400e9, .help = "Time from submission to the first decision."},
    {.name = "evictionGrace", .kind = FIELD_DURATION, .offset = ARB(c.eviction_grace),
     .max = 86400e9, .help = "Quota stays used this long after an eviction is decided."},
    {.name = "gang", .kind = FIELD_ENUM, .offset = ARB(c.gang), .names = gang_names,
     .help = "quota: all workers or none. pods: workers start one by one and hold their cards."},
    {.name = "scaler", .kind = FIELD_ENUM, .offset = ARB(c.scaler), .names = scaler_names,
     .help = "none: replicas stay at maxReplicaCount."},
    {.name = "placement", .kind = FIELD_ENUM, .offset = ARB(c.placement), .names = placement_names,
     .help = "How nodes are chosen."},
    {.name = "placementAcrossPools", .kind = FIELD_BOOL, .offset = ARB(c.placement_across_pools),
     .help = "A workload of one worker takes the best node of all node pools it may use (those without sharing), nodes in "
             "the order of the file where scores are equal; false: the first pool that has room. For random and placements by score."},
    {.name = "fgdKnowsDemand", .kind = FIELD_BOOL, .offset = ARB(c.fgd_knows_demand),
     .help = "placement fgd expects the jobs of the whole run, which it reads ahead; false: those placed last."},
    {.name = "schedulerPreemption", .kind = FIELD_BOOL, .offset = ARB(c.scheduler_preemption),
     .help = "The scheduler evicts pods of lower priority for a workload that has quota but finds no "
             "node, as kube-scheduler does; it looks at no quota and breaks gangs."},
    {.name = "networkLocality", .kind = FIELD_BOOL, .offset = ARB(c.network_locality),
     .help = "A gang of whole cards that is placed whole takes the tightest network domain of a pool that holds it (network of the "
             "pool), else any nodes of the pool. How fast it then runs is said by the "
             "communication of its stream."},
    {.name = "sharing", .kind = FIELD_ENUM, .offset = ARB(c.sharing), .names = sharing_names,
     .help = "whole: a share of a card takes the card. fraction: it takes the share."},
    {.name = "nodePoolSharing", .kind = FIELD_LIST, .offset = ARB(sharings),
     .count_offset = ARB(sharing_count), .sub = &pool_sharing_schema,
     .help = "Node pools whose cards are shared in another way under this arbiter."},
    {.name = "cache", .kind = FIELD_ENUM, .offset = ARB(c.cache), .names = cache_names,
     .help = "Where weights come from at a cold start."},
    {.name = "checkpoint", .kind = FIELD_BOOL, .offset = ARB(c.checkpoint),
     .help = "false: jobs take no checkpoints."},
    {.name = "loraBase", .kind = FIELD_BOOL, .offset = ARB(c.lora_base),
     .help = "Tenants of one base model share its instances; false: each takes its share or a card."},
    {.name = "loraSlots", .kind = FIELD_INT, .offset = ARB(c.lora_slots), .min = 1,
     .max = LORA_SLOTS_MAX, .help = "Adapters of one instance at most."},
    {.name = "loraMode", .kind = FIELD_ENUM, .offset = ARB(c.lora_mode), .names = lora_mode_names,
     .help = "Tuning: adapters take turns, or are fused into one batch (more throughput, activations each)."},
    {.name = "loraGain", .kind = FIELD_FRACTION, .offset = ARB(c.lora_gain), .max = 1,
     .help = "Throughput that fusing adds (published: 0 to 0.5)."},
    {.name = "priceFactor", .kind = FIELD_REAL, .offset = ARB(c.price_factor), .max = 100,
     .help = "Multiplies node prices."},
    {.name = "engineers", .kind = FIELD_REAL, .offset = ARB(c.engineers), .max = 10000,
     .help = "Platform engineers, for the cost."},
    {.name = "policyFile", .kind = FIELD_STRING, .offset = ARB(c.policy_file), .fallback = "none",
     .help = "Shared object built against policy.h; replaces the admission policy."},
    {.name = "managed", .kind = FIELD_STRUCT, .offset = ARB(c.managed), .sub = &managed_schema,
     .help = "Parameters of the managed backend."},
    {.name = "queues", .kind = FIELD_LIST, .offset = ARB(overrides),
     .count_offset = ARB(override_count), .sub = &queue_override_schema,
     .help = "Queues that differ under this arbiter."},
    {0}};

static void arbiter_in_defaults(void *out)
{
    ((struct arbiter_in *)out)->c = arbiter_defaults(PRESET_COHORT);
}

static void arbiter_before(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    const struct ynode *preset = ynode_get(map, "preset");
    (void)ctx; /* a wrong preset is reported by its row */
    for (const struct enum_name *e = preset_names; preset != NULL && e->name != NULL; e++)
        if (preset->kind == YNODE_SCALAR && strcmp(preset->text, e->name) == 0)
            ((struct arbiter_in *)out)->c = arbiter_defaults((enum arbiter_preset)e->value);
}

static void arbiter_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    struct arbiter_in *in = out;
    (void)map;
    in->c.pool_sharing_count = in->sharing_count;
    in->c.pool_sharings = arena_alloc(ctx->arena, (size_t)in->sharing_count + 1, sizeof *in->c.pool_sharings);
    for (int32_t i = 0; i < in->sharing_count; i++)
        in->c.pool_sharings[i] = (struct pool_sharing){in->sharings[i].pool, in->sharings[i].sharing.c};
    in->c.queue_override_count = in->override_count;
    in->c.queue_overrides = in->overrides;
    in->c.queue_override_ix = arena_alloc(ctx->arena, (size_t)in->override_count + 1,
                                          sizeof(int32_t));
    for (int32_t i = 0; i < in->override_count; i++)
        in->c.queue_override_ix[i] = in->overrides[i].name == NULL ? -1 : name_list_find(&ctx->refs[REF_QUEUE], in->overrides[i].name);
}

const struct schema arbiter_schema = {.title = "an arbiter",
                                      .about = "One way to share the fleet; every arbiter sees the same demand.", .size = sizeof(struct arbiter_in),
                                      .fields = arbiter_fields, .defaults = arbiter_in_defaults,
                                      .before = arbiter_before, .after = arbiter_after};
