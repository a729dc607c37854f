/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * 128-bit sums of milli-card-nanoseconds. 10,000 cards over 28 days are 2.4e19 card-ns, beyond
 * 64 bits; the database holds an amount as card_s (INTEGER) and rest_mcns (INTEGER < 10^12), where
 * one card-second is 1000 milli-cards x 10^9 ns = 10^12 milli-card-ns.
 */
#ifndef MODELS_LEDGER_I128_H
#define MODELS_LEDGER_I128_H

#include <stdint.h>

__extension__ typedef __int128 i128;

#define I128_MCNS_PER_CARD_S ((int64_t)1000000000000)

struct i128_card_s {
    int64_t card_s;
    int64_t rest_mcns; /* 0 <= rest_mcns < 10^12, also for a negative amount (floor) */
};

/* amount_milli cards over dur_ns, exactly. */
static inline i128 i128_mcns(int64_t amount_milli, int64_t dur_ns)
{
    return (i128)amount_milli * (i128)dur_ns;
}

/* Splits an amount for the database; card_s fits 64 bits below 2.9e11 card-years. */
static inline struct i128_card_s i128_split(i128 mcns)
{
    i128 q = mcns / I128_MCNS_PER_CARD_S;
    i128 r = mcns % I128_MCNS_PER_CARD_S;
    if (r < 0) {
        r += I128_MCNS_PER_CARD_S;
        q -= 1;
    }
    return (struct i128_card_s){.card_s = (int64_t)q, .rest_mcns = (int64_t)r};
}

static inline i128 i128_join(struct i128_card_s s)
{
    return (i128)s.card_s * I128_MCNS_PER_CARD_S + s.rest_mcns;
}

/* Card-hours, for printing and metrics only; one rounding per step. */
static inline double i128_card_hours(i128 mcns)
{
    struct i128_card_s s = i128_split(mcns);
    return ((double)s.card_s + (double)s.rest_mcns / 1e12) / 3600.0;
}

/* a / b as a double; 0 when b is 0. */
static inline double i128_ratio(i128 a, i128 b)
{
    return b == 0 ? 0.0 : (double)a / (double)b;
}

#endif
