/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/import/clock.h"

#include <stdio.h>

#include "scenarios/load/text_number.h"

enum { YEAR_LEAST = 1700, YEAR_MOST = 2149 };
#define SECOND_NS INT64_C(1000000000)
#define NUMBER_TIME_MAX (SECOND_NS * 86400 * 365 * 150) /* sums of two times must not overflow */

/* Days since 1970-01-01 in the proleptic Gregorian calendar (H. Hinnant, "chrono-compatible
 * low-level date algorithms"). */
static int64_t days_from_date(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = y / 400;
    int64_t year = y - era * 400;
    int64_t day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + year * 365 + year / 4 - year / 100 + day - 719468;
}

static int days_of_month(int64_t y, int64_t m)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    return m == 2 && leap ? 29 : days[m - 1];
}

static bool digits(const char **p, int count, int64_t *value)
{
    *value = 0;
    for (int i = 0; i < count; i++, ++*p) {
        if (**p < '0' || **p > '9') {
            return false;
        }
        *value = *value * 10 + (**p - '0');
    }
    return true;
}

static bool skip(const char **p, char c)
{
    if (**p != c) {
        return false;
    }
    ++*p;
    return true;
}

/* [.f{1,9}] */
static bool fraction(const char **p, int64_t *ns)
{
    *ns = 0;
    if (!skip(p, '.')) {
        return true;
    }
    int64_t scale = SECOND_NS / 10;
    int count = 0;
    for (; **p >= '0' && **p <= '9'; ++*p, count++, scale /= 10) {
        *ns += (**p - '0') * scale;
    }
    return count >= 1 && count <= 9;
}

static bool time_of_day(const char **p, int64_t *seconds, int64_t *ns)
{
    int64_t h;
    int64_t m;
    int64_t s;
    if (!digits(p, 2, &h) || !skip(p, ':') || !digits(p, 2, &m) || !skip(p, ':') || !digits(p, 2, &s)) {
        return false;
    }
    *seconds = h * 3600 + m * 60 + s;
    return h <= 23 && m <= 59 && s <= 60 && fraction(p, ns);
}

bool clock_date(const struct tz *tz, const char *text, int64_t *ns)
{
    const char *p = text;
    int64_t y;
    int64_t m;
    int64_t d;
    if (!digits(&p, 4, &y) || !skip(&p, '-') || !digits(&p, 2, &m) || !skip(&p, '-') ||
        !digits(&p, 2, &d) || y < YEAR_LEAST || y > YEAR_MOST || m < 1 || m > 12 || d < 1 ||
        d > days_of_month(y, m)) {
        return false;
    }
    int64_t seconds = 0;
    int64_t rest = 0;
    if (*p != '\0') {
        if ((!skip(&p, ' ') && !skip(&p, 'T')) || !time_of_day(&p, &seconds, &rest)) {
            return false;
        }
    }
    seconds += days_from_date(y, m, d) * 86400;
    int32_t offset;
    if (*p == '\0') {
        seconds = tz_to_utc(tz, seconds);
    } else if (tz_offset(p, &offset)) {
        seconds -= offset;
    } else {
        return false;
    }
    *ns = seconds * SECOND_NS + rest;
    return true;
}

static bool looks_like_date(const char *text)
{
    const char *p = text;
    int64_t year;
    return digits(&p, 4, &year) && *p == '-';
}

static const char *read_number(const struct clock *c, const char *text, int64_t *ns)
{
    int digits_of_unit = 0;
    int64_t unit = c->unit_ns;
    while (unit % 10 == 0) {
        unit /= 10;
        digits_of_unit++;
    }
    int64_t value;
    enum number_status status = number_decimal(text, digits_of_unit, true, &value);
    if (status == NUMBER_RANGE || (status == NUMBER_OK && __builtin_mul_overflow(value, unit, &value))) {
        return "a time within 150 years (is --time-unit right?)";
    }
    if (status != NUMBER_OK) {
        return c->kind == CLOCK_NUMBERS ? "a number" : "a date such as 2017-10-21 23:03:38, or a number";
    }
    if (value < 0) {
        return "a time that is not negative";
    }
    if (value > NUMBER_TIME_MAX) {
        return "a time within 150 years (is --time-unit right?)";
    }
    *ns = value;
    return NULL;
}

const char *clock_read(struct clock *c, const char *text, int64_t *ns)
{
    bool date = looks_like_date(text);
    if (date && c->kind == CLOCK_NUMBERS) {
        return "a number as in the rows before";
    }
    if (date) {
        if (!clock_date(&c->tz, text, ns)) {
            return "a date such as 2017-10-21 23:03:38[.123][Z]";
        }
        c->kind = CLOCK_DATES;
        return NULL;
    }
    if (c->kind == CLOCK_DATES) {
        return "a date as in the rows before";
    }
    const char *expected = read_number(c, text, ns);
    if (expected == NULL) {
        c->kind = CLOCK_NUMBERS;
    }
    return expected;
}

static void date_from_days(int64_t z, int64_t *y, int64_t *m, int64_t *d)
{
    z += 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t day = z - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t of_year = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    *d = of_year - (153 * month + 2) / 5 + 1;
    *m = month < 10 ? month + 3 : month - 9;
    *y = year + era * 400 + (*m <= 2);
}

const char *clock_print(const struct clock *c, int64_t ns, char buffer[64])
{
    if (c->kind != CLOCK_DATES) {
        char number[32];
        number_print(number, ns, 9);
        snprintf(buffer, 64, "%s s", number);
        return buffer;
    }
    int64_t seconds = ns / SECOND_NS - (ns % SECOND_NS < 0);
    int64_t rest = ns - seconds * SECOND_NS;
    int64_t days = seconds / 86400 - (seconds % 86400 < 0);
    int64_t of_day = seconds - days * 86400;
    int64_t y;
    int64_t m;
    int64_t d;
    date_from_days(days, &y, &m, &d);
    int n = snprintf(buffer, 64, "%04d-%02d-%02d %02d:%02d:%02d", (int)y, (int)m, (int)d,
                     (int)(of_day / 3600), (int)(of_day / 60 % 60), (int)(of_day % 60));
    if (rest > 0) {
        n += snprintf(buffer + n, 64 - (size_t)n, ".%09d", (int)rest);
        while (buffer[n - 1] == '0') {
            buffer[--n] = '\0';
        }
    }
    return buffer;
}
