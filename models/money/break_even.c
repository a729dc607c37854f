/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/money/break_even.h"

#include <math.h>

#include "sim/check.h"

#define HOURS_PER_YEAR 8760.0

struct break_even break_even(double cards, double u1, double u2, double card_usd_per_h)
{
    REQUIRE(cards >= 0 && u1 > 0 && u2 > 0);
    return (struct break_even){
        .work_multiplier = u2 / u1,
        .cards_gained = cards * (u2 - u1),
        .cards_returnable = cards * (1 - u1 / u2),
        .cards_not_bought = cards * (u2 / u1 - 1),
        .value_usd_per_year = cards * (u2 - u1) * card_usd_per_h * HOURS_PER_YEAR,
    };
}

double break_even_cards(const struct break_even_option *o, double card_usd_per_h,
                        double engineer_usd_per_year)
{
    double per_card = (o->gain - o->uplift) * card_usd_per_h * HOURS_PER_YEAR;
    return per_card > 0 ? o->engineers * engineer_usd_per_year / per_card : (double)INFINITY;
}

double break_even_crossover(const struct break_even_option *a, const struct break_even_option *b,
                            double card_usd_per_h, double engineer_usd_per_year)
{
    struct break_even_option extra = {.gain = a->gain - b->gain,
                                      .uplift = a->uplift - b->uplift,
                                      .engineers = a->engineers - b->engineers};
    return break_even_cards(&extra, card_usd_per_h, engineer_usd_per_year);
}

double break_even_tokens_per_s(double card_usd_per_h, double api_usd_per_million)
{
    REQUIRE(api_usd_per_million > 0);
    return card_usd_per_h / api_usd_per_million * 1e6 / 3600;
}
