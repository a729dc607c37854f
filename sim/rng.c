/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/rng.h"

#include <Random123/philox.h>

#include "sim/check.h"
#include "sim/dmath.h"

enum { BLOCK_DRAWS = 4 };
__extension__ typedef unsigned __int128 wide;

uint64_t rng_hash(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline void philox(const uint64_t counter[4], const uint64_t key[2], uint64_t out[4])
{
    philox4x64_ctr_t c = {{counter[0], counter[1], counter[2], counter[3]}};
    philox4x64_key_t k = {{key[0], key[1]}};
    philox4x64_ctr_t r = philox4x64_R(10, c, k);
    for (int i = 0; i < BLOCK_DRAWS; i++)
        out[i] = r.v[i];
}

void rng_philox(const uint64_t counter[4], const uint64_t key[2], uint64_t out[4])
{
    philox(counter, key, out);
}

/* Both words are hashes and the pair is one-to-one in (seed, replication): no two runs share it. */
void rng_open(struct rng *r, uint64_t seed, uint32_t replication, uint32_t purpose,
              uint64_t entity)
{
    r->key[0] = rng_hash(seed);
    r->key[1] = rng_hash(r->key[0] + replication);
    r->counter[0] = 0;
    r->counter[1] = entity;
    r->counter[2] = purpose;
    r->counter[3] = 0;
    r->used = BLOCK_DRAWS;
}

void rng_seek(struct rng *r, uint64_t index)
{
    r->counter[0] = index;
    r->used = BLOCK_DRAWS;
}

static inline uint64_t next_u64(struct rng *r)
{
    if (r->used == BLOCK_DRAWS) {
        philox(r->counter, r->key, r->block);
        r->counter[0]++;
        r->used = 0;
    }
    return r->block[r->used++];
}

/* An odd multiple of 2^-53: never 0 or 1, and symmetric about one half. */
static inline double unit_of(uint64_t bits)
{
    return (double)(int64_t)(bits >> 11 | 1) * 0x1p-53;
}

static inline double next_unit(struct rng *r)
{
    return unit_of(next_u64(r));
}

uint64_t rng_u64(struct rng *r)
{
    return next_u64(r);
}

double rng_unit(struct rng *r)
{
    return next_unit(r);
}

/* Lemire, "Fast random integer generation in an interval", TOMACS 29(1), 2019. */
uint64_t rng_below(struct rng *r, uint64_t n)
{
    REQUIRE(n >= 1);
    wide product = (wide)next_u64(r) * n;
    if ((uint64_t)product < n) {
        uint64_t threshold = (0 - n) % n;
        while ((uint64_t)product < threshold)
            product = (wide)next_u64(r) * n;
    }
    return (uint64_t)(product >> 64);
}

double rng_exp(struct rng *r, double mean)
{
    return -mean * dm_log(next_unit(r));
}

/* Whole blocks at once: they do not depend on each other, so the processor overlaps them. */
void rng_exp_fill(struct rng *r, double mean, double *out, size_t count)
{
    size_t i = 0;
    for (; i < count && r->used != BLOCK_DRAWS; i++)
        out[i] = rng_exp(r, mean);
    for (; i + BLOCK_DRAWS <= count; i += BLOCK_DRAWS) {
        uint64_t block[BLOCK_DRAWS];
        philox(r->counter, r->key, block);
        r->counter[0]++;
        for (size_t j = 0; j < BLOCK_DRAWS; j++)
            out[i + j] = -mean * dm_log(unit_of(block[j]));
    }
    for (; i < count; i++)
        out[i] = rng_exp(r, mean);
}

double rng_normal(struct rng *r)
{
    return dm_norm_inv(next_unit(r));
}

double rng_lognormal(struct rng *r, double mu, double sigma)
{
    return dm_exp(mu + sigma * rng_normal(r));
}

/* Marsaglia and Tsang, "A simple method for generating gamma variables", TOMS 26(3), 2000. */
static double gamma_at_least_one(struct rng *r, double shape)
{
    double d = shape - 1.0 / 3.0, c = 1.0 / dm_sqrt(9.0 * d);
    for (;;) {
        double x = rng_normal(r);
        double v = 1.0 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        double u = next_unit(r);
        if (u < 1.0 - 0.0331 * (x * x) * (x * x))
            return d * v;
        if (dm_log(u) < 0.5 * x * x + d * (1.0 - v + dm_log(v)))
            return d * v;
    }
}

double rng_gamma(struct rng *r, double shape, double scale)
{
    REQUIRE(shape > 0);
    if (shape >= 1)
        return scale * gamma_at_least_one(r, shape);
    double g = gamma_at_least_one(r, shape + 1);
    return scale * g * dm_pow(next_unit(r), 1.0 / shape);
}

double rng_weibull(struct rng *r, double shape, double scale)
{
    REQUIRE(shape > 0);
    return scale * dm_pow(-dm_log(next_unit(r)), 1.0 / shape);
}

double rng_pareto(struct rng *r, double shape, double minimum)
{
    REQUIRE(shape > 0);
    return minimum * dm_pow(next_unit(r), -1.0 / shape);
}

static uint64_t poisson_small(struct rng *r, double mean)
{
    double u = next_unit(r), p = dm_exp(-mean), cumulative = p;
    uint64_t k = 0;
    while (u > cumulative && p > 0) {
        k++;
        p *= mean / (double)k;
        cumulative += p;
    }
    return k;
}

/* Hoermann, "The transformed rejection method for generating Poisson random variables" (PTRS),
 * Insurance: Mathematics and Economics 12, 1993. For mean >= 10. */
static uint64_t poisson_large(struct rng *r, double mean)
{
    double b = 0.931 + 2.53 * dm_sqrt(mean), a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6224 / (b - 2);
    double log_mean = dm_log(mean);
    for (;;) {
        double u = next_unit(r) - 0.5, v = next_unit(r);
        double us = 0.5 - (u < 0 ? -u : u);
        double k = dm_floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= quick)
            return (uint64_t)k;
        if (k < 0 || (us < 0.013 && v > us))
            continue;
        double left = dm_log(v * inverse_alpha / (a / (us * us) + b));
        if (left <= k * log_mean - mean - dm_lgamma(k + 1))
            return (uint64_t)k;
    }
}

uint64_t rng_poisson(struct rng *r, double mean)
{
    REQUIRE(mean >= 0 && mean < 1e15);
    return mean < 10 ? poisson_small(r, mean) : poisson_large(r, mean);
}

uint32_t rng_pick(struct rng *r, const double *weight, uint32_t count)
{
    double sum = 0;
    uint32_t last = count;
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE(weight[i] >= 0);
        sum += weight[i];
        last = weight[i] > 0 ? i : last;
    }
    REQUIRE(sum > 0);
    double rest = next_unit(r) * sum;
    for (uint32_t i = 0; i < last; i++) {
        if (rest < weight[i])
            return i;
        rest -= weight[i];
    }
    return last; /* also when rounding used up the sum */
}
