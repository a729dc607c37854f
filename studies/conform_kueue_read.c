/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/conform_kueue_read.h"

#include <string.h>

#include "scenarios/load/manifest/manifest.h"
#include "sim/sim_time.h"
#include "studies/jsonl.h"

void kueue_case_fini(struct kueue_case *c)
{
    manifest_free(c->manifest);
    arena_fini(&c->mem);
}

static int64_t seconds(const cJSON *o, const char *name, int64_t otherwise)
{
    const int64_t s = jsonl_int(o, name, INT64_MIN);
    return s == INT64_MIN ? otherwise : s * SIM_SECOND;
}

static void read_gates(struct kueue_case *c, const cJSON *gates)
{
    struct policy_config *cfg = &c->config;
    struct policy_gate *g =
        arena_alloc(&c->mem, (size_t)cJSON_GetArraySize(gates) + 1, sizeof *g);
    const cJSON *gate;
    cJSON_ArrayForEach(gate, gates)
        g[cfg->gate_count++] = (struct policy_gate){gate->string, cJSON_IsTrue(gate) != 0};
    cfg->gates = g;
}

static bool read_strategies(struct kueue_case *c, const cJSON *fair, struct err *e)
{
    struct policy_config *cfg = &c->config;
    const cJSON *s;
    cfg->fair_sharing = fair != NULL;
    cJSON_ArrayForEach(s, jsonl_get(fair, "preemptionStrategies")) {
        if (cfg->strategy_count == 2 || !cJSON_IsString(s))
            return err_set(e, ERR_INPUT, "preemptionStrategies has more than two names");
        cfg->strategies[cfg->strategy_count++] =
            strcmp(s->valuestring, "LessThanInitialShare") == 0 ? POLICY_LESS_THAN_INITIAL_SHARE
                                                                : POLICY_LESS_OR_EQUAL_FINAL_SHARE;
    }
    return true;
}

static void read_pods_ready(struct kueue_case *c, const cJSON *o)
{
    struct policy_pods_ready *p = &c->config.pods_ready;
    const cJSON *strategy = jsonl_get(o, "requeuingStrategy");
    p->on = c->readiness = o != NULL;
    p->block_admission = jsonl_bool(o, "blockAdmission", false);
    p->timeout_ns = seconds(o, "timeoutSeconds", 0);
    p->recovery_timeout_ns = seconds(o, "recoveryTimeoutSeconds", 0);
    p->creation_timestamp =
        strcmp(jsonl_string(strategy, "timestamp", "Eviction"), "Creation") == 0;
    p->backoff_limit = jsonl_int(strategy, "backoffLimitCount", POLICY_NIL);
    p->backoff_base_ns = seconds(strategy, "backoffBaseSeconds", 60 * SIM_SECOND);
    p->backoff_max_ns = seconds(strategy, "backoffMaxSeconds", 3600 * SIM_SECOND);
}

static void read_admission_fair_sharing(struct kueue_case *c, const cJSON *o)
{
    struct policy_admission_fair_sharing *a = &c->config.admission_fair_sharing;
    a->on = o != NULL;
    a->half_life_ns = seconds(o, "usageHalfLifeSeconds", 0);
    a->sampling_ns = seconds(o, "usageSamplingSeconds", 300 * SIM_SECOND);
    double *weights = arena_alloc(&c->mem, (size_t)c->config.resource_count + 1, sizeof *weights);
    for (uint32_t i = 0; i < c->config.resource_count; i++)
        weights[i] = jsonl_double(jsonl_get(o, "resourceWeights"), c->config.resources[i], 1.0);
    a->resource_weights = weights;
}

static bool read_config(struct kueue_case *c, const cJSON *cfg, struct err *e)
{
    struct policy_config *to = &c->config;
    *to = c->manifest->config;
    to->profile = NULL;
    to->requeue_batch_ns = seconds(cfg, "requeueBatchSeconds", 0);
    c->eviction_ns = seconds(cfg, "evictionSeconds", 0);
    read_gates(c, jsonl_get(cfg, "featureGates"));
    read_pods_ready(c, jsonl_get(cfg, "waitForPodsReady"));
    read_admission_fair_sharing(c, jsonl_get(cfg, "admissionFairSharing"));
    return read_strategies(c, jsonl_get(cfg, "fairSharing"), e);
}

bool kueue_case_read(const cJSON *json, struct kueue_case *c, struct err *e)
{
    c->recorded = json;
    c->name = jsonl_string(json, "case", "");
    c->group = jsonl_string(json, "group", "");
    if (!cJSON_IsObject(jsonl_get(json, "config")) || !cJSON_IsArray(jsonl_get(json, "objects")) ||
        !cJSON_IsArray(jsonl_get(json, "jobs")) || !cJSON_IsArray(jsonl_get(json, "cycles")))
        return err_set(e, ERR_INPUT, "not a recorded case: config, objects, jobs or cycles missing");
    return kueue_read_objects(c, json, e) && read_config(c, jsonl_get(json, "config"), e) &&
           kueue_read_jobs(c, jsonl_get(json, "jobs"), e);
}
