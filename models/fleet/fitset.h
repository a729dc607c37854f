/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ordered set of small integers as a tree of 64-bit words, each word one node with 64 children.
 * Elements stand for nodes or cards; each has a row of free amounts (cpu, memory, ...) in an
 * array of the caller. Every word keeps an upper bound of the amounts below it, so that a search
 * for the first element that fits skips what cannot fit. A bound is raised at once and lowered
 * only when a search found it too high. Bounds of several amounts can be true and yet nothing fit
 * (much cpu here, much memory there): a word also keeps what was last sought in vain. A useless look
 * is paid for once. Bounds never fall from a word to those above it.
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
#define FITSET_RESOURCES 10

struct fitset {
    int64_t size;           /* elements are 0..size-1 */
    int64_t total;          /* elements present, with their copies */
    int32_t levels;
    int32_t resources;      /* amounts per row; 0 = everything fits */
    const int64_t *amounts; /* row of element i starts at (i % modulus / divisor) * resources */
    int64_t modulus, divisor;
    const int64_t *usual;   /* a row of the size that rows have, or NULL; only fitset_init reads it */
    int32_t shift[2];       /* makes the first two amounts comparable */
    bool ranked;            /* rank and select may be asked; costs a number per word */
    int64_t *word[FITSET_LEVELS];  /* per word: its bits, number of lacks, a bound per resource */
    int64_t *lacks[FITSET_LEVELS]; /* per word: what searches sought in vain */
    int32_t *count[FITSET_LEVELS]; /* elements below each word, with their copies; if ranked */
    int16_t *copies;        /* [element] less one, if ranked */
    int64_t *looks;         /* counts words and elements looked at (for cost tests); not owned */
};

/* Makes the empty set; the caller has set size, resources, amounts, modulus, divisor, usual, ranked
 * and looks, the rest zero. Sizes and divisors below 1 count as 1. */
void fitset_init(struct fitset *s);
void fitset_fini(struct fitset *s);

/* i must be absent (add), present (remove). The amounts of i must be set before add. */
void fitset_add(struct fitset *s, int64_t i);
void fitset_remove(struct fitset *s, int64_t i);

/* Amounts of the present element i have grown. (When they shrink nothing needs to be said.) */
void fitset_raise(struct fitset *s, int64_t i);

/* The present element i of a ranked set counts so many times, at least once; once after add. Of a set
 * without ranks: nothing. */
void fitset_weigh(struct fitset *s, int64_t i, int32_t copies);
int32_t fitset_copies(const struct fitset *s, int64_t i);

/* i will be added, removed or raised soon: its word may be on its way. */
void fitset_fetch(const struct fitset *s, int64_t i);

/* Lowest present element in lo..hi-1 whose amounts are all >= need, or -1. need: resources values. */
int64_t fitset_first(struct fitset *s, int64_t lo, int64_t hi, const int64_t *need);

/* Highest present element below hi, or -1; amounts are not looked at. */
int64_t fitset_last(const struct fitset *s, int64_t hi);

/* Of a ranked set: number of present elements below i, with their copies; and the one that holds the
 * k-th of these (0-based, k < total), copy says as which of its copies. */
int64_t fitset_rank(const struct fitset *s, int64_t i);
int64_t fitset_select(const struct fitset *s, int64_t k, int32_t *copy);

#endif
