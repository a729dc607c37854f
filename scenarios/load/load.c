/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/load.h"

#include <stdlib.h>
#include <string.h>

#include "scenarios/load/jobs_file.h"
#include "scenarios/load/lint.h"
#include "scenarios/load/load_priv.h"
#include "scenarios/load/override.h"
#include "scenarios/load/repeat.h"
#include "scenarios/load/traffic_file.h"
#include "sim/fnv.h"

enum { BASE_DEPTH_MAX = 8 };

/* One change of the tree, in the order of application. */
struct change {
    const char *argument;
    struct yplace place;
    bool from_command_line;
};

struct loading {
    struct arena arena;
    struct diag_list *diags;
    const struct ysource *root_source;
    struct ynode *root;
    struct change *changes;
    size_t change_count, change_capacity;
    size_t problems_before, errors_before; /* in diags */
    const struct load_objects *objects; /* NULL: no manifests, or a replay of them */
    bool root_has_set; /* then its text cannot simply get one more key */
};

static void add_change(struct loading *l, const char *argument, struct yplace place,
                       bool from_command_line)
{
    l->changes = mem_grow(l->changes, &l->change_capacity, l->change_count + 1, sizeof *l->changes);
    l->changes[l->change_count++] = (struct change){argument, place, from_command_line};
}

/* Takes the `set:` list off the root. */
static void take_sets(struct loading *l, struct ynode *root)
{
    int32_t at = ynode_find(root, "set");
    if (at < 0)
        return;
    const struct ynode *list = root->items[at];
    if (list->kind != YNODE_LIST)
        yplace_report(&list->place, DIAG_ERROR, l->diags,
                      "set: expected a list of texts such as [\"horizon=7d\"]");
    for (int32_t i = 0; i < list->count; i++) {
        const struct ynode *item = list->items[i];
        if (item->kind == YNODE_SCALAR)
            add_change(l, item->text, item->place, false);
        else
            yplace_report(&item->place, DIAG_ERROR, l->diags,
                          "set[%d]: expected a text such as \"horizon=7d\"", (int)i);
    }
    for (int32_t k = at + 1; k < root->count; k++) {
        root->keys[k - 1] = root->keys[k];
        root->key_places[k - 1] = root->key_places[k];
        root->items[k - 1] = root->items[k];
    }
    root->count--;
}

/* name and description of a derived file are changes like any other. */
static void take_title(struct loading *l, const struct ynode *root, const char *key)
{
    const struct ynode *n = ynode_get(root, key);
    if (n == NULL)
        return;
    if (n->kind != YNODE_SCALAR) {
        yplace_report(&n->place, DIAG_ERROR, l->diags, "%s: expected a text", key);
        return;
    }
    struct ynode text = *n, map = {.kind = YNODE_MAP};
    text.quoted = true;
    ynode_add(&l->arena, &map, key, n->place, &text);
    /* "key: "text"\n" of the writer becomes key="text". */
    char *line = arena_strdup(&l->arena, ytree_text(&l->arena, &map));
    line[strcspn(line, "\n")] = '\0';
    char *value = strchr(line, '"');
    add_change(l, arena_printf(&l->arena, "%s=%s", key, value == NULL ? "" : value), n->place,
               false);
}

static bool load_file(struct loading *l, const char *path, int depth, const struct yplace *from);

static const char *beside(struct arena *a, const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    if (path[0] == '/' || slash == NULL)
        return arena_strdup(a, path);
    return arena_printf(a, "%.*s/%s", (int)(slash - file), file, path);
}

/* A file with `base:` says what differs and nothing else. */
static bool load_derived(struct loading *l, struct ynode *root, const char *path, int depth)
{
    const struct ynode *base = ynode_get(root, "base");
    size_t errors = l->diags->error_count;
    for (int32_t i = 0; i < root->count; i++) {
        const char *k = root->keys[i];
        if (strcmp(k, "base") != 0 && strcmp(k, "set") != 0 && strcmp(k, "name") != 0 &&
            strcmp(k, "description") != 0)
            yplace_report(&root->key_places[i], DIAG_ERROR, l->diags,
                          "key '%.60s' beside base; a file with a base holds only name, description and set", k);
    }
    if (base->kind != YNODE_SCALAR || base->text[0] == '\0') {
        yplace_report(&base->place, DIAG_ERROR, l->diags, "base: expected the path of a scenario");
        return false;
    }
    if (!load_file(l, beside(&l->arena, path, base->text), depth + 1, &base->place))
        return false;
    take_title(l, root, "name");
    take_title(l, root, "description");
    take_sets(l, root);
    return l->diags->error_count == errors;
}

static bool load_source(struct loading *l, const struct ysource *source, int depth, bool allow_base)
{
    struct ynode *root = ytree_parse(source, &l->arena, l->diags);
    if (root == NULL)
        return false;
    if (root->kind != YNODE_MAP) {
        char what[64];
        yplace_report(&root->place, DIAG_ERROR, l->diags, "expected a scenario (a map), got %s",
                      ynode_what(root, what));
        return false;
    }
    const struct ynode *base = ynode_get(root, "base");
    if (base != NULL && !allow_base) {
        yplace_report(&base->place, DIAG_ERROR, l->diags, "base: not allowed in a stored scenario");
        return false;
    }
    if (base != NULL)
        return load_derived(l, root, source->name, depth);
    l->root = root;
    l->root_source = source;
    l->root_has_set = ynode_find(root, "set") >= 0;
    take_sets(l, root);
    return true;
}

static bool load_file(struct loading *l, const char *path, int depth, const struct yplace *from)
{
    if (depth > BASE_DEPTH_MAX) {
        yplace_report(from, DIAG_ERROR, l->diags,
                      "base: more than %d files on top of each other; is it a circle?", BASE_DEPTH_MAX);
        return false;
    }
    struct ysource *source = arena_alloc(&l->arena, 1, sizeof *source);
    return ysource_read(source, path, &l->arena, l->diags) && load_source(l, source, depth, true);
}

/* ---- the text that the results keep ---- */

static void add_set_list(struct loading *l, struct ynode *root)
{
    struct ynode *list = ynode_new(&l->arena, YNODE_LIST, root->place);
    for (size_t i = 0; i < l->change_count; i++) {
        struct ynode *item = ynode_scalar(&l->arena, l->changes[i].argument, root->place);
        item->quoted = true;
        ynode_add(&l->arena, list, NULL, root->place, item);
    }
    ynode_add(&l->arena, root, "set", root->place, list);
}

/* Before repeats change the tree. */
static const char *kept_text(struct loading *l)
{
    if (l->change_count == 0 && !l->root_has_set)
        return l->root_source->text;
    struct ynode *only = ynode_new(&l->arena, YNODE_MAP, l->root->place);
    if (l->root_has_set) {
        only = ynode_copy(&l->arena, l->root);
        add_set_list(l, only);
        return ytree_text(&l->arena, only);
    }
    add_set_list(l, only);
    size_t n = l->root_source->length;
    const char *newline = n > 0 && l->root_source->text[n - 1] == '\n' ? "" : "\n";
    return arena_printf(&l->arena, "%s%s%s", l->root_source->text, newline,
                        ytree_text(&l->arena, only));
}

/* ---- reading ---- */

static void gather(struct read_ctx *ctx, enum ref_domain domain, const struct ynode *list)
{
    for (int32_t i = 0; list != NULL && list->kind == YNODE_LIST && i < list->count; i++) {
        const struct ynode *name = ynode_get(list->items[i], "name");
        name_list_add(&ctx->refs[domain], name != NULL &&
                      name->kind == YNODE_SCALAR ? name->text : "");
    }
}

static void gather_names(struct read_ctx *ctx, const struct ynode *root)
{
    const struct ynode *fleet = ynode_get(root, "fleet"), *flavors = ynode_get(fleet, "flavors");
    const struct ynode *teams = ynode_get(root, "teams");
    gather(ctx, REF_TEAM, teams != NULL ? teams : ynode_get(root, "queues"));
    gather(ctx, REF_PRIORITY_CLASS, ynode_get(root, "priorityClasses"));
    gather(ctx, REF_COHORT, ynode_get(root, "cohorts"));
    gather(ctx, REF_QUEUE, ynode_get(root, "queues"));
    gather(ctx, REF_MODEL, ynode_get(root, "models"));
    gather(ctx, REF_POOL, ynode_get(fleet, "nodePools"));
    gather(ctx, REF_FLAVOR, flavors != NULL ? flavors : ynode_get(fleet, "nodePools"));
    name_list_add(&ctx->resources, "cpu");
    name_list_add(&ctx->resources, "memory");
}

static void free_names(struct read_ctx *ctx)
{
    for (int d = 0; d < REF_COUNT; d++)
        free(ctx->refs[d].items);
    free(ctx->resources.items);
}

struct load_files { /* scenario.loader */
    struct jobs_file_options jobs;
    struct traffic_file_options traffic;
};

static bool open_jobs(void *loader, const struct job_stream_config *cfg, struct job_reader *out,
                      struct err *err)
{
    const struct load_files *files = loader;
    return jobs_file_open(cfg->file, cfg, &files->jobs, out, err);
}

static bool open_traffic(void *loader, const struct service_config *cfg, struct traffic_reader *out,
                         struct err *err)
{
    const struct load_files *files = loader;
    return traffic_file_open(cfg->traffic.file, cfg, &files->traffic, out, err);
}

/* Names that a file may give: the queues, then the local queues of manifests. */
static void set_names(struct jobs_file_options *to, struct scenario *s, const struct load_objects *objects)
{
    const int32_t queues = s->quota.queue_count, locals = objects == NULL ? 0 : objects->local_queue_count;
    const size_t most = (size_t)queues + (size_t)locals + 1;
    const char **names = arena_alloc(&s->arena, most, sizeof *names);
    int32_t *ids = arena_alloc(&s->arena, most, sizeof *ids), *teams = arena_alloc(&s->arena, most, sizeof *teams), count = 0;
    for (int32_t i = 0; i < queues; i++, count++) {
        names[count] = s->quota.queues[i].name;
        teams[count] = s->quota.queues[i].team;
        ids[count] = i;
    }
    for (int32_t i = 0; i < locals; i++)
        for (int32_t q = 0; q < queues; q++) {
            if (strcmp(s->quota.queues[q].name, objects->local_queue_of[i]) != 0)
                continue;
            names[count] = objects->local_queues[i];
            teams[count] = -1;
            for (int32_t t = 0; t < s->quota.team_count; t++)
                if (strcmp(s->quota.teams[t].name, objects->local_queue_team[i]) == 0)
                    teams[count] = t;
            ids[count++] = q;
        }
    *to = (struct jobs_file_options){.queues = names, .queue_count = count, .local_queue_count = count - queues, .queue_ids = ids, .queue_team = teams};
}

static void set_openers(struct scenario *s, const struct load_objects *objects)
{
    struct load_files *files = arena_alloc(&s->arena, 1, sizeof *files);
    set_names(&files->jobs, s, objects);
    s->loader = files;
    s->open_jobs = open_jobs;
    s->open_traffic = open_traffic;
}

void scenario_skip_bad(struct scenario *s, uint64_t rows)
{
    struct load_files *files = s->loader;
    files->jobs.skip_bad = rows;
    files->traffic.skip_bad = rows;
}

/* What the objects of manifests become is there only when they have been read. */
static bool changes_objects(const char *argument)
{
    static const char *const keys[] = {"fleet", "cohorts", "queues", "teams", "priorityClasses"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const size_t n = strlen(keys[i]);
        if (strncmp(argument, keys[i], n) == 0 && strchr(".[=", argument[n]) != NULL)
            return true;
    }
    return false;
}

enum which { CHANGES_ALL, CHANGES_BEFORE, CHANGES_AFTER }; /* the objects are read */

static bool apply_changes(struct loading *l, enum which which)
{
    bool ok = true;
    for (size_t i = 0; i < l->change_count; i++) {
        const struct change *c = &l->changes[i];
        if (which == CHANGES_ALL || (which == CHANGES_AFTER) == changes_objects(c->argument))
            ok &= override_apply(l->root, c->argument, c->from_command_line ? NULL : &c->place,
                                 &l->arena, l->diags);
    }
    return ok;
}

/* Changes, and the objects of manifests in their midst. */
static bool complete_tree(struct loading *l)
{
    if (ynode_find(l->root, "manifests") < 0)
        return apply_changes(l, CHANGES_ALL);
    if (!apply_changes(l, CHANGES_BEFORE))
        return false;
    if (replay_has_demand(l->root)) {
        struct read_ctx ctx = {.arena = &l->arena, .diags = l->diags};
        l->objects = objects_expand(&ctx, l->root);
        if (l->objects == NULL)
            return false;
    }
    return apply_changes(l, CHANGES_AFTER);
}

/* Told alone: without nodes every name of a flavor would be unknown. */
static bool has_nodes(struct read_ctx *ctx, const struct ynode *root)
{
    const struct ynode *pools = ynode_get(ynode_get(root, "fleet"), "nodePools");
    if (pools == NULL || pools->kind != YNODE_LIST || pools->count > 0)
        return true;
    snprintf(ctx->path, sizeof ctx->path, "fleet.nodePools");
    field_problem(ctx, pools, "the fleet has no nodes; expected at least one node pool");
    return false;
}

static void read_replay(struct read_ctx *ctx, const struct loading *l, struct scenario_in *in)
{
    if (!replay_keys_ok(ctx, l->root))
        return;
    field_read_struct(ctx, &replay_schema, l->root, in);
    struct replay_config *kept = arena_alloc(ctx->arena, 1, sizeof *kept);
    *kept = in->replay;
    in->s.replay = kept;
}

static bool read_tree(struct loading *l, struct scenario_in *in, bool lint)
{
    size_t errors = l->diags->error_count;
    struct read_ctx ctx = {.arena = &l->arena, .diags = l->diags, .scenario = in};
    gather_names(&ctx, l->root);
    const bool replay = ynode_find(l->root, "manifests") >= 0;
    if (replay)
        read_replay(&ctx, l, in);
    else if (has_nodes(&ctx, l->root))
        field_read_struct(&ctx, &scenario_schema, l->root, in);
    in->objects = l->objects;
    if (l->diags->error_count == errors && !replay) {
        load_finish(&ctx, l->root);
        load_cross_check(&ctx, l->root);
    }
    if (l->diags->error_count == errors && lint && !replay)
        scenario_lint(&in->s, l->root, l->diags);
    free_names(&ctx);
    return l->diags->error_count == errors;
}

static bool comes_after(const struct diag *a, const struct diag *b)
{
    bool same_file = a->file != NULL && b->file != NULL && strcmp(a->file, b->file) == 0;
    return same_file && (a->line > b->line || (a->line == b->line && a->column > b->column));
}

/* Problems were found in the order of the tables; people read them in that of the file. */
static void sort_problems(struct diag_list *diags, size_t from)
{
    for (size_t i = from + 1; i < diags->count; i++)
        for (size_t k = i; k > from && comes_after(&diags->items[k - 1], &diags->items[k]); k--) {
            struct diag swap = diags->items[k];
            diags->items[k] = diags->items[k - 1];
            diags->items[k - 1] = swap;
        }
}

/* From the loaded text to the scenario; takes over l's memory. */
static struct scenario *finish(struct loading *l, bool ok, const char *path,
                               const char *const *sets,
                               int set_count, bool lint)
{
    struct scenario *s = NULL;
    struct scenario_in *in = arena_alloc(&l->arena, 1, sizeof *in);
    const char *text = NULL;
    for (int i = 0; i < set_count; i++)
        add_change(l, arena_strdup(&l->arena, sets[i]), (struct yplace){0}, true);
    if (ok)
        text = kept_text(l);
    ok = ok && repeat_expand(l->root, &l->arena, l->diags) && complete_tree(l) && read_tree(l, in, lint);
    if (ok && l->diags->error_count == l->errors_before) {
        s = mem_zalloc(1, sizeof *s);
        *s = in->s;
        s->path = arena_strdup(&l->arena, path);
        s->text = text;
        s->text_hash = fnv_add(FNV_START, text, strlen(text));
        s->arena = l->arena;
        set_openers(s, l->objects);
        if (lint && s->replay == NULL)
            scenario_lint_files(s, l->root, l->diags);
    } else {
        arena_fini(&l->arena);
    }
    free(l->changes);
    sort_problems(l->diags, l->problems_before);
    return s;
}

static struct scenario *load(const char *path, const char *const *sets, int set_count,
                             struct diag_list *diags,
                             bool lint)
{
    struct loading l = {.diags = diags, .problems_before = diags->count,
                        .errors_before = diags->error_count};
    bool ok = load_file(&l, path, 0, NULL);
    return finish(&l, ok, path, sets, set_count, lint);
}

char *scenario_print(const char *path, const char *const *sets, int set_count, struct diag_list *diags)
{
    struct loading l = {.diags = diags, .problems_before = diags->count, .errors_before = diags->error_count};
    char *text = NULL;
    bool ok = load_file(&l, path, 0, NULL);
    for (int i = 0; i < set_count; i++)
        add_change(&l, arena_strdup(&l.arena, sets[i]), (struct yplace){0}, true);
    if (ok && repeat_expand(l.root, &l.arena, diags) && complete_tree(&l))
        text = mem_strdup(ytree_text(&l.arena, l.root));
    arena_fini(&l.arena);
    free(l.changes);
    sort_problems(diags, l.problems_before);
    return text;
}

struct scenario *scenario_load(const char *path, const char *const *sets, int set_count,
                               struct diag_list *diags)
{
    return load(path, sets, set_count, diags, false);
}

struct scenario *scenario_check(const char *path, const char *const *sets, int set_count,
                                struct diag_list *diags)
{
    return load(path, sets, set_count, diags, true);
}

struct scenario *scenario_load_text(const char *path, const char *text, size_t length,
                                    const char *const *sets,
                                    int set_count, struct diag_list *diags)
{
    struct loading l = {.diags = diags, .problems_before = diags->count,
                        .errors_before = diags->error_count};
    struct ysource *source = arena_alloc(&l.arena, 1, sizeof *source);
    bool ok = ysource_text(source, path, text, length, &l.arena, diags) && load_source(&l, source,
                                                                                       0, false);
    return finish(&l, ok, path, sets, set_count, false);
}

void scenario_free(struct scenario *s)
{
    if (s == NULL)
        return;
    struct arena arena = s->arena;
    free(s);
    arena_fini(&arena);
}
