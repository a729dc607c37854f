/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Money of one run: every node hour of the fleet, and the engineers the arbiter needs. Teams pay
 * for the cards they held; idle is shared in proportion to that (OpenCost's `weighted`), pool by
 * pool. Every arbiter pays the same fleet: differences come from what was done with it.
 */
#include <math.h>

#include "models/world/tables.h"
#include "models/world/world_priv.h"

static double pool_usd(const struct world *w, int32_t p)
{
    const struct node_pool_config *c = &w->s->fleet.pools[p];
    double hours = sim_time_seconds(w->s->horizon) / 3600.0;
    return (double)c->price_uusd_per_node_h / 1e6 * c->node_count * hours * w->arb->price_factor;
}

static i128 held(const struct world *w, int32_t pool, int32_t team, int32_t cls)
{
    i128 sum = 0;
    for (int b = LEDGER_FIRST_BOOKED; b < LEDGER_BUCKET_COUNT; b++) {
        struct ledger_query q = {.pool = pool, .team = team, .workload_class = cls, .bucket = b,
                                 .period = LEDGER_ANY};
        sum += ledger_sum(w->ledger, q);
    }
    return sum;
}

static void emit_cost(struct world *w, int32_t pool, const char *team, const char *item, double usd)
{
    static const char *const purchases[] = {"on_demand", "reserved", "spot", "owned"};
    const struct node_pool_config *c = pool >= 0 ? &w->s->fleet.pools[pool] : NULL;
    struct record_value v[] = {rec_int(w->opt.run_id),
                               rec_text(c != NULL ? c->name : NULL),
                               rec_text(c != NULL ? purchases[c->purchase] : NULL),
                               rec_text(team),
                               rec_text(item),
                               rec_int((int64_t)(usd * 1e6 + 0.5))};
    record_row(&w->opt.sink, &table_cost, v);
}

static void metric(struct world *w, const char *name, double value)
{
    results_metric(w, "all", "", name, value, false);
}

/* Simple services have no tokens: only the part of the inference cards that LLMs had counts. */
static double llm_part(const struct world *w, int32_t pool)
{
    double llm = 0, all = 0;
    for (int32_t k = 0; k < w->s->demand.service_count; k++) {
        double card_s = w->services[k].ready_card_s[pool];
        all += card_s;
        llm += w->services[k].cfg->kind == SERVICE_LLM ? card_s : 0;
    }
    return all > 0 ? llm / all : 0;
}

/* Books what each team pays; returns the cost of the cards that served tokens. */
static double emit_team_costs(struct world *w)
{
    double inference = 0;
    for (int32_t t = 0; t < w->s->quota.team_count; t++) {
        double usd = 0;
        for (int32_t p = 0; p < w->s->fleet.pool_count; p++) {
            i128 all = held(w, p, LEDGER_ANY, LEDGER_ANY);
            double part = i128_ratio(held(w, p, t, LEDGER_ANY), all) * pool_usd(w, p);
            if (part > 0)
                emit_cost(w, p, w->s->quota.teams[t].name, "cards", part);
            usd += part;
        }
        results_metric(w, "team", w->s->quota.teams[t].name, "cost.total", usd, false);
    }
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        inference += i128_ratio(held(w, p, LEDGER_ANY, LEDGER_CLASS_INFERENCE),
                                held(w, p, LEDGER_ANY, LEDGER_ANY)) *
                     pool_usd(w, p) * llm_part(w, p);
    return inference;
}

void cost_emit(struct world *w)
{
    double total = 0;
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++) {
        double usd = pool_usd(w, p);
        total += usd;
        emit_cost(w, p, NULL, "nodes", usd);
    }
    double years = sim_time_seconds(w->s->horizon) / (365.0 * 86400.0);
    double engineers = w->arb->engineers * (double)w->s->money.engineer_uusd_per_year / 1e6 * years;
    emit_cost(w, -1, NULL, "engineers", engineers);
    double inference = emit_team_costs(w);
    double tokens = 0;
    for (int32_t k = 0; k < w->s->demand.service_count; k++)
        if (w->services[k].cfg->kind == SERVICE_LLM)
            tokens += w->services[k].fluid.tokens_in + w->services[k].fluid.tokens_out;
    i128 useful = ledger_group_sum(w->ledger, LEDGER_ANY, LEDGER_COMPUTING);
    struct ledger_query q = ledger_query_all();
    q.bucket = LEDGER_TRAINING_REWORK;
    useful -= ledger_sum(w->ledger, q);
    q.bucket = LEDGER_SHARING_OVERHEAD;
    useful -= ledger_sum(w->ledger, q);
    double hours = i128_card_hours(useful);
    metric(w, "cost.total", total + engineers);
    metric(w, "cost.per_million_tokens", tokens > 0 ? inference / (tokens / 1e6) : (double)NAN);
    metric(w, "cost.per_useful_card_hour", hours > 0 ? (total + engineers) / hours : (double)NAN);
}
