/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The record sink: what a world says about itself, as rows of named, typed fields. Worlds write
 * to a record_log of their own (memory of the run); the runner replays logs in run order into the
 * one writer, so that the database does not depend on scheduling (design, sections 3.5 and 7).
 *
 * A value of another kind than its field's, or NULL in a field that is not nullable, is our own
 * error: the log aborts (REQUIRE).
 *
 * A table is described once, by a const struct record_table (models/world/tables.h); analysis/store
 * makes the SQL schema from the list that the runner hands over.
 */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_kind { RECORD_NULL, RECORD_INT, RECORD_REAL, RECORD_TEXT };

struct record_value {
    enum record_kind kind;
    union {
        int64_t i;
        double r;
        const char *s; /* the sink copies what it keeps */
    } u;
};

static inline struct record_value rec_int(int64_t i)
{
    return (struct record_value){.kind = RECORD_INT, .u.i = i};
}
/* A NaN becomes NULL: "does not apply". */
static inline struct record_value rec_real(double r)
{
    struct record_value v = {.kind = r != r ? RECORD_NULL : RECORD_REAL};
    v.u.r = r;
    return v;
}
/* NULL stays NULL. */
static inline struct record_value rec_text(const char *s)
{
    struct record_value v = {.kind = s == NULL ? RECORD_NULL : RECORD_TEXT};
    v.u.s = s;
    return v;
}
static inline struct record_value rec_null(void)
{
    return (struct record_value){.kind = RECORD_NULL};
}

#define RECORD_FIELDS_MAX 16

struct record_field {
    const char *name;
    enum record_kind kind;
    bool nullable;
};

struct record_table {
    const char *name;
    const char *help; /* one line for docs/results-schema.md */
    struct record_field fields[RECORD_FIELDS_MAX];
    int field_count;
};

/* Interface of a sink: row() gets field_count values of the table's kinds (or NULL). */
struct record_sink {
    void *ctx;
    void (*row)(void *ctx, const struct record_table *table, const struct record_value *values);
};

static inline void record_row(const struct record_sink *sink, const struct record_table *table,
                              const struct record_value *values)
{
    if (sink != NULL && sink->row != NULL)
        sink->row(sink->ctx, table, values);
}

/* A log keeps rows in memory, in order, texts copied; one per run. */
struct record_log;
struct record_log *record_log_create(void);
void record_log_destroy(struct record_log *log);
struct record_sink record_log_sink(struct record_log *log);
size_t record_log_rows(const struct record_log *log);
size_t record_log_bytes(const struct record_log *log); /* memory held */
/* Replays all rows, in order, into another sink. */
void record_log_replay(const struct record_log *log, const struct record_sink *into);
/* FNV-1a over table names and values in order (reals by bits). */
uint64_t record_log_hash(const struct record_log *log, uint64_t start);

#endif
