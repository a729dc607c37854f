/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/jobs_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/csv.h"
#include "scenarios/load/row_error.h"
#include "scenarios/load/text_number.h"
#include "sim/arena.h"
#include "sim/diag.h"

#define CPU_MILLI_MAX INT64_C(1000000000)
#define MEMORY_MIB_MAX INT64_C(1000000000)

enum column {
    COL_SUBMIT, COL_DURATION, COL_WORKERS, COL_CARDS, COL_SHARE, COL_QUEUE, COL_TEAM, COL_PRIORITY,
    COL_USER, COL_ID, COL_TRACE_WAIT, COL_STATE, COL_MODEL, COL_CARD_TYPE, COL_CLASS, COL_CHECKPOINT,
    COL_CPU, COL_MEMORY, COL_COUNT
};

static const char *const column_names[COL_COUNT + 1] = {
    "submit_s", "duration_s", "workers", "cards_per_worker", "share", "queue", "team", "priority",
    "user", "id", "trace_wait_s", "state", "model", "card_type", "class", "checkpoint_interval_s",
    "cpu", "memory_mib", NULL};

struct jobs_file {
    struct csv csv;
    const struct job_stream_config *cfg;
    const struct jobs_file_options *options;
    int at[COL_COUNT];   /* position of each column, -1 = absent */
    int queue_column;    /* position of cfg->file_queue_column, -1 = the stream's queue */
    int32_t last_queue;  /* most rows repeat the queue of the row before */
    sim_time last_submit;
    struct jobs_file_counts counts;
};

const char *const *jobs_file_columns(void)
{
    return column_names;
}

static const char *field(const struct jobs_file *f, enum column c)
{
    return f->at[c] < 0 ? "" : f->csv.text[f->at[c]];
}

static bool bad(const struct jobs_file *f, enum column c, const char *expected, struct row_error *e)
{
    return row_error_set(e, f->csv.column[f->at[c]], column_names[c], expected, field(f, c));
}

/* A decimal in units of 10^-digits within [least, most]; an empty or absent field leaves *out. */
static bool take_decimal(const struct jobs_file *f, enum column c, int digits, int64_t least,
                         int64_t most, const char *expected, int64_t *out, struct row_error *e)
{
    const char *text = field(f, c);
    if (text[0] == '\0') {
        return true;
    }
    int64_t value;
    enum number_status status = number_decimal(text, digits, false, &value);
    if (status == NUMBER_EMPTY) {
        return true;
    }
    if (status != NUMBER_OK || value < least || value > most) {
        return bad(f, c, expected, e);
    }
    *out = value;
    return true;
}

static bool take_times(struct jobs_file *f, struct job_spec *job, struct row_error *e)
{
    int64_t submit = -1;
    int64_t work = 0;
    if (!take_decimal(f, COL_SUBMIT, 9, 0, JOBS_FILE_TIME_MAX,
                      "a number of seconds from 0 to 100 years, at most 9 decimals", &submit, e) ||
        !take_decimal(f, COL_DURATION, 9, 1, JOBS_FILE_TIME_MAX,
                      "a number of seconds above 0, up to 100 years, at most 9 decimals", &work, e)) {
        return false;
    }
    if (submit < 0) {
        return bad(f, COL_SUBMIT, "a number of seconds", e);
    }
    if (work < 1) {
        return bad(f, COL_DURATION, "a number of seconds above 0", e);
    }
    if (submit < f->last_submit) {
        char expected[128];
        char before[32];
        number_print(before, f->last_submit, 9);
        row_error_text(expected, sizeof expected,
                       "at least %s, the row before (sort the file by submit_s)", before);
        return bad(f, COL_SUBMIT, expected, e);
    }
    job->submit = submit;
    job->work = work;
    return true;
}

static bool take_amounts(struct jobs_file *f, struct job_spec *job, struct row_error *e)
{
    int64_t cpu = -1;
    int64_t mib = -1;
    if (!take_decimal(f, COL_CPU, 3, 0, CPU_MILLI_MAX, "a number of cpus from 0 to 1000000, at most 3 decimals", &cpu,
                      e) ||
        !take_decimal(f, COL_MEMORY, 0, 0, MEMORY_MIB_MAX, "a whole number of MiB from 0 to 1000000000", &mib, e)) {
        return false;
    }
    job->amounts = (struct job_amounts){cpu, mib < 0 ? -1 : mib * (INT64_C(1) << 20)};
    return true;
}

/* Workers, whole cards or a share of one. */
static bool take_size(struct jobs_file *f, struct job_spec *job, struct row_error *e)
{
    int64_t workers = 1;
    int64_t cards = -1;
    int64_t share = -1;
    if (!take_decimal(f, COL_WORKERS, 0, 1, JOBS_FILE_WORKERS_MAX, "a whole number from 1 to 1000000",
                      &workers, e) ||
        !take_decimal(f, COL_CARDS, 0, 0, JOBS_FILE_CARDS_MAX, "a whole number from 0 to 1024", &cards,
                      e) ||
        !take_decimal(f, COL_SHARE, 3, 1, 1000, "part of a card from 0.001 to 1, at most 3 decimals",
                      &share, e)) {
        return false;
    }
    if (share < 0 && cards < 0 && f->cfg->share_milli > 0) {
        share = f->cfg->share_milli;
    }
    if (share > 0 && share < 1000) {
        if (cards > 1) {
            return bad(f, COL_CARDS, "at most 1 beside a share", e);
        }
        cards = 0;
    } else {
        share = 0;
        cards = cards < 0 ? 1 : cards;
    }
    if (cards == 0 && share == 0 && job->amounts.cpu_milli <= 0 && job->amounts.memory_bytes <= 0) {
        return bad(f, COL_CARDS, "1 to 1024 cards, a share, or cpu or memory", e);
    }
    job->workers = (int32_t)workers;
    job->cards_per_worker = (int32_t)cards;
    job->share_milli = (int32_t)share;
    return true;
}

/* A name of the queue column, or "team/name" of the row when that is a local queue: what import kueue-workloads writes. */
static bool is_queue(const struct jobs_file *f, int32_t q, const char *name)
{
    const struct jobs_file_options *o = f->options;
    const char *team = field(f, COL_TEAM);
    const size_t n = strlen(team);
    if (q >= o->queue_count - o->local_queue_count && f->queue_column != f->at[COL_TEAM] && n > 0 &&
        strncmp(o->queues[q], team, n) == 0 && o->queues[q][n] == '/' && strcmp(o->queues[q] + n + 1, name) == 0) {
        return true;
    }
    return strcmp(o->queues[q], name) == 0;
}

/* Local queues stand last and go first: "main" of team a is a/main, whatever ClusterQueue is named main. */
static int32_t find_queue(const struct jobs_file *f, const char *name)
{
    for (int32_t q = f->options->queue_count - 1; q >= 0; q--) {
        if (is_queue(f, q, name)) {
            return q;
        }
    }
    return -1;
}

static bool take_queue(struct jobs_file *f, struct job_spec *job, struct row_error *e)
{
    job->queue = f->cfg->queue;
    job->team = f->cfg->team;
    if (f->queue_column < 0 || f->csv.text[f->queue_column][0] == '\0') {
        return true;
    }
    const struct jobs_file_options *o = f->options;
    const char *name = f->csv.text[f->queue_column];
    const bool again = f->last_queue >= (o->local_queue_count > 0 ? o->queue_count - o->local_queue_count : 0);
    const int32_t q = again && is_queue(f, f->last_queue, name) ? f->last_queue : find_queue(f, name);
    if (q < 0) {
        char expected[128];
        const char *near = diag_nearest(name, o->queues, (size_t)o->queue_count);
        row_error_text(expected, sizeof expected, near != NULL ? "a queue of the scenario such as '%s'"
                                                               : "a queue of the scenario%s",
                       near != NULL ? near : "");
        return row_error_set(e, f->csv.column[f->queue_column], f->csv.names[f->queue_column], expected,
                             name);
    }
    f->last_queue = q;
    job->queue = o->queue_ids != NULL ? o->queue_ids[q] : q;
    if (o->queue_team != NULL && o->queue_team[q] >= 0) {
        job->team = o->queue_team[q];
    }
    return true;
}

static bool take_rest(struct jobs_file *f, struct job_spec *job, struct row_error *e)
{
    int64_t priority = f->cfg->priority;
    int64_t wait = -1;
    int64_t checkpoint = f->cfg->checkpoint_interval;
    if (!take_decimal(f, COL_PRIORITY, 0, -1000000000, 1000000000,
                      "a whole number from -1000000000 to 1000000000", &priority, e) ||
        !take_decimal(f, COL_TRACE_WAIT, 9, 0, JOBS_FILE_TIME_MAX,
                      "a number of seconds from 0 to 100 years, at most 9 decimals", &wait, e) ||
        !take_decimal(f, COL_CHECKPOINT, 9, 0, JOBS_FILE_TIME_MAX,
                      "a number of seconds from 0 to 100 years, at most 9 decimals", &checkpoint, e)) {
        return false;
    }
    job->priority = (int32_t)priority;
    job->trace_wait_s = wait < 0 ? (double)NAN : sim_time_seconds(wait);
    job->checkpoint_interval = checkpoint;
    return true;
}

static bool take_row(struct jobs_file *f, struct job_spec *job, struct row_error *e)
{
    *job = (struct job_spec){0};
    return take_times(f, job, e) && take_amounts(f, job, e) && take_size(f, job, e) && take_queue(f, job, e) &&
           take_rest(f, job, e);
}

static bool next(void *ctx, struct job_spec *out, struct err *err)
{
    struct jobs_file *f = ctx;
    for (;;) {
        struct row_error e = {0};
        enum csv_status status = csv_next(&f->csv, err);
        if (status == CSV_END || status == CSV_ERROR) {
            return false;
        }
        if (status == CSV_ROW && take_row(f, out, &e)) {
            out->id = f->counts.jobs++;
            f->last_submit = out->submit;
            return true;
        }
        if (status == CSV_BAD) {
            row_error_plain(&e, f->csv.problem_column, f->csv.problem);
        }
        if (f->counts.skipped == f->options->skip_bad) {
            return row_error_raise(&e, text_input_name(f->csv.in), f->csv.line, f->options->skip_bad,
                                   err);
        }
        f->counts.skipped++;
    }
}

static void close_file(void *ctx)
{
    struct jobs_file *f = ctx;
    text_input_close(f->csv.in);
    csv_fini(&f->csv);
    free(f);
}

static bool find_columns(struct jobs_file *f, struct err *err)
{
    for (int c = 0; c < COL_COUNT; c++) {
        f->at[c] = csv_find(&f->csv, column_names[c]);
    }
    const char *name = text_input_name(f->csv.in);
    const char *queue = f->cfg->file_queue_column;
    f->queue_column = queue != NULL ? csv_find(&f->csv, queue) : -1;
    if (queue != NULL && f->queue_column < 0) {
        return err_set(err, ERR_INPUT, "%s:%ld:1: no column '%s', which is to name the queue", name,
                       f->csv.line, queue);
    }
    for (int c = COL_SUBMIT; c <= COL_DURATION; c++) {
        if (f->at[c] < 0) {
            return err_set(err, ERR_INPUT,
                           "%s:%ld:1: no column '%s'; a jobs file needs submit_s and duration_s "
                           "(fleetsim import makes one from other formats)",
                           name, f->csv.line, column_names[c]);
        }
    }
    for (int i = 0; i < f->csv.name_count; i++) {
        const char *found = f->csv.names[i];
        bool known = i == f->queue_column || strncmp(found, "x_", 2) == 0;
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
    return true;
}

bool jobs_file_read(struct text_input *in, const struct job_stream_config *cfg,
                    const struct jobs_file_options *options, struct job_reader *out, struct err *err)
{
    struct jobs_file *f = mem_zalloc(1, sizeof *f);
    csv_init(&f->csv, in, ',');
    f->cfg = cfg;
    f->options = options;
    f->last_queue = -1;
    if (!csv_header(&f->csv, err) || !find_columns(f, err)) {
        close_file(f);
        return false;
    }
    *out = (struct job_reader){f, next, close_file};
    return true;
}

bool jobs_file_open(const char *path, const struct job_stream_config *cfg,
                    const struct jobs_file_options *options, struct job_reader *out, struct err *err)
{
    struct text_input *in = text_input_open(path, 0, err);
    return in != NULL && jobs_file_read(in, cfg, options, out, err);
}

struct jobs_file_counts jobs_file_counts(const struct job_reader *reader)
{
    return ((const struct jobs_file *)reader->ctx)->counts;
}
