/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes of the scenario's tree with the places of Kubernetes objects. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/load/objects/objects.h"

struct yplace ob_place_in(const struct ob *o, const struct manifest_object *object, const struct mnode *n)
{
    struct yplace p = {.source = NULL};
    if (object == NULL)
        return p;
    if (n == NULL)
        n = object->node;
    for (int32_t i = 0; i < o->left->file_count; i++)
        if (strcmp(o->left->files[i], object->file) == 0)
            p.source = &o->sources[i];
    if (p.source == NULL) { /* the text of a ConfigMap */
        struct ysource *inner = arena_alloc(o->a, 1, sizeof *inner);
        *inner = (struct ysource){.name = arena_strdup(o->a, object->file), .is_objects = true};
        p.source = inner;
    }
    p.line = n->line;
    p.column = n->column;
    return p;
}

struct yplace ob_place(const struct ob *o, const char *kind, const char *name_space, const char *name, const char *field)
{
    const struct manifest_object *object = manifest_find(o->m, kind, name_space, name);
    return ob_place_in(o, object, object == NULL || field == NULL ? NULL : mnode_at(object->node, field));
}

const struct mnode *ob_item(const struct mnode *list, uint32_t i)
{
    const struct mnode *n = mnode_first(list);
    while (n != NULL && i-- > 0)
        n = n->next;
    return n;
}

static void add(const struct ob *o, struct ynode *map, const char *key, struct ynode *item, struct yplace place)
{
    ynode_add(o->a, map, map->kind == YNODE_MAP ? arena_strdup(o->a, key) : NULL, place, item);
}

void ob_text(const struct ob *o, struct ynode *map, const char *key, const char *text, struct yplace place)
{
    struct ynode *n = ynode_scalar(o->a, text, place);
    n->quoted = true;
    add(o, map, key, n, place);
}

void ob_number(const struct ob *o, struct ynode *map, const char *key, int64_t v, struct yplace place)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRId64, v);
    add(o, map, key, ynode_scalar(o->a, text, place), place);
}

void ob_real(const struct ob *o, struct ynode *map, const char *key, double v, struct yplace place)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.17g", v);
    add(o, map, key, ynode_scalar(o->a, text, place), place);
}

struct ynode *ob_under(const struct ob *o, struct ynode *map, const char *key, enum ynode_kind kind, struct yplace place)
{
    struct ynode *n = ynode_new(o->a, kind, place);
    add(o, map, key, n, place);
    return n;
}

struct ynode *ob_new_item(const struct ob *o, struct ynode *list, struct yplace place)
{
    return ob_under(o, list, NULL, YNODE_MAP, place);
}

static void effect(const struct ob *o, struct ynode *map, enum policy_effect e, struct yplace place)
{
    if (e != POLICY_EFFECT_ANY)
        ob_text(o, map, "effect", e == POLICY_NO_SCHEDULE ? "NoSchedule" : e == POLICY_NO_EXECUTE ? "NoExecute" : "PreferNoSchedule",
                place);
}

void ob_taint(const struct ob *o, struct ynode *list, const struct policy_taint *t, struct yplace place)
{
    struct ynode *map = ob_new_item(o, list, place);
    ob_text(o, map, "key", t->key, place);
    ob_text(o, map, "value", t->value, place);
    effect(o, map, t->effect, place);
}

void ob_toleration(const struct ob *o, struct ynode *list, const struct policy_toleration *t, struct yplace place)
{
    struct ynode *map = ob_new_item(o, list, place);
    if (t->key[0] != '\0')
        ob_text(o, map, "key", t->key, place);
    if (!t->exists)
        ob_text(o, map, "value", t->value, place);
    effect(o, map, t->effect, place);
}

void ob_amount(const struct ob *o, struct ynode *map, const char *key, uint32_t resource, int64_t amount, struct yplace place)
{
    if (strcmp(o->m->config.resources[resource], "cpu") == 0)
        add(o, map, key, ynode_scalar(o->a, arena_printf(o->a, "%" PRId64 "m", amount), place), place);
    else
        ob_number(o, map, key, amount, place);
}

__attribute__((format(printf, 4, 0))) static void say(const struct ob *o, struct yplace place, enum diag_severity severity,
                                                      const char *fmt, va_list args)
{
    char text[768];
    (void)vsnprintf(text, sizeof text, fmt, args);
    yplace_report(&place, severity, o->diags, "%s", text);
}

void ob_warn(const struct ob *o, struct yplace place, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(o, place, DIAG_WARNING, fmt, args);
    va_end(args);
}

void ob_error(const struct ob *o, struct yplace place, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(o, place, DIAG_ERROR, fmt, args);
    va_end(args);
}

struct ynode *ob_demand(const struct ob *o, const char *list)
{
    struct ynode *demand = ynode_get(o->root, "demand"), *n = NULL;
    if (demand != NULL && demand->kind == YNODE_MAP)
        n = ynode_get(demand, list);
    return n != NULL && n->kind == YNODE_LIST ? n : NULL;
}
