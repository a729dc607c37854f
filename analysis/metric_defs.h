/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every figure means: name, unit, which direction is better, how much change matters, and the
 * words a person reads. One const table; the store copies it into every database (`metric_def`),
 * so that a database explains itself years later.
 */
#ifndef ANALYSIS_METRIC_DEFS_H
#define ANALYSIS_METRIC_DEFS_H

#include <stddef.h>

enum metric_format {
    METRIC_PERCENT,  /* fraction 0..1, printed as per cent */
    METRIC_DURATION, /* seconds, printed in ms, s, min, h or d */
    METRIC_COUNT,    /* whole things, may be a mean over replications */
    METRIC_AMOUNT,   /* cards, card-hours, tokens: a quantity with k, M, G */
    METRIC_MONEY     /* usd */
};

struct metric_def {
    const char *name;  /* as in models' metric rows and the views `summary`, `summary_by` */
    const char *unit;  /* fraction, seconds, card-hours, cards, usd, count, tokens */
    int better;        /* +1 more is better, -1 less is better, 0 neither */
    double tolerance;  /* change that a gate lets pass: relative to the base value, but absolute
                          for fractions */
    const char *group; /* heading of the side-by-side table; NULL = not in that table */
    const char *label; /* at most 24 columns, plain words */
    const char *title; /* whole words for a page or a legend */
    enum metric_format format;
};

/* All definitions in the order of the table; *count receives their number. */
const struct metric_def *metric_defs_all(size_t *count);

/* Definition by name, or NULL. */
const struct metric_def *metric_defs_find(const char *name);

/* Buckets of the card-time ledger (design, section 3.3), from the top of a stack to its bottom. */
struct bucket_def {
    const char *name;  /* as in ledger.bucket and the series cards.<name> */
    const char *group; /* computing, rework, waiting, idle, offline */
    const char *label;
};
const struct bucket_def *bucket_defs_all(size_t *count);
const struct bucket_def *bucket_defs_find(const char *name);

#endif
