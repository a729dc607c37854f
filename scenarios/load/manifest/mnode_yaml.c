/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "scenarios/load/manifest/mnode.h"
#include "scenarios/load/yaml_extra.h"
#include "sim/check.h"

struct build {
    const char *name;
    struct arena *arena;
    struct diag_list *diags;
    struct mnode_list *list;
    struct mnode *stack[MNODE_DEPTH_MAX], *tail[MNODE_DEPTH_MAX];
    const char *key[MNODE_DEPTH_MAX];
    int depth;
    int64_t nodes;
    struct mnode *root;
    bool done;
};

static bool stop(struct build *b, const yaml_mark_t *mark, const char *text)
{
    diag_add(b->diags, DIAG_ERROR, b->name, (long)mark->line + 1, (long)mark->column + 1, NULL, "%s",
             text);
    return false;
}

/* Plain scalars as the YAML reader of the API machinery takes them (YAML 1.1 words). */
static enum mnode_kind kind_of(const char *text, bool plain)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off"};
    if (!plain)
        return MNODE_STRING;
    if (text[0] == '\0' || strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0)
        return MNODE_NULL;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(text, words[i]) == 0)
            return MNODE_BOOL;
    const char *c = text + (*text == '-' || *text == '+');
    const size_t digits = strspn(c, "0123456789");
    c += digits;
    const size_t rest = *c == '.' ? strspn(c + 1, "0123456789") : 0;
    c += *c == '.' ? rest + 1 : 0;
    if (digits + rest == 0)
        return MNODE_STRING;
    if (*c == 'e' || *c == 'E') {
        c++;
        c += *c == '-' || *c == '+';
        const size_t e = strspn(c, "0123456789");
        return e > 0 && c[e] == '\0' ? MNODE_NUMBER : MNODE_STRING;
    }
    return *c == '\0' ? MNODE_NUMBER : MNODE_STRING;
}

static bool has_key(const struct mnode *map, const char *key)
{
    for (const struct mnode *c = map->first; c != NULL; c = c->next)
        if (strcmp(c->key, key) == 0)
            return true;
    return false;
}

/* Hangs a node under the one on top of the stack; a scalar in a map may be the key. */
static bool attach(struct build *b, struct mnode *n, const yaml_mark_t *mark)
{
    n->line = (int32_t)mark->line + 1;
    n->column = (int32_t)mark->column + 1;
    if (++b->nodes > MNODE_NODES_MAX)
        return stop(b, mark, "more than 100000000 values");
    if (b->depth == 0) {
        b->root = n;
        return true;
    }
    struct mnode *parent = b->stack[b->depth - 1];
    const char **key = &b->key[b->depth - 1];
    if (parent->kind == MNODE_MAP) {
        if (*key == NULL) {
            if (n->kind == MNODE_MAP || n->kind == MNODE_LIST)
                return stop(b, mark, "a key must be plain text, not a list or a map");
            if (parent->count == MNODE_KEYS_MAX)
                return stop(b, mark, "more than 20000 keys in a map");
            if (has_key(parent, n->text))
                return stop(b, mark, "key stands twice in this map");
            *key = n->text;
            return true;
        }
        n->key = *key;
        *key = NULL;
    }
    mnode_hang(parent, &b->tail[b->depth - 1], n);
    return true;
}

static bool open_node(struct build *b, enum mnode_kind kind, const yaml_event_t *e)
{
    if (b->depth == MNODE_DEPTH_MAX)
        return stop(b, &e->start_mark, "nested deeper than 128 levels");
    struct mnode *n = mnode_new(b->arena, kind, "");
    if (!attach(b, n, &e->start_mark))
        return false;
    b->key[b->depth] = NULL;
    b->tail[b->depth] = NULL;
    b->stack[b->depth++] = n;
    return true;
}

static bool take_scalar(struct build *b, const yaml_event_t *e)
{
    const char *text = (const char *)e->data.scalar.value;
    const size_t length = e->data.scalar.length;
    if (strlen(text) != length)
        return stop(b, &e->start_mark, "a NUL character in a text");
    const bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    struct mnode *n =
        mnode_new(b->arena, kind_of(text, plain), arena_strndup(b->arena, text, length));
    return attach(b, n, &e->start_mark);
}

static bool refuse_extras(struct build *b, const yaml_event_t *e)
{
    const enum yaml_extra extra = yaml_extra_of(e);
    if (extra == YAML_EXTRA_ANCHOR)
        return stop(b, &e->start_mark, "anchors (&) and aliases (*) are not supported");
    if (extra == YAML_EXTRA_TAG)
        return stop(b, &e->start_mark, "tags (!) are not supported");
    return true;
}

static void end_document(struct build *b)
{
    struct mnode_list *l = b->list;
    if (b->root != NULL && b->root->kind != MNODE_NULL) {
        l->v = mem_grow(l->v, &l->capacity, l->count + 1, sizeof(struct mnode *));
        l->v[l->count++] = b->root;
    }
    b->root = NULL;
}

static bool take_event(struct build *b, const yaml_event_t *e)
{
    if (!refuse_extras(b, e))
        return false;
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return take_scalar(b, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(b, MNODE_LIST, e);
    case YAML_MAPPING_START_EVENT:
        return open_node(b, MNODE_MAP, e);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        REQUIRE(b->depth > 0);
        b->depth--;
        return true;
    case YAML_DOCUMENT_END_EVENT:
        end_document(b);
        return true;
    case YAML_STREAM_END_EVENT:
        b->done = true;
        return true;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_START_EVENT:
    case YAML_ALIAS_EVENT:
        return true;
    }
    return true;
}

bool mnode_read_yaml(struct mnode_list *list, const char *name, const char *text, size_t length,
                     struct arena *a, struct diag_list *diags)
{
    struct build b = {.name = name, .arena = a, .diags = diags, .list = list};
    yaml_parser_t parser;
    REQUIRE(yaml_parser_initialize(&parser));
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    bool ok = true;
    while (ok && !b.done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            diag_add(diags, DIAG_ERROR, name, (long)parser.problem_mark.line + 1,
                     (long)parser.problem_mark.column + 1, NULL, "not YAML: %s",
                     parser.problem == NULL ? "unreadable" : parser.problem);
            ok = false;
            break;
        }
        ok = take_event(&b, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return ok;
}
