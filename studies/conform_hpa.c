/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/conform_hpa.h"

#include <stdlib.h>
#include <string.h>

#include "models/elastic/hpa.h"
#include "sim/arena.h"
#include "studies/conform_report.h"
#include "studies/hpa_json.h"
#include "studies/jsonl.h"

/* Buffers that grow with the largest case. */
struct buffers {
    struct hpa_pod *pods;
    const char **names; /* of the pods, pointing into the case */
    unsigned char *scratch;
    struct hpa_sample *samples[HPA_METRIC_LIMIT];
    size_t pod_capacity, name_capacity, scratch_capacity, sample_capacity[HPA_METRIC_LIMIT];
};

static void buffers_fini(struct buffers *b)
{
    free(b->pods);
    free(b->names);
    free(b->scratch);
    for (int i = 0; i < HPA_METRIC_LIMIT; i++)
        free(b->samples[i]);
}

/* [name, phase, deleting, ready, start, transition, request] */
static struct hpa_pod pod_from(const cJSON *row)
{
    const cJSON *phase = cJSON_GetArrayItem(row, 1);
    char c = cJSON_IsString(phase) ? phase->valuestring[0] : 'R';
    int64_t ready = jsonl_at(row, 3, -1);
    int64_t start = jsonl_at(row, 4, INT64_MIN);
    struct hpa_pod p = {
        .phase = c == 'P' ? HPA_POD_PENDING : c == 'F' ? HPA_POD_FAILED : HPA_POD_RUNNING,
        .deleting = jsonl_at(row, 2, 0) != 0,
        .ready = ready < 0 ? HPA_READY_NONE : ready > 0 ? HPA_READY_TRUE : HPA_READY_FALSE,
        .has_start = start != INT64_MIN,
        .transition = jsonl_at(row, 5, 0) * SIM_MS,
        .cpu_request_milli = jsonl_at(row, 6, HPA_NO_REQUEST),
    };
    /* memory requests, and their samples, are recorded per thousand */
    p.memory_request_milli = p.cpu_request_milli == HPA_NO_REQUEST ? HPA_NO_REQUEST
                                                                   : p.cpu_request_milli * 1000;
    p.start = p.has_start ? start * SIM_MS : 0;
    return p;
}

static int32_t pods_from(const cJSON *rows, struct buffers *b)
{
    size_t n = (size_t)cJSON_GetArraySize(rows);
    b->pods = mem_grow(b->pods, &b->pod_capacity, n + 1, sizeof *b->pods);
    b->names = mem_grow(b->names, &b->name_capacity, n + 1, sizeof *b->names);
    b->scratch = mem_grow(b->scratch, &b->scratch_capacity, n + 1, 1);
    size_t i = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
    {
        const cJSON *name = cJSON_GetArrayItem(row, 0);
        b->names[i] = cJSON_IsString(name) ? name->valuestring : "";
        b->pods[i++] = pod_from(row);
    }
    return (int32_t)n;
}

static int32_t pod_named(const struct buffers *b, int32_t count, const char *name)
{
    for (int32_t i = 0; i < count; i++)
        if (strcmp(b->names[i], name) == 0)
            return i;
    return -1;
}

/* [[pod, value(, sample time, window)], ...] */
static struct hpa_reading samples_from(const cJSON *rows, struct buffers *b, int slot,
                                       int32_t pod_count)
{
    if (!rows || cJSON_IsNull(rows))
        return (struct hpa_reading){.failed = true};
    size_t n = (size_t)cJSON_GetArraySize(rows), i = 0;
    b->samples[slot] = mem_grow(b->samples[slot], &b->sample_capacity[slot], n + 1,
                                sizeof *b->samples[slot]);
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
    {
        const cJSON *name = cJSON_GetArrayItem(row, 0);
        b->samples[slot][i++] = (struct hpa_sample){
            .pod = pod_named(b, pod_count, cJSON_IsString(name) ? name->valuestring : ""),
            .value_milli = jsonl_at(row, 1, 0),
            .t = jsonl_at(row, 2, 0) * SIM_MS,
            .window = jsonl_at(row, 3, 0) * SIM_MS};
    }
    return (struct hpa_reading){.samples = b->samples[slot], .sample_count = n};
}

static struct hpa_reading reading_from(const struct hpa_metric *m, const cJSON *v,
                                       struct buffers *b, int slot, int32_t pod_count)
{
    if (m->type == HPA_METRIC_PODS || m->type == HPA_METRIC_RESOURCE)
        return samples_from(v, b, slot, pod_count);
    struct hpa_reading r = {.failed = !v || cJSON_IsNull(v)};
    if (v != NULL && cJSON_IsNumber(v)) {
        r.value_milli = (int64_t)v->valuedouble;
    } else if (!r.failed) {
        r.failed = cJSON_GetArraySize(v) == 0;
        const cJSON *series;
        cJSON_ArrayForEach(series, v) r.value_milli += (int64_t)series->valuedouble;
    }
    return r;
}

/* --- traces ------------------------------------------------------------------------------------ */

static bool metric_from(const cJSON *o, struct hpa_metric *m, struct err *e)
{
    static const char *const types[] = {"External", "Object", "Pods", "Resource"};
    const char *type = jsonl_string(o, "type", "");
    int i = 0;
    while (i < 4 && strcmp(type, types[i]) != 0)
        i++;
    if (i == 4)
        return err_set(e, ERR_INPUT, "metric type: found '%s'", type);
    const char *resource = jsonl_string(o, "resource", "");
    *m = (struct hpa_metric){
        .type = (enum hpa_metric_type)i,
        .target_milli = jsonl_int(o, "milli", 0),
        .averageUtilization = (int32_t)jsonl_int(o, "percent", 0),
        .resource = strcmp(resource, "cpu") == 0      ? HPA_RESOURCE_CPU
                    : strcmp(resource, "memory") == 0 ? HPA_RESOURCE_MEMORY
                                                      : HPA_RESOURCE_NONE};
    return hpa_json_target(jsonl_string(o, "target", ""), &m->target, e);
}

static bool config_from(const cJSON *c, struct hpa_config *cfg, struct err *e)
{
    *cfg = hpa_config_defaults();
    const cJSON *k = jsonl_get(c, "cfg");
    int32_t window_s = (int32_t)jsonl_int(k, "downscale_stabilization_s", 300);
    cfg->downscale_stabilization = window_s * SIM_SECOND;
    cfg->calculator.cpu_initialization_period = jsonl_int(k, "cpu_init_s", 300) * SIM_SECOND;
    cfg->calculator.initial_readiness_delay =
        jsonl_int(k, "initial_readiness_delay_s", 30) * SIM_SECOND;
    cfg->scale_to_zero_gate = jsonl_bool(k, "scale_to_zero_gate", true);
    cfg->minReplicas = (int32_t)jsonl_int(c, "minReplicas", 1);
    cfg->maxReplicas = (int32_t)jsonl_int(c, "maxReplicas", 1);
    const cJSON *tol = jsonl_get(c, "tol");
    const cJSON *down = cJSON_GetArrayItem(tol, 0), *up = cJSON_GetArrayItem(tol, 1);
    if (down && up)
        cfg->calculator.tolerance = (struct hpa_tolerance){down->valuedouble, up->valuedouble};
    const cJSON *o;
    cJSON_ArrayForEach(o, jsonl_get(c, "metrics"))
    {
        if (cfg->metric_count == HPA_METRIC_LIMIT)
            return err_set(e, ERR_INPUT, "more than %d metrics", HPA_METRIC_LIMIT);
        if (!metric_from(o, &cfg->metrics[cfg->metric_count++], e))
            return false;
    }
    return hpa_json_behavior(jsonl_get(c, "behavior"), window_s, &cfg->behavior, e);
}

static void check_condition(struct conform_report *r, const char *field, const cJSON *sync,
                            const char *reason, bool is_true)
{
    char ours[64] = "";
    if (reason[0] != '\0')
        snprintf(ours, sizeof ours, "%c:%s", is_true ? 'T' : 'F', reason);
    conform_text(r, field, ours, jsonl_string(sync, field, ""));
}

static void check_conditions(struct conform_report *r, const struct hpa_conditions *c,
                             const cJSON *sync)
{
    check_condition(r, "able", sync, hpa_able_name(c->able), true);
    check_condition(r, "act", sync, hpa_active_name(c->active),
                    c->active == HPA_VALID_METRIC_FOUND);
    check_condition(r, "lim", sync, c->limited_set ? hpa_limit_name(c->limited) : "",
                    c->limited != HPA_WITHIN_RANGE);
    check_condition(r, "zero", sync,
                    c->zero == HPA_ZERO_NONE        ? ""
                    : c->zero == HPA_SCALED_TO_ZERO ? "ScaledToZero"
                                                    : "NotScaledToZero",
                    c->zero == HPA_SCALED_TO_ZERO);
}

static void check_decision(struct conform_report *r, const struct hpa_decision *d,
                           const cJSON *sync)
{
    conform_int(r, "raw", d->computed ? d->raw : -1, jsonl_int(sync, "raw", -1));
    conform_int(r, "stab", d->computed ? d->stabilised : -1, jsonl_int(sync, "stab", -1));
    conform_int(r, "new", d->replicas, jsonl_int(sync, "new", -1));
    conform_int(r, "wr", d->write, jsonl_int(sync, "wr", 0));
    conform_text(r, "why", hpa_why_name(d->why), jsonl_string(sync, "why", ""));
    conform_int(r, "err", d->error, jsonl_bool(sync, "err", false));
    check_conditions(r, &d->conditions, sync);
}

/* Proposals are recorded also when the controller did not ask. */
static void check_proposals(struct conform_report *r, const struct hpa_config *cfg,
                            const struct hpa_proposal *p, const cJSON *sync)
{
    const cJSON *classes = jsonl_get(sync, "cls"), *errors = jsonl_get(sync, "perr");
    int pod_metric = 0;
    for (uint32_t i = 0; i < cfg->metric_count; i++) {
        bool ok = p[i].error == HPA_METRIC_OK;
        conform_int(r, "prop", ok ? p[i].replicas : -1,
                    jsonl_at(jsonl_get(sync, "prop"), (int)i, -1));
        if (errors) {
            const cJSON *e = cJSON_GetArrayItem(errors, (int)i);
            conform_text(r, "perr",
                         ok ? "" : hpa_active_name(hpa_metric_failure(cfg->metrics[i].type)),
                         cJSON_IsString(e) ? e->valuestring : "");
        }
        if (cfg->metrics[i].type != HPA_METRIC_PODS && cfg->metrics[i].type != HPA_METRIC_RESOURCE)
            continue;
        const cJSON *row = cJSON_GetArrayItem(classes, pod_metric++);
        const int32_t ours[4] = {p[i].counted, p[i].unready, p[i].missing, p[i].ignored};
        for (int k = 0; row && k < 4; k++)
            conform_int(r, "cls", ours[k], jsonl_at(row, k, -1));
    }
}

static void replay_sync(struct conform_report *r, struct hpa_state *s, struct hpa_config *cfg,
                        const cJSON *sync, struct buffers *b)
{
    sim_time t = jsonl_int(sync, "t", 0) * SIM_MS;
    conform_at(r, "sync at %lld ms", (long long)(t / SIM_MS));
    const cJSON *edit = jsonl_get(sync, "edit");
    cfg->minReplicas = (int32_t)jsonl_int(edit, "min", cfg->minReplicas);
    cfg->maxReplicas = (int32_t)jsonl_int(edit, "max", cfg->maxReplicas);
    struct hpa_target target = {.current = (int32_t)jsonl_int(sync, "cur", 0),
                                .status_replicas = (int32_t)jsonl_int(sync, "st", 0),
                                .pod_count = (int32_t)jsonl_int(sync, "n", 0),
                                .ready_count = (int32_t)jsonl_int(sync, "rd", 0)};
    int32_t listed = pods_from(jsonl_get(sync, "pods"), b);
    if (jsonl_get(sync, "pods"))
        target.pod_count = listed;
    target.pods = b->pods;
    struct hpa_reading readings[HPA_METRIC_LIMIT];
    struct hpa_proposal proposals[HPA_METRIC_LIMIT];
    const cJSON *m = jsonl_get(sync, "m");
    for (uint32_t i = 0; i < cfg->metric_count; i++) {
        readings[i] = reading_from(&cfg->metrics[i], cJSON_GetArrayItem(m, (int)i), b, (int)i,
                                   listed);
    }
    for (uint32_t i = 0; i < cfg->metric_count; i++)
        proposals[i] = hpa_metric_propose(&cfg->metrics[i], &cfg->calculator, &target, &readings[i],
                                          t, b->scratch);
    check_proposals(r, cfg, proposals, sync);
    struct hpa_decision d;
    hpa_sync(s, cfg, t, &target, readings, b->scratch, &d);
    check_decision(r, &d, sync);
}

static bool replay_trace(struct conform_report *r, const cJSON *c, struct buffers *b, struct err *e)
{
    struct hpa_config cfg;
    if (!config_from(c, &cfg, e))
        return false;
    struct hpa_state s = {0};
    const cJSON *sync;
    cJSON_ArrayForEach(sync, jsonl_get(c, "syncs")) replay_sync(r, &s, &cfg, sync, b);
    hpa_state_fini(&s);
    return true;
}

/* --- single calls ------------------------------------------------------------------------------ */

struct call_kind {
    const char *fn;
    struct hpa_metric metric;
};

static const struct call_kind call_kinds[] = {
    {"ResourceUtil",
     {.type = HPA_METRIC_RESOURCE, .target = HPA_TARGET_UTILIZATION, .resource = HPA_RESOURCE_CPU}},
    {"ResourceUtilMem",
     {.type = HPA_METRIC_RESOURCE, .target = HPA_TARGET_UTILIZATION,
      .resource = HPA_RESOURCE_MEMORY}},
    {"ResourceRaw", {.type = HPA_METRIC_RESOURCE, .resource = HPA_RESOURCE_CPU}},
    {"Pods", {.type = HPA_METRIC_PODS}},
    {"ObjectValue", {.type = HPA_METRIC_OBJECT, .target = HPA_TARGET_VALUE}},
    {"ExternalValue", {.type = HPA_METRIC_EXTERNAL, .target = HPA_TARGET_VALUE}},
    {"ObjectAverage", {.type = HPA_METRIC_OBJECT}},
    {"ExternalAverage", {.type = HPA_METRIC_EXTERNAL}},
};

static const char *error_name(enum hpa_metric_error e)
{
    switch (e) {
    case HPA_METRIC_OK:
        return "";
    case HPA_METRIC_UNREAD:
        return "no-samples";
    case HPA_METRIC_NO_PODS:
        return "no-pods";
    case HPA_METRIC_NO_USABLE:
        return "no-usable-samples";
    case HPA_METRIC_NO_REQUEST_SET:
        return "no-request";
    case HPA_METRIC_DISJOINT:
        return "disjoint";
    }
    return "";
}

static bool replay_calc(struct conform_report *r, const cJSON *call, struct buffers *b,
                        struct err *e)
{
    const char *fn = jsonl_string(call, "fn", "");
    size_t k = 0, kinds = sizeof call_kinds / sizeof call_kinds[0];
    while (k < kinds && strcmp(fn, call_kinds[k].fn) != 0)
        k++;
    if (k == kinds)
        return err_set(e, ERR_INPUT, "fn: found '%s'", fn);
    struct hpa_metric m = call_kinds[k].metric;
    m.target_milli = jsonl_int(call, "target", 0);
    m.averageUtilization = (int32_t)jsonl_int(call, "percent", 0);
    const cJSON *tol = jsonl_get(call, "tol");
    struct hpa_calculator calc = {
        .tolerance = {cJSON_GetArrayItem(tol, 0)->valuedouble,
                      cJSON_GetArrayItem(tol, 1)->valuedouble},
        .cpu_initialization_period = jsonl_int(call, "init_s", 0) * SIM_SECOND,
        .initial_readiness_delay = jsonl_int(call, "ready_s", 0) * SIM_SECOND};
    int32_t cur = (int32_t)jsonl_int(call, "cur", 0);
    struct hpa_target t = {.current = cur, .status_replicas = cur,
                           .ready_count = (int32_t)jsonl_int(call, "rd", 0)};
    bool of_pods = m.type == HPA_METRIC_PODS || m.type == HPA_METRIC_RESOURCE;
    int32_t listed = pods_from(jsonl_get(call, "pods"), b);
    t.pod_count = of_pods ? listed : (int32_t)jsonl_int(call, "n", 0);
    t.pods = b->pods;
    struct hpa_reading reading = {.value_milli = jsonl_int(call, "value", 0)};
    if (of_pods)
        reading = samples_from(jsonl_get(call, "samples"), b, 0, listed);
    struct hpa_proposal p = hpa_metric_propose(&m, &calc, &t, &reading, 0, b->scratch);
    conform_text(r, "why", error_name(p.error), jsonl_string(call, "why", ""));
    if (p.error != HPA_METRIC_OK || jsonl_bool(call, "error", false))
        return true;
    conform_int(r, "replicas", p.replicas, jsonl_int(call, "replicas", -1));
    conform_int(r, "usage", p.usage_milli, jsonl_int(call, "usage", -1));
    if (m.target == HPA_TARGET_UTILIZATION)
        conform_int(r, "util", p.utilization, jsonl_int(call, "util", -1));
    return true;
}

static void memory_from(const cJSON *call, struct hpa_memory *m)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, jsonl_get(call, "records"))
    {
        m->records = mem_grow(m->records, &m->record_capacity, m->record_count + 1,
                              sizeof *m->records);
        m->records[m->record_count++] =
            (struct hpa_record){(int32_t)jsonl_at(row, 0, 0), -jsonl_at(row, 1, 0) * SIM_MS};
    }
    for (int i = 0; i < 2; i++) {
        struct hpa_event_list *l = i == 0 ? &m->up : &m->down;
        cJSON_ArrayForEach(row, jsonl_get(call, i == 0 ? "up_events" : "down_events"))
        {
            l->items = mem_grow(l->items, &l->capacity, l->count + 1, sizeof *l->items);
            l->items[l->count++] =
                (struct hpa_event){(int32_t)jsonl_at(row, 0, 0), -jsonl_at(row, 1, 0) * SIM_MS};
        }
    }
}

static bool replay_norm(struct conform_report *r, const cJSON *call, struct err *e)
{
    int32_t window_s = (int32_t)jsonl_int(call, "downscale_stabilization_s", 300);
    int32_t cur = (int32_t)jsonl_int(call, "cur", 0), raw = (int32_t)jsonl_int(call, "desired", 0);
    struct hpa_bounds bounds = {(int32_t)jsonl_int(call, "min", 0),
                                (int32_t)jsonl_int(call, "max", 0)};
    struct hpa_behavior b;
    if (!hpa_json_behavior(jsonl_get(call, "behavior"), window_s, &b, e))
        return false;
    struct hpa_memory m = {0};
    memory_from(call, &m);
    struct hpa_limited lim;
    int32_t stab;
    enum hpa_able able = HPA_SCALE_DOWN_STABILIZED;
    if (b.present) {
        stab = hpa_stabilise(hpa_window_behavior(&m, &b, 0, raw), cur);
        lim = hpa_limit_behavior(&b, &m, 0, cur, stab, bounds);
        conform_int(r, "up_limit", hpa_up_limit(&b, &m, 0, cur), jsonl_int(call, "up_limit", -1));
        conform_int(r, "down_limit", hpa_down_limit(&b, &m, 0, cur),
                    jsonl_int(call, "down_limit", -1));
        able = raw >= cur ? HPA_SCALE_UP_STABILIZED : able;
    } else {
        stab = hpa_window_legacy(&m, window_s * SIM_SECOND, 0, raw).hi;
        lim = hpa_limit_legacy(cur, stab, bounds);
    }
    if (stab == raw)
        able = HPA_READY_FOR_NEW_SCALE;
    conform_int(r, "stab", stab, jsonl_int(call, "stab", -1));
    conform_int(r, "final", lim.replicas, jsonl_int(call, "final", -1));
    check_condition(r, "lim", call, hpa_limit_name(lim.reason), lim.reason != HPA_WITHIN_RANGE);
    check_condition(r, "able", call, hpa_able_name(able), true);
    hpa_memory_fini(&m);
    return true;
}

static bool replay_calls(struct conform_report *r, const cJSON *c, bool calc, struct buffers *b,
                         struct err *e)
{
    int i = 0;
    const cJSON *call;
    cJSON_ArrayForEach(call, jsonl_get(c, "calls"))
    {
        conform_at(r, "call %d", i++);
        if (calc ? !replay_calc(r, call, b, e) : !replay_norm(r, call, e))
            return false;
    }
    return true;
}

static bool replay_file(struct conform_report *r, const char *path, struct buffers *b,
                        struct err *e)
{
    struct jsonl *f = jsonl_open(path, e);
    cJSON *c;
    bool ok = f != NULL;
    while (ok && (c = jsonl_next(f, e)) != NULL) {
        const char *family = jsonl_string(c, "family", "");
        bool calc = strcmp(family, "calc") == 0;
        conform_begin(r, family, jsonl_string(c, "id", "?"));
        ok = jsonl_get(c, "syncs")   ? replay_trace(r, c, b, e)
             : jsonl_get(c, "calls") ? replay_calls(r, c, calc, b, e)
                                     : err_set(e, ERR_INPUT, "%s: no HPA case: it has neither "
                                                             "'syncs' nor 'calls'", path);
        conform_end(r);
        cJSON_Delete(c);
    }
    jsonl_close(f);
    return ok && e->code == ERR_NONE;
}

int conform_hpa_files(int n, char **files, FILE *out)
{
    struct conform_report *r = mem_zalloc(1, sizeof *r);
    struct buffers b = {0};
    struct err e = {0};
    bool ok = n > 0 || err_set(&e, ERR_INPUT, "no file given");
    for (int i = 0; ok && i < n; i++)
        ok = replay_file(r, files[i], &b, &e);
    if (!ok)
        fprintf(stderr, "error: %s\n", e.text);
    int status = ok ? conform_print(r, "HPA controller, recorded decisions", out) : 2;
    buffers_fini(&b);
    free(r);
    return status;
}
