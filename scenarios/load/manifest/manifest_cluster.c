/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ResourceFlavor, Topology, Node, LocalQueue, Namespace, LimitRange, AdmissionCheck and the two
 * kinds of priority classes. */
#include <string.h>

#include "models/policies/quantity.h"
#include "scenarios/load/manifest/manifest_priv.h"

void mf_flavor(struct mf *r, const struct mnode *o)
{
    static const char *const fields[] = {"nodeLabels", "nodeTaints", "tolerations", "topologyName", NULL};
    const uint32_t id = mf_id(&r->flavors, r->name);
    const struct mnode *spec = mf_map(r, o, "spec");
    if (!mf_define(r, &r->flavors, id, o))
        return;
    const size_t mark = mf_into(r, ".spec");
    mf_known(r, spec, fields);
    struct policy_flavor f = {.name = mf_id_name(&r->flavors, id)};
    f.labels = mf_labels(r, spec, "nodeLabels", &f.label_count);
    f.taints = mf_taints(r, spec, "nodeTaints", &f.taint_count);
    f.tolerations = mf_tolerations(r, spec, "tolerations", &f.toleration_count);
    f.topology = mf_id(&r->topologies, mf_string(r, spec, "topologyName", ""));
    if (f.topology != POLICY_NONE && f.label_count == 0)
        mf_error(r, spec, NULL, "Invalid value: at least one nodeLabel is required when topology is set");
    r->flavor = mf_room(r->flavor, &r->flavor_capacity, id, sizeof *r->flavor);
    r->flavor[id] = f;
    mf_out(r, mark);
}

void mf_topology(struct mf *r, const struct mnode *o)
{
    const uint32_t id = mf_id(&r->topologies, r->name);
    const struct mnode *levels = mf_list(r, mf_map(r, o, "spec"), "levels");
    if (!mf_define(r, &r->topologies, id, o))
        return;
    const size_t mark = mf_into(r, ".spec.levels");
    const char **names = arena_alloc(&r->m->mem, (size_t)mnode_count(levels) + 1, sizeof *names);
    struct policy_topology t = {.name = mf_id_name(&r->topologies, id), .levels = names};
    if (mnode_count(levels) == 0 || mnode_count(levels) > 16)
        mf_error(r, o, NULL, "Invalid value: must have from 1 to 16 items");
    for (const struct mnode *l = mnode_first(levels); l != NULL; l = l->next) {
        const size_t inner = mf_into(r, "[%u]", (unsigned)t.level_count);
        const char *label = mf_keep(r, mf_string(r, l, "nodeLabel", ""));
        if (label[0] == '\0')
            mf_error(r, l, "nodeLabel", "Required value");
        for (uint32_t i = 0; i < t.level_count; i++)
            if (strcmp(names[i], label) == 0)
                mf_error(r, l, NULL, "Duplicate value: \"%.60s\"", label);
        if (strcmp(label, "kubernetes.io/hostname") == 0 && l->next != NULL)
            mf_error(r, l, NULL, "Invalid value: the kubernetes.io/hostname label can only be used at "
                                 "the lowest level of topology");
        names[t.level_count++] = label;
        mf_out(r, inner);
    }
    r->topology = mf_room(r->topology, &r->topology_capacity, id, sizeof *r->topology);
    r->topology[id] = t;
    mf_out(r, mark);
}

void mf_node(struct mf *r, const struct mnode *o)
{
    const uint32_t id = mf_id(&r->nodes, r->name);
    if (!mf_define(r, &r->nodes, id, o))
        return;
    struct policy_node n = {.name = mf_id_name(&r->nodes, id)};
    n.labels = mf_labels(r, mnode_get(o, "metadata"), "labels", &n.label_count);
    const size_t mark = mf_into(r, ".spec");
    n.taints = mf_taints(r, mnode_get(o, "spec"), "taints", &n.taint_count);
    n.unschedulable = mf_bool(r, mnode_get(o, "spec"), "unschedulable", false);
    mf_out(r, mark);
    const struct mnode *status = mf_map(r, o, "status");
    mf_into(r, ".status");
    for (const struct mnode *c = mnode_first(mf_list(r, status, "conditions")); c != NULL; c = c->next)
        n.ready |= strcmp(mnode_text(c, "type", ""), "Ready") == 0 &&
                   strcmp(mnode_text(c, "status", ""), "True") == 0;
    const struct mf_amounts a = mf_amounts(r, status, "allocatable", false);
    n.allocatable = a.v;
    n.allocatable_count = a.count;
    mf_out(r, mark);
    r->node = mf_room(r->node, &r->node_capacity, id, sizeof *r->node);
    r->node[id] = n;
}

/* The decayed usage that the controller stored: with it admission fair sharing goes on after a restart. */
static void consumed(struct mf *r, const struct mnode *o, struct policy_local_queue *q)
{
    const struct mnode *status = mf_map(r, o, "status");
    const size_t mark = mf_into(r, ".status");
    const struct mnode *fair = mf_map(r, status, "fairSharing");
    mf_into(r, ".fairSharing");
    const struct mnode *afs = mf_map(r, fair, "admissionFairSharingStatus");
    mf_into(r, ".admissionFairSharingStatus");
    const struct mnode *map = mf_map(r, afs, "consumedResources");
    mf_into(r, ".consumedResources");
    uint32_t count = 0;
    for (const struct mnode *n = mnode_first(map); n != NULL; n = n->next)
        count++;
    struct policy_usage_amount *to = arena_alloc(&r->m->mem, (size_t)count + 1, sizeof *to);
    for (const struct mnode *n = mnode_first(map); n != NULL; n = n->next) {
        double v = 0;
        if ((n->kind != MNODE_STRING && n->kind != MNODE_NUMBER) || !quantity_real(n->text, &v) || v < 0 || v > 1e24)
            mf_error(r, n, n->key, "Invalid value: \"%.60s\": expected a quantity of 0 to 1e24", n->text);
        const uint32_t resource = mf_resource(r, n);
        if (resource != POLICY_NONE && v > 0)
            to[q->consumed_count++] = (struct policy_usage_amount){resource, v};
    }
    q->consumed = to;
    mf_out(r, mark);
}

void mf_local_queue(struct mf *r, const struct mnode *o)
{
    static const char *const fields[] = {"clusterQueue", "stopPolicy", "fairSharing", NULL};
    const char *space = r->name_space != NULL ? r->name_space : "default";
    const struct mnode *spec = mf_map(r, o, "spec");
    if (r->name[0] == '\0') {
        mf_error(r, o, NULL, "metadata.name: Required value: name is required");
        return;
    }
    const char *key = arena_printf(&r->tree, "%s/%s", space, r->name);
    const uint32_t id = mf_id(&r->locals, key);
    if (!mf_define(r, &r->locals, id, o))
        return;
    const size_t mark = mf_into(r, ".spec");
    mf_known(r, spec, fields);
    struct mf_local l = {.name_space = mf_id(&r->namespaces, space)};
    l.queue.name = mf_keep(r, r->name);
    l.queue.cluster_queue = mf_id(&r->queues, mf_string(r, spec, "clusterQueue", ""));
    if (l.queue.cluster_queue == POLICY_NONE)
        mf_error(r, o, "clusterQueue", "Required value");
    l.queue.weight = mf_weight(r, spec);
    l.queue.stop = mf_stop(r, spec);
    r->local = mf_room(r->local, &r->local_capacity, id, sizeof *r->local);
    mf_out(r, mark);
    consumed(r, o, &l.queue);
    r->local[id] = l;
}

/* The API server gives every namespace this label. */
static const char name_label[] = "kubernetes.io/metadata.name";

void mf_namespace(struct mf *r, const struct mnode *o)
{
    const uint32_t id = mf_id(&r->namespaces, r->name);
    if (!mf_define(r, &r->namespaces, id, o))
        return;
    uint32_t count, at = 0;
    const struct policy_label *read = mf_labels(r, mnode_get(o, "metadata"), "labels", &count);
    struct policy_label *labels = arena_alloc(&r->m->mem, (size_t)count + 1, sizeof *labels);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(read[i].key, name_label) != 0)
            labels[at++] = read[i];
    labels[at++] = (struct policy_label){name_label, mf_keep(r, r->name)};
    r->name_space_of = mf_room(r->name_space_of, &r->namespace_capacity, id, sizeof *r->name_space_of);
    r->name_space_of[id] = (struct mf_namespace){labels, at};
}

/* ---- LimitRange: the smallest maximum, the largest minimum, the first default ---- */

enum merge { KEEP_MIN, KEEP_MAX, KEEP_FIRST };

static void merge(struct mf *r, struct mf_amounts *to, const struct mf_amounts *from, enum merge how)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const int64_t v = from->v[i].amount, old = mf_amount_of(to, from->v[i].resource, POLICY_NIL);
        const bool take = old == POLICY_NIL || (how == KEEP_MIN && v < old) || (how == KEEP_MAX && v > old);
        if (take)
            mf_amount_set(&r->m->mem, to, from->v[i].resource, v);
    }
}

void mf_limit_range(struct mf *r, const struct mnode *o)
{
    static const char *const types[] = {"Container", "Pod", "PersistentVolumeClaim", NULL};
    const uint32_t id = mf_id(&r->namespaces, r->name_space != NULL ? r->name_space : "default");
    r->limits = mf_room(r->limits, &r->limits_capacity, id, sizeof *r->limits);
    struct mf_limits *l = &r->limits[id];
    const struct mnode *list = mf_list(r, mf_map(r, o, "spec"), "limits");
    unsigned at = 0;
    for (const struct mnode *i = mnode_first(list); i != NULL; i = i->next, at++) {
        const size_t mark = mf_into(r, ".spec.limits[%u]", at);
        const int type = mf_choice(r, i, "type", types, 2);
        if (type < MF_LIMIT_TYPES) {
            const struct mf_amounts max = mf_amounts(r, i, "max", true), min = mf_amounts(r, i, "min", true);
            const struct mf_amounts d = mf_amounts(r, i, "default", true);
            const struct mf_amounts q = mf_amounts(r, i, "defaultRequest", true);
            l->set[type] = true;
            merge(r, &l->max[type], &max, KEEP_MIN);
            merge(r, &l->min[type], &min, KEEP_MAX);
            merge(r, &l->defaults[type], &d, KEEP_FIRST);
            merge(r, &l->default_requests[type], &q, KEEP_FIRST);
        }
        mf_out(r, mark);
    }
}

void mf_admission_check(struct mf *r, const struct mnode *o)
{
    const uint32_t id = mf_id(&r->checks, r->name);
    if (!mf_define(r, &r->checks, id, o))
        return;
    r->check_inactive = mf_room(r->check_inactive, &r->check_capacity, id, sizeof *r->check_inactive);
    const struct mnode *list = mf_list(r, mf_map(r, o, "status"), "conditions");
    for (const struct mnode *c = mnode_first(list); c != NULL; c = c->next)
        if (strcmp(mnode_text(c, "type", ""), "Active") == 0)
            r->check_inactive[id] = strcmp(mnode_text(c, "status", ""), "True") != 0;
}

void mf_priority_class(struct mf *r, const struct mnode *o)
{
    const bool pods = strcmp(r->kind, "PriorityClass") == 0;
    const char *key = arena_printf(&r->tree, "%s/%s", pods ? "pod" : "workload", r->name);
    const uint32_t id = mf_id(&r->classes, key);
    if (!mf_define(r, &r->classes, id, o))
        return;
    if (mnode_get(o, "value") == NULL)
        mf_error(r, o, "value", "Required value");
    r->class_value = mf_room(r->class_value, &r->class_capacity, id, sizeof *r->class_value);
    r->class_value[id] = mf_int(r, o, "value", INT32_MIN, INT32_MAX, 0);
    if (pods && mf_bool(r, o, "globalDefault", false)) {
        const uint32_t global = mf_id(&r->classes, "pod/");
        r->class_value = mf_room(r->class_value, &r->class_capacity, global, sizeof *r->class_value);
        r->class_value[global] = r->class_value[id];
        r->classes.slots[global].defined = true;
    }
}
