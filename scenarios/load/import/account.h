/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The account of an import: every row is used, or dropped for one reason, with its first lines. */
#ifndef SCENARIOS_LOAD_IMPORT_ACCOUNT_H
#define SCENARIOS_LOAD_IMPORT_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Sums of card-nanoseconds outgrow 64 bits. */
__extension__ typedef unsigned __int128 account_wide;

/* Reasons (trace-formats 2, rule 6), in the order they are printed. */
enum import_reason {
    /* bad rows: errors unless tolerated */
    REASON_TOO_FEW_FIELDS, REASON_BAD_TIME, REASON_BAD_NUMBER, REASON_NO_SUBMIT, REASON_NO_DURATION,
    REASON_NEGATIVE_DURATION, REASON_END_BEFORE_START, REASON_GPUS_NOT_INTEGER, REASON_UNKNOWN_STATE,
    REASON_DUPLICATE_ID, REASON_OUT_OF_RANGE,
    /* no work for a GPU fleet: dropped; errors with --strict */
    REASON_ZERO_GPUS, REASON_ZERO_DURATION, REASON_NEVER_STARTED,
    /* taken out on request */
    REASON_BEFORE_START, REASON_OUTSIDE_WINDOW, REASON_FILTERED, REASON_NOT_SAMPLED,
    /* repaired and used; errors with --strict */
    REASON_START_BEFORE_SUBMIT, REASON_ZERO_LIFTED, REASON_TIMES_DISAGREE, REASON_STILL_RUNNING,
    REASON_COUNT
};

enum reason_kind { REASON_IS_BAD, REASON_IS_NO_WORK, REASON_IS_CUT, REASON_IS_REPAIR };

enum { ACCOUNT_LINES = 5 };

struct account {
    uint64_t rows_read;
    uint64_t rows[REASON_COUNT];
    long line[REASON_COUNT][ACCOUNT_LINES]; /* first lines, 0 = none */
    uint64_t bad;                           /* rows of all bad kinds */
};

enum reason_kind reason_kind(enum import_reason r);
const char *reason_name(enum import_reason r);
void account_count(struct account *a, enum import_reason r, long line);
uint64_t account_dropped(const struct account *a); /* all but the repaired ones */
void account_print_rows(const struct account *a, FILE *out);

/* Label and value in two columns; the value as printf. */
void account_line(FILE *out, const char *label, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* 1234567 as "1,234,567". */
const char *account_number(char buffer[40], uint64_t n);
/* value / 10^digits with thousands separators and `keep` decimals, rounded half up. */
const char *account_decimal(char buffer[64], account_wide value, int digits, int keep);

#endif
