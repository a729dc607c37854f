/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/conform_keda_read.h"

#include <stdlib.h>
#include <string.h>

#include "studies/hpa_json.h"
#include "studies/jsonl.h"

#define PREFIX "autoscaling.keda.sh/"

static bool number_text(const char *text, double *v, struct err *e, const char *name)
{
    char *end = NULL;
    *v = strtod(text, &end);
    if (end == text || *end != '\0')
        return err_set(e, ERR_INPUT, "%s: expected a number, found '%s'", name, text);
    return true;
}

/* A Kubernetes quantity, such as 500m or 100Mi. */
static bool quantity_text(const char *text, double *v, struct err *e, const char *name)
{
    static const struct {
        const char *suffix;
        double factor;
    } units[] = {{"", 1},          {"m", 0.001},      {"k", 1e3},          {"M", 1e6},
                 {"G", 1e9},       {"Ki", 1024.0},    {"Mi", 1048576.0},   {"Gi", 1073741824.0}};
    char *end = NULL;
    double number = strtod(text, &end);
    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].suffix) == 0) {
            *v = number * units[i].factor;
            return true;
        }
    }
    return err_set(e, ERR_INPUT, "%s: expected a quantity, found '%s'", name, text);
}

static bool is_integer_text(const char *text)
{
    size_t sign = text[0] == '-' || text[0] == '+' ? 1 : 0;
    size_t digits = strspn(text + sign, "0123456789");
    return digits > 0 && text[sign + digits] == '\0';
}

void keda_json_annotations(const cJSON *o, struct keda_annotations *a)
{
    *a = (struct keda_annotations){
        .paused = keda_annotation_bool(jsonl_string(o, PREFIX "paused", NULL)),
        .paused_replicas = KEDA_UNSET,
        .paused_scale_in = keda_annotation_bool(jsonl_string(o, PREFIX "paused-scale-in", NULL)),
        .paused_scale_out = keda_annotation_bool(jsonl_string(o, PREFIX "paused-scale-out", NULL)),
        .force_activation = keda_annotation_bool(jsonl_string(o, PREFIX "force-activation", NULL))};
    const char *count = jsonl_string(o, PREFIX "paused-replicas", NULL);
    if (count)
        a->paused_replicas = (int32_t)strtol(count, NULL, 10);
}

static bool trigger_from(const cJSON *o, struct keda_trigger *t, struct err *e)
{
    *t = keda_trigger_defaults(0.0);
    const char *type = jsonl_string(o, "type", "");
    if (strcmp(type, "cpu") == 0)
        t->type = KEDA_CPU;
    else if (strcmp(type, "memory") == 0)
        t->type = KEDA_MEMORY;
    else if (strcmp(type, "prometheus") != 0)
        return err_set(e, ERR_INPUT, "trigger type: expected prometheus, cpu or memory, found '%s'",
                       type);
    const char *target = jsonl_string(o, "metricType", "");
    if (target[0] != '\0' && !hpa_json_target(target, &t->metricType, e))
        return false;
    const cJSON *meta = jsonl_get(o, "metadata");
    t->useCachedMetrics = jsonl_bool(o, "useCachedMetrics", false);
    t->ignoreNullValues = strcmp(jsonl_string(meta, "ignoreNullValues", "true"), "false") != 0;
    bool ok = t->type == KEDA_PROMETHEUS
                  ? number_text(jsonl_string(meta, "threshold", ""), &t->threshold, e, "threshold")
                  : quantity_text(jsonl_string(meta, "value", ""), &t->threshold, e, "value");
    return ok &&
           number_text(jsonl_string(meta, "activationThreshold", "0"), &t->activationThreshold, e,
                       "activationThreshold");
}

static bool fallback_from(const cJSON *o, struct keda_fallback *f, struct err *e)
{
    static const char *const names[] = {"static", "currentReplicas", "currentReplicasIfHigher",
                                        "currentReplicasIfLower", "scalingModifiers"};
    *f = (struct keda_fallback){.present = o != NULL,
                                .failureThreshold = (int32_t)jsonl_int(o, "failureThreshold", 0),
                                .replicas = (int32_t)jsonl_int(o, "replicas", 0)};
    const char *behavior = jsonl_string(o, "behavior", "static");
    for (int i = 0; i < 5; i++) {
        if (strcmp(behavior, names[i]) == 0) {
            f->behavior = (enum keda_fallback_behavior)i;
            return true;
        }
    }
    return err_set(e, ERR_INPUT, "fallback.behavior: found '%s'", behavior);
}

static bool modifiers_from(const cJSON *o, const char *const *names, size_t count,
                           struct keda_scaling_modifiers *m, struct err *e)
{
    memset(m, 0, sizeof *m);
    const char *formula = jsonl_string(o, "formula", "");
    if (formula[0] == '\0')
        return true;
    m->present = true;
    const char *target = jsonl_string(o, "target", "");
    m->target_is_integer = is_integer_text(target);
    const char *type = jsonl_string(o, "metricType", "AverageValue");
    return formula_parse(&m->formula, formula, names, count, e) &&
           number_text(target, &m->target, e, "scalingModifiers.target") &&
           number_text(jsonl_string(o, "activationTarget", "0"), &m->activationTarget, e,
                       "scalingModifiers.activationTarget") &&
           hpa_json_target(type, &m->metricType, e);
}

bool keda_json_config(const cJSON *spec, const cJSON *annotations, struct keda_config *cfg,
                      struct err *e)
{
    *cfg = keda_config_defaults();
    cfg->pollingInterval = jsonl_int(spec, "pollingInterval", 30) * SIM_SECOND;
    cfg->cooldownPeriod = jsonl_int(spec, "cooldownPeriod", 300) * SIM_SECOND;
    cfg->initialCooldownPeriod = jsonl_int(spec, "initialCooldownPeriod", 0) * SIM_SECOND;
    cfg->idleReplicaCount = (int32_t)jsonl_int(spec, "idleReplicaCount", KEDA_UNSET);
    cfg->minReplicaCount = (int32_t)jsonl_int(spec, "minReplicaCount", KEDA_UNSET);
    cfg->maxReplicaCount = (int32_t)jsonl_int(spec, "maxReplicaCount", KEDA_UNSET);
    keda_json_annotations(annotations, &cfg->annotations);
    const char *names[KEDA_TRIGGER_LIMIT] = {NULL};
    const cJSON *o;
    cJSON_ArrayForEach(o, jsonl_get(spec, "triggers"))
    {
        if (cfg->trigger_count == KEDA_TRIGGER_LIMIT)
            return err_set(e, ERR_INPUT, "more than %d triggers", KEDA_TRIGGER_LIMIT);
        names[cfg->trigger_count] = jsonl_string(o, "name", NULL);
        if (!trigger_from(o, &cfg->triggers[cfg->trigger_count++], e))
            return false;
    }
    const cJSON *advanced = jsonl_get(spec, "advanced");
    const cJSON *hpa = jsonl_get(advanced, "horizontalPodAutoscalerConfig");
    return hpa_json_behavior(jsonl_get(hpa, "behavior"), 300, &cfg->behavior, e) &&
           fallback_from(jsonl_get(spec, "fallback"), &cfg->fallback, e) &&
           modifiers_from(jsonl_get(advanced, "scalingModifiers"), names, cfg->trigger_count,
                          &cfg->scalingModifiers, e);
}

static struct keda_sample sample_from(const cJSON *o)
{
    const char *v = jsonl_string(o, "v", NULL);
    if (v)
        return (struct keda_sample){KEDA_ANSWER_VALUE, strtod(v, NULL)};
    const char *e = jsonl_string(o, "e", "");
    if (strcmp(e, "empty") == 0)
        return (struct keda_sample){KEDA_ANSWER_EMPTY, 0};
    if (strcmp(e, "null") == 0)
        return (struct keda_sample){KEDA_ANSWER_NULL, 0};
    if (strcmp(e, "nan") == 0 || strcmp(e, "inf") == 0)
        return (struct keda_sample){KEDA_ANSWER_VALUE, strtod(e, NULL)};
    return (struct keda_sample){KEDA_ANSWER_FAILED, 0};
}

void keda_json_samples(const struct keda_config *cfg, const cJSON *in, struct keda_sample *samples)
{
    int k = 0;
    for (uint32_t i = 0; i < cfg->trigger_count; i++) {
        samples[i] = (struct keda_sample){KEDA_ANSWER_EMPTY, 0};
        if (cfg->triggers[i].type == KEDA_PROMETHEUS)
            samples[i] = sample_from(cJSON_GetArrayItem(in, k++));
    }
}

/* --- checks ------------------------------------------------------------------------------------ */

void keda_check_health(struct conform_report *r, const struct keda_config *cfg,
                       const struct keda_state *s, const cJSON *rec)
{
    const cJSON *health = jsonl_get(rec, "health");
    for (uint32_t i = 0; health && i < cfg->trigger_count; i++) {
        char name[32], ours[32] = "", theirs[32] = "";
        snprintf(name, sizeof name, "s%u-prometheus", i);
        const cJSON *row = jsonl_get(health, name);
        const struct keda_health *h = &s->store.health[i];
        if (h->known)
            snprintf(ours, sizeof ours, "%d %s", h->failures, h->failing ? "Failing" : "Happy");
        if (row)
            snprintf(theirs, sizeof theirs, "%d %s", (int)jsonl_at(row, 0, -1),
                     cJSON_GetArrayItem(row, 1)->valuestring);
        conform_text(r, "health", ours, theirs);
    }
}

static void rules_text(const struct hpa_scaling_rules *r, char *buf, size_t size)
{
    int n = snprintf(buf, size, "select %d window %d", (int)r->selectPolicy,
                     r->stabilizationWindowSeconds);
    for (uint32_t i = 0; i < r->policy_count && n > 0 && (size_t)n < size; i++)
        n += snprintf(buf + n, size - (size_t)n, " %s %d/%d",
                      r->policies[i].type == HPA_POLICY_PODS ? "Pods" : "Percent",
                      r->policies[i].value, r->policies[i].periodSeconds);
}

static void check_behavior(struct conform_report *r, const struct hpa_behavior *ours,
                           const cJSON *recorded)
{
    struct hpa_behavior theirs;
    struct err e = {0};
    char a[512], b[512];
    conform_int(r, "behavior", ours->present, recorded != NULL);
    if (!ours->present || !recorded)
        return;
    conform_int(r, "behavior", hpa_json_behavior(recorded, 300, &theirs, &e), true);
    rules_text(&ours->scaleUp, a, sizeof a);
    rules_text(&theirs.scaleUp, b, sizeof b);
    conform_text(r, "scaleUp", a, b);
    rules_text(&ours->scaleDown, a, sizeof a);
    rules_text(&theirs.scaleDown, b, sizeof b);
    conform_text(r, "scaleDown", a, b);
}

void keda_check_hpa(struct conform_report *r, const struct keda_config *cfg, const cJSON *hpa)
{
    static const char *const targets[] = {"AverageValue", "Value", "Utilization"};
    struct hpa_config defaults = hpa_config_defaults();
    int32_t of_metric[KEDA_TRIGGER_LIMIT];
    struct hpa_config ours = keda_hpa_config(cfg, &defaults, of_metric);
    conform_int(r, "minReplicas", ours.minReplicas, jsonl_int(hpa, "minReplicas", -1));
    conform_int(r, "maxReplicas", ours.maxReplicas, jsonl_int(hpa, "maxReplicas", -1));
    const cJSON *metrics = jsonl_get(hpa, "metrics");
    conform_int(r, "metrics", ours.metric_count, cJSON_GetArraySize(metrics));
    for (uint32_t i = 0; i < ours.metric_count; i++) {
        const struct hpa_metric *m = &ours.metrics[i];
        const cJSON *o = cJSON_GetArrayItem(metrics, (int)i);
        conform_text(r, "type", m->type == HPA_METRIC_EXTERNAL ? "External" : "Resource",
                     jsonl_string(o, "type", ""));
        conform_text(r, "target", targets[m->target], jsonl_string(o, "target", ""));
        if (m->target == HPA_TARGET_UTILIZATION)
            conform_int(r, "percent", m->averageUtilization, jsonl_int(o, "percent", -1));
        else
            conform_int(r, "milli", m->target_milli, jsonl_int(o, "milli", -1));
    }
    check_behavior(r, &ours.behavior, jsonl_get(hpa, "behavior"));
}
