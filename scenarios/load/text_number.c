/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/text_number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { EXPONENT_MAX = 4000 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The parts of a decimal number; pointers into the text. */
struct decimal {
    const char *whole, *whole_end;
    const char *fraction, *fraction_end;
    long exponent;
    bool negative;
};

static bool scan_exponent(const char **at, long *exponent)
{
    const char *p = *at + 1;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') {
        p++;
    }
    if (!is_digit(*p)) {
        return false;
    }
    long value = 0;
    for (; is_digit(*p); p++) {
        value = value < EXPONENT_MAX ? value * 10 + (*p - '0') : EXPONENT_MAX;
    }
    *exponent = negative ? -value : value;
    *at = p;
    return true;
}

static enum number_status scan(const char *text, struct decimal *d)
{
    *d = (struct decimal){0};
    const char *p = text;
    while (is_blank(*p)) {
        p++;
    }
    if (*p == '\0') {
        return NUMBER_EMPTY;
    }
    d->negative = *p == '-';
    if (*p == '-' || *p == '+') {
        p++;
    }
    d->whole = p;
    while (is_digit(*p)) {
        p++;
    }
    d->whole_end = d->fraction = d->fraction_end = p;
    if (*p == '.') {
        d->fraction = ++p;
        while (is_digit(*p)) {
            p++;
        }
        d->fraction_end = p;
    }
    if (d->whole == d->whole_end && d->fraction == d->fraction_end) {
        return NUMBER_BAD;
    }
    if ((*p == 'e' || *p == 'E') && !scan_exponent(&p, &d->exponent)) {
        return NUMBER_BAD;
    }
    while (is_blank(*p)) {
        p++;
    }
    return *p == '\0' ? NUMBER_OK : NUMBER_BAD;
}

/* Adds one digit that stands for 10^power of the result. */
struct accumulator {
    uint64_t value;
    bool overflow, rest, half;
};

static void add_digit(struct accumulator *a, char c, long power)
{
    unsigned digit = (unsigned)(c - '0');
    if (power < 0) {
        a->rest = a->rest || digit != 0;
        a->half = a->half || (power == -1 && digit >= 5);
        return;
    }
    if (a->value > (UINT64_C(9223372036854775807) - digit) / 10) {
        a->overflow = true;
        return;
    }
    a->value = a->value * 10 + digit;
}

enum number_status number_decimal(const char *text, int digits, bool round, int64_t *out)
{
    struct decimal d;
    enum number_status status = scan(text, &d);
    if (status != NUMBER_OK) {
        return status;
    }
    struct accumulator a = {0};
    long power = (long)(d.whole_end - d.whole) - 1 + d.exponent + digits;
    for (const char *p = d.whole; p < d.whole_end; p++, power--) {
        add_digit(&a, *p, power);
    }
    for (const char *p = d.fraction; p < d.fraction_end; p++, power--) {
        add_digit(&a, *p, power);
    }
    for (; power >= 0 && a.value != 0 && !a.overflow; power--) {
        add_digit(&a, '0', power);
    }
    if (a.overflow) {
        return NUMBER_RANGE;
    }
    if (a.rest && !round) {
        return NUMBER_FINE;
    }
    int64_t value = (int64_t)a.value;
    if (a.half && value == INT64_MAX) {
        return NUMBER_RANGE;
    }
    value += a.half ? 1 : 0;
    *out = d.negative ? -value : value;
    return NUMBER_OK;
}

enum number_status number_double(const char *text, double *out)
{
    struct decimal d;
    enum number_status status = scan(text, &d);
    if (status != NUMBER_OK) {
        return status;
    }
    double value = strtod(text, NULL);
    if (!isfinite(value)) {
        return NUMBER_RANGE;
    }
    *out = value;
    return NUMBER_OK;
}

bool number_missing(const char *text)
{
    static const char *const marks[] = {"", "nan", "none", "null", "na", "n/a", "unknown"};
    if (is_digit(text[0])) {
        return false; /* by far the most frequent case */
    }
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (strcasecmp(text, marks[i]) == 0) {
            return true;
        }
    }
    return false;
}

void number_print(char buffer[32], int64_t value, int digits)
{
    uint64_t unit = 1;
    for (int i = 0; i < digits; i++) {
        unit *= 10;
    }
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    const char *sign = value < 0 ? "-" : "";
    if (magnitude % unit == 0) {
        snprintf(buffer, 32, "%s%llu", sign, (unsigned long long)(magnitude / unit));
        return;
    }
    int n = snprintf(buffer, 32, "%s%llu.%0*llu", sign, (unsigned long long)(magnitude / unit), digits,
                     (unsigned long long)(magnitude % unit));
    while (n > 0 && buffer[n - 1] == '0') {
        buffer[--n] = '\0';
    }
}

void number_quote(char buffer[48], const char *text)
{
    size_t n = 0;
    for (; n < 40 && text[n] != '\0'; n++) {
        unsigned char c = (unsigned char)text[n];
        buffer[n] = c < 32 || c == 127 ? '?' : text[n];
    }
    if (text[n] != '\0') {
        memcpy(buffer + n, "...", 3);
        n += 3;
    }
    buffer[n] = '\0';
}
