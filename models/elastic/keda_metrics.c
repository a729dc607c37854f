/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/elastic/keda_metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"
#include "sim/dmath.h"

/* --- values ------------------------------------------------------------------------------------ */

int64_t keda_metric_milli(double value)
{
    if (!(value > 0.0) || value > 9e15) /* NaN too; beyond the last the quantity would not fit */
        return value > 9e15 && value < DM_INF ? (int64_t)9e18 : 0;
    /* Rounded as a decimal text with three digits is: exactly, ties to even. The product may be
     * off by half a unit of its last place, which matters only near a tie. */
    double milli = value * 1000.0;
    double below = dm_floor(milli);
    double part = milli - below;
    if (milli < 1e9 && (part < 0.499999 || part > 0.500001))
        return (int64_t)below + (part > 0.5 ? 1 : 0);
    char text[64];
    int n = snprintf(text, sizeof text, "%.3f", value);
    REQUIRE(n > 4 && n < (int)sizeof text);
    char *point = text + n - 4;
    return strtoll(text, NULL, 10) * 1000 + strtoll(point + 1, NULL, 10);
}

/* A stored quantity as a double: a multiplication, which shows in the last digit. */
static double from_milli(int64_t milli)
{
    return (double)milli * 0.001;
}

struct trigger_value {
    bool failed;
    bool active;
    double value;
    int64_t milli;
};

static bool is_finite(double x)
{
    return x - x == 0.0;
}

static struct trigger_value read_trigger(const struct keda_trigger *t, struct keda_sample sample)
{
    struct trigger_value r = {0};
    bool nothing = sample.answer == KEDA_ANSWER_EMPTY ||
                   (sample.answer == KEDA_ANSWER_VALUE && !is_finite(sample.value));
    if (sample.answer == KEDA_ANSWER_FAILED || (nothing && !t->ignoreNullValues)) {
        r.failed = true;
        return r;
    }
    if (nothing)
        r.value = 0.0;
    else
        r.value = sample.answer == KEDA_ANSWER_NULL ? -1.0 : sample.value;
    r.milli = keda_metric_milli(r.value);
    r.active = r.value > t->activationThreshold;
    return r;
}

sim_time keda_answered(const struct keda_config *cfg, const struct keda_sample *samples, sim_time t,
                       sim_time latency)
{
    bool any = false;
    for (uint32_t i = 0; i < cfg->trigger_count; i++)
        any = any || cfg->triggers[i].type == KEDA_PROMETHEUS;
    if (!any)
        return t;
    return t + (keda_is_failing(cfg, samples) ? 2 * latency : latency);
}

bool keda_is_failing(const struct keda_config *cfg, const struct keda_sample *samples)
{
    for (uint32_t i = 0; i < cfg->trigger_count; i++) {
        const struct keda_trigger *t = &cfg->triggers[i];
        if (t->type == KEDA_PROMETHEUS && read_trigger(t, samples[i]).failed)
            return true;
    }
    return false;
}

/* --- fallback ---------------------------------------------------------------------------------- */

bool keda_fallback_is_valid(const struct keda_config *cfg)
{
    const struct keda_fallback *f = &cfg->fallback;
    const struct keda_scaling_modifiers *sm = &cfg->scalingModifiers;
    bool target_ok = !sm->present || (sm->target_is_integer && sm->target > 0);
    return f->present && f->failureThreshold >= 0 && f->replicas >= 0 && target_ok;
}

/* Writes the copy's health of one metric, and what differs from before to the store: as a merge
 * patch does, field by field. After a patch the copy is the store. */
static void update_health(struct keda_state *s, const struct keda_config *cfg,
                          struct keda_status *copy, uint32_t metric, struct keda_health to)
{
    struct keda_health before = copy->health[metric];
    enum keda_fallback_state fallback = KEDA_FALLBACK_NONE;
    copy->health[metric] = to;
    for (uint32_t i = 0; i < cfg->trigger_count; i++) {
        const struct keda_health *h = &copy->health[i];
        if (h->known && h->failing && h->failures > cfg->fallback.failureThreshold)
            fallback = KEDA_FALLBACK_EXISTS;
    }
    bool same = before.known && before.failures == to.failures && before.failing == to.failing;
    if (same && fallback == copy->fallback)
        return;
    struct keda_health *stored = &s->store.health[metric];
    if (!before.known || before.failures != to.failures)
        stored->failures = to.failures;
    if (!before.known || before.failing != to.failing)
        stored->failing = to.failing;
    stored->known = true;
    if (fallback != copy->fallback)
        s->store.fallback = fallback;
    *copy = s->store;
}

/* What a trigger yields after fallback had its say. */
struct outcome {
    bool failed;
    bool fallback;
    bool nameless; /* no variable of the formula */
    int64_t milli;
};

static double fallback_replicas(const struct keda_fallback *f, int32_t current)
{
    bool higher = current > f->replicas;
    switch (f->behavior) {
    case KEDA_FALLBACK_CURRENT_REPLICAS:
        return (double)current;
    case KEDA_FALLBACK_CURRENT_IF_HIGHER:
        return (double)(higher ? current : f->replicas);
    case KEDA_FALLBACK_CURRENT_IF_LOWER:
        return (double)(higher ? f->replicas : current);
    case KEDA_FALLBACK_STATIC:
    case KEDA_FALLBACK_SCALING_MODIFIERS:
        break;
    }
    return (double)f->replicas;
}

/* The value with which the HPA's arithmetic lands on the fallback count. */
static struct outcome fall_back(const struct keda_config *cfg, uint32_t trigger,
                                const struct keda_inputs *in)
{
    const struct keda_scaling_modifiers *sm = &cfg->scalingModifiers;
    if (cfg->fallback.behavior == KEDA_FALLBACK_SCALING_MODIFIERS)
        return (struct outcome){.milli = -1000}; /* a placeholder; see counts_as_nil */
    const struct keda_trigger *t = &cfg->triggers[trigger];
    double replicas = fallback_replicas(&cfg->fallback, in->current);
    if ((sm->present ? sm->metricType : t->metricType) == HPA_TARGET_VALUE) {
        if (in->ready == 0)
            return (struct outcome){.failed = true};
        replicas /= (double)in->ready;
    }
    double target = sm->present ? sm->target : from_milli(keda_metric_milli(t->threshold));
    return (struct outcome){.fallback = true,
                            .nameless = sm->present,
                            .milli = (int64_t)(target * 1000.0 * replicas)};
}

static struct outcome with_fallback(struct keda_state *s, const struct keda_config *cfg,
                                    struct keda_status *copy, uint32_t trigger,
                                    struct outcome raw, const struct keda_inputs *in)
{
    if (!keda_fallback_is_valid(cfg))
        return raw;
    if (!raw.failed) {
        update_health(s, cfg, copy, trigger, (struct keda_health){.known = true});
        return raw;
    }
    struct keda_health h = copy->health[trigger];
    h.known = true;
    h.failing = true;
    h.failures++;
    update_health(s, cfg, copy, trigger, h);
    return h.failures > cfg->fallback.failureThreshold ? fall_back(cfg, trigger, in) : raw;
}

/* --- formulas ---------------------------------------------------------------------------------- */

struct composite {
    bool empty; /* the formula could not be evaluated */
    int64_t milli;
};

static bool counts_as_nil(const struct keda_config *cfg, const struct keda_status *copy, uint32_t i)
{
    return cfg->fallback.present && cfg->fallback.behavior == KEDA_FALLBACK_SCALING_MODIFIERS &&
           copy->health[i].known && copy->health[i].failures > cfg->fallback.failureThreshold;
}

static struct composite evaluate(const struct keda_config *cfg, const struct keda_status *copy,
                                 const struct outcome *outcomes)
{
    const struct keda_scaling_modifiers *sm = &cfg->scalingModifiers;
    struct formula_value variables[KEDA_TRIGGER_LIMIT] = {{FORMULA_NIL, 0}};
    for (uint32_t i = 0; i < cfg->trigger_count; i++) {
        variables[i] = (struct formula_value){FORMULA_NIL, 0};
        bool given = cfg->triggers[i].type == KEDA_PROMETHEUS && !outcomes[i].failed &&
                     !outcomes[i].nameless && !counts_as_nil(cfg, copy, i);
        if (given)
            variables[i] = (struct formula_value){FORMULA_NUMBER, from_milli(outcomes[i].milli)};
    }
    struct formula_value v = formula_eval(&sm->formula, variables);
    if (v.kind == FORMULA_NIL && cfg->fallback.present)
        v = (struct formula_value){FORMULA_NUMBER, (double)cfg->fallback.replicas * sm->target};
    if (v.kind != FORMULA_NUMBER || !is_finite(v.number))
        return (struct composite){.empty = true};
    return (struct composite){.milli = (int64_t)(v.number * 1000.0)}; /* cut */
}

/* While any trigger is in fallback the composite is the first fallback value. */
static struct composite composite_of(const struct keda_config *cfg, const struct keda_status *copy,
                                     const struct outcome *outcomes)
{
    for (uint32_t i = 0; i < cfg->trigger_count; i++)
        if (outcomes[i].fallback)
            return (struct composite){.milli = outcomes[i].milli};
    return evaluate(cfg, copy, outcomes);
}

/* --- a poll ------------------------------------------------------------------------------------ */

static void store_record(struct keda_state *s, const struct keda_config *cfg, uint32_t i,
                         const struct outcome *o)
{
    if (cfg->triggers[i].useCachedMetrics)
        s->records[i] = (struct keda_record){
            .known = true, .failed = o->failed, .nameless = o->nameless, .milli = o->milli};
}

static void poll_one(struct keda_state *s, const struct keda_config *cfg, uint32_t i,
                     const struct keda_inputs *in, struct outcome *o, struct keda_decision *out)
{
    const struct keda_trigger *t = &cfg->triggers[i];
    struct trigger_value v = read_trigger(t, in->samples[i]);
    *o = with_fallback(s, cfg, &s->poll_copy, i,
                       (struct outcome){.failed = v.failed, .milli = v.milli}, in);
    store_record(s, cfg, i, o);
    bool active = !o->failed && (o->fallback || v.active);
    out->trigger_active[i] = active && !cfg->scalingModifiers.present;
    out->error = out->error || o->failed;
    out->fallback = out->fallback || o->fallback;
    if (out->metric == KEDA_TRIGGER_LIMIT || (active && !out->active)) {
        out->metric = (int32_t)i;
        out->value = o->fallback ? from_milli(o->milli) : v.value;
        out->threshold = t->activationThreshold;
    }
    out->active = out->active || active;
}

static void poll_composite(const struct keda_config *cfg, const struct keda_status *copy,
                           const struct outcome *outcomes, struct keda_decision *out)
{
    struct composite c = composite_of(cfg, copy, outcomes);
    out->metric = KEDA_COMPOSITE;
    out->value = c.empty ? 0.0 : from_milli(c.milli);
    out->threshold = cfg->scalingModifiers.activationTarget;
    out->active = !out->error && !c.empty && out->value > out->threshold;
}

void keda_poll_triggers(struct keda_state *s, const struct keda_config *cfg,
                        const struct keda_inputs *in, struct keda_decision *out)
{
    struct outcome outcomes[KEDA_TRIGGER_LIMIT] = {{0}};
    bool external = false;
    s->poll_copy = s->store;
    if (!s->built) {
        s->built = true;
        s->shared = true;
    }
    out->metric = KEDA_TRIGGER_LIMIT;
    for (uint32_t i = 0; i < cfg->trigger_count; i++) {
        if (cfg->triggers[i].type != KEDA_PROMETHEUS)
            continue;
        external = true;
        poll_one(s, cfg, i, in, &outcomes[i], out);
    }
    if (out->error)
        s->built = false;
    if (cfg->scalingModifiers.present)
        poll_composite(cfg, &s->poll_copy, outcomes, out);
    if (out->metric == KEDA_TRIGGER_LIMIT)
        out->metric = 0;
    if (!external && !out->error)
        out->active = true; /* cpu and memory alone cannot see a target at zero */
}

/* --- a read by the HPA ------------------------------------------------------------------------- */

static struct outcome read_one(struct keda_state *s, const struct keda_config *cfg,
                               struct keda_status *copy, uint32_t i, const struct keda_inputs *in)
{
    struct outcome raw;
    const struct keda_record *r = &s->records[i];
    if (cfg->triggers[i].useCachedMetrics && r->known) {
        raw = (struct outcome){.failed = r->failed, .nameless = r->nameless, .milli = r->milli};
    } else {
        struct trigger_value v = read_trigger(&cfg->triggers[i], in->samples[i]);
        raw = (struct outcome){.failed = v.failed, .milli = v.milli};
    }
    return with_fallback(s, cfg, copy, i, raw, in);
}

struct keda_read_result keda_read(struct keda_state *s, const struct keda_config *cfg,
                                  int32_t metric, const struct keda_inputs *in)
{
    struct outcome outcomes[KEDA_TRIGGER_LIMIT] = {{0}};
    bool failed = false, fallback = false;
    if (!s->built) {
        s->built = true;
        s->shared = false;
        s->cache_copy = s->store;
    }
    struct keda_status *copy = s->shared ? &s->poll_copy : &s->cache_copy;
    for (uint32_t i = 0; i < cfg->trigger_count; i++) {
        if (cfg->triggers[i].type != KEDA_PROMETHEUS ||
            (metric != KEDA_COMPOSITE && metric != (int32_t)i))
            continue;
        outcomes[i] = read_one(s, cfg, copy, i, in);
        failed = failed || outcomes[i].failed;
        fallback = fallback || outcomes[i].fallback;
    }
    if (failed)
        s->built = false;
    if (failed && !fallback)
        return (struct keda_read_result){.failed = true};
    if (metric != KEDA_COMPOSITE)
        return (struct keda_read_result){.milli = outcomes[metric].milli};
    struct composite c = composite_of(cfg, copy, outcomes);
    return (struct keda_read_result){.failed = c.empty, .empty = c.empty, .milli = c.milli};
}
