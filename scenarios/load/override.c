/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/override.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/load/units.h"

enum { STEPS_MAX = 24 };

enum step_kind { STEP_KEY, STEP_BRACKET, STEP_ALL };

struct step {
    enum step_kind kind;
    const char *text; /* key, or what stands in the brackets */
};

struct override {
    struct arena *arena;
    struct diag_list *diags;
    struct yplace place; /* of the argument, for problems and for new nodes */
    struct step steps[STEPS_MAX];
    int32_t step_count;
    struct ynode *value;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct override *o, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    yplace_report(&o->place, DIAG_ERROR, o->diags, "%s", text);
    o->failed = true;
    return false;
}

static bool add_step(struct override *o, enum step_kind kind, const char *text, size_t n)
{
    if (o->step_count == STEPS_MAX)
        return fail(o, "the path has more than 24 steps");
    if (n == 0)
        return fail(o, "expected a path such as demand.training[0].rateScale before '='");
    o->steps[o->step_count++] = (struct step){kind, arena_strndup(o->arena, text, n)};
    return true;
}

/* path: key ( "." key | "[" index, name or * "]" )* */
static bool parse_path(struct override *o, const char *p, const char *end)
{
    bool want_key = true;
    while (p < end) {
        if (*p == '[' && !want_key) {
            const char *close = memchr(p, ']', (size_t)(end - p));
            if (close == NULL)
                return fail(o, "the path has a '[' without its ']'");
            size_t n = (size_t)(close - p) - 1;
            if (!add_step(o, n == 1 && p[1] == '*' ? STEP_ALL : STEP_BRACKET, p + 1, n))
                return false;
            p = close + 1;
        } else {
            if (!want_key && *p++ != '.')
                return fail(o, "expected '.', '[' or '=' after ']'");
            const char *start = p;
            while (p < end && *p != '.' && *p != '[')
                p++;
            if (!add_step(o, STEP_KEY, start, (size_t)(p - start)))
                return false;
            want_key = false;
        }
    }
    return o->step_count > 0 || fail(o, "expected path=value");
}

static const char *item_name(const struct ynode *item)
{
    const struct ynode *name = ynode_get(item, "name");
    if (name == NULL)
        name = ynode_get(item, "preset");
    return name != NULL && name->kind == YNODE_SCALAR ? name->text : NULL;
}

static int32_t find_item(struct override *o, const struct ynode *list, const struct step *step)
{
    int64_t ix;
    for (int32_t i = 0; i < list->count; i++)
        if (item_name(list->items[i]) != NULL && strcmp(item_name(list->items[i]), step->text) == 0)
            return i;
    if (units_int(step->text, &ix) == UNITS_OK) {
        if (ix >= 0 && ix < list->count)
            return (int32_t)ix;
        fail(o, "there is no item [%lld]; the list has %d, counted from 0", (long long)ix,
             (int)list->count);
        return -1;
    }
    const char *names[512];
    size_t count = 0;
    for (int32_t i = 0; i < list->count && count < 512; i++)
        if (item_name(list->items[i]) != NULL)
            names[count++] = item_name(list->items[i]);
    const char *near = diag_nearest(step->text, names, count);
    fail(o, "no item of the list is named '%.60s'%s%.60s%s", step->text,
             near == NULL ? "" : "; did you mean '", near == NULL ? "" : near, near == NULL ? "" : "'?");
    return -1;
}

static void walk(struct override *o, struct ynode *n, int32_t at);

/* Replaces the child when this was the last step, else goes on into it. */
static void enter(struct override *o, struct ynode *n, int32_t child, int32_t at)
{
    if (at + 1 == o->step_count)
        n->items[child] = ynode_copy(o->arena, o->value);
    else
        walk(o, n->items[child], at + 1);
}

static void walk_map(struct override *o, struct ynode *n, int32_t at)
{
    const struct step *step = &o->steps[at];
    if (step->kind != STEP_KEY && ynode_find(n, step->text) < 0) {
        fail(o, "'[%.60s]' needs a list, and this is a map", step->text);
        return;
    }
    int32_t child = ynode_find(n, step->text);
    if (child < 0) {
        ynode_add(o->arena, n, step->text, o->place, ynode_new(o->arena, YNODE_MAP, o->place));
        child = n->count - 1;
    }
    enter(o, n, child, at);
}

static void walk(struct override *o, struct ynode *n, int32_t at)
{
    const struct step *step = &o->steps[at];
    if (n->kind == YNODE_MAP) {
        walk_map(o, n, at);
    } else if (n->kind == YNODE_SCALAR) {
        fail(o, "the path goes on after a plain value, at '%.60s'", step->text);
    } else if (step->kind == STEP_ALL) {
        if (n->count == 0)
            fail(o, "'[*]' matches nothing; the list is empty");
        for (int32_t i = 0; i < n->count && !o->failed; i++)
            enter(o, n, i, at);
    } else {
        int32_t child = find_item(o, n, step);
        if (child >= 0)
            enter(o, n, child, at);
    }
}

/* Values carry the place of the argument. */
static void replace_places(struct ynode *n, struct yplace place)
{
    n->place = place;
    for (int32_t i = 0; i < n->count; i++) {
        if (n->kind == YNODE_MAP)
            n->key_places[i] = place;
        replace_places(n->items[i], place);
    }
}

static bool parse_value(struct override *o, const char *text)
{
    if (text[0] == '\0') {
        o->value = ynode_scalar(o->arena, "", o->place);
        return true;
    }
    struct ysource *source = arena_alloc(o->arena, 1, sizeof *source);
    size_t errors = o->diags->error_count;
    if (!ysource_text(source, o->place.source->name, text, strlen(text), o->arena, o->diags))
        return false;
    source->is_argument = true;
    o->value = ytree_parse(source, o->arena, o->diags);
    if (o->value == NULL) {
        o->failed = true;
        return o->diags->error_count > errors ? false : fail(o, "the value cannot be read");
    }
    replace_places(o->value, o->place);
    return true;
}

bool override_apply(struct ynode *root, const char *argument, const struct yplace *place,
                    struct arena *a, struct diag_list *diags)
{
    struct override o = {.arena = a, .diags = diags};
    if (place != NULL) {
        o.place = *place;
    } else {
        struct ysource *source = arena_alloc(a, 1, sizeof *source);
        *source = (struct ysource){.name = arena_printf(a, "--set %s", argument), .text = "", .is_argument = true};
        o.place = (struct yplace){source, 0, 0};
    }
    const char *equals = strchr(argument, '=');
    if (equals == NULL)
        return fail(&o, "expected path=value, such as horizon=7d");
    if (!parse_path(&o, argument, equals) || !parse_value(&o, equals + 1))
        return false;
    walk(&o, root, 0);
    return !o.failed;
}
