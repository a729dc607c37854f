/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/elastic/scaler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/check.h"

/* What one of the controllers saw at its last run. */
struct seen {
    bool valid;
    struct keda_sample samples[KEDA_TRIGGER_LIMIT];
    int32_t current, status_replicas, pod_count, ready_count;
};

struct scaler {
    struct scaler_config cfg;
    struct hpa_config hpa_cfg; /* as KEDA makes it */
    int32_t of_metric[KEDA_TRIGGER_LIMIT];
    struct keda_state keda;
    struct hpa_state hpa;
    sim_time next_poll, next_sync;     /* first instants not yet run or left out */
    sim_time poll_change, sync_change; /* none before these needs to be run */
    enum keda_row last_row;
    struct seen by_poll, by_sync;
    unsigned char *scratch; /* one byte per pod, for cpu and memory triggers */
    size_t scratch_size;
};

struct scaler_config scaler_config_defaults(void)
{
    return (struct scaler_config){.keda = keda_config_defaults(),
                                  .hpa = hpa_config_defaults(),
                                  .sync_period = 15 * SIM_SECOND};
}

static bool rules_are_valid(const struct hpa_scaling_rules *r, const char *name, struct err *e)
{
    if (r->policy_count < 1 || r->policy_count > HPA_POLICY_LIMIT)
        return err_set(e, ERR_INPUT, "%s: expected 1 to %d policies, got %u", name,
                       HPA_POLICY_LIMIT, r->policy_count);
    if (r->stabilizationWindowSeconds < 0 || r->stabilizationWindowSeconds > 3600)
        return err_set(e, ERR_INPUT,
                       "%s.stabilizationWindowSeconds: expected 0 to 3600, got %d", name,
                       r->stabilizationWindowSeconds);
    for (uint32_t i = 0; i < r->policy_count; i++) {
        const struct hpa_policy *p = &r->policies[i];
        if (p->value < 1)
            return err_set(e, ERR_INPUT, "%s.policies[%u].value: expected at least 1, got %d", name,
                           i, p->value);
        if (p->periodSeconds < 1 || p->periodSeconds > 1800)
            return err_set(e, ERR_INPUT,
                           "%s.policies[%u].periodSeconds: expected 1 to 1800, got %d", name, i,
                           p->periodSeconds);
    }
    return true;
}

static bool triggers_are_valid(const struct keda_config *k, struct err *e)
{
    if (k->trigger_count < 1 || k->trigger_count > KEDA_TRIGGER_LIMIT)
        return err_set(e, ERR_INPUT, "triggers: expected 1 to %d, got %u", KEDA_TRIGGER_LIMIT,
                       k->trigger_count);
    for (uint32_t i = 0; i < k->trigger_count; i++) {
        if (keda_metric_milli(k->triggers[i].threshold) < 1)
            return err_set(e, ERR_INPUT, "triggers[%u].threshold: expected more than 0, got %g", i,
                           k->triggers[i].threshold);
    }
    return true;
}

bool scaler_config_check(const struct scaler_config *cfg, struct err *e)
{
    const struct keda_config *k = &cfg->keda;
    if (k->pollingInterval <= 0 || cfg->sync_period <= 0)
        return err_set(e, ERR_INPUT, "pollingInterval and sync period: expected more than 0");
    if (k->cooldownPeriod < 0 || k->initialCooldownPeriod < 0 || cfg->query_latency < 0 ||
        cfg->poll_phase < 0 || cfg->sync_phase < 0 || cfg->created < 0)
        return err_set(e, ERR_INPUT, "cooldowns, latency, phases and creation: expected 0 or more");
    if (cfg->query_latency > 0 && 2 * cfg->query_latency >= k->pollingInterval)
        return err_set(e, ERR_INPUT, "query latency: expected less than half of pollingInterval");
    if (cfg->hpa.calculator.tolerance.down < 0 || cfg->hpa.calculator.tolerance.up < 0)
        return err_set(e, ERR_INPUT, "tolerance: expected 0 or more");
    enum keda_refusal refusal = keda_check(k);
    if (refusal == KEDA_MIN_ABOVE_MAX)
        return err_set(e, ERR_INPUT, "minReplicaCount %d is above maxReplicaCount %d",
                       k->minReplicaCount, k->maxReplicaCount == KEDA_UNSET ? 100
                                                                            : k->maxReplicaCount);
    if (refusal == KEDA_IDLE_NOT_BELOW_MIN)
        return err_set(e, ERR_INPUT, "idleReplicaCount %d is not below minReplicaCount",
                       k->idleReplicaCount);
    if (k->behavior.present && !(rules_are_valid(&k->behavior.scaleUp, "behavior.scaleUp", e) &&
                                 rules_are_valid(&k->behavior.scaleDown, "behavior.scaleDown", e)))
        return false;
    return triggers_are_valid(k, e);
}

struct scaler *scaler_create(const struct scaler_config *cfg)
{
    struct err e = {0};
    REQUIRE(scaler_config_check(cfg, &e));
    struct scaler *s = mem_zalloc(1, sizeof *s);
    s->cfg = *cfg;
    s->hpa_cfg = keda_hpa_config(&s->cfg.keda, &cfg->hpa, s->of_metric);
    keda_start(&s->keda, &s->cfg.keda, cfg->created);
    s->next_poll = s->poll_change = cfg->poll_phase;
    s->next_sync = s->sync_change = cfg->sync_phase;
    return s;
}

void scaler_destroy(struct scaler *s)
{
    if (!s)
        return;
    hpa_state_fini(&s->hpa);
    free(s->scratch);
    free(s);
}

/* --- one poll, one sync ------------------------------------------------------------------------ */

static struct keda_inputs keda_inputs_of(const struct scaler_inputs *in)
{
    return (struct keda_inputs){.samples = in->samples,
                                .current = in->target.current,
                                .ready = in->target.ready_count};
}

void scaler_poll(struct scaler *s, sim_time now, const struct scaler_inputs *in,
                 struct scaler_decision *out)
{
    struct keda_decision d;
    struct keda_inputs k = keda_inputs_of(in);
    sim_time answered = keda_answered(&s->cfg.keda, in->samples, now, s->cfg.query_latency);
    keda_poll(&s->keda, &s->cfg.keda, answered, &k, &d);
    s->last_row = d.row;
    *out = (struct scaler_decision){.owner = SCALER_OWNER_KEDA,
                                    .t = now,
                                    .current = d.current,
                                    .replicas = d.replicas,
                                    .write = d.write,
                                    .reason = keda_row_name(d.row),
                                    .metric = d.metric,
                                    .value = d.value,
                                    .target = d.threshold,
                                    .raw = d.replicas,
                                    .stabilised = d.replicas,
                                    .limit = d.replicas};
}

static const char *hpa_reason(const struct scaler *s, const struct hpa_decision *d)
{
    if (!d->computed) {
        if (d->why == HPA_WHY_ABOVE_MAX)
            return hpa_limit_name(HPA_TOO_MANY_REPLICAS);
        if (d->why == HPA_WHY_BELOW_MIN)
            return hpa_limit_name(HPA_TOO_FEW_REPLICAS);
        return hpa_active_name(d->conditions.active);
    }
    if (d->limit != HPA_WITHIN_RANGE)
        return hpa_limit_name(d->limit);
    if (d->stabilised != d->raw) {
        bool up = s->hpa_cfg.behavior.present && d->raw >= d->current;
        return hpa_able_name(up ? HPA_SCALE_UP_STABILIZED : HPA_SCALE_DOWN_STABILIZED);
    }
    return d->proposals[d->metric].in_tolerance ? "WithinTolerance"
                                                : hpa_limit_name(HPA_WITHIN_RANGE);
}

static void describe_hpa(const struct scaler *s, const struct hpa_decision *d, sim_time now,
                         const struct hpa_reading *readings, struct scaler_decision *out)
{
    *out = (struct scaler_decision){.owner = SCALER_OWNER_HPA,
                                    .t = now,
                                    .current = d->current,
                                    .replicas = d->replicas,
                                    .write = d->write,
                                    .reason = hpa_reason(s, d),
                                    .metric = SCALER_NO_METRIC};
    out->raw = d->computed ? d->raw : d->replicas;
    out->stabilised = d->computed ? d->stabilised : d->replicas;
    out->limit = d->computed ? d->policy_limit : d->replicas;
    out->limited_by = d->computed ? d->limit : HPA_WITHIN_RANGE;
    if (!d->computed || d->metric < 0)
        return;
    const struct hpa_metric *m = &s->hpa_cfg.metrics[d->metric];
    const struct hpa_proposal *p = &d->proposals[d->metric];
    bool external = m->type == HPA_METRIC_EXTERNAL;
    out->metric = s->of_metric[d->metric];
    out->ratio = p->ratio;
    out->value = (double)(external ? readings[d->metric].value_milli : p->usage_milli) * 0.001;
    out->target = m->target == HPA_TARGET_UTILIZATION ? (double)m->averageUtilization
                                                      : (double)m->target_milli * 0.001;
}

/* Reads the metrics in the HPA's order; each read moves KEDA's failure counts. The controller asks
 * for none when it is switched off or out of bounds. */
static void read_metrics(struct scaler *s, const struct scaler_inputs *in,
                         struct hpa_reading readings[HPA_METRIC_LIMIT])
{
    struct keda_inputs k = keda_inputs_of(in);
    int32_t current = in->target.current;
    bool asks = current > 0 && current <= s->hpa_cfg.maxReplicas &&
                current >= s->hpa_cfg.minReplicas;
    for (uint32_t i = 0; i < s->hpa_cfg.metric_count; i++) {
        readings[i] = (struct hpa_reading){.failed = true};
        if (!asks)
            continue;
        int32_t of = s->of_metric[i];
        if (s->hpa_cfg.metrics[i].type == HPA_METRIC_EXTERNAL) {
            struct keda_read_result r = keda_read(&s->keda, &s->cfg.keda, of, &k);
            readings[i] = (struct hpa_reading){.failed = r.failed, .value_milli = r.milli};
        } else if (in->resources) {
            readings[i] = in->resources[of];
        }
    }
}

static unsigned char *scratch_for(struct scaler *s, const struct scaler_inputs *in)
{
    if (in->target.pods)
        s->scratch = mem_grow(s->scratch, &s->scratch_size, (size_t)in->target.pod_count, 1);
    return s->scratch;
}

void scaler_sync(struct scaler *s, sim_time now, const struct scaler_inputs *in,
                 struct scaler_decision *out)
{
    struct hpa_reading readings[HPA_METRIC_LIMIT];
    struct hpa_decision d;
    read_metrics(s, in, readings);
    hpa_sync(&s->hpa, &s->hpa_cfg, now, &in->target, readings, scratch_for(s, in), &d);
    describe_hpa(s, &d, now, readings, out);
}

/* --- which polls and syncs matter -------------------------------------------------------------- */

/* First instant phase + k * period, k >= 0, that is >= t. */
static sim_time first_due(sim_time phase, sim_time period, sim_time t)
{
    if (t <= phase)
        return phase;
    if (t == SIM_NEVER)
        return SIM_NEVER;
    sim_time k = (t - phase + period - 1) / period;
    return k > (SIM_NEVER - phase) / period ? SIM_NEVER : phase + k * period;
}

static sim_time first_poll(const struct scaler *s, sim_time t)
{
    return first_due(s->cfg.poll_phase, s->cfg.keda.pollingInterval, t);
}

static sim_time first_sync(const struct scaler *s, sim_time t)
{
    return first_due(s->cfg.sync_phase, s->cfg.sync_period, t);
}

static bool same_double(double a, double b)
{
    return (a >= b && a <= b) || (a != a && b != b);
}

static bool same_samples(const struct scaler *s, const struct seen *seen,
                         const struct scaler_inputs *in)
{
    for (uint32_t i = 0; i < s->cfg.keda.trigger_count; i++) {
        const struct keda_sample *a = &seen->samples[i], *b = &in->samples[i];
        if (s->cfg.keda.triggers[i].type == KEDA_PROMETHEUS &&
            (a->answer != b->answer || !same_double(a->value, b->value)))
            return false;
    }
    return true;
}

static bool same_for_poll(const struct scaler *s, const struct scaler_inputs *in)
{
    return s->by_poll.valid && s->by_poll.current == in->target.current &&
           same_samples(s, &s->by_poll, in);
}

static bool same_for_sync(const struct scaler *s, const struct scaler_inputs *in)
{
    const struct seen *a = &s->by_sync;
    const struct hpa_target *t = &in->target;
    return a->valid && a->current == t->current && a->status_replicas == t->status_replicas &&
           a->pod_count == t->pod_count && a->ready_count == t->ready_count &&
           same_samples(s, a, in);
}

static void remember(const struct scaler *s, struct seen *seen, const struct scaler_inputs *in)
{
    memcpy(seen->samples, in->samples, s->cfg.keda.trigger_count * sizeof *in->samples);
    seen->valid = true;
    seen->current = in->target.current;
    seen->status_replicas = in->target.status_replicas;
    seen->pod_count = in->target.pod_count;
    seen->ready_count = in->target.ready_count;
}

/* Failure counts move with every poll and read, and stored fallback values reset them. */
static bool counts_move(const struct scaler *s, const struct scaler_inputs *in)
{
    const struct keda_config *k = &s->cfg.keda;
    if (!k->fallback.present)
        return false;
    if (keda_is_failing(k, in->samples))
        return true;
    const struct keda_status *copies[] = {&s->keda.store, &s->keda.poll_copy, &s->keda.cache_copy};
    for (uint32_t i = 0; i < k->trigger_count; i++) {
        for (size_t c = 0; c < sizeof copies / sizeof copies[0]; c++)
            if (copies[c]->health[i].failures > 0 || copies[c]->health[i].failing)
                return true;
        if (s->keda.records[i].failed || s->keda.records[i].nameless)
            return true;
    }
    return false;
}

/* Makes up for what was left out before now: the last poll's activity and the last sync's
 * recommendation stood until the last instant that was left out. */
static void catch_up(struct scaler *s, sim_time now)
{
    if (s->next_poll < now) {
        sim_time due = first_poll(s, now);
        sim_time last = due - s->cfg.keda.pollingInterval;
        REQUIRE(last < s->poll_change);
        if (s->last_row == KEDA_ROW_ACTIVE) {
            sim_time answered = last + s->cfg.query_latency;
            s->keda.last_active = answered - answered % SIM_SECOND;
        }
        s->next_poll = due;
    }
    if (s->next_sync < now) {
        sim_time due = first_sync(s, now);
        REQUIRE(due - s->cfg.sync_period < s->sync_change);
        hpa_skip(&s->hpa, &s->hpa_cfg, due - s->cfg.sync_period);
        s->next_sync = due;
    }
}

static void plan_poll(struct scaler *s)
{
    s->poll_change = SIM_NEVER;
    if (s->last_row == KEDA_ROW_COOLDOWN) {
        const struct keda_config *k = &s->cfg.keda;
        sim_time end = s->keda.has_last_active
                           ? sim_time_after(s->keda.last_active, k->cooldownPeriod)
                           : sim_time_after(s->keda.created, k->initialCooldownPeriod);
        /* the poll whose queries have answered strictly after the end */
        sim_time after = sim_time_after(end, 1);
        s->poll_change = first_poll(s, after == SIM_NEVER ? after : after - s->cfg.query_latency);
        if (s->poll_change < s->next_poll)
            s->poll_change = s->next_poll;
    }
}

static void run_poll(struct scaler *s, sim_time now, const struct scaler_inputs *in,
                     struct scaler_decision *out)
{
    struct keda_record before[KEDA_TRIGGER_LIMIT];
    memcpy(before, s->keda.records, sizeof before);
    scaler_poll(s, now, in, out);
    remember(s, &s->by_poll, in);
    s->next_poll = first_poll(s, now + 1);
    plan_poll(s);
    for (uint32_t i = 0; i < s->cfg.keda.trigger_count; i++) {
        const struct keda_record *a = &before[i], *b = &s->keda.records[i];
        if (a->known != b->known || a->failed != b->failed || a->milli != b->milli)
            s->sync_change = s->next_sync;
    }
}

static void run_sync(struct scaler *s, sim_time now, const struct scaler_inputs *in,
                     struct scaler_decision *out)
{
    scaler_sync(s, now, in, out);
    remember(s, &s->by_sync, in);
    s->next_sync = first_sync(s, now + 1);
    s->sync_change = first_sync(s, hpa_next_change(&s->hpa));
    if (s->sync_change < s->next_sync)
        s->sync_change = s->next_sync;
}

int scaler_run(struct scaler *s, sim_time now, const struct scaler_inputs *in,
               struct scaler_decision out[2])
{
    int n = 0;
    struct scaler_inputs at = *in;
    catch_up(s, now);
    if (s->next_poll == now) {
        run_poll(s, now, &at, &out[n]);
        at.target.current = out[n++].replicas;
    }
    if (s->next_sync == now) {
        run_sync(s, now, &at, &out[n]);
        at.target.current = out[n++].replicas;
    }
    if (n == 0)
        return 0;
    /* Whoever has not seen these inputs yet must look at them when it is due; after a write, so
     * must both, for pods follow it. */
    bool moving = counts_move(s, &at) || out[0].write || out[n - 1].write;
    if (moving || !same_for_poll(s, &at))
        s->poll_change = s->next_poll;
    if (moving || !same_for_sync(s, &at))
        s->sync_change = s->next_sync;
    return n;
}

sim_time scaler_next_due(const struct scaler *s, sim_time now)
{
    sim_time poll = first_poll(s, now), sync = first_sync(s, now);
    if (poll < s->next_poll)
        poll = s->next_poll;
    if (sync < s->next_sync)
        sync = s->next_sync;
    return poll < sync ? poll : sync;
}

sim_time scaler_next_change(const struct scaler *s)
{
    return s->poll_change < s->sync_change ? s->poll_change : s->sync_change;
}

/* --- views ------------------------------------------------------------------------------------- */

const struct keda_state *scaler_keda(const struct scaler *s)
{
    return &s->keda;
}

const struct hpa_state *scaler_hpa(const struct scaler *s)
{
    return &s->hpa;
}

const struct hpa_config *scaler_hpa_config(const struct scaler *s)
{
    return &s->hpa_cfg;
}

int scaler_describe(const struct scaler_decision *d, char *buf, size_t size)
{
    if (d->owner == SCALER_OWNER_KEDA)
        return snprintf(buf, size, "KEDA %d -> %d: %s; metric %d = %g, activation above %g",
                        d->current, d->replicas, d->reason, d->metric, d->value, d->target);
    if (d->metric == SCALER_NO_METRIC)
        return snprintf(buf, size, "HPA %d -> %d: %s", d->current, d->replicas, d->reason);
    return snprintf(buf, size,
                    "HPA %d -> %d: %s; metric %d = %g / %g, ratio %.4g, raw %d, stabilised %d, "
                    "limit %d",
                    d->current, d->replicas, d->reason, d->metric, d->value, d->target, d->ratio,
                    d->raw, d->stabilised, d->limit);
}
