/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows for programs: the result of a query as a JSON array of objects or as CSV with a header
 * (RFC 4180 quoting, \n at line ends). Numbers are exact; infinity and NULL are null and empty. */
#ifndef ANALYSIS_ROWS_OUT_H
#define ANALYSIS_ROWS_OUT_H

#include <stdio.h>

#include "analysis/store/results.h"

enum rows_format { ROWS_TABLE, ROWS_JSON, ROWS_CSV };

/* Writes all rows of the query under its column names. format is ROWS_JSON or ROWS_CSV. */
bool rows_out_query(FILE *out,
                    enum rows_format format,
                    struct results *results,
                    sqlite3_stmt *query,
                    struct err *err);

/* The pieces, for tables that do not come from one query. NULL text is null or empty. */
void rows_out_text(FILE *out, enum rows_format format, const char *text);
void rows_out_real(FILE *out, enum rows_format format, double value);

/* Reads "table", "json" or "csv"; err names what was found. */
bool rows_format_read(const char *word, enum rows_format *format, struct err *err);

/* Looks whether everything written to `out` has arrived; ERR_SYSTEM otherwise. */
bool rows_out_done(FILE *out, struct err *err);

#endif
