/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workload: what it asks for, and what its status tells of its past (trace-formats 7.7). */
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/manifest/manifest_priv.h"
#include "sim/sim_time.h"

static const char running_label[] = "kueue.x-k8s.io/performance-scheduler-running-ms";
static const char class_label[] = "kueue.x-k8s.io/performance-scheduler-class";

struct mf_workload *mf_workload_new(struct mf *r, const struct mnode *o)
{
    r->workloads =
        mem_grow(r->workloads, &r->workload_capacity, r->workload_count + 1, sizeof *r->workloads);
    struct mf_workload *w = &r->workloads[r->workload_count++];
    const struct mnode *meta = mnode_get(o, "metadata"), *owners = mnode_get(meta, "ownerReferences");
    const struct mnode *owner = mnode_first(owners);
    memset(w, 0, sizeof *w);
    w->w = (struct manifest_workload){
        .name_space = mf_keep(r, r->name_space != NULL ? r->name_space : "default"),
        .name = mf_keep(r, r->name),
        .uid = mf_keep(r, mnode_text(meta, "uid", "")),
        .owner_kind = mf_keep(r, mnode_text(owner, "kind", r->kind)),
        .owner = mf_keep(r, mnode_text(owner, "name", "")),
        .class_name = mf_keep(r, mnode_text(mnode_get(meta, "labels"), class_label, "")),
        .queue = "",
        .active = true,
        .created = mf_time(r, meta, "creationTimestamp"),
        .reserved = POLICY_NEVER,
        .admitted = POLICY_NEVER,
        .ready = POLICY_NEVER,
        .ended = POLICY_NEVER,
        .limit_ns = POLICY_NEVER,
        .duration_ns = POLICY_NEVER,
        .cluster_queue = POLICY_NONE,
        .file = r->file,
        .line = o->line,
        .column = o->column};
    const char *ms = mnode_text(mnode_get(meta, "labels"), running_label, "");
    if (ms[0] >= '0' && ms[0] <= '9' && strlen(ms) < 13)
        w->w.duration_ns = strtoll(ms, NULL, 10) * SIM_MS;
    return w;
}

/* ---- spec ---- */

static void pod_set(struct mf *r, const struct mnode *s, const struct mf_workload *w,
                    struct policy_pod_set *to, const char **why)
{
    static const char *const fields[] = {"name", "template", "count", "minCount", "topologyRequest", NULL};
    const uint32_t space = mf_id(&r->namespaces, w->w.name_space);
    const struct mnode *template = mf_map(r, s, "template");
    mf_known(r, s, fields);
    to->name = mf_keep(r, mf_string(r, s, "name", "main"));
    to->count = mf_int(r, s, "count", 0, INT32_MAX, 1);
    to->min_count = mf_int(r, s, "minCount", 1, INT32_MAX, POLICY_NIL);
    if (to->min_count != POLICY_NIL && to->min_count > to->count)
        mf_error(r, s, NULL, "Invalid value: minCount should be positive and less or equal to count");
    size_t mark = mf_into(r, ".template.spec");
    mf_pod_spec(r, mnode_get(template, "spec"), space, to, why);
    mf_out(r, mark);
    mark = mf_into(r, ".topologyRequest");
    mf_topology_request(r, mf_map(r, s, "topologyRequest"), &to->topology);
    mf_out(r, mark);
}

static void pod_sets(struct mf *r, const struct mnode *spec, struct mf_workload *w)
{
    const struct mnode *list = mf_list(r, spec, "podSets");
    const uint32_t n = mnode_count(list);
    struct policy_pod_set *sets = arena_alloc(&r->m->mem, (size_t)n + 1, sizeof *sets);
    uint32_t i = 0, variable = 0;
    w->w.shape = (struct policy_shape){sets, n};
    if (n == 0)
        mf_error(r, spec, "podSets", "Required value");
    if (n > 18) {
        mf_error(r, list, "podSets", "Too many: must have at most 18 items");
        w->w.shape.pod_set_count = 0;
        return;
    }
    for (const struct mnode *s = mnode_first(list); s != NULL; s = s->next, i++) {
        const size_t mark = mf_into(r, ".podSets[%u]", (unsigned)i);
        pod_set(r, s, w, &sets[i], &w->w.inadmissible);
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(sets[k].name, sets[i].name) == 0)
                mf_error(r, s, NULL, "Duplicate value: {\"name\":\"%.60s\"}", sets[i].name);
        variable += sets[i].min_count != POLICY_NIL;
        mf_out(r, mark);
    }
    if (variable > 1)
        mf_error(r, list, "podSets", "Invalid value: %u: at most one podSet can use minCount",
                 (unsigned)variable);
}

static const char *class_key(struct mf *r, bool pods, const char *name)
{
    return name[0] == '\0' ? NULL : arena_printf(&r->tree, "%s/%s", pods ? "pod" : "workload", name);
}

static void priority(struct mf *r, const struct mnode *spec, struct mf_workload *w)
{
    const struct mnode *ref = mf_map(r, spec, "priorityClassRef");
    w->has_priority = mnode_get(spec, "priority") != NULL;
    w->w.policy.priority = mf_int(r, spec, "priority", INT32_MIN, INT32_MAX, 0);
    if (ref != NULL)
        w->priority_class =
            class_key(r, strcmp(mnode_text(ref, "kind", ""), "PriorityClass") == 0, mf_string(r, ref, "name", ""));
    else
        w->priority_class =
            class_key(r, strstr(mnode_text(spec, "priorityClassSource", ""), "scheduling") != NULL,
                      mf_string(r, spec, "priorityClassName", ""));
    if (w->priority_class != NULL && !w->has_priority)
        mf_error(r, spec, "priority", "Invalid value: priority should not be nil when %s is set",
                 ref != NULL ? "priorityClassRef" : "priorityClassName");
}

/* ---- status ---- */

static void conditions(struct mf *r, const struct mnode *status, struct manifest_workload *w)
{
    unsigned i = 0;
    for (const struct mnode *c = mnode_first(mf_list(r, status, "conditions")); c != NULL; c = c->next, i++) {
        const size_t mark = mf_into(r, ".conditions[%u]", i);
        const char *type = mf_string(r, c, "type", "");
        const bool on = strcmp(mf_string(r, c, "status", ""), "True") == 0;
        const int64_t t = mf_time(r, c, "lastTransitionTime");
        if (on && strcmp(type, "QuotaReserved") == 0)
            w->reserved = t;
        else if (on && strcmp(type, "Admitted") == 0)
            w->admitted = t;
        else if (on && strcmp(type, "PodsReady") == 0)
            w->ready = t;
        else if (on && strcmp(type, "Finished") == 0) {
            w->finished = true;
            w->ended = t;
            w->failed = strcmp(mnode_text(c, "reason", ""), "Failed") == 0;
        }
        mf_out(r, mark);
    }
    if (w->reserved == POLICY_NEVER)
        w->admitted = POLICY_NEVER;
    if (w->admitted == POLICY_NEVER || w->ready < w->admitted)
        w->ready = POLICY_NEVER; /* of an attempt before */
}

static uint32_t set_named(const struct policy_shape *s, const char *name)
{
    for (uint32_t i = 0; i < s->pod_set_count; i++)
        if (strcmp(s->pod_sets[i].name, name) == 0)
            return i;
    return POLICY_NONE;
}

static void assignment(struct mf *r, const struct mnode *a, struct manifest_workload *w, size_t *capacity)
{
    const char *name = mf_string(r, a, "name", "main");
    const uint32_t set = set_named(&w->shape, name);
    if (set == POLICY_NONE) {
        mf_error(r, a, "name", "Not found: \"%.60s\"", name);
        return;
    }
    w->held_counts[set] = mf_int(r, a, "count", 0, INT32_MAX, w->shape.pod_sets[set].count);
    const struct mnode *flavors = mf_map(r, a, "flavors");
    const struct mf_amounts usage = mf_amounts(r, a, "resourceUsage", false);
    for (uint32_t i = 0; i < usage.count; i++) {
        const char *flavor = mnode_text(flavors, mf_id_name(&r->resources, usage.v[i].resource), "");
        const uint32_t id = mf_id(&r->flavors, flavor);
        if (id == POLICY_NONE)
            continue;
        if (w->use_count == *capacity) {
            *capacity = *capacity == 0 ? 4 : 2 * *capacity;
            struct manifest_use *v = arena_alloc(&r->m->mem, *capacity, sizeof *v);
            if (w->use_count > 0)
                memcpy(v, w->uses, w->use_count * sizeof *v);
            w->uses = v;
        }
        w->uses[w->use_count++] = (struct manifest_use){set, id, usage.v[i].resource, usage.v[i].amount};
    }
    if (mnode_get(a, "topologyAssignment") != NULL)
        mf_unsupported(r, "topologyAssignment of workloads that hold quota (they are placed anew)");
}

static void admission(struct mf *r, const struct mnode *status, struct manifest_workload *w)
{
    const struct mnode *a = mf_map(r, status, "admission");
    size_t capacity = 0;
    unsigned i = 0;
    if (a == NULL) {
        if (w->reserved != POLICY_NEVER && !w->finished)
            mf_error(r, status, "admission",
                     "Required value: must be set while the QuotaReserved condition is true");
        return;
    }
    w->cluster_queue = mf_id(&r->queues, mf_string(r, a, "clusterQueue", ""));
    w->held_counts = arena_alloc(&r->m->mem, (size_t)w->shape.pod_set_count + 1, sizeof *w->held_counts);
    for (const struct mnode *s = mnode_first(mf_list(r, a, "podSetAssignments")); s != NULL; s = s->next, i++) {
        const size_t mark = mf_into(r, ".admission.podSetAssignments[%u]", i);
        assignment(r, s, w, &capacity);
        mf_out(r, mark);
    }
}

/* The recorded run: from when its pods were ready (else from its admission) to its end. */
static void run_time(struct manifest_workload *w)
{
    if (w->admitted != POLICY_NEVER && w->ready != POLICY_NEVER)
        w->startup_ns = w->ready - w->admitted;
    if (!w->finished || w->admitted == POLICY_NEVER || w->ended == POLICY_NEVER)
        return;
    const int64_t start = w->ready != POLICY_NEVER && w->ready <= w->ended ? w->ready : w->admitted;
    if (w->ended >= start && w->duration_ns == POLICY_NEVER)
        w->duration_ns = w->ended - start;
}

static void status_of(struct mf *r, const struct mnode *status, struct manifest_workload *w)
{
    const size_t mark = mf_into(r, ".status");
    conditions(r, status, w);
    admission(r, status, w);
    w->past_ns = SIM_SECOND * mf_int(r, status, "accumulatedPastExecutionTimeSeconds", 0, INT32_MAX,
                                     mf_int(r, status, "accumulatedPastExexcutionTimeSeconds", 0, INT32_MAX, 0));
    const struct mnode *stats = mnode_at(status, "schedulingStats.evictions");
    for (const struct mnode *e = mnode_first(stats); e != NULL; e = e->next)
        w->evictions += (uint32_t)mf_int(r, e, "count", 0, INT32_MAX, 0);
    if (mnode_count(mnode_get(status, "reclaimablePods")) > 0 && !w->finished)
        mf_unsupported(r, "status.reclaimablePods of unfinished workloads");
    run_time(w);
    mf_out(r, mark);
}

void mf_workload(struct mf *r, const struct mnode *o)
{
    static const char *const fields[] = {"podSets", "queueName", "priorityClassRef", "priorityClassName",
        "priorityClassSource", "priority", "active", "maximumExecutionTimeSeconds", "preemptionGates", NULL};
    const struct mnode *spec = mf_map(r, o, "spec");
    const char *key = arena_printf(&r->tree, "%s/%s", r->name_space == NULL ? "default" : r->name_space, r->name);
    if (!mf_define(r, &r->workload_names, r->name[0] == '\0' ? POLICY_NONE : mf_id(&r->workload_names, key), o))
        return;
    struct mf_workload *w = mf_workload_new(r, o);
    const size_t mark = mf_into(r, ".spec");
    mf_known(r, spec, fields);
    w->w.queue = mf_keep(r, mf_string(r, spec, "queueName", ""));
    w->w.active = mf_bool(r, spec, "active", true);
    const int64_t most = mf_int(r, spec, "maximumExecutionTimeSeconds", 1, INT32_MAX, 0);
    w->w.limit_ns = most == 0 ? POLICY_NEVER : most * SIM_SECOND;
    priority(r, spec, w);
    pod_sets(r, spec, w);
    if (mnode_get(spec, "preemptionGates") != NULL)
        mf_unsupported(r, "Workload spec.preemptionGates");
    const struct mnode *notes = mnode_at(o, "metadata.annotations");
    if (mnode_get(notes, "kueue.x-k8s.io/workload-slice-replacement-for") != NULL)
        mf_unsupported(r, "elastic workload slices");
    const char *boost = mnode_text(notes, "kueue.x-k8s.io/priority-boost", "");
    if (boost[0] != '\0')
        mf_unsupported(r, "annotation kueue.x-k8s.io/priority-boost (gate PriorityBoost)");
    mf_out(r, mark);
    status_of(r, mnode_get(o, "status"), &w->w);
}
