/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/import/account.h"

#include <stdarg.h>
#include <string.h>

static const struct {
    const char *name;
    enum reason_kind kind;
} reasons[REASON_COUNT] = {
    [REASON_TOO_FEW_FIELDS] = {"too_few_fields", REASON_IS_BAD},
    [REASON_BAD_TIME] = {"bad_time", REASON_IS_BAD},
    [REASON_BAD_NUMBER] = {"bad_number", REASON_IS_BAD},
    [REASON_NO_SUBMIT] = {"no_submit", REASON_IS_BAD},
    [REASON_NO_DURATION] = {"no_duration", REASON_IS_BAD},
    [REASON_NEGATIVE_DURATION] = {"negative_duration", REASON_IS_BAD},
    [REASON_END_BEFORE_START] = {"end_before_start", REASON_IS_BAD},
    [REASON_GPUS_NOT_INTEGER] = {"gpus_not_integer", REASON_IS_BAD},
    [REASON_UNKNOWN_STATE] = {"unknown_state", REASON_IS_BAD},
    [REASON_DUPLICATE_ID] = {"duplicate_id", REASON_IS_BAD},
    [REASON_OUT_OF_RANGE] = {"out_of_range", REASON_IS_BAD},
    [REASON_ZERO_GPUS] = {"zero_gpus", REASON_IS_NO_WORK},
    [REASON_ZERO_DURATION] = {"zero_duration", REASON_IS_NO_WORK},
    [REASON_NEVER_STARTED] = {"never_started", REASON_IS_NO_WORK},
    [REASON_BEFORE_START] = {"before_start", REASON_IS_CUT},
    [REASON_OUTSIDE_WINDOW] = {"outside_window", REASON_IS_CUT},
    [REASON_FILTERED] = {"filtered", REASON_IS_CUT},
    [REASON_NOT_SAMPLED] = {"not_sampled", REASON_IS_CUT},
    [REASON_START_BEFORE_SUBMIT] = {"start_before_submit", REASON_IS_REPAIR},
    [REASON_ZERO_LIFTED] = {"zero_duration_lifted", REASON_IS_REPAIR},
    [REASON_TIMES_DISAGREE] = {"duration_disagrees", REASON_IS_REPAIR},
    [REASON_STILL_RUNNING] = {"still_running", REASON_IS_REPAIR},
};

enum reason_kind reason_kind(enum import_reason r)
{
    return reasons[r].kind;
}

const char *reason_name(enum import_reason r)
{
    return reasons[r].name;
}

void account_count(struct account *a, enum import_reason r, long line)
{
    if (a->rows[r] < ACCOUNT_LINES) {
        a->line[r][a->rows[r]] = line;
    }
    a->rows[r]++;
    a->bad += reasons[r].kind == REASON_IS_BAD;
}

uint64_t account_dropped(const struct account *a)
{
    uint64_t n = 0;
    for (int r = 0; r < REASON_COUNT; r++) {
        n += reasons[r].kind != REASON_IS_REPAIR ? a->rows[r] : 0;
    }
    return n;
}

void account_line(FILE *out, const char *label, const char *fmt, ...)
{
    fprintf(out, "%-22s ", label);
    va_list arguments;
    va_start(arguments, fmt);
    vfprintf(out, fmt, arguments);
    va_end(arguments);
    fputc('\n', out);
}

static void print_reason(const struct account *a, int r, FILE *out)
{
    char number[40];
    fprintf(out, "  %-20s %s (line", reasons[r].name, account_number(number, a->rows[r]));
    for (int i = 0; i < ACCOUNT_LINES && a->line[r][i] != 0; i++) {
        fprintf(out, "%s %ld", i == 0 ? "" : ",", a->line[r][i]);
    }
    fprintf(out, "%s)\n", a->rows[r] > ACCOUNT_LINES ? ", ..." : "");
}

void account_print_rows(const struct account *a, FILE *out)
{
    char number[40];
    account_line(out, "rows read", "%s", account_number(number, a->rows_read));
    account_line(out, "rows used", "%s", account_number(number, a->rows_read - account_dropped(a)));
    account_line(out, "rows dropped", "%s", account_number(number, account_dropped(a)));
    bool repaired = false;
    for (int r = 0; r < REASON_COUNT; r++) {
        if (a->rows[r] == 0) {
            continue;
        }
        if (reasons[r].kind == REASON_IS_REPAIR && !repaired) {
            fprintf(out, "used after a repair\n");
            repaired = true;
        }
        print_reason(a, r, out);
    }
}

const char *account_number(char buffer[40], uint64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    int w = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            buffer[w++] = ',';
        }
        buffer[w++] = digits[i];
    }
    buffer[w] = '\0';
    return buffer;
}

const char *account_decimal(char buffer[64], account_wide value, int digits, int keep)
{
    account_wide unit = 1;
    for (int i = keep; i < digits; i++) {
        unit *= 10;
    }
    value = (value + unit / 2) / unit;
    uint64_t scale = 1;
    for (int i = 0; i < keep; i++) {
        scale *= 10;
    }
    char whole[40];
    account_number(whole, (uint64_t)(value / scale));
    if (keep == 0) {
        snprintf(buffer, 64, "%s", whole);
    } else {
        snprintf(buffer, 64, "%s.%0*llu", whole, keep, (unsigned long long)(uint64_t)(value % scale));
    }
    return buffer;
}
