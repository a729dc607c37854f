/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of jobs: models, training and LoRA streams. */
#include <string.h>

#include "scenarios/load/table_profile.h"
#include "scenarios/load/table_sharing.h"

#define MODEL(member) offsetof(struct model_config, member)
static const struct field model_fields[] = {
    {.name = "name", .kind = FIELD_NAME, .offset = MODEL(name), .flags = FIELD_REQUIRED,
     .help = "Name that streams and services use."},
    {.name = "weights", .kind = FIELD_BYTES, .offset = MODEL(weight_bytes), .max = 1e15,
     .flags = FIELD_REQUIRED, .help = "Size of the weights, loaded at every cold start."},
    {.name = "image", .kind = FIELD_BYTES, .offset = MODEL(image_bytes), .max = 1e13,
     .help = "Size of the container image that serves it."},
    {.name = "kvBytesPerToken", .kind = FIELD_BYTES, .offset = MODEL(kv_bytes_per_token), .max = 1e9,
     .help = "Cache of one token (workload-models 1.3), of which adapters on one base take room; 0B = they "
             "take none."},
    {0}};
const struct schema model_schema = {.title = "a model",
                                    .about = "Base models: what cold starts and LoRA jobs need to know.", .size = sizeof(struct model_config), .fields = model_fields};

void resolve_priority(struct read_ctx *ctx, const struct ynode *map, const char *priority_class,
                      int32_t *priority)
{
    const struct ynode *at = ynode_get(map, "priorityClass");
    const struct quota_config *quota = &scenario_of(ctx)->s.quota;
    if (at == NULL || priority_class == NULL)
        return;
    if (ynode_get(map, "priority") != NULL)
        field_problem(ctx, at, "priority and priorityClass exclude each other");
    int32_t ix = field_resolve(ctx, REF_PRIORITY_CLASS, at);
    if (ix >= 0 && ix < quota->priority_class_count)
        *priority = quota->priority_classes[ix].value;
}

void resolve_team(struct read_ctx *ctx, int32_t queue, int32_t *team)
{
    const struct quota_config *quota = &scenario_of(ctx)->s.quota;
    if (*team < 0 && queue >= 0 && queue < quota->queue_count)
        *team = quota->queues[queue].team;
}

#define STREAM(member) offsetof(struct stream_in, member)
PROFILE_SUBS(arrivals, struct stream_in, c.arrivals);
static const struct field arrivals_fields[] = {PROFILE_ROWS(arrivals, struct stream_in, c.arrivals,
                                                            c.arrival_cv), {0}};
static void arrivals_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    (void)ctx;
    struct stream_in *in = out;
    in->c.arrivals.has_hours |= ynode_get(map, "hours") != NULL;
}
static const struct schema arrivals_schema = {.title = "arrivals", .fields = arrivals_fields,
                                              .size = sizeof(struct stream_in), .after = arrivals_after,
    .about = "Rate = base x day of week x (1 + two daily waves, or hours) x drift x bursts; "
             "arrivals follow it by time warp (workload-models 3.2)."};

static const struct field checkpoint_fields[] = {
    {.name = "interval", .kind = FIELD_DURATION, .offset = STREAM(c.checkpoint_interval),
     .max = 8.64e16, .help = "Computing time between checkpoints; 0s = none."},
    {.name = "stall", .kind = FIELD_DURATION, .offset = STREAM(c.checkpoint_stall), .max = 8.64e16,
     .help = "The cards stand still this long for each."},
    {0}};
static const struct schema checkpoint_schema = {.title = "checkpoint", .fields = checkpoint_fields,
                                                .size = sizeof(struct stream_in)};

static const struct field failure_fields[] = {
    {.name = "probability", .kind = FIELD_FRACTION, .offset = STREAM(c.failure_probability),
     .max = 1,
     .help = "Share of runs that the user's own error ends (0.16 to 0.43 in public traces)."},
    {.name = "maxRetries", .kind = FIELD_INT, .offset = STREAM(c.max_retries), .max = 100,
     .help = "Times it is started again."},
    {0}};
static const struct schema failure_schema = {.title = "failure", .fields = failure_fields,
                                             .size = sizeof(struct stream_in)};

static void read_duration(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                          void *base)
{
    ((struct stream_in *)base)->has_duration = true;
    read_law(ctx, f, n, base);
}

#define STREAM_ROWS                                                                                \
    {.name = "name", .kind = FIELD_NAME, .offset = STREAM(c.name), .flags = FIELD_REQUIRED, \
     .help = "Name of the stream."}, \
    {.name = "queue", .kind = FIELD_REF, .offset = STREAM(c.queue), .domain = REF_QUEUE, \
     .flags = FIELD_REQUIRED, .help = "Queue the jobs are submitted to."}, \
    {.name = "team", .kind = FIELD_REF, .offset = STREAM(c.team), .domain = REF_TEAM, \
     .fallback = "the queue's team", .help = "Who pays."}, \
    {.name = "priorityClass", .kind = FIELD_STRING, .offset = STREAM(c.priority_class), \
     .fallback = "none", .help = "Name of a priority class."}, \
    {.name = "priority", .kind = FIELD_INT, .offset = STREAM(c.priority), .min = -2e9, \
     .max = 2e9, .help = "Priority, instead of a class."}, \
    {.name = "nodeSelector", .kind = FIELD_LABELS, .offset = STREAM(c.node_selector), \
     .count_offset = STREAM(c.node_selector_count), .help = "Only nodes with these labels."}, \
    {.name = "tolerations", .kind = FIELD_LIST, .offset = STREAM(c.tolerations), \
     .count_offset = STREAM(c.toleration_count), .sub = &toleration_schema, \
     .help = "Taints it tolerates."}, \
    {.name = "resources", .kind = FIELD_AMOUNTS, .offset = STREAM(c.per_worker), \
     .count_offset = STREAM(c.per_worker_count), \
     .help = "Named resources of each worker, beside its cards."}, \
    TENANT_ROWS(struct stream_in, c.tenant), \
    {.name = "checkpoint", .kind = FIELD_STRUCT, .sub = &checkpoint_schema, \
     .help = "How work is saved."}, \
    {.name = "restart", .kind = FIELD_DURATION, .offset = STREAM(c.restart), .max = 8.64e16, \
     .help = "Process start and checkpoint load, at every start."}, \
    {.name = "model", .kind = FIELD_REF, .offset = STREAM(c.model), .domain = REF_MODEL, \
     .fallback = "none", .help = "Base model."}, \
    {.name = "dataset", .kind = FIELD_BYTES, .offset = STREAM(c.dataset_bytes), .max = 1e16, \
     .help = "Data read at every start."}, \
    {.name = "failure", .kind = FIELD_STRUCT, .sub = &failure_schema, \
     .help = "Failures of the jobs themselves."}, \
    {.name = "referenceSpeed", .kind = FIELD_BOOL, .offset = STREAM(c.reference_speed), \
     .help = "true: durations are those on an A100-80, and other cards are faster or slower; " \
             "false: the same on every card."}, \
    {.name = "arrivals", .kind = FIELD_STRUCT, .sub = &arrivals_schema, \
     .help = "Rate of a synthetic stream."}, \
    {.name = "gangs", .kind = FIELD_CUSTOM, .offset = STREAM(c.shapes), \
     .count_offset = STREAM(c.shape_count), .read = read_gangs, .sub = &gang_schema, \
     .shape = "philly, or list of gangs", .fallback = "none", \
     .help = "Sizes and run times of a synthetic stream."}, \
    {.name = "duration", .kind = FIELD_CUSTOM, .offset = STREAM(duration), .read = read_duration, \
     .sub = &law_schema, .shape = "a duration or a law", .fallback = "none", \
     .help = "Run time when all jobs are of one worker with one card (or share); short for " \
             "gangs."}, \
    {.name = "file", .kind = FIELD_STRING, .offset = STREAM(c.file), .fallback = "none", \
     .help = "Jobs file (docs/jobs-file.md) instead of a synthetic stream; relative to the " \
             "scenario."}, \
    {.name = "queueColumn", .kind = FIELD_STRING, .offset = STREAM(c.file_queue_column), \
     .fallback = "none", .help = "Column of the file that names the queue of each job."}, \
    {.name = "rateScale", .kind = FIELD_REAL, .offset = STREAM(c.time_scale), .min = 1e-6, \
     .max = 1e6, \
     .help = "Jobs come this many times as often; a file's submit times are divided by it."}, \
    {.name = "workScale", .kind = FIELD_REAL, .offset = STREAM(c.work_scale), .min = 1e-6, \
     .max = 1e6, .help = "Durations are multiplied by this."}

static const struct field training_fields[] = {
    STREAM_ROWS,
    {.name = "communication", .kind = FIELD_STRUCT, .offset = STREAM(c.communication), .sub = &communication_schema,
     .fallback = "none", .help = "What its gangs lose to the network."},
    {0}};
static const struct field lora_fields[] = {
    STREAM_ROWS,
    {.name = "share", .kind = FIELD_MILLI, .offset = STREAM(c.share_milli), .min = 1, .max = 1000,
     .flags = FIELD_REQUIRED, .help = "Part of a card it asks for, and uses on average."},
    SLICE_ROWS(struct stream_in, c.tenant),
    {.name = "loraBase", .kind = FIELD_REF, .offset = STREAM(c.lora_base), .domain = REF_MODEL,
     .fallback = "none",
     .help = "Base model: its jobs share instances of it under an arbiter with loraBase, and take their "
             "share or a card each under others."},
    {.name = "adapter", .kind = FIELD_STRUCT, .offset = STREAM(c.adapter), .sub = &adapter_schema,
     .help = "What a job adds to the base."},
    {0}};

static void stream_defaults(void *out)
{
    ((struct stream_in *)out)->c = job_stream_defaults();
}

/* Exactly one source: a file, or arrivals with gangs. */
static void check_source(struct read_ctx *ctx, const struct ynode *map, const struct stream_in *in)
{
    bool synthetic = ynode_get(map, "arrivals") != NULL;
    if (in->c.file != NULL && synthetic)
        field_problem(ctx, ynode_get(map, "file"), "file and arrivals exclude each other");
    if (in->c.file == NULL && !synthetic)
        field_problem(ctx, map, "the stream needs arrivals or a file");
    if (synthetic && in->c.shape_count == 0 && ynode_get(map, "gangs") == NULL)
        field_problem(ctx, map, "a synthetic stream needs gangs or a duration");
    if (synthetic && !(in->c.arrivals.base_per_s > 0) &&
        ynode_get(ynode_get(map, "arrivals"), "base") == NULL)
        field_problem(ctx, ynode_get(map, "arrivals"), "'base' is missing from arrivals");
    if (in->c.file_queue_column != NULL && in->c.file == NULL)
        field_problem(ctx, ynode_get(map, "queueColumn"), "queueColumn needs a file");
}

static void stream_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    struct stream_in *in = out;
    if (in->has_duration && ynode_get(map, "gangs") != NULL)
        field_problem(ctx, ynode_get(map, "duration"), "duration and gangs exclude each other");
    if (in->has_duration) {
        in->c.shapes = arena_alloc(ctx->arena, 1, sizeof *in->c.shapes);
        in->c.shapes[0] = (struct gang_shape){.weight = 1, .workers = 1, .cards_per_worker = 1,
                                              .duration_s = in->duration};
        in->c.shape_count = 1;
    }
    for (int32_t i = 0; i < in->c.shape_count && in->c.share_milli > 0; i++) {
        if (in->c.shapes[i].cards_per_worker > 1)
            field_problem(ctx, ynode_get(map, "gangs"),
                          "a job with a share of a card has one card per worker, not %d", (int)in->c.shapes[i].cards_per_worker);
        in->c.shapes[i].cards_per_worker = 0;
    }
    check_source(ctx, map, in);
    resolve_priority(ctx, map, in->c.priority_class, &in->c.priority);
    resolve_team(ctx, in->c.queue, &in->c.team);
}

static void training_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    ((struct stream_in *)out)->c.cls = CLASS_TRAINING;
    stream_after(ctx, map, out);
}

static void lora_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    struct stream_in *in = out;
    in->c.cls = CLASS_LORA;
    resolve_lora(ctx, map, in->c.lora_base, &in->c.model, &in->c.adapter);
    for (int32_t i = 0; i < in->c.shape_count && in->c.lora_base >= 0; i++)
        if (in->c.shapes[i].workers > 1)
            field_problem(ctx, ynode_get(map, "gangs"), "a tenant of a base has one worker, not %d",
                          (int)in->c.shapes[i].workers);
    stream_after(ctx, map, out);
}

static const struct schema training_schema = {.title = "a training stream",
                                              .about = "A stream of training jobs, synthetic or from a file.", .size = sizeof(struct stream_in),
                                              .fields = training_fields,
                                              .defaults = stream_defaults,
                                              .after = training_after};
static const struct schema lora_schema = {.title = "a LoRA stream",
                                          .about = "A stream of fine-tuning jobs, each on a part of a card.", .size = sizeof(struct stream_in),
                                          .fields = lora_fields, .defaults = stream_defaults,
                                          .after = lora_after};

#define IN(member) offsetof(struct scenario_in, member)
static const struct field demand_fields[] = {
    {.name = "trafficStep", .kind = FIELD_DURATION, .offset = IN(s.demand.traffic_step),
     .min = 1e9, .max = 86400e9, .help = "Rates of services are constant within a step."},
    {.name = "training", .kind = FIELD_LIST, .offset = IN(training),
     .count_offset = IN(training_count), .sub = &training_schema, .help = "Training jobs."},
    {.name = "lora", .kind = FIELD_LIST, .offset = IN(lora), .count_offset = IN(lora_count),
     .sub = &lora_schema, .help = "LoRA fine-tuning jobs."},
    {.name = "services", .kind = FIELD_LIST, .offset = IN(services),
     .count_offset = IN(service_count), .sub = &service_schema, .help = "Inference services."},
    {0}};
const struct schema demand_schema = {.title = "the demand",
                                     .about = "What is asked of the fleet; the same under every arbiter.", .size = sizeof(struct scenario_in), .fields = demand_fields};
