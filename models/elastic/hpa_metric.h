/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From one metric to a replica count: the HPA's replica calculator (specs "autoscaling" 2.3-2.4;
 * checked call by call against recordings of controller v1.37.2). Tolerance is
 *   1 - down <= ratio <= 1 + up,
 * both ends inclusive (the newer form; the older |1 - ratio| <= tol puts ratio 1.1 outside).
 * Values are int64 milli-units, as the controller holds them.
 */
#ifndef MODELS_ELASTIC_HPA_METRIC_H
#define MODELS_ELASTIC_HPA_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim_time.h"

enum hpa_metric_type { HPA_METRIC_EXTERNAL, HPA_METRIC_OBJECT, HPA_METRIC_PODS,
                       HPA_METRIC_RESOURCE };
enum hpa_target_type { HPA_TARGET_AVERAGE_VALUE, HPA_TARGET_VALUE, HPA_TARGET_UTILIZATION };
enum hpa_resource { HPA_RESOURCE_NONE, HPA_RESOURCE_CPU, HPA_RESOURCE_MEMORY };

struct hpa_metric {
    enum hpa_metric_type type;
    enum hpa_target_type target;
    int64_t target_milli;       /* averageValue or value */
    int32_t averageUtilization; /* percent, for HPA_TARGET_UTILIZATION */
    enum hpa_resource resource; /* for HPA_METRIC_RESOURCE */
};

struct hpa_tolerance {
    double down, up;
};
bool hpa_tolerance_holds(struct hpa_tolerance t, double ratio);

enum hpa_phase { HPA_POD_PENDING, HPA_POD_RUNNING, HPA_POD_FAILED };
enum hpa_ready { HPA_READY_NONE, HPA_READY_FALSE, HPA_READY_TRUE }; /* Ready condition */

#define HPA_NO_REQUEST (-1)

struct hpa_pod {
    enum hpa_phase phase;
    bool deleting;
    enum hpa_ready ready;
    bool has_start;
    sim_time start;
    sim_time transition; /* last change of the Ready condition */
    int64_t cpu_request_milli, memory_request_milli; /* or HPA_NO_REQUEST */
};

struct hpa_sample {
    int32_t pod; /* index into the pods, or -1: a pod outside the selector */
    int64_t value_milli;
    sim_time t, window; /* when it was taken and over how long; only cpu looks at them */
};

/* What one metric reads as in one sync. */
struct hpa_reading {
    bool failed;
    int64_t value_milli; /* External: sum of the series; Object: the value */
    const struct hpa_sample *samples; /* Pods, Resource; at most one per pod */
    size_t sample_count;
};

/* The scale target as the sync sees it. */
struct hpa_target {
    int32_t current;         /* spec.replicas */
    int32_t status_replicas; /* status.replicas */
    int32_t pod_count;       /* pods of the selector, all phases */
    int32_t ready_count;     /* Running and Ready, terminating ones included */
    const struct hpa_pod *pods; /* pod_count of them; only Pods and Resource metrics look */
};

struct hpa_calculator {
    struct hpa_tolerance tolerance;
    sim_time cpu_initialization_period;
    sim_time initial_readiness_delay;
};

enum hpa_metric_error {
    HPA_METRIC_OK,
    HPA_METRIC_UNREAD,         /* no data from the source */
    HPA_METRIC_NO_PODS,        /* the selector matches no pod */
    HPA_METRIC_NO_USABLE,      /* every sample belongs to an ignored or unready pod */
    HPA_METRIC_NO_REQUEST_SET, /* a container without a request */
    HPA_METRIC_DISJOINT        /* no sample of a known pod */
};

struct hpa_proposal {
    enum hpa_metric_error error;
    int32_t replicas;  /* valid when error is HPA_METRIC_OK */
    double ratio;      /* usage over target, the last one that was computed */
    int64_t usage_milli; /* mean per counted pod; the value; or value per replica rounded up */
    int32_t utilization; /* percent; Utilization targets only */
    bool in_tolerance;
    /* Pods of the metric by class; 0 for External and Object. */
    int32_t counted, unready, missing, ignored;
};

/* scratch: at least pod_count bytes when the metric is Pods or Resource, else may be NULL. */
struct hpa_proposal hpa_metric_propose(const struct hpa_metric *m, const struct hpa_calculator *c,
                                       const struct hpa_target *target,
                                       const struct hpa_reading *reading, sim_time now,
                                       unsigned char *scratch);

#endif
