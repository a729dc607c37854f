/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/manifest_now.h"

#include <stdlib.h>
#include <string.h>

#include "models/policies/settle.h"
#include "sim/sim_time.h"

static const char pin_label[] = "fleetsim/flavor";

struct now { /* one trial */
    struct manifest *m;
    uint32_t job;
    const struct mnow_try *t;
    struct mnow_outcome *out;
    struct arena mem;
    const struct policy_ops *ops;
    void *policy;
    struct settle *settle;
    struct policy_config open; /* unlimited, pinned */
    struct policy_workload *submits;
    int64_t now;
    uint32_t admitted;
    bool watching; /* the job came */
    struct mnow_evaluation held; /* of the next decision about `held_for` */
    uint32_t held_for;           /* POLICY_NONE: about a group */
    bool holding, said_job;      /* said_job: the last group named is the job's */
};

struct mnow_try mnow_as_it_is(void)
{
    return (struct mnow_try){.count = POLICY_NIL, .priority = POLICY_NIL};
}

/* ---- what was looked at ---- */

static void hold(struct now *n, const struct policy_evaluation *e)
{
    struct mnow_evaluation *h = &n->held;
    *h = (struct mnow_evaluation){.try_count = 0};
    for (uint32_t i = 0; i < e->try_count && i < MNOW_TRIES_MAX; i++)
        h->tries[h->try_count++] = e->tries[i];
    for (uint32_t i = 0; i < e->filled_back_count && i < MNOW_VICTIMS_MAX; i++)
        h->spared[h->spared_count++] = e->filled_back[i];
    for (uint32_t i = 0; i < e->share_count && i < MNOW_SHARES_MAX; i++)
        h->shares[h->share_count++] = e->shares[i];
    n->holding = true;
    n->held_for = e->workload;
}

/* A decision about the workload (POLICY_NONE: about the group named last): it came of what is held. */
static void decided(struct now *n, uint32_t workload)
{
    const bool its = workload == POLICY_NONE ? n->said_job : workload == n->job;
    if (n->watching && n->holding && its && n->held_for == workload && n->out->victim_count == 0)
        n->out->looked = n->held;
    if (n->held_for == workload)
        n->holding = false;
}

static bool is_job(const struct now *n, const struct policy_pending *p)
{
    const struct policy_workload *w = &n->submits[n->job];
    return n->watching && p->shape == w->shape && p->priority == w->priority &&
           p->cluster_queue == n->m->config.local_queues[w->local_queue].cluster_queue;
}

static void listen(struct now *n, const struct policy_output *o)
{
    if (o->kind == POLICY_SAY_EVALUATION)
        hold(n, o->u.evaluation);
    else if (o->kind == POLICY_SAY_PENDING)
        n->said_job = is_job(n, &o->u.pending);
    else if (o->kind == POLICY_SAY_REASON)
        decided(n, o->u.reason->workload);
    else if (o->kind == POLICY_DO_ADMIT)
        decided(n, o->workload);
    else if (o->kind == POLICY_DO_EVICT)
        decided(n, o->u.evict.preemptor);
}

static void apply(void *ctx, int64_t now, const struct policy_output *outputs, size_t count)
{
    struct now *n = ctx;
    struct mnow_outcome *out = n->out;
    (void)now;
    for (size_t i = 0; i < count; i++) {
        const struct policy_output *o = &outputs[i];
        listen(n, o);
        if (o->kind == POLICY_DO_ADMIT) {
            n->admitted++;
            if (o->workload != n->job)
                continue;
            const struct policy_assigned_set *set = &o->u.entry->sets[0];
            out->admitted = true;
            for (uint32_t c = 0; c < set->choice_count && c < 8; c++, out->choice_count++) {
                out->resources[c] = set->choices[c].resource;
                out->flavors[c] = set->choices[c].flavor;
            }
        } else if (o->kind == POLICY_DO_EVICT && o->u.evict.preemptor == n->job && n->watching &&
                   out->victim_count < MNOW_VICTIMS_MAX) {
            out->victims[out->victim_count] = o->workload;
            out->rules[out->victim_count++] = o->u.evict.reason;
        }
    }
}

/* ---- the open cluster: every queue alone, unlimited, one group of everything ---- */

static const struct policy_resource_group *open_group(struct now *n)
{
    const struct policy_config *c = &n->m->config;
    const size_t cells = (size_t)c->resource_count * c->flavor_count;
    struct policy_resource_group *g = arena_alloc(&n->mem, 1, sizeof *g);
    uint32_t *resources = arena_alloc(&n->mem, (size_t)c->resource_count + 1, sizeof *resources);
    uint32_t *flavors = arena_alloc(&n->mem, (size_t)c->flavor_count + 1, sizeof *flavors);
    struct policy_quota *quotas = arena_alloc(&n->mem, cells + 1, sizeof *quotas);
    for (uint32_t i = 0; i < c->resource_count; i++)
        resources[i] = i;
    for (uint32_t i = 0; i < c->flavor_count; i++)
        flavors[i] = i;
    for (size_t i = 0; i < cells; i++)
        quotas[i] = (struct policy_quota){POLICY_UNLIMITED, POLICY_NIL, POLICY_NIL};
    *g = (struct policy_resource_group){resources, flavors, quotas, c->resource_count, c->flavor_count};
    return g;
}

static void open_flavors(struct now *n)
{
    const struct policy_config *c = &n->m->config;
    struct policy_flavor *f = arena_alloc(&n->mem, (size_t)c->flavor_count + 1, sizeof *f);
    for (uint32_t i = 0; i < c->flavor_count; i++) {
        struct policy_label *l = arena_alloc(&n->mem, 1, sizeof *l);
        const char *name = arena_printf(&n->mem, "f%u", (unsigned)i);
        *l = (struct policy_label){pin_label, name};
        f[i] = (struct policy_flavor){.name = name, .labels = l, .label_count = 1, .topology = POLICY_NONE};
    }
    n->open.flavors = f;
}

/* Local queue `count of the manifest's + q` leads to cluster queue q. */
static void open_cluster(struct now *n)
{
    const struct policy_config *c = &n->m->config;
    const uint32_t queues = c->cluster_queue_count, locals = c->local_queue_count;
    struct policy_cluster_queue *q = arena_alloc(&n->mem, (size_t)queues + 1, sizeof *q);
    struct policy_local_queue *l = arena_alloc(&n->mem, (size_t)locals + queues + 1, sizeof *l);
    struct policy_selector *all = arena_alloc(&n->mem, 1, sizeof *all);
    const struct policy_resource_group *g = open_group(n);
    n->open = *c;
    open_flavors(n);
    for (uint32_t i = 0; i < queues; i++) {
        q[i] = (struct policy_cluster_queue){.name = c->cluster_queues[i].name, .cohort = POLICY_NONE, .groups = g,
            .group_count = 1, .namespace_selector = all, .max_priority_threshold = POLICY_NIL, .weight = 1.0};
        l[locals + i] = (struct policy_local_queue){.name = c->cluster_queues[i].name, .cluster_queue = i, .weight = 1.0};
    }
    for (uint32_t i = 0; i < locals; i++)
        l[i] = c->local_queues[i];
    n->open.cluster_queues = q;
    n->open.local_queues = l;
    n->open.local_queue_count = locals + queues;
    n->open.requeue_batch_ns = 0;
    n->open.pods_ready.on = false;
    n->open.record_reasons = n->open.record_pending = true;
}

/* ---- holders ---- */

/* What a pod set holds on one flavor, as a pod set of its own that is pinned to it. "pods" are
 * counted by the policy itself. */
static void pinned_set(struct now *n, const struct manifest_workload *w, uint32_t first, struct policy_pod_set *to)
{
    const struct manifest_use *u = &w->uses[first];
    struct policy_amount *a = arena_alloc(&n->mem, (size_t)w->use_count + 1, sizeof *a);
    struct policy_label *l = arena_alloc(&n->mem, 1, sizeof *l);
    int64_t count = w->held_counts[u->set];
    for (uint32_t i = first; i < w->use_count; i++)
        if (w->uses[i].set == u->set && w->uses[i].flavor == u->flavor && (count == 0 || w->uses[i].amount % count != 0))
            count = 1; /* not a multiple: one pod holds all */
    *l = (struct policy_label){pin_label, n->open.flavors[u->flavor].name};
    *to = (struct policy_pod_set){.name = arena_printf(&n->mem, "s%u", (unsigned)first), .count = count,
        .min_count = POLICY_NIL, .requests = a, .node_selector = l, .node_selector_count = 1};
    for (uint32_t i = first; i < w->use_count; i++)
        if (w->uses[i].set == u->set && w->uses[i].flavor == u->flavor &&
            strcmp(n->m->config.resources[w->uses[i].resource], "pods") != 0)
            a[to->request_count++] = (struct policy_amount){w->uses[i].resource, w->uses[i].amount / count};
}

static uint32_t pinned_shape(struct now *n, const struct manifest_workload *w)
{
    struct policy_pod_set *sets = arena_alloc(&n->mem, (size_t)w->use_count + 1, sizeof *sets);
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->use_count; i++) {
        bool told = false;
        for (uint32_t k = 0; k < i; k++)
            told |= w->uses[k].set == w->uses[i].set && w->uses[k].flavor == w->uses[i].flavor;
        if (!told)
            pinned_set(n, w, i, &sets[count++]);
    }
    const struct policy_shape shape = {sets, count};
    return n->ops->register_shape(n->policy, &shape);
}

static bool holds(const struct now *n, uint32_t i)
{
    const struct manifest_workload *w = &n->m->workloads[i];
    return i != n->job && w->cluster_queue != POLICY_NONE && w->reserved != POLICY_NEVER && !w->finished &&
           w->use_count > 0 && n->m->config.cluster_queues[w->cluster_queue].name != NULL;
}

struct holder {
    int64_t at;
    uint32_t id;
};

static int by_time(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;
    return x->at != y->at ? (x->at < y->at ? -1 : 1) : (x->id > y->id) - (x->id < y->id);
}

static void settle_inputs(struct now *n, int64_t at, const struct policy_input *in, size_t count)
{
    n->now = at > n->now ? at : n->now;
    policy_settle(n->settle, n->now, in, count);
}

static void put_back(struct now *n)
{
    struct manifest *m = n->m;
    struct holder *list = arena_alloc(&n->mem, (size_t)m->workload_count + 1, sizeof *list);
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->workload_count; i++)
        if (holds(n, i))
            list[count++] = (struct holder){m->workloads[i].reserved - m->start_ns, i};
    if (count > 1)
        qsort(list, count, sizeof *list, by_time);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t id = list[i].id;
        struct policy_workload *w = &n->submits[id];
        *w = m->workloads[id].policy;
        w->local_queue = m->config.local_queue_count + m->workloads[id].cluster_queue;
        w->shape = pinned_shape(n, &m->workloads[id]);
        const struct policy_input in = {.kind = POLICY_IN_SUBMIT, .workload = id, .submit = w};
        settle_inputs(n, list[i].at < 0 ? 0 : list[i].at, &in, 1);
    }
    n->out->not_restored = count - n->admitted;
}

/* ---- the real objects, with what is tried ---- */

static struct policy_cluster_queue changed_queue(struct now *n, uint32_t id)
{
    struct policy_cluster_queue q = n->m->config.cluster_queues[id];
    const struct mnow_try *t = n->t;
    if (t->more_nominal == 0 && t->more_borrowing == 0)
        return q;
    struct policy_resource_group *g = arena_alloc(&n->mem, (size_t)q.group_count + 1, sizeof *g);
    for (uint32_t i = 0; i < q.group_count; i++) {
        g[i] = q.groups[i];
        const size_t cells = (size_t)g[i].resource_count * g[i].flavor_count;
        struct policy_quota *quotas = arena_alloc(&n->mem, cells + 1, sizeof *quotas);
        memcpy(quotas, g[i].quotas, cells * sizeof *quotas);
        for (size_t c = 0; c < cells; c++)
            if (g[i].flavors[c / g[i].resource_count] == t->flavor && g[i].resources[c % g[i].resource_count] == t->resource) {
                quotas[c].nominal += t->more_nominal;
                quotas[c].borrowing_limit += quotas[c].borrowing_limit == POLICY_NIL ? 0 : t->more_borrowing;
            }
        g[i].quotas = quotas;
    }
    q.groups = g;
    return q;
}

static void replace(struct now *n, enum policy_object_kind kind, uint32_t id, const void *object)
{
    const struct policy_input in = {.kind = POLICY_IN_OBJECT, .workload = POLICY_NONE, .object_kind = kind,
                                    .object_id = id, .object = object};
    settle_inputs(n, n->now, &in, 1);
}

static void real_objects(struct now *n)
{
    const struct policy_config *c = &n->m->config;
    const uint32_t mine = c->local_queues[n->m->workloads[n->job].policy.local_queue].cluster_queue;
    for (uint32_t i = 0; i < c->flavor_count; i++)
        replace(n, POLICY_OBJ_FLAVOR, i, c->flavors[i].name == NULL ? NULL : &c->flavors[i]);
    for (uint32_t i = 0; i < c->cluster_queue_count; i++) {
        struct policy_cluster_queue q = i == mine ? changed_queue(n, i) : c->cluster_queues[i];
        if (q.name != NULL)
            replace(n, POLICY_OBJ_CLUSTER_QUEUE, i, &q);
    }
}

/* What waits at the dump is looked at before the job comes. */
static void submit_waiting(struct now *n)
{
    struct manifest *m = n->m;
    for (uint32_t i = 0; i < m->workload_count; i++) {
        const struct manifest_workload *w = &m->workloads[i];
        if (i == n->job || holds(n, i) || w->finished || w->inadmissible != NULL)
            continue;
        n->submits[i] = w->policy;
        n->submits[i].shape = n->ops->register_shape(n->policy, &w->shape);
        const struct policy_input in = {.kind = POLICY_IN_SUBMIT, .workload = i, .submit = &n->submits[i]};
        settle_inputs(n, n->now, &in, 1);
    }
}

static void submit_job(struct now *n)
{
    const struct manifest_workload *w = &n->m->workloads[n->job];
    struct policy_workload *s = &n->submits[n->job];
    struct policy_pod_set *sets = arena_alloc(&n->mem, (size_t)w->shape.pod_set_count + 1, sizeof *sets);
    memcpy(sets, w->shape.pod_sets, w->shape.pod_set_count * sizeof *sets);
    if (n->t->count != POLICY_NIL) {
        sets[n->t->set].count = n->t->count;
        sets[n->t->set].min_count = POLICY_NIL;
    }
    const struct policy_shape shape = {sets, w->shape.pod_set_count};
    *s = w->policy;
    s->created_ns = n->now;
    s->shape = n->ops->register_shape(n->policy, &shape);
    if (n->t->priority != POLICY_NIL)
        s->priority = n->t->priority;
    const uint32_t queue = n->m->config.local_queues[s->local_queue].cluster_queue;
    n->out->pending = n->ops->pending_count(n->policy, queue);
    n->watching = true;
    const struct policy_input in = {.kind = POLICY_IN_SUBMIT, .workload = n->job, .submit = s};
    settle_inputs(n, n->now + SIM_SECOND, &in, 1);
    n->out->has_reason = n->ops->reason(n->policy, n->job, &n->out->reason);
}

/* ---- rank ---- */

struct ahead {
    int64_t priority;
    uint32_t count;
};

static void count_ahead(void *arg, const struct policy_pending *g)
{
    struct ahead *a = arg;
    if (g->priority >= a->priority)
        a->count += g->count;
}

static void run(struct now *n)
{
    put_back(n);
    n->now += SIM_SECOND;
    real_objects(n);
    submit_waiting(n);
    n->now += SIM_SECOND;
    const struct manifest_workload *w = &n->m->workloads[n->job];
    struct ahead a = {n->t->priority != POLICY_NIL ? n->t->priority : w->policy.priority, 0};
    n->ops->pending(n->policy, n->m->config.local_queues[w->policy.local_queue].cluster_queue, count_ahead, &a);
    n->out->rank = a.count + 1;
    submit_job(n);
}

bool mnow_try(struct manifest *m, uint32_t job, const struct mnow_try *t, struct mnow_outcome *out, struct err *err)
{
    struct now n = {.m = m, .job = job, .t = t, .out = out, .ops = policy_kueue()};
    char error[256] = "";
    *out = (struct mnow_outcome){.admitted = false};
    open_cluster(&n);
    n.submits = arena_alloc(&n.mem, (size_t)m->workload_count + 1, sizeof *n.submits);
    n.policy = n.ops->create(&n.open, NULL, error, sizeof error);
    if (n.policy != NULL) {
        const struct settle_config sc = {.eviction_ns = -1, .cycle_cap = 2 * m->workload_count + 1000};
        const struct settle_host host = {.ctx = &n, .apply = apply};
        n.settle = settle_create(n.ops, n.policy, &sc, &host);
        run(&n);
        settle_destroy(n.settle);
        n.ops->destroy(n.policy);
    }
    arena_fini(&n.mem);
    return n.policy != NULL || err_set(err, ERR_INPUT, "%s", error);
}
