/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stream of Go's math/rand (version 1.19), which the published FGD experiment used for its
 * order of pods and nodes: x[k] = x[k-607] + x[k-273] mod 2^64, seeded by the generator 48271 mod
 * 2^31-1 and a table that is the state of such a sequence after 7.8e12 steps. The table is
 * computed here, by raising x to that power modulo x^607 - x^334 - 1.
 */
#ifndef BENCH_FGD_GO_RAND_H
#define BENCH_FGD_GO_RAND_H

#include <stdint.h>

#define GO_RAND_LENGTH 607

struct go_rand_table {
    uint64_t start[GO_RAND_LENGTH];
};

struct go_rand {
    int tap, feed;
    uint64_t state[GO_RAND_LENGTH];
};

/* About 20 ms; once for any number of seeds. */
void go_rand_make_table(struct go_rand_table *t);

void go_rand_seed(struct go_rand *r, const struct go_rand_table *t, int64_t seed);
uint64_t go_rand_u64(struct go_rand *r);
uint64_t go_rand_int63(struct go_rand *r);
/* Uniform in 0..n-1, 1 <= n < 2^31: by remainder with rejection (Intn). */
int32_t go_rand_intn(struct go_rand *r, int32_t n);
/* The same by multiplication, another sequence (as Shuffle draws). */
int32_t go_rand_bounded(struct go_rand *r, int32_t n);
/* Swaps as Shuffle does; the caller's items are n int32. */
void go_rand_shuffle(struct go_rand *r, int32_t *items, int32_t n);
void go_rand_perm(struct go_rand *r, int32_t *out, int32_t n);

#endif
