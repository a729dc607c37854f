/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Services that cannot keep their promise, whatever the arbiter does. */
#include "models/demand/fluid.h"
#include "scenarios/load/lint_priv.h"

static double largest(const double *v, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = v[i] > most ? v[i] : most;
    return most;
}

/* Highest rate of the profile without noise and bursts. */
static double peak_rate(const struct traffic_config *t)
{
    const struct rate_profile *p = &t->profile;
    double day = p->has_hours ? largest(p->hours, 24) : 1 + p->a1 + p->a2;
    return p->base_per_s * t->scale * largest(p->weekday, 7) * day;
}

static double cold_start_s(const struct scenario *s, const struct service_config *c)
{
    const struct transfer_config *t = &s->transfer;
    double seconds = sim_time_seconds(t->process_start) + sim_time_seconds(c->engine_start);
    if (c->model >= 0) {
        const struct model_config *m = &s->demand.models[c->model];
        seconds += (double)m->image_bytes / t->image_bytes_per_s + (double)m->weight_bytes / t->store_bytes_per_s;
    }
    return seconds;
}

static bool any_scaler(const struct scenario *s)
{
    for (int32_t i = 0; i < s->arbiter_count; i++)
        if (s->arbiters[i].scaler == SCALER_KEDA)
            return true;
    return false;
}

static void lint_speed(struct lint *l, int32_t ix)
{
    const struct service_config *c = &l->s->demand.services[ix];
    struct fluid f = {0};
    fluid_init(&f, c);
    double alone = c->kind == SERVICE_LLM ? f.lone_s : c->service_time_s;
    double peak = peak_rate(&c->traffic), capacity = f.lambda_max * c->max_replicas;
    if (c->slo_ttft_s <= 0 && c->slo_latency_s < alone)
        lint_warn(l, "services", ix, "slo",
                  "service '%s': one request alone takes %.3g s, its SLO is %.3g s", c->name, alone, c->slo_latency_s);
    if (c->traffic.file == NULL && peak > capacity)
        lint_warn(l, "services", ix, "maxReplicaCount",
                  "service '%s': its traffic peaks at %.4g requests/s, %d replicas serve %.4g", c->name, peak,
                  (int)c->max_replicas, capacity);
}

static void lint_scaling(struct lint *l, int32_t ix)
{
    const struct service_config *c = &l->s->demand.services[ix];
    const struct scaling_config *scaling = &l->s->service_scaling[ix];
    double cold = cold_start_s(l->s, c);
    if (c->min_replicas > 0 || !any_scaler(l->s))
        return;
    if (sim_time_seconds(scaling->cooldown_period) < cold)
        lint_warn(l, "services", ix, "minReplicaCount",
                  "service '%s' goes to zero after %.0f s and needs up to %.0f s to come back (image, weights, engine)",
                  c->name, sim_time_seconds(scaling->cooldown_period), cold);
    if (c->on_no_replica == NO_REPLICA_REJECT)
        lint_warn(l, "services", ix, "onNoReplica",
                  "service '%s' goes to zero and rejects while no replica is ready; every wake-up loses its first requests", c->name);
}

/* Replicas that are kept whatever the traffic, against the queue's own cards. */
static void lint_kept(struct lint *l, int32_t queue)
{
    const struct scenario *s = l->s;
    double own = 0, at_least = 0, at_peak = 0;
    const struct queue_config *q = &s->quota.queues[queue];
    for (int32_t i = 0; i < q->quota_count; i++)
        own += q->quotas[i].resource == -1 ? (double)q->quotas[i].nominal / 1000 : 0;
    for (int32_t i = 0; i < s->demand.service_count; i++) {
        const struct service_config *c = &s->demand.services[i];
        double cards = c->share_milli > 0 ? c->share_milli / 1000.0 : c->cards_per_replica;
        if (c->queue == queue) {
            at_least += cards * c->min_replicas;
            at_peak += cards * c->max_replicas;
        }
    }
    if (at_least > own) {
        lint_warn(l, "queues", queue, NULL,
                  "queue '%s' owns %.10g cards; minReplicaCount of its services needs %.10g, so even quiet services live on borrowed ones", q->name, own, at_least);
        return;
    }
    for (int32_t a = 0; a < s->arbiter_count && at_peak > own; a++)
        if (s->arbiters[a].scaler == SCALER_NONE && s->arbiters[a].backend == BACKEND_FLEET &&
            !s->arbiters[a].borrowing) {
            lint_warn(l, "queues", queue, NULL,
                      "arbiter '%s' keeps replicas at maxReplicaCount, %.10g cards; queue '%s' owns %.10g and may not borrow",
                      s->arbiters[a].name, at_peak, q->name, own);
            return;
        }
}

void lint_services(struct lint *l)
{
    for (int32_t i = 0; i < l->s->demand.service_count; i++) {
        lint_speed(l, i);
        lint_scaling(l, i);
    }
    for (int32_t i = 0; i < l->s->quota.queue_count; i++)
        lint_kept(l, i);
}
