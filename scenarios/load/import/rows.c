/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "scenarios/load/import/import_ctx.h"
#include "scenarios/load/jobs_file.h"
#include "scenarios/load/text_number.h"
#include "sim/check.h"

bool import_rows_find(struct import_rows *r)
{
    for (int c = 0; c < r->column_count; c++) {
        r->at[c] = csv_find(&r->csv, r->columns[c].name);
        if (r->at[c] < 0 && r->columns[c].required) {
            return err_set(r->err, ERR_INPUT, "%s:%ld:1: no column '%s'; this is not a %s file",
                           r->x->file, r->csv.line, r->columns[c].name, r->x->which->name);
        }
    }
    return true;
}

bool import_rows_run(struct import *x, struct text_input *in, const struct import_column *columns,
                     int column_count, import_row_fn fn, struct err *err)
{
    struct import_rows r = {.x = x, .columns = columns, .column_count = column_count, .err = err};
    REQUIRE(column_count <= (int)(sizeof r.at / sizeof *r.at));
    csv_init(&r.csv, in, ',');
    bool fine = csv_header(&r.csv, err) && import_rows_find(&r) && import_rows_loop(&r, fn);
    csv_fini(&r.csv);
    return fine;
}

/* One row that was read; false ends the import. */
static bool judge(struct import_rows *r, enum import_verdict verdict)
{
    switch (verdict) {
    case ROW_USED:
        return true;
    case ROW_BAD:
        return import_bad_row(r->x, r->reason, r->csv.line, &r->error, r->err);
    case ROW_DROPPED:
        return import_odd_row(r->x, r->reason, r->csv.line, "", r->err);
    case ROW_FAILED:
        return false;
    }
    return false;
}

bool import_rows_loop(struct import_rows *r, import_row_fn fn)
{
    for (;;) {
        enum csv_status status = csv_next(&r->csv, r->err);
        if (status == CSV_END || status == CSV_ERROR) {
            return status == CSV_END;
        }
        r->x->account.rows_read++;
        enum import_verdict verdict = ROW_BAD;
        if (status == CSV_BAD) {
            r->reason = REASON_TOO_FEW_FIELDS;
            row_error_plain(&r->error, r->csv.problem_column, r->csv.problem);
        } else {
            verdict = fn(r);
        }
        if (!judge(r, verdict)) {
            return false;
        }
    }
}

const char *import_free_text(struct import_rows *r, int c)
{
    if (r->at[c] < 0) {
        return "";
    }
    char *text = r->csv.text[r->at[c]];
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t')) {
        text[--n] = '\0';
    }
    return text;
}

const char *import_text(struct import_rows *r, int c)
{
    const char *text = import_free_text(r, c);
    return number_missing(text) ? "" : text;
}

enum import_verdict import_row_bad(struct import_rows *r, enum import_reason reason, int c,
                                   const char *expected)
{
    r->reason = reason;
    int at = r->at[c];
    row_error_set(&r->error, at < 0 ? 1 : r->csv.column[at], at < 0 ? r->columns[c].name : r->csv.names[at],
                  expected, at < 0 ? "" : r->csv.text[at]);
    return ROW_BAD;
}

enum import_verdict import_row_drop(struct import_rows *r, enum import_reason reason)
{
    r->reason = reason;
    return ROW_DROPPED;
}

bool import_time(struct import_rows *r, int c, int64_t *ns)
{
    const char *text = import_text(r, c);
    const char *expected = clock_read(&r->x->clock, text, ns);
    if (expected != NULL) {
        import_row_bad(r, REASON_BAD_TIME, c, expected);
    }
    return expected == NULL;
}

bool import_decimal(struct import_rows *r, int c, int digits, int64_t least, int64_t most,
                    const char *expected, int64_t *out)
{
    const char *text = import_text(r, c);
    int64_t value = 0;
    enum number_status status = number_decimal(text, digits, digits > 0, &value);
    if (status != NUMBER_OK || value < least || value > most) {
        import_row_bad(r, status == NUMBER_OK ? REASON_OUT_OF_RANGE : REASON_BAD_NUMBER, c, expected);
        return false;
    }
    *out = value;
    return true;
}

bool import_real(struct import_rows *r, int c, double least, double most, const char *expected,
                 double *out)
{
    double value = 0;
    enum number_status status = number_double(import_text(r, c), &value);
    if (status != NUMBER_OK || value < least || value > most) {
        import_row_bad(r, status == NUMBER_OK ? REASON_OUT_OF_RANGE : REASON_BAD_NUMBER, c, expected);
        return false;
    }
    *out = value;
    return true;
}

bool import_duration(struct import_rows *r, int c, int64_t *ns)
{
    return import_duration_unit(r, c, r->x->o->unit_ns, ns);
}

bool import_duration_unit(struct import_rows *r, int c, int64_t unit_ns, int64_t *ns)
{
    struct clock numbers = {.unit_ns = unit_ns, .kind = CLOCK_NUMBERS};
    const char *text = import_text(r, c);
    if (text[0] == '\0') {
        import_row_bad(r, REASON_NO_DURATION, c, "a duration");
        return false;
    }
    if (text[0] == '-') {
        import_row_bad(r, REASON_NEGATIVE_DURATION, c, "a duration that is not negative");
        return false;
    }
    const char *expected = clock_read(&numbers, text, ns);
    if (expected != NULL) {
        import_row_bad(r, REASON_BAD_NUMBER, c, expected);
    }
    return expected == NULL;
}

uint32_t import_name(struct import_rows *r, int c)
{
    return names_add(&r->x->names, import_free_text(r, c), NULL);
}

bool import_repair(struct import_rows *r, enum import_reason reason, int c)
{
    return import_odd_row(r->x, reason, r->csv.line, r->at[c] < 0 ? "" : r->csv.text[r->at[c]], r->err);
}

enum import_verdict import_check_duration(struct import_rows *r, int64_t *duration, int c)
{
    if (*duration > JOBS_FILE_TIME_MAX) {
        return import_row_bad(r, REASON_OUT_OF_RANGE, c,
                              "a run of at most 100 years (is --time-unit right?)");
    }
    if (*duration > 0) {
        return ROW_USED;
    }
    if (!r->x->o->lift_zero) {
        return import_row_drop(r, REASON_ZERO_DURATION);
    }
    *duration = SIM_SECOND;
    return import_repair(r, REASON_ZERO_LIFTED, c) ? ROW_USED : ROW_FAILED;
}
