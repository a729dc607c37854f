/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sharing that cannot be: mechanisms the pool's card does not have, layouts that do not fit, and
 * tenants whose request no pool they may use can ever give, under one of the arbiters.
 */
#include <stdio.h>
#include <string.h>

#include "models/fleet/fleet.h"
#include "models/fleet/sharing/sharing.h"
#include "scenarios/load/load_priv.h"

static const struct ynode *item_of(const struct ynode *map, const char *list, int32_t ix)
{
    const struct ynode *n = ynode_get(map, list);
    return n != NULL && n->kind == YNODE_LIST && ix < n->count ? n->items[ix] : map;
}

/* The key that a mechanism is made of, when it is written. */
static const struct ynode *blamed(const struct ynode *sharing, enum share_kind kind)
{
    static const char *const keys[SHARE_KINDS] = {
        [SHARE_MIG] = "layout", [SHARE_HAMI] = "slots", [SHARE_TIME_SLICING] = "replicas", [SHARE_MPS] = "replicas"};
    const struct ynode *n = keys[kind] != NULL ? ynode_get(sharing, keys[kind]) : NULL;
    if (n == NULL && ynode_get(sharing, "dynamic") != NULL) /* what goes with a layout only */
        n = ynode_get(sharing, ynode_get(sharing, "reconfigure") != NULL ? "reconfigure" : "strategy");
    if (n == NULL)
        n = ynode_get(sharing, "mechanism");
    return n != NULL ? n : sharing;
}

/* Layouts that come later. */
static void check_changes(struct read_ctx *ctx, const struct ynode *sharing, const struct node_pool_config *pool)
{
    for (int32_t k = 0; k < pool->sharing.change_count; k++) {
        struct node_pool_config later = *pool;
        struct err e = {0};
        later.sharing.mig_layout = pool->sharing.changes[k].layout;
        const struct ynode *item = item_of(sharing, "reconfigure", k), *at = ynode_get(item, "layout");
        if (later.sharing.mig_layout != NULL && !fleet_pool_sharing_ok(&later, &e))
            field_problem(ctx, at != NULL ? at : item, "%s", e.text);
    }
}

static void check_pool(struct read_ctx *ctx, const struct ynode *sharing, const struct node_pool_config *pool)
{
    struct err e = {0};
    if (sharing == NULL || pool->card < 0)
        return;
    if (fleet_pool_sharing_ok(pool, &e)) {
        check_changes(ctx, sharing, pool);
        return;
    }
    const struct ynode *at = blamed(sharing, pool->sharing.kind);
    bool no_mig = strstr(e.text, "has no MIG profiles") != NULL && ynode_get(sharing, "mechanism") != NULL;
    field_problem(ctx, no_mig ? ynode_get(sharing, "mechanism") : at, "%s", e.text);
}

static void check_override(struct read_ctx *ctx, const struct ynode *item, const struct arbiter_config *arb,
                           int32_t k)
{
    const struct fleet_config *f = &scenario_of(ctx)->s.fleet;
    const struct pool_sharing *o = &arb->pool_sharings[k];
    if (o->pool < 0 || o->pool >= f->pool_count)
        return; /* reported by its row */
    for (int32_t i = 0; i < k; i++)
        if (arb->pool_sharings[i].pool == o->pool)
            field_problem(ctx, item, "two sharing mechanisms for the cards of node pool '%.60s': '%s' and '%s'; expected one",
                          f->pools[o->pool].name, share_mechanism_of(arb->pool_sharings[i].sharing.kind)->name,
                          share_mechanism_of(o->sharing.kind)->name);
    struct node_pool_config pool = f->pools[o->pool];
    pool.sharing = o->sharing;
    check_pool(ctx, ynode_get(item, "sharing"), &pool);
}

void load_check_mechanisms(struct read_ctx *ctx, const struct ynode *root)
{
    const struct scenario *s = &scenario_of(ctx)->s;
    const struct ynode *fleet = ynode_get(root, "fleet");
    for (int32_t i = 0; i < s->fleet.pool_count; i++) {
        snprintf(ctx->path, sizeof ctx->path, "fleet.nodePools[%d].sharing", (int)i);
        check_pool(ctx, ynode_get(item_of(fleet, "nodePools", i), "sharing"), &s->fleet.pools[i]);
    }
    for (int32_t a = 0; a < s->arbiter_count; a++)
        for (int32_t k = 0; k < s->arbiters[a].pool_sharing_count; k++) {
            snprintf(ctx->path, sizeof ctx->path, "arbiters[%d].nodePoolSharing[%d]", (int)a, (int)k);
            check_override(ctx, item_of(item_of(root, "arbiters", a), "nodePoolSharing", k), &s->arbiters[a], k);
        }
    ctx->path[0] = '\0';
}

/* ---- tenants ---- */

struct tenant_ask {
    const struct ynode *at;
    int32_t source, queue, cards, share_milli;
};

static struct node_pool_config pool_under(const struct scenario *s, const struct arbiter_config *arb, int32_t p)
{
    struct node_pool_config pool = s->fleet.pools[p];
    for (int32_t i = 0; i < arb->pool_sharing_count; i++)
        if (arb->pool_sharings[i].pool == p)
            pool.sharing = arb->pool_sharings[i].sharing;
    return pool;
}

/* True: some pool it may use gives it what it asks; else e says why the first one does not. */
static bool any_accepts(const struct scenario *s, const struct arbiter_config *arb, const struct tenant_ask *a,
                        struct err *e)
{
    const struct queue_config *q = &s->quota.queues[a->queue];
    bool slice = a->share_milli > 0 && a->share_milli < 1000 && arb->sharing == SHARING_FRACTION;
    struct place_request req = {.cards = slice ? 0 : a->cards > 0 ? a->cards : 1,
                                .share_milli = slice ? a->share_milli : 0};
    source_slice(s, a->source, &req);
    bool any = false;
    for (int32_t i = 0; i < q->quota_count; i++) {
        const struct flavor_config *v = &s->fleet.flavors[q->quotas[i].flavor];
        for (int32_t k = 0; q->quotas[i].resource < 0 && k < v->pool_count; k++) {
            if (!source_may_use(s, a->source, q->quotas[i].flavor, v->pools[k]))
                continue;
            struct node_pool_config pool = pool_under(s, arb, v->pools[k]);
            struct err one = {0};
            if (fleet_pool_accepts(&pool, &req, &one))
                return true;
            if (!any)
                *e = one;
            any = true;
        }
    }
    return !any; /* no pool at all is reported elsewhere */
}

/* The key of the request that the mechanism refuses. */
static const struct ynode *refused(const struct tenant_ask *a, const char *text)
{
    static const char *const keys[][2] = {{"gpumem", "gpumem"}, {"gpucores", "gpucores"}, {"MIG profile", "profile"},
                                          {"instance '", "profile"}, {"profile '", "profile"}, {"fraction", "share"},
                                          {"1000 of a card", "share"}, {"card", "cardsPerReplica"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct ynode *n = ynode_get(a->at, keys[i][1]);
        if (n != NULL && strstr(text, keys[i][0]) != NULL)
            return n;
    }
    return a->at;
}

/* A profile that no pool under any arbiter can have: pools under other mechanisms never look at it. */
static void check_profile(struct read_ctx *ctx, const struct tenant_ask *a, const char *profile)
{
    const struct scenario *s = &scenario_of(ctx)->s;
    struct err e = {0};
    bool mig = false;
    for (int32_t r = 0; r < s->arbiter_count; r++)
        for (int32_t p = 0; p < s->fleet.pool_count; p++) {
            struct node_pool_config pool = pool_under(s, &s->arbiters[r], p);
            if (pool.sharing.kind != SHARE_MIG)
                continue;
            struct share_pool cards;
            fleet_pool_cards(&pool, &cards);
            mig = true;
            if (mig_profile_find(cards.mig, profile, &e) >= 0)
                return;
        }
    const struct ynode *at = ynode_get(a->at, "profile");
    if (mig)
        field_problem(ctx, at, "%s", e.text);
    else
        field_problem(ctx, at, "MIG profile '%.40s', but no node pool is under MIG: expected a pool with sharing {mechanism: mig}",
                      profile);
}

static void check_tenant(struct read_ctx *ctx, const struct tenant_ask *a, const struct tenant_config *t)
{
    const struct scenario *s = &scenario_of(ctx)->s;
    size_t errors = ctx->diags->error_count;
    if (t->profile != NULL)
        check_profile(ctx, a, t->profile);
    for (int32_t r = 0; r < s->arbiter_count && ctx->diags->error_count == errors; r++) {
        struct err e = {0};
        if (s->arbiters[r].backend == BACKEND_MANAGED || any_accepts(s, &s->arbiters[r], a, &e))
            continue;
        field_problem(ctx, refused(a, e.text), "under arbiter '%.60s' no pool it may use can hold it: %s",
                      s->arbiters[r].name, e.text);
    }
}

void load_check_tenants(struct read_ctx *ctx, const struct ynode *root)
{
    const struct scenario_in *in = scenario_of(ctx);
    const struct ynode *demand = ynode_get(root, "demand");
    const struct demand_config *d = &in->s.demand;
    for (int32_t i = 0; i < d->stream_count; i++) {
        const struct job_stream_config *c = &d->streams[i];
        bool lora = i >= in->training_count;
        int32_t ix = lora ? i - in->training_count : i;
        struct tenant_ask a = {.at = item_of(demand, lora ? "lora" : "training", ix), .source = i, .queue = c->queue,
                               .cards = 1, .share_milli = c->share_milli};
        for (int32_t k = 0; k < c->shape_count; k++)
            if (c->shapes[k].cards_per_worker > a.cards)
                a.cards = c->shapes[k].cards_per_worker;
        snprintf(ctx->path, sizeof ctx->path, "demand.%s[%d]", lora ? "lora" : "training", (int)ix);
        check_tenant(ctx, &a, &c->tenant);
    }
    for (int32_t i = 0; i < d->service_count; i++) {
        const struct service_config *c = &d->services[i];
        struct tenant_ask a = {.at = item_of(demand, "services", i), .source = d->stream_count + i,
                               .queue = c->queue, .cards = c->cards_per_replica, .share_milli = c->share_milli};
        snprintf(ctx->path, sizeof ctx->path, "demand.services[%d]", (int)i);
        check_tenant(ctx, &a, &c->tenant);
    }
    ctx->path[0] = '\0';
}
