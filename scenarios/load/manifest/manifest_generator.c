/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of Kueue's scheduler performance generator, as objects: cohorts with sets of cluster queues
 * (each with a namespace and a LocalQueue of its name), one flavor "rf", optionally a topology with
 * nodes, and sets of workloads created one after the other, each a creation interval after the one
 * before. The sets of a queue run side by side. Names are the generator's.
 */
#include <stdio.h>
#include <string.h>

#include "scenarios/load/manifest/manifest_priv.h"
#include "sim/check.h"
#include "sim/sim_time.h"

enum { COUNT_MAX = 1000000, OBJECTS_MAX = 2000000, NODES_MAX = 100000, LEVELS_MAX = 8 };

/* 2026-01-01T00:00:00Z: the file has no date. */
#define BEGIN_NS (INT64_C(1767225600) * SIM_SECOND)

struct queue_set { /* one cluster queue at hand */
    const struct mnode *set;
    const char *name, *cohort;
};

struct template { /* of workloads */
    const struct mnode *node;
    const char *class_name;
    struct policy_shape shape;
};

static uint32_t id_of(struct mf *r, struct mf_ids *ids, const char *name)
{
    const uint32_t id = mf_id(ids, name);
    ids->slots[id].defined = true;
    ids->slots[id].file = r->file;
    return id;
}

/* ---- flavor and topology ---- */

static const char *flavor_name(const struct mnode *o)
{
    return mnode_text(mnode_get(o, "resourceFlavor"), "name", "rf");
}

static void make_flavor(struct mf *r, const struct mnode *o)
{
    const struct mnode *f = mf_map(r, o, "resourceFlavor");
    const uint32_t id = id_of(r, &r->flavors, flavor_name(o));
    r->flavor = mf_room(r->flavor, &r->flavor_capacity, id, sizeof *r->flavor);
    struct policy_flavor flavor = {.name = mf_keep(r, flavor_name(o)), .topology = POLICY_NONE};
    const char *topology = mf_string(r, f, "topologyName", "");
    if (topology[0] != '\0') {
        struct policy_label *l = arena_alloc(&r->m->mem, 1, sizeof *l);
        *l = (struct policy_label){mf_keep(r, mf_string(r, f, "nodeLabel", "tas-node-group")), "tas"};
        flavor.topology = mf_id(&r->topologies, topology);
        flavor.labels = l;
        flavor.label_count = 1;
    }
    r->flavor[id] = flavor;
}

struct level {
    const char *name, *label;
    int64_t count;
};

static void make_node(struct mf *r, const struct level *levels, uint32_t depth, const int64_t *at,
                      const struct mf_amounts *capacity)
{
    char name[128] = "node";
    size_t used = 4;
    struct policy_label *labels = arena_alloc(&r->m->mem, (size_t)depth + 1, sizeof *labels);
    for (uint32_t i = 0; i < depth; i++) {
        used += (size_t)snprintf(name + used, sizeof name - used, "-%c%lld", levels[i].name[0], (long long)at[i]);
        labels[i] = (struct policy_label){levels[i].label, arena_printf(&r->m->mem, "%s-%lld", levels[i].name, (long long)at[i])};
    }
    labels[depth] = (struct policy_label){"tas-node-group", "tas"};
    const uint32_t id = id_of(r, &r->nodes, name);
    r->node = mf_room(r->node, &r->node_capacity, id, sizeof *r->node);
    r->node[id] = (struct policy_node){.labels = labels, .label_count = depth + 1, .allocatable = capacity->v,
                                       .allocatable_count = capacity->count, .ready = true};
}

static void make_nodes(struct mf *r, const struct level *levels, uint32_t depth, const struct mf_amounts *capacity)
{
    int64_t at[LEVELS_MAX] = {0}, total = 1;
    for (uint32_t i = 0; i < depth; i++)
        total = levels[i].count == 0 || total > NODES_MAX / levels[i].count ? NODES_MAX + 1 : total * levels[i].count;
    if (total > NODES_MAX) {
        mf_error(r, NULL, "topology.levels", "Invalid value: from 1 to %d nodes", NODES_MAX);
        return;
    }
    for (int64_t n = 0; n < total; n++) {
        make_node(r, levels, depth, at, capacity);
        for (uint32_t i = depth; i-- > 0 && ++at[i] == levels[i].count;)
            at[i] = 0;
    }
}

static void make_topology(struct mf *r, const struct mnode *o)
{
    const struct mnode *t = mf_map(r, o, "topology"), *list = mf_list(r, t, "levels");
    struct level levels[LEVELS_MAX];
    uint32_t depth = 0;
    const struct mnode *capacity = NULL;
    if (t == NULL)
        return;
    for (const struct mnode *l = mnode_first(list); l != NULL && depth < LEVELS_MAX; l = l->next) {
        const char *name = mf_string(r, l, "name", "");
        levels[depth++] = (struct level){mf_keep(r, name[0] == '\0' ? "level" : name),
                                         mf_keep(r, mf_string(r, l, "nodeLabel", "")), mf_int(r, l, "count", 1, NODES_MAX, 1)};
        capacity = mf_map(r, l, "capacity");
    }
    struct mf_amounts amounts = {0};
    int64_t cpu = 96000, memory = INT64_C(256) << 30;
    mf_quantity(r, capacity, "cpu", "cpu", &cpu);
    mf_quantity(r, capacity, "memory", "memory", &memory);
    mf_amount_set(&r->m->mem, &amounts, mf_id(&r->resources, "cpu"), cpu);
    mf_amount_set(&r->m->mem, &amounts, mf_id(&r->resources, "memory"), memory);
    mf_amount_set(&r->m->mem, &amounts, mf_id(&r->resources, "pods"), 110);
    make_nodes(r, levels, depth, &amounts);
    const char **names = arena_alloc(&r->m->mem, (size_t)depth + 1, sizeof *names);
    for (uint32_t i = 0; i < depth; i++)
        names[i] = levels[i].label;
    const uint32_t id = id_of(r, &r->topologies, mf_string(r, t, "name", "topology"));
    r->topology = mf_room(r->topology, &r->topology_capacity, id, sizeof *r->topology);
    r->topology[id] = (struct policy_topology){mf_id_name(&r->topologies, id), names, depth};
}

/* ---- one cluster queue ---- */

static void make_queue(struct mf *r, const struct mnode *o, const struct queue_set *at)
{
    static const char *const reclaim[] = {"Never", "LowerPriority", "Any", NULL};
    static const char *const within[] = {"Never", "LowerPriority", "LowerOrNewerEqualPriority", NULL};
    static const enum policy_preemption reclaims[] = {POLICY_NEVER_PREEMPT, POLICY_LOWER_PRIORITY, POLICY_ANY};
    static const enum policy_preemption withins[] = {POLICY_NEVER_PREEMPT, POLICY_LOWER_PRIORITY, POLICY_LOWER_OR_NEWER_EQUAL};
    struct arena *mem = &r->m->mem;
    struct policy_resource_group *g = arena_alloc(mem, 1, sizeof *g);
    struct policy_quota *quota = arena_alloc(mem, 1, sizeof *quota);
    uint32_t *ids = arena_alloc(mem, 2, sizeof *ids);
    ids[0] = mf_id(&r->resources, "cpu");
    ids[1] = mf_id(&r->flavors, flavor_name(o));
    *quota = (struct policy_quota){0, POLICY_NIL, POLICY_NIL};
    mf_quantity(r, at->set, "nominalQuota", "cpu", &quota->nominal);
    if (mnode_text(at->set, "borrowingLimit", "")[0] != '\0')
        mf_quantity(r, at->set, "borrowingLimit", "cpu", &quota->borrowing_limit);
    *g = (struct policy_resource_group){&ids[0], &ids[1], quota, 1, 1};
    struct policy_selector *all = arena_alloc(mem, 1, sizeof *all);
    const uint32_t id = id_of(r, &r->queues, at->name);
    r->queue = mf_room(r->queue, &r->queue_capacity, id, sizeof *r->queue);
    r->queue[id].queue = (struct policy_cluster_queue){
        .name = mf_id_name(&r->queues, id), .cohort = mf_id(&r->cohorts, at->cohort), .groups = g, .group_count = 1,
        .namespace_selector = all, .when_can_preempt = POLICY_TRY_NEXT_FLAVOR,
        .reclaim_within_cohort = reclaims[mf_choice(r, at->set, "reclaimWithinCohort", reclaim, 0)],
        .within_cluster_queue = withins[mf_choice(r, at->set, "withinClusterQueue", within, 0)],
        .borrow_within_cohort = POLICY_NEVER_PREEMPT, .max_priority_threshold = POLICY_NIL, .weight = 1.0};
    const uint32_t local = id_of(r, &r->locals, arena_printf(&r->tree, "%s/%s", at->name, at->name));
    r->local = mf_room(r->local, &r->local_capacity, local, sizeof *r->local);
    r->local[local] = (struct mf_local){.queue = {.name = mf_keep(r, at->name), .cluster_queue = id, .weight = 1.0},
                                        .name_space = mf_id(&r->namespaces, at->name)};
}

static struct policy_shape shape_of(struct mf *r, const struct mnode *t)
{
    struct policy_pod_set *set = arena_alloc(&r->m->mem, 1, sizeof *set);
    struct policy_amount *request = arena_alloc(&r->m->mem, 1, sizeof *request);
    const char *level = mf_string(r, t, "tasLevel", ""), *how = mf_string(r, t, "tasConstraint", "");
    const int64_t pods = mf_int(r, t, "podCount", 0, COUNT_MAX, 1);
    request->resource = mf_id(&r->resources, "cpu");
    if (mf_quantity(r, t, "request", "cpu", &request->amount) && request->amount < 0)
        mf_error(r, t, "request", "Invalid value: must be greater than or equal to 0");
    *set = (struct policy_pod_set){.name = "main", .count = pods == 0 ? 1 : pods, .min_count = POLICY_NIL,
                                   .requests = request, .request_count = 1};
    if (level[0] != '\0' && strcmp(how, "balanced") == 0) {
        set->topology.mode = POLICY_TOPOLOGY_SLICES;
        set->topology.slices[0].level = mf_keep(r, level);
        set->topology.slices[0].size = mf_int(r, t, "sliceSize", 0, COUNT_MAX, 0);
        set->topology.slice_count = 1;
    } else if (level[0] != '\0') {
        set->topology.mode = strcmp(how, "required") == 0 ? POLICY_TOPOLOGY_REQUIRED : POLICY_TOPOLOGY_PREFERRED;
        set->topology.level = mf_keep(r, level);
    }
    return (struct policy_shape){set, 1};
}

static void make_workload(struct mf *r, const struct queue_set *at, const struct template *t, int64_t created,
                          const char *name)
{
    r->workloads = mem_grow(r->workloads, &r->workload_capacity, r->workload_count + 1, sizeof *r->workloads);
    struct mf_workload *w = &r->workloads[r->workload_count++];
    memset(w, 0, sizeof *w);
    w->has_priority = true;
    w->w = (struct manifest_workload){.name_space = at->name, .name = name, .uid = "", .owner_kind = "Workload", .owner = "",
        .queue = at->name, .class_name = t->class_name, .shape = t->shape, .active = true, .created = created,
        .reserved = POLICY_NEVER, .admitted = POLICY_NEVER, .ready = POLICY_NEVER, .ended = POLICY_NEVER,
        .limit_ns = POLICY_NEVER, .cluster_queue = POLICY_NONE, .file = r->file, .line = t->node->line,
        .column = t->node->column};
    w->w.duration_ns = SIM_MS * mf_int(r, t->node, "runtimeMs", 0, INT32_MAX, 0);
    w->w.policy.priority = mf_int(r, t->node, "priority", INT32_MIN, INT32_MAX, 0);
}

/* The templates of a set take turns, each an interval after the one before. */
static void make_set(struct mf *r, const struct queue_set *at, const struct mnode *s, unsigned set_index,
                     const struct template **templates)
{
    const int64_t interval = SIM_MS * mf_int(r, s, "creationIntervalMs", 0, INT32_MAX, 0);
    const int64_t count = mf_int(r, s, "count", 0, COUNT_MAX, 0);
    const uint32_t n = mnode_count(mnode_get(s, "workloads"));
    const struct template *mine = *templates;
    REQUIRE(n == 0 || mine != NULL);
    int64_t when = BEGIN_NS;
    *templates += n;
    for (int64_t i = 0; i < count && r->diags->error_count == 0; i++)
        for (uint32_t k = 0; k < n; k++) {
            if (r->workload_count >= OBJECTS_MAX) {
                mf_error(r, s, "count", "Invalid value: more than %d workloads in all", OBJECTS_MAX);
                return;
            }
            when = sim_time_after(when, interval);
            make_workload(r, at, &mine[k], when,
                          arena_printf(&r->m->mem, "%s-%u-%lld-%u", mine[k].class_name, set_index, (long long)i, (unsigned)k));
        }
}

static const struct template *templates_of(struct mf *r, const struct mnode *queue_set)
{
    uint32_t n = 0;
    const struct mnode *sets = mf_list(r, queue_set, "workloadsSets"), *s, *t;
    for (s = mnode_first(sets); s != NULL; s = s->next)
        n += mnode_count(mf_list(r, s, "workloads"));
    struct template *v = arena_alloc(&r->tree, (size_t)n + 1, sizeof *v);
    n = 0;
    for (s = mnode_first(sets); s != NULL; s = s->next)
        for (t = mnode_first(mnode_get(s, "workloads")); t != NULL; t = t->next) {
            const size_t mark = mf_into(r, ".workloadsSets.workloads[%.60s]", mnode_text(t, "className", ""));
            v[n++] = (struct template){t, mf_keep(r, mnode_text(t, "className", "workload")), shape_of(r, t)};
            mf_out(r, mark);
        }
    return v;
}

static void make_queue_set(struct mf *r, const struct mnode *o, const struct mnode *set, const char *cohort,
                           unsigned set_index)
{
    const int64_t count = mf_int(r, set, "count", 0, COUNT_MAX, 0);
    const struct template *templates = r->phase == 1 ? templates_of(r, set) : NULL;
    for (int64_t i = 0; i < count && r->diags->error_count == 0; i++) {
        struct queue_set at = {.set = set, .cohort = cohort};
        at.name = arena_printf(&r->m->mem, "%s-%u-%lld-%s", mnode_text(set, "className", "cq"), set_index, (long long)i, cohort);
        if (r->phase == 0) {
            make_queue(r, o, &at);
            continue;
        }
        const struct template *next = templates;
        unsigned k = 0;
        for (const struct mnode *s = mnode_first(mf_list(r, set, "workloadsSets")); s != NULL; s = s->next, k++)
            make_set(r, &at, s, k, &next);
    }
}

bool mf_is_generator(const struct mnode *o)
{
    const struct mnode *cohorts = mnode_get(o, "cohorts"), *first = mnode_first(cohorts);
    return mnode_get(o, "kind") == NULL && cohorts != NULL && cohorts->kind == MNODE_LIST &&
           mnode_get(first, "queuesSets") != NULL;
}

void mf_generator(struct mf *r, const struct mnode *o)
{
    unsigned s = 0;
    r->kind = "generator";
    r->name = "";
    r->m->generator = true;
    if (r->phase == 0) {
        make_topology(r, o);
        make_flavor(r, o);
    }
    for (const struct mnode *c = mnode_first(mf_list(r, o, "cohorts")); c != NULL; c = c->next, s++) {
        const size_t mark = mf_into(r, ".cohorts[%u]", s);
        const int64_t count = mf_int(r, c, "count", 0, COUNT_MAX, 0);
        for (int64_t i = 0; i < count && r->diags->error_count == 0; i++) {
            const char *cohort = arena_printf(&r->m->mem, "%s-%lld", mnode_text(c, "className", "cohort"), (long long)i);
            unsigned k = 0;
            for (const struct mnode *q = mnode_first(mf_list(r, c, "queuesSets")); q != NULL; q = q->next, k++) {
                const size_t inner = mf_into(r, ".queuesSets[%u]", k);
                make_queue_set(r, o, q, cohort, k);
                mf_out(r, inner);
            }
        }
        mf_out(r, mark);
    }
}
