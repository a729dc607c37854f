/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs of a recorded case: workloads of the policy interface, and what their pods do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_time.h"
#include "studies/conform_kueue_read.h"
#include "studies/jsonl.h"

static size_t length(const cJSON *list)
{
    return (size_t)cJSON_GetArraySize(list);
}

/* Days since 2026-01-01 of a date of the Gregorian calendar. */
static int64_t days_since_start(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    const int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    const int64_t of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
    const int64_t day = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return era * 146097 + day - 719468 - 20454;
}

static bool read_time(const char *text, int64_t *ns)
{
    int y, mo, d, h, mi, s;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &y, &mo, &d, &h, &mi, &s) != 6)
        return false;
    *ns = (days_since_start(y, mo, d) * 86400 + h * 3600 + mi * 60 + s) * SIM_SECOND;
    return true;
}

static int64_t after(const cJSON *o, const char *name)
{
    const int64_t s = jsonl_int(o, name, INT64_MIN);
    return s == INT64_MIN ? POLICY_NEVER : s * SIM_SECOND;
}

static void read_attempts(struct kueue_reader *r, const cJSON *job, struct kueue_job *j)
{
    const cJSON *list = jsonl_get(job, "attempts"), *a;
    j->attempts = arena_alloc(&r->c->mem, length(list) + 1, sizeof *j->attempts);
    cJSON_ArrayForEach(a, list)
        j->attempts[j->attempt_count++] = (struct kueue_attempt){
            after(a, "ready"), after(a, "unready"), after(a, "recovered"), after(a, "end")};
    if (j->attempt_count == 0)
        j->attempts[j->attempt_count++] = (struct kueue_attempt){
            POLICY_NEVER, POLICY_NEVER, POLICY_NEVER, after(job, "runtime")};
}

static struct policy_amount *amount_of(struct policy_amount *list, uint32_t *count, uint32_t id)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i].resource == id)
            return &list[i];
    list[*count] = (struct policy_amount){id, 0};
    return &list[(*count)++];
}

/* Containers add up, an init container needs its own at once. */
static bool add_containers(struct kueue_reader *r, const cJSON *containers, bool init,
                           struct policy_amount *list, uint32_t *count)
{
    const cJSON *c, *q;
    cJSON_ArrayForEach(c, containers) {
        cJSON_ArrayForEach(q, jsonl_get(jsonl_get(c, "resources"), "requests")) {
            int64_t v;
            if (!kueue_read_amount(r, q->string, q, &v))
                return false;
            struct policy_amount *a = amount_of(
                list, count, kueue_name(r, r->resources, &r->resource_count, q->string));
            a->amount = !init ? a->amount + v : v > a->amount ? v : a->amount;
        }
    }
    return true;
}

static size_t request_bound(const cJSON *spec)
{
    static const char *const lists[] = {"containers", "initContainers"};
    size_t n = 1;
    for (int i = 0; i < 2; i++) {
        const cJSON *c;
        cJSON_ArrayForEach(c, jsonl_get(spec, lists[i]))
            n += length(jsonl_get(jsonl_get(c, "resources"), "requests"));
    }
    return n;
}

static void read_affinity(struct kueue_reader *r, const cJSON *spec, struct policy_pod_set *p)
{
    const cJSON *node = jsonl_get(jsonl_get(spec, "affinity"), "nodeAffinity");
    const cJSON *terms = jsonl_get(
        jsonl_get(node, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
    struct policy_selector *list = arena_alloc(&r->c->mem, length(terms) + 1, sizeof *list);
    const cJSON *t;
    cJSON_ArrayForEach(t, terms)
        list[p->affinity_term_count++] = kueue_read_selector(&r->c->mem, t);
    p->affinity_terms = list;
}

static void read_slices(const cJSON *t, struct policy_topology_request *to)
{
    const cJSON *list = jsonl_get(t, "podsetSliceRequiredTopologyConstraints"), *s;
    const char *level = jsonl_string(t, "podSetSliceRequiredTopology", "");
    cJSON_ArrayForEach(s, list) {
        if (to->slice_count == POLICY_SLICES_MAX)
            return;
        to->slices[to->slice_count].level = jsonl_string(s, "topology", "");
        to->slices[to->slice_count++].size = jsonl_int(s, "size", 0);
    }
    if (to->slice_count == 0 && level[0] != '\0') {
        to->slices[0].level = level;
        to->slices[0].size = jsonl_int(t, "podSetSliceSize", 0);
        to->slice_count = 1;
    }
}

static void read_topology(const cJSON *t, struct policy_topology_request *to)
{
    const char *required = jsonl_string(t, "required", ""), *group;
    const char *preferred = jsonl_string(t, "preferred", "");
    *to = (struct policy_topology_request){.mode = POLICY_TOPOLOGY_NONE};
    read_slices(t, to);
    group = jsonl_string(t, "podSetGroupName", "");
    to->group = group[0] != '\0' ? group : NULL;
    if (required[0] != '\0') {
        to->mode = POLICY_TOPOLOGY_REQUIRED;
        to->level = required;
    } else if (preferred[0] != '\0') {
        to->mode = POLICY_TOPOLOGY_PREFERRED;
        to->level = preferred;
    } else if (jsonl_get(t, "unconstrained") != NULL) {
        to->mode = POLICY_TOPOLOGY_UNCONSTRAINED;
    } else if (to->slice_count > 0) {
        to->mode = POLICY_TOPOLOGY_SLICES;
    }
}

static bool read_pod_set(struct kueue_reader *r, const cJSON *o, struct policy_pod_set *p)
{
    struct arena *mem = &r->c->mem;
    const cJSON *spec = jsonl_get(jsonl_get(o, "template"), "spec");
    struct policy_amount *amounts = arena_alloc(mem, request_bound(spec), sizeof *amounts);
    *p = (struct policy_pod_set){.name = jsonl_string(o, "name", ""),
                                 .count = jsonl_int(o, "count", 1),
                                 .min_count = jsonl_int(o, "minCount", POLICY_NIL),
                                 .requests = amounts};
    if (!add_containers(r, jsonl_get(spec, "containers"), false, amounts, &p->request_count) ||
        !add_containers(r, jsonl_get(spec, "initContainers"), true, amounts, &p->request_count))
        return false;
    p->node_selector =
        kueue_read_labels(mem, jsonl_get(spec, "nodeSelector"), &p->node_selector_count);
    p->tolerations =
        kueue_read_tolerations(mem, jsonl_get(spec, "tolerations"), &p->toleration_count);
    read_affinity(r, spec, p);
    read_topology(jsonl_get(o, "topologyRequest"), &p->topology);
    return true;
}

static bool read_job(struct kueue_reader *r, const cJSON *job, uint32_t id, struct kueue_job *j)
{
    const cJSON *o = jsonl_get(job, "object"), *meta = jsonl_get(o, "metadata");
    const cJSON *spec = jsonl_get(o, "spec"), *sets = jsonl_get(spec, "podSets"), *s;
    j->name = jsonl_string(meta, "name", "");
    j->at_ns = jsonl_int(job, "at", 0) * SIM_SECOND;
    read_attempts(r, job, j);
    j->workload = (struct policy_workload){.id = id, .priority = jsonl_int(spec, "priority", 0)};
    j->workload.local_queue =
        kueue_find(r->locals, r->local_count, jsonl_string(spec, "queueName", ""));
    if (j->workload.local_queue == POLICY_NONE)
        return err_set(r->e, ERR_INPUT, "Workload '%s' names an unknown LocalQueue", j->name);
    if (!read_time(jsonl_string(meta, "creationTimestamp", ""), &j->workload.created_ns))
        return err_set(r->e, ERR_INPUT, "Workload '%s' has no creationTimestamp", j->name);
    struct policy_pod_set *list = arena_alloc(&r->c->mem, length(sets) + 1, sizeof *list);
    j->shape.pod_sets = list;
    cJSON_ArrayForEach(s, sets)
        if (!read_pod_set(r, s, &list[j->shape.pod_set_count++]))
            return false;
    return j->shape.pod_set_count > 0 ||
           err_set(r->e, ERR_INPUT, "Workload '%s' has no pod sets", j->name);
}

/* Ranks of names and UIDs, compared as the texts that they are. */
struct ranked {
    const char *text;
    uint32_t job;
};

static int by_text(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    const int c = strcmp(x->text, y->text);
    return c != 0 ? c : (x->job > y->job) - (x->job < y->job);
}

static void rank(struct kueue_reader *r, const cJSON *jobs, bool names)
{
    struct kueue_case *c = r->c;
    struct ranked *list = arena_alloc(&c->mem, c->job_count + 1u, sizeof *list);
    const cJSON *job;
    uint32_t n = 0;
    cJSON_ArrayForEach(job, jobs) {
        const cJSON *meta = jsonl_get(jsonl_get(job, "object"), "metadata");
        list[n] = (struct ranked){jsonl_string(meta, names ? "name" : "uid", ""), n};
        n++;
    }
    qsort(list, n, sizeof *list, by_text);
    for (uint32_t i = 0; i < n; i++) {
        struct policy_workload *w = &c->jobs[list[i].job].workload;
        if (names)
            w->name_order = i;
        else
            w->uid_order = i;
    }
}

bool kueue_read_jobs(struct kueue_reader *r, const cJSON *jobs)
{
    struct kueue_case *c = r->c;
    const cJSON *job;
    c->jobs = arena_alloc(&c->mem, length(jobs) + 1, sizeof *c->jobs);
    cJSON_ArrayForEach(job, jobs) {
        if (!read_job(r, job, c->job_count, &c->jobs[c->job_count]))
            return false;
        c->job_count++;
    }
    rank(r, jobs, true);
    rank(r, jobs, false);
    return true;
}
