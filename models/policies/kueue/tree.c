/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds the quota trees from the objects (spec 1.3, 1.4, 3.1, 3.5). */
#include <stdlib.h>
#include <string.h>

#include "models/policies/kueue/objects.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/select.h"
#include "models/policies/kueue/share.h"
#include "models/policies/kueue/topology.h"
#include "models/policies/kueue/walk.h"

static struct kq_cohort *cohort_of(const struct kq *k, uint32_t id)
{
    if (id >= k->cohort_count || k->cohorts[id] == NULL || !k->cohorts[id]->exists)
        return NULL;
    return k->cohorts[id];
}

static bool in_circle(const struct kq *k, const struct kq_cohort *c)
{
    uint32_t steps = 0;
    for (; c != NULL; c = cohort_of(k, c->parent_id))
        if (steps++ > k->cohort_count)
            return true;
    return false;
}

static void link_nodes(struct kq *k)
{
    for (uint32_t i = 0; i < k->cohort_count; i++) {
        struct kq_cohort *c = cohort_of(k, i);
        if (c == NULL)
            continue;
        c->node.bad = in_circle(k, c);
        struct kq_cohort *p = c->node.bad ? NULL : cohort_of(k, c->parent_id);
        c->node.parent = p != NULL ? &p->node : NULL;
        c->node.tree = NULL;
        c->node.cohort_count = c->node.queue_count = c->node.all_queue_count = 0;
    }
    k->by_name_count = 0;
    for (uint32_t i = 0; i < k->cq_count; i++) {
        if (k->cqs[i] == NULL || !k->cqs[i]->exists)
            continue;
        struct kq_cq *q = k->cqs[i];
        struct kq_cohort *p = cohort_of(k, q->spec.cohort);
        q->node.parent = p != NULL ? &p->node : NULL;
        q->node.bad = p != NULL && p->node.bad;
        q->node.tree = NULL;
        q->node.siblings = NULL;
        k->by_name[k->by_name_count++] = q;
    }
}

static int by_queue_name(const void *a, const void *b)
{
    return strcmp((*(struct kq_cq *const *)a)->node.name, (*(struct kq_cq *const *)b)->node.name);
}

static int by_node_name(const void *a, const void *b)
{
    return strcmp((*(struct kq_node *const *)a)->name, (*(struct kq_node *const *)b)->name);
}

static bool flavors_exist(const struct kq *k, const struct kq_cq *q)
{
    for (uint32_t g = 0; g < q->group_count; g++)
        for (uint32_t f = 0; f < q->groups[g].flavor_count; f++) {
            const uint32_t id = q->groups[g].flavors[f];
            if (id >= k->flavor_count || !k->flavors[id].exists)
                return false;
            const uint32_t t = k->flavors[id].spec.topology;
            if (k->gate[KQ_TOPOLOGY] && t != POLICY_NONE && (t >= k->topology_count || !k->topologies[t].exists))
                return false;
        }
    return true;
}

static void queue_facts(struct kq *k, struct kq_cq *q)
{
    const bool was = q->active;
    q->active = q->spec.stop == POLICY_RUN && !q->spec.inactive && !q->node.bad &&
                flavors_exist(k, q);
    if (was != q->active && q->heap_count > 0)
        k->ready_queues += q->active ? 1u : UINT32_MAX; /* plus or minus one */
    q->has_topology = false;
    q->topology_only = q->group_count > 0;
    for (uint32_t g = 0; g < q->group_count; g++)
        for (uint32_t f = 0; f < q->groups[g].flavor_count; f++) {
            const uint32_t id = q->groups[g].flavors[f];
            const bool tas = k->gate[KQ_TOPOLOGY] && id < k->flavor_count && k->flavors[id].exists &&
                             k->flavors[id].spec.topology != POLICY_NONE;
            q->has_topology |= tas;
            q->topology_only &= tas;
        }
    q->usage_order = k->afs && q->spec.usage_based_admission;
}

/* Children arrays: count, allocate, fill in name order; active queues before the others. */
static void gather_children(struct kq *k)
{
    struct kq_node **cohorts = arena_alloc(&k->build, k->cohort_count, sizeof(struct kq_node *));
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->cohort_count; i++)
        if (cohort_of(k, i) != NULL)
            cohorts[n++] = &k->cohorts[i]->node;
    if (n > 1)
        qsort(cohorts, n, sizeof(struct kq_node *), by_node_name);
    for (uint32_t i = 0; i < n; i++)
        if (cohorts[i]->parent != NULL)
            cohorts[i]->parent->cohort_count++;
    for (uint32_t i = 0; i < k->by_name_count; i++)
        if (k->by_name[i]->node.parent != NULL)
            k->by_name[i]->node.parent->all_queue_count++;
    for (uint32_t i = 0; i < n; i++) {
        struct kq_node *c = cohorts[i];
        c->cohorts = arena_alloc(&k->build, c->cohort_count, sizeof(struct kq_node *));
        c->queues = arena_alloc(&k->build, c->all_queue_count, sizeof(struct kq_node *));
        c->cohort_count = c->all_queue_count = 0;
    }
    for (uint32_t i = 0; i < n; i++)
        if (cohorts[i]->parent != NULL)
            cohorts[i]->parent->cohorts[cohorts[i]->parent->cohort_count++] = cohorts[i];
    for (int active = 1; active >= 0; active--)
        for (uint32_t i = 0; i < k->by_name_count; i++) {
            struct kq_node *q = &k->by_name[i]->node, *p = q->parent;
            if (p == NULL || k->by_name[i]->active != (active == 1))
                continue;
            p->queues[p->all_queue_count++] = q;
            p->queue_count += active == 1;
        }
}

static uint32_t height_of(struct kq_node *n)
{
    uint32_t h = n->queue_count > 0 || n->cohort_count > 0 ? 1 : 0;
    for (uint32_t i = 0; i < n->cohort_count; i++) {
        const uint32_t below = 1 + height_of(n->cohorts[i]);
        h = below > h ? below : h;
    }
    return n->height = h;
}

static void claim(struct kq_node *n, struct kq_tree *t)
{
    n->tree = t;
    for (uint32_t i = 0; i < n->cohort_count; i++)
        claim(n->cohorts[i], t);
    for (uint32_t i = 0; i < n->all_queue_count; i++)
        n->queues[i]->tree = t;
}

static struct kq_tree *add_tree(struct kq *k, struct kq_node *root)
{
    struct kq_tree *t = &k->trees[k->tree_count++];
    *t = (struct kq_tree){.root = root, .version = 1, .state = 1, .states = 1};
    if (root->is_queue) {
        root->tree = t;
    } else {
        height_of(root);
        claim(root, t);
    }
    return t;
}

struct fr_list {
    struct kq_fr *v;
    size_t count, capacity;
};

static void add_frs(struct fr_list *list, const struct kq_cq_group *groups, uint32_t n)
{
    for (uint32_t g = 0; g < n; g++)
        for (uint32_t f = 0; f < groups[g].flavor_count; f++)
            for (uint32_t r = 0; r < groups[g].resource_count; r++) {
                list->v = mem_grow(list->v, &list->capacity, list->count + 1, sizeof *list->v);
                list->v[list->count++] =
                    (struct kq_fr){groups[g].flavors[f], groups[g].resources[r]};
            }
}

static void collect_frs(struct kq *k, struct fr_list *list, const struct kq_node *n)
{
    const struct kq_cohort *c = k->cohorts != NULL && !n->is_queue ? k->cohorts[n->id] : NULL;
    if (c != NULL)
        add_frs(list, c->groups, c->group_count);
    for (uint32_t i = 0; i < n->cohort_count; i++)
        collect_frs(k, list, n->cohorts[i]);
}

static int by_resource(const void *a, const void *b)
{
    const struct kq_fr *x = a, *y = b;
    if (x->resource != y->resource)
        return x->resource < y->resource ? -1 : 1;
    return (x->flavor > y->flavor) - (x->flavor < y->flavor);
}

static void collect_queue_frs(struct kq *k, struct fr_list *list, const struct kq_cq *q)
{
    add_frs(list, q->groups, q->group_count);
    for (size_t i = 0; i < q->live.count; i++) {
        const struct kq_wl *w = kq_wl(k, q->live.v[i]);
        for (size_t u = 0; u < w->use_count; u++) {
            list->v = mem_grow(list->v, &list->capacity, list->count + 1, sizeof *list->v);
            list->v[list->count++] = (struct kq_fr){w->use[u].flavor, w->use[u].resource};
        }
    }
}

static void finish_frs(struct kq *k, struct kq_tree *t, struct fr_list *list)
{
    if (list->count > 1)
        qsort(list->v, list->count, sizeof *list->v, by_resource);
    t->frs = arena_alloc(&k->build, list->count, sizeof *t->frs);
    for (size_t i = 0; i < list->count; i++)
        if (i == 0 || by_resource(&list->v[i], &list->v[i - 1]) != 0)
            t->frs[t->fr_count++] = list->v[i];
    list->count = 0;
}

uint32_t kq_fr_find(const struct kq_tree *t, uint32_t flavor, uint32_t resource)
{
    uint32_t low = 0, high = t->fr_count;
    const struct kq_fr want = {flavor, resource};
    while (low < high) {
        const uint32_t mid = (low + high) / 2;
        const int c = by_resource(&t->frs[mid], &want);
        if (c == 0)
            return mid;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return POLICY_NONE;
}

static void quotas_of(struct kq *k, struct kq_node *n, struct kq_cq_group *groups, uint32_t count)
{
    struct kq_tree *t = n->tree;
    n->q = arena_alloc(&k->build, t->fr_count, sizeof *n->q);
    n->use_serial++;
    for (uint32_t i = 0; i < t->fr_count; i++)
        n->q[i].borrow = n->q[i].lend = POLICY_NIL;
    for (uint32_t g = 0; g < count; g++)
        for (uint32_t f = 0; f < groups[g].flavor_count; f++)
            for (uint32_t r = 0; r < groups[g].resource_count; r++) {
                const size_t cell = (size_t)f * groups[g].resource_count + r;
                const uint32_t fr = kq_fr_find(t, groups[g].flavors[f], groups[g].resources[r]);
                const struct policy_quota *q = &groups[g].quotas[cell];
                groups[g].frs[cell] = fr;
                n->q[fr].nominal = q->nominal;
                n->q[fr].borrow = q->borrowing_limit;
                n->q[fr].lend = q->lending_limit;
                n->q[fr].set = true;
            }
}

static void cohort_quotas(struct kq *k, struct kq_node *n)
{
    struct kq_cohort *c = k->cohorts[n->id];
    quotas_of(k, n, c->groups, c->group_count);
    for (uint32_t i = 0; i < n->cohort_count; i++)
        cohort_quotas(k, n->cohorts[i]);
}

static void count_usage(struct kq *k, struct kq_cq *q)
{
    for (size_t i = 0; i < q->live.count; i++) {
        struct kq_wl *w = kq_wl(k, q->live.v[i]);
        for (size_t u = 0; u < w->use_count; u++) {
            w->use[u].fr = kq_fr_find(q->node.tree, w->use[u].flavor, w->use[u].resource);
            kq_add(&q->node, w->use[u].fr, w->use[u].amount);
        }
    }
}

static void tree_queues(struct kq *k, struct kq_tree *t)
{
    t->queues = arena_alloc(&k->build, t->queue_count, sizeof(struct kq_cq *));
    t->queue_count = 0;
}

static void fill_trees(struct kq *k)
{
    struct fr_list list = {0};
    for (uint32_t i = 0; i < k->by_name_count; i++)
        k->by_name[i]->node.tree->queue_count++;
    for (uint32_t i = 0; i < k->tree_count; i++)
        tree_queues(k, &k->trees[i]);
    for (uint32_t i = 0; i < k->by_name_count; i++) {
        struct kq_tree *t = k->by_name[i]->node.tree;
        t->queues[t->queue_count++] = k->by_name[i];
        t->topology |= k->by_name[i]->has_topology;
        t->by_usage |= k->by_name[i]->usage_order;
    }
    uint32_t with_topology = 0;
    for (uint32_t i = 0; i < k->tree_count; i++) {
        struct kq_tree *t = &k->trees[i];
        with_topology += t->topology;
        collect_frs(k, &list, t->root);
        for (uint32_t q = 0; q < t->queue_count; q++)
            collect_queue_frs(k, &list, t->queues[q]);
        finish_frs(k, t, &list);
        if (!t->root->is_queue)
            cohort_quotas(k, t->root);
        for (uint32_t q = 0; q < t->queue_count; q++)
            quotas_of(k, &t->queues[q]->node, t->queues[q]->groups, t->queues[q]->group_count);
        kq_quota_static(t->root);
        kq_share_static(t->root, k->resource_count, &k->build);
        if (k->cfg.fair_sharing && !t->root->is_queue)
            kq_walk_static(t->root, &k->build);
    }
    k->shared_topology = with_topology > 1;
    free(list.v);
}

/* Order of trees in the log: by root, a lone queue as "/" and its name. */
static int by_root(const void *a, const void *b)
{
    const struct kq_node *x = (*(struct kq_tree *const *)a)->root;
    const struct kq_node *y = (*(struct kq_tree *const *)b)->root;
    const char *p = x->is_queue ? "/" : x->name, *q = y->is_queue ? "/" : y->name;
    const int c = strcmp(p, q);
    return c != 0 || !x->is_queue || !y->is_queue ? c : strcmp(x->name, y->name);
}

static void rank_trees(struct kq *k)
{
    struct kq_tree **list = arena_alloc(&k->build, k->tree_count, sizeof(struct kq_tree *));
    for (uint32_t i = 0; i < k->tree_count; i++)
        list[i] = &k->trees[i];
    if (k->tree_count > 1)
        qsort(list, k->tree_count, sizeof(struct kq_tree *), by_root);
    for (uint32_t i = 0; i < k->tree_count; i++)
        list[i]->name_rank = i;
}

static void make_trees(struct kq *k)
{
    uint32_t roots = k->by_name_count + k->cohort_count;
    for (uint32_t t = 0; t < k->tree_count; t++) {
        kq_ids_fini(&k->trees[t].hot);
        kq_ids_fini(&k->trees[t].woken);
        kq_ids_fini(&k->trees[t].left);
        kq_ids_fini(&k->trees[t].victims);
    }
    k->warm.count = k->woken.count = 0;
    k->trees = arena_alloc(&k->build, roots, sizeof *k->trees);
    k->tree_count = 0;
    for (uint32_t i = 0; i < k->cohort_count; i++)
        if (cohort_of(k, i) != NULL && k->cohorts[i]->node.parent == NULL)
            add_tree(k, &k->cohorts[i]->node);
    for (uint32_t i = 0; i < k->by_name_count; i++)
        if (k->by_name[i]->node.parent == NULL)
            add_tree(k, &k->by_name[i]->node);
    rank_trees(k);
}

void kq_build(struct kq *k)
{
    struct arena old = k->build; /* the old trees' lists are still to be freed */
    k->build = (struct arena){0};
    k->by_name = arena_alloc(&k->build, k->cq_count, sizeof(struct kq_cq *));
    link_nodes(k);
    if (k->by_name_count > 1)
        qsort(k->by_name, k->by_name_count, sizeof(struct kq_cq *), by_queue_name);
    for (uint32_t i = 0; i < k->by_name_count; i++) {
        k->by_name[i]->name_rank = i;
        queue_facts(k, k->by_name[i]);
        k->by_name[i]->hot_slot = POLICY_NONE;
        k->by_name[i]->entry.reusable = false;
    }
    gather_children(k);
    make_trees(k);
    arena_fini(&old);
    fill_trees(k);
    for (uint32_t i = 0; i < k->by_name_count; i++)
        count_usage(k, k->by_name[i]);
    kq_topo_build(k);
    for (size_t i = 0; i < k->class_count; i++)
        k->classes[i].plan = NULL;
    for (uint32_t i = 0; i < k->by_name_count; i++)
        kq_queue_rebuilt(k, k->by_name[i]);
    k->objects_version++;
}
