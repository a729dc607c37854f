/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "models/elastic/scaledjob.h"
#include "studies/conform_keda_read.h"
#include "studies/hpa_json.h"
#include "studies/jsonl.h"

enum { JOB_TRIGGER_LIMIT = 16 };

static int index_of(const char *text, const char *const *names, int count)
{
    for (int i = 1; i < count; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return 0;
}

static struct scaledjob_config config_from(const cJSON *call)
{
    static const char *const strategies[] = {"default", "custom", "accurate", "eager"};
    static const char *const calculations[] = {"max", "min", "avg", "sum"};
    struct scaledjob_config cfg = {
        .minReplicaCount = (int32_t)jsonl_int(call, "minReplicaCount", SCALEDJOB_UNSET),
        .maxReplicaCount = (int32_t)jsonl_int(call, "maxReplicaCount", SCALEDJOB_UNSET),
        .strategy = (enum scaledjob_strategy)index_of(jsonl_string(call, "strategy", ""),
                                                      strategies, 4),
        .customScalingQueueLengthDeduction =
            (int32_t)jsonl_int(call, "customScalingQueueLengthDeduction", 0),
        .multipleScalersCalculation = (enum scaledjob_calculation)index_of(
            jsonl_string(call, "multipleScalersCalculation", ""), calculations, 4)};
    const char *percentage = jsonl_string(call, "customScalingRunningJobPercentage", "");
    char *end = NULL;
    cfg.customScalingRunningJobPercentage = strtod(percentage, &end);
    cfg.percentage_given = end != percentage && *end == '\0';
    return cfg;
}

bool keda_replay_jobs(struct conform_report *r, const cJSON *c, struct err *e)
{
    int i = 0;
    const cJSON *call, *o;
    cJSON_ArrayForEach(call, jsonl_get(c, "calls"))
    {
        conform_at(r, "call %d", i++);
        struct scaledjob_config cfg = config_from(call);
        struct scaledjob_trigger triggers[JOB_TRIGGER_LIMIT];
        size_t n = 0;
        cJSON_ArrayForEach(o, jsonl_get(call, "triggers"))
        {
            if (n == JOB_TRIGGER_LIMIT)
                return err_set(e, ERR_INPUT, "more than %d triggers", JOB_TRIGGER_LIMIT);
            triggers[n] = (struct scaledjob_trigger){
                .active = jsonl_bool(o, "active", false),
                .queue_milli = jsonl_int(o, "queue_milli", 0),
                .target_milli = jsonl_int(o, "target_milli", 0)};
            if (!hpa_json_target(jsonl_string(o, "target", ""), &triggers[n++].metricType, e))
                return false;
        }
        struct scaledjob_decision d =
            scaledjob_poll(&cfg, triggers, n, jsonl_int(call, "running", 0),
                           jsonl_int(call, "pending", 0));
        conform_int(r, "active", d.active, jsonl_bool(call, "active", false));
        conform_int(r, "queue", d.queue, jsonl_int(call, "queue", -1));
        conform_int(r, "max_scale", d.max_scale, jsonl_int(call, "max_scale", -1));
        conform_int(r, "created", d.created, jsonl_int(call, "created", -1));
    }
    return true;
}
