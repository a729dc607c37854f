/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/store/results.h"
#include "sim/arena.h"
#include "sim/fnv.h"

static uint64_t add_text(uint64_t h, const char *text)
{
    return fnv_add(h, text, strlen(text) + 1);
}

static uint64_t add_i64(uint64_t h, int64_t value)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)value >> (8 * i));
    return fnv_add(h, bytes, sizeof bytes);
}

/* Kind, then the value; reals by their bits. */
static uint64_t add_column(uint64_t h, sqlite3_stmt *q, int column)
{
    int type = sqlite3_column_type(q, column);
    h = add_i64(h, type);
    if (type == SQLITE_INTEGER)
        return add_i64(h, sqlite3_column_int64(q, column));
    if (type == SQLITE_FLOAT) {
        double r = sqlite3_column_double(q, column);
        int64_t bits;
        memcpy(&bits, &r, sizeof bits);
        return add_i64(h, bits);
    }
    return type == SQLITE_NULL ? h : add_text(h, results_text(q, column));
}

/* All columns of all rows but the run's number, which is an id and no content. */
static uint64_t add_rows(struct results *results, uint64_t h, sqlite3_stmt *q, struct err *err)
{
    while (results_next(results, q, err)) {
        h = add_i64(h, sqlite3_column_count(q));
        for (int c = 0; c < sqlite3_column_count(q); c++)
            if (strcmp(sqlite3_column_name(q, c), "run") != 0)
                h = add_column(h, q, c);
    }
    sqlite3_finalize(q);
    return h;
}

/* Names of the tables with rows per run, by name; count in *count. Owned by the arena. */
static char **run_tables(struct results *results, struct arena *arena, size_t *count,
                         struct err *err)
{
    char **names = NULL;
    size_t capacity = 0;
    *count = 0;
    sqlite3_stmt *q = results_query(
        results, err,
        "SELECT name FROM sqlite_schema s WHERE type = 'table' AND name <> 'run' AND EXISTS"
        " (SELECT 1 FROM pragma_table_info(s.name) WHERE name = 'run') ORDER BY name");
    while (results_next(results, q, err)) {
        names = mem_grow(names, &capacity, *count + 1, sizeof *names);
        names[(*count)++] = arena_strdup(arena, results_text(q, 0));
    }
    sqlite3_finalize(q);
    return names;
}

bool results_content_hash(struct results *results, uint64_t *hash, struct err *err)
{
    struct arena arena = {0};
    size_t count;
    uint64_t h = FNV_START;
    char **tables = run_tables(results, &arena, &count, err);
    sqlite3_stmt *runs = results_query(results, err,
                                       "SELECT run FROM run ORDER BY arbiter_ix, replication");
    while (results_next(results, runs, err)) {
        long long run = sqlite3_column_int64(runs, 0);
        h = add_rows(results, h,
                     results_query(results, err,
                                   "SELECT arbiter_ix, arbiter, preset, replication, seed,"
                                   " horizon_s, scenario_hash, name, demand_hash, text"
                                   " FROM run JOIN scenario USING (scenario_hash) WHERE run = %lld",
                                   run),
                     err);
        for (size_t t = 0; t < count; t++) {
            h = add_text(h, tables[t]);
            h = add_rows(results, h,
                         results_query(results, err,
                                       "SELECT * FROM \"%w\" WHERE run = %lld ORDER BY rowid",
                                       tables[t], run),
                         err);
        }
    }
    sqlite3_finalize(runs);
    free(tables);
    arena_fini(&arena);
    *hash = h;
    return err->code == ERR_NONE;
}

bool store_content_hash(const char *path, uint64_t *hash, struct err *err)
{
    struct results results;
    if (!results_open(&results, path, err))
        return false;
    bool ok = results_content_hash(&results, hash, err);
    results_close(&results);
    return ok;
}
