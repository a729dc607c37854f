/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"

enum { NUMBER_DIGITS_MAX = 40, UUSD_DECIMALS = 6, MILLI_DECIMALS = 3 };

struct unit {
    const char *name;
    int64_t scale;
};

static const struct unit duration_units[] = {
    {"w", 7 * SIM_DAY}, {"d", SIM_DAY}, {"h", SIM_HOUR}, {"m", SIM_MINUTE}, {"s", SIM_SECOND},
    {"ms", SIM_MS},     {"us", 1000},   {"ns", 1},       {NULL, 0}};

#define KI INT64_C(1024)
static const struct unit byte_units[] = {
    {"B", 1},
    {"kB", 1000}, {"MB", 1000000}, {"GB", 1000000000}, {"TB", 1000000000000}, {"PB",
                                                                               1000000000000000},
    {"KiB", KI}, {"MiB", KI *KI}, {"GiB", KI *KI *KI}, {"TiB", KI *KI *KI *KI}, {"PiB",
        KI *KI *KI *KI *KI},
    {"Ki", KI}, {"Mi", KI *KI}, {"Gi", KI *KI *KI}, {"Ti", KI *KI *KI *KI}, {"Pi",
                                                                             KI *KI *KI *KI *KI},
    {NULL, 0}};

static const struct unit period_units[] = {
    {"s", 1},     {"min", 60},       {"h", 3600}, {"hour", 3600},
    {"d", 86400}, {"day", 86400}, {"week", 604800}, {NULL, 0}};

static const struct unit money_periods[] = {
    {"s", 1}, {"min", 60}, {"h", 3600}, {"hour", 3600}, {"day", 86400}, {"year", 31536000}, {NULL,
                                                                                             0}};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of the plain decimal at the start of text: 0, 12, 0.5, 1e6; 0 when there is none. */
static size_t number_length(const char *text, bool allow_exponent)
{
    size_t n = 0;
    if (!is_digit(text[0]) || (text[0] == '0' && is_digit(text[1])))
        return 0;
    while (is_digit(text[n]))
        n++;
    if (text[n] == '.') {
        if (!is_digit(text[n + 1]))
            return 0;
        for (n++; is_digit(text[n]);)
            n++;
    }
    if (allow_exponent && (text[n] == 'e' || text[n] == 'E')) {
        size_t e = n + 1;
        if (text[e] == '+' || text[e] == '-')
            e++;
        if (!is_digit(text[e]))
            return 0;
        while (is_digit(text[e]))
            e++;
        n = e;
    }
    return n <= NUMBER_DIGITS_MAX ? n : 0;
}

/* The first n bytes of text times scale, rounded to a whole number; the whole part is exact. */
static enum units_status scaled(const char *text, size_t n, int64_t scale, int64_t *out)
{
    int64_t whole = 0, result;
    size_t i = 0;
    for (; i < n && text[i] != '.'; i++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, text[i] - '0', &whole))
            return UNITS_RANGE;
    if (__builtin_mul_overflow(whole, scale, &result))
        return UNITS_RANGE;
    if (i < n) {
        double fraction = 0, place = 0.1;
        int64_t exact = 0, part = scale;
        /* Exact as long as the scale divides by ten; what is finer is rounded. */
        for (i++; i < n; i++) {
            if (part % 10 == 0) {
                part /= 10;
                exact += part * (text[i] - '0');
            } else {
                fraction += place * (text[i] - '0');
                place /= 10;
            }
        }
        int64_t rest = exact + (int64_t)(fraction * (double)part + 0.5);
        if (__builtin_add_overflow(result, rest, &result))
            return UNITS_RANGE;
    }
    *out = result;
    return UNITS_OK;
}

static int64_t unit_find(const struct unit *units, const char *name, size_t n)
{
    for (; units->name != NULL; units++)
        if (strlen(units->name) == n && memcmp(units->name, name, n) == 0)
            return units->scale;
    return 0;
}

enum units_status units_int(const char *text, int64_t *out)
{
    bool minus = text[0] == '-';
    const char *digits = text + minus;
    size_t n = strspn(digits, "0123456789");
    if (n == 0 || digits[n] != '\0' || (n > 1 && digits[0] == '0'))
        return UNITS_BAD;
    errno = 0;
    long long v = strtoll(text, NULL, 10);
    if (errno == ERANGE)
        return UNITS_RANGE;
    *out = v;
    return UNITS_OK;
}

enum units_status units_uint(const char *text, uint64_t *out)
{
    size_t n = strspn(text, "0123456789");
    if (n == 0 || text[n] != '\0' || (n > 1 && text[0] == '0'))
        return UNITS_BAD;
    errno = 0;
    unsigned long long v = strtoull(text, NULL, 10);
    if (errno == ERANGE)
        return UNITS_RANGE;
    *out = v;
    return UNITS_OK;
}

static enum units_status real_prefix(const char *text, size_t n, double *out)
{
    char copy[NUMBER_DIGITS_MAX + 2];
    REQUIRE(n < sizeof copy);
    memcpy(copy, text, n);
    copy[n] = '\0';
    errno = 0;
    double v = strtod(copy, NULL);
    if (!isfinite(v))
        return UNITS_RANGE;
    *out = v;
    return UNITS_OK;
}

enum units_status units_real(const char *text, double *out)
{
    bool minus = text[0] == '-';
    size_t n = number_length(text + minus, true);
    if (n == 0 || text[n + minus] != '\0')
        return UNITS_BAD;
    double v;
    enum units_status status = real_prefix(text + minus, n, &v);
    if (status == UNITS_OK)
        *out = minus ? -v : v;
    return status;
}

enum units_status units_bool(const char *text, bool *out)
{
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0)
        return UNITS_BAD;
    *out = yes;
    return UNITS_OK;
}

enum units_status units_duration(const char *text, sim_time *out_ns)
{
    int64_t total = 0, last_scale = INT64_MAX;
    do {
        size_t n = number_length(text, false);
        if (n == 0)
            return UNITS_BAD;
        size_t letters = strspn(text + n, "abcdefghijklmnopqrstuvwxyz");
        if (letters == 0)
            return text[n] == '\0' && last_scale == INT64_MAX ? UNITS_NO_UNIT : UNITS_BAD;
        int64_t scale = unit_find(duration_units, text + n, letters), part;
        if (scale == 0 || scale >= last_scale)
            return UNITS_BAD;
        enum units_status status = scaled(text, n, scale, &part);
        if (status != UNITS_OK || __builtin_add_overflow(total, part, &total))
            return UNITS_RANGE;
        last_scale = scale;
        text += n + letters;
    } while (*text != '\0');
    *out_ns = total;
    return UNITS_OK;
}

enum units_status units_seconds(const char *text, double *out_s)
{
    size_t n = number_length(text, false), letters = strspn(text + n, "abcdefghijklmnopqrstuvwxyz");
    int64_t scale = n > 0 && text[n + letters] == '\0' ? unit_find(duration_units, text + n,
                                                                   letters) : 0;
    double v;
    if (scale > 0) { /* one unit: finer than a nanosecond is kept */
        enum units_status status = real_prefix(text, n, &v);
        *out_s = status == UNITS_OK ? v * (double)scale / 1e9 : *out_s;
        return status;
    }
    sim_time ns;
    enum units_status status = units_duration(text, &ns);
    if (status == UNITS_OK)
        *out_s = (double)ns / 1e9;
    return status;
}

enum units_status units_bytes(const char *text, int64_t *out)
{
    size_t n = number_length(text, false);
    if (n == 0)
        return UNITS_BAD;
    if (text[n] == '\0')
        return UNITS_NO_UNIT;
    int64_t scale = unit_find(byte_units, text + n, strlen(text + n));
    return scale == 0 ? UNITS_BAD : scaled(text, n, scale, out);
}

/* number [unit] "/" period */
static enum units_status per_period(const char *text, const struct unit *amounts,
                                    const struct unit *periods, double *out_per_s)
{
    size_t n = number_length(text, true);
    if (n == 0)
        return UNITS_BAD;
    if (text[n] == '\0')
        return UNITS_NO_UNIT;
    const char *slash = strchr(text + n, '/');
    if (slash == NULL)
        return UNITS_BAD;
    size_t unit_length = (size_t)(slash - (text + n));
    int64_t scale = amounts == NULL ? unit_length == 0 : unit_find(amounts, text + n, unit_length);
    int64_t period = unit_find(periods, slash + 1, strlen(slash + 1));
    double v;
    if (scale == 0 || period == 0)
        return UNITS_BAD;
    enum units_status status = real_prefix(text, n, &v);
    if (status != UNITS_OK)
        return status;
    v = v * (double)scale / (double)period;
    if (!isfinite(v))
        return UNITS_RANGE;
    *out_per_s = v;
    return UNITS_OK;
}

static const struct unit usd_units[] = {{"usd", 1}, {"USD", 1}, {NULL, 0}};

enum units_status units_rate(const char *text, double *out_per_s)
{
    return per_period(text, NULL, period_units, out_per_s);
}

enum units_status units_byte_rate(const char *text, double *out_bytes_per_s)
{
    return per_period(text, byte_units, period_units, out_bytes_per_s);
}

enum units_status units_money_rate(const char *text, double *out_usd_per_s)
{
    return per_period(text, usd_units, money_periods, out_usd_per_s);
}

/* Exact when the written period is the wanted one, else by division. */
static enum units_status money_per(const char *text, int64_t period_s, int64_t *out_uusd)
{
    size_t n = number_length(text, false);
    const char *slash = strchr(text, '/');
    double per_s;
    enum units_status status = units_money_rate(text, &per_s);
    if (status != UNITS_OK)
        return status;
    if (n > 0 && slash != NULL && unit_find(money_periods, slash + 1,
                                            strlen(slash + 1)) == period_s)
        return scaled(text, n, 1000000, out_uusd);
    double v = per_s * (double)period_s * 1e6;
    if (v > 9e18)
        return UNITS_RANGE;
    *out_uusd = (int64_t)(v + 0.5);
    return UNITS_OK;
}

enum units_status units_money_hour(const char *text, int64_t *out_uusd_per_h)
{
    return money_per(text, 3600, out_uusd_per_h);
}

enum units_status units_money_year(const char *text, int64_t *out_uusd_per_year)
{
    return money_per(text, 31536000, out_uusd_per_year);
}

enum units_status units_token_price(const char *text, int64_t *out_uusd_per_mtok)
{
    size_t n = number_length(text, false);
    if (n == 0)
        return UNITS_BAD;
    if (text[n] == '\0')
        return UNITS_NO_UNIT;
    return strcmp(text + n, "usd/Mtok") == 0 ? scaled(text, n, 1000000,
                                                      out_uusd_per_mtok) : UNITS_BAD;
}

enum units_status units_milli(const char *text, int64_t *out_milli)
{
    size_t n = number_length(text, false);
    if (n == 0 || text[n] != '\0')
        return UNITS_BAD;
    const char *dot = strchr(text, '.');
    if (dot != NULL && strlen(dot + 1) > MILLI_DECIMALS)
        return UNITS_BAD;
    return scaled(text, n, 1000, out_milli);
}

enum units_status units_quantity(const char *resource, const char *text, int64_t *out)
{
    size_t n = number_length(text, false);
    if (n == 0)
        return UNITS_BAD;
    if (strcmp(resource, "cpu") == 0) {
        if (strcmp(text + n, "m") == 0)
            return scaled(text, n, 1, out);
        return text[n] == '\0' ? scaled(text, n, 1000, out) : UNITS_BAD;
    }
    if (text[n] == '\0' && memchr(text, '.', n) == NULL)
        return scaled(text, n, 1, out);
    return units_bytes(text, out);
}
