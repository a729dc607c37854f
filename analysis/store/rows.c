/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/store/rows.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/store/schema.h"
#include "sim/arena.h"

static int prepare(sqlite3 *db, const struct record_table *table, int rows, sqlite3_stmt **out)
{
    char *sql = schema_insert_sql(table, rows);
    int rc = sql == NULL ? SQLITE_NOMEM
                         : sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    sqlite3_free(sql);
    return rc;
}

int rows_init(struct rows *rows, sqlite3 *db, const struct record_table *table)
{
    rows->table = table;
    char *sql = schema_table_sql(table);
    int rc = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    if (rc == SQLITE_OK)
        rc = prepare(db, table, 1, &rows->one);
    if (rc == SQLITE_OK)
        rc = prepare(db, table, ROWS_PER_STATEMENT, &rows->many);
    return rc;
}

void rows_fini(struct rows *rows)
{
    sqlite3_finalize(rows->one);
    sqlite3_finalize(rows->many);
    free(rows->texts);
    *rows = (struct rows){0};
}

int rows_misfit(const struct record_table *table, const struct record_value *values)
{
    for (int i = 0; i < table->field_count; i++) {
        const struct record_field *f = &table->fields[i];
        bool fits = values[i].kind == f->kind ||
                    (values[i].kind == RECORD_INT && f->kind == RECORD_REAL) ||
                    (values[i].kind == RECORD_NULL && f->nullable);
        if (!fits)
            return i;
    }
    return -1;
}

static size_t keep_text(struct rows *rows, const char *text)
{
    size_t n = strlen(text) + 1;
    size_t at = rows->texts_used;
    rows->texts = mem_grow(rows->texts, &rows->texts_capacity, at + n, 1);
    memcpy(rows->texts + at, text, n);
    rows->texts_used += n;
    return at;
}

static int bind(const struct rows *rows, sqlite3_stmt *statement, int at, int value)
{
    const struct record_value *v = &rows->values[value];
    switch (v->kind) {
    case RECORD_INT:
        return sqlite3_bind_int64(statement, at, v->u.i);
    case RECORD_REAL:
        return sqlite3_bind_double(statement, at, v->u.r);
    case RECORD_TEXT:
        return sqlite3_bind_text(statement, at, rows->texts + rows->text_at[value], -1,
                                 SQLITE_STATIC);
    case RECORD_NULL:
        break;
    }
    return sqlite3_bind_null(statement, at);
}

/* Runs `statement` with row_count rows from row `first`. */
static int insert(const struct rows *rows, sqlite3_stmt *statement, int first, int row_count)
{
    int fields = rows->table->field_count;
    for (int i = 0; i < row_count * fields; i++) {
        int rc = bind(rows, statement, i + 1, first * fields + i);
        if (rc != SQLITE_OK)
            return rc;
    }
    sqlite3_step(statement);
    return sqlite3_reset(statement); /* reports what the step met */
}

static int insert_all(struct rows *rows)
{
    if (rows->count == ROWS_PER_STATEMENT)
        return insert(rows, rows->many, 0, ROWS_PER_STATEMENT);
    for (int r = 0; r < rows->count; r++) {
        int rc = insert(rows, rows->one, r, 1);
        if (rc != SQLITE_OK)
            return rc;
    }
    return SQLITE_OK;
}

int rows_flush(struct rows *rows)
{
    int rc = insert_all(rows);
    rows->count = 0;
    rows->texts_used = 0;
    return rc;
}

int rows_add(struct rows *rows, const struct record_value *values)
{
    int at = rows->count * rows->table->field_count;
    for (int i = 0; i < rows->table->field_count; i++) {
        rows->values[at + i] = values[i];
        if (values[i].kind == RECORD_TEXT)
            rows->text_at[at + i] = keep_text(rows, values[i].u.s);
    }
    rows->count++;
    return rows->count == ROWS_PER_STATEMENT ? rows_flush(rows) : SQLITE_OK;
}
