/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of quota: teams, priority classes, cohorts, queues. Kueue's names and shapes. */
#include <string.h>

#include "scenarios/load/load_priv.h"
#include "scenarios/load/units.h"

static const struct enum_name strategy_names[] = {{"BestEffortFIFO", QUEUE_BEST_EFFORT_FIFO},
                                                  {"StrictFIFO", QUEUE_STRICT_FIFO}, {NULL, 0}};
static const struct enum_name within_names[] = {
    {"Never", PREEMPT_NEVER}, {"LowerPriority",
                               PREEMPT_LOWER_PRIORITY}, {"LowerOrNewerEqualPriority",
                                                         PREEMPT_LOWER_OR_NEWER_EQUAL}, {NULL, 0}};
static const struct enum_name reclaim_names[] = {{"Never", PREEMPT_NEVER},
                                                 {"LowerPriority", PREEMPT_LOWER_PRIORITY}, {"Any",
                                                     PREEMPT_ANY}, {NULL, 0}};
static const struct enum_name borrow_names[] = {{"Never", PREEMPT_NEVER},
                                                {"LowerPriority", PREEMPT_LOWER_PRIORITY}, {NULL,
                                                                                            0}};
/* Kueue's older names of MayStopSearch stand behind it. */
static const struct enum_name can_borrow_names[] = {
    {"MayStopSearch", FUNGIBILITY_MAY_STOP_SEARCH}, {"TryNextFlavor",
                                                     FUNGIBILITY_TRY_NEXT_FLAVOR}, {"Borrow",
                                                         FUNGIBILITY_MAY_STOP_SEARCH}, {NULL, 0}};
static const struct enum_name can_preempt_names[] = {
    {"MayStopSearch", FUNGIBILITY_MAY_STOP_SEARCH}, {"TryNextFlavor",
                                                     FUNGIBILITY_TRY_NEXT_FLAVOR}, {"Preempt",
                                                         FUNGIBILITY_MAY_STOP_SEARCH}, {NULL, 0}};

static const struct enum_name preference_names[] = {{"BorrowingOverPreemption", PREFER_BORROWING},
                                                     {"PreemptionOverBorrowing", PREFER_PREEMPTION}, {NULL, 0}};
static const struct enum_name stop_names[] = {{"None", STOP_NONE}, {"Hold", STOP_HOLD},
                                               {"HoldAndDrain", STOP_HOLD_AND_DRAIN}, {NULL, 0}};

static const struct field team_fields[] = {
    {.name = "name", .kind = FIELD_NAME, .offset = offsetof(struct team_config, name),
     .flags = FIELD_REQUIRED, .help = "Name of the team."}, {0}};
const struct schema team_schema = {.title = "a team",
                                   .about = "Who asks and who pays. Without this list every queue is a team of its own name.",
                                   .size = sizeof(struct team_config), .fields = team_fields};

static const struct enum_name preemption_policy_names[] = {
    {"PreemptLowerPriority", PREEMPTION_POLICY_LOWER_PRIORITY},
    {"Never", PREEMPTION_POLICY_NEVER},
    {NULL, 0}};

static const struct field priority_class_fields[] = {
    {.name = "name", .kind = FIELD_NAME, .offset = offsetof(struct priority_class_config, name),
     .flags = FIELD_REQUIRED, .help = "Name that streams and services use."},
    {.name = "value", .kind = FIELD_INT, .offset = offsetof(struct priority_class_config, value),
     .min = -2e9, .max = 2e9, .flags = FIELD_REQUIRED, .help = "Higher is more important."},
    {.name = "preemptionPolicy", .kind = FIELD_ENUM, .names = preemption_policy_names,
     .offset = offsetof(struct priority_class_config, preemption_policy),
     .help = "With schedulerPreemption: may the scheduler evict lower priorities for it? It can be "
             "evicted by higher ones either way. Classes of one value have one policy."},
    {0}};
const struct schema priority_class_schema = {.title = "a priority class",
                                             .size = sizeof(struct priority_class_config), .fields = priority_class_fields};

/* ---- amounts ---- */

struct amount_in {
    const char *name;
    const char *nominal, *borrowing, *lending; /* text until the resource is known */
};

static const struct field amount_fields[] = {
    {.name = "name", .kind = FIELD_STRING, .offset = offsetof(struct amount_in, name),
     .flags = FIELD_REQUIRED, .help = "Resource: nvidia.com/gpu (or cards), cpu, memory, ..."},
    {.name = "nominalQuota", .kind = FIELD_STRING, .offset = offsetof(struct amount_in, nominal),
     .flags = FIELD_REQUIRED, .help = "Quota of its own."},
    {.name = "borrowingLimit", .kind = FIELD_STRING,
     .offset = offsetof(struct amount_in, borrowing), .fallback = "no limit",
     .help = "At most this much from the cohort."},
    {.name = "lendingLimit", .kind = FIELD_STRING, .offset = offsetof(struct amount_in, lending),
     .fallback = "all of it", .help = "At most this much to the cohort."},
    {0}};
const struct schema quota_amount_schema = {.title = "a resource quota",
                                           .size = sizeof(struct amount_in), .fields = amount_fields};

static const struct field cards_amount_fields[] = {
    {.name = "nominalQuota", .kind = FIELD_STRING, .offset = offsetof(struct amount_in, nominal),
     .flags = FIELD_REQUIRED, .help = "Cards of its own."},
    {.name = "borrowingLimit", .kind = FIELD_STRING,
     .offset = offsetof(struct amount_in, borrowing), .fallback = "no limit",
     .help = "At most this many cards from the cohort."},
    {.name = "lendingLimit", .kind = FIELD_STRING, .offset = offsetof(struct amount_in, lending),
     .fallback = "all of it", .help = "At most this many cards to the cohort."},
    {0}};
static const struct schema cards_amount_schema = {.title = "a quota of cards",
                                                  .size = sizeof(struct amount_in), .fields = cards_amount_fields};

static bool is_card_resource(const char *name)
{
    return strcmp(name, "nvidia.com/gpu") == 0 || strcmp(name, "cards") == 0;
}

/* resource -1 = cards, in milli-cards. */
static int64_t read_amount(struct read_ctx *ctx, int32_t resource, const char *text,
                           const struct ynode *at)
{
    int64_t v;
    if (text == NULL)
        return QUOTA_UNSET;
    enum units_status status = resource < 0 ? units_milli(text,
                                                          &v) : units_quantity(ctx->resources.items[resource], text, &v);
    if (status == UNITS_OK && (resource >= 0 || v <= INT64_C(1000000000000)))
        return v;
    if (resource < 0)
        field_problem(ctx, at, "expected a number of cards such as 400 or 0.5, got '%.40s'", text);
    else
        field_problem(ctx, at, "expected an amount of %.40s such as 8 or 64GiB, got '%.40s'",
                      ctx->resources.items[resource], text);
    return 0;
}

struct quota_list {
    struct quota_amount *items;
    int32_t count;
};

static void append(struct read_ctx *ctx, struct quota_list *list, struct quota_amount q,
                   const struct ynode *at)
{
    for (int32_t i = 0; i < list->count; i++)
        if (list->items[i].flavor == q.flavor && list->items[i].resource == q.resource)
            field_problem(ctx, at, "flavor '%.60s' has a quota of this resource already",
                          ctx->refs[REF_FLAVOR].items[q.flavor]);
    struct quota_amount *grown = arena_alloc(ctx->arena, (size_t)list->count + 1, sizeof *grown);
    if (list->count > 0)
        memcpy(grown, list->items, (size_t)list->count * sizeof *grown);
    grown[list->count++] = q;
    list->items = grown;
}

static struct quota_list get_list(const struct field *f, const void *base)
{
    struct quota_list list;
    memcpy(&list.items, (const char *)base + f->offset, sizeof list.items);
    memcpy(&list.count, (const char *)base + f->count_offset, sizeof list.count);
    return list;
}

static void put_list(const struct field *f, void *base, struct quota_list list)
{
    memcpy((char *)base + f->offset, &list.items, sizeof list.items);
    memcpy((char *)base + f->count_offset, &list.count, sizeof list.count);
}

/* cards: {h100: 400, a100: {nominalQuota: 0, borrowingLimit: 100}} */
void read_cards_quota(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                      void *base)
{
    struct quota_list list = get_list(f, base);
    if (n->kind != YNODE_MAP) {
        field_expected(ctx, n, "a map of flavors and cards such as {h100: 400, a100: 200}");
        return;
    }
    for (int32_t i = 0; i < n->count; i++) {
        const struct ynode *v = n->items[i], key = {.text = n->keys[i], .quoted = true,
                                                    .place = n->key_places[i]};
        size_t mark = field_path_push(ctx, n->keys[i]);
        int32_t flavor = field_resolve(ctx, REF_FLAVOR, &key);
        struct amount_in in = {.nominal = v->text};
        if (v->kind == YNODE_MAP)
            field_read_struct(ctx, &cards_amount_schema, v, &in);
        else if (v->kind == YNODE_LIST || ynode_is_nothing(v)) {
            field_expected(ctx, v, "a number of cards such as 400");
            flavor = -1;
        }
        if (flavor >= 0 && in.nominal != NULL)
            append(ctx, &list,
                   (struct quota_amount){flavor, -1, read_amount(ctx, -1, in.nominal, v),
                                         read_amount(ctx, -1, in.borrowing, v),
                                         read_amount(ctx, -1, in.lending, v)}, v);
        field_path_pop(ctx, mark);
    }
    put_list(f, base, list);
}

/* ---- resourceGroups, as Kueue writes them ---- */

struct group_flavor_in {
    int32_t flavor;
    struct amount_in *amounts;
    int32_t amount_count;
};
static const struct field group_flavor_fields[] = {
    {.name = "name", .kind = FIELD_REF, .offset = offsetof(struct group_flavor_in, flavor),
     .domain = REF_FLAVOR, .flags = FIELD_REQUIRED, .help = "Flavor."},
    {.name = "resources", .kind = FIELD_LIST, .offset = offsetof(struct group_flavor_in, amounts),
     .count_offset = offsetof(struct group_flavor_in, amount_count),
     .sub = &quota_amount_schema, .flags = FIELD_REQUIRED,
     .help = "Quota of each covered resource, in that order."},
    {0}};
static void group_flavor_defaults(void *out)
{
    ((struct group_flavor_in *)out)->flavor = -1;
}
static const struct schema group_flavor_schema = {.title = "a flavor of a resource group",
                                                  .size = sizeof(struct group_flavor_in),
                                                  .fields = group_flavor_fields,
                                                  .defaults = group_flavor_defaults};

struct group_in {
    struct group_flavor_in *flavors;
    int32_t flavor_count;
    struct name_list covered;
};

static void read_covered(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                         void *base)
{
    struct group_in *g = base;
    (void)f;
    if (n->kind != YNODE_LIST || n->count == 0) {
        field_expected(ctx, n, "a list of resource names such as [nvidia.com/gpu]");
        return;
    }
    g->covered.items = arena_alloc(ctx->arena, (size_t)n->count, sizeof *g->covered.items);
    for (int32_t i = 0; i < n->count; i++) {
        if (n->items[i]->kind != YNODE_SCALAR || n->items[i]->text[0] == '\0')
            field_expected(ctx, n->items[i], "a resource name");
        g->covered.items[g->covered.count++] = n->items[i]->text;
    }
}

static const struct field group_fields[] = {
    {.name = "coveredResources", .kind = FIELD_CUSTOM, .offset = 0, .read = read_covered,
     .shape = "list of resource names", .flags = FIELD_REQUIRED,
     .help = "Resources this group speaks about."},
    {.name = "flavors", .kind = FIELD_LIST, .offset = offsetof(struct group_in, flavors),
     .count_offset = offsetof(struct group_in, flavor_count),
     .sub = &group_flavor_schema, .flags = FIELD_REQUIRED,
     .help = "Flavors in the order they are tried."},
    {0}};
static const struct schema group_schema = {.title = "a resource group",
                                           .about = "Kueue's form of quota.", .size = sizeof(struct group_in), .fields = group_fields};

static bool covers(const struct group_in *g, const struct group_flavor_in *flavor)
{
    bool same = g->covered.count == flavor->amount_count;
    for (int32_t i = 0; same && i < flavor->amount_count; i++)
        same = flavor->amounts[i].name != NULL && strcmp(flavor->amounts[i].name,
                                                         g->covered.items[i]) == 0;
    return same;
}

static void add_group_flavor(struct read_ctx *ctx, struct quota_list *list,
                             const struct group_in *g,
                             const struct group_flavor_in *flavor, const struct ynode *at)
{
    if (flavor->flavor < 0)
        return;
    if (!covers(g, flavor)) {
        field_problem(ctx, at,
                      "resources of flavor '%.60s' must be those of coveredResources, in that order", ctx->refs[REF_FLAVOR].items[flavor->flavor]);
        return;
    }
    for (int32_t i = 0; i < flavor->amount_count; i++) {
        const struct amount_in *in = &flavor->amounts[i];
        int32_t r = is_card_resource(in->name) ? -1 : field_resource(ctx, in->name, at);
        if (in->nominal != NULL && (r >= 0 || is_card_resource(in->name)))
            append(ctx, list, (struct quota_amount){flavor->flavor, r,
                                                    read_amount(ctx, r, in->nominal, at),
                              read_amount(ctx, r, in->borrowing, at), read_amount(ctx, r,
                                  in->lending, at)}, at);
    }
}

void read_resource_groups(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                          void *base)
{
    struct quota_list list = get_list(f, base);
    if (n->kind != YNODE_LIST) {
        field_expected(ctx, n, "a list of resource groups");
        return;
    }
    for (int32_t i = 0; i < n->count; i++) {
        struct group_in g;
        size_t errors = ctx->diags->error_count, mark = field_path_push_index(ctx, i);
        field_read_struct(ctx, &group_schema, n->items[i], &g);
        for (int32_t k = 0; k < g.flavor_count && ctx->diags->error_count == errors; k++)
            add_group_flavor(ctx, &list, &g, &g.flavors[k],
                             ynode_get(n->items[i], "flavors")->items[k]);
        field_path_pop(ctx, mark);
    }
    put_list(f, base, list);
}

/* ---- cohorts and queues ---- */

#define QUOTA_ROWS(type) \
    {.name = "cards", .kind = FIELD_CUSTOM, .offset = offsetof(type, quotas), \
     .count_offset = offsetof(type, quota_count), \
     .read = read_cards_quota, .sub = &cards_amount_schema, .shape = "map of flavor: cards", \
     .help = "Quota of cards per flavor, in the order flavors are tried; short for " \
             "resourceGroups. A value is a number or {nominalQuota, borrowingLimit, " \
             "lendingLimit}."}, \
    {.name = "resourceGroups", .kind = FIELD_CUSTOM, .offset = offsetof(type, quotas), \
     .count_offset = offsetof(type, quota_count), \
     .read = read_resource_groups, .sub = &group_schema, .shape = "list of resource groups", \
     .help = "Quota in Kueue's full form, for several resources."}

#define WEIGHT_ROW(type) \
    {.name = "weight", .kind = FIELD_REAL, .offset = offsetof(type, weight), .max = 1e6, \
     .help = "Share of what is borrowed; 0 means last, always."}

static const struct field cohort_fair_fields[] = {WEIGHT_ROW(struct cohort_config), {0}};
static const struct schema cohort_fair_schema = {.title = "fairSharing",
                                                 .fields = cohort_fair_fields, .size = sizeof(struct cohort_config)};

static const struct field cohort_fields[] = {
    {.name = "name", .kind = FIELD_NAME, .offset = offsetof(struct cohort_config, name),
     .flags = FIELD_REQUIRED, .help = "Name that queues use as cohortName."},
    {.name = "parentName", .kind = FIELD_REF, .offset = offsetof(struct cohort_config, parent),
     .domain = REF_COHORT, .fallback = "none: a root", .help = "Cohort above this one."},
    QUOTA_ROWS(struct cohort_config),
    {.name = "fairSharing", .kind = FIELD_STRUCT, .sub = &cohort_fair_schema,
     .help = "Weight among its siblings."},
    {0}};
static void cohort_in_defaults(void *out)
{
    *(struct cohort_config *)out = cohort_defaults();
}
const struct schema cohort_schema = {.title = "a cohort",
                                     .about = "Queues that lend each other unused quota (Kueue's Cohort).",
                                     .size = sizeof(struct cohort_config), .fields = cohort_fields,
                                     .defaults = cohort_in_defaults};

#define QUEUE(member) offsetof(struct queue_config, member)
static void threshold_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    (void)ctx;
    ((struct queue_config *)out)->has_borrow_threshold = ynode_get(map,
                                                                   "maxPriorityThreshold") != NULL;
}
static const struct field borrow_within_fields[] = {
    {.name = "policy", .kind = FIELD_ENUM, .offset = QUEUE(borrow_within_cohort),
     .names = borrow_names,
     .help = "Whether a borrower may evict others' lower-priority workloads."},
    {.name = "maxPriorityThreshold", .kind = FIELD_INT, .offset = QUEUE(borrow_threshold),
     .min = -2e9, .max = 2e9, .fallback = "none",
     .help = "Only workloads of at most this priority."},
    {0}};
static const struct schema borrow_within_schema = {.title = "borrowWithinCohort",
                                                   .fields = borrow_within_fields, .size = sizeof(struct queue_config), .after = threshold_after};
static const struct field preemption_fields[] = {
    {.name = "withinClusterQueue", .kind = FIELD_ENUM, .offset = QUEUE(within_cluster_queue),
     .names = within_names, .help = "Whom a waiting workload may evict in its own queue."},
    {.name = "reclaimWithinCohort", .kind = FIELD_ENUM, .offset = QUEUE(reclaim_within_cohort),
     .names = reclaim_names, .help = "Whom it may evict elsewhere to get its own quota back."},
    {.name = "borrowWithinCohort", .kind = FIELD_STRUCT, .sub = &borrow_within_schema,
     .help = "Evicting while borrowing."},
    {0}};
static const struct schema preemption_schema = {.title = "preemption", .fields = preemption_fields,
                                                .size = sizeof(struct queue_config)};
static const struct field fungibility_fields[] = {
    {.name = "whenCanBorrow", .kind = FIELD_ENUM, .offset = QUEUE(when_can_borrow),
     .names = can_borrow_names,
     .help = "Stop at a flavor that fits by borrowing, or look further."},
    {.name = "whenCanPreempt", .kind = FIELD_ENUM, .offset = QUEUE(when_can_preempt),
     .names = can_preempt_names,
     .help = "Stop at a flavor that fits by evicting, or look further."},
    {.name = "preference", .kind = FIELD_ENUM, .offset = QUEUE(preference), .names = preference_names,
     .help = "Which of two flavors is taken when one needs borrowing and the other an eviction."},
    {0}};
/* As Kueue's webhook has it. */
static void fungibility_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    const struct queue_config *q = out;
    const struct ynode *preference = ynode_get(map, "preference");
    if (preference != NULL && (q->when_can_borrow != FUNGIBILITY_TRY_NEXT_FLAVOR || q->when_can_preempt != FUNGIBILITY_TRY_NEXT_FLAVOR))
        field_problem(ctx, preference, "preference needs whenCanBorrow and whenCanPreempt to be TryNextFlavor");
}
static const struct schema fungibility_schema = {.title = "flavorFungibility", .after = fungibility_after,
                                                 .fields = fungibility_fields, .size = sizeof(struct queue_config)};
static const struct field queue_fair_fields[] = {WEIGHT_ROW(struct queue_config), {0}};
static const struct schema queue_fair_schema = {.title = "fairSharing", .fields = queue_fair_fields,
                                                .size = sizeof(struct queue_config)};

static const struct field queue_fields[] = {
    {.name = "name", .kind = FIELD_NAME, .offset = QUEUE(name), .flags = FIELD_REQUIRED,
     .help = "Name that streams and services use."},
    {.name = "team", .kind = FIELD_REF, .offset = QUEUE(team), .domain = REF_TEAM,
     .fallback = "the team of the same name", .help = "Whose queue it is."},
    {.name = "cohortName", .kind = FIELD_REF, .offset = QUEUE(cohort), .domain = REF_COHORT,
     .fallback = "none: it stands alone", .help = "Cohort to lend to and borrow from."},
    {.name = "queueingStrategy", .kind = FIELD_ENUM, .offset = QUEUE(strategy),
     .names = strategy_names, .help = "Whether a head that does not fit blocks the rest."},
    QUOTA_ROWS(struct queue_config),
    {.name = "preemption", .kind = FIELD_STRUCT, .sub = &preemption_schema,
     .help = "Who may be evicted for whom."},
    {.name = "flavorFungibility", .kind = FIELD_STRUCT, .sub = &fungibility_schema,
     .help = "When to go on to the next flavor."},
    {.name = "fairSharing", .kind = FIELD_STRUCT, .sub = &queue_fair_schema,
     .help = "Weight among the borrowers."},
    {.name = "stopPolicy", .kind = FIELD_ENUM, .offset = QUEUE(stop), .names = stop_names,
     .help = "A stopped queue admits nothing; its quota stays in the cohort."},
    {0}};

static void queue_in_defaults(void *out)
{
    *(struct queue_config *)out = queue_defaults();
}

static void one_form(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    (void)out;
    if (ynode_get(map, "cards") != NULL && ynode_get(map, "resourceGroups") != NULL)
        field_problem(ctx, ynode_get(map, "resourceGroups"),
                      "cards and resourceGroups exclude each other");
}

static void queue_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    struct queue_config *q = out;
    one_form(ctx, map, out);
    if (q->team < 0 && q->name != NULL && ynode_get(map, "team") == NULL) {
        q->team = name_list_find(&ctx->refs[REF_TEAM], q->name);
        if (q->team < 0)
            field_problem(ctx, map, "the queue needs a team; no team is named '%.60s'", q->name);
    }
}

const struct schema queue_schema = {.title = "a queue",
                                    .about = "A ClusterQueue of Kueue with its one LocalQueue of the same name.", .size = sizeof(struct queue_config),
                                    .fields = queue_fields, .defaults = queue_in_defaults,
                                    .after = queue_after};

/* An arbiter's override starts from the scenario's queue of that name. */
static void override_before(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    const struct quota_config *quota = &scenario_of(ctx)->s.quota;
    const struct ynode *name = ynode_get(map, "name");
    int32_t ix = name == NULL ? -1 : field_resolve(ctx, REF_QUEUE, name);
    if (ix < 0 || ix >= quota->queue_count)
        return;
    *(struct queue_config *)out = quota->queues[ix];
    if (ynode_get(map, "cards") != NULL || ynode_get(map, "resourceGroups") != NULL)
        ((struct queue_config *)out)->quota_count = 0;
}

const struct schema queue_override_schema = {.title = "a queue override",
                                             .about = "Fields that this arbiter changes; the rest stays as in the scenario's queue of that name.",
                                             .size = sizeof(struct queue_config),
                                             .fields = queue_fields, .defaults = queue_in_defaults,
                                             .before = override_before, .after = one_form};
