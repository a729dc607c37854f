/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A YAML document as a small tree of scalars, maps and lists with the place of every node, read
 * through libyaml's events. Deliberately less than YAML: one document; no anchors, aliases or
 * tags (the classic blow-up); no duplicate keys (libyaml accepts them silently); keys are plain
 * scalars; explicit limits on size, depth and number of nodes. A UTF-8 byte order mark and CRLF
 * are fine, other encodings and control bytes are not. Scalars stay text: the reader of a field
 * decides what it is.
 *
 * Nodes live in an arena; nothing is freed one by one. Overlays and repeats edit the tree.
 */
#ifndef SCENARIOS_LOAD_YTREE_H
#define SCENARIOS_LOAD_YTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/arena.h"
#include "sim/diag.h"

enum {
    YTREE_BYTES_MAX = 8 << 20,
    YTREE_DEPTH_MAX = 24,
    YTREE_KEYS_MAX = 4096,
    YTREE_NODES_MAX = 1000000 /* after repeats */
};

/* Where text came from: a file, or one --set argument (then it has no lines to show). */
struct ysource {
    const char *name; /* file path, or "--set key=value" */
    const char *text;
    size_t length;
    bool is_argument;
    bool is_objects; /* Kubernetes objects that were read elsewhere: no text to show */
};

struct yplace {
    const struct ysource *source;
    int32_t line, column; /* 1-based; column in bytes */
};

enum ynode_kind { YNODE_SCALAR, YNODE_MAP, YNODE_LIST };

struct ynode {
    enum ynode_kind kind;
    struct yplace place;
    const char *text;      /* scalar; "" when nothing is written */
    bool quoted;           /* scalar in quotes or a block scalar */
    int32_t count;         /* map, list */
    size_t capacity;
    struct ynode **items;  /* map values or list items */
    const char **keys;     /* map */
    struct yplace *key_places;
};

/* Reads the file into arena memory. False and a problem when it is missing, a directory, empty,
 * too large, binary or not UTF-8. The text is NUL-terminated and has no byte order mark. */
bool ysource_read(struct ysource *out, const char *path, struct arena *a, struct diag_list *diags);

/* The same checks for text in memory; name is for messages. Both are copied. */
bool ysource_text(struct ysource *out, const char *name, const char *text, size_t length,
                  struct arena *a, struct diag_list *diags);

/* The document, or NULL after problems were added. */
struct ynode *ytree_parse(const struct ysource *source, struct arena *a, struct diag_list *diags);

struct ynode *ynode_new(struct arena *a, enum ynode_kind kind, struct yplace place);
struct ynode *ynode_scalar(struct arena *a, const char *text, struct yplace place);
void ynode_add(struct arena *a, struct ynode *parent, const char *key, struct yplace key_place,
               struct ynode *item);
/* Value of key, or NULL; map must be a map or NULL. */
struct ynode *ynode_get(const struct ynode *map, const char *key);
int32_t ynode_find(const struct ynode *map, const char *key); /* position or -1 */
struct ynode *ynode_copy(struct arena *a, const struct ynode *n);
int32_t ynode_size(const struct ynode *n); /* nodes, itself included */
bool ynode_is_nothing(const struct ynode *n); /* plain and empty, ~ or null */
const char *ynode_what(const struct ynode *n, char buffer[64]); /* "'text'", "a list", "a map", "nothing" */

/* Adds a problem at a place: source line and caret come from the source. */
void yplace_report(const struct yplace *place, enum diag_severity severity, struct diag_list *diags,
                   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The tree as YAML in block style; in arena memory. Reads back to an equal tree. */
const char *ytree_text(struct arena *a, const struct ynode *root);

#endif
