/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Money of one run in integer micro-USD: every node hour of the fleet at its price, and the
 * engineers that the arbiter needs. Who pays: a team pays for the card-time it held, whatever it
 * did with it; idle card-time is shared `weighted`, in proportion to what each paid for use, node
 * pool by node pool (models/money: showback_split). So per pool and in all
 *
 *   sum of team rows (items `use` and `idle`) = row `nodes`, to the micro-USD
 *
 * where two names of OpenCost stand for nobody: `__unallocated__` held cards without a team, and
 * `__idle__` pays for a pool in which nobody held anything. Engineers are not split.
 */
#include <stdlib.h>

#include "models/money/money.h"
#include "models/world/tables.h"
#include "models/world/world_managed.h"
#include "models/world/world_priv.h"
#include "sim/check.h"

#define YEAR (365 * SIM_DAY)

static int64_t rounded(double x)
{
    return (int64_t)(x + 0.5);
}

static int64_t pool_uusd(const struct world *w, int32_t p)
{
    const struct node_pool_config *c = &w->s->fleet.pools[p];
    int64_t price = rounded((double)c->price_uusd_per_node_h * w->arb->price_factor);
    return money_time_uusd(price, c->node_count, w->s->horizon);
}

int64_t cost_engineers_uusd(const struct scenario *s, const struct arbiter_config *arb)
{
    i128 milli = (i128)rounded(arb->engineers * 1000.0) * s->money.engineer_uusd_per_year;
    return (int64_t)((milli * s->horizon / 1000 + YEAR / 2) / YEAR);
}

/* Card-time of a team's workloads in a pool, in whatever allocated state. */
static i128 held(const struct world *w, int32_t pool, int32_t team)
{
    i128 sum = 0;
    for (int b = LEDGER_FIRST_BOOKED; b < LEDGER_BUCKET_COUNT; b++) {
        struct ledger_query q = {.pool = pool, .team = team, .workload_class = LEDGER_ANY,
                                 .bucket = b, .period = LEDGER_ANY};
        sum += ledger_sum(w->ledger, q);
    }
    return sum;
}

static void emit_cost(struct world *w, int32_t pool, const char *team, const char *item, int64_t uusd)
{
    static const char *const purchases[] = {"on_demand", "reserved", "spot", "owned"};
    const struct node_pool_config *c = pool >= 0 ? &w->s->fleet.pools[pool] : NULL;
    struct record_value v[] = {rec_int(w->opt.run_id),
                               rec_text(c != NULL ? c->name : NULL),
                               rec_text(c != NULL ? purchases[c->purchase] : NULL),
                               rec_text(team),
                               rec_text(item),
                               rec_int(uusd)};
    record_row(&w->opt.sink, &table_cost, v);
}

static void metric(struct world *w, const char *name, double value)
{
    results_metric(w, "all", "", name, value, false);
}

/* ---- who pays ---- */

struct shares { /* the last of `count` entries are the cards held without a team */
    int32_t count;
    i128 *held;
    int64_t *use, *idle, *total;
};

static const char *payer(const struct world *w, int32_t t)
{
    return t < w->s->quota.team_count ? w->s->quota.teams[t].name : "__unallocated__";
}

static void split_pool(struct world *w, int32_t p, struct shares *sh)
{
    for (int32_t t = 0; t < sh->count; t++)
        sh->held[t] = held(w, p, t < w->s->quota.team_count ? t : LEDGER_NO_TEAM);
    struct showback_pool pool = {.cost_uusd = pool_uusd(w, p),
                                 .capacity = ledger_capacity_integral(w->ledger, p, LEDGER_ANY),
                                 .held = sh->held,
                                 .team_count = sh->count};
    int64_t rest = showback_split(&pool, SHOWBACK_WEIGHTED, sh->use, sh->idle), sum = rest;
    for (int32_t t = 0; t < sh->count; t++) {
        sum += sh->use[t] + sh->idle[t];
        sh->total[t] += sh->use[t] + sh->idle[t];
        if (sh->use[t] > 0)
            emit_cost(w, p, payer(w, t), "use", sh->use[t]);
        if (sh->idle[t] > 0)
            emit_cost(w, p, payer(w, t), "idle", sh->idle[t]);
    }
    if (rest > 0)
        emit_cost(w, p, "__idle__", "idle", rest);
    REQUIRE(sum == pool.cost_uusd);
    emit_cost(w, p, NULL, "nodes", pool.cost_uusd);
}

static void emit_teams(struct world *w)
{
    size_t n = (size_t)w->s->quota.team_count + 1;
    struct shares sh = {.count = (int32_t)n,
                        .held = mem_alloc(n, sizeof *sh.held),
                        .use = mem_alloc(n, sizeof *sh.use),
                        .idle = mem_alloc(n, sizeof *sh.idle),
                        .total = mem_zalloc(n, sizeof *sh.total)};
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        split_pool(w, p, &sh);
    for (int32_t t = 0; t < w->s->quota.team_count; t++)
        results_metric(w, "team", payer(w, t), "cost.total", (double)sh.total[t] / 1e6, false);
    free(sh.held);
    free(sh.use);
    free(sh.idle);
    free(sh.total);
}

/* What the cards of LLM services cost, idle shared by the same rule: of the cost of a pool, their
 * part of the card-time that anybody held. */
static int64_t llm_uusd(const struct world *w)
{
    int64_t sum = 0, part[2];
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++) {
        i128 all = held(w, p, LEDGER_ANY);
        i128 weight[2] = {w->llm_held[p], all - w->llm_held[p]};
        if (money_split(pool_uusd(w, p), weight, 2, part))
            sum += part[0];
    }
    return sum;
}

void cost_emit(struct world *w)
{
    int64_t nodes = 0, engineers = cost_engineers_uusd(w->s, w->arb);
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        nodes += pool_uusd(w, p);
    emit_teams(w);
    emit_cost(w, -1, NULL, "engineers", engineers);
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
    metric(w, "cost.nodes", (double)nodes / 1e6);
    metric(w, "cost.engineers", (double)engineers / 1e6);
    metric(w, "cost.total", (double)(nodes + engineers) / 1e6);
    metric(w, "cost.per_million_tokens", money_per_million_tokens(llm_uusd(w), tokens));
    metric(w, "cost.per_useful_card_hour",
           money_per_useful_card_hour(nodes + engineers, i128_card_hours(useful)));
}
