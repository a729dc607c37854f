/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a better utilisation is worth, and from how many cards an option pays for its people
 * (managed-and-costs 5.2 and 5.5). Doubles: nothing here is booked. A year has 8760 hours.
 */
#ifndef MODELS_MONEY_BREAK_EVEN_H
#define MODELS_MONEY_BREAK_EVEN_H

/* Utilisation u1 -> u2 of `cards` cards, 0 < u1 <= u2 <= 1: different questions, print all. */
struct break_even {
    double work_multiplier;   /* u2 / u1 */
    double cards_gained;      /* useful cards: N (u2 - u1) */
    double cards_returnable;  /* for the same work: N (1 - u1 / u2) */
    double cards_not_bought;  /* for the extra work at u1: N (u2 / u1 - 1) */
    double value_usd_per_year; /* of the cards gained: capacity value, not savings */
};

struct break_even break_even(double cards, double u1, double u2, double card_usd_per_h);

/* A way to run the fleet, against the present one. */
struct break_even_option {
    double gain;        /* utilisation above the present one, u2 - u1 */
    double uplift;      /* price premium on the whole fleet bill, 0.15 = 15 % */
    double engineers;   /* persons */
};

/* Cards from which gain - uplift pays for the option's engineers; infinity when it never does. */
double break_even_cards(const struct break_even_option *o, double card_usd_per_h,
                        double engineer_usd_per_year);

/* Cards above which a is worth more than b (a has the larger net gain and more engineers);
 * infinity when a never wins. */
double break_even_crossover(const struct break_even_option *a, const struct break_even_option *b,
                            double card_usd_per_h, double engineer_usd_per_year);

/* Tokens per second and card, averaged over all paid hours, at which an own card costs as much as
 * the API's price per million tokens. Divide by utilisation for the busy-time figure. */
double break_even_tokens_per_s(double card_usd_per_h, double api_usd_per_million);

#endif
