/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Buffered insertion into one table: 16 rows to a prepared statement. */
#ifndef ANALYSIS_STORE_ROWS_H
#define ANALYSIS_STORE_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "sim/record.h"

#define ROWS_PER_STATEMENT 16

struct rows {
    const struct record_table *table;
    sqlite3_stmt *one, *many;
    /* pending rows; a text's u.s is not valid, its bytes start at text_at in texts */
    struct record_value values[ROWS_PER_STATEMENT * RECORD_FIELDS_MAX];
    size_t text_at[ROWS_PER_STATEMENT * RECORD_FIELDS_MAX];
    int count;
    char *texts;
    size_t texts_used, texts_capacity;
};

/* Creates the table and prepares both statements; SQLite's result code. A zeroed struct is ready. */
int rows_init(struct rows *rows, sqlite3 *db, const struct record_table *table);
void rows_fini(struct rows *rows);

/* Index of the first field whose value has not the kind of the table, or -1. */
int rows_misfit(const struct record_table *table, const struct record_value *values);

/* Keeps a copy of the row; inserts when the buffer is full. SQLite's result code. */
int rows_add(struct rows *rows, const struct record_value *values);

/* Inserts what is pending. */
int rows_flush(struct rows *rows);

#endif
