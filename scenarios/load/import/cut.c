/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cutting and scaling after parsing (trace-formats 2, rules 7 and 8), and the notes about it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/load/import/import_ctx.h"
#include "scenarios/load/text_number.h"
#include "scenarios/load/units.h"
#include "sim/rng.h"

#define ONE_PPM 1000000
#define SPAN_MAX (100 * 365 * SIM_DAY)

__extension__ typedef __int128 wide;

static void append(struct import *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void append(struct import *x, const char *fmt, ...)
{
    size_t n = strlen(x->cut);
    va_list arguments;
    va_start(arguments, fmt);
    (void)vsnprintf(x->cut + n, sizeof x->cut - n, fmt, arguments);
    va_end(arguments);
}

static bool settle_origin(struct import *x, int64_t first, struct err *err)
{
    const char *start = x->o->start;
    x->origin = first;
    if (start == NULL) {
        return true;
    }
    sim_time offset;
    if (units_duration(start, &offset) == UNITS_OK) {
        return !__builtin_add_overflow(first, offset, &x->origin) ||
               err_set(err, ERR_INPUT, "--start: '%.40s' is too far away", start);
    }
    if (x->clock.kind != CLOCK_DATES) {
        return err_set(err, ERR_INPUT,
                       "--start: expected an offset such as 12d, since the times of this trace are "
                       "numbers, got '%.40s'",
                       start);
    }
    return clock_date(&x->clock.tz, start, &x->origin) ||
           err_set(err, ERR_INPUT, "--start: expected a date such as 2017-10-01 or an offset such as 12d, "
                                   "got '%.40s'",
                   start);
}

bool import_cut_times(struct import *x, int64_t first, int64_t last, int64_t *end, struct err *err)
{
    if (first < last && (uint64_t)last - (uint64_t)first > (uint64_t)SPAN_MAX) {
        return err_set(err, ERR_INPUT,
                       "%s: the times span %.0f years; expected at most 100 (is --time-unit right?)",
                       x->file, (double)((uint64_t)last - (uint64_t)first) / 1e9 / 86400 / 365.25);
    }
    if (!settle_origin(x, first, err)) {
        return false;
    }
    if (last > x->origin && (uint64_t)last - (uint64_t)x->origin > (uint64_t)SPAN_MAX) {
        return err_set(err, ERR_INPUT, "--start: '%.40s' lies more than 100 years before the end of the trace",
                       x->o->start);
    }
    *end = INT64_MAX;
    const struct import_options *o = x->o;
    if (o->window > 0 && __builtin_add_overflow(x->origin, o->window, end)) {
        *end = INT64_MAX;
    }
    char text[64];
    if (o->start != NULL) {
        append(x, " start %.40s;", o->start);
    }
    if (o->window > 0) {
        units_print_duration(text, sizeof text, o->window);
        append(x, " window %s;", text);
    }
    for (int i = 0; i < o->only_count; i++) {
        append(x, " only %.60s;", o->only[i]);
    }
    if (o->sample_ppm != ONE_PPM) {
        number_print(text, o->sample_ppm, 6);
        append(x, " sample %s (seed %llu);", text, (unsigned long long)o->seed);
    }
    if (o->arrivals_ppm != ONE_PPM) {
        number_print(text, o->arrivals_ppm, 6);
        append(x, " arrivals x %s;", text);
    }
    if (o->durations_ppm != ONE_PPM) {
        number_print(text, o->durations_ppm, 6);
        append(x, " durations x %s;", text);
    }
    return true;
}

bool import_sampled(const struct import *x, uint64_t key)
{
    if (x->o->sample_ppm == ONE_PPM) {
        return true;
    }
    uint64_t h = rng_hash(rng_hash(x->o->seed) ^ key);
    return h % ONE_PPM < (uint64_t)x->o->sample_ppm;
}

int64_t import_scale_arrival(const struct import *x, int64_t ns)
{
    wide offset = (wide)ns - x->origin;
    if (x->o->arrivals_ppm == ONE_PPM) {
        return (int64_t)offset;
    }
    wide scaled = (offset * ONE_PPM + x->o->arrivals_ppm / 2) / x->o->arrivals_ppm;
    return scaled > SPAN_MAX ? SPAN_MAX : (int64_t)scaled;
}

void import_note(struct import *x, const char *fmt, ...)
{
    if (x->note_count == IMPORT_NOTES_MAX) {
        return;
    }
    va_list arguments;
    va_start(arguments, fmt);
    (void)vsnprintf(x->note[x->note_count++], sizeof x->note[0], fmt, arguments);
    va_end(arguments);
}

void import_put_text(FILE *out, const char *text)
{
    bool quote = text[strcspn(text, ",\"")] != '\0' || text[0] == '#';
    if (quote) {
        fputc('"', out);
    }
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"') {
            fputc('"', out);
        }
        fputc(c < 32 || c == 127 ? '?' : c, out);
    }
    if (quote) {
        fputc('"', out);
    }
}

void import_write_header(const struct import *x, FILE *out, const char *kind)
{
    char text[64];
    fprintf(out, "# fleetsim %s file, see docs/%s-file.md\n", kind, kind);
    fprintf(out, "# made by: fleetsim import %s\n", x->which->name);
    for (size_t i = 0; i < x->source_count; i++) {
        fprintf(out, "# source: %s, %llu bytes unpacked, sha256 of the file %s\n", x->sources[i].name,
                (unsigned long long)x->sources[i].bytes, x->sources[i].sha256);
    }
    fprintf(out, "# second 0: %s\n", clock_print(&x->clock, x->origin, text));
    fprintf(out, "# rows read %llu, dropped %llu", (unsigned long long)x->account.rows_read,
            (unsigned long long)account_dropped(&x->account));
    for (int r = 0; r < REASON_COUNT; r++) {
        if (x->account.rows[r] > 0) {
            fprintf(out, ", %s %llu", reason_name((enum import_reason)r),
                    (unsigned long long)x->account.rows[r]);
        }
    }
    fputc('\n', out);
    if (x->cut[0] != '\0') {
        fprintf(out, "# cut:%s\n", x->cut);
    }
    for (int i = 0; i < x->note_count; i++) {
        fprintf(out, "# note: %s\n", x->note[i]);
    }
}
