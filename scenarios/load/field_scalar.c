/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kinds that are one scalar: a table says what each looks like; reading, bounds and printing
 * follow from it. A value passes through one number (the stored one, as a double for bounds).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/load/field.h"
#include "scenarios/load/units.h"
#include "sim/check.h"

/* A parsed value; which member counts follows from the kind's storage. */
struct value {
    double real;
    int64_t whole;
    uint64_t seed;
};

enum storage { STORE_I32, STORE_I64, STORE_U64, STORE_REAL, STORE_BOOL, STORE_TEXT };

static enum units_status parse_int(const char *t, struct value *v)
{
    return units_int(t, &v->whole);
}

static enum units_status parse_seed(const char *t, struct value *v)
{
    return units_uint(t, &v->seed);
}

static enum units_status parse_real(const char *t, struct value *v)
{
    return units_real(t, &v->real);
}

static enum units_status parse_duration(const char *t, struct value *v)
{
    return units_duration(t, &v->whole);
}

static enum units_status parse_seconds(const char *t, struct value *v)
{
    return units_seconds(t, &v->real);
}

static enum units_status parse_hours(const char *t, struct value *v)
{
    enum units_status status = units_duration(t, &v->whole);
    v->real = (double)v->whole / 3.6e12;
    return status;
}

static enum units_status parse_window(const char *t, struct value *v)
{
    int64_t s;
    enum units_status status = units_duration(t, &v->whole);
    if (status != UNITS_NO_UNIT)
        return status;
    status = units_int(t, &s);
    if (status == UNITS_OK && __builtin_mul_overflow(s, SIM_SECOND, &v->whole))
        return UNITS_RANGE;
    return status;
}

static enum units_status parse_bytes(const char *t, struct value *v)
{
    enum units_status status = units_bytes(t, &v->whole);
    v->real = (double)v->whole;
    return status;
}

static enum units_status parse_byte_rate(const char *t, struct value *v)
{
    return units_byte_rate(t, &v->real);
}

static enum units_status parse_rate(const char *t, struct value *v)
{
    return units_rate(t, &v->real);
}

static enum units_status parse_per_day(const char *t, struct value *v)
{
    enum units_status status = units_rate(t, &v->real);
    v->real *= 86400;
    return status;
}

static enum units_status parse_per_minute(const char *t, struct value *v)
{
    enum units_status status = units_rate(t, &v->real);
    v->real *= 60;
    return status;
}

static enum units_status parse_usd_hour(const char *t, struct value *v)
{
    return units_money_hour(t, &v->whole);
}

static enum units_status parse_usd_year(const char *t, struct value *v)
{
    return units_money_year(t, &v->whole);
}

static enum units_status parse_usd_second(const char *t, struct value *v)
{
    enum units_status status = units_money_rate(t, &v->real);
    v->real *= 1e6;
    return status;
}

static enum units_status parse_token_price(const char *t, struct value *v)
{
    return units_token_price(t, &v->whole);
}

static enum units_status parse_milli(const char *t, struct value *v)
{
    return units_milli(t, &v->whole);
}

static enum units_status parse_bool(const char *t, struct value *v)
{
    bool b = false;
    enum units_status status = units_bool(t, &b);
    v->whole = b;
    return status;
}

static enum units_status parse_instant(const char *t, struct value *v)
{
    return units_instant(t, &v->whole);
}

/* ---- printing ---- */

static void print_whole(char *out, size_t n, struct value v)
{
    snprintf(out, n, "%" PRId64, v.whole);
}

static void print_seed(char *out, size_t n, struct value v)
{
    snprintf(out, n, "%" PRIu64, v.seed);
}

static void print_real(char *out, size_t n, struct value v)
{
    units_print_real(out, n, v.real);
}

static void print_duration(char *out, size_t n, struct value v)
{
    units_print_duration(out, n, v.whole);
}

static void print_seconds(char *out, size_t n, struct value v)
{
    units_print_seconds(out, n, v.real);
}

static void print_hours(char *out, size_t n, struct value v)
{
    units_print_duration(out, n, sim_time_from_seconds(v.real * 3600));
}

static void print_bytes(char *out, size_t n, struct value v)
{
    units_print_bytes(out, n, v.whole);
}

static void print_bytes_real(char *out, size_t n, struct value v)
{
    units_print_bytes(out, n, (int64_t)v.real);
}

static void print_byte_rate(char *out, size_t n, struct value v)
{
    units_print_bytes(out, n, (int64_t)v.real);
    snprintf(out + strlen(out), n - strlen(out), "/s");
}

static void print_scaled(char *out, size_t n, double value, const char *suffix)
{
    units_print_real(out, n, value);
    snprintf(out + strlen(out), n - strlen(out), "%s", suffix);
}

static void print_rate(char *out, size_t n, struct value v)
{
    print_scaled(out, n, v.real, "/s");
}

static void print_per_day(char *out, size_t n, struct value v)
{
    print_scaled(out, n, v.real, "/day");
}

static void print_per_minute(char *out, size_t n, struct value v)
{
    print_scaled(out, n, v.real, "/min");
}

static void print_usd_hour(char *out, size_t n, struct value v)
{
    print_scaled(out, n, (double)v.whole / 1e6, "usd/h");
}

static void print_usd_year(char *out, size_t n, struct value v)
{
    print_scaled(out, n, (double)v.whole / 1e6, "usd/year");
}

static void print_usd_second(char *out, size_t n, struct value v)
{
    print_scaled(out, n, v.real / 1e6, "usd/s");
}

static void print_token_price(char *out, size_t n, struct value v)
{
    print_scaled(out, n, (double)v.whole / 1e6, "usd/Mtok");
}

static void print_milli(char *out, size_t n, struct value v)
{
    units_print_milli(out, n, v.whole);
}

static void print_bool(char *out, size_t n, struct value v)
{
    snprintf(out, n, "%s", v.whole != 0 ? "true" : "false");
}

static void print_instant(char *out, size_t n, struct value v)
{
    units_print_instant(out, n, v.whole);
}

/* ---- the table of kinds ---- */

static const struct kind {
    enum storage storage;
    const char *what, *example; /* "a duration", "5m" */
    enum units_status (*parse)(const char *text, struct value *v);
    void (*print)(char *out, size_t n, struct value v);
} kinds[FIELD_KIND_COUNT] = {
    [FIELD_INT] = {STORE_I32, "a whole number", NULL, parse_int, print_whole},
    [FIELD_SEED] = {STORE_U64, "a whole number >= 0", NULL, parse_seed, print_seed},
    [FIELD_REAL] = {STORE_REAL, "a number", NULL, parse_real, print_real},
    [FIELD_FRACTION] = {STORE_REAL, "a fraction", "0.5", parse_real, print_real},
    [FIELD_DURATION] = {STORE_I64, "a duration", "90s, 5m or 1h30m", parse_duration,
                        print_duration},
    [FIELD_SECONDS] = {STORE_REAL, "a duration", "40ms, 5s or 1m30s", parse_seconds, print_seconds},
    [FIELD_HOURS] = {STORE_REAL, "an hour of the day", "9h or 17h30m", parse_hours, print_hours},
    [FIELD_WINDOW] = {STORE_I64, "seconds", "300 or 5m", parse_window, print_duration},
    [FIELD_BYTES] = {STORE_I64, "a size", "80GiB or 15GB", parse_bytes, print_bytes},
    [FIELD_BYTES_REAL] = {STORE_REAL, "a size", "320KiB", parse_bytes, print_bytes_real},
    [FIELD_BYTE_RATE] = {STORE_REAL, "a transfer rate", "10GB/s", parse_byte_rate, print_byte_rate},
    [FIELD_RATE] = {STORE_REAL, "a rate", "12/s, 3/min or 500/day", parse_rate, print_rate},
    [FIELD_PER_DAY] = {STORE_REAL, "a rate", "2/day", parse_per_day, print_per_day},
    [FIELD_PER_MINUTE] = {STORE_REAL, "a rate", "200000/min", parse_per_minute, print_per_minute},
    [FIELD_USD_HOUR] = {STORE_I64, "a price per time", "6.88usd/h", parse_usd_hour, print_usd_hour},
    [FIELD_USD_YEAR] = {STORE_I64, "a price per time", "200000usd/year", parse_usd_year,
                        print_usd_year},
    [FIELD_USD_SECOND] = {STORE_REAL, "a price per time", "0.0001usd/s", parse_usd_second,
                          print_usd_second},
    [FIELD_TOKEN_PRICE] = {STORE_I64, "a token price", "0.72usd/Mtok", parse_token_price,
                           print_token_price},
    [FIELD_MILLI] = {STORE_I32, "a number of at most three decimals", "0.25", parse_milli,
                     print_milli},
    [FIELD_BOOL] = {STORE_BOOL, "true or false", NULL, parse_bool, print_bool},
    [FIELD_INSTANT] = {STORE_I64, "an instant", "2026-01-05T00:00:00Z", parse_instant,
                       print_instant},
};

static double bound_value(const struct kind *k, struct value v)
{
    return k->storage == STORE_REAL ? v.real : k->storage == STORE_U64 ? (double)v.seed : (double)v.whole;
}

static void print_bound(const struct kind *k, double bound, char *out, size_t n)
{
    struct value v = {.real = bound};
    if (k->storage == STORE_U64)
        v.seed = (uint64_t)bound;
    else if (k->storage != STORE_REAL)
        v.whole = (int64_t)bound;
    k->print(out, n, v);
}

static void list_names(const struct enum_name *names, char *out, size_t n)
{
    out[0] = '\0';
    for (size_t i = 0; names[i].name != NULL; i++) {
        bool last = names[i + 1].name == NULL;
        snprintf(out + strlen(out), n - strlen(out), "%s%s", i == 0 ? "" : last ? " or " : ", ",
                 names[i].name);
    }
}

void field_expectation(const struct field *f, bool bounds, char *out, size_t n)
{
    const struct kind *k = &kinds[f->kind];
    if (f->kind == FIELD_ENUM) {
        list_names(f->names, out, n);
        return;
    }
    if (k->parse == NULL) {
        snprintf(out, n, "%s", f->kind == FIELD_REF ? "a name" : "a text");
        return;
    }
    char low[80], high[80];
    print_bound(k, f->min, low, sizeof low);
    print_bound(k, f->max, high, sizeof high);
    bool bounded = bounds && f->kind != FIELD_BOOL && f->kind != FIELD_SEED && f->kind != FIELD_INSTANT;
    if (!bounded)
        snprintf(out, n, "%s%s%s", k->what, k->example == NULL ? "" : " such as ",
                 k->example == NULL ? "" : k->example);
    else if (f->max > 0)
        snprintf(out, n, "%s of %s to %s", k->what, low, high);
    else
        snprintf(out, n, "%s of at least %s", k->what, low);
}

static void store(const struct kind *k, struct value v, void *at)
{
    int32_t small = (int32_t)v.whole;
    bool flag = v.whole != 0;
    switch (k->storage) {
    case STORE_I32: memcpy(at, &small, sizeof small); return;
    case STORE_I64: memcpy(at, &v.whole, sizeof v.whole); return;
    case STORE_U64: memcpy(at, &v.seed, sizeof v.seed); return;
    case STORE_REAL: memcpy(at, &v.real, sizeof v.real); return;
    case STORE_BOOL: memcpy(at, &flag, sizeof flag); return;
    case STORE_TEXT: return;
    }
}

static struct value load(const struct kind *k, const void *at)
{
    struct value v = {0};
    int32_t small;
    bool flag;
    switch (k->storage) {
    case STORE_I32: memcpy(&small, at, sizeof small); v.whole = small; break;
    case STORE_I64: memcpy(&v.whole, at, sizeof v.whole); break;
    case STORE_U64: memcpy(&v.seed, at, sizeof v.seed); break;
    case STORE_REAL: memcpy(&v.real, at, sizeof v.real); break;
    case STORE_BOOL: memcpy(&flag, at, sizeof flag); v.whole = flag; break;
    case STORE_TEXT: break;
    }
    return v;
}

static void read_number(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                        void *at)
{
    const struct kind *k = &kinds[f->kind];
    struct value v = {0};
    char text[256];
    enum units_status status = k->parse(n->text, &v);
    if (status == UNITS_NO_UNIT) {
        field_problem(ctx, n, "'%.40s' has no unit; expected %s such as %s", n->text, k->what,
                      k->example);
        return;
    }
    if (status == UNITS_BAD) {
        field_expectation(f, k->example == NULL, text, sizeof text);
        field_expected(ctx, n, "%s", text);
        return;
    }
    double x = bound_value(k, v);
    bool too_large = f->max > 0 && x > f->max;
    if (status == UNITS_RANGE || x < f->min || too_large ||
        (k->storage == STORE_I32 && x > INT32_MAX)) {
        field_expectation(f, true, text, sizeof text);
        field_expected(ctx, n, "%s", text);
        return;
    }
    store(k, v, at);
}

static void read_enum(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *at)
{
    const char *names[64];
    size_t count = 0;
    for (; f->names[count].name != NULL; count++) {
        REQUIRE(count < 64);
        names[count] = f->names[count].name;
        if (strcmp(names[count], n->text) == 0) {
            memcpy(at, &f->names[count].value, sizeof(int));
            return;
        }
    }
    char list[512];
    list_names(f->names, list, sizeof list);
    const char *near = diag_nearest(n->text, names, count);
    if (near == NULL)
        field_expected(ctx, n, "%s", list);
    else
        field_problem(ctx, n, "expected %s, got '%.40s'; did you mean '%s'?", list, n->text, near);
}

static void read_text(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *at)
{
    const char *bad = f->kind == FIELD_NAME ? strpbrk(n->text, "[]*,\n\t\"'") : NULL;
    if (bad != NULL) {
        field_expected(ctx, n, "a name without brackets, quotes, commas or line breaks");
        return;
    }
    if (f->kind == FIELD_NAME && strlen(n->text) > 100) {
        field_expected(ctx, n, "a name of at most 100 bytes");
        return;
    }
    memcpy(at, &n->text, sizeof n->text);
}

void field_read_scalar(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                       void *base)
{
    void *at = (char *)base + f->offset;
    bool nothing = ynode_is_nothing(n) || (n->text[0] == '\0' && (f->flags & FIELD_EMPTY_OK) == 0);
    if (n->kind != YNODE_SCALAR || nothing) {
        char text[512];
        field_expectation(f, false, text, sizeof text);
        field_expected(ctx, n, "%s", text);
    } else if (f->kind == FIELD_ENUM) {
        read_enum(ctx, f, n, at);
    } else if (f->kind == FIELD_STRING || f->kind == FIELD_NAME) {
        read_text(ctx, f, n, at);
    } else if (f->kind == FIELD_REF) {
        int32_t ix = field_resolve(ctx, f->domain, n);
        memcpy(at, &ix, sizeof ix);
    } else {
        read_number(ctx, f, n, at);
    }
}

bool field_print(const struct field *f, const void *base, char *out, size_t n)
{
    const void *at = (const char *)base + f->offset;
    const struct kind *k = &kinds[f->kind];
    if (k->parse != NULL) {
        k->print(out, n, load(k, at));
        return true;
    }
    if (f->kind == FIELD_ENUM) {
        int value;
        memcpy(&value, at, sizeof value);
        for (const struct enum_name *e = f->names; e->name != NULL; e++)
            if (e->value == value) {
                snprintf(out, n, "%s", e->name);
                return true;
            }
    }
    if (f->kind == FIELD_STRING || f->kind == FIELD_NAME) {
        const char *text;
        memcpy(&text, at, sizeof text);
        if (text != NULL)
            snprintf(out, n, "%s", text);
        return text != NULL;
    }
    return false;
}
