/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kubernetes objects of a recorded case, through the reader of manifests. */
#include "scenarios/load/manifest/manifest.h"
#include "sim/sim_time.h"
#include "studies/conform_kueue_read.h"
#include "studies/jsonl.h"

/* Objects of the cluster, then the Workloads of the jobs. */
static const cJSON **gather(struct kueue_case *c, const cJSON *json, size_t *count)
{
    const cJSON *objects = jsonl_get(json, "objects"), *jobs = jsonl_get(json, "jobs"), *x;
    const size_t n = (size_t)cJSON_GetArraySize(objects) + (size_t)cJSON_GetArraySize(jobs);
    const cJSON **list = arena_alloc(&c->mem, n + 1, sizeof(const cJSON *));
    *count = 0;
    cJSON_ArrayForEach(x, objects)
        list[(*count)++] = x;
    cJSON_ArrayForEach(x, jobs)
        list[(*count)++] = jsonl_get(x, "object");
    return list;
}

static bool keep_changes(struct kueue_case *c, const cJSON *changes, const struct manifest_parts *parts, struct err *e)
{
    const cJSON *change;
    c->changes = arena_alloc(&c->mem, parts->replacement_count + 1, sizeof *c->changes);
    cJSON_ArrayForEach(change, changes) {
        const uint32_t i = c->change_count++;
        c->changes[i] = (struct kueue_change){.at_ns = jsonl_int(change, "at", 0) * SIM_SECOND,
                                              .id = parts->replaced_ids[i],
                                              .queue = parts->replaced[i]};
        if (c->changes[i].id == POLICY_NONE)
            return err_set(e, ERR_INPUT, "change of unknown ClusterQueue '%s'", parts->replaced[i].name);
    }
    return true;
}

bool kueue_read_objects(struct kueue_case *c, const cJSON *json, struct err *e)
{
    const cJSON *changes = jsonl_get(json, "changes"), *change;
    const size_t n = (size_t)cJSON_GetArraySize(changes);
    const cJSON **specs = arena_alloc(&c->mem, n + 1, sizeof(const cJSON *));
    struct manifest_parts parts = {
        .replacements = specs,
        .replaced = arena_alloc(&c->mem, n + 1, sizeof *parts.replaced),
        .replaced_ids = arena_alloc(&c->mem, n + 1, sizeof *parts.replaced_ids)};
    parts.objects = gather(c, json, &parts.object_count);
    cJSON_ArrayForEach(change, changes) {
        specs[parts.replacement_count++] = jsonl_get(change, "object");
        if (specs[parts.replacement_count - 1] == NULL)
            return err_set(e, ERR_INPUT, "a change without an object");
    }
    struct diag_list diags = {.limit = 1};
    c->manifest = manifest_read_parts(c->name, &parts, &diags);
    if (c->manifest == NULL)
        err_set(e, ERR_INPUT, "case '%s': %s", c->name, diags.items[0].text);
    diag_fini(&diags);
    return c->manifest != NULL && keep_changes(c, changes, &parts, e);
}
