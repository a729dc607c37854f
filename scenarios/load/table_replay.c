/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Table of a scenario with `manifests:` without demand of its own: the objects of a cluster bring fleet, quota and
 * workloads. With demand they bring fleet and quota alone (objects_world.c).
 */
#include <string.h>
#include <sys/stat.h>

#include "scenarios/load/load_priv.h"

static void read_manifests(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base)
{
    struct replay_config *r = &((struct scenario_in *)base)->replay;
    (void)f;
    if (n->kind != YNODE_LIST || n->count == 0 || n->count > REPLAY_FILES_MAX) {
        field_problem(ctx, n, "expected a list of 1 to %d files such as [cluster.yaml, workloads.json]", REPLAY_FILES_MAX);
        return;
    }
    r->manifests = arena_alloc(ctx->arena, (size_t)n->count, sizeof *r->manifests);
    for (int32_t i = 0; i < n->count; i++) {
        struct stat st;
        if (n->items[i]->kind != YNODE_SCALAR || n->items[i]->text[0] == '\0') {
            field_problem(ctx, n->items[i], "expected the path of a file with Kubernetes objects");
            continue;
        }
        r->manifests[r->manifest_count] = load_path_beside(ctx, n->items[i]);
        if (stat(r->manifests[r->manifest_count], &st) != 0 || !S_ISREG(st.st_mode))
            field_problem(ctx, n->items[i], "'%.200s' is not there, or no plain file; expected a file with Kubernetes objects",
                          r->manifests[r->manifest_count]);
        r->manifest_count++;
    }
}

/* A file beside the scenario, or else a law. */
static void read_durations(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base)
{
    struct replay_config *r = &((struct scenario_in *)base)->replay;
    struct stat st;
    (void)f;
    if (n->kind != YNODE_SCALAR || n->text[0] == '\0') {
        field_problem(ctx, n, "expected a CSV file, 2h, or a law such as 'lognormal,median=2h,sigma=1'");
        return;
    }
    const char *path = load_path_beside(ctx, n);
    r->durations = stat(path, &st) == 0 ? path : n->text;
}

#define IN(member) offsetof(struct scenario_in, member)
#define MANIFESTS_ROW \
    {.name = "manifests", .kind = FIELD_CUSTOM, .read = read_manifests, .shape = "list of files", .flags = FIELD_REQUIRED, \
     .help = "Kubernetes objects of one cluster (docs/manifests.md)."}
#define NODE_TYPES_ROW \
    {.name = "nodeTypes", .kind = FIELD_LIST, .offset = IN(node_types), .count_offset = IN(node_type_count), \
     .sub = &node_type_schema, .help = "Beside demand: what the objects do not say about the nodes."}
static const struct field replay_fields[] = {
    {.name = "name", .kind = FIELD_NAME, .offset = IN(s.name), .help = "Name of the scenario."},
    {.name = "description", .kind = FIELD_STRING, .offset = IN(s.description), .flags = FIELD_EMPTY_OK,
     .help = "What question it asks."},
    MANIFESTS_ROW,
    {.name = "durations", .kind = FIELD_CUSTOM, .read = read_durations, .shape = "file, duration or law", .fallback = "none",
     .help = "Run times of workloads that have not finished."},
    NODE_TYPES_ROW,
    {.name = "horizon", .kind = FIELD_DURATION, .offset = IN(replay.horizon), .min = 1e9, .max = 3650 * 86400e9,
     .fallback = "until nothing follows", .help = "Length of the replay."},
    {.name = "seed", .kind = FIELD_SEED, .offset = IN(s.seed), .help = "Seed of drawn run times."},
    {0}};

static void replay_defaults(void *out)
{
    struct scenario_in *in = out;
    in->s = scenario_defaults();
    in->replay = (struct replay_config){.horizon = 0};
}

const struct schema replay_schema = {.title = "a scenario of manifests",
                                     .about = "A file with the key `manifests` and without `demand` replays the workloads of a real cluster "
                                              "under its own quota. With `demand` (and any of arbiters, teams, priorityClasses, models, ...) it is "
                                              "a scenario whose `fleet`, `cohorts` and `queues` are made of the objects: docs/manifests.md.",
                                     .size = sizeof(struct scenario_in), .fields = replay_fields, .defaults = replay_defaults};

static const struct field objects_fields[] = {MANIFESTS_ROW, NODE_TYPES_ROW, {0}};
static const struct schema objects_schema = {.title = "manifests", .size = sizeof(struct scenario_in), .fields = objects_fields,
                                             .defaults = replay_defaults};

void replay_read_objects(struct read_ctx *ctx, const struct ynode *root, struct scenario_in *to)
{
    struct ynode map = {.kind = YNODE_MAP, .place = root->place};
    for (const struct field *f = objects_fields; f->name != NULL; f++) {
        const int32_t at = ynode_find(root, f->name);
        if (at >= 0)
            ynode_add(ctx->arena, &map, f->name, root->key_places[at], root->items[at]);
    }
    field_read_struct(ctx, &objects_schema, &map, to);
}

static bool has_field(const struct schema *s, const char *name)
{
    for (const struct field *f = s->fields; f->name != NULL; f++)
        if (strcmp(f->name, name) == 0)
            return true;
    return false;
}

bool replay_has_demand(const struct ynode *root)
{
    return ynode_find(root, "manifests") >= 0 && ynode_find(root, "demand") >= 0;
}

/* What the objects bring themselves. */
static bool brought(const char *key)
{
    return strcmp(key, "fleet") == 0 || strcmp(key, "cohorts") == 0 || strcmp(key, "queues") == 0;
}

bool replay_keys_ok(struct read_ctx *ctx, const struct ynode *root)
{
    const bool demand = replay_has_demand(root);
    bool ok = true;
    for (int32_t i = 0; i < root->count; i++) {
        const char *key = root->keys[i];
        const char *why = NULL;
        if (brought(key))
            why = demand ? "comes from the manifests; change it with set, as in set: [\"queues.research.cards.h100=16\"]"
                         : "comes from the manifests; expected name, description, durations, horizon or seed, or demand of its own";
        else if (demand && strcmp(key, "durations") == 0)
            why = "belongs to a replay of the manifests' workloads; this scenario has demand of its own";
        else if (!demand && (strcmp(key, "nodeTypes") == 0 || (has_field(&scenario_schema, key) && !has_field(&replay_schema, key))))
            why = "needs demand: without demand of its own, the file replays the manifests' workloads";
        if (why == NULL)
            continue;
        yplace_report(&root->key_places[i], DIAG_ERROR, ctx->diags, "'%s' beside manifests %s", key, why);
        ok = false;
    }
    return ok;
}
