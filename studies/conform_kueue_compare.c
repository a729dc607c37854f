/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/conform_kueue_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "sim/sim_time.h"
#include "studies/jsonl.h"

/* ---- equality of JSON, numbers in usage texts within the recorder's tolerance ---- */

static bool near(const char *a, const char *b)
{
    char *end_a, *end_b;
    const double x = strtod(a, &end_a), y = strtod(b, &end_b);
    if (end_a == a || end_b == b || *end_a != '\0' || *end_b != '\0')
        return false;
    return fabs(x - y) <= 1e-12 * fmax(fabs(x), fabs(y)) + 1.5e-9; /* and the last printed digit */
}

static bool equal(const cJSON *a, const cJSON *b, bool consumed);

static bool equal_objects(const cJSON *a, const cJSON *b, bool consumed)
{
    const cJSON *m;
    if (cJSON_GetArraySize(a) != cJSON_GetArraySize(b))
        return false;
    cJSON_ArrayForEach(m, a) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(b, m->string);
        if (other == NULL || !equal(m, other, consumed || strcmp(m->string, "consumed") == 0))
            return false;
    }
    return true;
}

static bool equal_arrays(const cJSON *a, const cJSON *b, bool consumed)
{
    const cJSON *x = a->child, *y = b->child;
    for (; x != NULL && y != NULL; x = x->next, y = y->next)
        if (!equal(x, y, consumed))
            return false;
    return x == NULL && y == NULL;
}

static bool equal(const cJSON *a, const cJSON *b, bool consumed)
{
    if (cJSON_IsObject(a))
        return cJSON_IsObject(b) && equal_objects(a, b, consumed);
    if (cJSON_IsArray(a))
        return cJSON_IsArray(b) && equal_arrays(a, b, consumed);
    if (cJSON_IsString(a) && cJSON_IsString(b))
        return strcmp(a->valuestring, b->valuestring) == 0 ||
               (consumed && near(a->valuestring, b->valuestring));
    return cJSON_Compare(a, b, true) != 0;
}

/* Texts first: the recorder writes members in the order of their names, as we do. */
static bool same_line(const char *ours, const cJSON *recorded)
{
    char *text = cJSON_PrintUnformatted(recorded);
    bool same = text != NULL && strcmp(text, ours) == 0;
    cJSON_free(text);
    if (same)
        return true;
    cJSON *parsed = cJSON_Parse(ours);
    same = parsed != NULL && equal(parsed, recorded, false);
    cJSON_Delete(parsed);
    return same;
}

/* ---- our own end and history ---- */

static void put_times(struct kueue_text *t, const char *name, const struct kueue_times *times)
{
    kueue_put(t, "\"%s\":[", name);
    for (size_t i = 0; i < times->count; i++)
        kueue_put(t, "%s%" PRId64, i > 0 ? "," : "", times->v[i] / SIM_SECOND);
    kueue_put(t, "]");
}

static void put_evictions(struct kueue_text *t, const struct kueue_run *run)
{
    kueue_put(t, ",\"evictedAt\":[");
    for (size_t i = 0; i < run->evicted.count; i++)
        kueue_put(t, "%s{\"reason\":\"%s\",\"t\":%" PRId64 "}", i > 0 ? "," : "",
                  policy_evict_reason_name(run->evict_reasons[i]), run->evicted.v[i] / SIM_SECOND);
    kueue_put(t, "]");
}

static void put_history(struct kueue_text *t, const struct kueue_case *c,
                        const struct kueue_result *r)
{
    const char *comma = "";
    kueue_put(t, "{");
    for (uint32_t i = 0; i < c->job_count; i++) {
        const struct kueue_run *run = &r->runs[i];
        if (!run->arrived)
            continue;
        kueue_put(t, "%s\"%s\":{", comma, c->jobs[i].name);
        comma = ",";
        put_times(t, "admittedAt", &run->admitted);
        if (run->deactivated != POLICY_NEVER)
            kueue_put(t, ",\"deactivatedAt\":%" PRId64, run->deactivated / SIM_SECOND);
        if (c->readiness)
            put_evictions(t, run);
        if (run->finished != POLICY_NEVER)
            kueue_put(t, ",\"finishedAt\":%" PRId64, run->finished / SIM_SECOND);
        kueue_put(t, ",");
        put_times(t, "preemptedAt", &run->preempted);
        kueue_put(t, "}");
    }
    kueue_put(t, "}");
}

static uint32_t queue_of(const struct kueue_case *c, uint32_t job)
{
    return c->config.local_queues[c->jobs[job].workload.local_queue].cluster_queue;
}

/* Jobs of a queue at a place, by name; jobs are few. */
static bool put_place(struct kueue_text *t, const struct kueue_case *c,
                      const struct kueue_result *r, uint32_t queue, enum policy_place place)
{
    uint64_t last = 0;
    bool any = false;
    for (;;) {
        uint32_t next = POLICY_NONE;
        for (uint32_t i = 0; i < c->job_count; i++) {
            const uint64_t order = c->jobs[i].workload.name_order + 1;
            if (r->places[i] == place && queue_of(c, i) == queue && order > last &&
                (next == POLICY_NONE || order < c->jobs[next].workload.name_order + 1))
                next = i;
        }
        if (next == POLICY_NONE)
            return any;
        kueue_put(t, "%s\"%s\"", any ? "," : "", c->jobs[next].name);
        last = c->jobs[next].workload.name_order + 1;
        any = true;
    }
}

static void put_end(struct kueue_text *t, const struct kueue_case *c, const struct kueue_result *r)
{
    static const struct {
        const char *name;
        enum policy_place place;
    } lists[] = {{"parked", POLICY_PLACE_PARKED}, {"queue", POLICY_PLACE_QUEUE}};
    kueue_put(t, "{");
    for (int l = 0; l < 2; l++) {
        const char *comma = "";
        kueue_put(t, "%s\"%s\":{", l > 0 ? "," : "", lists[l].name);
        for (uint32_t q = 0; q < c->config.cluster_queue_count; q++) {
            const size_t before = t->count;
            kueue_put(t, "%s\"%s\":[", comma, c->config.cluster_queues[q].name);
            if (put_place(t, c, r, q, lists[l].place)) {
                kueue_put(t, "]");
                comma = ",";
            } else {
                t->count = before;
                t->v[before] = '\0';
            }
        }
        kueue_put(t, "}");
    }
    kueue_put(t, "}");
}

/* ---- the comparison ---- */

static void both_sides(struct kueue_difference *d, const char *ours, const cJSON *recorded)
{
    char *text = recorded != NULL ? cJSON_PrintUnformatted(recorded) : NULL;
    kueue_put(&d->ours, "%s", ours != NULL ? ours : "(nothing)");
    kueue_put(&d->recorded, "%s", text != NULL ? text : "(nothing)");
    cJSON_free(text);
}

static bool compare_lines(const struct kueue_case *c, const struct kueue_result *r,
                          struct kueue_difference *d)
{
    const cJSON *line = jsonl_get(c->recorded, "cycles")->child;
    size_t i = 0;
    for (; line != NULL || i < r->log.line_count; i++) {
        const char *ours = i < r->log.line_count ? kueue_log_line(&r->log, i) : NULL;
        if (ours == NULL || line == NULL || !same_line(ours, line)) {
            snprintf(d->where, sizeof d->where, "line %zu of cycles", i);
            both_sides(d, ours, line);
            d->lines_agreed = i;
            return false;
        }
        line = line->next;
    }
    d->lines_agreed = i;
    return true;
}

static bool compare_part(const struct kueue_case *c, const struct kueue_result *r, const char *part,
                         void (*put)(struct kueue_text *, const struct kueue_case *,
                                     const struct kueue_result *),
                         struct kueue_difference *d)
{
    struct kueue_text t = {0};
    const cJSON *recorded = jsonl_get(c->recorded, part);
    put(&t, c, r);
    const bool same = recorded != NULL && same_line(t.v, recorded);
    if (!same) {
        snprintf(d->where, sizeof d->where, "%s", part);
        both_sides(d, t.v, recorded);
    }
    free(t.v);
    return same;
}

bool kueue_compare(const struct kueue_case *c, const struct kueue_result *r,
                   struct kueue_difference *d)
{
    const char *stopped = jsonl_string(c->recorded, "stopped", "");
    d->ours.count = d->recorded.count = 0;
    if (!compare_lines(c, r, d))
        return false;
    if (strcmp(stopped, r->stopped != NULL ? r->stopped : "") != 0) {
        snprintf(d->where, sizeof d->where, "stopped");
        kueue_put(&d->ours, "\"%s\"", r->stopped != NULL ? r->stopped : "");
        kueue_put(&d->recorded, "\"%s\"", stopped);
        return false;
    }
    return compare_part(c, r, "end", put_end, d) && compare_part(c, r, "history", put_history, d);
}

bool kueue_compare_outcome(const struct kueue_case *c, const struct kueue_result *r,
                           struct kueue_difference *d)
{
    d->ours.count = d->recorded.count = 0;
    return compare_part(c, r, "end", put_end, d) && compare_part(c, r, "history", put_history, d);
}

void kueue_difference_fini(struct kueue_difference *d)
{
    free(d->ours.v);
    free(d->recorded.v);
}
