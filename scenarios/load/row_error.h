/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is wrong with one row of a file: found and expected, at a column. */
#ifndef SCENARIOS_LOAD_ROW_ERROR_H
#define SCENARIOS_LOAD_ROW_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

struct row_error {
    long column; /* 1-based byte column */
    char text[320];
};

/* "name: expected ..., got '...'"; name may be NULL. Returns false, for `return row_error_set(...)`. */
bool row_error_set(struct row_error *e, long column, const char *name, const char *expected,
                   const char *got);

/* A text of its own. Returns false. */
bool row_error_plain(struct row_error *e, long column, const char *text);

/* Fills err with "file:line:column: text" (ERR_INPUT), and how many bad rows came before when
 * some were tolerated. Returns false. */
bool row_error_raise(const struct row_error *e, const char *file, long line, uint64_t tolerated,
                     struct err *err);

/* snprintf that is allowed to cut. */
void row_error_text(char *buffer, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
