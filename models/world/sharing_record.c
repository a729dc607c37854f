/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a world says about shared cards at its end: tables tenant, sharing, sharing_pool, and metrics. */
#include <string.h>

#include "models/fleet/catalogue.h"
#include "models/world/gang_speed.h"
#include "models/world/tables.h"
#include "models/world/world_instances.h"

static void emit_tenant(struct world *w, int32_t tenant)
{
    const struct demand_config *d = &w->s->demand;
    const struct tenant_config *c = sharing_config(w, tenant);
    bool job = tenant < d->stream_count;
    int32_t team = job ? d->streams[tenant].team : d->services[tenant - d->stream_count].team;
    struct record_value v[] = {rec_int(w->opt.run_id),
                               rec_text(sharing_name(w, tenant)),
                               rec_text(job ? "jobs" : "service"),
                               rec_text(team >= 0 ? w->s->quota.teams[team].name : NULL),
                               rec_text(share_isolation_name(c->requires)),
                               rec_text(c->isolation_reason)};
    record_row(&w->opt.sink, &table_tenant, v);
}

static void emit_pair(struct world *w, int32_t pool, int64_t card, const struct share_pair *p)
{
    const struct share_pool_use *u = &w->sharing->pools[pool];
    int64_t per_node = w->s->fleet.pools[pool].cards_per_node, local = card - u->first_card;
    const char *a = sharing_name(w, p->a), *b = sharing_name(w, p->b);
    bool swap = strcmp(a, b) > 0, open = p->open != SIM_NEVER;
    sim_time shared = p->shared + (open ? w->now - p->open : 0);
    struct record_value v[] = {rec_int(w->opt.run_id),
                               rec_text(w->s->fleet.pools[pool].name),
                               rec_int(local / per_node),
                               rec_int(local % per_node),
                               rec_text(share_mechanism_of(u->cards.kind)->name),
                               rec_text(share_isolation_name(sharing_between(u->cards.kind))),
                               rec_text(swap ? b : a),
                               rec_text(swap ? a : b),
                               rec_real(sim_time_seconds(p->from)),
                               rec_real(sim_time_seconds(open ? w->now : p->to)),
                               rec_real(sim_time_seconds(shared)),
                               rec_int(p->times)};
    if (shared > 0) /* else they met within one instant */
        record_row(&w->opt.sink, &table_sharing, v);
}

static void emit_pairs(struct world *w, int32_t pool)
{
    const struct share_pool_use *u = &w->sharing->pools[pool];
    const struct node_pool_config *p = &w->s->fleet.pools[pool];
    int64_t end = u->first_card + (int64_t)p->node_count * p->cards_per_node;
    for (int64_t c = u->first_card; c < end; c++)
        for (int32_t i = w->sharing->places[c].pairs; i >= 0; i = w->sharing->pairs[i].next)
            emit_pair(w, pool, c, &w->sharing->pairs[i]);
}

static double seconds_of(i128 ns)
{
    return i128_card_hours(ns * 1000) * 3600; /* milli-cards */
}

static void emit_pool(struct world *w, int32_t pool)
{
    struct share_pool_use *u = &w->sharing->pools[pool];
    const struct node_pool_config *p = &w->s->fleet.pools[pool];
    bool alone = u->cards.kind == SHARE_WHOLE && u->shared_ns == 0;
    enum share_isolation isolation = alone ? ISOLATION_EXCLUSIVE : sharing_between(u->cards.kind);
    double horizon = sim_time_seconds(w->now);
    struct record_value v[] = {rec_int(w->opt.run_id),
                               rec_text(p->name),
                               rec_text(catalogue_builtin()->cards[p->card].name),
                               rec_text(share_mechanism_of(u->cards.kind)->name),
                               rec_text(share_isolation_name(isolation)),
                               rec_int((int64_t)p->node_count * p->cards_per_node),
                               rec_int(u->peak),
                               rec_real(seconds_of(u->use_ns) / horizon),
                               rec_real(u->use_ns > 0 ? i128_ratio(u->tenants_ns, u->use_ns) : 0),
                               rec_real(seconds_of(u->shared_ns)),
                               rec_int(u->incidents),
                               rec_int(u->victims)};
    record_row(&w->opt.sink, &table_sharing_pool, v);
}

static void emit_figures(struct world *w, const char *kind, const char *scope, int32_t pool)
{
    struct ledger_query q = ledger_query_all(), off = q;
    q.pool = off.pool = pool;
    q.bucket = LEDGER_SHARING_OVERHEAD;
    off.bucket = LEDGER_OFFLINE;
    const struct sharing *sh = w->sharing;
    i128 there = ledger_capacity_integral(w->ledger, pool, LEDGER_ANY) - ledger_sum(w->ledger, off), use = 0;
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        use += pool == LEDGER_ANY || pool == p ? sh->pools[p].use_ns : 0;
    const struct share_pool_use *one = pool == LEDGER_ANY ? NULL : &sh->pools[pool];
    double mean = seconds_of(use) / sim_time_seconds(w->now);
    results_metric(w, kind, scope, "sharing.overhead", there > 0 ? i128_ratio(ledger_sum(w->ledger, q) - gang_lost(w, pool), there) : 0, false);
    results_metric(w, kind, scope, "sharing.incidents", (double)(one != NULL ? one->incidents : sh->incidents), false);
    results_metric(w, kind, scope, "sharing.victims", (double)(one != NULL ? one->victims : sh->victims), false);
    results_metric(w, kind, scope, "sharing.cards_peak", (double)(one != NULL ? one->peak : sh->peak), false);
    results_metric(w, kind, scope, "sharing.cards_mean", mean, false);
}

/* The share asked and the share got, in card-hours, of tenants of pools with a mechanism. */
static void emit_accounts(struct world *w, int32_t tenants)
{
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++) {
        const struct share_pool_use *u = &w->sharing->pools[p];
        int64_t end = u->first_card + (int64_t)w->s->fleet.pools[p].node_count * w->s->fleet.pools[p].cards_per_node;
        for (int64_t c = u->first_card; c < end && u->cards.kind != SHARE_WHOLE; c++)
            sharing_count(w, &w->sharing->places[c]);
    }
    for (int32_t t = 0; t < tenants; t++) {
        const struct share_account *a = &w->sharing->accounts[t];
        if (a->asked == 0)
            continue;
        results_metric(w, "tenant", sharing_name(w, t), "sharing.asked", i128_card_hours(a->asked), false);
        results_metric(w, "tenant", sharing_name(w, t), "sharing.got", i128_card_hours(a->got), false);
        results_metric(w, "tenant", sharing_name(w, t), "sharing.lost", i128_card_hours(a->lost), false);
    }
}

void sharing_emit(struct world *w)
{
    int32_t tenants = w->s->demand.stream_count + w->s->demand.service_count;
    bool rows = w->opt.level != RECORD_LEVEL_SUMMARY && w->opt.replication == 0;
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        sharing_advance(&w->sharing->pools[p], w->now);
    emit_figures(w, "all", "", LEDGER_ANY);
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        emit_figures(w, "node_pool", w->s->fleet.pools[p].name, p);
    emit_accounts(w, tenants);
    instances_emit(w);
    for (int32_t t = 0; rows && t < tenants; t++)
        emit_tenant(w, t);
    for (int32_t p = 0; rows && p < w->s->fleet.pool_count; p++)
        emit_pairs(w, p);
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        emit_pool(w, p);
}
