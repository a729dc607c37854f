/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/service_scaling.h"

#include "models/world/world_priv.h"
#include "sim/check.h"
#include "sim/rng.h"

#define BACKLOG_DRAIN_S 60.0 /* a backlog is asked to be gone within a minute */
#define MANY_REPLICAS 100.0  /* where the rate that one of many replicas carries is read off */

static const struct scaling_config *scaling_of(const struct world *w, uint32_t k)
{
    return w->s->service_scaling != NULL ? &w->s->service_scaling[k] : &w->s->scaling;
}

/* Requests/s one replica of many carries within the SLO, less the headroom. */
static double rate_per_replica(const struct service_state *sv, double target_load)
{
    struct traffic_point p = sv->point;
    p.rate_per_s = sv->fluid.lambda_max * MANY_REPLICAS;
    if (!(p.rate_per_s > 0))
        return 1.0;
    return p.rate_per_s / fluid_replicas_for(&sv->fluid, &p) * target_load;
}

static struct hpa_behavior behavior_of(const struct scaling_config *c)
{
    struct hpa_behavior b = hpa_behavior_defaults((int32_t)(c->scale_down_stabilization / SIM_SECOND));
    b.present = c->has_behavior;
    b.scaleUp.stabilizationWindowSeconds = (int32_t)(c->scale_up_stabilization / SIM_SECOND);
    for (uint32_t i = 0; i < b.scaleUp.policy_count; i++)
        b.scaleUp.policies[i].value = b.scaleUp.policies[i].type == HPA_POLICY_PODS
                                          ? c->scale_up_pods
                                          : c->scale_up_percent;
    for (uint32_t i = 0; i < b.scaleDown.policy_count; i++)
        if (b.scaleDown.policies[i].type == HPA_POLICY_PERCENT)
            b.scaleDown.policies[i].value = c->scale_down_percent;
    return b;
}

/* Clocks of different services are not in step, as in a real cluster. */
static sim_time phase_of(uint32_t k, sim_time period)
{
    return (sim_time)(rng_hash(k + 1) % (uint64_t)(period / SIM_SECOND)) * SIM_SECOND;
}

static struct scaler_config config_of(const struct world *w, uint32_t k)
{
    const struct scaling_config *c = scaling_of(w, k);
    const struct service_state *sv = &w->services[k];
    struct scaler_config out = scaler_config_defaults();
    out.keda.pollingInterval = c->polling_interval;
    out.keda.cooldownPeriod = c->cooldown_period;
    out.keda.minReplicaCount = sv->cfg->min_replicas;
    out.keda.maxReplicaCount = sv->cfg->max_replicas;
    out.keda.idleReplicaCount = c->idle_replica_count >= 0 ? c->idle_replica_count : KEDA_UNSET;
    out.keda.behavior = behavior_of(c);
    out.keda.trigger_count = 1;
    out.keda.triggers[0] = keda_trigger_defaults(
        sv->cfg->target_per_replica > 0 ? sv->cfg->target_per_replica : sv->rate_target);
    out.keda.triggers[0].activationThreshold = c->activation_threshold;
    out.hpa.calculator.tolerance = (struct hpa_tolerance){c->tolerance, c->tolerance};
    out.hpa.downscale_stabilization = c->scale_down_stabilization;
    out.sync_period = c->sync_period;
    out.poll_phase = phase_of(k, c->polling_interval);
    out.sync_phase = phase_of(k, c->sync_period);
    return out;
}

static int32_t clamp(int32_t v, int32_t least, int32_t most)
{
    return v < least ? least : v > most ? most : v;
}

void service_scaling_init(struct world *w, uint32_t k)
{
    struct service_state *sv = &w->services[k];
    sv->rate_target = rate_per_replica(sv, scaling_of(w, k)->target_load);
    if (w->arb->scaler == SCALER_NONE) {
        sv->wanted = sv->cfg->max_replicas;
        return;
    }
    int32_t need = sv->point.rate_per_s > 0 ? fluid_replicas_for(&sv->fluid, &sv->point) : 0;
    sv->wanted = clamp(need, sv->cfg->min_replicas, sv->cfg->max_replicas);
    struct scaler_config cfg = config_of(w, k);
    if (scaler_config_check(&cfg, w->err))
        sv->scaler = scaler_create(&cfg);
    service_scaling_wake(w, k);
}

static void look_at(struct world *w, uint32_t k, sim_time t)
{
    struct service_state *sv = &w->services[k];
    sv->scale_gen++;
    if (t != SIM_NEVER)
        world_event(w, t, EVC_SCALE, k, EV_SCALE, sv->scale_gen);
}

void service_scaling_wake(struct world *w, uint32_t k)
{
    struct service_state *sv = &w->services[k];
    if (sv->scaler != NULL)
        look_at(w, k, scaler_next_due(sv->scaler, w->now));
}

static double metric_of(const struct service_state *sv)
{
    if (sv->cfg->target_per_replica > 0)
        return sv->last.in_flight;
    /* Measured against what a replica carries now, beside its neighbours on the card. */
    return (sv->point.rate_per_s + sv->fluid.backlog / BACKLOG_DRAIN_S) / sv->fluid.speed;
}

void service_scaling_decide(struct world *w, uint32_t k)
{
    struct service_state *sv = &w->services[k];
    struct keda_sample sample = {.answer = KEDA_ANSWER_VALUE, .value = metric_of(sv)};
    struct scaler_inputs in = {.samples = &sample,
                               .target = {.current = sv->wanted,
                                          .status_replicas = sv->wanted,
                                          .pod_count = sv->live,
                                          .ready_count = sv->ready}};
    struct scaler_decision d[2];
    int n = scaler_run(sv->scaler, w->now, &in, d);
    for (int i = 0; i < n; i++)
        if (d[i].write)
            sv->wanted = d[i].replicas;
    bool changed = sample.value != sv->seen_metric || sv->wanted != sv->seen_wanted;
    sv->seen_metric = sample.value;
    sv->seen_wanted = sv->wanted;
    /* Backlog moves by itself, and both controllers must have seen a change once. */
    if (sv->fluid.backlog > 0 || changed)
        look_at(w, k, scaler_next_due(sv->scaler, w->now + 1));
    else
        look_at(w, k, scaler_next_change(sv->scaler));
}

void service_scaling_fini(struct world *w, uint32_t k)
{
    scaler_destroy(w->services[k].scaler);
}
