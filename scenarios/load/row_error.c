/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/row_error.h"

#include <stdarg.h>
#include <stdio.h>

#include "scenarios/load/text_number.h"

void row_error_text(char *buffer, size_t n, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    (void)vsnprintf(buffer, n, fmt, arguments);
    va_end(arguments);
}

bool row_error_set(struct row_error *e, long column, const char *name, const char *expected,
                   const char *got)
{
    char quoted[48];
    number_quote(quoted, got);
    e->column = column;
    row_error_text(e->text, sizeof e->text, "%.60s%sexpected %.160s, got '%s'", name != NULL ? name : "",
                   name != NULL ? ": " : "", expected, quoted);
    return false;
}

bool row_error_plain(struct row_error *e, long column, const char *text)
{
    e->column = column;
    row_error_text(e->text, sizeof e->text, "%s", text);
    return false;
}

bool row_error_raise(const struct row_error *e, const char *file, long line, uint64_t tolerated,
                     struct err *err)
{
    if (tolerated == 0) {
        return err_set(err, ERR_INPUT, "%s:%ld:%ld: %s", file, line, e->column, e->text);
    }
    return err_set(err, ERR_INPUT, "%s:%ld:%ld: %s (after %llu bad rows that were left out)", file, line,
                   e->column, e->text, (unsigned long long)tolerated);
}
