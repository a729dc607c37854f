/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gangs and replicas that no quota can ever admit, with every resource that they name: asked of the
 * policy itself, as if nothing else were admitted (flavors that they may use, limits on borrowing and
 * lending up the tree). Cards of gangs are told by lint_jobs.c, which knows the nodes as well.
 */
#include <string.h>

#include "models/policies/quota_flow.h"
#include "models/world/quota_view.h"
#include "models/world/shape_view.h"
#include "scenarios/load/lint_priv.h"

struct best { /* of one resource: the flavor that could give most */
    bool asked, allowed;
    struct policy_numbers numbers;
};

struct reach {
    struct lint *l;
    const struct arbiter_config *arbiter;
    const struct policy_ops *ops;
    void *policy;
    const struct qflow *flow;
    struct best best[FLEET_RESOURCES_MAX + 1]; /* by resource of the policy */
};

static void take_cell(void *arg, const struct policy_reach *v)
{
    struct reach *r = arg;
    if (v->numbers.resource > FLEET_RESOURCES_MAX)
        return;
    struct best *b = &r->best[v->numbers.resource];
    if (b->asked && (!v->allowed || (b->allowed && b->numbers.potential >= v->numbers.potential)))
        return;
    *b = (struct best){true, v->allowed, v->numbers};
}

static const char *resource_name(const struct reach *r, uint32_t id)
{
    return id == 0 ? "cards" : id <= (uint32_t)r->l->s->fleet.resource_count ? r->l->s->fleet.resources[id - 1] : "?";
}

static double shown(const struct reach *r, uint32_t resource, int64_t v)
{
    return (double)v / (resource == 0 || strcmp(resource_name(r, resource), "cpu") == 0 ? 1000.0 : 1.0);
}

struct subject { /* who asks */
    int32_t stream, service; /* one of them; -1 */
    int32_t queue;
    const char *name;
    bool cards_told; /* by lint_jobs.c */
};

static void tell(struct reach *r, const struct subject *s, const struct policy_numbers *n)
{
    const struct scenario *all = r->l->s;
    const struct queue_config q = quota_view_queue(all, r->arbiter, s->queue);
    const char *strict = q.strategy == QUEUE_STRICT_FIFO ? "; StrictFIFO then blocks all behind it" : "";
    const char *flavor = n->flavor < (uint32_t)all->fleet.flavor_count ? all->fleet.flavors[n->flavor].name : "?";
    const double asks = shown(r, n->resource, n->requested), most = shown(r, n->resource, n->potential);
    if (s->stream >= 0)
        lint_warn_stream(r->l, s->stream, "gangs",
                         "arbiter '%s': a gang of '%s' asks %.10g %s, queue '%s' may get %.10g of flavor '%s': it can never start%s",
                         r->arbiter->name, s->name, asks, resource_name(r, n->resource), q.name, most, flavor, strict);
    else
        lint_warn(r->l, "services", s->service, NULL,
                  "arbiter '%s': a replica of '%s' asks %.10g %s, queue '%s' may get %.10g of flavor '%s': it can never start%s",
                  r->arbiter->name, s->name, asks, resource_name(r, n->resource), q.name, most, flavor, strict);
}

static void tell_none(struct reach *r, const struct subject *s)
{
    const char *queue = r->l->s->quota.queues[s->queue].name, *arbiter = r->arbiter->name;
    if (s->stream >= 0)
        lint_warn_stream(r->l, s->stream, NULL,
                         "arbiter '%s': '%s' may use none of the flavors that queue '%s' has quota of: it can never start",
                         arbiter, s->name, queue);
    else
        lint_warn(r->l, "services", s->service, NULL,
                  "arbiter '%s': '%s' may use none of the flavors that queue '%s' has quota of: it can never start",
                  arbiter, s->name, queue);
}

/* Each resource of which no flavor could give enough; else the flavor that comes nearest. */
static void look(struct reach *r, const struct subject *s, const struct policy_shape *shape)
{
    struct policy_numbers nearest;
    const uint32_t id = r->ops->register_shape(r->policy, shape);
    bool told = s->cards_told;
    if (r->ops->may_fit(r->policy, (uint32_t)s->queue, id, &nearest))
        return;
    memset(r->best, 0, sizeof r->best);
    r->ops->reach(r->policy, (uint32_t)s->queue, id, take_cell, r);
    for (uint32_t i = 0; i <= FLEET_RESOURCES_MAX; i++) {
        const struct best *b = &r->best[i];
        if (!b->asked || !b->allowed || b->numbers.requested <= b->numbers.potential || (i == 0 && s->cards_told))
            continue;
        tell(r, s, &b->numbers);
        told = true;
    }
    if (told)
        return;
    if (nearest.flavor == POLICY_NONE)
        tell_none(r, s);
    else
        tell(r, s, &nearest);
}

static void look_stream(struct reach *r, int32_t ix)
{
    const struct job_stream_config *c = &r->l->s->demand.streams[ix];
    struct shape_view view;
    int64_t cards = lint_largest_reach(r->l->s, r->flow, c->queue);
    for (int32_t i = 0; i < c->shape_count && c->lora_base < 0 && c->queue >= 0; i++) {
        const struct gang_shape *g = &c->shapes[i];
        const bool pods = r->arbiter->gang == GANG_PODS; /* each pod asks for itself */
        const int64_t milli = c->share_milli > 0 ? c->share_milli : (int64_t)g->cards_per_worker * 1000;
        const struct subject s = {.stream = ix, .service = -1, .queue = c->queue, .name = c->name,
                                  .cards_told = (int64_t)g->workers * g->cards_per_worker * 1000 > cards};
        shape_view_make(r->l->s, ix, pods ? 1 : g->workers, milli, &view);
        look(r, &s, &view.shape);
    }
}

static void look_service(struct reach *r, int32_t ix)
{
    const struct service_config *c = &r->l->s->demand.services[ix];
    const struct subject s = {.stream = -1, .service = ix, .queue = c->queue, .name = c->name};
    const int64_t milli = c->share_milli > 0 ? c->share_milli : (int64_t)c->cards_per_replica * 1000;
    struct shape_view view;
    if (c->lora_base >= 0 || c->queue < 0)
        return;
    shape_view_make(r->l->s, r->l->s->demand.stream_count + ix, 1, milli, &view);
    look(r, &s, &view.shape);
}

static void look_arbiter(struct lint *l, const struct arbiter_config *a)
{
    char error[256] = "";
    struct arena mem = {0};
    const struct policy_config *cfg = quota_view_config(&mem, l->s, a);
    const struct policy_host host = {.abi = POLICY_ABI, .size = sizeof host};
    struct reach r = {.l = l, .arbiter = a, .ops = policy_kueue()};
    struct qflow *flow = qflow_create(cfg);
    r.flow = flow;
    r.policy = r.ops->create(cfg, &host, error, sizeof error);
    for (int32_t i = 0; i < l->s->demand.stream_count && r.policy != NULL; i++)
        look_stream(&r, i);
    for (int32_t i = 0; i < l->s->demand.service_count && r.policy != NULL; i++)
        look_service(&r, i);
    if (r.policy != NULL)
        r.ops->destroy(r.policy);
    qflow_destroy(flow);
    arena_fini(&mem);
}

void lint_reach(struct lint *l)
{
    for (int32_t a = 0; a < l->s->arbiter_count; a++)
        if (l->s->arbiters[a].backend == BACKEND_FLEET)
            look_arbiter(l, &l->s->arbiters[a]);
}
