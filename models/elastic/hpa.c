/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/elastic/hpa.h"

#include <stddef.h>
#include <string.h>

#include "sim/check.h"

struct hpa_config hpa_config_defaults(void)
{
    return (struct hpa_config){
        .minReplicas = 1,
        .maxReplicas = 1,
        .calculator = {.tolerance = {0.1, 0.1},
                       .cpu_initialization_period = 300 * SIM_SECOND,
                       .initial_readiness_delay = 30 * SIM_SECOND},
        .downscale_stabilization = 300 * SIM_SECOND,
        .scale_to_zero_gate = true,
    };
}

const char *hpa_able_name(enum hpa_able a)
{
    static const char *const names[] = {"", "SucceededGetScale", "ReadyForNewScale",
                                        "ScaleUpStabilized", "ScaleDownStabilized",
                                        "SucceededRescale"};
    REQUIRE((size_t)a < sizeof names / sizeof names[0]);
    return names[a];
}

const char *hpa_active_name(enum hpa_active a)
{
    static const char *const names[] = {"",
                                        "ValidMetricFound",
                                        "ScalingDisabled",
                                        "FailedGetExternalMetric",
                                        "FailedGetObjectMetric",
                                        "FailedGetPodsMetric",
                                        "FailedGetResourceMetric"};
    REQUIRE((size_t)a < sizeof names / sizeof names[0]);
    return names[a];
}

const char *hpa_why_name(enum hpa_why w)
{
    static const char *const names[] = {"",          "above-max", "below-min", "above-target",
                                        "all-below", "none"};
    REQUIRE((size_t)w < sizeof names / sizeof names[0]);
    return names[w];
}

enum hpa_active hpa_metric_failure(enum hpa_metric_type type)
{
    switch (type) {
    case HPA_METRIC_EXTERNAL:
        return HPA_FAILED_GET_EXTERNAL;
    case HPA_METRIC_OBJECT:
        return HPA_FAILED_GET_OBJECT;
    case HPA_METRIC_PODS:
        return HPA_FAILED_GET_PODS;
    case HPA_METRIC_RESOURCE:
        return HPA_FAILED_GET_RESOURCE;
    }
    REQUIRE(false);
    return HPA_ACTIVE_NONE;
}

void hpa_state_fini(struct hpa_state *s)
{
    hpa_memory_fini(&s->memory);
    memset(s, 0, sizeof *s);
}

/* Age beyond which no window counts a recommendation. */
static sim_time keep_of(const struct hpa_config *cfg)
{
    if (!cfg->behavior.present)
        return cfg->downscale_stabilization;
    int32_t up = cfg->behavior.scaleUp.stabilizationWindowSeconds;
    int32_t down = cfg->behavior.scaleDown.stabilizationWindowSeconds;
    return (up > down ? up : down) * SIM_SECOND;
}

static void record(struct hpa_state *s, const struct hpa_config *cfg, sim_time now, int32_t raw)
{
    hpa_memory_record(&s->memory, now, raw, keep_of(cfg));
}

void hpa_skip(struct hpa_state *s, const struct hpa_config *cfg, sim_time last_left_out)
{
    if (s->recorded)
        record(s, cfg, last_left_out, s->last_raw);
}

static bool scales_on_load(const struct hpa_config *cfg)
{
    for (uint32_t i = 0; i < cfg->metric_count; i++)
        if (cfg->metrics[i].type == HPA_METRIC_EXTERNAL || cfg->metrics[i].type == HPA_METRIC_OBJECT)
            return true;
    return false;
}

static bool looks_at_pods(const struct hpa_config *cfg)
{
    for (uint32_t i = 0; i < cfg->metric_count; i++)
        if (cfg->metrics[i].type == HPA_METRIC_PODS || cfg->metrics[i].type == HPA_METRIC_RESOURCE)
            return true;
    return false;
}

/* Largest proposal. false: no action, for every metric failed or a scale-in lacks a metric. */
static bool propose(const struct hpa_config *cfg, sim_time now, const struct hpa_target *target,
                    const struct hpa_reading *readings, unsigned char *scratch,
                    struct hpa_decision *out)
{
    uint32_t failures = 0;
    int32_t first_failed = -1;
    out->metric = -1;
    out->proposal_count = cfg->metric_count;
    for (uint32_t i = 0; i < cfg->metric_count; i++) {
        struct hpa_proposal *p = &out->proposals[i];
        *p = hpa_metric_propose(&cfg->metrics[i], &cfg->calculator, target, &readings[i], now,
                                scratch);
        if (p->error != HPA_METRIC_OK) {
            first_failed = failures++ == 0 ? (int32_t)i : first_failed;
        } else if (out->metric < 0 || p->replicas > out->raw) {
            out->raw = p->replicas;
            out->metric = (int32_t)i;
        }
    }
    out->error = failures > 0;
    if (out->metric >= 0 && (failures == 0 || out->raw >= target->current)) {
        out->conditions.active = HPA_VALID_METRIC_FOUND;
        return true;
    }
    out->conditions.active = first_failed < 0
                                 ? HPA_FAILED_GET_EXTERNAL /* an HPA without metrics */
                                 : hpa_metric_failure(cfg->metrics[first_failed].type);
    return false;
}

/* Step 5: stabilise, then rate limits and bounds. */
static int32_t normalise(struct hpa_state *s, const struct hpa_config *cfg, sim_time now,
                         struct hpa_decision *out)
{
    const struct hpa_behavior *b = &cfg->behavior;
    struct hpa_bounds bounds = {cfg->minReplicas, cfg->maxReplicas};
    struct hpa_window w;
    struct hpa_limited lim;
    enum hpa_able stabilised_reason = HPA_SCALE_DOWN_STABILIZED;
    if (b->present) {
        w = hpa_window_behavior(&s->memory, b, now, out->raw);
        out->stabilised = hpa_stabilise(w, out->current);
        lim = hpa_limit_behavior(b, &s->memory, now, out->current, out->stabilised, bounds);
        if (out->raw >= out->current)
            stabilised_reason = HPA_SCALE_UP_STABILIZED;
    } else {
        w = hpa_window_legacy(&s->memory, cfg->downscale_stabilization, now, out->raw);
        out->stabilised = w.hi;
        lim = hpa_limit_legacy(out->current, out->stabilised, bounds);
    }
    out->window_lo = w.lo;
    out->window_hi = w.hi;
    out->policy_limit = lim.policy_limit;
    out->limit = lim.reason;
    out->conditions.able = out->stabilised != out->raw ? stabilised_reason
                                                       : HPA_READY_FOR_NEW_SCALE;
    out->conditions.limited_set = true;
    out->conditions.limited = lim.reason;
    s->next_change = w.next;
    bool by_rate = lim.reason == HPA_SCALE_UP_LIMIT || lim.reason == HPA_SCALE_DOWN_LIMIT;
    if (b->present && by_rate) {
        sim_time next = hpa_events_next(&s->memory, b, now);
        s->next_change = next < s->next_change ? next : s->next_change;
    }
    record(s, cfg, now, out->raw);
    s->recorded = true;
    s->last_raw = out->raw;
    return lim.replicas;
}

/* Step 4 and 5. Returns the count to have, current when no action is possible. */
static int32_t compute(struct hpa_state *s, const struct hpa_config *cfg, sim_time now,
                       const struct hpa_target *target, const struct hpa_reading *readings,
                       unsigned char *scratch, struct hpa_decision *out)
{
    if (!propose(cfg, now, target, readings, scratch, out))
        return out->current;
    out->computed = true;
    out->why = HPA_WHY_NONE;
    if (out->raw > out->current)
        out->why = HPA_WHY_ABOVE_TARGET;
    else if (out->raw < out->current)
        out->why = HPA_WHY_ALL_BELOW;
    int32_t replicas = normalise(s, cfg, now, out);
    /* Scaled to zero by ourselves, and min was raised since. */
    if (out->current == 0 && replicas < cfg->minReplicas) {
        replicas = cfg->minReplicas;
        out->why = HPA_WHY_BELOW_MIN;
    }
    return replicas;
}

static void write_scale(struct hpa_state *s, const struct hpa_config *cfg, sim_time now,
                        struct hpa_decision *out)
{
    out->write = true;
    out->conditions.able = HPA_SUCCEEDED_RESCALE;
    bool to_zero = out->replicas == 0 && out->current > 0 && cfg->minReplicas == 0 &&
                   scales_on_load(cfg);
    if (cfg->scale_to_zero_gate)
        out->conditions.zero = to_zero ? HPA_SCALED_TO_ZERO : HPA_NOT_SCALED_TO_ZERO;
    if (cfg->behavior.present)
        hpa_events_store(&s->memory, &cfg->behavior, now, out->current, out->replicas);
    s->next_change = now;
}

static void begin(struct hpa_state *s, const struct hpa_config *cfg, sim_time now,
                  const struct hpa_target *target, struct hpa_decision *out)
{
    *out = (struct hpa_decision){.current = target->current,
                                 .replicas = target->current,
                                 .metric = -1,
                                 .conditions = s->conditions};
    s->recorded = false;
    s->next_change = SIM_NEVER;
    if (!s->seen) {
        s->seen = true;
        record(s, cfg, now, target->current);
    }
    out->conditions.able = HPA_SUCCEEDED_GET_SCALE;
}

void hpa_sync(struct hpa_state *s, const struct hpa_config *cfg, sim_time now,
              const struct hpa_target *target, const struct hpa_reading *readings,
              unsigned char *scratch, struct hpa_decision *out)
{
    begin(s, cfg, now, target, out);
    bool self_zeroed = cfg->scale_to_zero_gate && s->conditions.zero == HPA_SCALED_TO_ZERO;
    if (target->current == 0 && !self_zeroed) {
        out->conditions.active = HPA_SCALING_DISABLED;
    } else if (target->current > cfg->maxReplicas) {
        out->replicas = cfg->maxReplicas;
        out->why = HPA_WHY_ABOVE_MAX;
    } else if (target->current > 0 && target->current < cfg->minReplicas) {
        out->replicas = cfg->minReplicas;
        out->why = HPA_WHY_BELOW_MIN;
    } else {
        out->replicas = compute(s, cfg, now, target, readings, scratch, out);
    }
    if (out->replicas != target->current)
        write_scale(s, cfg, now, out);
    else
        out->why = HPA_WHY_NOT_WRITTEN;
    if (looks_at_pods(cfg)) /* their ages count: never leave a sync out */
        s->next_change = now;
    s->conditions = out->conditions;
}
