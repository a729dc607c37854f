/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One KEDA ScaledObject (kedacore/keda 8b4f083): the activation loop, which owns 0 <-> 1, and the
 * answers the HPA gets when it reads a metric. Rules: specs "autoscaling" 1.1-1.6; checked against
 * recorded decisions (docs/scaling-fidelity.md). Field names are those of the manifest.
 *
 *   keda_start      first reconcile; the caller polls at the same instant
 *   keda_poll       one pass of the loop: activation, cooldown, fallback
 *   keda_read       the HPA asks for one metric
 *   keda_annotate   annotations changed
 *
 * The operator keeps failure counts in the object's status and works on copies of it: the loop's,
 * and the one kept with the built scalers. Which copy a call sees, and when they overwrite each
 * other, decides when fallback starts; struct keda_state has all three.
 */
#ifndef MODELS_ELASTIC_KEDA_H
#define MODELS_ELASTIC_KEDA_H

#include <stdbool.h>
#include <stdint.h>

#include "models/elastic/formula.h"
#include "models/elastic/hpa.h"
#include "sim/diag.h"
#include "sim/sim_time.h"

enum { KEDA_TRIGGER_LIMIT = HPA_METRIC_LIMIT };
#define KEDA_UNSET (-1)
#define KEDA_COMPOSITE (-1) /* metric index of the formula's result */

enum keda_trigger_type { KEDA_PROMETHEUS, KEDA_CPU, KEDA_MEMORY };

struct keda_trigger {
    enum keda_trigger_type type;
    enum hpa_target_type metricType; /* AverageValue by default; Utilization: cpu, memory only */
    double threshold;                /* per replica or in total; for cpu and memory `value` */
    double activationThreshold;      /* active when the value is strictly greater */
    bool ignoreNullValues;           /* default true: an empty, NaN or infinite result reads as 0 */
    bool useCachedMetrics;           /* the HPA sees the last polled answer */
};

enum keda_fallback_behavior {
    KEDA_FALLBACK_STATIC,
    KEDA_FALLBACK_CURRENT_REPLICAS,
    KEDA_FALLBACK_CURRENT_IF_HIGHER,
    KEDA_FALLBACK_CURRENT_IF_LOWER,
    KEDA_FALLBACK_SCALING_MODIFIERS
};

struct keda_fallback {
    bool present;
    int32_t failureThreshold, replicas;
    enum keda_fallback_behavior behavior;
};

struct keda_scaling_modifiers {
    bool present;
    struct formula formula; /* variable i = value of trigger i */
    double target, activationTarget;
    bool target_is_integer; /* as written; fallback counts as absent unless it is (and > 0) */
    enum hpa_target_type metricType;
};

/* Annotations with prefix autoscaling.keda.sh/. A value that is no boolean counts as true. */
struct keda_annotations {
    bool paused;             /* stops the loop, deletes the HPA */
    int32_t paused_replicas; /* likewise, and sets the count; KEDA_UNSET */
    bool paused_scale_in, paused_scale_out, force_activation;
};

struct keda_config {
    sim_time pollingInterval;       /* 30 s */
    sim_time cooldownPeriod;        /* 300 s */
    sim_time initialCooldownPeriod; /* 0 s */
    int32_t idleReplicaCount;       /* KEDA_UNSET, or below minReplicaCount */
    int32_t minReplicaCount;        /* KEDA_UNSET = missing = 0 */
    int32_t maxReplicaCount;        /* KEDA_UNSET = missing = 100 */
    struct keda_fallback fallback;
    struct keda_scaling_modifiers scalingModifiers;
    struct hpa_behavior behavior; /* advanced.horizontalPodAutoscalerConfig.behavior */
    struct keda_annotations annotations;
    uint32_t trigger_count;
    struct keda_trigger triggers[KEDA_TRIGGER_LIMIT];
};

/* All defaults of the manifest; no triggers, no behavior block. */
struct keda_config keda_config_defaults(void);

/* AverageValue, ignoreNullValues true, activationThreshold 0, not cached. */
struct keda_trigger keda_trigger_defaults(double threshold);

/* What KEDA itself refuses at reconcile. For the idle check a written minimum of 0 counts as 1 and
 * a missing one as 0. */
enum keda_refusal { KEDA_ACCEPTED, KEDA_MIN_ABOVE_MAX, KEDA_IDLE_NOT_BELOW_MIN };
enum keda_refusal keda_check(const struct keda_config *cfg);
const char *keda_refusal_name(enum keda_refusal r); /* "min-above-max", "idle-not-below-min" */

/* Boolean annotation value as KEDA reads it: what is no boolean is true; NULL (absent) is false. */
bool keda_annotation_bool(const char *value);

/* The HPA that KEDA makes: External metrics first, then Resource ones (with a formula: Resource
 * ones, then the composite). defaults: controller settings to start from. of_metric receives, per
 * HPA metric, the trigger index or KEDA_COMPOSITE; KEDA_TRIGGER_LIMIT entries. */
struct hpa_config keda_hpa_config(const struct keda_config *cfg, const struct hpa_config *defaults,
                                  int32_t *of_metric);

/* Value as the HPA sees it: three decimals; negative, NaN and infinite become 0. */
int64_t keda_metric_milli(double value);

/* --- what a source answers --------------------------------------------------------------------- */

enum keda_answer {
    KEDA_ANSWER_VALUE,
    KEDA_ANSWER_FAILED, /* HTTP error, no connection, several series, malformed pair */
    KEDA_ANSWER_EMPTY,  /* no series: 0, or an error without ignoreNullValues */
    KEDA_ANSWER_NULL    /* JSON null: reads as -1 */
};
struct keda_sample {
    enum keda_answer answer;
    double value; /* NaN and infinities allowed */
};

/* One per trigger, and what the target looks like. */
struct keda_inputs {
    const struct keda_sample *samples; /* trigger_count; those of cpu and memory are not looked at */
    int32_t current;                   /* spec.replicas of the target */
    int32_t ready;                     /* its ready pods; only Value fallback looks */
};

/* Instant at which all queries of a poll begun at t have answered: a failing query is tried twice,
 * so it takes twice the latency. */
sim_time keda_answered(const struct keda_config *cfg, const struct keda_sample *samples, sim_time t,
                       sim_time latency);

/* --- state ------------------------------------------------------------------------------------- */

struct keda_health {
    bool known;
    bool failing;
    int32_t failures;
};

enum keda_fallback_state { KEDA_FALLBACK_UNKNOWN, KEDA_FALLBACK_NONE, KEDA_FALLBACK_EXISTS };

/* The part of the object's status that fallback works on. */
struct keda_status {
    struct keda_health health[KEDA_TRIGGER_LIMIT];
    enum keda_fallback_state fallback;
};

/* Last polled answer of a trigger with useCachedMetrics. */
struct keda_record {
    bool known, failed;
    bool nameless; /* a fallback value under a formula lost its trigger's name */
    int64_t milli;
};

enum keda_active { KEDA_ACTIVE_NONE, KEDA_SCALER_ACTIVE, KEDA_SCALER_NOT_ACTIVE,
                   KEDA_SCALER_COOLDOWN };
enum keda_ready { KEDA_READY_NONE, KEDA_READY_OK, KEDA_READY_TRIGGER_ERROR,
                  KEDA_READY_PARTIAL_ERROR };
enum keda_paused { KEDA_PAUSED_NEVER, KEDA_PAUSED, KEDA_UNPAUSED };
const char *keda_active_name(enum keda_active a);
const char *keda_ready_name(enum keda_ready r);

struct keda_state {
    sim_time created;
    bool has_last_active;
    sim_time last_active; /* cut to the second, as the API stores it */
    struct keda_status store, poll_copy, cache_copy;
    bool built;           /* scalers are built: cache_copy (or, if shared, poll_copy) is live */
    bool shared;          /* built by a poll: the copy kept with them is the poll's */
    bool stopped;         /* paused: no loop, no HPA */
    struct keda_record records[KEDA_TRIGGER_LIMIT];
    enum keda_active active;
    enum keda_ready ready;
    enum keda_paused paused;
};

enum keda_event {
    KEDA_EVENT_ACTIVATED = 1,           /* KEDAScaleTargetActivated */
    KEDA_EVENT_DEACTIVATED = 2,         /* KEDAScaleTargetDeactivated */
    KEDA_EVENT_FALLBACK_ACTIVATED = 4,  /* ScaledObjectFallbackActivated */
    KEDA_EVENT_FALLBACK_DEACTIVATED = 8 /* ScaledObjectFallbackDeactivated */
};

/* Which row of the decision table applied (specs 1.2). */
enum keda_row {
    KEDA_ROW_PAUSED,
    KEDA_ROW_ACTIVATE,         /* 0 or idle -> first count */
    KEDA_ROW_SCALE_OUT_PAUSED, /* would have activated */
    KEDA_ROW_PARTIAL_ERROR,
    KEDA_ROW_ACTIVE,
    KEDA_ROW_HOLD_FALLBACK,    /* error, the HPA will apply fallback.replicas */
    KEDA_ROW_HOLD_ERROR,       /* error, no fallback */
    KEDA_ROW_DEACTIVATE,       /* to zero or idle */
    KEDA_ROW_COOLDOWN,         /* would, but the cooldown is not over */
    KEDA_ROW_SCALE_IN_PAUSED,
    KEDA_ROW_SET_MIN,
    KEDA_ROW_NOTHING
};
const char *keda_row_name(enum keda_row r);

struct keda_decision {
    int32_t current, replicas;
    bool write;
    enum keda_row row;
    bool active, error, forced;
    bool fallback;                        /* a trigger is in fallback */
    unsigned events;                      /* enum keda_event */
    bool trigger_active[KEDA_TRIGGER_LIMIT]; /* status.triggersActivity */
    int32_t metric;      /* trigger that decided activity (first active, else 0), or KEDA_COMPOSITE */
    double value, threshold; /* its value and what it must exceed */
    sim_time cooldown_end;   /* for DEACTIVATE and COOLDOWN: must lie strictly in the past */
    /* The state after: Active, Ready, Fallback are in keda_state. */
};

/* First reconcile of an object created at `created` (cut to the second by the API). The caller
 * polls next, unless the object is paused. */
void keda_start(struct keda_state *s, const struct keda_config *cfg, sim_time created);

/* One pass of the loop; now = instant at which all queries have answered. The caller writes
 * out->replicas when out->write. */
void keda_poll(struct keda_state *s, const struct keda_config *cfg, sim_time now,
               const struct keda_inputs *in, struct keda_decision *out);

/* The HPA reads metric (trigger index or KEDA_COMPOSITE). failed: an error, or an empty list. */
struct keda_read_result {
    bool failed, empty;
    int64_t milli;
};
struct keda_read_result keda_read(struct keda_state *s, const struct keda_config *cfg,
                                  int32_t metric, const struct keda_inputs *in);

/* The annotations became those in cfg and the object was reconciled: pauses or un-pauses. */
struct keda_annotated {
    bool hpa_deleted, hpa_created; /* a created HPA has empty memory; the caller polls at once */
    int32_t replicas;              /* KEDA_UNSET, or the paused count to set now */
};
struct keda_annotated keda_annotate(struct keda_state *s, const struct keda_config *cfg,
                                    int32_t current);

/* True if a poll or a read changes failure counts, so that no poll may be left out. */
bool keda_is_failing(const struct keda_config *cfg, const struct keda_sample *samples);

#endif
