/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/shape.h"

#include <stdlib.h>
#include <string.h>

#include "models/policies/kueue/select.h"
#include "sim/fnv.h"

/* ---- canonical form ---- */

struct bytes {
    char *v;
    size_t count, capacity;
};

static void put(struct bytes *b, const void *data, size_t n)
{
    b->v = mem_grow(b->v, &b->capacity, b->count + n + 1, 1);
    memcpy(b->v + b->count, data, n);
    b->count += n;
}

static void put_text(struct bytes *b, const char *s)
{
    put(b, s != NULL ? s : "", s != NULL ? strlen(s) + 1 : 1);
}

static void put_int(struct bytes *b, int64_t v)
{
    put(b, &v, sizeof v);
}

static void put_selector(struct bytes *b, const struct policy_selector *s)
{
    put_int(b, s->expr_count);
    for (uint32_t e = 0; e < s->expr_count; e++) {
        put_text(b, s->exprs[e].key);
        put_int(b, s->exprs[e].op);
        put_int(b, s->exprs[e].value_count);
        for (uint32_t v = 0; v < s->exprs[e].value_count; v++)
            put_text(b, s->exprs[e].values[v]);
    }
}

static void put_where(struct bytes *b, const struct policy_pod_set *p)
{
    put_int(b, p->node_selector_count);
    for (uint32_t i = 0; i < p->node_selector_count; i++) {
        put_text(b, p->node_selector[i].key);
        put_text(b, p->node_selector[i].value);
    }
    put_int(b, p->affinity_term_count);
    for (uint32_t i = 0; i < p->affinity_term_count; i++)
        put_selector(b, &p->affinity_terms[i]);
    put_int(b, p->toleration_count);
    for (uint32_t i = 0; i < p->toleration_count; i++) {
        put_text(b, p->tolerations[i].key);
        put_text(b, p->tolerations[i].value);
        put_int(b, p->tolerations[i].effect);
        put_int(b, p->tolerations[i].exists);
    }
}

static void put_set(struct bytes *b, const struct policy_pod_set *p)
{
    put_text(b, p->name);
    put_int(b, p->count);
    put_int(b, p->min_count);
    put_int(b, p->request_count);
    for (uint32_t i = 0; i < p->request_count; i++) {
        put_int(b, p->requests[i].resource);
        put_int(b, p->requests[i].amount);
    }
    put_where(b, p);
    put_int(b, p->topology.mode);
    put_text(b, p->topology.level);
    put_int(b, p->topology.group != NULL);
    put_text(b, p->topology.group);
    put_int(b, p->topology.slice_count);
    for (uint32_t i = 0; i < p->topology.slice_count; i++) {
        put_text(b, p->topology.slices[i].level);
        put_int(b, p->topology.slices[i].size);
    }
}

/* ---- registration ---- */

static void copy_set(struct arena *mem, struct policy_pod_set *to)
{
    to->name = arena_strdup(mem, to->name);
    struct policy_amount *r = arena_alloc(mem, to->request_count, sizeof *r);
    for (uint32_t i = 0; i < to->request_count; i++)
        r[i] = to->requests[i];
    to->requests = r;
    to->node_selector = kq_copy_labels(mem, to->node_selector, to->node_selector_count);
    to->affinity_terms = kq_copy_selectors(mem, to->affinity_terms, to->affinity_term_count);
    to->tolerations = kq_copy_tolerations(mem, to->tolerations, to->toleration_count);
    struct policy_topology_request *t = &to->topology;
    t->level = t->level != NULL ? arena_strdup(mem, t->level) : NULL;
    t->group = t->group != NULL ? arena_strdup(mem, t->group) : NULL;
    for (uint32_t i = 0; i < t->slice_count; i++)
        t->slices[i].level = arena_strdup(mem, t->slices[i].level);
}

/* Cells: one for each request of each pod set, and one for the implicit "pods". */
static void lay_out_cells(const struct kq *k, struct kq_shape *s)
{
    uint32_t cells = 0;
    for (uint32_t i = 0; i < s->set_count; i++)
        cells += s->sets[i].request_count + 1;
    s->cell_count = cells;
    s->cell_base = arena_alloc(&s->mem, s->set_count, sizeof *s->cell_base);
    s->pods_cell = arena_alloc(&s->mem, s->set_count, sizeof *s->pods_cell);
    s->cell_resource = arena_alloc(&s->mem, cells, sizeof *s->cell_resource);
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->set_count; i++) {
        s->cell_base[i] = at;
        s->pods_cell[i] = at + s->sets[i].request_count;
        for (uint32_t r = 0; r < s->sets[i].request_count; r++, at++) {
            s->cell_resource[at] = s->sets[i].requests[r].resource;
            if (s->cell_resource[at] == k->pods_resource)
                s->pods_cell[i] = at;
        }
        s->cell_resource[at++] = POLICY_NONE;
    }
}

static struct kq_shape *new_shape(const struct kq *k, const struct policy_shape *from)
{
    struct kq_shape *s = mem_zalloc(1, sizeof *s);
    s->set_count = from->pod_set_count;
    s->sets = arena_alloc(&s->mem, s->set_count, sizeof *s->sets);
    for (uint32_t i = 0; i < s->set_count; i++) {
        struct policy_pod_set *p = &s->sets[i];
        *p = from->pod_sets[i];
        copy_set(&s->mem, p);
        s->reducible |= p->min_count != POLICY_NIL && p->min_count < p->count;
        s->topology |= p->topology.mode != POLICY_TOPOLOGY_NONE;
    }
    lay_out_cells(k, s);
    return s;
}

uint32_t kq_shape_register(struct kq *k, const struct policy_shape *shape)
{
    struct bytes b = {0};
    for (uint32_t i = 0; i < shape->pod_set_count; i++)
        put_set(&b, &shape->pod_sets[i]);
    uint64_t key = fnv_add(FNV_START, b.v, b.count);
    uint32_t id;
    /* Equal hashes of different shapes move on to the next key. */
    while ((id = kq_map_get(&k->shape_map, key)) != POLICY_NONE) {
        const struct kq_shape *s = k->shapes[id];
        if (s->byte_count == b.count && (b.count == 0 || memcmp(s->bytes, b.v, b.count) == 0)) {
            free(b.v);
            return id;
        }
        key++;
    }
    struct kq_shape *s = new_shape(k, shape);
    s->hash = key;
    s->bytes = b.v;
    s->byte_count = b.count;
    k->shapes = mem_grow(k->shapes, &k->shape_capacity, k->shape_count + 1, sizeof(struct kq_shape *));
    k->shapes[k->shape_count] = s;
    kq_map_put(&k->shape_map, key, (uint32_t)k->shape_count);
    return (uint32_t)k->shape_count++;
}

void kq_shapes_fini(struct kq *k)
{
    for (size_t i = 0; i < k->shape_count; i++) {
        arena_fini(&k->shapes[i]->mem);
        free(k->shapes[i]->bytes);
        free(k->shapes[i]);
    }
    free(k->shapes);
    kq_map_fini(&k->shape_map);
}
