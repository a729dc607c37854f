/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The objects as they were read, found again by kind and name. */
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/manifest/manifest_priv.h"

void mf_keep_object(struct mf *r, const struct mnode *o)
{
    r->objects = mem_grow(r->objects, &r->object_capacity, r->object_count + 1, sizeof *r->objects);
    r->objects[r->object_count++] = (struct manifest_object){.kind = r->kind,
                                                             .name_space = r->name_space == NULL ? "" : r->name_space,
                                                             .name = r->name, .file = r->file, .node = o};
}

static int by_name(const void *a, const void *b)
{
    const struct manifest_object *x = a, *y = b;
    const int kind = strcmp(x->kind, y->kind), space = kind != 0 ? kind : strcmp(x->name_space, y->name_space);
    return space != 0 ? space : strcmp(x->name, y->name);
}

void mf_hand_over_objects(struct mf *r)
{
    struct manifest *m = r->m;
    m->objects = r->objects;
    m->object_count = (uint32_t)r->object_count;
    m->tree = r->tree;
    r->objects = NULL;
    r->tree = (struct arena){0};
    if (m->object_count > 0)
        qsort(m->objects, m->object_count, sizeof *m->objects, by_name);
}

const struct manifest_object *manifest_find(const struct manifest *m, const char *kind, const char *name_space,
                                            const char *name)
{
    const struct manifest_object key = {.kind = kind, .name_space = name_space == NULL ? "" : name_space, .name = name};
    if (m->object_count == 0)
        return NULL;
    return bsearch(&key, m->objects, m->object_count, sizeof *m->objects, by_name);
}
