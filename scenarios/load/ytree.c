/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/ytree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "scenarios/load/yaml_extra.h"
#include "sim/check.h"

struct ynode *ynode_new(struct arena *a, enum ynode_kind kind, struct yplace place)
{
    struct ynode *n = arena_alloc(a, 1, sizeof *n);
    n->kind = kind;
    n->place = place;
    n->text = "";
    return n;
}

struct ynode *ynode_scalar(struct arena *a, const char *text, struct yplace place)
{
    struct ynode *n = ynode_new(a, YNODE_SCALAR, place);
    n->text = arena_strdup(a, text);
    return n;
}

/* Arena memory cannot be resized: a full array moves to one of twice the size. */
static void *grow(struct arena *a, const void *old, int32_t count, size_t capacity, size_t size)
{
    void *p = arena_alloc(a, capacity, size);
    if (count > 0)
        memcpy(p, old, (size_t)count * size);
    return p;
}

void ynode_add(struct arena *a, struct ynode *parent, const char *key, struct yplace key_place,
               struct ynode *item)
{
    if ((size_t)parent->count == parent->capacity) {
        parent->capacity = parent->capacity == 0 ? 8 : 2 * parent->capacity;
        parent->items = grow(a, parent->items, parent->count, parent->capacity,
                             sizeof *parent->items);
        if (parent->kind == YNODE_MAP) {
            parent->keys = grow(a, parent->keys, parent->count, parent->capacity,
                                sizeof *parent->keys);
            parent->key_places =
                grow(a, parent->key_places, parent->count, parent->capacity,
                     sizeof *parent->key_places);
        }
    }
    if (parent->kind == YNODE_MAP) {
        parent->keys[parent->count] = arena_strdup(a, key);
        parent->key_places[parent->count] = key_place;
    }
    parent->items[parent->count++] = item;
}

int32_t ynode_find(const struct ynode *map, const char *key)
{
    if (map != NULL && map->kind == YNODE_MAP)
        for (int32_t i = 0; i < map->count; i++)
            if (strcmp(map->keys[i], key) == 0)
                return i;
    return -1;
}

struct ynode *ynode_get(const struct ynode *map, const char *key)
{
    int32_t i = ynode_find(map, key);
    return i < 0 ? NULL : map->items[i];
}

struct ynode *ynode_copy(struct arena *a, const struct ynode *n)
{
    struct ynode *c = ynode_new(a, n->kind, n->place);
    c->text = n->text;
    c->quoted = n->quoted;
    for (int32_t i = 0; i < n->count; i++)
        ynode_add(a, c, n->kind == YNODE_MAP ? n->keys[i] : NULL,
                  n->kind == YNODE_MAP ? n->key_places[i] : n->place, ynode_copy(a, n->items[i]));
    return c;
}

int32_t ynode_size(const struct ynode *n)
{
    int32_t size = 1;
    for (int32_t i = 0; i < n->count; i++)
        size += ynode_size(n->items[i]);
    return size;
}

bool ynode_is_nothing(const struct ynode *n)
{
    return n->kind == YNODE_SCALAR && !n->quoted &&
           (n->text[0] == '\0' || strcmp(n->text, "~") == 0 || strcmp(n->text, "null") == 0);
}

const char *ynode_what(const struct ynode *n, char buffer[64])
{
    if (n->kind != YNODE_SCALAR)
        return n->kind == YNODE_MAP ? "a map" : "a list";
    if (ynode_is_nothing(n))
        return "nothing";
    size_t cut = strcspn(n->text, "\n");
    bool whole = cut <= 40 && n->text[cut] == '\0';
    /* Cut before a UTF-8 sequence, not inside it. */
    size_t show = cut <= 40 ? cut : 40;
    while (show < cut && ((unsigned char)n->text[show] & 0xc0) == 0x80)
        show--;
    snprintf(buffer, 64, "'%.*s%s'", (int)show, n->text, whole ? "" : "...");
    return buffer;
}

/* ---- parsing ---- */

struct position {
    size_t line, column, byte, line_start; /* zero-based; column in characters */
};

struct build {
    const struct ysource *source;
    struct arena *arena;
    struct diag_list *diags;
    struct ynode *stack[YTREE_DEPTH_MAX];
    const char *key[YTREE_DEPTH_MAX]; /* of the map at this depth, waiting for its value */
    struct yplace key_place[YTREE_DEPTH_MAX];
    int32_t depth, nodes;
    struct ynode *root;
    struct position at;
    bool done;
};

/* libyaml counts characters; places count bytes of the line. Marks mostly ascend, so the search goes
 * on from the last one: a file is walked once, not once per node. */
static struct yplace place_of(struct build *b, const yaml_mark_t *mark)
{
    if (mark->line < b->at.line || (mark->line == b->at.line && mark->column < b->at.column))
        b->at = (struct position){0};
    struct position *at = &b->at;
    const char *text = b->source->text;
    while (at->line < mark->line && text[at->byte] != '\0') {
        if (text[at->byte++] != '\n')
            continue;
        at->line++;
        at->column = 0;
        at->line_start = at->byte;
    }
    while (at->line == mark->line && at->column < mark->column && text[at->byte] != '\0') {
        for (at->byte++; ((unsigned char)text[at->byte] & 0xc0) == 0x80;)
            at->byte++;
        at->column++;
    }
    return (struct yplace){b->source, (int32_t)mark->line + 1,
                           (int32_t)(at->byte - at->line_start) + 1};
}

static bool stop(struct build *b, struct yplace place, const char *text)
{
    yplace_report(&place, DIAG_ERROR, b->diags, "%s", text);
    return false;
}

static bool take_key(struct build *b, const struct ynode *n)
{
    int32_t top = b->depth - 1;
    if (n->kind != YNODE_SCALAR)
        return stop(b, n->place, "a key must be plain text, not a list or a map");
    int32_t before = ynode_find(b->stack[top], n->text);
    if (before >= 0) {
        struct yplace first = b->stack[top]->key_places[before];
        yplace_report(&n->place, DIAG_ERROR, b->diags,
                      "key '%.60s' stands twice in this map; first in line %d",
                      n->text, (int)first.line);
    }
    b->key[top] = n->text;
    b->key_place[top] = n->place;
    return true;
}

/* Hangs a finished or opened node under the node on top of the stack. */
static bool attach(struct build *b, struct ynode *n)
{
    if (++b->nodes > YTREE_NODES_MAX / 4)
        return stop(b, n->place, "more than 250000 values, the limit of a scenario");
    if (b->depth == 0) {
        b->root = n;
        return true;
    }
    struct ynode *parent = b->stack[b->depth - 1];
    const char **key = &b->key[b->depth - 1];
    if (parent->kind == YNODE_MAP && *key == NULL)
        return take_key(b, n);
    if (parent->kind == YNODE_MAP && parent->count == YTREE_KEYS_MAX)
        return stop(b, n->place, "more than 4096 keys in a map, the limit of a scenario");
    bool twice = parent->kind == YNODE_MAP && ynode_find(parent, *key) >= 0;
    if (!twice)
        ynode_add(b->arena, parent, *key, b->key_place[b->depth - 1], n);
    *key = NULL;
    return true;
}

static bool open_node(struct build *b, enum ynode_kind kind, const yaml_event_t *e)
{
    struct ynode *n = ynode_new(b->arena, kind, place_of(b, &e->start_mark));
    if (b->depth == YTREE_DEPTH_MAX)
        return stop(b, n->place, "nested deeper than 24 levels, the limit of a scenario");
    if (b->depth > 0 && b->stack[b->depth - 1]->kind == YNODE_MAP && b->key[b->depth - 1] == NULL)
        return stop(b, n->place, "a key must be plain text, not a list or a map");
    if (!attach(b, n))
        return false;
    b->key[b->depth] = NULL;
    b->stack[b->depth++] = n;
    return true;
}

static bool take_scalar(struct build *b, const yaml_event_t *e)
{
    struct ynode *n = ynode_new(b->arena, YNODE_SCALAR, place_of(b, &e->start_mark));
    const char *text = (const char *)e->data.scalar.value;
    n->text = arena_strndup(b->arena, text, e->data.scalar.length);
    n->quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (strlen(n->text) != e->data.scalar.length)
        return stop(b, n->place, "a NUL character in a text");
    return attach(b, n);
}

/* Anchors and tags are refused wherever they stand. */
static bool refuse_extras(struct build *b, const yaml_event_t *e)
{
    struct yplace place = place_of(b, &e->start_mark);
    const enum yaml_extra extra = yaml_extra_of(e);
    if (extra == YAML_EXTRA_ANCHOR)
        return stop(b, place,
                    "anchors (&) and aliases (*) are not supported; use repeat: for copies");
    if (extra == YAML_EXTRA_TAG)
        return stop(b, place, "tags (!) are not supported");
    return true;
}

static bool take_event(struct build *b, const yaml_event_t *e)
{
    if (!refuse_extras(b, e))
        return false;
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        return b->root == NULL || stop(b, place_of(b, &e->start_mark),
                                       "a second document; a scenario is one document");
    case YAML_SCALAR_EVENT:
        return take_scalar(b, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(b, YNODE_LIST, e);
    case YAML_MAPPING_START_EVENT:
        return open_node(b, YNODE_MAP, e);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        REQUIRE(b->depth > 0);
        b->depth--;
        return true;
    case YAML_STREAM_END_EVENT:
        b->done = true;
        return true;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_ALIAS_EVENT:
        return true;
    }
    return true;
}

static bool syntax_error(struct build *b, const yaml_parser_t *p)
{
    struct yplace place = place_of(b, &p->problem_mark);
    if (p->context != NULL && b->source->is_argument)
        yplace_report(&place, DIAG_ERROR, b->diags, "not YAML: %s %s", p->problem, p->context);
    else if (p->context != NULL)
        yplace_report(&place, DIAG_ERROR, b->diags, "not YAML: %s %s (line %ld)", p->problem,
                      p->context,
                      (long)p->context_mark.line + 1);
    else
        yplace_report(&place, DIAG_ERROR, b->diags, "not YAML: %s",
                      p->problem == NULL ? "unreadable" : p->problem);
    return false;
}

struct ynode *ytree_parse(const struct ysource *source, struct arena *a, struct diag_list *diags)
{
    struct build b = {.source = source, .arena = a, .diags = diags};
    size_t errors = diags->error_count;
    yaml_parser_t parser;
    REQUIRE(yaml_parser_initialize(&parser));
    yaml_parser_set_input_string(&parser, (const unsigned char *)source->text, source->length);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    bool ok = true;
    while (ok && !b.done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            ok = syntax_error(&b, &parser);
            break;
        }
        ok = take_event(&b, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (ok && b.root == NULL)
        ok = stop(&b, (struct yplace){source, 1, 1}, "expected a scenario, got nothing");
    return ok && diags->error_count == errors ? b.root : NULL;
}

/* ---- back to text ---- */

struct writer {
    char *text;
    size_t length, capacity;
};

static void put(struct writer *w, const char *s, size_t n)
{
    w->text = mem_grow(w->text, &w->capacity, w->length + n + 1, 1);
    memcpy(w->text + w->length, s, n);
    w->length += n;
    w->text[w->length] = '\0';
}

static void put_str(struct writer *w, const char *s)
{
    put(w, s, strlen(s));
}

static void put_indent(struct writer *w, int32_t depth)
{
    for (int32_t i = 0; i < depth; i++)
        put_str(w, "  ");
}

/* What YAML takes for a line break or refuses though it is UTF-8; bytes, 0 when the character can stand as it is. */
static size_t put_escaped(struct writer *w, const char *s)
{
    char code[8];
    const unsigned char *u = (const unsigned char *)s;
    const bool c1 = u[0] == 0xc2 && u[1] >= 0x80 && u[1] < 0xa0;
    if (u[0] < ' ' || u[0] == 0x7f || c1) {
        (void)snprintf(code, sizeof code, "\\x%02x", (unsigned)(c1 ? u[1] : u[0]));
        put_str(w, code);
        return c1 ? 2 : 1;
    }
    const bool line = strncmp(s, "\xe2\x80\xa8", 3) == 0, paragraph = strncmp(s, "\xe2\x80\xa9", 3) == 0;
    if (!line && !paragraph && strncmp(s, "\xef\xbb\xbf", 3) != 0)
        return 0;
    put_str(w, line ? "\\L" : paragraph ? "\\P" : "\\ufeff");
    return 3;
}

static void put_quoted(struct writer *w, const char *s)
{
    put_str(w, "\"");
    for (size_t escaped; *s != '\0'; s++) {
        if (*s == '"' || *s == '\\')
            put(w, "\\", 1);
        if (*s == '\n')
            put_str(w, "\\n");
        else if (*s == '\t')
            put_str(w, "\\t");
        else if (*s == '\r')
            put_str(w, "\\r");
        else if ((escaped = put_escaped(w, s)) > 0)
            s += escaped - 1;
        else
            put(w, s, 1);
    }
    put_str(w, "\"");
}

/* Plain text that YAML reads back as the same plain text, wherever it stands. */
static bool is_plain_safe(const char *s)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-()";
    return s[0] != '\0' && strcmp(s, "-") != 0 && strncmp(s, "---", 3) != 0 && strncmp(s, "...",
                                                                                       3) != 0 &&
           strspn(s, safe) == strlen(s);
}

static void put_scalar(struct writer *w, const char *text, bool quoted)
{
    if (!quoted && text[0] == '\0')
        put_str(w, "~");
    else if (quoted || !is_plain_safe(text))
        put_quoted(w, text);
    else
        put_str(w, text);
}

static void put_node(struct writer *w, const struct ynode *n, int32_t depth)
{
    if (n->kind == YNODE_SCALAR || n->count == 0) {
        put_str(w, " ");
        if (n->kind == YNODE_SCALAR)
            put_scalar(w, n->text, n->quoted);
        else
            put_str(w, n->kind == YNODE_MAP ? "{}" : "[]");
        put_str(w, "\n");
        return;
    }
    put_str(w, depth == 0 ? "" : "\n");
    for (int32_t i = 0; i < n->count; i++) {
        put_indent(w, depth);
        if (n->kind == YNODE_MAP) {
            put_scalar(w, n->keys[i], false);
            put_str(w, ":");
        } else {
            put_str(w, "-");
        }
        put_node(w, n->items[i], depth + 1);
    }
}

const char *ytree_text(struct arena *a, const struct ynode *root)
{
    struct writer w = {0};
    put_str(&w, "");
    put_node(&w, root, 0);
    char *text = arena_strndup(a, w.text, w.length);
    free(w.text);
    return text;
}
