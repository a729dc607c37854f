/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/demand/nodes.h"

#include <stdbool.h>

#include "sim/dmath.h"

const double nodes_mass[NODES_COUNT] = {0.2, 0.2, 0.2, 0.15, 0.13, 0.07, 0.035, 0.015};

struct part {
    double from, width; /* of probability */
};

static struct part size_part(int phase, int node)
{
    double from = 0.0, width = nodes_mass[node] / NODES_PHASES;
    for (int i = 0; i < node; i++)
        from += nodes_mass[i];
    return (struct part){from + width * phase, width};
}

/* Chosen by search: no two of the five dimensions correlate by more than 0.1, whether taken as
 * levels, normal, exponential or lognormal variates. */
struct lattice {
    int g, h;
};
static const struct lattice prompt_lattice = {34, 13}, residual_lattice = {29, 22},
                            noise_lattice = {12, 16}, wait_lattice = {32, 16};

static struct part lattice_part(const struct lattice *l, int phase, int node)
{
    int cell = (l->g * phase + l->h * node) % NODES_PHASES;
    double before = 0.0;
    for (int i = 0; i < node; i++)
        before += nodes_mass[i];
    return (struct part){(cell + before) / NODES_PHASES, nodes_mass[node] / NODES_PHASES};
}

/* The unit interval cut by the masses, in an order that turns with the phase: exact means in each. */
static struct part level_part(int phase, int node)
{
    int place = (3 * node + phase) % NODES_COUNT;
    double before = 0.0;
    for (int i = 0; i < NODES_COUNT; i++)
        if ((3 * i + phase) % NODES_COUNT < place)
            before += nodes_mass[i];
    return (struct part){before, nodes_mass[node]};
}

static double mid(struct part p)
{
    return p.from + 0.5 * p.width;
}

static double to_of(struct part p)
{
    double to = p.from + p.width;
    return to < 1.0 - 1e-12 ? to : 1.0;
}

/* Mean over the part of an exponential with mean 1. */
static double exponential_mean(struct part p)
{
    double a = 1.0 - p.from, b = 1.0 - to_of(p);
    double upper = a * (1.0 - dm_log(a));
    double lower = b > 0.0 ? b * (1.0 - dm_log(b)) : 0.0;
    return (upper - lower) / p.width;
}

/* Mean over the part of a lognormal with mean 1: Phi(z - sigma) is the share of the mean. */
static double lognormal_mean(struct part p, double sigma)
{
    if (sigma == 0.0)
        return 1.0;
    double to = to_of(p);
    double upper = to < 1.0 ? dm_norm_cdf(dm_norm_inv(to) - sigma) : 1.0;
    double lower = p.from > 0.0 ? dm_norm_cdf(dm_norm_inv(p.from) - sigma) : 0.0;
    return (upper - lower) / p.width;
}

/* Gamma with mean 1 by Wilson and Hilferty's cube; exponential when cv is 1. */
static double gamma_value(struct part p, double cv)
{
    if (cv == 1.0)
        return exponential_mean(p);
    double spread = cv * cv;
    double x = 1.0 - spread / 9.0 + dm_norm_inv(mid(p)) * cv / 3.0;
    return x > 0.0 ? x * x * x : 0.0;
}

static void scale_to_mean_one(double x[NODES_PHASES][NODES_COUNT])
{
    double mean = 0.0;
    for (int j = 0; j < NODES_PHASES; j++)
        for (int i = 0; i < NODES_COUNT; i++)
            mean += x[j][i] * nodes_mass[i] / NODES_PHASES;
    for (int j = 0; j < NODES_PHASES; j++)
        for (int i = 0; i < NODES_COUNT; i++)
            x[j][i] /= mean;
}

void nodes_init(struct nodes *n, enum nodes_law law, double size_cv, double prompt_cv)
{
    double size_sigma = dm_sqrt(dm_log1p(size_cv * size_cv));
    double prompt_sigma = dm_sqrt(dm_log1p(prompt_cv * prompt_cv));
    for (int j = 0; j < NODES_PHASES; j++) {
        for (int i = 0; i < NODES_COUNT; i++) {
            struct part size = size_part(j, i);
            n->size[j][i] = law == NODES_GAMMA ? gamma_value(size, size_cv)
                                               : lognormal_mean(size, size_sigma);
            n->prompt[j][i] = lognormal_mean(lattice_part(&prompt_lattice, j, i), prompt_sigma);
            n->residual[j][i] = dm_norm_inv(mid(lattice_part(&residual_lattice, j, i)));
            n->noise[j][i] = dm_norm_inv(mid(lattice_part(&noise_lattice, j, i)));
            n->wait[j][i] = exponential_mean(lattice_part(&wait_lattice, j, i));
            n->level[j][i] = mid(level_part(j, i));
        }
    }
    scale_to_mean_one(n->size);
    for (int j = 0; j < NODES_PHASES; j++)
        for (int i = 0; i < NODES_COUNT; i++)
            n->root[j][i] = dm_sqrt(n->size[j][i]);
}

static double wait_of(double unit, double log_p, double scale_s)
{
    double x = unit + log_p;
    return x > 0.0 ? x * scale_s : 0.0;
}

void nodes_times(const struct nodes *n, int phase, int round, const struct station *st,
                 struct nodes_times *out)
{
    bool waits = st->p_wait > 0.0;
    double log_p = waits ? dm_log(st->p_wait) : 0.0;
    const double *size = n->size[phase], *root = n->root[phase];
    const double *wait = n->wait[(phase + round) % NODES_PHASES];
    const double *prompt = n->prompt[(phase + 3 * round) % NODES_PHASES];
    const double *residual = n->residual[(phase + 5 * round) % NODES_PHASES];
    const double *noise = n->noise[(phase + 7 * round) % NODES_PHASES];
    for (int i = 0; i < NODES_COUNT; i++) {
        double x = st->residual_c1 + st->residual_c2 * residual[i];
        double ttft = st->base_s + st->prefill_s * prompt[i];
        ttft += x > 0.0 ? st->residual_s * x * x * x : 0.0;
        if (waits)
            ttft += wait_of(wait[i], log_p, st->wait_scale_s);
        double y = st->decode_c1 + st->decode_c2 * noise[i];
        double pace = y > 0.0 ? y * y * y : 0.0;
        double steps = size[i] + root[i] * (pace - 1.0), least = size[i] * st->decode_least;
        out->ttft_s[i] = ttft;
        out->latency_s[i] = ttft + st->decode_s * (steps > least ? steps : least);
    }
}

double nodes_share_within(const struct nodes *n, int rounds, const struct station *st,
                          double latency_s, double ttft_s)
{
    double within = 0.0;
    for (int k = 0; k < rounds * NODES_PHASES; k++) {
        struct nodes_times t;
        nodes_times(n, k % NODES_PHASES, 9 * (k / NODES_PHASES), st, &t);
        for (int i = 0; i < NODES_COUNT; i++)
            if ((latency_s <= 0.0 || t.latency_s[i] <= latency_s)
                && (ttft_s <= 0.0 || t.ttft_s[i] <= ttft_s))
                within += nodes_mass[i];
    }
    return within / (rounds * NODES_PHASES);
}
