/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The generic reader: walks the rows of a table over a map. */
#include "scenarios/load/field.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/load/units.h"
#include "sim/check.h"

enum { LIST_ITEMS_MAX = 20000 }; /* names are compared pairwise */

/* ---- places and problems ---- */

static size_t path_add(struct read_ctx *ctx, const char *key, int ix)
{
    size_t mark = strlen(ctx->path);
    size_t room = sizeof ctx->path - mark;
    if (key != NULL)
        snprintf(ctx->path + mark, room, "%s%s", mark > 0 ? "." : "", key);
    else
        snprintf(ctx->path + mark, room, "[%d]", ix);
    return mark;
}

size_t field_path_push(struct read_ctx *ctx, const char *key)
{
    return path_add(ctx, key, 0);
}

size_t field_path_push_index(struct read_ctx *ctx, int32_t ix)
{
    return path_add(ctx, NULL, (int)ix);
}

void field_path_pop(struct read_ctx *ctx, size_t mark)
{
    ctx->path[mark] = '\0';
}

/* Copies of a repeat share their places: one mistake in a template is one problem. */
static bool reported(const struct read_ctx *ctx, const struct yplace *place, const char *text)
{
    for (size_t i = 0; i < ctx->diags->count && place->source != NULL; i++) {
        const struct diag *d = &ctx->diags->items[i];
        size_t n = strlen(text), m = strlen(d->text);
        if (d->line == place->line && d->column == place->column && d->file != NULL &&
            strcmp(d->file, place->source->name) == 0 && m >= n && strcmp(d->text + m - n,
                                                                          text) == 0)
            return true;
    }
    return false;
}

void field_problem(struct read_ctx *ctx, const struct ynode *n, const char *fmt, ...)
{
    char text[768];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (reported(ctx, &n->place, text))
        return;
    bool top = ctx->path[0] == '\0';
    yplace_report(&n->place, DIAG_ERROR, ctx->diags, "%s%s%s", ctx->path, top ? "" : ": ", text);
}

void field_expected(struct read_ctx *ctx, const struct ynode *n, const char *fmt, ...)
{
    char text[512], what[64];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    field_problem(ctx, n, "expected %s, got %s", text, ynode_what(n, what));
}

/* ---- names ---- */

int32_t name_list_find(const struct name_list *list, const char *name)
{
    for (int32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], name) == 0)
            return i;
    return -1;
}

void name_list_add(struct name_list *list, const char *name)
{
    list->items = mem_grow(list->items, &list->capacity, (size_t)list->count + 1,
                           sizeof *list->items);
    list->items[list->count++] = name;
}

static const struct {
    const char *what, *list;
} domains[REF_COUNT] = {
    [REF_TEAM] = {"team", "teams"},
    [REF_PRIORITY_CLASS] = {"priority class", "priorityClasses"},
    [REF_COHORT] = {"cohort", "cohorts"},
    [REF_QUEUE] = {"queue", "queues"},
    [REF_MODEL] = {"model", "models"},
    [REF_FLAVOR] = {"flavor", "fleet.flavors"},
    [REF_POOL] = {"node pool", "fleet.nodePools"},
};

int32_t field_resolve(struct read_ctx *ctx, enum ref_domain domain, const struct ynode *n)
{
    const struct name_list *list = &ctx->refs[domain];
    const char *what = domains[domain].what;
    if (n->kind != YNODE_SCALAR || ynode_is_nothing(n)) {
        field_expected(ctx, n, "the name of a %s", what);
        return -1;
    }
    int32_t ix = name_list_find(list, n->text);
    if (ix >= 0)
        return ix;
    const char *near = diag_nearest(n->text, list->items, (size_t)list->count);
    if (near != NULL)
        field_problem(ctx, n, "no %s is named '%.60s'; did you mean '%s'?", what, n->text, near);
    else
        field_problem(ctx, n, "no %s is named '%.60s' in %s", what, n->text, domains[domain].list);
    return -1;
}

int32_t field_resource(struct read_ctx *ctx, const char *name, const struct ynode *n)
{
    int32_t ix = name_list_find(&ctx->resources, name);
    if (ix >= 0)
        return ix;
    if (ctx->resources.count == FLEET_RESOURCES_MAX) {
        field_problem(ctx, n, "more than %d named resources beside the cards", FLEET_RESOURCES_MAX);
        return -1;
    }
    name_list_add(&ctx->resources, arena_strdup(ctx->arena, name));
    return ctx->resources.count - 1;
}

/* ---- structs ---- */

static const struct field *find_row(const struct schema *s, const char *key)
{
    for (const struct field *f = s->fields; f->name != NULL; f++)
        if (strcmp(f->name, key) == 0)
            return f;
    return NULL;
}

static void unknown_key(struct read_ctx *ctx, const struct schema *s, const struct ynode *n,
                        int32_t i)
{
    const char *names[128];
    size_t count = 0;
    for (const struct field *f = s->fields; f->name != NULL && count < 128; f++)
        names[count++] = f->name;
    const char *near = diag_nearest(n->keys[i], names, count);
    struct ynode at = {.place = n->key_places[i]};
    if (near != NULL)
        field_problem(ctx, &at, "unknown key '%.60s' of %s; did you mean '%s'?", n->keys[i],
                      s->title, near);
    else
        field_problem(ctx, &at, "unknown key '%.60s' of %s", n->keys[i], s->title);
}

void field_read_rows(struct read_ctx *ctx, const struct schema *s, const struct ynode *n, void *out)
{
    for (int32_t i = 0; i < n->count; i++)
        if (find_row(s, n->keys[i]) == NULL)
            unknown_key(ctx, s, n, i);
    /* In table order: rows may rely on rows above them, whatever the order in the file. */
    for (const struct field *f = s->fields; f->name != NULL; f++) {
        const struct ynode *value = ynode_get(n, f->name);
        if (value == NULL && (f->flags & FIELD_REQUIRED) != 0)
            field_problem(ctx, n, "'%s' is missing from %s", f->name, s->title);
        if (value == NULL)
            continue;
        size_t mark = field_path_push(ctx, f->name);
        field_read(ctx, f, value, out);
        field_path_pop(ctx, mark);
    }
}

void field_read_struct(struct read_ctx *ctx, const struct schema *s, const struct ynode *n,
                       void *out)
{
    memset(out, 0, s->size);
    if (s->defaults != NULL)
        s->defaults(out);
    if (n->kind != YNODE_MAP) {
        field_expected(ctx, n, "%s (a map)", s->title);
        return;
    }
    if (s->before != NULL)
        s->before(ctx, n, out);
    field_read_rows(ctx, s, n, out);
    if (s->after != NULL)
        s->after(ctx, n, out);
}

static void read_embedded(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                          void *out)
{
    if (n->kind != YNODE_MAP) {
        field_expected(ctx, n, "%s (a map)", f->sub->title);
        return;
    }
    if (f->sub->before != NULL)
        f->sub->before(ctx, n, out);
    field_read_rows(ctx, f->sub, n, out);
    if (f->sub->after != NULL)
        f->sub->after(ctx, n, out);
}

/* ---- lists and maps ---- */

static const struct field *name_row(const struct schema *s)
{
    const struct field *f = find_row(s, "name");
    return f != NULL && f->kind == FIELD_NAME ? f : NULL;
}

static void check_unique(struct read_ctx *ctx, const struct ynode *list, int32_t i)
{
    const struct ynode *name = ynode_get(list->items[i], "name");
    if (name == NULL || name->kind != YNODE_SCALAR)
        return;
    for (int32_t j = 0; j < i; j++) {
        const struct ynode *other = ynode_get(list->items[j], "name");
        if (other == NULL || other->kind != YNODE_SCALAR || strcmp(other->text, name->text) != 0)
            continue;
        size_t mark = field_path_push(ctx, "name");
        field_problem(ctx, name, "the name '%.60s' stands twice in this list; first in line %d",
                      name->text,
                      (int)other->place.line);
        field_path_pop(ctx, mark);
        return;
    }
}

static void read_list(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                      void *base)
{
    if (n->kind != YNODE_LIST) {
        field_expected(ctx, n, "a list of %s", f->sub->title);
        return;
    }
    if (n->count > LIST_ITEMS_MAX) {
        field_problem(ctx, n, "%d items; the limit of a list is %d", (int)n->count, LIST_ITEMS_MAX);
        return;
    }
    char *items = arena_alloc(ctx->arena, (size_t)n->count + 1, f->sub->size);
    for (int32_t i = 0; i < n->count; i++) {
        size_t mark = field_path_push_index(ctx, i);
        field_read_struct(ctx, f->sub, n->items[i], items + (size_t)i * f->sub->size);
        if (name_row(f->sub) != NULL)
            check_unique(ctx, n, i);
        field_path_pop(ctx, mark);
    }
    void *array = items;
    memcpy((char *)base + f->offset, &array, sizeof array);
    memcpy((char *)base + f->count_offset, &n->count, sizeof n->count);
}

static void read_labels(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                        void *base)
{
    if (n->kind != YNODE_MAP) {
        field_expected(ctx, n, "a map of labels such as {card: H100-80}");
        return;
    }
    struct label *labels = arena_alloc(ctx->arena, (size_t)n->count + 1, sizeof *labels);
    for (int32_t i = 0; i < n->count; i++) {
        if (n->items[i]->kind != YNODE_SCALAR)
            field_expected(ctx, n->items[i], "a text for label '%.60s'", n->keys[i]);
        labels[i] = (struct label){n->keys[i], n->items[i]->text};
    }
    memcpy((char *)base + f->offset, &labels, sizeof labels);
    memcpy((char *)base + f->count_offset, &n->count, sizeof n->count);
}

static void read_amounts(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                         void *base)
{
    if (n->kind != YNODE_MAP) {
        field_expected(ctx, n, "a map of resources such as {cpu: 8, memory: 64GiB}");
        return;
    }
    struct resource_amount *amounts = arena_alloc(ctx->arena, (size_t)n->count + 1,
                                                  sizeof *amounts);
    int32_t count = 0;
    for (int32_t i = 0; i < n->count; i++) {
        const struct ynode *v = n->items[i];
        int64_t amount;
        if (strcmp(n->keys[i], "cards") == 0 || strcmp(n->keys[i], "nvidia.com/gpu") == 0) {
            field_problem(ctx, v, "cards are not listed here; they have fields of their own");
        } else if (v->kind != YNODE_SCALAR || units_quantity(n->keys[i], v->text,
                                                             &amount) != UNITS_OK) {
            field_expected(ctx, v, "an amount of %.60s such as %s", n->keys[i],
                           strcmp(n->keys[i], "cpu") == 0 ? "8 or 500m" : "64GiB or 4");
        } else {
            int32_t resource = field_resource(ctx, n->keys[i], v);
            if (resource >= 0)
                amounts[count++] = (struct resource_amount){resource, amount};
        }
    }
    memcpy((char *)base + f->offset, &amounts, sizeof amounts);
    memcpy((char *)base + f->count_offset, &count, sizeof count);
}

static void read_reals(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                       void *base)
{
    if (n->kind != YNODE_LIST || n->count != f->fixed) {
        char got[64];
        if (n->kind == YNODE_LIST)
            field_problem(ctx, n, "expected a list of %d numbers, got %d", (int)f->fixed,
                          (int)n->count);
        else
            field_problem(ctx, n, "expected a list of %d numbers, got %s", (int)f->fixed,
                          ynode_what(n, got));
        return;
    }
    for (int32_t i = 0; i < n->count; i++) {
        double v;
        size_t mark = field_path_push_index(ctx, i);
        if (n->items[i]->kind != YNODE_SCALAR || units_real(n->items[i]->text, &v) != UNITS_OK ||
            v < 0)
            field_expected(ctx, n->items[i], "a number >= 0");
        else
            memcpy((char *)base + f->offset + (size_t)i * sizeof v, &v, sizeof v);
        field_path_pop(ctx, mark);
    }
}

void field_read(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base)
{
    switch (f->kind) {
    case FIELD_STRUCT: read_embedded(ctx, f, n, (char *)base + f->offset); return;
    case FIELD_LIST: read_list(ctx, f, n, base); return;
    case FIELD_LABELS: read_labels(ctx, f, n, base); return;
    case FIELD_AMOUNTS: read_amounts(ctx, f, n, base); return;
    case FIELD_REALS: read_reals(ctx, f, n, base); return;
    case FIELD_CUSTOM: f->read(ctx, f, n, base); return;
    case FIELD_INT: case FIELD_SEED: case FIELD_REAL: case FIELD_FRACTION: case FIELD_DURATION:
    case FIELD_SECONDS: case FIELD_HOURS: case FIELD_WINDOW: case FIELD_BYTES: case FIELD_BYTES_REAL:
    case FIELD_BYTE_RATE: case FIELD_RATE: case FIELD_PER_DAY: case FIELD_PER_MINUTE: case FIELD_USD_HOUR:
    case FIELD_USD_YEAR: case FIELD_USD_SECOND: case FIELD_TOKEN_PRICE: case FIELD_MILLI: case FIELD_BOOL:
    case FIELD_ENUM: case FIELD_STRING: case FIELD_NAME: case FIELD_INSTANT: case FIELD_REF:
    case FIELD_KIND_COUNT:
        field_read_scalar(ctx, f, n, base);
        return;
    }
}
