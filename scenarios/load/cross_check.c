/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors that no single field shows: cohorts in a circle, limits without a cohort, work that fits
 * no node it may use. They are found here, before a run starts.
 */
#include <stdio.h>
#include <string.h>

#include "models/fleet/taints.h"
#include "scenarios/load/load_priv.h"

/* The map of item ix of a top-level list, for the place of a problem. */
static const struct ynode *item_at(const struct ynode *root, const char *list, int32_t ix)
{
    const struct ynode *n = ynode_get(root, list);
    return n != NULL && n->kind == YNODE_LIST && ix < n->count ? n->items[ix] : root;
}

static const struct ynode *key_or(const struct ynode *map, const char *key)
{
    const struct ynode *n = ynode_get(map, key);
    return n != NULL ? n : map;
}

static void set_path(struct read_ctx *ctx, const char *list, int32_t ix)
{
    snprintf(ctx->path, sizeof ctx->path, "%s[%d]", list, (int)ix);
}

/* ---- quota ---- */

static void check_cohorts(struct read_ctx *ctx, const struct ynode *root,
                          const struct quota_config *q)
{
    for (int32_t i = 0; i < q->cohort_count; i++) {
        int32_t at = q->cohorts[i].parent, steps = 0;
        while (at >= 0 && at != i && steps++ < q->cohort_count)
            at = q->cohorts[at].parent;
        if (at != i)
            continue;
        set_path(ctx, "cohorts", i);
        field_problem(ctx, key_or(item_at(root, "cohorts", i), "parentName"),
                      "cohort '%.60s' is its own ancestor", q->cohorts[i].name);
    }
}

/* A workload carries its priority, not the name of its class. */
static void check_priority_classes(struct read_ctx *ctx, const struct ynode *root,
                                   const struct quota_config *q)
{
    for (int32_t i = 0; i < q->priority_class_count; i++)
        for (int32_t k = 0; k < i; k++) {
            const struct priority_class_config *a = &q->priority_classes[k], *b = &q->priority_classes[i];
            if (a->value != b->value || a->preemption_policy == b->preemption_policy)
                continue;
            set_path(ctx, "priorityClasses", i);
            field_problem(ctx, key_or(item_at(root, "priorityClasses", i), "preemptionPolicy"),
                          "priority classes '%.60s' and '%.60s' have the value %d and two preemption policies; "
                          "give one of them another value", a->name, b->name, (int)a->value);
        }
}

static void check_limits(struct read_ctx *ctx, const struct ynode *at,
                         const struct quota_amount *quotas, int32_t count, bool has_cohort, bool leaf)
{
    const struct fleet_config *fleet = &scenario_of(ctx)->s.fleet;
    for (int32_t i = 0; i < count; i++) {
        const struct quota_amount *a = &quotas[i];
        const char *flavor = fleet->flavors[a->flavor].name;
        if (!has_cohort && a->borrowing_limit != QUOTA_UNSET)
            field_problem(ctx, at,
                          "borrowingLimit of flavor '%.60s' without a cohortName; there is nobody to borrow from", flavor);
        if (!has_cohort && a->lending_limit != QUOTA_UNSET)
            field_problem(ctx, at,
                          "lendingLimit of flavor '%.60s' without a cohortName; there is nobody to lend to", flavor);
        /* A cohort lends what its queues own as well. */
        if (leaf && a->lending_limit != QUOTA_UNSET && a->lending_limit > a->nominal)
            field_problem(ctx, at, "lendingLimit of flavor '%.60s' is above its nominalQuota",
                          flavor);
    }
}

static void check_quota(struct read_ctx *ctx, const struct ynode *root,
                        const struct quota_config *q)
{
    check_cohorts(ctx, root, q);
    check_priority_classes(ctx, root, &scenario_of(ctx)->s.quota);
    for (int32_t i = 0; i < q->queue_count; i++) {
        set_path(ctx, "queues", i);
        check_limits(ctx, item_at(root, "queues", i), q->queues[i].quotas, q->queues[i].quota_count,
                     q->queues[i].cohort >= 0, true);
    }
    for (int32_t i = 0; i < q->cohort_count; i++) {
        set_path(ctx, "cohorts", i);
        check_limits(ctx, item_at(root, "cohorts", i), q->cohorts[i].quotas,
                     q->cohorts[i].quota_count, q->cohorts[i].parent >= 0, false);
    }
}

/* ---- fleet and arbiters ---- */

static void check_fleet(struct read_ctx *ctx, const struct ynode *root, const struct scenario *s)
{
    const struct ynode *fleet = ynode_get(root, "fleet");
    const struct ynode *flavors = ynode_get(fleet, "flavors");
    for (int32_t i = 0; flavors != NULL && i < s->fleet.flavor_count && i < flavors->count; i++) {
        set_path(ctx, "fleet.flavors", i);
        if (s->fleet.flavors[i].pool_count == 0)
            field_problem(ctx, flavors->items[i], "flavor '%.60s' selects no node pool",
                          s->fleet.flavors[i].name);
    }
}

/* Only rules that give every node a number compare nodes of several pools. */
static void check_across(struct read_ctx *ctx, const struct ynode *root, const struct scenario *s, int32_t i)
{
    const struct arbiter_config *a = &s->arbiters[i];
    if (!a->placement_across_pools || (a->placement != PLACE_BINPACK && a->placement != PLACE_SPREAD))
        return;
    set_path(ctx, "arbiters", i);
    field_problem(ctx, key_or(item_at(root, "arbiters", i), "placementAcrossPools"),
                  "placementAcrossPools with placement %s: expected random, dot-product, gpu-clustering, gpu-packing, "
                  "best-fit or fgd", fleet_placement_name(a->placement));
}

static void check_arbiters(struct read_ctx *ctx, const struct ynode *root, const struct scenario *s)
{
    ctx->path[0] = '\0';
    if (s->arbiter_count == 0)
        field_problem(ctx, key_or(root, "arbiters"), "arbiters: expected at least one");
    if (s->quota.queue_count == 0)
        field_problem(ctx, key_or(root, "queues"), "queues: expected at least one");
    if (s->demand.stream_count + s->demand.service_count == 0)
        field_problem(ctx, key_or(root, "demand"),
                      "demand: nothing is asked; expected training, lora or services");
    for (int32_t i = 0; i < s->arbiter_count; i++)
        check_across(ctx, root, s, i);
    for (int32_t i = 0; i < s->arbiter_count; i++)
        for (int32_t j = 0; j < i; j++) {
            if (strcmp(s->arbiters[i].name, s->arbiters[j].name) != 0)
                continue;
            set_path(ctx, "arbiters", i);
            field_problem(ctx, item_at(root, "arbiters", i),
                          "two arbiters are named '%.60s'; give one a name", s->arbiters[i].name);
        }
}

/* ---- where work may run ---- */

/* What a stream or a service asks for, per worker or replica. */
struct ask {
    const char *what;            /* "worker", "replica" */
    int32_t queue, cards, workers;
    const struct label *selector;
    int32_t selector_count;
    const struct taint *tolerations;
    int32_t toleration_count;
    const struct resource_amount *amounts;
    int32_t amount_count;
};

static bool selected(const struct ask *a, const struct node_pool_config *p)
{
    for (int32_t i = 0; i < a->selector_count; i++) {
        bool found = false;
        for (int32_t k = 0; k < p->label_count && !found; k++)
            found = strcmp(p->labels[k].key, a->selector[i].key) == 0 && strcmp(p->labels[k].value,
                a->selector[i].value) == 0;
        if (!found)
            return false;
    }
    return true;
}

static bool tolerates(const struct ask *a, const struct flavor_config *v,
                      const struct taint *taints, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (taints[i].effect != TAINT_PREFER_NO_SCHEDULE &&
            !taint_tolerated(&taints[i], a->tolerations, a->toleration_count) &&
            !taint_tolerated(&taints[i], v->tolerations, v->toleration_count))
            return false;
    return true;
}

static bool has_resources(const struct ask *a, const struct node_pool_config *p)
{
    for (int32_t i = 0; i < a->amount_count; i++) {
        int64_t room = 0;
        for (int32_t k = 0; k < p->allocatable_count; k++)
            if (p->allocatable[k].resource == a->amounts[i].resource)
                room = p->allocatable[k].amount;
        if (room < a->amounts[i].amount)
            return false;
    }
    return true;
}

/* The best that was found: how far a pool got towards running this. */
struct reach {
    bool any_quota, any_selected, any_large_enough, any_resources;
    int32_t largest_node;
};

static void reach_flavor(const struct ask *a, const struct scenario *s,
                         const struct flavor_config *v, struct reach *r)
{
    for (int32_t i = 0; i < v->pool_count; i++) {
        const struct node_pool_config *p = &s->fleet.pools[v->pools[i]];
        if (!selected(a, p) || !tolerates(a, v, p->taints, p->taint_count) ||
            !tolerates(a, v, v->node_taints, v->node_taint_count))
            continue;
        r->any_selected = true;
        if (p->cards_per_node > r->largest_node)
            r->largest_node = p->cards_per_node;
        if (p->cards_per_node < a->cards)
            continue;
        r->any_large_enough = true;
        r->any_resources |= has_resources(a, p);
    }
}

static void check_ask(struct read_ctx *ctx, const struct ynode *at, const struct ask *a)
{
    const struct scenario *s = &scenario_of(ctx)->s;
    const struct queue_config *q = &s->quota.queues[a->queue];
    struct reach r = {0};
    for (int32_t i = 0; i < q->quota_count; i++) {
        if (q->quotas[i].resource != -1 || (q->quotas[i].nominal == 0 && q->cohort < 0))
            continue;
        r.any_quota = true;
        reach_flavor(a, s, &s->fleet.flavors[q->quotas[i].flavor], &r);
    }
    if (!r.any_quota)
        field_problem(ctx, key_or(at, "queue"), "queue '%.60s' has no quota of cards", q->name);
    else if (!r.any_selected)
        field_problem(ctx, key_or(at, "nodeSelector"),
                      "no flavor with quota in queue '%.60s' has nodes that match its nodeSelector and tolerations", q->name);
    else if (!r.any_large_enough)
        field_problem(ctx, at, "asks for %d cards per %s; the largest node it may use has %d",
                      (int)a->cards, a->what, (int)r.largest_node);
    else if (!r.any_resources)
        field_problem(ctx, key_or(at, "resources"),
                      "no node it may use has these resources for one %s", a->what);
}

static void check_stream(struct read_ctx *ctx, const struct ynode *at,
                         const struct job_stream_config *c)
{
    struct ask a = {.what = "worker", .queue = c->queue, .cards = 1, .workers = 1,
                    .selector = c->node_selector,
                    .selector_count = c->node_selector_count, .tolerations = c->tolerations, .toleration_count = c->toleration_count,
                    .amounts = c->per_worker, .amount_count = c->per_worker_count};
    for (int32_t i = 0; i < c->shape_count; i++)
        if (c->shapes[i].cards_per_worker > a.cards)
            a.cards = c->shapes[i].cards_per_worker;
    check_ask(ctx, at, &a);
}

static void check_demand(struct read_ctx *ctx, const struct ynode *root,
                         const struct scenario_in *in)
{
    const struct ynode *demand = ynode_get(root, "demand");
    const struct demand_config *d = &in->s.demand;
    for (int32_t i = 0; i < d->stream_count; i++) {
        bool lora = i >= in->training_count;
        int32_t ix = lora ? i - in->training_count : i;
        set_path(ctx, lora ? "demand.lora" : "demand.training", ix);
        check_stream(ctx, item_at(demand, lora ? "lora" : "training", ix), &d->streams[i]);
    }
    for (int32_t i = 0; i < d->service_count; i++) {
        const struct service_config *c = &d->services[i];
        struct ask a = {.what = "replica", .queue = c->queue,
                        .cards = c->share_milli > 0 ? 1 : c->cards_per_replica, .workers = 1,
                        .selector = c->node_selector, .selector_count = c->node_selector_count, .tolerations = c->tolerations,
                        .toleration_count = c->toleration_count, .amounts = c->per_replica, .amount_count = c->per_replica_count};
        set_path(ctx, "demand.services", i);
        check_ask(ctx, item_at(demand, "services", i), &a);
    }
}

void load_cross_check(struct read_ctx *ctx, const struct ynode *root)
{
    const struct scenario_in *in = scenario_of(ctx);
    size_t errors = ctx->diags->error_count;
    check_fleet(ctx, root, &in->s);
    check_arbiters(ctx, root, &in->s);
    check_quota(ctx, root, &in->s.quota);
    load_check_mechanisms(ctx, root);
    if (ctx->diags->error_count == errors)
        check_demand(ctx, root, in);
    if (ctx->diags->error_count == errors)
        load_check_tenants(ctx, root);
    if (ctx->diags->error_count == errors)
        load_check_lora(ctx, root);
    ctx->path[0] = '\0';
}
