/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One HorizontalPodAutoscaler (autoscaling/v2) as the controller of Kubernetes v1.37.2 decides:
 * one hpa_sync is one reconcile, in the order of specs "autoscaling" 2.2. Checked sync by sync
 * against recorded decisions (docs/scaling-fidelity.md).
 *
 * The controller decides and the caller applies: hpa_sync returns the replica count to write.
 */
#ifndef MODELS_ELASTIC_HPA_H
#define MODELS_ELASTIC_HPA_H

#include <stdbool.h>
#include <stdint.h>

#include "models/elastic/hpa_metric.h"
#include "models/elastic/hpa_rules.h"
#include "sim/sim_time.h"

enum { HPA_METRIC_LIMIT = 8 }; /* metrics of one HPA; readers refuse more */

struct hpa_config {
    int32_t minReplicas, maxReplicas;
    struct hpa_behavior behavior;
    struct hpa_calculator calculator; /* tolerance in force after defaulting, cpu delays */
    sim_time downscale_stabilization; /* controller-wide window; the legacy path's only one */
    bool scale_to_zero_gate;          /* HPAScaleToZero: off before v1.37, on since */
    uint32_t metric_count;
    struct hpa_metric metrics[HPA_METRIC_LIMIT];
};

/* minReplicas 1, maxReplicas 1, no behavior, tolerance 0.1, window 300 s, cpu initialisation
 * 300 s, readiness delay 30 s, gate on; no metrics. */
struct hpa_config hpa_config_defaults(void);

/* Conditions of the HPA's status; *_NONE = never set. They persist over syncs. */
enum hpa_able { HPA_ABLE_NONE, HPA_SUCCEEDED_GET_SCALE, HPA_READY_FOR_NEW_SCALE,
                HPA_SCALE_UP_STABILIZED, HPA_SCALE_DOWN_STABILIZED, HPA_SUCCEEDED_RESCALE };
enum hpa_active { HPA_ACTIVE_NONE, HPA_VALID_METRIC_FOUND, HPA_SCALING_DISABLED,
                  HPA_FAILED_GET_EXTERNAL, HPA_FAILED_GET_OBJECT, HPA_FAILED_GET_PODS,
                  HPA_FAILED_GET_RESOURCE };
enum hpa_zero { HPA_ZERO_NONE, HPA_NOT_SCALED_TO_ZERO, HPA_SCALED_TO_ZERO };
struct hpa_conditions {
    enum hpa_able able;
    enum hpa_active active;
    bool limited_set;
    enum hpa_limit limited; /* ScalingLimited; True unless HPA_WITHIN_RANGE */
    enum hpa_zero zero;
};
const char *hpa_able_name(enum hpa_able a);     /* "" for none */
const char *hpa_active_name(enum hpa_active a); /* "" for none */
/* Reason of ScalingActive when a metric of this type fails. */
enum hpa_active hpa_metric_failure(enum hpa_metric_type type);

/* Why the scale was written. */
enum hpa_why { HPA_WHY_NOT_WRITTEN, HPA_WHY_ABOVE_MAX, HPA_WHY_BELOW_MIN, HPA_WHY_ABOVE_TARGET,
               HPA_WHY_ALL_BELOW, HPA_WHY_NONE };
const char *hpa_why_name(enum hpa_why w); /* "" when not written; "none" for HPA_WHY_NONE */

/* The arithmetic of one sync. */
struct hpa_decision {
    int32_t current;
    int32_t replicas; /* spec.replicas after the sync */
    bool write;
    bool error;       /* the sync returned an error; it can still have scaled */
    bool computed;    /* metrics were asked and the fields down to limit are valid */
    int32_t raw;      /* largest proposal: what was recorded */
    int32_t metric;   /* index of the metric that asked for it, or -1 */
    int32_t window_lo, window_hi;
    int32_t stabilised;
    int32_t policy_limit; /* rate limit that was looked at, else the stabilised count */
    enum hpa_limit limit;
    enum hpa_why why;
    struct hpa_conditions conditions;
    uint32_t proposal_count; /* 0 when no metric was asked */
    struct hpa_proposal proposals[HPA_METRIC_LIMIT];
};

/* Zeroed = a new HPA. Owns the memory's arrays. */
struct hpa_state {
    struct hpa_memory memory;
    struct hpa_conditions conditions;
    bool seen;
    bool recorded;        /* the last sync appended a recommendation */
    int32_t last_raw;
    sim_time next_change; /* see hpa_next_change */
};
void hpa_state_fini(struct hpa_state *s);

/* One reconcile at now. readings: one per metric. scratch: as in hpa_metric_propose. */
void hpa_sync(struct hpa_state *s, const struct hpa_config *cfg, sim_time now,
              const struct hpa_target *target, const struct hpa_reading *readings,
              unsigned char *scratch, struct hpa_decision *out);

/*
 * If target and readings stay as they were at the last sync (and what it wrote was applied), every
 * sync before the returned instant changes nothing: same count, same reasons. SIM_NEVER if no
 * sync ever would. An instant not after the last sync means: run the next sync. Such syncs may be
 * left out if hpa_skip is told before the next hpa_sync when the last one left out was due.
 */
static inline sim_time hpa_next_change(const struct hpa_state *s)
{
    return s->next_change;
}
void hpa_skip(struct hpa_state *s, const struct hpa_config *cfg, sim_time last_left_out);

#endif
