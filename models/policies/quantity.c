/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/quantity.h"

#include <stdlib.h>
#include <string.h>

#include "models/policies/policy.h"

__extension__ typedef unsigned __int128 wide;

struct parsed { /* digits * 10^ten * 2^two */
    wide digits;
    int ten, two;
    bool negative, inexact; /* inexact: digits were cut off below */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* 10^34 leaves room for one more factor of a suffix in 128 bits. */
static const char *read_digits(const char *c, struct parsed *p)
{
    static const wide enough = (wide)10000000000000000u * 1000000000000000u;
    bool any = false, fraction = false;
    for (;; c++) {
        if (*c == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (!is_digit(*c))
            break;
        any = true;
        if (p->digits >= enough) {
            p->inexact |= *c != '0';
            p->ten += fraction ? 0 : 1;
        } else {
            p->digits = p->digits * 10 + (wide)(unsigned)(*c - '0');
            p->ten -= fraction ? 1 : 0;
        }
    }
    return any ? c : NULL;
}

static bool read_suffix(const char *c, struct parsed *p)
{
    static const struct {
        const char *text;
        int ten, two;
    } suffixes[] = {{"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},
                    {"M", 6, 0},   {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},
                    {"Ki", 0, 10}, {"Mi", 0, 20}, {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50},
                    {"Ei", 0, 60}};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcmp(c, suffixes[i].text) == 0) {
            p->ten += suffixes[i].ten;
            p->two += suffixes[i].two;
            return true;
        }
    if (*c != 'e' && *c != 'E')
        return false;
    c++;
    const bool negative = *c == '-';
    c += *c == '-' || *c == '+';
    if (!is_digit(*c))
        return false;
    int e = 0;
    for (; is_digit(*c); c++)
        e = e < 10000 ? e * 10 + (*c - '0') : e;
    p->ten += negative ? -e : e;
    return *c == '\0';
}

static bool parse(const char *text, struct parsed *p)
{
    *p = (struct parsed){0};
    p->negative = *text == '-';
    text += *text == '-' || *text == '+';
    const char *rest = read_digits(text, p);
    return rest != NULL && read_suffix(rest, p);
}

/* The value in whole units, rounded away from zero; saturates above 2^63. */
static int64_t to_units(const struct parsed *p, int ten)
{
    const wide limit = (wide)INT64_MAX;
    wide v = p->digits;
    bool rest = p->inexact;
    int two = p->two;
    for (; ten > 0 && v > 0 && v <= limit; ten--)
        v *= 10;
    for (; two > 0 && v > 0 && v <= limit * 1024; two--)
        v *= 2;
    const bool overflow = v > 0 && (ten > 0 || two > 0);
    for (; ten < 0 && v > 0; ten++) {
        rest |= v % 10 != 0;
        v /= 10;
    }
    v += rest ? 1 : 0;
    return overflow || v >= limit ? POLICY_UNLIMITED : (int64_t)v;
}

bool quantity_parse(const char *text, bool milli, int64_t *amount)
{
    struct parsed p;
    if (!parse(text, &p))
        return false;
    const int64_t v = to_units(&p, p.ten + (milli ? 3 : 0));
    *amount = p.negative ? -v : v;
    return true;
}

bool quantity_real(const char *text, double *value)
{
    struct parsed p;
    if (!parse(text, &p))
        return false;
    double v = (double)p.digits, scale = 1.0;
    for (int i = p.ten; i < 0 && scale < 1e300; i++)
        scale *= 10.0; /* exact up to 10^22: the quotient is correctly rounded */
    v /= scale;
    for (int i = p.ten; i > 0 && v > 0 && v < 1e300; i--)
        v *= 10.0;
    for (int i = 0; i < p.two; i++)
        v *= 2.0;
    if (p.digits > 0 && v < 1e-9)
        v = 1e-9; /* the API keeps no less than a nano, rounded up */
    *value = p.negative ? -v : v;
    return true;
}
