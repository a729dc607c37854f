/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/topology.h"

#include <stdlib.h>
#include <string.h>

#include "models/policies/kueue/select.h"

static const char hostname_label[] = "kubernetes.io/hostname";

struct member { /* a node of the flavor, while domains are built */
    const char **values;
    uint32_t node, levels;
};

void kq_topo_destroy(struct kq_topo *t)
{
    if (t == NULL)
        return;
    arena_fini(&t->mem);
    free(t);
}

uint32_t kq_topo_level(const struct kq_topo *t, const char *name)
{
    for (uint32_t i = 0; i < t->level_count; i++)
        if (strcmp(t->levels[i], name) == 0)
            return i;
    return POLICY_NONE;
}

static bool has_level(const struct policy_topology *t, const char *name)
{
    for (uint32_t i = 0; i < t->level_count; i++)
        if (strcmp(t->levels[i], name) == 0)
            return true;
    return false;
}

bool kq_topo_has_levels(const struct kq *k, uint32_t topology,
                        const struct policy_topology_request *r)
{
    if (topology >= k->topology_count || !k->topologies[topology].exists)
        return false;
    const struct policy_topology *t = &k->topologies[topology].spec;
    const bool by_level =
        r->mode == POLICY_TOPOLOGY_REQUIRED || r->mode == POLICY_TOPOLOGY_PREFERRED;
    if (by_level && !has_level(t, r->level))
        return false;
    for (uint32_t i = 0; i < r->slice_count; i++)
        if (!has_level(t, r->slices[i].level))
            return false;
    return true;
}

static bool belongs(const struct policy_node *n, const struct policy_flavor *f,
                    const struct policy_topology *t)
{
    if (!n->ready || n->unschedulable)
        return false;
    for (uint32_t i = 0; i < f->label_count; i++) {
        const char *v = kq_label(n->labels, n->label_count, f->labels[i].key);
        if (v == NULL || strcmp(v, f->labels[i].value) != 0)
            return false;
    }
    for (uint32_t i = 0; i < t->level_count; i++)
        if (kq_label(n->labels, n->label_count, t->levels[i]) == NULL)
            return false;
    return true;
}

static int compare_values(const char *const *a, const char *const *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const int c = strcmp(a[i], b[i]);
        if (c != 0)
            return c;
    }
    return 0;
}

static int by_values(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    const int c = compare_values(x->values, y->values, x->levels);
    return c != 0 ? c : (x->node > y->node) - (x->node < y->node);
}

static struct member *members(struct kq *k, struct kq_topo *t, const struct policy_flavor *f,
                              const struct policy_topology *spec, uint32_t *count)
{
    struct member *m = arena_alloc(&t->mem, k->node_count, sizeof *m);
    *count = 0;
    for (uint32_t n = 0; n < k->node_count; n++) {
        const struct policy_node *node = &k->nodes[n].spec;
        if (!k->nodes[n].exists || !belongs(node, f, spec))
            continue;
        const char **values = arena_alloc(&t->mem, spec->level_count, sizeof *values);
        for (uint32_t i = 0; i < spec->level_count; i++)
            values[i] = arena_strdup(&t->mem,
                                     kq_label(node->labels, node->label_count, spec->levels[i]));
        m[(*count)++] = (struct member){values, n, spec->level_count};
    }
    if (*count > 1)
        qsort(m, *count, sizeof *m, by_values);
    return m;
}

/* Domains of one level from the sorted members. */
static void make_level(struct kq_topo *t, const struct member *m, uint32_t count, uint32_t level)
{
    struct kq_dom *d = arena_alloc(&t->mem, count, sizeof *d);
    uint32_t n = 0, parent = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && compare_values(m[i].values, m[i - 1].values, level + 1) == 0)
            continue;
        if (level > 0 && i > 0)
            parent += compare_values(m[i].values, m[i - 1].values, level) != 0;
        d[n] = (struct kq_dom){.values = m[i].values, .parent = parent};
        if (level > 0) {
            struct kq_dom *up = &t->doms[level - 1][parent];
            if (up->child_count++ == 0)
                up->first_child = n;
        }
        n++;
    }
    t->doms[level] = d;
    t->dom_counts[level] = n;
}

static void fill_leaves(struct kq *k, struct kq_topo *t, const struct member *m, uint32_t count)
{
    const uint32_t leaves = kq_topo_leaves(t), last = t->level_count;
    t->allocatable = arena_alloc(&t->mem, (size_t)leaves * t->resource_count, sizeof(int64_t));
    t->used = arena_alloc(&t->mem, (size_t)leaves * t->resource_count, sizeof(int64_t));
    t->first_node = arena_alloc(&t->mem, (size_t)leaves + 1, sizeof *t->first_node);
    t->nodes = arena_alloc(&t->mem, count, sizeof *t->nodes);
    t->leaf_of_node = arena_alloc(&t->mem, k->node_count, sizeof *t->leaf_of_node);
    memset(t->leaf_of_node, 0xff, k->node_count * sizeof *t->leaf_of_node);
    uint32_t leaf = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && compare_values(m[i].values, m[i - 1].values, last) != 0)
            t->first_node[++leaf] = i;
        t->nodes[i] = m[i].node;
        t->leaf_of_node[m[i].node] = leaf;
        const struct policy_node *n = &k->nodes[m[i].node].spec;
        int64_t *row = &t->allocatable[(size_t)leaf * t->resource_count];
        for (uint32_t r = 0; r < n->allocatable_count; r++)
            row[n->allocatable[r].resource] += n->allocatable[r].amount;
        for (uint32_t r = 0; k->host.foreign_usage != NULL && r < t->resource_count; r++)
            row[r] -= k->host.foreign_usage(k->host.ctx, m[i].node, r);
    }
    if (leaves > 0)
        t->first_node[leaves] = count;
}

static struct kq_topo *build_one(struct kq *k, const struct kq_flavor *f)
{
    const uint32_t id = f->spec.topology;
    if (!f->exists || !k->gate[KQ_TOPOLOGY] || id >= k->topology_count ||
        !k->topologies[id].exists || k->topologies[id].spec.level_count == 0)
        return NULL;
    const struct policy_topology *spec = &k->topologies[id].spec;
    struct kq_topo *t = mem_zalloc(1, sizeof *t);
    t->resource_count = k->resource_count;
    t->level_count = spec->level_count;
    const char **levels = arena_alloc(&t->mem, spec->level_count, sizeof *levels);
    for (uint32_t i = 0; i < spec->level_count; i++)
        levels[i] = arena_strdup(&t->mem, spec->levels[i]);
    t->levels = levels;
    t->host = strcmp(levels[t->level_count - 1], hostname_label) == 0;
    t->doms = arena_alloc(&t->mem, t->level_count, sizeof(struct kq_dom *));
    t->dom_counts = arena_alloc(&t->mem, t->level_count, sizeof *t->dom_counts);
    uint32_t count;
    const struct member *m = members(k, t, &f->spec, spec, &count);
    for (uint32_t level = 0; level < t->level_count; level++)
        make_level(t, m, count, level);
    fill_leaves(k, t, m, count);
    return t;
}

static uint32_t leaf_with(const struct kq_topo *t, const char *const *values)
{
    const uint32_t last = t->level_count - 1;
    for (uint32_t i = 0; i < t->dom_counts[last]; i++)
        if (compare_values(t->doms[last][i].values, values, t->level_count) == 0)
            return i;
    return POLICY_NONE;
}

/* Placements of admitted workloads keep their domains by value when the nodes change. */
static void move_placements(struct kq *k, uint32_t flavor, const struct kq_topo *old,
                            const struct kq_topo *now)
{
    for (uint32_t q = 0; q < k->by_name_count; q++)
        for (size_t i = 0; i < k->by_name[q]->live.count; i++) {
            struct kq_wl *w = kq_wl(k, k->by_name[q]->live.v[i]);
            for (size_t p = 0; p < w->placed_count; p++) {
                struct kq_placed_use *u = &w->placed[p];
                if (u->flavor != flavor || u->leaf == POLICY_NONE)
                    continue;
                const bool same = old != NULL && now != NULL &&
                                  old->level_count == now->level_count;
                u->leaf = same ? leaf_with(now, old->doms[old->level_count - 1][u->leaf].values)
                               : POLICY_NONE;
            }
        }
}

void kq_topo_build(struct kq *k)
{
    k->topology_version++;
    for (uint32_t i = 0; i < k->flavor_count; i++) {
        struct kq_topo *now = build_one(k, &k->flavors[i]), *old = k->flavors[i].topo;
        if (old != NULL || now != NULL)
            move_placements(k, i, old, now);
        kq_topo_destroy(old);
        k->flavors[i].topo = now;
    }
    for (uint32_t q = 0; q < k->by_name_count; q++)
        for (size_t i = 0; i < k->by_name[q]->live.count; i++)
            kq_topo_commit(k, kq_wl(k, k->by_name[q]->live.v[i]), 1);
}

void kq_topo_use(struct kq *k, const struct policy_pod_set *set, uint32_t flavor, uint32_t leaf,
                 int64_t pods)
{
    struct kq_topo *t = flavor < k->flavor_count ? k->flavors[flavor].topo : NULL;
    if (t == NULL || leaf == POLICY_NONE)
        return;
    int64_t *row = &t->used[(size_t)leaf * t->resource_count];
    for (uint32_t r = 0; r < set->request_count; r++)
        row[set->requests[r].resource] += set->requests[r].amount * pods;
    row[k->pods_resource] += pods;
}

void kq_topo_use_workload(struct kq *k, const struct kq_wl *w, int sign)
{
    const struct kq_shape *s = k->shapes[w->shape];
    for (size_t i = 0; i < w->placed_count; i++) {
        const struct kq_placed_use *u = &w->placed[i];
        kq_topo_use(k, &s->sets[u->set], u->flavor, u->leaf, sign * u->pods);
    }
}

uint32_t kq_topo_seen_as(const struct kq *k, uint32_t from, uint32_t leaf, uint32_t to)
{
    if (from == to || leaf == POLICY_NONE)
        return leaf;
    const struct kq_topo *a = k->flavors[from].topo, *b = k->flavors[to].topo;
    if (a == NULL || b == NULL || !a->host || !b->host || !k->gate[KQ_TOPOLOGY_OVERLAPPING])
        return POLICY_NONE;
    return b->leaf_of_node[a->nodes[a->first_node[leaf]]];
}

void kq_topo_commit(struct kq *k, const struct kq_wl *w, int sign)
{
    const struct kq_shape *s = k->shapes[w->shape];
    if (w->placed_count > 0)
        k->topology_version++;
    for (size_t i = 0; i < w->placed_count; i++) {
        const struct kq_placed_use *u = &w->placed[i];
        for (uint32_t f = 0; f < k->flavor_count; f++)
            if (k->flavors[f].topo != NULL)
                kq_topo_use(k, &s->sets[u->set], f, kq_topo_seen_as(k, u->flavor, u->leaf, f),
                            sign * u->pods);
    }
}
