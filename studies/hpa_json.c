/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/hpa_json.h"

#include <string.h>

#include "studies/jsonl.h"

static bool policies_from(const cJSON *list, struct hpa_scaling_rules *r, struct err *e)
{
    r->policy_count = 0;
    const cJSON *o;
    cJSON_ArrayForEach(o, list)
    {
        if (r->policy_count == HPA_POLICY_LIMIT)
            return err_set(e, ERR_INPUT, "more than %d policies", HPA_POLICY_LIMIT);
        const char *type = jsonl_string(o, "type", "");
        bool pods = strcmp(type, "Pods") == 0;
        if (!pods && strcmp(type, "Percent") != 0)
            return err_set(e, ERR_INPUT, "policy type: expected Pods or Percent, found '%s'", type);
        r->policies[r->policy_count++] = (struct hpa_policy){
            .type = pods ? HPA_POLICY_PODS : HPA_POLICY_PERCENT,
            .value = (int32_t)jsonl_int(o, "value", 0),
            .periodSeconds = (int32_t)jsonl_int(o, "periodSeconds", 0)};
    }
    return true;
}

static bool rules_from(const cJSON *o, struct hpa_scaling_rules *r, struct err *e)
{
    if (!o)
        return true;
    r->stabilizationWindowSeconds =
        (int32_t)jsonl_int(o, "stabilizationWindowSeconds", r->stabilizationWindowSeconds);
    const char *select = jsonl_string(o, "selectPolicy", "Max");
    if (strcmp(select, "Max") == 0)
        r->selectPolicy = HPA_SELECT_MAX;
    else if (strcmp(select, "Min") == 0)
        r->selectPolicy = HPA_SELECT_MIN;
    else if (strcmp(select, "Disabled") == 0)
        r->selectPolicy = HPA_SELECT_DISABLED;
    else
        return err_set(e, ERR_INPUT, "selectPolicy: expected Max, Min or Disabled, found '%s'",
                       select);
    const cJSON *policies = jsonl_get(o, "policies");
    return !policies || policies_from(policies, r, e);
}

bool hpa_json_behavior(const cJSON *o, int32_t downscale_stabilization_s, struct hpa_behavior *b,
                       struct err *e)
{
    *b = hpa_behavior_defaults(downscale_stabilization_s);
    b->present = o != NULL;
    return rules_from(jsonl_get(o, "scaleUp"), &b->scaleUp, e) &&
           rules_from(jsonl_get(o, "scaleDown"), &b->scaleDown, e);
}

bool hpa_json_target(const char *text, enum hpa_target_type *t, struct err *e)
{
    static const char *const names[] = {"AverageValue", "Value", "Utilization"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *t = (enum hpa_target_type)i;
            return true;
        }
    }
    return err_set(e, ERR_INPUT, "target: expected AverageValue, Value or Utilization, found '%s'",
                   text);
}
