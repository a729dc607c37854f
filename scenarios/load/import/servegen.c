/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ServeGen (trace-formats 10.2): request rates of the customers of an LLM service per window of
 * 600 s, and the lengths of their requests per window of 21,600 s. Taken are
 *   client rates    client_id, timestamp_s, rate_rps, ...            (joined files, with a header)
 *   client lengths  client_id, window_start_s, field, mean, ...
 *   chunk-N-trace.csv      timestamp, rate, cv, pattern, shape, scale  (original, no header)
 *   chunk-N-dataset.json   (servegen_json.c)
 * in any order. Lengths of a window hold until the client's next one; where a client has none, the
 * sum over clients takes the mean of the others.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/import/servegen.h"
#include "scenarios/load/jobs_file.h"
#include "scenarios/load/text_number.h"
#include "sim/arena.h"

#define WINDOW (600 * SIM_SECOND)
#define RATE_MAX 1e9

enum { COL_TIME, COL_RATE, COL_CLIENT, COL_COUNT };
static const struct import_column rate_columns[COL_COUNT] = {
    {"timestamp_s", true}, {"rate_rps", true}, {"client_id", true}};

enum { LEN_CLIENT, LEN_TIME, LEN_FIELD, LEN_MEAN, LEN_COUNT };
static const struct import_column length_columns[LEN_COUNT] = {
    {"client_id", true}, {"window_start_s", true}, {"field", true}, {"mean", true}};

static const char *const original_names[] = {"timestamp_s", "rate_rps",      "cv",
                                             "pattern",     "pattern_shape", "pattern_scale"};

/* "client-143" of chunk-143-trace.csv; the file's name when it has no number. */
uint32_t servegen_client_of_file(struct import *x)
{
    const char *slash = strrchr(x->file, '/');
    const char *base = slash != NULL ? slash + 1 : x->file;
    char name[80];
    const char *chunk = strstr(base, "chunk-");
    if (chunk != NULL && isdigit((unsigned char)chunk[6])) {
        row_error_text(name, sizeof name, "client-%ld", strtol(chunk + 6, NULL, 10));
    } else {
        row_error_text(name, sizeof name, "%.79s", base);
    }
    return names_add(&x->names, name, NULL);
}

static uint32_t client_of_row(struct import_rows *r, int c)
{
    char name[80];
    row_error_text(name, sizeof name, "client-%.60s", import_text(r, c));
    return names_add(&r->x->names, name, NULL);
}

static enum import_verdict add_rate(struct import_rows *r, uint32_t client)
{
    int64_t time;
    double rate;
    if (!import_time(r, COL_TIME, &time) ||
        !import_real(r, COL_RATE, 0, RATE_MAX, "a rate from 0 to 1000000000 requests/s", &rate)) {
        return ROW_BAD;
    }
    if (r->x->rates.count >= IMPORT_ROWS_MAX) {
        err_set(r->err, ERR_INPUT, "%s: more than %u rows; import the trace in parts", r->x->file,
                IMPORT_ROWS_MAX);
        return ROW_FAILED;
    }
    struct import_rate *q = chunks_add(&r->x->rates);
    *q = (struct import_rate){.time = time,
                              .length = WINDOW,
                              .client = client,
                              .line = (uint32_t)r->csv.line,
                              .rate_per_s = rate,
                              .input = (double)NAN,
                              .output = (double)NAN};
    return ROW_USED;
}

static enum import_verdict take_rate(struct import_rows *r)
{
    if (import_text(r, COL_CLIENT)[0] == '\0') {
        return import_row_bad(r, REASON_BAD_NUMBER, COL_CLIENT, "a client");
    }
    return add_rate(r, client_of_row(r, COL_CLIENT));
}

static enum import_verdict take_original(struct import_rows *r)
{
    return add_rate(r, servegen_client_of_file(r->x));
}

void servegen_add_length(struct import *x, uint32_t client, int64_t time, bool is_output, double mean)
{
    struct import_length *l = chunks_add(&x->lengths);
    *l = (struct import_length){time, client, is_output, mean};
}

static enum import_verdict take_length(struct import_rows *r)
{
    int64_t time;
    double mean;
    const char *field = import_text(r, LEN_FIELD);
    bool input = strcmp(field, "input_tokens") == 0;
    if (!input && strcmp(field, "output_tokens") != 0) {
        return ROW_USED; /* ratios and counts that the traffic file has no place for */
    }
    if (!import_time(r, LEN_TIME, &time) ||
        !import_real(r, LEN_MEAN, 0, 1e9, "a mean from 0 to 1000000000 tokens", &mean)) {
        return ROW_BAD;
    }
    servegen_add_length(r->x, client_of_row(r, LEN_CLIENT), time, !input, mean);
    return ROW_USED;
}

/* chunk-N-trace.csv: no header, columns by position. */
static bool run_original(struct import *x, struct text_input *in, struct err *err)
{
    struct import_rows r = {.x = x, .columns = rate_columns, .column_count = COL_CLIENT, .err = err};
    csv_init(&r.csv, in, ',');
    csv_set_header(&r.csv, original_names, (int)(sizeof original_names / sizeof *original_names));
    bool fine = import_rows_find(&r) && import_rows_loop(&r, take_original);
    csv_fini(&r.csv);
    return fine;
}

bool servegen_detect(const char *head, uint64_t n)
{
    return import_head_has(head, n, "rate_rps") ||
           (import_head_has(head, n, "window_start_s") && import_head_has(head, n, "field"));
}

bool servegen_run(struct import *x, struct text_input *in, struct err *err)
{
    const char *head;
    size_t n;
    if (!text_input_peek(in, &head, &n, err)) {
        return false;
    }
    if (import_head_has(head, n, "rate_rps")) {
        return import_rows_run(x, in, rate_columns, COL_COUNT, take_rate, err);
    }
    if (import_head_has(head, n, "window_start_s")) {
        return import_rows_run(x, in, length_columns, LEN_COUNT, take_length, err);
    }
    return n > 0 && head[0] == '{' ? servegen_json_run(x, in, err) : run_original(x, in, err);
}

/* ---- lengths to rates ---- */

static int compare_lengths(const void *a, const void *b)
{
    const struct import_length *x = a;
    const struct import_length *y = b;
    if (x->client != y->client) {
        return x->client < y->client ? -1 : 1;
    }
    if (x->is_output != y->is_output) {
        return x->is_output < y->is_output ? -1 : 1;
    }
    if (x->time != y->time) {
        return x->time < y->time ? -1 : 1;
    }
    return x->mean < y->mean ? -1 : x->mean > y->mean;
}

/* The mean in force for the client at t; NaN when the client has no lengths. */
static double mean_at(const struct import_length *l, size_t n, uint32_t client, uint32_t is_output,
                      int64_t t)
{
    size_t low = 0;
    size_t high = n;
    struct import_length key = {t, client, is_output, HUGE_VAL};
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_lengths(&l[middle], &key) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low > 0 && l[low - 1].client == client && l[low - 1].is_output == is_output) {
        return l[low - 1].mean;
    }
    bool later = low < n && l[low].client == client && l[low].is_output == is_output;
    return later ? l[low].mean : (double)NAN;
}

static void count_clients(struct import *x)
{
    bool *seen = mem_zalloc(x->names.count + 1, sizeof *seen);
    bool *known = mem_zalloc(x->names.count + 1, sizeof *known);
    uint64_t clients = 0;
    uint64_t with_lengths = 0;
    for (size_t i = 0; i < x->rates.count; i++) {
        const struct import_rate *r = chunks_at(&x->rates, i);
        clients += !seen[r->client];
        seen[r->client] = true;
        if (!isnan(r->input) && !known[r->client]) {
            known[r->client] = true;
            with_lengths++;
        }
    }
    import_note(x, "%llu clients, token lengths known for %llu of them", (unsigned long long)clients,
                (unsigned long long)with_lengths);
    free(seen);
    free(known);
}

/* Two rates of one client over the same time would be counted twice. */
static bool check_overlaps(struct import *x, struct err *err)
{
    uint32_t *order = chunks_order(&x->rates);
    int64_t *free_from = mem_zalloc(x->names.count + 1, sizeof *free_from);
    bool fine = true;
    for (size_t i = 0; i < x->rates.count && fine; i++) {
        const struct import_rate *r = chunks_at(&x->rates, order[i]);
        if (r->time < free_from[r->client]) {
            fine = err_set(err, ERR_INPUT, "%s:%u:1: a second rate of %.60s for the same window of 600 s",
                           x->file, (unsigned)r->line, names_text(&x->names, r->client));
        }
        free_from[r->client] = r->time + r->length;
    }
    free(free_from);
    free(order);
    return fine;
}

bool servegen_finish(struct import *x, struct err *err)
{
    if (x->rates.count == 0) {
        return err_set(err, ERR_INPUT, "%s: no rates among the files; lengths alone make no traffic",
                       x->file);
    }
    if (!check_overlaps(x, err)) {
        return false;
    }
    size_t n = x->lengths.count;
    struct import_length *sorted = mem_alloc(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = *(const struct import_length *)chunks_at(&x->lengths, i);
    }
    qsort(sorted, n, sizeof *sorted, compare_lengths);
    for (size_t i = 0; i < x->rates.count; i++) {
        struct import_rate *r = chunks_at(&x->rates, i);
        r->input = mean_at(sorted, n, r->client, 0, r->time);
        r->output = mean_at(sorted, n, r->client, 1, r->time);
    }
    free(sorted);
    count_clients(x);
    return true;
}
