/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Job, JobSet, PyTorchJob and Deployment as the Workloads that Kueue's integrations make of them.
 * Only objects with a queue are managed. An object whose Workload is in the manifest too is left
 * out at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/manifest/manifest_priv.h"

enum { DEPLOYMENT_REPLICAS_MAX = 100000 };

static const char *queue_of(const struct mnode *o)
{
    static const char key[] = "kueue.x-k8s.io/queue-name";
    const struct mnode *meta = mnode_get(o, "metadata");
    return mnode_text(mnode_get(meta, "labels"), key, mnode_text(mnode_get(meta, "annotations"), key, ""));
}

/* The workload of an object with a queue; NULL (counted) when it has none. */
static struct mf_workload *begin(struct mf *r, const struct mnode *o, uint32_t sets)
{
    const char *queue = queue_of(o), *class_name;
    if (queue[0] == '\0') {
        char what[120];
        snprintf(what, sizeof what, "%.60s without label kueue.x-k8s.io/queue-name is not managed", r->kind);
        mf_unsupported(r, what);
        return NULL;
    }
    struct mf_workload *w = mf_workload_new(r, o);
    w->from_job = true;
    w->w.owner_kind = mf_keep(r, r->kind);
    w->w.owner = w->w.name;
    w->w.queue = mf_keep(r, queue);
    class_name = mnode_text(mnode_at(o, "metadata.labels"), "kueue.x-k8s.io/priority-class", "");
    if (class_name[0] != '\0')
        w->priority_class = arena_printf(&r->tree, "workload/%s", class_name);
    w->w.shape.pod_sets = arena_alloc(&r->m->mem, (size_t)sets + 1, sizeof *w->w.shape.pod_sets);
    return w;
}

static void add_set(struct mf *r, struct mf_workload *w, const char *name, const struct mnode *template,
                    int64_t count)
{
    struct policy_pod_set set = {.name = mf_keep(r, name), .count = count, .min_count = POLICY_NIL};
    const size_t mark = mf_into(r, ".template.spec");
    const struct mnode *spec = mf_map(r, template, "spec");
    mf_pod_spec(r, spec, mf_id(&r->namespaces, w->w.name_space), &set, &w->w.inadmissible);
    mf_topology_annotations(r, mnode_at(template, "metadata.annotations"), &set.topology);
    if (w->priority_class == NULL) {
        const char *name_of = mf_string(r, spec, "priorityClassName", "");
        w->priority_class = arena_printf(&r->tree, "pod/%s", name_of);
    }
    mf_out(r, mark);
    struct policy_pod_set *sets = arena_alloc(&r->m->mem, (size_t)w->w.shape.pod_set_count + 1, sizeof *sets);
    if (w->w.shape.pod_set_count > 0)
        memcpy(sets, w->w.shape.pod_sets, w->w.shape.pod_set_count * sizeof *sets);
    sets[w->w.shape.pod_set_count++] = set;
    w->w.shape.pod_sets = sets;
}

/* Pods at once: parallelism, but no more than completions. */
static int64_t pods_of(struct mf *r, const struct mnode *spec)
{
    const int64_t parallel = mf_int(r, spec, "parallelism", 0, INT32_MAX, 1);
    const int64_t completions = mf_int(r, spec, "completions", 0, INT32_MAX, INT32_MAX);
    return completions < parallel ? completions : parallel;
}

static void job_status(struct mf *r, const struct mnode *o, struct manifest_workload *w)
{
    const struct mnode *status = mf_map(r, o, "status");
    const size_t mark = mf_into(r, ".status");
    const int64_t start = mf_time(r, status, "startTime");
    for (const struct mnode *c = mnode_first(mf_list(r, status, "conditions")); c != NULL; c = c->next) {
        const char *type = mnode_text(c, "type", "");
        const bool done = strcmp(type, "Complete") == 0 || strcmp(type, "Completed") == 0 ||
                          strcmp(type, "Succeeded") == 0;
        const bool failed = strcmp(type, "Failed") == 0;
        if (strcmp(mnode_text(c, "status", ""), "True") != 0 || (!done && !failed))
            continue;
        w->finished = true;
        w->failed = failed;
        w->ended = mf_time(r, c, "lastTransitionTime");
        if (start != POLICY_NEVER && w->ended != POLICY_NEVER && w->ended >= start) {
            w->admitted = w->reserved = start;
            w->duration_ns = w->ended - start;
        }
    }
    mf_out(r, mark);
}

void mf_job(struct mf *r, const struct mnode *o)
{
    const struct mnode *spec = mf_map(r, o, "spec");
    struct mf_workload *w = begin(r, o, 1);
    if (w == NULL)
        return;
    const size_t mark = mf_into(r, ".spec");
    add_set(r, w, "main", mf_map(r, spec, "template"), pods_of(r, spec));
    mf_out(r, mark);
    const char *least = mnode_text(mnode_at(o, "metadata.annotations"), "kueue.x-k8s.io/job-min-parallelism", "");
    struct policy_pod_set *set = arena_alloc(&r->m->mem, 1, sizeof *set);
    *set = w->w.shape.pod_sets[0];
    const long long fewest = least[0] >= '1' && least[0] <= '9' ? strtoll(least, NULL, 10) : set->count;
    if (fewest < set->count)
        set->min_count = fewest;
    w->w.shape.pod_sets = set;
    job_status(r, o, &w->w);
}

void mf_jobset(struct mf *r, const struct mnode *o)
{
    const struct mnode *spec = mf_map(r, o, "spec"), *list = mf_list(r, spec, "replicatedJobs");
    struct mf_workload *w = begin(r, o, mnode_count(list));
    unsigned i = 0;
    for (const struct mnode *j = mnode_first(list); j != NULL && w != NULL; j = j->next, i++) {
        const size_t mark = mf_into(r, ".spec.replicatedJobs[%u]", i);
        const struct mnode *job = mnode_at(j, "template.spec");
        const int64_t replicas = mf_int(r, j, "replicas", 0, INT32_MAX, 1), pods = pods_of(r, job);
        if (replicas > 0 && pods > INT32_MAX / replicas)
            mf_error(r, j, "replicas", "Invalid value: replicas x pods must be less than or equal to 2147483647");
        else
            add_set(r, w, mf_string(r, j, "name", "main"), mf_map(r, job, "template"), replicas * pods);
        mf_out(r, mark);
    }
    if (w != NULL && i == 0)
        mf_error(r, o, "replicatedJobs", "Required value");
    if (w != NULL)
        job_status(r, o, &w->w);
}

void mf_pytorch(struct mf *r, const struct mnode *o)
{
    static const char *const roles[][2] = {{"Master", "master"}, {"Worker", "worker"}};
    const struct mnode *specs = mf_map(r, mf_map(r, o, "spec"), "pytorchReplicaSpecs");
    struct mf_workload *w = begin(r, o, 2);
    for (size_t i = 0; i < 2 && w != NULL; i++) {
        const struct mnode *role = mnode_get(specs, roles[i][0]);
        if (role == NULL)
            continue;
        const size_t mark = mf_into(r, ".spec.pytorchReplicaSpecs.%s", roles[i][0]);
        add_set(r, w, roles[i][1], mf_map(r, role, "template"), mf_int(r, role, "replicas", 0, INT32_MAX, 1));
        mf_out(r, mark);
    }
    if (w != NULL && w->w.shape.pod_set_count == 0)
        mf_error(r, o, "spec.pytorchReplicaSpecs", "Required value");
    if (w != NULL)
        job_status(r, o, &w->w);
}

/* Each pod of a Deployment is a Workload of its own, and does not end. */
void mf_deployment(struct mf *r, const struct mnode *o)
{
    const struct mnode *spec = mf_map(r, o, "spec");
    if (mf_controller(r, o) || queue_of(o)[0] == '\0')
        return;
    const size_t mark = mf_into(r, ".spec");
    const int64_t replicas = mf_int(r, spec, "replicas", 0, DEPLOYMENT_REPLICAS_MAX, 1);
    for (int64_t i = 0; i < replicas; i++) {
        struct mf_workload *w = begin(r, o, 1);
        if (w == NULL)
            break;
        w->w.name = arena_printf(&r->m->mem, "%s-%05lld", r->name, (long long)i);
        w->w.forever = true;
        add_set(r, w, "main", mf_map(r, spec, "template"), 1);
    }
    mf_out(r, mark);
}
