/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/tally.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/arena.h"
#include "sim/check.h"
#include "sim/dmath.h"

void welford_add(struct welford *w, double x)
{
    w->count++;
    double delta = x - w->mean;
    w->mean += delta / (double)w->count;
    w->m2 += delta * (x - w->mean);
    w->min = w->count == 1 || x < w->min ? x : w->min;
    w->max = w->count == 1 || x > w->max ? x : w->max;
}

/* Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm", 1979. */
void welford_merge(struct welford *into, const struct welford *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0) {
        *into = *from;
        return;
    }
    double a = (double)into->count, b = (double)from->count;
    double delta = from->mean - into->mean;
    into->mean += delta * b / (a + b);
    into->m2 += from->m2 + delta * delta * a * b / (a + b);
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
    into->count += from->count;
}

double welford_variance(const struct welford *w)
{
    return w->count < 2 ? 0 : w->m2 / (double)(w->count - 1);
}

void tw_start(struct tw *t, sim_time now, double value)
{
    *t = (struct tw){.since = now, .begun = now, .value = value, .max = value};
}

void tw_set(struct tw *t, sim_time now, double value)
{
    REQUIRE(now >= t->since);
    t->integral_s += t->value * sim_time_seconds(now - t->since);
    t->since = now;
    t->value = value;
    t->max = value > t->max ? value : t->max;
}

double tw_mean(struct tw *t, sim_time now)
{
    REQUIRE(now >= t->since);
    if (now == t->begun)
        return t->value;
    double integral_s = t->integral_s + t->value * sim_time_seconds(now - t->since);
    return integral_s / sim_time_seconds(now - t->begun);
}

/* Bin i is [least * gamma^i, least * gamma^(i+1)), gamma = (1 + alpha) / (1 - alpha). */
void qhist_init(struct qhist *h, double alpha, double least, double most)
{
    REQUIRE(alpha > 0 && alpha < 0.5 && least > 0 && most > least && isfinite(most));
    *h = (struct qhist){.alpha = alpha, .least = least};
    h->log_gamma = dm_log1p(2 * alpha / (1 - alpha));
    h->inv_log_gamma = 1 / h->log_gamma;
    double bins = dm_ceil(dm_log(most / least) * h->inv_log_gamma) + 1;
    REQUIRE(bins < 1e8);
    h->bin_count = (uint32_t)bins;
    h->bins = mem_zalloc(h->bin_count, sizeof *h->bins);
}

void qhist_fini(struct qhist *h)
{
    free(h->bins);
    *h = (struct qhist){0};
}

static double lower_edge(const struct qhist *h, uint32_t i)
{
    return h->least * dm_exp((double)i * h->log_gamma);
}

void qhist_bin_edges(const struct qhist *h, uint32_t i, double *lo, double *hi)
{
    REQUIRE(i < h->bin_count);
    *lo = lower_edge(h, i);
    *hi = lower_edge(h, i + 1);
}

/* value >= least */
static uint32_t bin_of(const struct qhist *h, double value)
{
    double i = dm_log(value / h->least) * h->inv_log_gamma;
    uint32_t last = h->bin_count - 1;
    return i < 0 ? 0 : i >= (double)last ? last : (uint32_t)i;
}

void qhist_add_infinite(struct qhist *h, double mass)
{
    REQUIRE(mass >= 0);
    h->infinite += mass;
    h->total += mass;
}

void qhist_add(struct qhist *h, double value, double mass)
{
    REQUIRE(value >= 0 && mass >= 0);
    if (isinf(value)) {
        qhist_add_infinite(h, mass);
        return;
    }
    if (value < h->least)
        h->zero += mass;
    else
        h->bins[bin_of(h, value)] += mass;
    h->total += mass;
    h->sum += value * mass;
}

/* [lo, hi] with lo >= least: every bin gets its overlap, the last one what is left. */
static void spread(struct qhist *h, double lo, double hi, double mass)
{
    uint32_t first = bin_of(h, lo), last = bin_of(h, hi);
    double density = mass / (hi - lo), from = lo, rest = mass;
    for (uint32_t i = first; i < last; i++) {
        double to = lower_edge(h, i + 1);
        to = to < from ? from : to > hi ? hi : to;
        double part = density * (to - from);
        part = part < rest ? part : rest;
        h->bins[i] += part;
        rest -= part;
        from = to;
    }
    h->bins[last] += rest;
}

void qhist_add_uniform(struct qhist *h, double lo, double hi, double mass)
{
    REQUIRE(lo >= 0 && hi >= lo && isfinite(hi) && mass >= 0);
    if (hi == lo || hi < h->least) {
        qhist_add(h, 0.5 * (lo + hi), mass);
        return;
    }
    h->total += mass;
    h->sum += mass * (0.5 * (lo + hi));
    if (lo < h->least) {
        double below = mass * ((h->least - lo) / (hi - lo));
        h->zero += below;
        mass -= below;
        lo = h->least;
    }
    if (hi > lo)
        spread(h, lo, hi, mass);
    else
        h->bins[0] += mass;
}

void qhist_merge(struct qhist *into, const struct qhist *from)
{
    REQUIRE(into->alpha == from->alpha && into->least == from->least &&
            into->bin_count == from->bin_count);
    for (uint32_t i = 0; i < into->bin_count; i++)
        into->bins[i] += from->bins[i];
    into->zero += from->zero;
    into->infinite += from->infinite;
    into->total += from->total;
    into->sum += from->sum;
}

/* The small allowance keeps p * total on the right side of a whole number of observations. */
double qhist_quantile(const struct qhist *h, double p)
{
    REQUIRE(p > 0 && p <= 1);
    if (!(h->total > 0))
        return DM_NAN;
    double wanted = p * h->total * (1 - 1e-12), cumulative = h->zero;
    if (h->zero > 0 && cumulative >= wanted)
        return 0;
    uint32_t filled = h->bin_count;
    for (uint32_t i = 0; i < h->bin_count; i++) {
        cumulative += h->bins[i];
        filled = h->bins[i] > 0 ? i : filled;
        if (h->bins[i] > 0 && cumulative >= wanted)
            break;
    }
    bool reached = cumulative >= wanted || !(h->infinite > 0);
    if (!reached)
        return DM_INF;
    return filled == h->bin_count ? 0 : lower_edge(h, filled) * (1 + h->alpha);
}

double qhist_share_below(const struct qhist *h, double x)
{
    if (!(h->total > 0))
        return DM_NAN;
    if (x < 0)
        return 0;
    double mass = h->zero;
    if (x >= h->least) {
        uint32_t at = bin_of(h, x);
        for (uint32_t i = 0; i < at; i++)
            mass += h->bins[i];
        double lo = lower_edge(h, at), hi = lower_edge(h, at + 1);
        double inside = (x - lo) / (hi - lo);
        mass += h->bins[at] * (inside < 0 ? 0 : inside > 1 ? 1 : inside);
    }
    return mass / h->total;
}
