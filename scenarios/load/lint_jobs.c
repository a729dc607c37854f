/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that can never start, or lose everything when evicted. */
#include "models/policies/quota_flow.h"
#include "models/world/quota_view.h"
#include "scenarios/load/lint_priv.h"

/* The largest part of one flavor that a queue may ever get under the arbiter, in milli-cards: as if
 * nothing else were admitted, with all limits on borrowing and lending; bounded by its nodes. */
int64_t lint_largest_reach(const struct scenario *s, const struct qflow *flow, int32_t queue)
{
    int64_t best = 0;
    for (int32_t f = 0; f < s->fleet.flavor_count; f++) {
        const uint32_t cell = qflow_cell(flow, POLICY_OBJ_CLUSTER_QUEUE, (uint32_t)queue, (uint32_t)f, 0);
        if (cell == POLICY_NONE)
            continue;
        int64_t reach = qflow_potential(flow, cell), nodes = lint_flavor_cards(s, f) * 1000;
        reach = reach < nodes ? reach : nodes;
        best = reach > best ? reach : best;
    }
    return best;
}

static const struct queue_config *queue_of(const struct arbiter_config *a, const struct scenario *s,
                                           int32_t queue)
{
    for (int32_t i = 0; i < a->queue_override_count; i++)
        if (a->queue_override_ix[i] == queue)
            return &a->queue_overrides[i];
    return &s->quota.queues[queue];
}

static void lint_gang(struct lint *l, int32_t ix, const struct arbiter_config *a, const struct qflow *flow)
{
    const struct job_stream_config *c = &l->s->demand.streams[ix];
    const struct queue_config *q = queue_of(a, l->s, c->queue);
    int64_t reach = lint_largest_reach(l->s, flow, c->queue), largest = 0;
    for (int32_t i = 0; i < c->shape_count; i++) {
        int64_t cards = (int64_t)c->shapes[i].workers * c->shapes[i].cards_per_worker * 1000;
        largest = cards > largest ? cards : largest;
    }
    bool strict = a->strict_fifo || q->strategy == QUEUE_STRICT_FIFO;
    if (largest > reach)
        lint_warn_stream(l, ix, "gangs",
                         "arbiter '%s': a gang of %.10g cards can never start in queue '%s', which may get %.10g of one flavor%s", a->name,
                         (double)largest / 1000, q->name, (double)reach / 1000, strict ? "; StrictFIFO then blocks all jobs behind it" : "");
}

static void lint_checkpoint(struct lint *l, int32_t ix, const struct arbiter_config *a)
{
    const struct job_stream_config *c = &l->s->demand.streams[ix];
    if (c->cls != CLASS_TRAINING || !a->preemption)
        return;
    if (c->checkpoint_interval == 0)
        lint_warn_stream(l, ix, "checkpoint",
                         "stream '%s' takes no checkpoints and arbiter '%s' evicts; an evicted job starts over", c->name, a->name);
    else if (!a->checkpoint)
        lint_warn_stream(l, ix, "checkpoint",
                         "arbiter '%s' evicts and has checkpoint: false; an evicted job starts over", a->name);
}

static void lint_priority(struct lint *l)
{
    for (int32_t i = 0; i < l->s->demand.service_count; i++) {
        const struct service_config *c = &l->s->demand.services[i];
        for (int32_t k = 0; k < l->s->demand.stream_count; k++) {
            const struct job_stream_config *j = &l->s->demand.streams[k];
            if (c->priority > j->priority)
                continue;
            lint_warn(l, "services", i, NULL,
                      "service '%s' has priority %d, no higher than jobs of '%s' (%d); its replicas cannot displace them by priority",
                      c->name, (int)c->priority, j->name, (int)j->priority);
            break;
        }
    }
}

void lint_gangs(struct lint *l)
{
    bool evicts = false;
    for (int32_t a = 0; a < l->s->arbiter_count; a++) {
        const struct arbiter_config *arbiter = &l->s->arbiters[a];
        if (arbiter->backend != BACKEND_FLEET)
            continue;
        struct arena mem = {0};
        struct qflow *flow = qflow_create(quota_view_config(&mem, l->s, arbiter));
        evicts |= arbiter->preemption;
        for (int32_t i = 0; i < l->s->demand.stream_count; i++) {
            lint_gang(l, i, arbiter, flow);
            lint_checkpoint(l, i, arbiter);
        }
        qflow_destroy(flow);
        arena_fini(&mem);
    }
    if (evicts)
        lint_priority(l);
}
