/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/money/money.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/fleet/catalogue.h"
#include "sim/arena.h"
#include "sim/check.h"
#include "sim/dmath.h"

#define HOURS_PER_MONTH 730 /* the Advisor's bands are monthly (managed-and-costs 4.3) */

int64_t money_time_uusd(int64_t price_uusd_per_h, int64_t units, sim_time time)
{
    REQUIRE(price_uusd_per_h >= 0 && units >= 0 && time >= 0);
    i128 unit_price = (i128)price_uusd_per_h * units;
    REQUIRE(unit_price <= INT64_MAX);
    i128 uusd = (unit_price * time + SIM_HOUR / 2) / SIM_HOUR;
    REQUIRE(uusd <= INT64_MAX);
    return (int64_t)uusd;
}

struct remainder {
    i128 rest;
    int32_t index;
};

static int larger_rest_first(const void *a, const void *b)
{
    const struct remainder *x = a, *y = b;
    if (x->rest != y->rest)
        return x->rest > y->rest ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

bool money_split(int64_t total_uusd, const i128 *weight, int32_t count, int64_t *out)
{
    REQUIRE(total_uusd >= 0);
    i128 sum = 0;
    for (int32_t i = 0; i < count; i++) {
        REQUIRE(weight[i] >= 0);
        sum += weight[i];
        out[i] = 0;
    }
    if (sum == 0)
        return false;
    struct remainder *rest = mem_alloc((size_t)count, sizeof(*rest));
    int64_t given = 0;
    for (int32_t i = 0; i < count; i++) {
        i128 product = weight[i] * total_uusd;
        out[i] = (int64_t)(product / sum);
        rest[i] = (struct remainder){product % sum, i};
        given += out[i];
    }
    qsort(rest, (size_t)count, sizeof(*rest), larger_rest_first);
    for (int32_t i = 0; given < total_uusd; i++, given++)
        out[rest[i].index]++;
    free(rest);
    return true;
}

static const char *const rule_names[SHOWBACK_COUNT] = {"none", "weighted", "even", "quota"};

const char *showback_name(enum showback_rule rule)
{
    REQUIRE((unsigned)rule < SHOWBACK_COUNT);
    return rule_names[rule];
}

int showback_by_name(const char *name)
{
    for (int i = 0; i < SHOWBACK_COUNT; i++)
        if (strcmp(rule_names[i], name) == 0)
            return i;
    return -1;
}

static i128 idle_weight(const struct showback_pool *pool, enum showback_rule rule, int32_t team,
                        const int64_t *use)
{
    switch (rule) {
    case SHOWBACK_WEIGHTED:
        return use[team];
    case SHOWBACK_EVEN:
        return 1;
    case SHOWBACK_QUOTA:
        return pool->quota[team];
    case SHOWBACK_NONE:
    case SHOWBACK_COUNT:
        break;
    }
    return 0;
}

int64_t showback_split(const struct showback_pool *pool, enum showback_rule rule, int64_t *use,
                       int64_t *idle)
{
    size_t teams = (size_t)pool->team_count;
    i128 *weight = mem_alloc(teams + 1, sizeof(*weight));
    int64_t *part = mem_alloc(teams + 1, sizeof(*part));
    i128 rest = pool->capacity;
    for (size_t t = 0; t < teams; t++) {
        weight[t] = pool->held[t];
        rest -= pool->held[t];
    }
    REQUIRE(rest >= 0); /* shares of a card never exceed it (kubecost#1978) */
    weight[teams] = rest;
    int64_t idle_uusd = pool->cost_uusd; /* a pool without capacity is all idle */
    memset(use, 0, teams * sizeof(*use));
    if (money_split(pool->cost_uusd, weight, pool->team_count + 1, part)) {
        memcpy(use, part, teams * sizeof(*use));
        idle_uusd = part[teams];
    }
    for (int32_t t = 0; t < pool->team_count; t++)
        weight[t] = idle_weight(pool, rule, t, use);
    if (money_split(idle_uusd, weight, pool->team_count, idle))
        idle_uusd = 0;
    free(weight);
    free(part);
    return idle_uusd;
}

double money_per_million_tokens(int64_t uusd, double tokens)
{
    return tokens > 0 ? (double)uusd / tokens : (double)NAN; /* micro and million cancel */
}

double money_per_useful_card_hour(int64_t uusd, double useful_card_hours)
{
    return useful_card_hours > 0 ? (double)uusd / 1e6 / useful_card_hours : (double)NAN;
}

struct node_price_parts money_node_parts(int64_t node_uusd)
{
    static const char *const part[3] = {"gpu", "cpu", "memory"};
    i128 weight[3];
    int64_t out[3];
    for (int i = 0; i < 3; i++)
        weight[i] = (i128)(catalogue_value(catalogue_builtin(), "node_split", "default", part[i]) *
                               1e6 +
                           0.5);
    money_split(node_uusd, weight, 3, out);
    return (struct node_price_parts){out[0], out[1], out[2]};
}

double money_spot_hazard_per_h(double monthly_band)
{
    REQUIRE(monthly_band >= 0 && monthly_band < 1);
    return -dm_log(1 - monthly_band) / HOURS_PER_MONTH;
}
