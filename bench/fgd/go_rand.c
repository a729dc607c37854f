/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/fgd/go_rand.h"

#include <string.h>

#define LENGTH GO_RAND_LENGTH
#define TAP 273
#define FEED0 (LENGTH - TAP)
#define LEHMER 48271
#define MERSENNE INT32_MAX /* 2^31 - 1 */
#define SEED_OF_ZERO 89482311
#define WARM_UP 20
#define TABLE_STEPS UINT64_C(7800000000000)

static int32_t lehmer(int32_t x)
{
    return (int32_t)((int64_t)x * LEHMER % MERSENNE);
}

/* Three numbers of the seeding generator, overlapping: bits from 2*shift, shift and 0 on. */
static uint64_t three(int32_t *x, int shift)
{
    uint64_t u = 0;
    for (int i = 2; i >= 0; i--) {
        *x = lehmer(*x);
        u ^= (uint64_t)*x << (i * shift);
    }
    return u;
}

/* p * q mod x^607 - x^334 - 1, coefficients mod 2^64. out may be p or q. */
static void multiply(uint64_t out[LENGTH], const uint64_t p[LENGTH], const uint64_t q[LENGTH])
{
    uint64_t wide[2 * LENGTH] = {0};
    for (int i = 0; i < LENGTH; i++)
        for (int j = 0; j < LENGTH; j++)
            wide[i + j] += p[i] * q[j];
    for (int i = 2 * LENGTH - 1; i >= LENGTH; i--) {
        wide[i - LENGTH] += wide[i];
        wide[i - TAP] += wide[i];
    }
    memcpy(out, wide, LENGTH * sizeof(*out));
}

static void times_x(uint64_t p[LENGTH])
{
    uint64_t top = p[LENGTH - 1];
    memmove(p + 1, p, (LENGTH - 1) * sizeof(*p));
    p[0] = top;
    p[FEED0] += top;
}

/* Cell of the state that holds number k of the sequence (k may be negative). */
static int cell(int64_t k)
{
    int64_t i = (FEED0 - k) % LENGTH;
    return (int)(i < 0 ? i + LENGTH : i);
}

void go_rand_make_table(struct go_rand_table *t)
{
    uint64_t first[LENGTH]; /* numbers -606..0 of the sequence, as cells */
    int32_t x = 1;
    for (int i = 0; i < WARM_UP; i++)
        x = lehmer(x);
    for (int i = 0; i < LENGTH; i++)
        first[i] = three(&x, 10);
    uint64_t power[LENGTH] = {1};
    for (int bit = 62; bit >= 0; bit--) {
        multiply(power, power, power);
        if ((TABLE_STEPS >> bit & 1) != 0)
            times_x(power);
    }
    for (int64_t k = -(LENGTH - 1); k <= 0; k++) {
        uint64_t sum = 0;
        for (int i = 0; i < LENGTH; i++)
            sum += power[i] * first[cell(i - (LENGTH - 1))];
        t->start[cell((int64_t)TABLE_STEPS + k)] = sum;
        times_x(power);
    }
}

void go_rand_seed(struct go_rand *r, const struct go_rand_table *t, int64_t seed)
{
    seed %= MERSENNE;
    if (seed < 0)
        seed += MERSENNE;
    int32_t x = seed == 0 ? SEED_OF_ZERO : (int32_t)seed;
    r->tap = 0;
    r->feed = FEED0;
    for (int i = 0; i < WARM_UP; i++)
        x = lehmer(x);
    for (int i = 0; i < LENGTH; i++)
        r->state[i] = three(&x, 20) ^ t->start[i];
}

uint64_t go_rand_u64(struct go_rand *r)
{
    r->tap = r->tap == 0 ? LENGTH - 1 : r->tap - 1;
    r->feed = r->feed == 0 ? LENGTH - 1 : r->feed - 1;
    return r->state[r->feed] += r->state[r->tap];
}

uint64_t go_rand_int63(struct go_rand *r)
{
    return go_rand_u64(r) & INT64_MAX;
}

static uint32_t int31(struct go_rand *r)
{
    return (uint32_t)(go_rand_int63(r) >> 32);
}

int32_t go_rand_intn(struct go_rand *r, int32_t n)
{
    uint32_t range = UINT32_C(1) << 31, m = (uint32_t)n;
    if ((m & (m - 1)) == 0)
        return (int32_t)(int31(r) & (m - 1));
    uint32_t most = range - 1 - range % m, v = int31(r);
    while (v > most)
        v = int31(r);
    return (int32_t)(v % m);
}

int32_t go_rand_bounded(struct go_rand *r, int32_t n)
{
    uint32_t m = (uint32_t)n, least = (UINT32_MAX - m + 1) % m;
    uint64_t product;
    do
        product = (go_rand_int63(r) >> 31) * m;
    while ((uint32_t)product < least);
    return (int32_t)(product >> 32);
}

void go_rand_shuffle(struct go_rand *r, int32_t *items, int32_t n)
{
    for (int32_t k = n - 1; k > 0; k--) {
        int32_t j = go_rand_bounded(r, k + 1), held = items[k];
        items[k] = items[j];
        items[j] = held;
    }
}

void go_rand_perm(struct go_rand *r, int32_t *out, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t j = go_rand_intn(r, i + 1);
        out[i] = out[j];
        out[j] = i;
    }
}
