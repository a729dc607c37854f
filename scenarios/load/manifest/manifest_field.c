/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of Kubernetes objects, with the API server's words about what is wrong. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/policies/quantity.h"
#include "scenarios/load/manifest/manifest_priv.h"

/* ---- ids ---- */

uint32_t mf_id(struct mf_ids *ids, const char *name)
{
    const uint32_t number = names_add(&ids->names, name, NULL);
    if (number == 0)
        return POLICY_NONE;
    ids->slots = mf_room(ids->slots, &ids->capacity, number - 1, sizeof *ids->slots);
    return number - 1;
}

uint32_t mf_id_find(const struct mf_ids *ids, const char *name)
{
    return names_find(&ids->names, name) - 1; /* 0 - 1 is POLICY_NONE */
}

const char *mf_id_name(const struct mf_ids *ids, uint32_t id)
{
    return names_text(&ids->names, id + 1);
}

bool mf_defined(const struct mf_ids *ids, uint32_t id)
{
    return id < ids->names.count && ids->slots[id].defined;
}

bool mf_define(struct mf *r, struct mf_ids *ids, uint32_t id, const struct mnode *at)
{
    if (id == POLICY_NONE) {
        mf_error(r, at, NULL, "metadata.name: Required value: name is required");
        return false;
    }
    struct mf_slot *s = &ids->slots[id];
    if (s->defined) {
        if (s->line > 0)
            mf_error(r, at, NULL, "already exists (first in %s, line %d)", s->file, (int)s->line);
        else
            mf_error(r, at, NULL, "already exists (first in %s)", s->file);
        return false;
    }
    *s = (struct mf_slot){.defined = true, .file = r->file, .line = at->line, .column = at->column};
    return true;
}

void mf_about(struct mf *r, const char *kind, const char *name, const struct mf_ids *ids, uint32_t id)
{
    r->kind = kind;
    r->name = name;
    r->name_space = NULL;
    r->slot = id < ids->capacity && ids->slots[id].defined ? &ids->slots[id] : NULL;
}

void *mf_room(void *array, size_t *capacity, size_t id, size_t size)
{
    if (id < *capacity)
        return array;
    const size_t old = *capacity;
    char *p = mem_grow(array, capacity, id + 1, size);
    memset(p + old * size, 0, (*capacity - old) * size);
    return p;
}

const char *mf_keep(struct mf *r, const char *text)
{
    return arena_strdup(&r->m->mem, text);
}

/* ---- messages ---- */

size_t mf_into(struct mf *r, const char *fmt, ...)
{
    const size_t mark = r->path_length, left = sizeof r->path - mark;
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(r->path + mark, left, fmt, ap);
    va_end(ap);
    r->path_length += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left - 1;
    return mark;
}

void mf_out(struct mf *r, size_t mark)
{
    r->path_length = mark;
    r->path[mark] = '\0';
}

static void say(struct mf *r, enum diag_severity severity, const struct mnode *at, const char *key,
                const char *text)
{
    char who[400] = "", where[360] = "";
    if (r->kind != NULL)
        snprintf(who, sizeof who, "%.60s '%.100s%s%.200s': ", r->kind,
                 r->name_space == NULL ? "" : r->name_space, r->name_space == NULL ? "" : "/",
                 r->name == NULL ? "" : r->name);
    const char *path = r->path[0] == '.' ? r->path + 1 : r->path;
    if (path[0] != '\0' || key != NULL)
        snprintf(where, sizeof where, "%s%s%.80s: ", path, path[0] != '\0' && key != NULL ? "." : "",
                 key == NULL ? "" : key);
    if (at == NULL && r->slot != NULL)
        diag_add(r->diags, severity, r->slot->file, r->slot->line, r->slot->column, NULL, "%s%s%s", who, where, text);
    else
        diag_add(r->diags, severity, r->file, at == NULL ? 0 : at->line, at == NULL ? 0 : at->column, NULL, "%s%s%s", who,
                 where, text);
}

void mf_error(struct mf *r, const struct mnode *at, const char *key, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say(r, DIAG_ERROR, at, key, text);
}

void mf_warn(struct mf *r, const struct mnode *at, const char *key, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say(r, DIAG_WARNING, at, key, text);
}

void mf_unsupported(struct mf *r, const char *what)
{
    for (size_t i = 0; i < r->note_count; i++)
        if (strcmp(r->notes[i].text, what) == 0) {
            r->notes[i].count++;
            return;
        }
    r->notes = mem_grow(r->notes, &r->note_capacity, r->note_count + 1, sizeof *r->notes);
    struct mf_note *n = &r->notes[r->note_count++];
    n->count = 1;
    snprintf(n->text, sizeof n->text, "%s", what);
}

void mf_known(struct mf *r, const struct mnode *map, const char *const *names)
{
    size_t count = 0;
    if (map != NULL && map->kind != MNODE_MAP && map->kind != MNODE_NULL) {
        mf_error(r, map, NULL, "Invalid value: expected an object");
        return;
    }
    while (names[count] != NULL)
        count++;
    for (const struct mnode *c = mnode_first(map); c != NULL; c = c->next) {
        size_t i = 0;
        while (i < count && strcmp(c->key, names[i]) != 0)
            i++;
        if (i < count)
            continue;
        const char *near = diag_nearest(c->key, names, count);
        mf_warn(r, c, NULL, "unknown field \"%.60s\"%s%s%s is ignored", c->key,
                near != NULL ? " (did you mean \"" : "", near != NULL ? near : "",
                near != NULL ? "\"?)" : "");
    }
}

/* ---- plain values ---- */

static const struct mnode *of_kind(struct mf *r, const struct mnode *map, const char *key,
                                   enum mnode_kind kind, const char *what)
{
    const struct mnode *n = mnode_get(map, key);
    if (n == NULL || n->kind == kind)
        return n;
    mf_error(r, n, key, "Invalid value: expected %s", what);
    return NULL;
}

const struct mnode *mf_map(struct mf *r, const struct mnode *map, const char *key)
{
    return of_kind(r, map, key, MNODE_MAP, "an object");
}

const struct mnode *mf_list(struct mf *r, const struct mnode *map, const char *key)
{
    return of_kind(r, map, key, MNODE_LIST, "a list");
}

const char *mf_string(struct mf *r, const struct mnode *map, const char *key, const char *otherwise)
{
    const struct mnode *n = of_kind(r, map, key, MNODE_STRING, "a string");
    return n == NULL ? otherwise : n->text;
}

bool mf_bool(struct mf *r, const struct mnode *map, const char *key, bool otherwise)
{
    const struct mnode *n = of_kind(r, map, key, MNODE_BOOL, "true or false");
    return n == NULL ? otherwise : strchr("tTyY", n->text[0]) != NULL || strcmp(n->text, "on") == 0;
}

int64_t mf_int(struct mf *r, const struct mnode *map, const char *key, int64_t least, int64_t most,
               int64_t otherwise)
{
    const struct mnode *n = mnode_get(map, key);
    if (n == NULL)
        return otherwise;
    char *end;
    errno = 0;
    const long long v = n->kind == MNODE_NUMBER ? strtoll(n->text, &end, 10) : 0;
    if (n->kind != MNODE_NUMBER || errno != 0 || *end != '\0') {
        mf_error(r, n, key, "Invalid value: \"%.60s\": expected a whole number", n->text);
        return otherwise;
    }
    if (v < least)
        mf_error(r, n, key, "Invalid value: %lld: must be greater than or equal to %lld", v,
                 (long long)least);
    else if (v > most)
        mf_error(r, n, key, "Invalid value: %lld: must be less than or equal to %lld", v,
                 (long long)most);
    return v < least || v > most ? otherwise : v;
}

int mf_choice(struct mf *r, const struct mnode *map, const char *key, const char *const *names,
              int otherwise)
{
    const struct mnode *n = of_kind(r, map, key, MNODE_STRING, "a string");
    char all[256] = "";
    if (n == NULL || n->text[0] == '\0')
        return otherwise;
    size_t used = 0;
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(n->text, names[i]) == 0)
            return i;
        const int k = snprintf(all + used, sizeof all - used, "%s\"%s\"", i == 0 ? "" : ", ", names[i]);
        used += k > 0 && (size_t)k < sizeof all - used ? (size_t)k : 0;
    }
    mf_error(r, n, key, "Unsupported value: \"%.60s\": supported values: %s", n->text, all);
    return otherwise;
}

/* ---- quantities ---- */

static bool read_quantity(struct mf *r, const struct mnode *n, const char *key, const char *resource,
                          int64_t *amount)
{
    if (n->kind != MNODE_STRING && n->kind != MNODE_NUMBER) {
        mf_error(r, n, key, "Invalid value: expected a quantity");
        return false;
    }
    if (quantity_parse(n->text, strcmp(resource, "cpu") == 0, amount))
        return true;
    mf_error(r, n, key,
             "Invalid value: \"%.60s\": quantities must match the regular expression "
             "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
             n->text);
    return false;
}

bool mf_quantity(struct mf *r, const struct mnode *map, const char *key, const char *resource,
                 int64_t *amount)
{
    const struct mnode *n = mnode_get(map, key);
    return n != NULL && read_quantity(r, n, key, resource, amount);
}

void mf_amount_set(struct arena *a, struct mf_amounts *to, uint32_t resource, int64_t amount)
{
    for (uint32_t i = 0; i < to->count; i++)
        if (to->v[i].resource == resource) {
            to->v[i].amount = amount;
            return;
        }
    if ((to->count & (to->count - 1)) == 0) { /* full at every power of two */
        struct policy_amount *v = arena_alloc(a, to->count == 0 ? 1 : 2 * (size_t)to->count, sizeof *v);
        if (to->count > 0)
            memcpy(v, to->v, to->count * sizeof *v);
        to->v = v;
    }
    to->v[to->count++] = (struct policy_amount){resource, amount};
}

int64_t mf_amount_of(const struct mf_amounts *a, uint32_t resource, int64_t otherwise)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->v[i].resource == resource)
            return a->v[i].amount;
    return otherwise;
}

uint32_t mf_resource(struct mf *r, const struct mnode *at)
{
    if (at->key[0] == '\0')
        mf_error(r, at, NULL, "Invalid value: \"\": name part must be non-empty");
    return mf_id(&r->resources, at->key);
}

struct mf_amounts mf_amounts(struct mf *r, const struct mnode *map, const char *key, bool negative_ok)
{
    struct mf_amounts to = {0};
    const struct mnode *list = mf_map(r, map, key);
    const size_t mark = mf_into(r, ".%s", key);
    for (const struct mnode *c = mnode_first(list); c != NULL; c = c->next) {
        int64_t v;
        const size_t inner = mf_into(r, "[%.64s]", c->key);
        const uint32_t id = mf_resource(r, c);
        if (c->kind != MNODE_NULL && id != POLICY_NONE && read_quantity(r, c, NULL, c->key, &v)) {
            if (v < 0 && !negative_ok)
                mf_error(r, c, NULL, "Invalid value: \"%.60s\": must be greater than or equal to 0",
                         c->text);
            mf_amount_set(&r->m->mem, &to, id, v);
        }
        mf_out(r, inner);
    }
    mf_out(r, mark);
    return to;
}
