/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/theory/formulas.h"

#include <math.h>

double erlang_b(unsigned c, double a)
{
    double b = 1;
    for (unsigned k = 1; k <= c; k++)
        b = a * b / (k + a * b);
    return b;
}

double erlang_c(unsigned c, double a)
{
    double b = erlang_b(c, a);
    return b / (1 - a / c * (1 - b));
}

double mmc_wait_s(double lambda, double mu, unsigned c)
{
    return erlang_c(c, lambda / mu) / (c * mu - lambda);
}

double mmc_wait_quantile_s(double lambda, double mu, unsigned c, double p)
{
    double t = log(erlang_c(c, lambda / mu) / (1 - p)) / (c * mu - lambda);
    return t > 0 ? t : 0;
}

static double mmc_sojourn_above(double lambda, double mu, unsigned c, double t)
{
    double waiting = erlang_c(c, lambda / mu), theta = c * mu - lambda;
    if (fabs(theta - mu) < 1e-12 * mu)
        return exp(-mu * t) * (1 + waiting * mu * t);
    double mixed = (theta * exp(-mu * t) - mu * exp(-theta * t)) / (theta - mu);
    return (1 - waiting) * exp(-mu * t) + waiting * mixed;
}

double mmc_sojourn_quantile_s(double lambda, double mu, unsigned c, double p)
{
    double lo = 0, hi = 1;
    while (mmc_sojourn_above(lambda, mu, c, hi) > 1 - p)
        hi *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (lo + hi);
        if (mmc_sojourn_above(lambda, mu, c, middle) > 1 - p)
            lo = middle;
        else
            hi = middle;
    }
    return hi;
}

double mg1_wait_s(double lambda, double mu, double cs2)
{
    double rho = lambda / mu;
    return rho * (1 + cs2) / (2 * mu * (1 - rho));
}
