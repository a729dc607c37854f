/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/store/results.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "analysis/store/store.h"
#include "sim/arena.h"

static bool fail(struct results *results, struct err *err)
{
    return err_set(err, ERR_INPUT, "cannot read '%s': %s", results->path,
                   sqlite3_errmsg(results->db));
}

static bool check_file(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return err_errno(err, ERR_INPUT, "cannot open '%s'", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "'%s' is %s, expected a results database", path,
                       S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
    if (st.st_size == 0)
        return err_set(err, ERR_INPUT, "'%s' is empty, expected a results database", path);
    return true;
}

static int64_t pragma(struct results *results, const char *name, struct err *err)
{
    int64_t value = -1;
    sqlite3_stmt *q = results_query(results, err, "PRAGMA %s", name);
    if (results_next(results, q, err))
        value = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return value;
}

static bool check_kind(struct results *results, struct err *err)
{
    struct err probe = {0};
    int64_t id = pragma(results, "application_id", &probe);
    int64_t version = pragma(results, "user_version", &probe);
    if (probe.code != ERR_NONE && sqlite3_errcode(results->db) != SQLITE_NOTADB)
        return err_set(err, ERR_INPUT, "%s", probe.text);
    if (probe.code != ERR_NONE || id != STORE_APPLICATION_ID)
        return err_set(err, ERR_INPUT, "'%s' is not a results database of fleetsim",
                       results->path);
    if (version != STORE_SCHEMA_VERSION)
        return err_set(err, ERR_INPUT,
                       "'%s' has results version %lld, this program reads version %d", results->path,
                       (long long)version, STORE_SCHEMA_VERSION);
    return true;
}

bool results_open(struct results *results, const char *path, struct err *err)
{
    *results = (struct results){0};
    if (!check_file(path, err))
        return false;
    results->path = mem_strdup(path);
    bool ok = sqlite3_open_v2(path, &results->db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK
                  ? check_kind(results, err)
                  : fail(results, err);
    if (!ok)
        results_close(results);
    return ok;
}

void results_close(struct results *results)
{
    sqlite3_close(results->db);
    free(results->path);
    *results = (struct results){0};
}

sqlite3_stmt *results_query(struct results *results, struct err *err, const char *fmt, ...)
{
    sqlite3_stmt *q = NULL;
    if (err->code != ERR_NONE)
        return NULL;
    va_list args;
    va_start(args, fmt);
    char *sql = sqlite3_vmprintf(fmt, args);
    va_end(args);
    if (sql == NULL || sqlite3_prepare_v2(results->db, sql, -1, &q, NULL) != SQLITE_OK)
        fail(results, err);
    sqlite3_free(sql);
    return q;
}

bool results_next(struct results *results, sqlite3_stmt *query, struct err *err)
{
    if (query == NULL || err->code != ERR_NONE)
        return false;
    int rc = sqlite3_step(query);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        fail(results, err);
    return rc == SQLITE_ROW;
}

const char *results_text(sqlite3_stmt *query, int column)
{
    const unsigned char *text = sqlite3_column_text(query, column);
    return text == NULL ? "" : (const char *)text;
}

double results_real(sqlite3_stmt *query, int column)
{
    return sqlite3_column_type(query, column) == SQLITE_NULL ? (double)NAN
                                                             : sqlite3_column_double(query, column);
}
