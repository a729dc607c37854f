/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests or rates of an import: sorted, cut, scaled, totalled and written as a traffic file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/import/import_ctx.h"
#include "scenarios/load/text_number.h"

#define ONE_PPM 1000000

/* The shortest decimal that reads back as the same double. */
static void put_real(FILE *out, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    fputs(text, out);
}

static void put_time(FILE *out, int64_t ns)
{
    char text[32];
    number_print(text, ns, 9);
    fputs(text, out);
}

static void put_mean(FILE *out, double sum, double weight)
{
    fputc(',', out);
    if (weight > 0) {
        put_real(out, sum / weight);
    }
}

static const char *instant(const struct import *x, int64_t t, char buffer[64])
{
    int64_t on_clock;
    if (__builtin_add_overflow(x->origin, t, &on_clock)) {
        on_clock = INT64_MAX;
    }
    return clock_print(&x->clock, on_clock, buffer);
}

static void print_notes(const struct import *x, FILE *out)
{
    for (int i = 0; i < x->note_count; i++) {
        account_line(out, "note", "%s", x->note[i]);
    }
}

/* ---- requests ---- */

struct request_totals {
    uint64_t requests, input, output, with_tokens;
    int64_t first, last;            /* in the output's time */
    uint64_t in_second, in_minute;  /* of the current aligned second and minute */
    int64_t second, minute;
    uint64_t peak_second, peak_minute;
    int64_t peak_second_at, peak_minute_at;
};

static int64_t floor_to(int64_t t, int64_t unit)
{
    int64_t rest = t % unit;
    return t - (rest < 0 ? rest + unit : rest);
}

/* Counts t (on the clock of the trace, scaled) into its aligned unit. */
static void count_peak(int64_t start, int64_t *current, uint64_t *n, uint64_t *peak, int64_t *peak_at)
{
    if (*n == 0 || *current != start) {
        *current = start;
        *n = 0;
    }
    if (++*n > *peak) {
        *peak = *n;
        *peak_at = start;
    }
}

static void add_request(struct request_totals *t, const struct import *x, const struct import_request *q)
{
    int64_t on_clock = x->origin + q->time;
    t->first = t->requests == 0 ? q->time : t->first;
    t->last = q->time;
    t->requests++;
    if (q->input != IMPORT_NO_TOKENS || q->output != IMPORT_NO_TOKENS) {
        t->with_tokens++;
    }
    t->input += q->input > 0 ? (uint64_t)q->input : 0;
    t->output += q->output > 0 ? (uint64_t)q->output : 0;
    count_peak(floor_to(on_clock, SIM_SECOND), &t->second, &t->in_second, &t->peak_second,
               &t->peak_second_at);
    count_peak(floor_to(on_clock, SIM_MINUTE), &t->minute, &t->in_minute, &t->peak_minute,
               &t->peak_minute_at);
}

static size_t cut_requests(struct import *x, uint32_t *order, int64_t end, struct request_totals *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < x->requests.count; i++) {
        struct import_request *q = chunks_at(&x->requests, order[i]);
        enum import_reason reason = REASON_COUNT;
        if (q->time < x->origin) {
            reason = REASON_BEFORE_START;
        } else if (q->time >= end) {
            reason = REASON_OUTSIDE_WINDOW;
        } else if (!import_sampled(x, order[i])) {
            reason = REASON_NOT_SAMPLED;
        }
        if (reason != REASON_COUNT) {
            account_count(&x->account, reason, (long)q->line);
            continue;
        }
        q->time = import_scale_arrival(x, q->time);
        add_request(t, x, q);
        order[kept++] = order[i];
    }
    return kept;
}

static void print_requests(const struct import *x, const struct request_totals *t, FILE *out)
{
    char a[64];
    char b[64];
    account_print_rows(&x->account, out);
    account_line(out, "requests", "%s", account_number(a, t->requests));
    if (t->requests == 0) {
        return;
    }
    account_line(out, "first request", "%s", instant(x, t->first, a));
    account_line(out, "last request", "%s (%.1f s later)", instant(x, t->last, a),
                 (double)(t->last - t->first) / 1e9);
    if (t->with_tokens > 0) {
        account_line(out, "input tokens", "%s", account_number(a, t->input));
        account_line(out, "output tokens", "%s", account_number(a, t->output));
    }
    if (t->last > t->first) {
        account_line(out, "mean rate", "%.3f requests/s",
                     (double)t->requests / ((double)(t->last - t->first) / 1e9));
    }
    account_line(out, "peak rate", "%s in the second %s", account_number(b, t->peak_second),
                 clock_print(&x->clock, t->peak_second_at, a));
    account_line(out, "", "%s in the minute %s", account_number(b, t->peak_minute),
                 clock_print(&x->clock, t->peak_minute_at, a));
    print_notes(x, out);
}

static void write_requests(const struct import *x, const uint32_t *order, size_t n, bool tokens, FILE *out)
{
    fputs(tokens ? "t_s,input_tokens,output_tokens\n" : "t_s\n", out);
    for (size_t i = 0; i < n && !ferror(out); i++) {
        const struct import_request *q = chunks_at(&x->requests, order[i]);
        put_time(out, q->time);
        if (tokens) {
            fprintf(out, q->input >= 0 ? ",%d" : ",", (int)q->input);
            fprintf(out, q->output >= 0 ? ",%d" : ",", (int)q->output);
        }
        fputc('\n', out);
    }
}

/* Requests counted into steps of equal length from second 0. */
static void write_binned(const struct import *x, const uint32_t *order, size_t n, FILE *out)
{
    int64_t step = x->o->step;
    fputs("t_s,step_s,rate_per_s,input_tokens,output_tokens\n", out);
    for (size_t i = 0; i < n && !ferror(out);) {
        const struct import_request *q = chunks_at(&x->requests, order[i]);
        int64_t start = floor_to(q->time, step);
        double count = 0;
        double input = 0;
        double output = 0;
        double with_input = 0;
        double with_output = 0;
        for (; i < n && chunks_time(&x->requests, order[i]) < start + step; i++) {
            q = chunks_at(&x->requests, order[i]);
            count += 1;
            input += q->input > 0 ? q->input : 0;
            output += q->output > 0 ? q->output : 0;
            with_input += q->input >= 0;
            with_output += q->output >= 0;
        }
        put_time(out, start);
        fputc(',', out);
        put_time(out, step);
        fputc(',', out);
        put_real(out, count / ((double)step / 1e9));
        put_mean(out, input, with_input);
        put_mean(out, output, with_output);
        fputc('\n', out);
    }
}

static bool finish_requests(struct import *x, FILE *out, FILE *account, struct err *err)
{
    uint32_t *order = chunks_order(&x->requests);
    size_t n = x->requests.count;
    int64_t first = n > 0 ? chunks_time(&x->requests, order[0]) : 0;
    int64_t last = n > 0 ? chunks_time(&x->requests, order[n - 1]) : 0;
    int64_t end = INT64_MAX;
    bool fine = import_cut_times(x, first, last, &end, err);
    if (fine) {
        struct request_totals t = {0};
        n = cut_requests(x, order, end, &t);
        import_write_header(x, out, "traffic");
        if (x->form == FORM_RATES) {
            write_binned(x, order, n, out);
        } else {
            write_requests(x, order, n, t.with_tokens > 0, out);
        }
        print_requests(x, &t, account);
    }
    free(order);
    return fine;
}

/* ---- rates ---- */

/* Sums over one instant of the grid, or over all of it. */
struct rate_sums {
    double rate;
    double input, input_weight, output, output_weight;
};

static void add_rate(struct rate_sums *s, const struct import_rate *r, double weight)
{
    s->rate += weight;
    if (!isnan(r->input)) {
        s->input += weight * r->input;
        s->input_weight += weight;
    }
    if (!isnan(r->output)) {
        s->output += weight * r->output;
        s->output_weight += weight;
    }
}

struct rate_totals {
    struct rate_sums all; /* weight: requests */
    double peak, least;
    int64_t peak_at, first, last;
    uint64_t windows;
};

static void put_rate_row(const struct import *x, const struct import_rate *r, const struct rate_sums *s,
                         FILE *out)
{
    put_time(out, r->time);
    fputc(',', out);
    put_time(out, r->length);
    if (x->o->per_client) {
        fputc(',', out);
        import_put_text(out, names_text(&x->names, r->client));
    }
    fputc(',', out);
    put_real(out, s->rate);
    put_mean(out, s->input, s->input_weight);
    put_mean(out, s->output, s->output_weight);
    fputc('\n', out);
}

/* One window of all clients, rows order[i..n): writes it and returns the first row after it. */
static size_t put_window(const struct import *x, const uint32_t *order, size_t i, size_t n, FILE *out,
                         struct rate_totals *t)
{
    const struct import_rate *first = chunks_at(&x->rates, order[i]);
    struct rate_sums sum = {0};
    for (; i < n; i++) {
        const struct import_rate *r = chunks_at(&x->rates, order[i]);
        if (r->time != first->time) {
            break;
        }
        add_rate(&sum, r, r->rate_per_s);
        add_rate(&t->all, r, r->rate_per_s * ((double)r->length / 1e9));
        if (x->o->per_client && r->rate_per_s > 0) {
            struct rate_sums one = {0};
            add_rate(&one, r, r->rate_per_s);
            put_rate_row(x, r, &one, out);
        }
    }
    if (!x->o->per_client) {
        put_rate_row(x, first, &sum, out);
    }
    if (t->windows == 0 || sum.rate > t->peak) {
        t->peak = sum.rate;
        t->peak_at = first->time;
    }
    t->least = t->windows == 0 || sum.rate < t->least ? sum.rate : t->least;
    t->first = t->windows == 0 ? first->time : t->first;
    t->last = first->time + first->length;
    t->windows++;
    return i;
}

static size_t cut_rates(struct import *x, uint32_t *order, int64_t end)
{
    size_t kept = 0;
    for (size_t i = 0; i < x->rates.count; i++) {
        struct import_rate *r = chunks_at(&x->rates, order[i]);
        if (r->time < x->origin || r->time >= end) {
            account_count(&x->account, r->time < x->origin ? REASON_BEFORE_START : REASON_OUTSIDE_WINDOW,
                          (long)r->line);
            continue;
        }
        r->time -= x->origin;
        order[kept++] = order[i];
    }
    return kept;
}

static void print_rates(const struct import *x, const struct rate_totals *t, FILE *out)
{
    char a[64];
    account_print_rows(&x->account, out);
    if (t->windows == 0) {
        return;
    }
    double span = (double)(t->last - t->first) / 1e9;
    account_line(out, "windows", "%s of %.0f s", account_number(a, t->windows), span / (double)t->windows);
    account_line(out, "span", "%s .. %.2f days later", instant(x, t->first, a), span / 86400);
    account_line(out, "requests", "%.0f", t->all.rate);
    account_line(out, "mean rate", "%.3f requests/s", t->all.rate / span);
    account_line(out, "least rate", "%.3f requests/s", t->least);
    account_line(out, "peak rate", "%.3f requests/s at %s", t->peak, instant(x, t->peak_at, a));
    if (t->all.input_weight > 0) {
        account_line(out, "input tokens", "%.0f (%.1f a request, known for %.1f %% of the requests)",
                     t->all.input, t->all.input / t->all.input_weight,
                     100 * t->all.input_weight / t->all.rate);
    }
    if (t->all.output_weight > 0) {
        account_line(out, "output tokens", "%.0f (%.1f a request, known for %.1f %% of the requests)",
                     t->all.output, t->all.output / t->all.output_weight,
                     100 * t->all.output_weight / t->all.rate);
    }
    print_notes(x, out);
}

static bool finish_rates(struct import *x, FILE *out, FILE *account, struct err *err)
{
    const struct import_options *o = x->o;
    if (o->sample_ppm != ONE_PPM || o->arrivals_ppm != ONE_PPM) {
        return err_set(err, ERR_INPUT, "--sample and --scale-arrivals do not apply to rates; scale them in "
                                       "the scenario (traffic.scale)");
    }
    uint32_t *order = chunks_order(&x->rates);
    size_t n = x->rates.count;
    int64_t first = n > 0 ? chunks_time(&x->rates, order[0]) : 0;
    int64_t last = n > 0 ? chunks_time(&x->rates, order[n - 1]) : 0;
    int64_t end = INT64_MAX;
    bool fine = import_cut_times(x, first, last, &end, err);
    if (fine) {
        n = cut_rates(x, order, end);
        import_write_header(x, out, "traffic");
        fprintf(out, "t_s,step_s%s,rate_per_s,input_tokens,output_tokens\n",
                o->per_client ? ",service" : "");
        struct rate_totals t = {0};
        for (size_t i = 0; i < n;) {
            i = put_window(x, order, i, n, out, &t);
        }
        print_rates(x, &t, account);
    }
    free(order);
    return fine;
}

bool import_write_traffic(struct import *x, FILE *out, FILE *account, struct err *err)
{
    if (x->o->only_count > 0 || x->o->durations_ppm != ONE_PPM) {
        return err_set(err, ERR_INPUT, "--only and --scale-durations are for jobs, not for %s",
                       x->form == FORM_RATES ? "rates" : "requests");
    }
    if (x->rates.count > 0 && x->form == FORM_REQUESTS) {
        return err_set(err, ERR_INPUT, "%s: the trace holds rates; it cannot be written as requests",
                       x->file);
    }
    return x->rates.count > 0 ? finish_rates(x, out, account, err) : finish_requests(x, out, account, err);
}
