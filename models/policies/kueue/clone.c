/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/clone.h"

#include <string.h>

#include "models/policies/kueue/select.h"

static void *copy(struct arena *mem, const void *from, size_t count, size_t size)
{
    void *to = arena_alloc(mem, count, size);
    if (count > 0)
        memcpy(to, from, count * size);
    return to;
}

static const struct policy_resource_group *groups(struct arena *mem,
                                                  const struct policy_resource_group *from,
                                                  uint32_t n)
{
    struct policy_resource_group *to = copy(mem, from, n, sizeof *to);
    for (uint32_t i = 0; i < n; i++) {
        const size_t cells = (size_t)from[i].resource_count * from[i].flavor_count;
        to[i].resources = copy(mem, from[i].resources, from[i].resource_count, sizeof(uint32_t));
        to[i].flavors = copy(mem, from[i].flavors, from[i].flavor_count, sizeof(uint32_t));
        to[i].quotas = copy(mem, from[i].quotas, cells, sizeof(struct policy_quota));
    }
    return to;
}

static const void *flavor(struct arena *mem, const struct policy_flavor *from)
{
    struct policy_flavor *to = copy(mem, from, 1, sizeof *to);
    to->name = arena_strdup(mem, from->name);
    to->labels = kq_copy_labels(mem, from->labels, from->label_count);
    to->taints = kq_copy_taints(mem, from->taints, from->taint_count);
    to->tolerations = kq_copy_tolerations(mem, from->tolerations, from->toleration_count);
    return to;
}

static const void *cohort(struct arena *mem, const struct policy_cohort *from)
{
    struct policy_cohort *to = copy(mem, from, 1, sizeof *to);
    to->name = arena_strdup(mem, from->name);
    to->groups = groups(mem, from->groups, from->group_count);
    return to;
}

static const void *cluster_queue(struct arena *mem, const struct policy_cluster_queue *from)
{
    struct policy_cluster_queue *to = copy(mem, from, 1, sizeof *to);
    to->name = arena_strdup(mem, from->name);
    to->groups = groups(mem, from->groups, from->group_count);
    if (from->namespace_selector != NULL)
        to->namespace_selector = kq_copy_selectors(mem, from->namespace_selector, 1);
    return to;
}

static const void *local_queue(struct arena *mem, const struct policy_local_queue *from)
{
    struct policy_local_queue *to = copy(mem, from, 1, sizeof *to);
    to->name = arena_strdup(mem, from->name);
    to->namespace_labels = kq_copy_labels(mem, from->namespace_labels, from->namespace_label_count);
    to->consumed = copy(mem, from->consumed, from->consumed_count, sizeof *to->consumed);
    return to;
}

static const void *topology(struct arena *mem, const struct policy_topology *from)
{
    struct policy_topology *to = copy(mem, from, 1, sizeof *to);
    const char **levels = arena_alloc(mem, from->level_count, sizeof *levels);
    for (uint32_t i = 0; i < from->level_count; i++)
        levels[i] = arena_strdup(mem, from->levels[i]);
    to->name = arena_strdup(mem, from->name);
    to->levels = levels;
    return to;
}

static const void *node(struct arena *mem, const struct policy_node *from)
{
    struct policy_node *to = copy(mem, from, 1, sizeof *to);
    to->name = arena_strdup(mem, from->name);
    to->labels = kq_copy_labels(mem, from->labels, from->label_count);
    to->taints = kq_copy_taints(mem, from->taints, from->taint_count);
    to->allocatable =
        copy(mem, from->allocatable, from->allocatable_count, sizeof *from->allocatable);
    return to;
}

const void *kq_clone_object(struct arena *mem, enum policy_object_kind kind, const void *object)
{
    if (object == NULL)
        return NULL;
    switch (kind) {
    case POLICY_OBJ_FLAVOR:
        return flavor(mem, object);
    case POLICY_OBJ_COHORT:
        return cohort(mem, object);
    case POLICY_OBJ_CLUSTER_QUEUE:
        return cluster_queue(mem, object);
    case POLICY_OBJ_LOCAL_QUEUE:
        return local_queue(mem, object);
    case POLICY_OBJ_TOPOLOGY:
        return topology(mem, object);
    case POLICY_OBJ_NODE:
        return node(mem, object);
    }
    return NULL;
}
