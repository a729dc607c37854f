/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/conform_kueue_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_time.h"

void kueue_put(struct kueue_text *t, const char *fmt, ...)
{
    va_list ap;
    t->v = mem_grow(t->v, &t->capacity, t->count + 256, 1);
    va_start(ap, fmt);
    const int n = vsnprintf(t->v + t->count, t->capacity - t->count, fmt, ap);
    va_end(ap);
    if (t->count + (size_t)n + 1 > t->capacity) {
        t->v = mem_grow(t->v, &t->capacity, t->count + (size_t)n + 1, 1);
        va_start(ap, fmt);
        vsnprintf(t->v + t->count, t->capacity - t->count, fmt, ap);
        va_end(ap);
    }
    t->count += (size_t)n;
}

void kueue_log_fini(struct kueue_log *log)
{
    free(log->text.v);
    free(log->lines);
    free(log->entries.v);
    free(log->events.v);
    free(log->usage.v);
}

void kueue_log_clear(struct kueue_log *log, const struct kueue_case *c)
{
    log->c = c;
    log->text.count = log->entries.count = log->events.count = log->usage.count = 0;
    log->line_count = log->events_end = 0;
}

void kueue_log_cut(struct kueue_log *log, size_t n)
{
    if (n >= log->line_count)
        return;
    log->text.count = log->lines[n];
    log->line_count = n;
}

static void begin_line(struct kueue_log *log)
{
    log->lines = mem_grow(log->lines, &log->line_capacity, log->line_count + 1, sizeof *log->lines);
    log->lines[log->line_count++] = log->text.count;
}

static void end_line(struct kueue_log *log)
{
    log->text.count++; /* keep the '\0' */
}

static int64_t in_s(int64_t ns)
{
    return ns / SIM_SECOND;
}

static const char *job_name(const struct kueue_log *log, uint32_t workload)
{
    return log->c->jobs[workload].name;
}

static const char *comma(const struct kueue_text *t)
{
    return t->count > 0 ? "," : "";
}

/* ---- entries; members in the order of their names ---- */

static int by_resource_name(const struct kueue_log *log, const struct policy_choice *a,
                            const struct policy_choice *b)
{
    return strcmp(log->c->config.resources[a->resource], log->c->config.resources[b->resource]);
}

static void put_choices(struct kueue_log *log, const struct policy_assigned_set *s)
{
    struct kueue_text *t = &log->entries;
    const struct policy_choice *last = NULL;
    kueue_put(t, "\"flavors\":{");
    for (uint32_t n = 0; n < s->choice_count; n++) {
        const struct policy_choice *next = NULL;
        for (uint32_t i = 0; i < s->choice_count; i++) {
            const struct policy_choice *c = &s->choices[i];
            if ((last == NULL || by_resource_name(log, c, last) > 0) &&
                (next == NULL || by_resource_name(log, c, next) < 0))
                next = c;
        }
        if (next == NULL)
            break;
        kueue_put(t, "%s\"%s\":\"%s\"", last != NULL ? "," : "",
                  log->c->config.resources[next->resource],
                  log->c->config.flavors[next->flavor].name);
        last = next;
    }
    kueue_put(t, "}");
}

static void put_topology(struct kueue_text *t, const struct policy_assigned_set *s)
{
    kueue_put(t, ",\"topology\":{\"domains\":[");
    for (uint32_t d = 0; d < s->domain_count; d++) {
        kueue_put(t, "%s{\"count\":%" PRId64 ",\"values\":[", d > 0 ? "," : "", s->domains[d].count);
        for (uint32_t v = 0; v < s->level_count; v++)
            kueue_put(t, "%s\"%s\"", v > 0 ? "," : "", s->domains[d].values[v]);
        kueue_put(t, "]}");
    }
    kueue_put(t, "],\"levels\":[");
    for (uint32_t v = 0; v < s->level_count; v++)
        kueue_put(t, "%s\"%s\"", v > 0 ? "," : "", s->levels[v]);
    kueue_put(t, "]}");
}

static void put_sets(struct kueue_log *log, const struct policy_entry *e)
{
    struct kueue_text *t = &log->entries;
    kueue_put(t, ",\"podSets\":[");
    for (uint32_t i = 0; i < e->set_count; i++) {
        const struct policy_assigned_set *s = &e->sets[i];
        kueue_put(t, "%s{\"count\":%" PRId64 ",", i > 0 ? "," : "", s->count);
        put_choices(log, s);
        kueue_put(t, ",\"name\":\"%s\"", s->name);
        if (s->placed)
            put_topology(t, s);
        kueue_put(t, "}");
    }
    kueue_put(t, "]");
}

static void put_victims(struct kueue_log *log, const struct policy_entry *e)
{
    struct kueue_text *t = &log->entries;
    kueue_put(t, ",\"victims\":[");
    for (uint32_t i = 0; i < e->victim_count; i++)
        kueue_put(t, "%s{%s\"reason\":\"%s\",\"workload\":\"%s\"}", i > 0 ? "," : "",
                  e->victims[i].already ? "\"alreadyEvicting\":true," : "",
                  policy_evict_reason_name(e->victims[i].reason),
                  job_name(log, e->victims[i].workload));
    kueue_put(t, "]");
}

static void put_entry(struct kueue_log *log, const struct policy_entry *e, int64_t began_ns)
{
    struct kueue_text *t = &log->entries;
    const bool admitted = e->outcome == POLICY_OUT_ADMITTED;
    kueue_put(t, "%s{", comma(t));
    if (admitted && e->at_ns > began_ns)
        kueue_put(t, "\"at\":%" PRId64 ",", in_s(e->at_ns));
    if (admitted && e->borrowing_level > 0)
        kueue_put(t, "\"borrowingLevel\":%" PRIu32 ",", e->borrowing_level);
    kueue_put(t, "\"clusterQueue\":\"%s\"", log->c->config.cluster_queues[e->cluster_queue].name);
    if (!admitted)
        kueue_put(t, ",\"goesTo\":\"%s\"",
                  e->goes_to == POLICY_PLACE_QUEUE ? "queue" : "parked");
    if (e->nominated)
        kueue_put(t, ",\"mode\":\"%s\"", policy_mode_name(e->mode));
    kueue_put(t, ",\"outcome\":\"%s\"", policy_outcome_name(e->outcome));
    if (admitted)
        put_sets(log, e);
    else
        kueue_put(t, ",\"requeueReason\":\"%s\"", policy_requeue_reason_name(e->reason));
    if (e->victim_count > 0)
        put_victims(log, e);
    kueue_put(t, ",\"workload\":\"%s\"}", job_name(log, e->workload));
}

/* ---- lines ---- */

void kueue_log_flush(struct kueue_log *log)
{
    if (log->events.count > 0) {
        begin_line(log);
        kueue_put(&log->text, "{\"events\":[%s],\"t\":%" PRId64 "}", log->events.v,
                  in_s(log->events_ns));
        end_line(log);
        log->events.count = 0;
        log->events_end = log->line_count;
    }
    if (log->usage.count > 0) {
        begin_line(log);
        kueue_put(&log->text, "{\"t\":%" PRId64 ",\"usage\":[%s]}", in_s(log->usage_ns),
                  log->usage.v);
        end_line(log);
        log->usage.count = 0;
        log->events_end = log->line_count;
    }
}

static void end_cycle(struct kueue_log *log, const struct policy_output *o, uint32_t number)
{
    kueue_log_flush(log);
    begin_line(log);
    kueue_put(&log->text, "{\"cycle\":%" PRIu32 ",\"entries\":[%s],\"t\":%" PRId64, number,
              log->entries.count > 0 ? log->entries.v : "", in_s(o->u.cycle.began_ns));
    if (o->time_ns > o->u.cycle.began_ns)
        kueue_put(&log->text, ",\"until\":%" PRId64, in_s(o->time_ns));
    kueue_put(&log->text, "}");
    end_line(log);
    log->entries.count = 0;
}

static struct kueue_text *event_at(struct kueue_log *log, int64_t now)
{
    if (log->usage.count > 0 || (log->events.count > 0 && log->events_ns != now))
        kueue_log_flush(log);
    log->events_ns = now;
    return &log->events;
}

static void put_eviction(struct kueue_log *log, const struct policy_output *o)
{
    const char *name = policy_evict_reason_name(o->u.evict.reason);
    if (o->u.evict.preemptor != POLICY_NONE)
        return; /* decided by a cycle, and told there */
    struct kueue_text *t = event_at(log, o->time_ns);
    kueue_put(t, "%s{", comma(t));
    if (o->u.evict.reason == POLICY_EVICT_PODS_READY_TIMEOUT)
        kueue_put(t, "\"count\":%" PRIu32 ",\"event\":\"evicted\",\"reason\":\"%s\",\"requeueAt\":%" PRId64 ",",
                  o->u.evict.count, name, in_s(o->u.evict.until_ns));
    else
        kueue_put(t, "\"event\":\"evicted\",\"reason\":\"%s\",", name);
    kueue_put(t, "\"workload\":\"%s\"}", job_name(log, o->workload));
}

static void put_usage(struct kueue_log *log, const struct policy_output *o)
{
    struct kueue_text *t = &log->usage;
    if (o->u.usage.count == 0)
        return;
    if (log->events.count > 0 || (t->count > 0 && log->usage_ns != o->time_ns))
        kueue_log_flush(log);
    log->usage_ns = o->time_ns;
    kueue_put(t, "%s{\"consumed\":{", comma(t));
    for (uint32_t i = 0; i < o->u.usage.count; i++)
        kueue_put(t, "%s\"%s\":\"%.9f\"", i > 0 ? "," : "",
                  log->c->config.resources[o->u.usage.amounts[i].resource],
                  o->u.usage.amounts[i].consumed);
    kueue_put(t, "},\"localQueue\":\"%s\"}",
              log->c->config.local_queues[o->u.usage.local_queue].name);
}

void kueue_log_output(struct kueue_log *log, const struct policy_output *o, uint32_t number)
{
    struct kueue_text *t;
    switch (o->kind) {
    case POLICY_SAY_ENTRY:
        put_entry(log, o->u.entry, log->cycle_began_ns);
        break;
    case POLICY_SAY_CYCLE:
        end_cycle(log, o, number);
        break;
    case POLICY_DO_EVICT:
        put_eviction(log, o);
        break;
    case POLICY_DO_DEACTIVATE:
        t = event_at(log, o->time_ns);
        kueue_put(t, "%s{\"event\":\"deactivated\",\"workload\":\"%s\"}", comma(t),
                  job_name(log, o->workload));
        break;
    case POLICY_DO_REQUEUE:
        if (!o->u.requeue.backoff_finished)
            break;
        t = event_at(log, o->time_ns);
        kueue_put(t, "%s{\"event\":\"requeued\",\"reason\":\"BackoffFinished\",\"workload\":\"%s\"}",
                  comma(t), job_name(log, o->workload));
        break;
    case POLICY_SAY_USAGE:
    case POLICY_SAY_EVALUATION:
        put_usage(log, o);
        break;
    case POLICY_DO_ADMIT:
    case POLICY_SAY_REASON:
    case POLICY_SAY_PENDING:
        break;
    }
}
