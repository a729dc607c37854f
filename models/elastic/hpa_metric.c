/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/elastic/hpa_metric.h"

#include <math.h> /* ceil: exact by IEEE 754 */
#include <string.h>

#include "sim/check.h"

bool hpa_tolerance_holds(struct hpa_tolerance t, double ratio)
{
    return 1.0 - t.down <= ratio && ratio <= 1.0 + t.up;
}

/* The controller caps at 2^31-1 for External targets; elsewhere its conversion is undefined, and
 * we cap too. */
static int32_t ceil_int32(double x)
{
    double up = ceil(x);
    if (!(up < (double)INT32_MAX))
        return INT32_MAX;
    return up <= (double)INT32_MIN ? INT32_MIN : (int32_t)up;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return b == 0 ? 0 : (int64_t)ceil((double)a / (double)b);
}

static struct hpa_proposal failed(struct hpa_proposal p, enum hpa_metric_error e)
{
    p.error = e;
    return p;
}

static struct hpa_proposal propose_average_value(const struct hpa_metric *m,
                                                 const struct hpa_calculator *c,
                                                 const struct hpa_target *t, int64_t usage)
{
    struct hpa_proposal p = {.usage_milli = ceil_div(usage, t->status_replicas)};
    p.ratio = (double)usage / ((double)m->target_milli * (double)t->status_replicas);
    p.in_tolerance = hpa_tolerance_holds(c->tolerance, p.ratio);
    p.replicas = p.in_tolerance ? t->status_replicas
                                : ceil_int32((double)usage / (double)m->target_milli);
    return p;
}

static struct hpa_proposal propose_value(const struct hpa_metric *m, const struct hpa_calculator *c,
                                         const struct hpa_target *t, int64_t usage)
{
    struct hpa_proposal p = {.usage_milli = usage};
    p.ratio = (double)usage / (double)m->target_milli;
    if (t->current == 0) {
        p.replicas = ceil_int32(p.ratio);
        return p;
    }
    p.in_tolerance = hpa_tolerance_holds(c->tolerance, p.ratio);
    if (p.in_tolerance)
        p.replicas = t->current;
    else if (t->pod_count == 0)
        p.error = HPA_METRIC_NO_PODS;
    else
        p.replicas = ceil_int32(p.ratio * (double)t->ready_count);
    return p;
}

/* --- Pods and Resource metrics ----------------------------------------------------------------- */

enum pod_class { POD_MISSING, POD_IGNORED, POD_UNREADY, POD_COUNTED };

/* A cpu sample says nothing yet about a pod that is still starting. */
static bool cpu_unready(const struct hpa_pod *pod, const struct hpa_sample *s,
                        const struct hpa_calculator *c, sim_time now)
{
    if (pod->ready == HPA_READY_NONE || !pod->has_start)
        return true;
    if (pod->start + c->cpu_initialization_period > now)
        return pod->ready == HPA_READY_FALSE || s->t < pod->transition + s->window;
    return pod->ready == HPA_READY_FALSE &&
           pod->start + c->initial_readiness_delay > pod->transition;
}

static void classify(const struct hpa_metric *m, const struct hpa_calculator *c,
                     const struct hpa_target *t, const struct hpa_reading *r, sim_time now,
                     unsigned char *of_pod)
{
    for (int32_t i = 0; i < t->pod_count; i++) {
        const struct hpa_pod *pod = &t->pods[i];
        if (pod->deleting || pod->phase == HPA_POD_FAILED)
            of_pod[i] = POD_IGNORED;
        else
            of_pod[i] = pod->phase == HPA_POD_PENDING ? POD_UNREADY : POD_MISSING;
    }
    for (size_t i = 0; i < r->sample_count; i++) {
        const struct hpa_sample *s = &r->samples[i];
        if (s->pod < 0 || of_pod[s->pod] != POD_MISSING)
            continue;
        bool unready = m->resource == HPA_RESOURCE_CPU &&
                       cpu_unready(&t->pods[s->pod], s, c, now);
        of_pod[s->pod] = unready ? POD_UNREADY : POD_COUNTED;
    }
}

static void count_classes(const struct hpa_target *t, const unsigned char *of_pod,
                          struct hpa_proposal *p)
{
    for (int32_t i = 0; i < t->pod_count; i++) {
        switch ((enum pod_class)of_pod[i]) {
        case POD_MISSING:
            p->missing++;
            break;
        case POD_IGNORED:
            p->ignored++;
            break;
        case POD_UNREADY:
            p->unready++;
            break;
        case POD_COUNTED:
            p->counted++;
            break;
        }
    }
}

/* Sums over the samples that take part. */
struct usage {
    int64_t value, request;
    int64_t samples; /* all that take part, also those of foreign pods */
    int64_t known;   /* those with a request */
};

static int64_t request_of(const struct hpa_metric *m, const struct hpa_pod *pod)
{
    return m->resource == HPA_RESOURCE_MEMORY ? pod->memory_request_milli : pod->cpu_request_milli;
}

static struct usage usage_of_counted(const struct hpa_metric *m, const struct hpa_target *t,
                                     const struct hpa_reading *r, const unsigned char *of_pod)
{
    bool utilization = m->target == HPA_TARGET_UTILIZATION;
    struct usage u = {0};
    for (size_t i = 0; i < r->sample_count; i++) {
        const struct hpa_sample *s = &r->samples[i];
        if (s->pod >= 0 && of_pod[s->pod] != POD_COUNTED)
            continue;
        u.samples++;
        if (utilization && s->pod < 0)
            continue; /* no request is known for it */
        u.value += s->value_milli;
        u.request += s->pod >= 0 ? request_of(m, &t->pods[s->pod]) : 0;
        u.known++;
    }
    return u;
}

static double ratio_of(const struct hpa_metric *m, struct usage u, struct hpa_proposal *p)
{
    if (m->target == HPA_TARGET_UTILIZATION) {
        int32_t percent = (int32_t)(u.value * 100 / u.request);
        p->utilization = percent;
        p->usage_milli = u.value / u.known;
        return (double)percent / (double)m->averageUtilization;
    }
    p->usage_milli = u.value / u.samples;
    return (double)p->usage_milli / (double)m->target_milli;
}

/* Missing pods use their full request (or the target, if larger) when that slows a scale-down, and
 * nothing when that slows a scale-up; so do unready pods on the way up. */
static struct usage usage_filled_in(const struct hpa_metric *m, const struct hpa_target *t,
                                    struct usage u, const unsigned char *of_pod, double ratio)
{
    bool utilization = m->target == HPA_TARGET_UTILIZATION;
    int64_t percent = m->averageUtilization > 100 ? m->averageUtilization : 100;
    for (int32_t i = 0; i < t->pod_count; i++) {
        bool missing = of_pod[i] == POD_MISSING && (ratio < 1.0 || ratio > 1.0);
        bool unready = of_pod[i] == POD_UNREADY && ratio > 1.0;
        if (!missing && !unready)
            continue;
        u.samples++;
        u.known++;
        int64_t request = request_of(m, &t->pods[i]);
        u.request += utilization ? request : 0;
        if (missing && ratio < 1.0)
            u.value += utilization ? request * percent / 100 : m->target_milli;
    }
    return u;
}

static int32_t second_round(const struct hpa_metric *m, const struct hpa_calculator *c,
                            const struct hpa_target *t, struct usage u, struct hpa_proposal *p)
{
    double first = p->ratio;
    int64_t usage_milli = p->usage_milli; /* what is reported stays that of the first round */
    int32_t utilization = p->utilization;
    double ratio = ratio_of(m, u, p);
    p->usage_milli = usage_milli;
    p->utilization = utilization;
    p->ratio = ratio;
    p->in_tolerance = hpa_tolerance_holds(c->tolerance, ratio);
    if (p->in_tolerance || (first < 1.0 && ratio > 1.0) || (first > 1.0 && ratio < 1.0))
        return t->current;
    int32_t replicas = ceil_int32(ratio * (double)u.samples);
    if ((ratio < 1.0 && replicas > t->current) || (ratio > 1.0 && replicas < t->current))
        return t->current;
    return replicas;
}

static bool request_missing(const struct hpa_metric *m, const struct hpa_target *t)
{
    for (int32_t i = 0; i < t->pod_count; i++)
        if (request_of(m, &t->pods[i]) == HPA_NO_REQUEST)
            return true;
    return false;
}

static struct hpa_proposal propose_from_pods(const struct hpa_metric *m,
                                             const struct hpa_calculator *c,
                                             const struct hpa_target *t,
                                             const struct hpa_reading *r, sim_time now,
                                             unsigned char *of_pod)
{
    struct hpa_proposal p = {0};
    bool utilization = m->target == HPA_TARGET_UTILIZATION;
    if (t->pod_count > 0) {
        REQUIRE(of_pod && t->pods);
        classify(m, c, t, r, now, of_pod);
        count_classes(t, of_pod, &p);
    }
    if (r->failed)
        return failed(p, HPA_METRIC_UNREAD);
    if (t->pod_count == 0)
        return failed(p, HPA_METRIC_NO_PODS);
    struct usage u = usage_of_counted(m, t, r, of_pod);
    if (u.samples == 0)
        return failed(p, HPA_METRIC_NO_USABLE);
    if (utilization && request_missing(m, t))
        return failed(p, HPA_METRIC_NO_REQUEST_SET);
    if (utilization && u.request == 0)
        return failed(p, HPA_METRIC_DISJOINT);
    p.ratio = ratio_of(m, u, &p);
    bool up_with_unready = p.unready > 0 && p.ratio > 1.0;
    if (!up_with_unready && p.missing == 0) {
        p.in_tolerance = hpa_tolerance_holds(c->tolerance, p.ratio);
        p.replicas = p.in_tolerance ? t->current : ceil_int32(p.ratio * (double)p.counted);
        return p;
    }
    u = usage_filled_in(m, t, u, of_pod, p.ratio);
    p.replicas = second_round(m, c, t, u, &p);
    return p;
}

struct hpa_proposal hpa_metric_propose(const struct hpa_metric *m, const struct hpa_calculator *c,
                                       const struct hpa_target *target,
                                       const struct hpa_reading *reading, sim_time now,
                                       unsigned char *scratch)
{
    if (m->type == HPA_METRIC_PODS || m->type == HPA_METRIC_RESOURCE)
        return propose_from_pods(m, c, target, reading, now, scratch);
    if (reading->failed)
        return (struct hpa_proposal){.error = HPA_METRIC_UNREAD};
    return m->target == HPA_TARGET_VALUE ? propose_value(m, c, target, reading->value_milli)
                                         : propose_average_value(m, c, target,
                                                                 reading->value_milli);
}
