/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of sharing: the mechanism of a node pool, the arbiter's own choice, speeds and faults. */
#include "scenarios/load/table_sharing.h"

#include <string.h>

#include "models/fleet/fleet.h"
#include "models/fleet/sharing/mig_node.h"
#include "models/fleet/sharing/sharing.h"

const struct enum_name isolation_names[] = {{"none", ISOLATION_NONE},
                                            {"software", ISOLATION_SOFTWARE},
                                            {"hardware", ISOLATION_HARDWARE},
                                            {"exclusive", ISOLATION_EXCLUSIVE},
                                            {NULL, 0}};

static const struct enum_name mechanism_names[] = {
    {"whole", SHARE_WHOLE}, {"mig", SHARE_MIG}, {"hami", SHARE_HAMI},
    {"time-slicing", SHARE_TIME_SLICING}, {"mps", SHARE_MPS}, {"kai", SHARE_KAI}, {NULL, 0}};
static const struct enum_name strategy_names[] = {{"mixed", 0}, {"single", 1}, {NULL, 0}};

static const struct enum_name start_names[] = {{"high-odd", 0}, {"driver", 1}, {NULL, 0}};

static const struct field change_fields[] = {
    {.name = "at", .kind = FIELD_DURATION, .offset = offsetof(struct share_change, at_ns), .max = 3650 * 86400e9,
     .flags = FIELD_REQUIRED, .fallback = "none", .help = "Since the start of the run."},
    {.name = "layout", .kind = FIELD_STRING, .offset = offsetof(struct share_change, layout),
     .flags = FIELD_REQUIRED, .help = "Instances of every card from then on."},
    {0}};
static const struct schema change_schema = {
    .title = "a change of layout", .size = sizeof(struct share_change), .fields = change_fields};

#define SHARING(member) offsetof(struct sharing_in, member)
static const struct field reconfiguration_fields[] = {
    {.name = "evict", .kind = FIELD_BOOL, .offset = SHARING(c.evict),
     .help = "Tenants in the way are evicted; false: the node waits for them to end."},
    {.name = "drainLimit", .kind = FIELD_DURATION, .offset = SHARING(c.drain_limit_ns), .max = 3650 * 86400e9,
     .help = "A node that is not empty after this goes on as it was (nvidia-mig-manager: 5 min)."},
    {.name = "nodeCycle", .kind = FIELD_DURATION, .offset = SHARING(c.cycle_ns), .max = 86400e9,
     .help = "The node's clients stop and start again."},
    {.name = "createInstance", .kind = FIELD_DURATION, .offset = SHARING(c.create_ns), .max = 3600e9,
     .help = "Work per new instance."},
    {.name = "destroyInstance", .kind = FIELD_DURATION, .offset = SHARING(c.destroy_ns), .max = 3600e9,
     .help = "Work per old instance."},
    {0}};
static const struct schema reconfiguration_schema = {
    .title = "reconfiguration", .about = "How long a change of MIG layout takes. No measurement is public: all assumed.",
    .size = sizeof(struct sharing_in), .fields = reconfiguration_fields};
static const struct field sharing_fields[] = {
    {.name = "mechanism", .kind = FIELD_ENUM, .offset = SHARING(c.kind), .names = mechanism_names,
     .flags = FIELD_REQUIRED, .help = "How cards of the pool are shared (docs/sharing.md)."},
    {.name = "layout", .kind = FIELD_STRING, .offset = SHARING(c.mig_layout),
     .fallback = "all-balanced",
     .help = "mig: instances of every card, such as \"3g.40gb,1g.10gb*4\", or all-balanced. Not with dynamic."},
    {.name = "strategy", .kind = FIELD_ENUM, .offset = SHARING(mig_single), .names = strategy_names,
     .help = "mig: single advertises instances of one profile as nvidia.com/gpu, mixed as "
             "nvidia.com/mig-<profile>."},
    {.name = "dynamic", .kind = FIELD_BOOL, .offset = SHARING(c.mig_dynamic),
     .help = "mig: no layout; an instance is made at a legal free start when somebody gets it, and destroyed when "
             "it is given back. The tenant starts when it exists (reconfiguration: createInstance, destroyInstance)."},
    {.name = "starts", .kind = FIELD_ENUM, .offset = SHARING(starts), .names = start_names,
     .help = "mig, dynamic: which free start an instance takes: high-odd as HAMi (1g and 3g high, others low), "
             "driver as the driver without one named."},
    {.name = "reconfigure", .kind = FIELD_LIST, .offset = SHARING(changes),
     .count_offset = SHARING(change_count), .sub = &change_schema,
     .help = "mig: changes of the layout, in order of time. Every node of the pool drains, is offline while it "
             "changes, and goes on with the new one."},
    {.name = "reconfiguration", .kind = FIELD_STRUCT, .sub = &reconfiguration_schema,
     .help = "mig: how a change goes; dynamic: createInstance and destroyInstance only."},
    {.name = "replicas", .kind = FIELD_INT, .offset = SHARING(c.replicas), .min = -1e9, .max = 1e9,
     .fallback = "none", .help = "time-slicing (2 or more) and mps (2 to 48): a card counts as so many."},
    {.name = "renameByDefault", .kind = FIELD_BOOL, .offset = SHARING(c.rename_shared),
     .help = "time-slicing and mps: replicas are advertised as nvidia.com/gpu.shared, and whoever "
             "asks for nvidia.com/gpu finds none here."},
    {.name = "failRequestsGreaterThanOne", .kind = FIELD_BOOL, .offset = SHARING(fail_above_one),
     .fallback = "true under mps, else false",
     .help = "time-slicing and mps: workers that ask for more than one card fail here."},
    {.name = "slots", .kind = FIELD_INT, .offset = SHARING(c.slots), .min = 1, .max = SHARE_TENANTS_MAX,
     .fallback = "10", .help = "hami: tenants of a card at most (deviceSplitCount)."},
    {.name = "memoryScaling", .kind = FIELD_REAL, .offset = SHARING(memory_scaling), .min = 0.01,
     .max = 100,
     .help = "hami: memory that is given out, over the card's (deviceMemoryScaling)."},
    {0}};

static void sharing_defaults(void *out)
{
    struct mig_costs m = mig_costs_default();
    *(struct sharing_in *)out = (struct sharing_in){.memory_scaling = 1,
                                                    .c = {.evict = m.evict,
                                                          .drain_limit_ns = m.drain_limit_ns,
                                                          .cycle_ns = m.cycle_ns,
                                                          .create_ns = m.create_ns,
                                                          .destroy_ns = m.destroy_ns}};
}

/* Whose key it is; a key of another mechanism is a second mechanism on the card. */
struct owner {
    const char *key;
    enum share_kind first, second;
};
static const struct owner owners[] = {
    {"layout", SHARE_MIG, SHARE_MIG},
    {"strategy", SHARE_MIG, SHARE_MIG},
    {"dynamic", SHARE_MIG, SHARE_MIG},
    {"starts", SHARE_MIG, SHARE_MIG},
    {"reconfigure", SHARE_MIG, SHARE_MIG},
    {"reconfiguration", SHARE_MIG, SHARE_MIG},
    {"replicas", SHARE_TIME_SLICING, SHARE_MPS},
    {"renameByDefault", SHARE_TIME_SLICING, SHARE_MPS},
    {"failRequestsGreaterThanOne", SHARE_TIME_SLICING, SHARE_MPS},
    {"slots", SHARE_HAMI, SHARE_HAMI},
    {"memoryScaling", SHARE_HAMI, SHARE_HAMI},
};

static void check_keys(struct read_ctx *ctx, const struct ynode *map, enum share_kind kind)
{
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        const struct ynode *at = ynode_get(map, owners[i].key);
        enum share_kind a = owners[i].first, b = owners[i].second;
        if (at == NULL || kind == a || kind == b)
            continue;
        size_t mark = field_path_push(ctx, owners[i].key);
        field_problem(ctx, at, "a card has one sharing mechanism; '%s' belongs to %s%s%s, and this is %s",
                      owners[i].key, share_mechanism_of(a)->name, a == b ? "" : " and ",
                      a == b ? "" : share_mechanism_of(b)->name, share_mechanism_of(kind)->name);
        field_path_pop(ctx, mark);
    }
}

/* Keys that say nothing with dynamic: true, or without it. */
static void check_dynamic(struct read_ctx *ctx, const struct ynode *map, bool dynamic)
{
    static const char *const of_changes[] = {"evict", "drainLimit", "nodeCycle"};
    const struct ynode *work = ynode_get(map, "reconfiguration"), *starts = ynode_get(map, "starts");
    if (starts != NULL && !dynamic)
        field_problem(ctx, starts, "'starts' is of instances made on request: expected dynamic: true beside it");
    for (size_t i = 0; dynamic && work != NULL && i < sizeof of_changes / sizeof *of_changes; i++)
        if (ynode_get(work, of_changes[i]) != NULL)
            field_problem(ctx, ynode_get(work, of_changes[i]),
                          "'%s' is of planned changes of a layout, which dynamic: true has none of: expected createInstance, destroyInstance",
                          of_changes[i]);
}

static void sharing_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    struct sharing_in *in = out;
    const struct ynode *fail = ynode_get(map, "failRequestsGreaterThanOne");
    bool fails = fail != NULL ? in->fail_above_one : in->c.kind == SHARE_MPS;
    in->c.allow_above_one = !fails;
    in->c.mig_single = in->mig_single != 0;
    in->c.mig_as_driver = in->starts != 0;
    check_dynamic(ctx, map, in->c.mig_dynamic);
    in->c.changes = in->changes;
    in->c.change_count = in->change_count;
    for (int32_t i = 1; i < in->change_count; i++)
        if (in->changes[i].at_ns <= in->changes[i - 1].at_ns)
            field_problem(ctx, ynode_get(map, "reconfigure")->items[i], "changes of a layout stand in order of time");
    in->c.memory_scaling_percent = (int32_t)(in->memory_scaling * 100 + 0.5);
    if (ynode_get(map, "mechanism") != NULL)
        check_keys(ctx, map, in->c.kind);
}

const struct schema sharing_schema = {
    .title = "sharing",
    .about = "How the cards of a node pool are shared. Shares of services and LoRA jobs take parts "
             "of cards; workers that ask for whole cards get them under whole, hami and kai. Under "
             "time-slicing and mps they get replicas, several of which may be one card.",
    .size = sizeof(struct sharing_in), .fields = sharing_fields, .defaults = sharing_defaults,
    .after = sharing_after};

#define OVERRIDE(member) offsetof(struct pool_sharing_in, member)
static const struct field pool_sharing_fields[] = {
    {.name = "nodePool", .kind = FIELD_REF, .offset = OVERRIDE(pool), .domain = REF_POOL,
     .flags = FIELD_REQUIRED, .help = "Name of the pool."},
    {.name = "sharing", .kind = FIELD_STRUCT, .offset = OVERRIDE(sharing), .sub = &sharing_schema,
     .flags = FIELD_REQUIRED, .help = "What replaces the pool's own sharing."},
    {0}};

static void pool_sharing_defaults(void *out)
{
    *(struct pool_sharing_in *)out = (struct pool_sharing_in){.pool = -1};
    sharing_defaults(&((struct pool_sharing_in *)out)->sharing);
}

const struct schema pool_sharing_schema = {
    .title = "a pool's sharing under an arbiter", .size = sizeof(struct pool_sharing_in),
    .fields = pool_sharing_fields, .defaults = pool_sharing_defaults};

static const struct enum_name hami_policy_names[] = {{"default", SPEED_HAMI_DEFAULT},
                                                     {"force", SPEED_HAMI_FORCE},
                                                     {"disable", SPEED_HAMI_DISABLE},
                                                     {NULL, 0}};
static const struct enum_name victim_names[] = {{"allocator", 0}, {"any", 1}, {NULL, 0}};

#define MODEL_IN(member) offsetof(struct sharing_model_in, member)
static const struct field model_fields[] = {
    {.name = "switchLoss", .kind = FIELD_FRACTION, .offset = MODEL_IN(c.speed.switch_loss), .max = 0.9,
     .help = "time-slicing, hami, kai: what two or more busy tenants lose by switching (0.01 to 0.16 measured)."},
    {.name = "mpsInterference", .kind = FIELD_REAL, .offset = MODEL_IN(c.speed.mps_interference), .max = 10,
     .help = "mps: slowdown per bandwidth of the others (0 to 0.4 measured)."},
    {.name = "migInterference", .kind = FIELD_REAL, .offset = MODEL_IN(c.speed.mig_interference), .max = 1,
     .help = "mig: slowdown per other busy instance, through the shared power cap (up to 0.02)."},
    {.name = "hamiLimiter", .kind = FIELD_FRACTION, .offset = MODEL_IN(c.speed.hami_limiter), .max = 1,
     .help = "hami: how well the limiter of cores works; 0.2 on cards with very many SMs."},
    {.name = "hamiOverhead", .kind = FIELD_REAL, .offset = MODEL_IN(c.speed.hami_overhead), .max = 10,
     .help = "hami: cost of the hook (0.02 with 2.9.0, 0.09 with 2.8.0)."},
    {.name = "hamiPolicy", .kind = FIELD_ENUM, .offset = MODEL_IN(c.speed.hami_policy),
     .names = hami_policy_names,
     .help = "hami: default does not limit one that is alone; force does; disable never limits."},
    {.name = "faultsPerCardHour", .kind = FIELD_REAL, .offset = MODEL_IN(c.faults_per_card_hour), .max = 1000,
     .help = "Faults of the GPU that a tenant causes, per hour of running on a card; the mechanism "
             "decides who dies with it."},
    {.name = "memoryVariation", .kind = FIELD_FRACTION, .offset = MODEL_IN(c.memory_variation), .max = 1,
     .help = "Peaks of single runs lie evenly within 1 minus and plus this of a tenant's memory."},
    {.name = "contextMemory", .kind = FIELD_BYTES, .offset = MODEL_IN(c.context_bytes), .max = 1e12,
     .help = "CUDA context of a process: counts against the card and a MIG instance, but not against "
             "the limits of hami and mps."},
    {.name = "fullCardVictim", .kind = FIELD_ENUM, .offset = MODEL_IN(victim), .names = victim_names,
     .help = "Who gets the error when a card is full: the one that allocates, or any tenant."},
    {0}};

static void model_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    (void)ctx;
    (void)map;
    struct sharing_model_in *in = out;
    in->c.any_victim = in->victim != 0;
}

const struct schema sharing_model_schema = {
    .title = "the sharing model",
    .about = "Speed of tenants beside each other, and what fails (gpu-sharing 3 and 4). The defaults "
             "of the speeds are fitted to public measurements; calibrate on a pair of your own.",
    .size = sizeof(struct sharing_model_in), .fields = model_fields, .after = model_after};
