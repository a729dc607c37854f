/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs of a recorded case: the workloads of its manifest, and what their pods do. */
#include <string.h>

#include "scenarios/load/manifest/manifest.h"
#include "sim/sim_time.h"
#include "studies/conform_kueue_read.h"
#include "studies/jsonl.h"

/* 2026-01-01T00:00:00Z, second 0 of every case. */
#define BEGIN_NS (INT64_C(1767225600) * SIM_SECOND)

static int64_t after(const cJSON *o, const char *name)
{
    const int64_t s = jsonl_int(o, name, INT64_MIN);
    return s == INT64_MIN ? POLICY_NEVER : s * SIM_SECOND;
}

static void read_attempts(struct arena *mem, const cJSON *job, struct kueue_job *j)
{
    const cJSON *list = jsonl_get(job, "attempts"), *a;
    j->attempts = arena_alloc(mem, (size_t)cJSON_GetArraySize(list) + 1, sizeof *j->attempts);
    cJSON_ArrayForEach(a, list)
        j->attempts[j->attempt_count++] = (struct kueue_attempt){
            after(a, "ready"), after(a, "unready"), after(a, "recovered"), after(a, "end")};
    if (j->attempt_count == 0)
        j->attempts[j->attempt_count++] = (struct kueue_attempt){
            POLICY_NEVER, POLICY_NEVER, POLICY_NEVER, after(job, "runtime")};
}

/* Workloads of the manifest by the rank of their names. */
static const struct manifest_workload **by_name(struct kueue_case *c)
{
    const struct manifest *m = c->manifest;
    const struct manifest_workload **list =
        arena_alloc(&c->mem, (size_t)m->workload_count + 1, sizeof(const struct manifest_workload *));
    for (uint32_t i = 0; i < m->workload_count; i++)
        list[m->workloads[i].policy.name_order] = &m->workloads[i];
    return list;
}

static const struct manifest_workload *find(const struct manifest_workload *const *list, uint32_t count,
                                            const char *name)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t mid = (low + high) / 2;
        const int c = strcmp(list[mid]->name, name);
        if (c == 0)
            return list[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

bool kueue_read_jobs(struct kueue_case *c, const cJSON *jobs, struct err *e)
{
    const struct manifest_workload **list = by_name(c);
    const cJSON *job;
    c->jobs = arena_alloc(&c->mem, (size_t)cJSON_GetArraySize(jobs) + 1, sizeof *c->jobs);
    cJSON_ArrayForEach(job, jobs) {
        const cJSON *meta = jsonl_get(jsonl_get(job, "object"), "metadata");
        const char *name = jsonl_string(meta, "name", "");
        const struct manifest_workload *w = find(list, c->manifest->workload_count, name);
        if (w == NULL || w->policy.local_queue == POLICY_NONE)
            return err_set(e, ERR_INPUT, "Workload '%s': %s", name,
                           w == NULL ? "is not active" : w->inadmissible);
        struct kueue_job *j = &c->jobs[c->job_count];
        j->name = w->name;
        j->at_ns = jsonl_int(job, "at", 0) * SIM_SECOND;
        read_attempts(&c->mem, job, j);
        j->shape = w->shape;
        j->workload = w->policy;
        j->workload.id = c->job_count++;
        j->workload.created_ns = w->created - BEGIN_NS;
    }
    return true;
}
