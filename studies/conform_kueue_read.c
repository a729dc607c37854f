/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/conform_kueue_read.h"

#include <string.h>

#include "sim/sim_time.h"
#include "studies/jsonl.h"

void kueue_case_fini(struct kueue_case *c)
{
    arena_fini(&c->mem);
}

uint32_t kueue_find(const char *const *names, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return POLICY_NONE;
}

uint32_t kueue_name(struct kueue_reader *r, const char **names, uint32_t *count, const char *name)
{
    const uint32_t id = kueue_find(names, *count, name);
    if (id != POLICY_NONE)
        return id;
    if (*count == KUEUE_NAMES_MAX) {
        err_set(r->e, ERR_INPUT, "case has more than %d names of one kind", KUEUE_NAMES_MAX);
        return 0;
    }
    names[*count] = name;
    return (*count)++;
}

static const char **name_table(struct kueue_reader *r)
{
    return arena_alloc(&r->c->mem, KUEUE_NAMES_MAX, sizeof(const char *));
}

static int64_t seconds(const cJSON *o, const char *name, int64_t otherwise)
{
    const int64_t s = jsonl_int(o, name, INT64_MIN);
    return s == INT64_MIN ? otherwise : s * SIM_SECOND;
}

static void read_gates(struct kueue_reader *r, const cJSON *gates)
{
    struct policy_config *cfg = &r->c->config;
    struct policy_gate *g =
        arena_alloc(&r->c->mem, (size_t)cJSON_GetArraySize(gates) + 1, sizeof *g);
    const cJSON *gate;
    cJSON_ArrayForEach(gate, gates)
        g[cfg->gate_count++] = (struct policy_gate){gate->string, cJSON_IsTrue(gate) != 0};
    cfg->gates = g;
}

static bool read_strategies(struct kueue_reader *r, const cJSON *fair)
{
    struct policy_config *cfg = &r->c->config;
    const cJSON *s;
    cfg->fair_sharing = fair != NULL;
    cJSON_ArrayForEach(s, jsonl_get(fair, "preemptionStrategies")) {
        if (cfg->strategy_count == 2 || !cJSON_IsString(s))
            return err_set(r->e, ERR_INPUT, "preemptionStrategies has more than two names");
        cfg->strategies[cfg->strategy_count++] =
            strcmp(s->valuestring, "LessThanInitialShare") == 0 ? POLICY_LESS_THAN_INITIAL_SHARE
                                                                : POLICY_LESS_OR_EQUAL_FINAL_SHARE;
    }
    return true;
}

static void read_pods_ready(struct kueue_reader *r, const cJSON *o)
{
    struct policy_pods_ready *p = &r->c->config.pods_ready;
    const cJSON *strategy = jsonl_get(o, "requeuingStrategy");
    p->on = r->c->readiness = o != NULL;
    p->block_admission = jsonl_bool(o, "blockAdmission", false);
    p->timeout_ns = seconds(o, "timeoutSeconds", 0);
    p->recovery_timeout_ns = seconds(o, "recoveryTimeoutSeconds", 0);
    p->creation_timestamp =
        strcmp(jsonl_string(strategy, "timestamp", "Eviction"), "Creation") == 0;
    p->backoff_limit = jsonl_int(strategy, "backoffLimitCount", POLICY_NIL);
    p->backoff_base_ns = seconds(strategy, "backoffBaseSeconds", 60 * SIM_SECOND);
    p->backoff_max_ns = seconds(strategy, "backoffMaxSeconds", 3600 * SIM_SECOND);
}

static void read_admission_fair_sharing(struct kueue_reader *r, const cJSON *o)
{
    struct policy_admission_fair_sharing *a = &r->c->config.admission_fair_sharing;
    a->on = o != NULL;
    a->half_life_ns = seconds(o, "usageHalfLifeSeconds", 0);
    a->sampling_ns = seconds(o, "usageSamplingSeconds", 300 * SIM_SECOND);
    double *weights = arena_alloc(&r->c->mem, KUEUE_NAMES_MAX, sizeof *weights);
    for (int i = 0; i < KUEUE_NAMES_MAX; i++)
        weights[i] = 1.0;
    const cJSON *w;
    cJSON_ArrayForEach(w, jsonl_get(o, "resourceWeights"))
        weights[kueue_name(r, r->resources, &r->resource_count, w->string)] =
            cJSON_GetNumberValue(w);
    a->resource_weights = weights;
}

static bool read_config(struct kueue_reader *r, const cJSON *cfg)
{
    struct policy_config *to = &r->c->config;
    to->abi = POLICY_ABI;
    to->size = sizeof *to;
    to->requeue_batch_ns = seconds(cfg, "requeueBatchSeconds", 0);
    r->c->eviction_ns = seconds(cfg, "evictionSeconds", 0);
    read_gates(r, jsonl_get(cfg, "featureGates"));
    read_pods_ready(r, jsonl_get(cfg, "waitForPodsReady"));
    read_admission_fair_sharing(r, jsonl_get(cfg, "admissionFairSharing"));
    return read_strategies(r, jsonl_get(cfg, "fairSharing"));
}

static bool read_changes(struct kueue_reader *r, const cJSON *changes)
{
    struct kueue_case *c = r->c;
    const cJSON *change;
    c->changes = arena_alloc(&c->mem, (size_t)cJSON_GetArraySize(changes) + 1, sizeof *c->changes);
    cJSON_ArrayForEach(change, changes) {
        struct kueue_change *to = &c->changes[c->change_count++];
        to->at_ns = seconds(change, "at", 0);
        if (!kueue_read_cluster_queue(r, jsonl_get(change, "object"), &to->queue))
            return false;
        to->id = kueue_find(r->queues, r->queue_count, to->queue.name);
        if (to->id == POLICY_NONE)
            return err_set(r->e, ERR_INPUT, "change of unknown ClusterQueue '%s'", to->queue.name);
    }
    return true;
}

bool kueue_case_read(const cJSON *json, struct kueue_case *c, struct err *e)
{
    struct kueue_reader r = {.c = c, .e = e};
    c->recorded = json;
    c->name = jsonl_string(json, "case", "");
    c->group = jsonl_string(json, "group", "");
    if (!cJSON_IsObject(jsonl_get(json, "config")) || !cJSON_IsArray(jsonl_get(json, "objects")) ||
        !cJSON_IsArray(jsonl_get(json, "jobs")) || !cJSON_IsArray(jsonl_get(json, "cycles")))
        return err_set(e, ERR_INPUT, "not a recorded case: config, objects, jobs or cycles missing");
    const char ***tables[] = {&r.resources, &r.flavors, &r.cohorts,
                              &r.queues,    &r.locals,  &r.topologies};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        *tables[i] = name_table(&r);
    if (!read_config(&r, jsonl_get(json, "config")) ||
        !kueue_read_objects(&r, jsonl_get(json, "objects")) ||
        !kueue_read_jobs(&r, jsonl_get(json, "jobs")) ||
        !read_changes(&r, jsonl_get(json, "changes")))
        return false;
    c->config.resources = r.resources;
    c->config.resource_count = r.resource_count;
    return e->code == ERR_NONE;
}
