/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Table of inference services. */
#include <string.h>

#include "models/demand/replica_laws.h"
#include "models/fleet/catalogue.h"
#include "scenarios/load/table_profile.h"
#include "scenarios/load/table_sharing.h"

static const struct enum_name kind_names[] = {{"llm", SERVICE_LLM}, {"simple", SERVICE_SIMPLE},
                                              {NULL, 0}};
static const struct enum_name no_replica_names[] = {{"queue", NO_REPLICA_QUEUE},
                                                    {"reject", NO_REPLICA_REJECT}, {NULL, 0}};

#define SERVICE(member) offsetof(struct service_in, member)
PROFILE_SUBS(traffic, struct service_in, c.traffic.profile);

#define TOKENS(which)                                                                              \
    static const struct field which##_fields[] = {                                                 \
        {.name = "mean", .kind = FIELD_REAL, .offset = SERVICE(c.traffic.which##_tokens_mean), \
         .min = 1, .max = 1e7, .help = "Mean tokens of a request."}, \
        {.name = "cv", .kind = FIELD_REAL, .offset = SERVICE(c.traffic.which##_tokens_cv), \
         .max = 20, .help = "Coefficient of variation."}, \
        {0}};                                                                                      \
    static const struct schema which##_schema = {.title = #which " tokens", \
                                                 .fields = which##_fields, .size = sizeof(struct service_in)}
TOKENS(input);
TOKENS(output);

static void traffic_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    struct service_in *in = out;
    in->c.traffic.profile.has_hours |= ynode_get(map, "hours") != NULL;
    if (in->c.traffic.file != NULL && ynode_get(map, "base") != NULL)
        field_problem(ctx, ynode_get(map, "file"), "file and base exclude each other");
    if (in->c.traffic.file == NULL && ynode_get(map, "base") == NULL)
        field_problem(ctx, map, "traffic needs a base rate or a file");
}

static const struct field traffic_fields[] = {
    PROFILE_ROWS(traffic, struct service_in, c.traffic.profile, c.traffic.arrival_cv),
    {.name = "file", .kind = FIELD_STRING, .offset = SERVICE(c.traffic.file), .fallback = "none",
     .help = "Traffic file (docs/traffic-file.md) instead of a base rate; relative to the "
             "scenario."},
    {.name = "scale", .kind = FIELD_REAL, .offset = SERVICE(c.traffic.scale), .max = 1e6,
     .help = "Every rate is multiplied by this."},
    {.name = "inputTokens", .kind = FIELD_STRUCT, .sub = &input_schema,
     .help = "Prompt lengths, unless the file gives them."},
    {.name = "outputTokens", .kind = FIELD_STRUCT, .sub = &output_schema,
     .help = "Answer lengths, unless the file gives them."},
    {0}};
static const struct schema traffic_schema = {.title = "traffic", .fields = traffic_fields,
                                             .size = sizeof(struct service_in), .after = traffic_after};

static const struct field time_fields[] = {
    {.name = "mean", .kind = FIELD_SECONDS, .offset = SERVICE(c.service_time_s), .min = 1e-6,
     .max = 86400, .help = "Mean time of one request."},
    {.name = "cv", .kind = FIELD_REAL, .offset = SERVICE(c.service_time_cv), .max = 20,
     .help = "Coefficient of variation."},
    {0}};
static const struct schema time_schema = {.title = "serviceTime", .fields = time_fields,
                                          .size = sizeof(struct service_in)};

static const struct field slo_fields[] = {
    {.name = "latency", .kind = FIELD_SECONDS, .offset = SERVICE(c.slo_latency_s), .min = 1e-4,
     .max = 86400, .help = "Whole request, from arrival to its last token."},
    {.name = "ttft", .kind = FIELD_SECONDS, .offset = SERVICE(c.slo_ttft_s), .max = 86400,
     .help = "First token, instead; 0s = the whole request counts."},
    {.name = "target", .kind = FIELD_FRACTION, .offset = SERVICE(c.slo_target), .min = 0, .max = 1,
     .help = "Share of requests that must meet it."},
    {0}};
static const struct schema slo_schema = {.title = "slo", .fields = slo_fields,
                                         .size = sizeof(struct service_in)};

/* ---- replica law: written out, or by model, card and tensor parallelism ---- */

struct replica_law_in {
    struct replica_law law;
    const char *model, *precision, *engine, *card;
    int32_t tensor_parallel;
};

#define RLAW(member) offsetof(struct replica_law_in, member)
static const struct field replica_law_fields[] = {
    {.name = "model", .kind = FIELD_STRING, .offset = RLAW(model), .fallback = "none",
     .help = "Model of the built-in table (workload-models 1.8), such as llama-3.1-70b."},
    {.name = "precision", .kind = FIELD_STRING, .offset = RLAW(precision),
     .fallback = "that of the table", .help = "Precision of the weights, such as fp8."},
    {.name = "engine", .kind = FIELD_STRING, .offset = RLAW(engine), .fallback = "vLLM",
     .help = "Engine of the table's row, such as trtllm."},
    {.name = "card", .kind = FIELD_STRING, .offset = RLAW(card), .fallback = "none",
     .help = "Card it was measured on, such as H100-80."},
    {.name = "tensorParallel", .kind = FIELD_INT, .offset = RLAW(tensor_parallel), .min = 1,
     .max = 64, .fallback = "cardsPerReplica", .help = "Cards of one engine."},
    {.name = "c0", .kind = FIELD_SECONDS, .offset = RLAW(law.c0_s), .max = 100, .fallback = "0s",
     .help = "Time of an iteration, whatever the batch."},
    {.name = "a", .kind = FIELD_SECONDS, .offset = RLAW(law.a_s), .max = 1, .fallback = "0s",
     .help = "Time per prefill token."},
    {.name = "aq", .kind = FIELD_SECONDS, .offset = RLAW(law.aq_s), .max = 1, .fallback = "0s",
     .help = "Time per query-key pair of prefill attention."},
    {.name = "d1", .kind = FIELD_SECONDS, .offset = RLAW(law.d1_s), .max = 1, .fallback = "0s",
     .help = "Time per decoding sequence."},
    {.name = "d2", .kind = FIELD_SECONDS, .offset = RLAW(law.d2_s), .max = 1, .fallback = "0s",
     .help = "Time per cached token read."},
    {.name = "maxNumSeqs", .kind = FIELD_INT, .offset = RLAW(law.max_num_seqs), .min = 1,
     .max = 100000, .help = "Running sequences (vLLM's max_num_seqs)."},
    {.name = "maxNumBatchedTokens", .kind = FIELD_INT, .offset = RLAW(law.max_num_batched_tokens),
     .min = 1, .max = 1e7, .help = "Token budget of an iteration."},
    {.name = "kvCapacityTokens", .kind = FIELD_REAL, .offset = RLAW(law.kv_capacity_tokens),
     .max = 1e12, .help = "Tokens the KV cache holds (workload-models 1.3); 0 = no limit."},
    {.name = "apiOverhead", .kind = FIELD_SECONDS, .offset = RLAW(law.api_overhead_s), .max = 100,
     .help = "Added to the first token: HTTP and tokenizer."},
    {0}};
static void replica_law_defaults(void *out)
{
    ((struct replica_law_in *)out)->law = service_defaults().law;
}
static const struct schema replica_law_schema = {
    .title = "a replica law",
    .about = "Iteration time t = c0 + a P + aq Q + d1 B + d2 C of one replica (workload-models "
             "1.2).",
    .size = sizeof(struct replica_law_in), .fields = replica_law_fields,
    .defaults = replica_law_defaults};

/* The table's law first; keys that are written out replace its numbers. */
static bool find_law(struct read_ctx *ctx, const struct ynode *n, struct replica_law_in *in,
                     int32_t cards)
{
    if (in->card == NULL || in->precision == NULL) {
        field_problem(ctx, n,
                      "a law by model needs precision and card too, such as {model: llama-3.1-70b, precision: fp8, card: H100}");
        return false;
    }
    int32_t tp = in->tensor_parallel > 0 ? in->tensor_parallel : cards > 0 ? cards : 1;
    const char *full = arena_printf(ctx->arena, "%s-%s%s%s", in->model, in->precision,
                                    in->engine == NULL ? "" : "-", in->engine == NULL ? "" : in->engine);
    int32_t card = catalogue_find_card(catalogue_builtin(), in->card);
    const char *card_name = card < 0 ? in->card : catalogue_builtin()->cards[card].name;
    if (replica_law_find(full, card_name, tp, &in->law, NULL))
        return true;
    field_problem(ctx, n,
                  "no law is known of %.60s on %d x %.40s, or its weights do not fit there; write out c0, a, d1 and d2", full, (int)tp, in->card);
    return false;
}

static void read_replica_law(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                             void *base)
{
    struct service_in *service = base;
    struct replica_law_in in;
    size_t errors = ctx->diags->error_count;
    (void)f;
    field_read_struct(ctx, &replica_law_schema, n, &in);
    if (n->kind != YNODE_MAP || ctx->diags->error_count > errors)
        return;
    if (in.model == NULL && !(in.law.c0_s > 0))
        field_problem(ctx, n,
                      "the law needs c0, a, d1 and d2, or a model, precision and card of the built-in table");
    if (in.model != NULL && find_law(ctx, n, &in, service->c.cards_per_replica))
        field_read_rows(ctx, &replica_law_schema, n, &in);
    service->c.law = in.law;
}

static const struct field service_fields[] = {
    {.name = "name", .kind = FIELD_NAME, .offset = SERVICE(c.name), .flags = FIELD_REQUIRED,
     .help = "Name of the service."},
    {.name = "kind", .kind = FIELD_ENUM, .offset = SERVICE(c.kind), .names = kind_names,
     .help = "llm: a batching engine. simple: one request at a time per server."},
    {.name = "queue", .kind = FIELD_REF, .offset = SERVICE(c.queue), .domain = REF_QUEUE,
     .flags = FIELD_REQUIRED, .help = "Queue its replicas are submitted to."},
    {.name = "team", .kind = FIELD_REF, .offset = SERVICE(c.team), .domain = REF_TEAM,
     .fallback = "the queue's team", .help = "Who pays."},
    {.name = "priorityClass", .kind = FIELD_STRING, .offset = SERVICE(c.priority_class),
     .fallback = "none", .help = "Name of a priority class."},
    {.name = "priority", .kind = FIELD_INT, .offset = SERVICE(c.priority), .min = -2e9, .max = 2e9,
     .help = "Priority, instead of a class."},
    {.name = "model", .kind = FIELD_REF, .offset = SERVICE(c.model), .domain = REF_MODEL,
     .fallback = "none", .help = "Model whose image and weights a cold start loads."},
    {.name = "loraBase", .kind = FIELD_REF, .offset = SERVICE(c.lora_base), .domain = REF_MODEL,
     .fallback = "none",
     .help = "It serves an adapter of this base model: its replicas share instances of the base with other "
             "services under an arbiter with loraBase, and take cards of their own under others."},
    {.name = "adapter", .kind = FIELD_STRUCT, .offset = SERVICE(c.adapter), .sub = &adapter_schema,
     .help = "What it adds to the base."},
    {.name = "cardsPerReplica", .kind = FIELD_INT, .offset = SERVICE(c.cards_per_replica),
     .min = 1, .max = 1024, .help = "Whole cards of a replica, on one node."},
    {.name = "share", .kind = FIELD_MILLI, .offset = SERVICE(c.share_milli), .min = 1, .max = 1000,
     .fallback = "whole cards",
     .help = "Part of a card per replica, instead of cardsPerReplica; a mechanism that shares only "
             "whole cards gives a whole one."},
    SLICE_ROWS(struct service_in, c.tenant),
    TENANT_ROWS(struct service_in, c.tenant),
    {.name = "nodeSelector", .kind = FIELD_LABELS, .offset = SERVICE(c.node_selector),
     .count_offset = SERVICE(c.node_selector_count), .help = "Only nodes with these labels."},
    {.name = "tolerations", .kind = FIELD_LIST, .offset = SERVICE(c.tolerations),
     .count_offset = SERVICE(c.toleration_count), .sub = &toleration_schema,
     .help = "Taints it tolerates."},
    {.name = "resources", .kind = FIELD_AMOUNTS, .offset = SERVICE(c.per_replica),
     .count_offset = SERVICE(c.per_replica_count),
     .help = "Named resources of a replica, beside its cards."},
    {.name = "minReplicaCount", .kind = FIELD_INT, .offset = SERVICE(c.min_replicas),
     .max = 100000, .help = "Replicas kept without traffic (KEDA)."},
    {.name = "maxReplicaCount", .kind = FIELD_INT, .offset = SERVICE(c.max_replicas), .min = 1,
     .max = 100000, .help = "Replicas at the peak; an arbiter without a scaler keeps this many."},
    {.name = "traffic", .kind = FIELD_STRUCT, .sub = &traffic_schema, .flags = FIELD_REQUIRED,
     .help = "Requests per second over time."},
    {.name = "law", .kind = FIELD_CUSTOM, .read = read_replica_law, .sub = &replica_law_schema,
     .shape = "map", .fallback = "none", .help = "llm: how fast a replica is."},
    {.name = "serviceTime", .kind = FIELD_STRUCT, .sub = &time_schema,
     .help = "simple: how long a request takes."},
    {.name = "serversPerReplica", .kind = FIELD_INT, .offset = SERVICE(c.servers_per_replica),
     .min = 1, .max = 10000, .help = "simple: requests a replica serves at once."},
    {.name = "slo", .kind = FIELD_STRUCT, .sub = &slo_schema, .help = "The promise."},
    {.name = "onNoReplica", .kind = FIELD_ENUM, .offset = SERVICE(c.on_no_replica),
     .names = no_replica_names, .help = "What happens to requests while no replica is ready."},
    {.name = "maxQueue", .kind = FIELD_REAL, .offset = SERVICE(c.max_queue), .max = 1e12,
     .help = "Requests that may wait; 0 = no limit."},
    {.name = "timeout", .kind = FIELD_SECONDS, .offset = SERVICE(c.timeout_s), .max = 86400,
     .help = "A request that waited this long is gone; 0s = never."},
    {.name = "engineStart", .kind = FIELD_DURATION, .offset = SERVICE(c.engine_start),
     .max = 8.64e13, .help = "Engine start after the weights (compile, graphs)."},
    {.name = "targetPerReplica", .kind = FIELD_REAL, .offset = SERVICE(c.target_per_replica),
     .max = 1e6,
     .help = "Requests in flight per replica that the scaler aims at; 0 = derived from the law at "
             "the SLO."},
    {.name = "scaling", .kind = FIELD_STRUCT, .offset = SERVICE(scaling), .sub = &scaling_schema,
     .fallback = "the scenario's scaling", .help = "Scaling of this service alone."},
    {0}};

static void service_in_defaults(void *out)
{
    ((struct service_in *)out)->c = service_defaults();
}

static void service_before(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    (void)map;
    ((struct service_in *)out)->scaling = scenario_of(ctx)->s.scaling;
}

static void service_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    struct service_in *in = out;
    resolve_lora(ctx, map, in->c.lora_base, &in->c.model, &in->c.adapter);
    if (in->c.lora_base >= 0 && in->c.cards_per_replica > 1)
        field_problem(ctx, ynode_get(map, "cardsPerReplica"), "a tenant of a base has one card at most, not %d",
                      (int)in->c.cards_per_replica);
    if (in->c.share_milli > 0 && ynode_get(map, "cardsPerReplica") != NULL)
        field_problem(ctx, ynode_get(map, "share"), "share and cardsPerReplica exclude each other");
    if (in->c.share_milli > 0)
        in->c.cards_per_replica = 0;
    static const char *const slices[] = {"profile", "gpumem", "gpucores"};
    for (int i = 0; i < 3 && in->c.share_milli == 0; i++)
        if (ynode_get(map, slices[i]) != NULL && ynode_get(map, "share") == NULL)
            field_problem(ctx, ynode_get(map, slices[i]),
                          "%s needs share: the part of a card that its queue pays for", slices[i]);
    if (in->c.kind == SERVICE_LLM && ynode_get(map, "law") == NULL)
        field_problem(ctx, map, "a service of kind llm needs a law");
    if (in->c.kind == SERVICE_SIMPLE && ynode_get(map, "serviceTime") == NULL)
        field_problem(ctx, map, "a service of kind simple needs serviceTime: {mean: 40ms}");
    if (in->c.min_replicas > in->c.max_replicas) {
        const struct ynode *at = ynode_get(map, "minReplicaCount");
        field_problem(ctx, at != NULL ? at : ynode_get(map, "maxReplicaCount"),
                      "minReplicaCount %d is above maxReplicaCount %d", (int)in->c.min_replicas, (int)in->c.max_replicas);
    }
    resolve_priority(ctx, map, in->c.priority_class, &in->c.priority);
    resolve_team(ctx, in->c.queue, &in->c.team);
}

const struct schema service_schema = {.title = "a service",
                                      .about = "An inference service: its traffic, what a replica is and how fast, and the promise.",
                                      .size = sizeof(struct service_in), .fields = service_fields,
                                      .defaults = service_in_defaults, .before = service_before,
                                      .after = service_after};
