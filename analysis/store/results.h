/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a results database, perhaps one that somebody else wrote last year. Everything that is
 * wrong with the file is ERR_INPUT: missing, empty, of another kind, of another version, damaged.
 * Use of the statements:
 *
 *     sqlite3_stmt *q = results_query(&r, err, "SELECT name FROM metric_def WHERE better = %d", 1);
 *     while (results_next(&r, q, err))
 *         puts((const char *)sqlite3_column_text(q, 0));
 *     sqlite3_finalize(q);
 *
 * Once err is set, query returns NULL and next returns false, so a reader checks err once at the
 * end.
 */
#ifndef ANALYSIS_STORE_RESULTS_H
#define ANALYSIS_STORE_RESULTS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/err.h"

struct results {
    sqlite3 *db;
    char *path; /* as given by the user; owned */
};

/* Opens read-only and checks kind and version. A zeroed struct may be closed. */
bool results_open(struct results *results, const char *path, struct err *err);
void results_close(struct results *results);

/* Prepares; fmt as for sqlite3_mprintf (%q, %Q, %w quote). NULL and err on failure. */
sqlite3_stmt *results_query(struct results *results, struct err *err, const char *fmt, ...);

/* True while there is a row; false at the end or on failure (then err is set). */
bool results_next(struct results *results, sqlite3_stmt *query, struct err *err);

/* Column readers: "" for NULL, NaN for NULL. The text lives until the next step. */
const char *results_text(sqlite3_stmt *query, int column);
double results_real(sqlite3_stmt *query, int column);

/*
 * FNV-1a over the hashed content: runs in (arbiter, replication) order and, per run, the rows of
 * every table in order; without wall time, program version, host and the constant tables.
 */
bool results_content_hash(struct results *results, uint64_t *hash, struct err *err);

/* The same by file name. */
bool store_content_hash(const char *path, uint64_t *hash, struct err *err);

#endif
