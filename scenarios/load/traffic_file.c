/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/traffic_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/csv.h"
#include "scenarios/load/jobs_file.h"
#include "scenarios/load/row_error.h"
#include "scenarios/load/text_number.h"
#include "sim/arena.h"
#include "sim/diag.h"

enum column { COL_TIME, COL_RATE, COL_STEP, COL_SERVICE, COL_INPUT, COL_OUTPUT, COL_COUNT };

static const char *const column_names[COL_COUNT] = {"t_s",     "rate_per_s",   "step_s",
                                                    "service", "input_tokens", "output_tokens"};

/* A rate over [begin, end), or one request at begin. */
struct stretch {
    sim_time begin, end;
    double rate_per_s;
    double input, output; /* NaN: not given */
};

struct traffic_file {
    struct csv csv;
    const struct service_config *cfg;
    const struct traffic_file_options *options;
    const char *service;
    int at[COL_COUNT];
    bool requests;
    uint64_t skipped, matched;
    sim_time last_time;   /* of any row of the service, for the order */
    sim_time last_length; /* of the stretch before */
    struct stretch now, after;
    bool has_now, has_after;
    char other[3][40];    /* some services of the file, for the message when ours is missing */
    int other_count;
};

/* ---- rows ---- */

static const char *field(const struct traffic_file *f, enum column c)
{
    return f->at[c] < 0 ? "" : f->csv.text[f->at[c]];
}

static bool bad(const struct traffic_file *f, enum column c, const char *expected, struct row_error *e)
{
    return row_error_set(e, f->csv.column[f->at[c]], column_names[c], expected, field(f, c));
}

static bool take_time(const struct traffic_file *f, enum column c, int64_t least, const char *expected,
                      sim_time *out, struct row_error *e)
{
    int64_t value;
    if (number_decimal(field(f, c), 9, false, &value) != NUMBER_OK || value < least ||
        value > JOBS_FILE_TIME_MAX) {
        return bad(f, c, expected, e);
    }
    *out = value;
    return true;
}

/* A number from 0 to most; an empty or absent field gives NaN unless it is required. */
static bool take_number(const struct traffic_file *f, enum column c, bool required, double most,
                        double *out, struct row_error *e)
{
    *out = (double)NAN;
    const char *text = field(f, c);
    if (text[0] == '\0' && !required) {
        return true;
    }
    double value;
    if (number_double(text, &value) != NUMBER_OK || value < 0 || value > most) {
        return bad(f, c, "a number from 0 to 1000000000", e);
    }
    *out = value;
    return true;
}

static bool take_row(struct traffic_file *f, struct stretch *s, struct row_error *e)
{
    *s = (struct stretch){.end = SIM_NEVER, .rate_per_s = 0};
    if (!take_time(f, COL_TIME, 0, "a number of seconds from 0 to 100 years, at most 9 decimals",
                   &s->begin, e) ||
        !take_number(f, COL_INPUT, false, TRAFFIC_FILE_TOKENS_MAX, &s->input, e) ||
        !take_number(f, COL_OUTPUT, false, TRAFFIC_FILE_TOKENS_MAX, &s->output, e)) {
        return false;
    }
    if (!f->requests && !take_number(f, COL_RATE, true, TRAFFIC_FILE_RATE_MAX, &s->rate_per_s, e)) {
        return false;
    }
    sim_time least = f->last_time;
    if (s->begin < least || (!f->requests && f->matched > 0 && s->begin == least && f->at[COL_STEP] < 0)) {
        char before[32];
        char expected[128];
        number_print(before, least, 9);
        row_error_text(expected, sizeof expected, "%s %s, where the row before %s",
                       f->requests || f->at[COL_STEP] >= 0 ? "at least" : "above", before,
                       f->at[COL_STEP] >= 0 ? "ends" : "begins");
        return bad(f, COL_TIME, expected, e);
    }
    if (f->at[COL_STEP] >= 0 && !f->requests) {
        sim_time length = 0;
        if (!take_time(f, COL_STEP, 1, "a number of seconds above 0, at most 9 decimals", &length, e)) {
            return false;
        }
        s->end = s->begin + length;
    }
    return true;
}

static bool is_ours(struct traffic_file *f)
{
    if (f->at[COL_SERVICE] < 0 || strcmp(field(f, COL_SERVICE), f->service) == 0) {
        return true;
    }
    const char *name = field(f, COL_SERVICE);
    for (int i = 0; i < f->other_count; i++) {
        if (strncmp(f->other[i], name, sizeof f->other[i] - 1) == 0) {
            return false;
        }
    }
    if (f->other_count < 3) {
        row_error_text(f->other[f->other_count++], sizeof f->other[0], "%s", name);
    }
    return false;
}

static bool at_end(struct traffic_file *f, struct err *err)
{
    const char *name = text_input_name(f->csv.in);
    if (f->matched > 0) {
        return false;
    }
    if (f->at[COL_SERVICE] < 0 || f->other_count == 0) {
        return err_set(err, ERR_INPUT, "%s: no rows after the header, expected traffic", name);
    }
    return err_set(err, ERR_INPUT, "%s: no row for service '%s'; the file has '%s'%s%s%s%s", name,
                   f->service, f->other[0], f->other_count > 1 ? ", '" : "", f->other[1],
                   f->other_count > 1 ? "'" : "", f->other_count > 2 ? ", ..." : "");
}

/* The next row of the service; false at the end or with err set. */
static bool read_row(struct traffic_file *f, struct stretch *s, struct err *err)
{
    for (;;) {
        struct row_error e = {0};
        enum csv_status status = csv_next(&f->csv, err);
        if (status == CSV_ERROR) {
            return false;
        }
        if (status == CSV_END) {
            return at_end(f, err);
        }
        if (status == CSV_ROW && !is_ours(f)) {
            continue;
        }
        if (status == CSV_ROW && take_row(f, s, &e)) {
            f->last_time = s->end != SIM_NEVER ? s->end : s->begin;
            f->matched++;
            return true;
        }
        if (status == CSV_BAD) {
            row_error_plain(&e, f->csv.problem_column, f->csv.problem);
        }
        if (f->skipped == f->options->skip_bad) {
            return row_error_raise(&e, text_input_name(f->csv.in), f->csv.line, f->options->skip_bad,
                                   err);
        }
        f->skipped++;
    }
}

/* ---- stretches ---- */

/* Moves to the next stretch and gives it an end; false on error. */
static bool advance(struct traffic_file *f, struct err *err)
{
    if (f->has_now && f->now.end != SIM_NEVER) {
        f->last_length = f->now.end - f->now.begin;
    }
    f->now = f->after;
    f->has_now = f->has_after;
    f->has_after = false;
    if (!f->has_now) {
        return true;
    }
    struct err inner = {0};
    f->has_after = read_row(f, &f->after, &inner);
    if (inner.code != ERR_NONE) {
        return err_set(err, inner.code, "%s", inner.text);
    }
    if (!f->requests && f->now.end == SIM_NEVER) {
        if (f->has_after) {
            f->now.end = f->after.begin;
        } else if (f->last_length > 0) {
            f->now.end = f->now.begin + f->last_length;
        }
    }
    return true;
}

/* Sums over one step. */
struct sums {
    double rate_per_s;
    double input, input_weight, output, output_weight;
};

static void add(struct sums *s, const struct stretch *x, double rate)
{
    s->rate_per_s += rate;
    if (!isnan(x->input)) {
        s->input += rate * x->input;
        s->input_weight += rate;
    }
    if (!isnan(x->output)) {
        s->output += rate * x->output;
        s->output_weight += rate;
    }
}

/* What the current stretch adds to [t, end); true when it is used up. */
static bool use(const struct traffic_file *f, sim_time t, sim_time end, struct sums *s)
{
    const struct stretch *x = &f->now;
    if (f->requests) {
        if (x->begin >= t) {
            add(s, x, 1);
        }
        return true;
    }
    sim_time from = x->begin > t ? x->begin : t;
    sim_time to = x->end < end ? x->end : end;
    if (to > from) {
        add(s, x, x->rate_per_s * ((double)(to - from) / (double)(end - t)));
    }
    return x->end <= end;
}

static bool traffic_at(void *ctx, sim_time t, sim_time step, struct traffic_point *out, struct err *err)
{
    struct traffic_file *f = ctx;
    sim_time end = sim_time_after(t, step);
    struct sums s = {0};
    while (f->has_now && f->now.begin < end) {
        if (!use(f, t, end, &s)) {
            break;
        }
        if (!advance(f, err)) {
            return false;
        }
    }
    const struct traffic_config *c = &f->cfg->traffic;
    /* requests were counted, rates averaged */
    out->rate_per_s = f->requests ? s.rate_per_s / ((double)step / 1e9) : s.rate_per_s;
    out->input_tokens_mean = s.input_weight > 0 ? s.input / s.input_weight : c->input_tokens_mean;
    out->output_tokens_mean = s.output_weight > 0 ? s.output / s.output_weight : c->output_tokens_mean;
    return true;
}

/* ---- opening ---- */

static void close_file(void *ctx)
{
    struct traffic_file *f = ctx;
    text_input_close(f->csv.in);
    csv_fini(&f->csv);
    free(f);
}

static bool find_columns(struct traffic_file *f, struct err *err)
{
    const char *name = text_input_name(f->csv.in);
    for (int c = 0; c < COL_COUNT; c++) {
        f->at[c] = csv_find(&f->csv, column_names[c]);
    }
    if (f->at[COL_TIME] < 0) {
        return err_set(err, ERR_INPUT,
                       "%s:%ld:1: no column 't_s'; a traffic file needs t_s, and rate_per_s unless each "
                       "row is one request (fleetsim import makes one from other formats)",
                       name, f->csv.line);
    }
    for (int i = 0; i < f->csv.name_count; i++) {
        const char *found = f->csv.names[i];
        bool known = strncmp(found, "x_", 2) == 0;
        for (int c = 0; c < COL_COUNT && !known; c++) {
            known = f->at[c] == i;
        }
        if (!known) {
            const char *near = diag_nearest(found, column_names, COL_COUNT);
            return err_set(err, ERR_INPUT,
                           "%s:%ld:%ld: unknown column '%.60s'%s%s%s; own columns begin with x_", name,
                           f->csv.line, f->csv.column[i], found, near != NULL ? ", did you mean '" : "",
                           near != NULL ? near : "", near != NULL ? "'" : "");
        }
    }
    f->requests = f->at[COL_RATE] < 0;
    if (f->requests && f->at[COL_STEP] >= 0) {
        return err_set(err, ERR_INPUT, "%s:%ld:%ld: column 'step_s' without 'rate_per_s'", name,
                       f->csv.line, f->csv.column[f->at[COL_STEP]]);
    }
    return true;
}

bool traffic_file_read(struct text_input *in, const struct service_config *cfg,
                       const struct traffic_file_options *options, struct traffic_reader *out,
                       struct err *err)
{
    struct traffic_file *f = mem_zalloc(1, sizeof *f);
    csv_init(&f->csv, in, ',');
    f->cfg = cfg;
    f->options = options;
    f->service = options->service != NULL ? options->service : cfg->name;
    struct err inner = {0};
    bool fine = csv_header(&f->csv, &inner) && find_columns(f, &inner);
    if (fine) {
        f->has_after = read_row(f, &f->after, &inner);
        fine = inner.code == ERR_NONE && advance(f, &inner);
    }
    if (!fine) {
        err_set(err, inner.code, "%s", inner.text);
        close_file(f);
        return false;
    }
    *out = (struct traffic_reader){f, traffic_at, close_file};
    return true;
}

bool traffic_file_open(const char *path, const struct service_config *cfg,
                       const struct traffic_file_options *options, struct traffic_reader *out,
                       struct err *err)
{
    struct text_input *in = text_input_open(path, 0, err);
    return in != NULL && traffic_file_read(in, cfg, options, out, err);
}
