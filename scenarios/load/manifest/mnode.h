/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One node type for Kubernetes objects, whether they were written as YAML or as JSON. YAML is read
 * through libyaml, any number of documents; JSON through cJSON, any number of values one after the
 * other. Scalars stay text (a JSON number as it was written by cJSON), so that a quantity keeps its
 * digits. Anchors, aliases and tags are refused, and so are duplicate keys of YAML maps; of a JSON
 * object that names a key twice the last one counts, as for the API server.
 *
 * Nodes live in an arena.
 */
#ifndef SCENARIOS_LOAD_MANIFEST_MNODE_H
#define SCENARIOS_LOAD_MANIFEST_MNODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "sim/arena.h"
#include "sim/diag.h"

enum { MNODE_DEPTH_MAX = 128, MNODE_KEYS_MAX = 20000, MNODE_NODES_MAX = 100000000 };

enum mnode_kind { MNODE_NULL, MNODE_BOOL, MNODE_NUMBER, MNODE_STRING, MNODE_MAP, MNODE_LIST };

struct mnode {
    enum mnode_kind kind;
    int32_t line, column; /* 1-based; 0: not known (made of cJSON values) */
    const char *text;     /* of a scalar, as written; never NULL */
    const char *key;      /* in a map; NULL otherwise */
    struct mnode *first, *next; /* children in order */
    uint32_t count;
};

struct mnode_list { /* the documents of one file */
    struct mnode **v;
    size_t count, capacity;
};

/* Appends the documents of text (NUL-terminated, length bytes) to list; empty documents are left
 * out. False after a problem was added. `name` is the file of messages. The first character that is
 * not blank tells JSON ({ or [) from YAML. */
bool mnode_read(struct mnode_list *list, const char *name, const char *text, size_t length,
                struct arena *a, struct diag_list *diags);

bool mnode_read_yaml(struct mnode_list *list, const char *name, const char *text, size_t length,
                     struct arena *a, struct diag_list *diags);
bool mnode_read_json(struct mnode_list *list, const char *name, const char *text, size_t length,
                     struct arena *a, struct diag_list *diags);

/* A cJSON value as a node; texts are copied. NULL when it is nested too deeply. */
struct mnode *mnode_from_cjson(const cJSON *value, struct arena *a);

/* Member of a map; NULL when it is missing or null, or n is no map (or NULL). */
const struct mnode *mnode_get(const struct mnode *n, const char *key);
/* The same along "a.b.c". */
const struct mnode *mnode_at(const struct mnode *n, const char *dotted);
/* Text of a scalar member; `otherwise` when missing, null, a map or a list. */
const char *mnode_text(const struct mnode *n, const char *key, const char *otherwise);

/* For list or map children: for (c = mnode_first(n); c != NULL; c = c->next). */
static inline const struct mnode *mnode_first(const struct mnode *n)
{
    return n == NULL || (n->kind != MNODE_MAP && n->kind != MNODE_LIST) ? NULL : n->first;
}
static inline uint32_t mnode_count(const struct mnode *n)
{
    return n == NULL || (n->kind != MNODE_MAP && n->kind != MNODE_LIST) ? 0 : n->count;
}

/* Used by the readers: a new node, hung behind the last child `*tail` of parent. */
struct mnode *mnode_new(struct arena *a, enum mnode_kind kind, const char *text);
void mnode_hang(struct mnode *parent, struct mnode **tail, struct mnode *child);

#endif
