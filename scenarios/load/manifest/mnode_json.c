/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/manifest/mnode.h"

static struct mnode *convert(const cJSON *v, struct arena *a, int depth, bool *deep)
{
    char number[32];
    if (depth > MNODE_DEPTH_MAX) {
        *deep = true;
        return mnode_new(a, MNODE_NULL, "");
    }
    if (cJSON_IsString(v))
        return mnode_new(a, MNODE_STRING, arena_strdup(a, v->valuestring));
    if (cJSON_IsBool(v))
        return mnode_new(a, MNODE_BOOL, cJSON_IsTrue(v) ? "true" : "false");
    if (cJSON_IsNumber(v)) {
        snprintf(number, sizeof number, "%.17g", v->valuedouble);
        return mnode_new(a, MNODE_NUMBER, arena_strdup(a, number));
    }
    if (!cJSON_IsObject(v) && !cJSON_IsArray(v))
        return mnode_new(a, MNODE_NULL, "");
    struct mnode *n = mnode_new(a, cJSON_IsObject(v) ? MNODE_MAP : MNODE_LIST, ""), *tail = NULL;
    for (const cJSON *c = v->child; c != NULL; c = c->next) {
        struct mnode *child = convert(c, a, depth + 1, deep);
        child->key = n->kind == MNODE_MAP ? arena_strdup(a, c->string) : NULL;
        mnode_hang(n, &tail, child);
    }
    return n;
}

struct mnode *mnode_from_cjson(const cJSON *value, struct arena *a)
{
    bool deep = false;
    struct mnode *n = convert(value, a, 0, &deep);
    return deep ? NULL : n;
}

/* ---- where the values stand ---- */

/* Goes along the text that a tree was made of; cJSON keeps neither places nor digits. */
struct walk {
    const char *at, *end, *line_start;
    int32_t line;
    struct arena *arena;
    const char *nul; /* a NUL that an escape writes, which would end its text early */
};

static void skip_blanks(struct walk *w)
{
    for (; w->at < w->end && (unsigned char)*w->at <= ' '; w->at++)
        if (*w->at == '\n') {
            w->line++;
            w->line_start = w->at + 1;
        }
}

static void skip_text(struct walk *w)
{
    for (w->at++; w->at < w->end && *w->at != '"'; w->at++) {
        if (*w->at != '\\')
            continue;
        if (w->nul == NULL && strncmp(w->at, "\\u0000", 6) == 0)
            w->nul = w->at;
        w->at++;
    }
    w->at++;
}

static void skip_sign(struct walk *w, char sign)
{
    skip_blanks(w);
    if (w->at < w->end && *w->at == sign)
        w->at++;
}

static void place(struct walk *w, struct mnode *n)
{
    skip_blanks(w);
    n->line = w->line;
    n->column = (int32_t)(w->at - w->line_start) + 1;
    if (n->kind == MNODE_STRING) {
        skip_text(w);
    } else if (n->kind == MNODE_MAP || n->kind == MNODE_LIST) {
        w->at++;
        for (struct mnode *c = n->first; c != NULL; c = c->next) {
            skip_blanks(w);
            if (n->kind == MNODE_MAP) {
                skip_text(w);
                skip_sign(w, ':');
            }
            place(w, c);
            skip_sign(w, ',');
        }
        skip_sign(w, n->kind == MNODE_MAP ? '}' : ']');
    } else {
        const char *from = w->at;
        w->at += strspn(w->at, n->kind == MNODE_NUMBER ? "+-.0123456789eE" : "aeflnrstu");
        if (n->kind == MNODE_NUMBER) /* with all its digits */
            n->text = arena_strndup(w->arena, from, (size_t)(w->at - from));
    }
}

static void place_of(const char *text, const char *at, long *line, long *column)
{
    *line = 1;
    *column = 1;
    for (; text < at && *text != '\0'; text++) {
        *column = *text == '\n' ? 1 : *column + 1;
        *line += *text == '\n';
    }
}

static bool fail(const char *name, const char *text, const char *at, const char *what,
                 struct diag_list *diags)
{
    long line, column;
    place_of(text, at, &line, &column);
    diag_add(diags, DIAG_ERROR, name, line, column, NULL, "%s", what);
    return false;
}

/* Brackets or a text still open at the end: somebody cut the file. */
static bool is_cut(const char *text, const char *end)
{
    int64_t depth = 0;
    bool in_text = false;
    for (; text < end; text++) {
        if (in_text && *text == '\\' && text + 1 < end)
            text++;
        else if (*text == '"')
            in_text = !in_text;
        else if (!in_text)
            depth += (*text == '{' || *text == '[') - (*text == '}' || *text == ']');
    }
    return in_text || depth > 0;
}

/* cJSON keeps where it stopped in a global for callers that ask with NULL; ours does not. */
bool mnode_read_json(struct mnode_list *list, const char *name, const char *text, size_t length,
                     struct arena *a, struct diag_list *diags)
{
    const char *at = text, *end = text + length;
    struct walk w = {.end = end, .line_start = text, .line = 1, .arena = a, .at = text};
    for (at += strspn(at, " \t\r\n"); at < end; at += strspn(at, " \t\r\n")) {
        const char *stop = at;
        cJSON *v = cJSON_ParseWithLengthOpts(at, (size_t)(end - at), &stop, false);
        if (v == NULL)
            return is_cut(at, end) ? fail(name, text, end, "the JSON ends too early; is the file truncated?", diags)
                                   : fail(name, text, stop < end ? stop : end, "not JSON", diags);
        struct mnode *n = mnode_from_cjson(v, a);
        cJSON_Delete(v);
        if (n == NULL)
            return fail(name, text, at, "nested deeper than 128 levels", diags);
        place(&w, n);
        if (w.nul != NULL)
            return fail(name, text, w.nul, "a NUL character in a text", diags);
        if (n->kind != MNODE_NULL) {
            list->v = mem_grow(list->v, &list->capacity, list->count + 1, sizeof(struct mnode *));
            list->v[list->count++] = n;
        }
        at = w.at = stop;
    }
    return true;
}
