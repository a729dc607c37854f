/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The HPA's memory and its two brakes: stabilisation windows and rate policies
 * (specs "autoscaling" 2.5-2.7; fields of autoscaling/v2 HorizontalPodAutoscalerBehavior).
 *
 * A missing `behavior` block is not the block's documented defaults: without it the controller
 * runs an older path (hpa_legacy_*) with a cap of max(2 x current, 4) per sync, one window for
 * scale-down whose age test is inclusive, and no scale events.
 *
 * All arithmetic is IEEE double in the controller's order, no epsilon, no fused multiply-add:
 * base 100, Percent 10 up is 111.
 */
#ifndef MODELS_ELASTIC_HPA_RULES_H
#define MODELS_ELASTIC_HPA_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim_time.h"

enum { HPA_POLICY_LIMIT = 16 }; /* policies per direction; readers refuse more */

enum hpa_policy_type { HPA_POLICY_PODS, HPA_POLICY_PERCENT };

struct hpa_policy {
    enum hpa_policy_type type;
    int32_t value;         /* >= 1 */
    int32_t periodSeconds; /* 1 .. 1800 */
};

enum hpa_select_policy { HPA_SELECT_MAX, HPA_SELECT_MIN, HPA_SELECT_DISABLED };

/* One direction, after defaulting. */
struct hpa_scaling_rules {
    enum hpa_select_policy selectPolicy;
    int32_t stabilizationWindowSeconds; /* 0 .. 3600 */
    uint32_t policy_count;
    struct hpa_policy policies[HPA_POLICY_LIMIT];
};

/* spec.behavior. present false = no block at all: the older path. */
struct hpa_behavior {
    bool present;
    struct hpa_scaling_rules scaleUp, scaleDown;
};

/* What the API fills in, field by field, when a block exists: up Pods 4/15 s and Percent 100/15 s,
 * window 0; down Percent 100/15 s, window = the controller's (300 s); select Max. */
struct hpa_behavior hpa_behavior_defaults(int32_t downscale_stabilization_s);

/* One recommendation, standing for equal ones at successive syncs: only the last time matters,
 * because the smallest and the largest inside a window do. */
struct hpa_record {
    int32_t value;
    sim_time t;
};

struct hpa_event {
    int32_t change; /* replicas added or removed, > 0 */
    sim_time t;
};

struct hpa_event_list {
    struct hpa_event *items; /* position is part of the state: see hpa_events_store */
    size_t count, capacity;
};

/* Recommendations and scale events of one HPA. Zeroed = never seen. Grows by doubling. */
struct hpa_memory {
    struct hpa_record *records; /* ascending in time */
    size_t record_count, record_capacity;
    struct hpa_event_list up, down;
};
void hpa_memory_fini(struct hpa_memory *m);

/* Appends a recommendation, merging it with an equal last one; drops what is older than keep. */
void hpa_memory_record(struct hpa_memory *m, sim_time now, int32_t value, sim_time keep);

/* Smallest and largest of raw and the records inside the windows that end at now. */
struct hpa_window {
    int32_t lo, hi;
    sim_time next; /* first instant at which lo or hi differs if raw stays; SIM_NEVER */
};
struct hpa_window hpa_window_behavior(const struct hpa_memory *m, const struct hpa_behavior *b,
                                      sim_time now, int32_t raw);
/* Legacy: only hi counts (lo = raw), and a record exactly window old still does. */
struct hpa_window hpa_window_legacy(const struct hpa_memory *m, sim_time window, sim_time now,
                                    int32_t raw);

/* Replica count after stabilisation: current, raised to lo, then lowered to hi. */
int32_t hpa_stabilise(struct hpa_window w, int32_t current);

/* Raw policy limits, before they are floored or capped at current. */
int32_t hpa_up_limit(const struct hpa_behavior *b, const struct hpa_memory *m, sim_time now,
                     int32_t current);
int32_t hpa_down_limit(const struct hpa_behavior *b, const struct hpa_memory *m, sim_time now,
                       int32_t current);

enum hpa_limit {
    HPA_WITHIN_RANGE, /* DesiredWithinRange */
    HPA_SCALE_UP_LIMIT,
    HPA_SCALE_DOWN_LIMIT,
    HPA_TOO_MANY_REPLICAS,
    HPA_TOO_FEW_REPLICAS
};
const char *hpa_limit_name(enum hpa_limit l);

struct hpa_limited {
    int32_t replicas;
    enum hpa_limit reason;
    int32_t policy_limit; /* the rate limit that was looked at, else the result */
};
struct hpa_bounds {
    int32_t min, max;
};
/* 2.6: rate policies, then bounds; nothing is looked at when desired equals current. */
struct hpa_limited hpa_limit_behavior(const struct hpa_behavior *b, const struct hpa_memory *m,
                                      sim_time now, int32_t current, int32_t desired,
                                      struct hpa_bounds bounds);
/* 2.7: bounds and the cap of one sync. */
struct hpa_limited hpa_limit_legacy(int32_t current, int32_t desired, struct hpa_bounds bounds);

/* Stores a change of replicas. Among the events of that direction that are strictly older than the
 * longest period of that direction's own policies, the last slot is overwritten; if there is none,
 * the event is appended. (Events that a longer period of the other direction still counts can be
 * lost this way; recorded behaviour of v1.37.2.) */
void hpa_events_store(struct hpa_memory *m, const struct hpa_behavior *b, sim_time now,
                      int32_t from, int32_t to);

/* First instant after now at which a scale event leaves the period of a policy; SIM_NEVER. */
sim_time hpa_events_next(const struct hpa_memory *m, const struct hpa_behavior *b, sim_time now);

#endif
