/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers as they stand in trace files: exact decimals into integers, and checked doubles. No
 * locale, no hexadecimal, no "inf" or "nan".
 */
#ifndef SCENARIOS_LOAD_TEXT_NUMBER_H
#define SCENARIOS_LOAD_TEXT_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum number_status {
    NUMBER_OK,
    NUMBER_EMPTY, /* nothing but blanks */
    NUMBER_BAD,   /* not a decimal number */
    NUMBER_RANGE, /* does not fit int64 after scaling */
    NUMBER_FINE   /* non-zero digits below the unit, and rounding was not asked for */
};

/* text times 10^digits as an integer, exactly: "1.5" with digits 9 gives 1500000000. Blanks around
 * it, a sign and an exponent are allowed. With round, digits below the unit round half away from
 * zero (float noise such as 475.00000000000006); without, they give NUMBER_FINE. */
enum number_status number_decimal(const char *text, int digits, bool round, int64_t *out);

/* A finite decimal number as a double. NUMBER_OK, _EMPTY, _BAD or _RANGE. */
enum number_status number_double(const char *text, double *out);

/* True for the marks of a missing value: empty, nan, none, null, na, n/a, unknown (any case). */
bool number_missing(const char *text);

/* value / 10^digits without trailing zeros: 1500000000, 9 gives "1.5". At least 32 bytes. */
void number_print(char buffer[32], int64_t value, int digits);

/* Copies text for a message: cut at 40 bytes with "...", control bytes as '?'. */
void number_quote(char buffer[48], const char *text);

#endif
