/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quadrature over what varies between requests: size, prompt, residual iteration, decode noise,
 * wait. 37 phases of 8 points; a step of the fluid uses one phase, so that it costs 8 points and 37
 * steps make a set of 296 that resolves the tail to about 1 in 2000.
 *
 * The 8 points of a phase have the masses of nodes_mass (finer towards the tail). `size` runs
 * through its quantiles in their order: point i, phase j stands for the part [j/37, (j+1)/37) of
 * stratum i. Every other dimension is cut into 37 cells of equal probability, chosen by a rank-1
 * lattice ((g j + h i) mod 37), each cut again by the masses; so every
 * dimension sees each of its 296 parts once, with the right mass, and dimensions are paired
 * evenly. Values are means over the part where a closed form exists, so means are exact.
 */
#ifndef MODELS_DEMAND_NODES_H
#define MODELS_DEMAND_NODES_H

#include "models/demand/station.h"

#define NODES_COUNT 8
#define NODES_PHASES 37

enum nodes_law { NODES_LOGNORMAL, NODES_GAMMA };

struct nodes {
    double size[NODES_PHASES][NODES_COUNT];     /* mean 1 */
    double root[NODES_PHASES][NODES_COUNT];     /* square root of size */
    double prompt[NODES_PHASES][NODES_COUNT];   /* mean 1, lognormal */
    double residual[NODES_PHASES][NODES_COUNT]; /* standard normal */
    double noise[NODES_PHASES][NODES_COUNT];    /* standard normal */
    double wait[NODES_PHASES][NODES_COUNT];     /* exponential, mean 1 */
    double level[NODES_PHASES][NODES_COUNT];    /* uniform, cut by the masses in each phase */
};

/* Masses of the points of one phase; they sum to 1. */
extern const double nodes_mass[NODES_COUNT];

/* size: law with mean 1 and CV size_cv; prompt: lognormal with mean 1 and CV prompt_cv. */
void nodes_init(struct nodes *n, enum nodes_law law, double size_cv, double prompt_cv);

/* Latencies and TTFT of the points of one phase in this state, with the state's own waits. Means
 * over all phases are those of the state. round (0..36) shifts the dimensions against each other,
 * so that going through the phases again meets other combinations. */
struct nodes_times {
    double ttft_s[NODES_COUNT], latency_s[NODES_COUNT];
};
void nodes_times(const struct nodes *n, int phase, int round, const struct station *st,
                 struct nodes_times *out);

/* Share of requests with latency <= latency_s and TTFT <= ttft_s (targets of 0 do not count), over
 * all phases of this many rounds (1..4), 296 points each. */
double nodes_share_within(const struct nodes *n, int rounds, const struct station *st,
                          double latency_s, double ttft_s);

#endif
