/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kubernetes objects of a recorded case as objects of the policy interface. */
#include <stdio.h>
#include <string.h>

#include "models/policies/quantity.h"
#include "studies/conform_kueue_read.h"
#include "studies/jsonl.h"

static size_t length(const cJSON *list)
{
    return (size_t)cJSON_GetArraySize(list);
}

static const char *name_of(const cJSON *object)
{
    return jsonl_string(jsonl_get(object, "metadata"), "name", "");
}

static bool is(const char *text, const char *word)
{
    return strcmp(text, word) == 0;
}

struct policy_label *kueue_read_labels(struct arena *mem, const cJSON *map, uint32_t *count)
{
    struct policy_label *to = arena_alloc(mem, length(map) + 1, sizeof *to);
    const cJSON *l;
    *count = 0;
    cJSON_ArrayForEach(l, map)
        to[(*count)++] = (struct policy_label){l->string, cJSON_IsString(l) ? l->valuestring : ""};
    return to;
}

enum policy_effect kueue_read_effect(const char *text)
{
    return is(text, "NoSchedule")         ? POLICY_NO_SCHEDULE
           : is(text, "NoExecute")        ? POLICY_NO_EXECUTE
           : is(text, "PreferNoSchedule") ? POLICY_PREFER_NO_SCHEDULE
                                          : POLICY_EFFECT_ANY;
}

static struct policy_taint *read_taints(struct arena *mem, const cJSON *list, uint32_t *count)
{
    struct policy_taint *to = arena_alloc(mem, length(list) + 1, sizeof *to);
    const cJSON *t;
    *count = 0;
    cJSON_ArrayForEach(t, list)
        to[(*count)++] = (struct policy_taint){jsonl_string(t, "key", ""), jsonl_string(t, "value", ""),
                                               kueue_read_effect(jsonl_string(t, "effect", ""))};
    return to;
}

struct policy_toleration *kueue_read_tolerations(struct arena *mem, const cJSON *list,
                                                 uint32_t *count)
{
    struct policy_toleration *to = arena_alloc(mem, length(list) + 1, sizeof *to);
    const cJSON *t;
    *count = 0;
    cJSON_ArrayForEach(t, list)
        to[(*count)++] = (struct policy_toleration){
            .key = jsonl_string(t, "key", ""),
            .value = jsonl_string(t, "value", ""),
            .effect = kueue_read_effect(jsonl_string(t, "effect", "")),
            .exists = is(jsonl_string(t, "operator", "Equal"), "Exists")};
    return to;
}

static enum policy_operator read_operator(const char *text)
{
    static const char *const names[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
    for (int i = 0; i < 6; i++)
        if (is(text, names[i]))
            return (enum policy_operator)i;
    return POLICY_IN;
}

struct policy_selector kueue_read_selector(struct arena *mem, const cJSON *s)
{
    struct policy_selector to = {0};
    const cJSON *exprs = jsonl_get(s, "matchExpressions"), *x, *v;
    to.labels = kueue_read_labels(mem, jsonl_get(s, "matchLabels"), &to.label_count);
    struct policy_expr *e = arena_alloc(mem, length(exprs) + 1, sizeof *e);
    cJSON_ArrayForEach(x, exprs) {
        struct policy_expr *at = &e[to.expr_count++];
        const cJSON *values = jsonl_get(x, "values");
        const char **texts = arena_alloc(mem, length(values) + 1, sizeof *texts);
        *at = (struct policy_expr){.key = jsonl_string(x, "key", ""),
                                   .op = read_operator(jsonl_string(x, "operator", "In")),
                                   .values = texts};
        cJSON_ArrayForEach(v, values)
            texts[at->value_count++] = cJSON_IsString(v) ? v->valuestring : "";
    }
    to.exprs = e;
    return to;
}

bool kueue_read_amount(struct kueue_reader *r, const char *resource, const cJSON *value,
                       int64_t *amount)
{
    char number[32];
    const char *text = cJSON_IsString(value) ? value->valuestring : number;
    if (cJSON_IsNumber(value))
        snprintf(number, sizeof number, "%.17g", value->valuedouble);
    else if (!cJSON_IsString(value))
        return err_set(r->e, ERR_INPUT, "quantity of '%s' is missing", resource);
    if (!quantity_parse(text, is(resource, "cpu"), amount))
        return err_set(r->e, ERR_INPUT, "'%s' is not a quantity of '%s'", text, resource);
    return true;
}

static bool read_limit(struct kueue_reader *r, const char *resource, const cJSON *value, int64_t *to)
{
    *to = POLICY_NIL;
    return value == NULL || kueue_read_amount(r, resource, value, to);
}

static double read_weight(const cJSON *spec)
{
    double w = 1.0;
    const cJSON *v = jsonl_get(jsonl_get(spec, "fairSharing"), "weight");
    if (cJSON_IsNumber(v))
        return v->valuedouble;
    if (cJSON_IsString(v))
        quantity_real(v->valuestring, &w);
    return w;
}

static bool read_flavor_quotas(struct kueue_reader *r, const cJSON *resources, uint32_t count,
                               struct policy_quota *row)
{
    const cJSON *q;
    uint32_t i = 0;
    cJSON_ArrayForEach(q, resources) {
        const char *name = jsonl_string(q, "name", "");
        if (i == count)
            return err_set(r->e, ERR_INPUT, "flavor has more resources than its group covers");
        if (!kueue_read_amount(r, name, jsonl_get(q, "nominalQuota"), &row[i].nominal) ||
            !read_limit(r, name, jsonl_get(q, "borrowingLimit"), &row[i].borrowing_limit) ||
            !read_limit(r, name, jsonl_get(q, "lendingLimit"), &row[i].lending_limit))
            return false;
        i++;
    }
    return i == count || err_set(r->e, ERR_INPUT, "flavor lacks a resource of its group");
}

static bool read_group(struct kueue_reader *r, const cJSON *g, struct policy_resource_group *to)
{
    struct arena *mem = &r->c->mem;
    const cJSON *flavors = jsonl_get(g, "flavors"), *first = cJSON_GetArrayItem(flavors, 0), *x;
    const cJSON *listed = jsonl_get(first, "resources");
    to->resource_count = (uint32_t)length(listed);
    to->flavor_count = (uint32_t)length(flavors);
    uint32_t *resources = arena_alloc(mem, to->resource_count + 1u, sizeof *resources), i = 0;
    uint32_t *ids = arena_alloc(mem, to->flavor_count + 1u, sizeof *ids);
    struct policy_quota *quotas =
        arena_alloc(mem, (size_t)to->resource_count * to->flavor_count + 1, sizeof *quotas);
    cJSON_ArrayForEach(x, listed)
        resources[i++] =
            kueue_name(r, r->resources, &r->resource_count, jsonl_string(x, "name", ""));
    i = 0;
    cJSON_ArrayForEach(x, flavors) {
        ids[i] = kueue_name(r, r->flavors, &r->flavor_count, jsonl_string(x, "name", ""));
        if (!read_flavor_quotas(r, jsonl_get(x, "resources"), to->resource_count,
                                &quotas[(size_t)i * to->resource_count]))
            return false;
        i++;
    }
    to->resources = resources;
    to->flavors = ids;
    to->quotas = quotas;
    return true;
}

static bool read_groups(struct kueue_reader *r, const cJSON *spec,
                        const struct policy_resource_group **to, uint32_t *count)
{
    const cJSON *groups = jsonl_get(spec, "resourceGroups"), *g;
    struct policy_resource_group *list = arena_alloc(&r->c->mem, length(groups) + 1, sizeof *list);
    *count = 0;
    *to = list;
    cJSON_ArrayForEach(g, groups)
        if (!read_group(r, g, &list[(*count)++]))
            return false;
    return true;
}

static enum policy_preemption read_policy(const cJSON *o, const char *name)
{
    const char *text = jsonl_string(o, name, "Never");
    return is(text, "Any")                         ? POLICY_ANY
           : is(text, "LowerPriority")             ? POLICY_LOWER_PRIORITY
           : is(text, "LowerOrNewerEqualPriority") ? POLICY_LOWER_OR_NEWER_EQUAL
                                                   : POLICY_NEVER_PREEMPT;
}

static void read_preemption(const cJSON *spec, struct policy_cluster_queue *q)
{
    const cJSON *p = jsonl_get(spec, "preemption"), *b = jsonl_get(p, "borrowWithinCohort");
    q->within_cluster_queue = read_policy(p, "withinClusterQueue");
    q->reclaim_within_cohort = read_policy(p, "reclaimWithinCohort");
    q->borrow_within_cohort = read_policy(b, "policy");
    q->max_priority_threshold = jsonl_int(b, "maxPriorityThreshold", POLICY_NIL);
}

static void read_fungibility(const cJSON *spec, struct policy_cluster_queue *q)
{
    const cJSON *f = jsonl_get(spec, "flavorFungibility");
    q->when_can_borrow = is(jsonl_string(f, "whenCanBorrow", "MayStopSearch"), "TryNextFlavor")
                             ? POLICY_TRY_NEXT_FLAVOR
                             : POLICY_MAY_STOP_SEARCH;
    q->when_can_preempt = is(jsonl_string(f, "whenCanPreempt", "TryNextFlavor"), "TryNextFlavor")
                              ? POLICY_TRY_NEXT_FLAVOR
                              : POLICY_MAY_STOP_SEARCH;
    q->preference = is(jsonl_string(f, "preference", ""), "PreemptionOverBorrowing")
                        ? POLICY_PREEMPTION_OVER_BORROWING
                        : POLICY_BORROWING_OVER_PREEMPTION;
}

static enum policy_stop read_stop(const cJSON *spec)
{
    const char *text = jsonl_string(spec, "stopPolicy", "None");
    return is(text, "Hold") ? POLICY_HOLD : is(text, "HoldAndDrain") ? POLICY_HOLD_AND_DRAIN : POLICY_RUN;
}

bool kueue_read_cluster_queue(struct kueue_reader *r, const cJSON *object,
                              struct policy_cluster_queue *q)
{
    const cJSON *spec = jsonl_get(object, "spec"), *s = jsonl_get(spec, "namespaceSelector");
    const char *cohort = jsonl_string(spec, "cohortName", "");
    *q = (struct policy_cluster_queue){.name = name_of(object), .cohort = POLICY_NONE};
    if (cohort[0] != '\0')
        q->cohort = kueue_name(r, r->cohorts, &r->cohort_count, cohort);
    q->queueing = is(jsonl_string(spec, "queueingStrategy", ""), "StrictFIFO")
                      ? POLICY_STRICT_FIFO
                      : POLICY_BEST_EFFORT_FIFO;
    if (s != NULL) {
        struct policy_selector *selector = arena_alloc(&r->c->mem, 1, sizeof *selector);
        *selector = kueue_read_selector(&r->c->mem, s);
        q->namespace_selector = selector;
    }
    read_preemption(spec, q);
    read_fungibility(spec, q);
    q->weight = read_weight(spec);
    q->stop = read_stop(spec);
    q->usage_based_admission = is(jsonl_string(jsonl_get(spec, "admissionScope"), "admissionMode", ""),
                                  "UsageBasedAdmissionFairSharing");
    return read_groups(r, spec, &q->groups, &q->group_count);
}

/* ---- lists by kind ---- */

struct lists {
    struct policy_flavor *flavors;
    struct policy_cohort *cohorts;
    struct policy_cluster_queue *queues;
    struct policy_local_queue *locals;
    struct policy_topology *topologies;
    struct policy_node *nodes;
};

static void read_flavor(struct kueue_reader *r, const cJSON *o, struct policy_flavor *f)
{
    struct arena *mem = &r->c->mem;
    const cJSON *spec = jsonl_get(o, "spec");
    const char *topology = jsonl_string(spec, "topologyName", "");
    *f = (struct policy_flavor){.name = name_of(o), .topology = POLICY_NONE};
    f->labels = kueue_read_labels(mem, jsonl_get(spec, "nodeLabels"), &f->label_count);
    f->taints = read_taints(mem, jsonl_get(spec, "nodeTaints"), &f->taint_count);
    f->tolerations =
        kueue_read_tolerations(mem, jsonl_get(spec, "tolerations"), &f->toleration_count);
    if (topology[0] != '\0')
        f->topology = kueue_name(r, r->topologies, &r->topology_count, topology);
}

static bool read_cohort(struct kueue_reader *r, const cJSON *o, struct policy_cohort *c)
{
    const cJSON *spec = jsonl_get(o, "spec");
    const char *parent = jsonl_string(spec, "parentName", "");
    c->parent = parent[0] == '\0' ? POLICY_NONE
                                  : kueue_name(r, r->cohorts, &r->cohort_count, parent);
    c->weight = read_weight(spec);
    return read_groups(r, spec, &c->groups, &c->group_count);
}

static void read_topology(struct kueue_reader *r, const cJSON *o, struct policy_topology *t)
{
    const cJSON *levels = jsonl_get(jsonl_get(o, "spec"), "levels"), *l;
    const char **names = arena_alloc(&r->c->mem, length(levels) + 1, sizeof *names);
    *t = (struct policy_topology){.name = name_of(o), .levels = names};
    cJSON_ArrayForEach(l, levels)
        names[t->level_count++] = jsonl_string(l, "nodeLabel", "");
}

static bool read_node(struct kueue_reader *r, const cJSON *o, struct policy_node *n)
{
    struct arena *mem = &r->c->mem;
    const cJSON *status = jsonl_get(o, "status"), *all = jsonl_get(status, "allocatable"), *x;
    struct policy_amount *amounts = arena_alloc(mem, length(all) + 1, sizeof *amounts);
    *n = (struct policy_node){.name = name_of(o), .allocatable = amounts};
    n->labels =
        kueue_read_labels(mem, jsonl_get(jsonl_get(o, "metadata"), "labels"), &n->label_count);
    n->taints = read_taints(mem, jsonl_get(jsonl_get(o, "spec"), "taints"), &n->taint_count);
    n->unschedulable = jsonl_bool(jsonl_get(o, "spec"), "unschedulable", false);
    cJSON_ArrayForEach(x, jsonl_get(status, "conditions"))
        n->ready |= is(jsonl_string(x, "type", ""), "Ready") &&
                    is(jsonl_string(x, "status", ""), "True");
    cJSON_ArrayForEach(x, all) {
        struct policy_amount *a = &amounts[n->allocatable_count++];
        a->resource = kueue_name(r, r->resources, &r->resource_count, x->string);
        if (!kueue_read_amount(r, x->string, x, &a->amount))
            return false;
    }
    return true;
}

static void read_local(struct kueue_reader *r, const cJSON *o, struct policy_local_queue *q)
{
    const cJSON *spec = jsonl_get(o, "spec");
    *q = (struct policy_local_queue){.name = name_of(o), .weight = read_weight(spec)};
    q->cluster_queue =
        kueue_find(r->queues, r->queue_count, jsonl_string(spec, "clusterQueue", ""));
    q->stop = read_stop(spec);
    if (q->cluster_queue == POLICY_NONE)
        err_set(r->e, ERR_INPUT, "LocalQueue '%s' names an unknown ClusterQueue", q->name);
}

static bool read_one(struct kueue_reader *r, const cJSON *o, struct lists *l)
{
    struct policy_config *c = &r->c->config;
    const char *kind = jsonl_string(o, "kind", ""), *name = name_of(o);
    if (is(kind, "ResourceFlavor"))
        read_flavor(r, o, &l->flavors[kueue_name(r, r->flavors, &r->flavor_count, name)]);
    else if (is(kind, "Topology"))
        read_topology(r, o, &l->topologies[kueue_name(r, r->topologies, &r->topology_count, name)]);
    else if (is(kind, "Node"))
        return read_node(r, o, &l->nodes[c->node_count++]);
    else if (is(kind, "Cohort"))
        return read_cohort(r, o, &l->cohorts[kueue_name(r, r->cohorts, &r->cohort_count, name)]);
    else if (is(kind, "ClusterQueue"))
        return kueue_read_cluster_queue(
            r, o, &l->queues[kueue_name(r, r->queues, &r->queue_count, name)]);
    else if (is(kind, "LocalQueue"))
        read_local(r, o, &l->locals[kueue_name(r, r->locals, &r->local_count, name)]);
    else
        return err_set(r->e, ERR_INPUT, "unknown kind '%s'", kind);
    return r->e->code == ERR_NONE;
}

bool kueue_read_objects(struct kueue_reader *r, const cJSON *objects)
{
    struct arena *mem = &r->c->mem;
    struct policy_config *c = &r->c->config;
    const size_t n = length(objects) * 2 + 64; /* cohorts that are only named have no object */
    struct lists l = {arena_alloc(mem, n, sizeof *l.flavors), arena_alloc(mem, n, sizeof *l.cohorts),
                      arena_alloc(mem, n, sizeof *l.queues),  arena_alloc(mem, n, sizeof *l.locals),
                      arena_alloc(mem, n, sizeof *l.topologies), arena_alloc(mem, n, sizeof *l.nodes)};
    for (size_t i = 0; i < n; i++)
        l.cohorts[i] = (struct policy_cohort){.parent = POLICY_NONE, .weight = 1.0};
    const cJSON *o;
    cJSON_ArrayForEach(o, objects)
        if (!read_one(r, o, &l))
            return false;
    for (uint32_t i = 0; i < r->cohort_count; i++)
        l.cohorts[i].name = r->cohorts[i];
    c->flavors = l.flavors;
    c->flavor_count = r->flavor_count;
    c->cohorts = l.cohorts;
    c->cohort_count = r->cohort_count;
    c->cluster_queues = l.queues;
    c->cluster_queue_count = r->queue_count;
    c->local_queues = l.locals;
    c->local_queue_count = r->local_count;
    c->topologies = l.topologies;
    c->topology_count = r->topology_count;
    c->nodes = l.nodes;
    return true;
}
