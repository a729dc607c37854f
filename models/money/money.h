/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Money in integer micro-USD (uusd). Every product is formed in 128 bits and rounded once, to the
 * nearest, halves up; parts of a sum come from largest remainders, so that they add up to the
 * sum to the last unit. Rules: managed-and-costs section 5.
 */
#ifndef MODELS_MONEY_MONEY_H
#define MODELS_MONEY_MONEY_H

#include <stdbool.h>
#include <stdint.h>

#include "models/ledger/i128.h"
#include "sim/sim_time.h"

/* price per unit and hour * units * time; all >= 0. A result beyond int64 is fatal. */
int64_t money_time_uusd(int64_t price_uusd_per_h, int64_t units, sim_time time);

/* Splits total >= 0 over count weights >= 0 (total * weight below 2^127): out[i] is total *
 * weight / sum by largest remainder, ties to the lower index. When all weights are 0 nothing is
 * given (all out 0) and false is returned: the caller keeps the total in a row of its own. */
bool money_split(int64_t total_uusd, const i128 *weight, int32_t count, int64_t *out);

/* Who pays for what nobody held (OpenCost's vocabulary, 5.3). */
enum showback_rule {
    SHOWBACK_NONE,     /* stays in the __idle__ row */
    SHOWBACK_WEIGHTED, /* in proportion to what the team paid for use */
    SHOWBACK_EVEN,     /* the same for each team */
    SHOWBACK_QUOTA,    /* in proportion to nominal quota: who reserved it pays */
    SHOWBACK_COUNT
};

const char *showback_name(enum showback_rule rule);
/* -1 when the name is unknown. */
int showback_by_name(const char *name);

/* One node pool over one period. Card-time in milli-card-ns; sum of held <= capacity. */
struct showback_pool {
    int64_t cost_uusd;
    i128 capacity;
    const i128 *held;     /* per team */
    const i128 *quota;    /* per team; read by SHOWBACK_QUOTA only */
    int32_t team_count;
};

/* use[t] = cost of the card-time held, idle[t] = the team's part of the rest; what stays in the
 * __idle__ row is returned. sum(use) + sum(idle) + returned = cost_uusd exactly. With a rule whose
 * weights are all 0 everything idle is returned, never lost (opencost PR 883). */
int64_t showback_split(const struct showback_pool *pool, enum showback_rule rule, int64_t *use,
                       int64_t *idle);

/* USD; NaN when there is nothing to divide by. */
double money_per_million_tokens(int64_t uusd, double tokens);
double money_per_useful_card_hour(int64_t uusd, double useful_card_hours);

/* Parts of a node price by Datadog's fixed split for hosts with cards (5.2). */
struct node_price_parts {
    int64_t card_uusd, cpu_uusd, memory_uusd;
};
struct node_price_parts money_node_parts(int64_t node_uusd);

/* Interruptions per hour and instance from a monthly band b, 0 <= b < 1: -ln(1-b) / 730 (4.3). */
double money_spot_hazard_per_h(double monthly_band);

#endif
