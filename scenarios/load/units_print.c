/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instants of the calendar, and quantities back to text. */
#include "scenarios/load/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"

/* Days from 1970-01-01 of a date of the proleptic Gregorian calendar (Hinnant, days_from_civil). */
static int64_t days_from_civil(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = y / 400, yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

static void civil_from_days(int64_t z, int64_t *y, int64_t *m, int64_t *d)
{
    z += 719468;
    int64_t era = z / 146097, doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    *d = doy - (153 * mp + 2) / 5 + 1;
    *m = mp < 10 ? mp + 3 : mp - 9;
    *y = yoe + era * 400 + (*m <= 2);
}

/* The digits of text where pattern has 'd'; other bytes must be equal. */
static bool matches(const char *text, const char *pattern)
{
    if (strlen(text) != strlen(pattern))
        return false;
    for (; *pattern != '\0'; pattern++, text++)
        if (*pattern == 'd' ? *text < '0' || *text > '9' : *text != *pattern)
            return false;
    return true;
}

static int64_t digits(const char *text, size_t n)
{
    int64_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v * 10 + (text[i] - '0');
    return v;
}

enum units_status units_instant(const char *text, int64_t *out_unix_ns)
{
    bool date_only = matches(text, "dddd-dd-dd");
    if (!date_only && !matches(text, "dddd-dd-ddTdd:dd:ddZ"))
        return UNITS_BAD;
    int64_t y = digits(text, 4), m = digits(text + 5, 2), d = digits(text + 8, 2), s = 0;
    if (!date_only) {
        int64_t hour = digits(text + 11, 2), minute = digits(text + 14,
                                                             2), second = digits(text + 17, 2);
        if (hour > 23 || minute > 59 || second > 59)
            return UNITS_BAD;
        s = hour * 3600 + minute * 60 + second;
    }
    if (y < 1970 || y > 2200 || m < 1 || m > 12 || d < 1)
        return y < 1970 || y > 2200 ? UNITS_RANGE : UNITS_BAD;
    int64_t days = days_from_civil(y, m, d), y2, m2, d2;
    civil_from_days(days, &y2, &m2, &d2);
    if (m2 != m || d2 != d) /* 30 February */
        return UNITS_BAD;
    *out_unix_ns = (days * 86400 + s) * SIM_SECOND;
    return UNITS_OK;
}

void units_print_instant(char *out, size_t n, int64_t unix_ns)
{
    int64_t s = unix_ns / SIM_SECOND, y, m, d;
    civil_from_days(s / 86400, &y, &m, &d);
    s %= 86400;
    snprintf(out, n, "%04" PRId64 "-%02" PRId64 "-%02" PRId64 "T%02" PRId64 ":%02" PRId64 ":%02" PRId64 "Z",
             y, m, d, s / 3600, s / 60 % 60, s % 60);
}

void units_print_duration(char *out, size_t n, sim_time ns)
{
    static const struct {
        const char *name;
        int64_t scale;
    } parts[] = {{"d", SIM_DAY}, {"h", SIM_HOUR}, {"m", SIM_MINUTE}, {"s", SIM_SECOND},
                 {"ms", SIM_MS}, {"us", 1000},    {"ns", 1}};
    REQUIRE(n >= 64);
    if (ns == 0) {
        snprintf(out, n, "0s");
        return;
    }
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int64_t count = ns / parts[i].scale;
        ns -= count * parts[i].scale;
        if (count > 0)
            used += (size_t)snprintf(out + used, n - used, "%" PRId64 "%s", count, parts[i].name);
    }
}

void units_print_bytes(char *out, size_t n, int64_t bytes)
{
    static const struct {
        const char *name;
        int64_t scale;
    } units[] = {{"TiB", INT64_C(1) << 40}, {"TB", 1000000000000}, {"GiB", INT64_C(1) << 30},
                 {"GB", 1000000000},        {"MiB", INT64_C(1) << 20}, {"MB", 1000000},
                 {"KiB", 1024},             {"kB", 1000},          {"B", 1}};
    size_t i = 0;
    while (bytes == 0 ? units[i].scale != 1 : bytes % units[i].scale != 0)
        i++;
    snprintf(out, n, "%" PRId64 "%s", bytes / units[i].scale, units[i].name);
}

void units_print_real(char *out, size_t n, double value)
{
    for (int precision = 6; precision <= 17; precision++) {
        snprintf(out, n, "%.*g", precision, value);
        double back = strtod(out, NULL);
        if (back <= value && back >= value)
            return;
    }
}

void units_print_milli(char *out, size_t n, int64_t milli)
{
    snprintf(out, n, "%" PRId64 ".%03" PRId64, milli / 1000, milli % 1000);
    size_t end = strlen(out);
    while (end > 0 && out[end - 1] == '0')
        out[--end] = '\0';
    if (end > 0 && out[end - 1] == '.')
        out[end - 1] = '\0';
}

void units_print_seconds(char *out, size_t n, double s)
{
    sim_time ns = sim_time_from_seconds(s);
    double back = (double)ns / 1e9;
    if (back <= s && back >= s) {
        units_print_duration(out, n, ns);
        return;
    }
    units_print_real(out, n, s * 1e9);
    snprintf(out + strlen(out), n - strlen(out), "ns");
}
