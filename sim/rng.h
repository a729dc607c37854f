/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counter-based random streams: Philox4x64-10 (Salmon et al., SC'11; Random123). One stream per
 * (seed, replication, purpose, entity): key = hash(seed, replication), counter = (draw block,
 * entity, purpose, 0). Streams cannot overlap, and any draw can be computed without the others,
 * so the same job gets the same numbers under every arbiter (common random numbers).
 *
 * Variates use sim/dmath only; results are identical on every x86-64 compiler and flag.
 */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t key[2];
    uint64_t counter[4];
    uint64_t block[4];
    uint32_t used; /* numbers of the block already handed out; 4 = none left */
};

/* Opens a stream at its first draw. purpose is one value of an enum of the caller, entity a
 * stable id that does not depend on the arbiter. */
void rng_open(struct rng *r, uint64_t seed, uint32_t replication, uint32_t purpose,
              uint64_t entity);

/* Opens the stream at 256-bit block `index` (4 draws a block): random access. */
void rng_seek(struct rng *r, uint64_t index);

uint64_t rng_u64(struct rng *r);
double rng_unit(struct rng *r);                          /* uniform in (0, 1), 53 bits */
uint64_t rng_below(struct rng *r, uint64_t n);           /* uniform in 0..n-1, n >= 1, unbiased */
double rng_exp(struct rng *r, double mean);              /* inversion */
/* The next count variates that rng_exp would give, in order; about twice as fast. */
void rng_exp_fill(struct rng *r, double mean, double *out, size_t count);
double rng_normal(struct rng *r);                        /* inversion */
double rng_lognormal(struct rng *r, double mu, double sigma);
double rng_gamma(struct rng *r, double shape, double scale); /* Marsaglia-Tsang 2000 */
double rng_weibull(struct rng *r, double shape, double scale);
double rng_pareto(struct rng *r, double shape, double minimum);
uint64_t rng_poisson(struct rng *r, double mean);
/* Index drawn with probability weight[i] / sum; weights >= 0, sum > 0. */
uint32_t rng_pick(struct rng *r, const double *weight, uint32_t count);

/* 64-bit mix used for seeds and ids (splitmix64 finaliser). */
uint64_t rng_hash(uint64_t x);
/* One Philox4x64-10 block, for known-answer tests. */
void rng_philox(const uint64_t counter[4], const uint64_t key[2], uint64_t out[4]);

#endif
