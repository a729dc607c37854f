/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ordered set of small integers as a tree of 64-bit words, each word one node with 64 children.
 * Elements stand for nodes or cards; each has a row of free amounts (cpu, memory, ...) in an
 * array of the caller. Every word keeps an upper bound of the amounts below it, so that a search
 * for the first element that fits skips what cannot fit. A bound is raised at once and lowered
 * only when a search found it too high: every useless look is paid for once. Bounds never fall
 * from a word to those above it.
 *
 * Large sets lie in memory, not in the processor's caches: a word and its bounds are neighbours,
 * and a change stops at the first level that it does not alter.
 *
 * Cost: add, remove, rank, select O(64 * levels) at worst; first O(levels) while amounts fit.
 */
#ifndef MODELS_FLEET_FITSET_H
#define MODELS_FLEET_FITSET_H

#include <stdbool.h>
#include <stdint.h>

#define FITSET_LEVELS 6 /* 64^6 elements */

struct fitset {
    int64_t size;           /* elements are 0..size-1 */
    int64_t total;          /* elements present */
    int32_t levels;
    int32_t resources;      /* amounts per row; 0 = everything fits */
    const int64_t *amounts; /* row of element i starts at (i % modulus / divisor) * resources */
    int64_t modulus, divisor;
    bool ranked;            /* rank and select may be asked; costs a number per word */
    int64_t *word[FITSET_LEVELS];  /* per word: its bits, then a bound per resource */
    int32_t *count[FITSET_LEVELS]; /* elements below each word, if ranked */
    int64_t *looks;         /* counts words and elements looked at (for cost tests); not owned */
};

/* Makes the empty set; the caller has set size, resources, amounts, modulus, divisor, ranked and
 * looks, the rest zero. Sizes and divisors below 1 count as 1. */
void fitset_init(struct fitset *s);
void fitset_fini(struct fitset *s);

/* i must be absent (add), present (remove). The amounts of i must be set before add. */
void fitset_add(struct fitset *s, int64_t i);
void fitset_remove(struct fitset *s, int64_t i);

/* Amounts of the present element i have grown. (When they shrink nothing needs to be said.) */
void fitset_raise(struct fitset *s, int64_t i);

/* Lowest present element in lo..hi-1 whose amounts are all >= need, or -1. need: resources values. */
int64_t fitset_first(struct fitset *s, int64_t lo, int64_t hi, const int64_t *need);

/* Highest present element below hi, or -1; amounts are not looked at. */
int64_t fitset_last(const struct fitset *s, int64_t hi);

/* Of a ranked set: number of present elements below i; and the k-th present element (0-based,
 * k < total). */
int64_t fitset_rank(const struct fitset *s, int64_t i);
int64_t fitset_select(const struct fitset *s, int64_t k);

#endif
