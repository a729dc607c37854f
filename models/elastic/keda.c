/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/elastic/keda.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/elastic/keda_metrics.h"
#include "sim/check.h"
#include "sim/dmath.h"

#define DEFAULT_MAX_REPLICAS 100

struct keda_config keda_config_defaults(void)
{
    return (struct keda_config){
        .pollingInterval = 30 * SIM_SECOND,
        .cooldownPeriod = 300 * SIM_SECOND,
        .idleReplicaCount = KEDA_UNSET,
        .minReplicaCount = KEDA_UNSET,
        .maxReplicaCount = KEDA_UNSET,
        .annotations = {.paused_replicas = KEDA_UNSET},
    };
}

struct keda_trigger keda_trigger_defaults(double threshold)
{
    return (struct keda_trigger){.type = KEDA_PROMETHEUS,
                                 .metricType = HPA_TARGET_AVERAGE_VALUE,
                                 .threshold = threshold,
                                 .ignoreNullValues = true};
}

static int32_t min_replicas(const struct keda_config *cfg)
{
    return cfg->minReplicaCount == KEDA_UNSET ? 0 : cfg->minReplicaCount;
}

static int32_t max_replicas(const struct keda_config *cfg)
{
    return cfg->maxReplicaCount == KEDA_UNSET ? DEFAULT_MAX_REPLICAS : cfg->maxReplicaCount;
}

/* First replica count when the object becomes active; also the HPA's minReplicas. */
static int32_t first_replicas(const struct keda_config *cfg)
{
    return min_replicas(cfg) > 0 ? min_replicas(cfg) : 1;
}

enum keda_refusal keda_check(const struct keda_config *cfg)
{
    int32_t min = cfg->minReplicaCount == KEDA_UNSET ? 0 : first_replicas(cfg);
    if (min > max_replicas(cfg))
        return KEDA_MIN_ABOVE_MAX;
    if (cfg->idleReplicaCount != KEDA_UNSET && cfg->idleReplicaCount >= min)
        return KEDA_IDLE_NOT_BELOW_MIN;
    return KEDA_ACCEPTED;
}

const char *keda_refusal_name(enum keda_refusal r)
{
    static const char *const names[] = {"accepted", "min-above-max", "idle-not-below-min"};
    REQUIRE((size_t)r < sizeof names / sizeof names[0]);
    return names[r];
}

bool keda_annotation_bool(const char *value)
{
    static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False"};
    if (!value)
        return false;
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (strcmp(value, no[i]) == 0)
            return false;
    return true;
}

const char *keda_active_name(enum keda_active a)
{
    static const char *const names[] = {"", "ScalerActive", "ScalerNotActive", "ScalerCooldown"};
    REQUIRE((size_t)a < sizeof names / sizeof names[0]);
    return names[a];
}

const char *keda_ready_name(enum keda_ready r)
{
    static const char *const names[] = {"", "ScaledObjectReady", "TriggerError",
                                        "PartialTriggerError"};
    REQUIRE((size_t)r < sizeof names / sizeof names[0]);
    return names[r];
}

const char *keda_row_name(enum keda_row r)
{
    static const char *const names[] = {
        "paused",         "activated",     "activation held by paused-scale-out",
        "active, some trigger failed",     "active",
        "held for fallback",               "held, triggers failed",
        "deactivated",    "cooling down",  "deactivation held by paused-scale-in",
        "set to minimum", "no change"};
    REQUIRE((size_t)r < sizeof names / sizeof names[0]);
    return names[r];
}

/* --- the HPA that KEDA makes ------------------------------------------------------------------- */

static struct hpa_metric hpa_metric_of(const struct keda_trigger *t)
{
    struct hpa_metric m = {.type = HPA_METRIC_EXTERNAL, .target = t->metricType};
    if (t->type != KEDA_PROMETHEUS) {
        m.type = HPA_METRIC_RESOURCE;
        m.resource = t->type == KEDA_CPU ? HPA_RESOURCE_CPU : HPA_RESOURCE_MEMORY;
    }
    if (t->metricType == HPA_TARGET_UTILIZATION)
        m.averageUtilization = (int32_t)t->threshold;
    else
        m.target_milli = keda_metric_milli(t->threshold);
    return m;
}

static void add_metrics(const struct keda_config *cfg, bool external, struct hpa_config *hpa,
                        int32_t *of_metric)
{
    for (uint32_t i = 0; i < cfg->trigger_count; i++) {
        if ((cfg->triggers[i].type == KEDA_PROMETHEUS) != external)
            continue;
        of_metric[hpa->metric_count] = (int32_t)i;
        hpa->metrics[hpa->metric_count++] = hpa_metric_of(&cfg->triggers[i]);
    }
}

/* The pause annotations write selectPolicy into a block, which then exists with all defaults. */
static struct hpa_behavior behavior_of(const struct keda_config *cfg,
                                       const struct hpa_config *defaults)
{
    struct hpa_behavior b = cfg->behavior;
    const struct keda_annotations *a = &cfg->annotations;
    if (!b.present && (a->paused_scale_in || a->paused_scale_out))
        b = hpa_behavior_defaults((int32_t)(defaults->downscale_stabilization / SIM_SECOND));
    if (a->paused_scale_in)
        b.scaleDown.selectPolicy = HPA_SELECT_DISABLED;
    if (a->paused_scale_out)
        b.scaleUp.selectPolicy = HPA_SELECT_DISABLED;
    return b;
}

struct hpa_config keda_hpa_config(const struct keda_config *cfg, const struct hpa_config *defaults,
                                  int32_t *of_metric)
{
    struct hpa_config hpa = *defaults;
    hpa.minReplicas = first_replicas(cfg);
    hpa.maxReplicas = max_replicas(cfg);
    hpa.behavior = behavior_of(cfg, defaults);
    hpa.metric_count = 0;
    const struct keda_scaling_modifiers *sm = &cfg->scalingModifiers;
    if (!sm->present)
        add_metrics(cfg, true, &hpa, of_metric);
    add_metrics(cfg, false, &hpa, of_metric);
    if (sm->present) {
        of_metric[hpa.metric_count] = KEDA_COMPOSITE;
        hpa.metrics[hpa.metric_count++] = (struct hpa_metric){
            .type = HPA_METRIC_EXTERNAL,
            .target = sm->metricType,
            .target_milli = (int64_t)(sm->target * 1000.0)}; /* cut, not rounded */
    }
    return hpa;
}

/* --- the loop ---------------------------------------------------------------------------------- */

static bool is_stopped(const struct keda_config *cfg)
{
    return cfg->annotations.paused || cfg->annotations.paused_replicas != KEDA_UNSET;
}

static bool is_half_paused(const struct keda_config *cfg)
{
    return cfg->annotations.paused_scale_in || cfg->annotations.paused_scale_out;
}

/* Scalers built outside the loop: with a copy of the status of their own. */
static void build_apart(struct keda_state *s)
{
    if (s->built)
        return;
    s->built = true;
    s->shared = false;
    s->cache_copy = s->store;
}

void keda_start(struct keda_state *s, const struct keda_config *cfg, sim_time created)
{
    memset(s, 0, sizeof *s);
    s->created = created - created % SIM_SECOND;
    s->ready = KEDA_READY_OK;
    if (!keda_fallback_is_valid(cfg))
        s->store.fallback = KEDA_FALLBACK_NONE;
    s->stopped = is_stopped(cfg);
    if (s->stopped || is_half_paused(cfg))
        s->paused = KEDA_PAUSED;
    if (!s->stopped)
        build_apart(s);
}

struct keda_annotated keda_annotate(struct keda_state *s, const struct keda_config *cfg,
                                    int32_t current)
{
    struct keda_annotated out = {.replicas = KEDA_UNSET};
    bool stop = is_stopped(cfg);
    s->ready = KEDA_READY_OK;
    if (stop) {
        out.hpa_deleted = !s->stopped;
        int32_t count = cfg->annotations.paused_replicas;
        out.replicas = count != current ? count : KEDA_UNSET;
        s->paused = KEDA_PAUSED;
        s->built = false;
        memset(s->records, 0, sizeof s->records);
    } else {
        out.hpa_created = s->stopped;
        if (is_half_paused(cfg))
            s->paused = KEDA_PAUSED;
        else if (s->paused == KEDA_PAUSED)
            s->paused = KEDA_UNPAUSED;
        build_apart(s);
    }
    s->stopped = stop;
    return out;
}

static void set_last_active(struct keda_state *s, sim_time now)
{
    s->has_last_active = true;
    s->last_active = now - now % SIM_SECOND;
}

static void decide_active(struct keda_state *s, const struct keda_config *cfg, sim_time now,
                          struct keda_decision *out)
{
    s->active = KEDA_SCALER_ACTIVE;
    bool below_min = cfg->idleReplicaCount != KEDA_UNSET && out->current < min_replicas(cfg);
    if (below_min || out->current == 0) {
        out->row = KEDA_ROW_SCALE_OUT_PAUSED;
        if (cfg->annotations.paused_scale_out)
            return;
        out->row = KEDA_ROW_ACTIVATE;
        out->replicas = first_replicas(cfg);
        out->write = true;
        out->events |= KEDA_EVENT_ACTIVATED;
        set_last_active(s, now);
    } else if (out->error) {
        out->row = KEDA_ROW_PARTIAL_ERROR;
        s->ready = KEDA_READY_PARTIAL_ERROR;
    } else {
        out->row = KEDA_ROW_ACTIVE;
        set_last_active(s, now);
    }
}

static void to_zero_or_idle(struct keda_state *s, const struct keda_config *cfg, sim_time now,
                            struct keda_decision *out)
{
    out->cooldown_end = s->has_last_active
                            ? sim_time_after(s->last_active, cfg->cooldownPeriod)
                            : sim_time_after(s->created, cfg->initialCooldownPeriod);
    out->row = KEDA_ROW_SCALE_IN_PAUSED;
    if (cfg->annotations.paused_scale_in)
        return;
    if (out->cooldown_end < now) {
        out->row = KEDA_ROW_DEACTIVATE;
        out->replicas = cfg->idleReplicaCount != KEDA_UNSET ? cfg->idleReplicaCount
                                                            : min_replicas(cfg);
        out->write = true;
        out->events |= KEDA_EVENT_DEACTIVATED;
    } else {
        out->row = KEDA_ROW_COOLDOWN;
        s->active = KEDA_SCALER_COOLDOWN;
    }
}

static void decide_inactive(struct keda_state *s, const struct keda_config *cfg, sim_time now,
                            struct keda_decision *out)
{
    s->active = KEDA_SCALER_NOT_ACTIVE;
    bool idle_set = cfg->idleReplicaCount != KEDA_UNSET;
    if (out->error && cfg->fallback.present && cfg->fallback.replicas != 0) {
        out->row = KEDA_ROW_HOLD_FALLBACK;
    } else if (out->error && !cfg->fallback.present) {
        out->row = KEDA_ROW_HOLD_ERROR;
        s->ready = KEDA_READY_TRIGGER_ERROR;
    } else if ((idle_set && out->current > cfg->idleReplicaCount) ||
               (out->current > 0 && min_replicas(cfg) == 0)) {
        to_zero_or_idle(s, cfg, now, out);
    } else if (!idle_set && out->current < min_replicas(cfg)) {
        out->row = KEDA_ROW_SET_MIN;
        out->replicas = min_replicas(cfg);
        out->write = true;
    } else {
        out->row = KEDA_ROW_NOTHING;
    }
}

void keda_poll(struct keda_state *s, const struct keda_config *cfg, sim_time now,
               const struct keda_inputs *in, struct keda_decision *out)
{
    *out = (struct keda_decision){.current = in->current, .replicas = in->current};
    if (s->stopped)
        return;
    bool fallback_before = s->store.fallback == KEDA_FALLBACK_EXISTS;
    keda_poll_triggers(s, cfg, in, out);
    if (out->fallback && !fallback_before)
        out->events |= KEDA_EVENT_FALLBACK_ACTIVATED;
    else if (!out->fallback && fallback_before)
        out->events |= KEDA_EVENT_FALLBACK_DEACTIVATED;
    s->ready = KEDA_READY_OK;
    out->forced = cfg->annotations.force_activation;
    if (out->active || out->forced)
        decide_active(s, cfg, now, out);
    else
        decide_inactive(s, cfg, now, out);
}
