/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One small world for a test: a scenario as text, its jobs and traffic as text, run under one
 * arbiter; then questions about what it said. Anything unexpected fails the running test.
 */
#ifndef TESTS_WORLD_WORLD_HELP_H
#define TESTS_WORLD_WORLD_HELP_H

#include <stdint.h>

#include "models/world/world.h"

struct story {
    const char *yaml;
    const char *jobs, *traffic; /* content of jobs.csv and traffic.csv, or NULL */
    int32_t arbiter;
    uint32_t replication;
    enum record_level level;
};

/* Runs it; the caller ends with told_free. */
struct told;
struct told *tell(const struct story *story);
void told_free(struct told *t);

/* Metric of scope kind 'all', or of a named scope. NaN when it is NULL; fails when it is not there. */
double told_metric(const struct told *t, const char *name);
double told_metric_of(const struct told *t, const char *kind, const char *scope, const char *name);

/* Card-milliseconds of a bucket over all pools, teams and periods; fails when they are not whole. */
int64_t told_card_ms(const struct told *t, const char *bucket);
/* All buckets together. */
int64_t told_card_ms_all(const struct told *t);

/* Micro-USD of an item that is paid (rows without a team). */
int64_t told_uusd(const struct told *t, const char *item);

int32_t told_rows(const struct told *t, const char *table);
const struct world_outcome *told_outcome(const struct told *t);

/* A field of row `row` of a table, by name. */
const char *told_text(const struct told *t, const char *table, int32_t row, const char *field);
double told_real(const struct told *t, const char *table, int32_t row, const char *field);

/* For a walk over a table: the next row of it from *at on, which *at then follows. */
struct row;
const struct row *told_next(const struct told *t, const char *table, size_t *at);
const char *row_text(const struct row *r, const char *field);
int64_t row_int(const struct row *r, const char *field);

#endif
