/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/objects.h"

#include <stdlib.h>
#include <string.h>

#include "models/policies/kueue/assign.h"
#include "models/policies/kueue/select.h"
#include "models/policies/kueue/topology.h"
#include "models/policies/kueue/usage.h"

/* Makes room for id in an array of structs; new ones are zeroed. */
static void *room(void *array, uint32_t *count, uint32_t id, size_t size)
{
    if (id < *count)
        return array;
    uint32_t bigger = *count == 0 ? 8 : *count;
    while (bigger <= id)
        bigger *= 2;
    char *p = mem_realloc(array, bigger, size);
    memset(p + (size_t)*count * size, 0, (size_t)(bigger - *count) * size);
    *count = bigger;
    return p;
}

static struct kq_cq_group *copy_groups(struct arena *mem, const struct policy_resource_group *from,
                                       uint32_t n)
{
    struct kq_cq_group *to = arena_alloc(mem, n, sizeof *to);
    for (uint32_t i = 0; i < n; i++) {
        const struct policy_resource_group *g = &from[i];
        const size_t cells = (size_t)g->resource_count * g->flavor_count;
        struct kq_cq_group *c = &to[i];
        c->resource_count = g->resource_count;
        c->flavor_count = g->flavor_count;
        c->resources = arena_alloc(mem, g->resource_count, sizeof *c->resources);
        c->flavors = arena_alloc(mem, g->flavor_count, sizeof *c->flavors);
        c->quotas = arena_alloc(mem, cells, sizeof *c->quotas);
        c->frs = arena_alloc(mem, cells, sizeof *c->frs);
        for (uint32_t r = 0; r < g->resource_count; r++)
            c->resources[r] = g->resources[r];
        for (uint32_t f = 0; f < g->flavor_count; f++)
            c->flavors[f] = g->flavors[f];
        for (size_t q = 0; q < cells; q++)
            c->quotas[q] = g->quotas[q];
    }
    return to;
}

static void set_flavor(struct kq *k, uint32_t id, const struct policy_flavor *f)
{
    k->flavors = room(k->flavors, &k->flavor_count, id, sizeof *k->flavors);
    struct kq_flavor *o = &k->flavors[id];
    kq_topo_destroy(o->topo);
    arena_fini(&o->mem);
    k->flavors_alive -= o->exists;
    *o = (struct kq_flavor){.exists = false};
    if (f == NULL || f->name == NULL)
        return;
    o->exists = true;
    k->flavors_alive++;
    o->spec = *f;
    o->spec.name = arena_strdup(&o->mem, f->name);
    o->spec.labels = kq_copy_labels(&o->mem, f->labels, f->label_count);
    o->spec.taints = kq_copy_taints(&o->mem, f->taints, f->taint_count);
    o->spec.tolerations = kq_copy_tolerations(&o->mem, f->tolerations, f->toleration_count);
}

static struct kq_cohort *cohort_slot(struct kq *k, uint32_t id)
{
    k->cohorts = room(k->cohorts, &k->cohort_count, id, sizeof(struct kq_cohort *));
    if (k->cohorts[id] == NULL) {
        k->cohorts[id] = mem_zalloc(1, sizeof **k->cohorts);
        k->cohorts[id]->node.wake_at = POLICY_NEVER;
    }
    return k->cohorts[id];
}

static void set_cohort(struct kq *k, uint32_t id, const struct policy_cohort *c)
{
    struct kq_cohort *o = cohort_slot(k, id);
    if (c == NULL || c->name == NULL) { /* whoever names it still belongs to it */
        o->group_count = 0;
        o->parent_id = POLICY_NONE;
        return;
    }
    arena_fini(&o->mem);
    o->exists = true;
    o->node.name = arena_strdup(&o->mem, c->name);
    o->node.id = id;
    o->node.weight = c->weight;
    o->parent_id = c->parent;
    o->groups = copy_groups(&o->mem, c->groups, c->group_count);
    o->group_count = c->group_count;
}

static struct kq_cq *cq_slot(struct kq *k, uint32_t id)
{
    k->cqs = room(k->cqs, &k->cq_count, id, sizeof(struct kq_cq *));
    if (k->cqs[id] == NULL) {
        struct kq_cq *cq = k->cqs[id] = mem_zalloc(1, sizeof *cq);
        cq->node.id = id;
        cq->node.is_queue = true;
        cq->node.wake_at = POLICY_NEVER;
        cq->hot_slot = cq->preemptor = cq->entry.workload = cq->left_slot = POLICY_NONE;
        cq->epoch = 1;
    }
    return k->cqs[id];
}

static void index_groups(struct kq *k, struct kq_cq *cq)
{
    cq->group_of = arena_alloc(&cq->mem, k->resource_count, sizeof *cq->group_of);
    memset(cq->group_of, -1, k->resource_count);
    for (uint32_t g = 0; g < cq->group_count; g++)
        for (uint32_t r = 0; r < cq->groups[g].resource_count; r++)
            if (cq->group_of[cq->groups[g].resources[r]] < 0) /* of two, the first one serves it */
                cq->group_of[cq->groups[g].resources[r]] = (int8_t)g;
    cq->covers_pods =
        k->pods_resource != POLICY_NONE && cq->group_of[k->pods_resource] >= 0;
}

static void set_cluster_queue(struct kq *k, uint32_t id, const struct policy_cluster_queue *q)
{
    struct kq_cq *cq = cq_slot(k, id);
    if (q == NULL || q->name == NULL) { /* it goes when its workloads are gone; until then: */
        cq->spec.stop = POLICY_HOLD;
        return;
    }
    arena_fini(&cq->mem);
    cq->exists = true;
    cq->spec = *q;
    cq->spec.name = cq->node.name = arena_strdup(&cq->mem, q->name);
    cq->node.weight = q->weight;
    cq->groups = copy_groups(&cq->mem, q->groups, q->group_count);
    cq->group_count = q->group_count;
    cq->spec.groups = NULL;
    cq->has_selector = q->namespace_selector != NULL;
    if (cq->has_selector)
        cq->selector = *kq_copy_selectors(&cq->mem, q->namespace_selector, 1);
    cq->spec.namespace_selector = cq->has_selector ? &cq->selector : NULL;
    index_groups(k, cq);
}

static void set_local_queue(struct kq *k, uint32_t id, const struct policy_local_queue *q)
{
    k->lqs = room(k->lqs, &k->lq_count, id, sizeof *k->lqs);
    struct kq_lq *o = &k->lqs[id];
    struct kq_lq_usage *usage = o->usage;
    const bool fresh = !o->exists;
    if (q == NULL || q->name == NULL) {
        o->spec.stop = POLICY_HOLD;
        return;
    }
    arena_fini(&o->mem);
    *o = (struct kq_lq){.exists = true, .usage = usage};
    o->spec = *q;
    o->spec.name = arena_strdup(&o->mem, q->name);
    o->spec.namespace_labels = kq_copy_labels(&o->mem, q->namespace_labels,
                                              q->namespace_label_count);
    if (fresh)
        kq_ids_push(&k->lq_order, id);
    if (usage == NULL)
        o->usage = kq_usage_create(k, q);
    o->spec.consumed = NULL;
    o->spec.consumed_count = 0;
}

static void set_topology(struct kq *k, uint32_t id, const struct policy_topology *t)
{
    k->topologies = room(k->topologies, &k->topology_count, id, sizeof *k->topologies);
    struct kq_topology *o = &k->topologies[id];
    arena_fini(&o->mem);
    *o = (struct kq_topology){.exists = t != NULL && t->name != NULL};
    if (!o->exists)
        return;
    o->spec = *t;
    o->spec.name = arena_strdup(&o->mem, t->name);
    const char **levels = arena_alloc(&o->mem, t->level_count, sizeof *levels);
    for (uint32_t i = 0; i < t->level_count; i++)
        levels[i] = arena_strdup(&o->mem, t->levels[i]);
    o->spec.levels = levels;
}

static void set_node(struct kq *k, uint32_t id, const struct policy_node *n)
{
    k->nodes = room(k->nodes, &k->node_count, id, sizeof *k->nodes);
    struct kq_node_obj *o = &k->nodes[id];
    arena_fini(&o->mem);
    *o = (struct kq_node_obj){.exists = n != NULL && n->name != NULL};
    if (!o->exists)
        return;
    o->spec = *n;
    o->spec.name = arena_strdup(&o->mem, n->name);
    o->spec.labels = kq_copy_labels(&o->mem, n->labels, n->label_count);
    o->spec.taints = kq_copy_taints(&o->mem, n->taints, n->taint_count);
    struct policy_amount *a = arena_alloc(&o->mem, n->allocatable_count, sizeof *a);
    for (uint32_t i = 0; i < n->allocatable_count; i++)
        a[i] = n->allocatable[i];
    o->spec.allocatable = a;
}

void kq_set_object(struct kq *k, enum policy_object_kind kind, uint32_t id, const void *object)
{
    switch (kind) {
    case POLICY_OBJ_FLAVOR:
        set_flavor(k, id, object);
        break;
    case POLICY_OBJ_COHORT:
        set_cohort(k, id, object);
        break;
    case POLICY_OBJ_CLUSTER_QUEUE:
        set_cluster_queue(k, id, object);
        break;
    case POLICY_OBJ_LOCAL_QUEUE:
        set_local_queue(k, id, object);
        break;
    case POLICY_OBJ_TOPOLOGY:
        set_topology(k, id, object);
        break;
    case POLICY_OBJ_NODE:
        set_node(k, id, object);
        break;
    }
}

static void fini_queue(struct kq_cq *cq)
{
    arena_fini(&cq->mem);
    kq_ids_fini(&cq->heap);
    kq_ids_fini(&cq->parked);
    kq_ids_fini(&cq->classes);
    kq_ids_fini(&cq->live);
    free(cq->entry.targets.v);
    kq_ids_fini(&cq->entry.targets.returned);
    free(cq->entry.progress_in);
    kq_assign_fini(&cq->entry.assign);
    free(cq);
}

void kq_objects_fini(struct kq *k)
{
    for (uint32_t i = 0; i < k->flavor_count; i++)
        set_flavor(k, i, NULL);
    for (uint32_t i = 0; i < k->topology_count; i++)
        arena_fini(&k->topologies[i].mem);
    for (uint32_t i = 0; i < k->node_count; i++)
        arena_fini(&k->nodes[i].mem);
    for (uint32_t i = 0; i < k->lq_count; i++) {
        arena_fini(&k->lqs[i].mem);
        free(k->lqs[i].usage);
    }
    for (uint32_t i = 0; i < k->cohort_count; i++)
        if (k->cohorts[i] != NULL) {
            arena_fini(&k->cohorts[i]->mem);
            free(k->cohorts[i]);
        }
    for (uint32_t i = 0; i < k->cq_count; i++)
        if (k->cqs[i] != NULL)
            fini_queue(k->cqs[i]);
    free(k->flavors);
    free(k->topologies);
    free(k->nodes);
    free(k->lqs);
    free(k->cohorts);
    free(k->cqs);
    kq_ids_fini(&k->lq_order);
    for (uint32_t t = 0; t < k->tree_count; t++) {
        kq_ids_fini(&k->trees[t].hot);
        kq_ids_fini(&k->trees[t].woken);
        kq_ids_fini(&k->trees[t].left);
        kq_ids_fini(&k->trees[t].victims);
    }
    arena_fini(&k->build);
}
