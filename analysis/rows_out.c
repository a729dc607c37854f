/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/rows_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool rows_format_read(const char *word, enum rows_format *format, struct err *err)
{
    static const char *const words[] = {"table", "json", "csv"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *format = (enum rows_format)i;
            return true;
        }
    return err_set(err, ERR_INPUT, "--format: expected table, json or csv, got '%s'", word);
}

static void json_text(FILE *out, const char *text)
{
    putc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20)
            fprintf(out, "\\u%04x", (unsigned)*p);
        else
            putc(*p, out);
    }
    putc('"', out);
}

static void csv_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

void rows_out_text(FILE *out, enum rows_format format, const char *text)
{
    if (text == NULL) {
        if (format == ROWS_JSON)
            fputs("null", out);
    } else if (format == ROWS_JSON) {
        json_text(out, text);
    } else {
        csv_text(out, text);
    }
}

/* The shortest of 15, 16, 17 digits that reads back as the same number. */
void rows_out_real(FILE *out, enum rows_format format, double value)
{
    char text[32] = "";
    if (!isfinite(value)) {
        fputs(format == ROWS_JSON ? "null" : isnan(value) ? "" : value > 0 ? "inf" : "-inf", out);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (back <= value && back >= value)
            break;
    }
    fputs(text, out);
}

static void column(FILE *out, enum rows_format format, sqlite3_stmt *query, int c)
{
    switch (sqlite3_column_type(query, c)) {
    case SQLITE_INTEGER:
        fprintf(out, "%lld", (long long)sqlite3_column_int64(query, c));
        break;
    case SQLITE_FLOAT:
        rows_out_real(out, format, sqlite3_column_double(query, c));
        break;
    case SQLITE_NULL:
        rows_out_text(out, format, NULL);
        break;
    default:
        rows_out_text(out, format, results_text(query, c));
        break;
    }
}

static void header(FILE *out, sqlite3_stmt *query)
{
    for (int c = 0; c < sqlite3_column_count(query); c++) {
        fputs(c == 0 ? "" : ",", out);
        csv_text(out, sqlite3_column_name(query, c));
    }
    putc('\n', out);
}

bool rows_out_query(FILE *out,
                    enum rows_format format,
                    struct results *results,
                    sqlite3_stmt *query,
                    struct err *err)
{
    bool first = true;
    if (query == NULL)
        return false;
    if (format == ROWS_JSON)
        putc('[', out);
    else
        header(out, query);
    while (results_next(results, query, err)) {
        if (format == ROWS_JSON)
            fputs(first ? "\n  {" : ",\n  {", out);
        for (int c = 0; c < sqlite3_column_count(query); c++) {
            fputs(c == 0 ? "" : format == ROWS_JSON ? ", " : ",", out);
            if (format == ROWS_JSON) {
                json_text(out, sqlite3_column_name(query, c));
                fputs(": ", out);
            }
            column(out, format, query, c);
        }
        fputs(format == ROWS_JSON ? "}" : "\n", out);
        first = false;
    }
    if (format == ROWS_JSON)
        fputs("\n]\n", out);
    return err->code == ERR_NONE;
}

bool rows_out_done(FILE *out, struct err *err)
{
    if (fflush(out) != 0 || ferror(out))
        return err_errno(err, ERR_SYSTEM, "cannot write the output");
    return true;
}
