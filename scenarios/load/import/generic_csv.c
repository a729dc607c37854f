/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any CSV with a header (trace-formats 12): columns by usual names, without regard to case, blanks,
 * '_' and '-', or by --map NAME=COLUMN; units by the name's ending (_ms, _min, ...) or --time-unit.
 * With a column of GPUs the rows are jobs, else requests. Our own jobs file is read too (to sort
 * one). Sizes: gpus is the total over workers, gpus_per_worker one worker's, gpu_milli and
 * gpu_fraction a part of one GPU.
 */
#include <string.h>

#include "scenarios/load/import/generic_columns.h"
#include "scenarios/load/jobs_file.h"

enum { TOKENS_MAX = 1000000000 };

static bool given(struct import_rows *r, int field)
{
    return import_text(r, field)[0] != '\0';
}

static bool read_time(struct generic *g, int field, int64_t *ns)
{
    struct import_rows *r = &g->rows;
    int64_t usual = r->x->clock.unit_ns;
    r->x->clock.unit_ns = g->unit_ns[field];
    bool fine = import_time(r, field, ns);
    r->x->clock.unit_ns = usual;
    return fine;
}

/* ---- times of a job ---- */

struct times {
    int64_t submit, start, end, duration;
    bool has_start, has_end;
};

static bool take_times(struct generic *g, struct times *t)
{
    struct import_rows *r = &g->rows;
    t->has_start = given(r, GEN_START);
    t->has_end = given(r, GEN_END);
    t->duration = -1;
    if (!given(r, GEN_SUBMIT)) {
        import_row_bad(r, REASON_NO_SUBMIT, GEN_SUBMIT, "a time");
        return false;
    }
    if (!read_time(g, GEN_SUBMIT, &t->submit) || (t->has_start && !read_time(g, GEN_START, &t->start)) ||
        (t->has_end && !read_time(g, GEN_END, &t->end)) ||
        (given(r, GEN_DURATION) &&
         !import_duration_unit(r, GEN_DURATION, g->unit_ns[GEN_DURATION], &t->duration))) {
        return false;
    }
    int64_t begin = t->has_start ? t->start : t->submit;
    if (t->has_end && t->end < begin) {
        import_row_bad(r, REASON_END_BEFORE_START, GEN_END,
                       t->has_start ? "a time not before the start" : "a time not before submit");
        return false;
    }
    return true;
}

/* The run time out of duration, start and end; the times win when they disagree by over 1 s. */
static enum import_verdict settle_duration(struct generic *g, struct times *t)
{
    struct import_rows *r = &g->rows;
    bool both = t->has_start && t->has_end;
    if (t->duration < 0 && !t->has_end) {
        return import_row_bad(r, REASON_NO_DURATION, GEN_DURATION, "a duration or an end");
    }
    if (t->duration < 0) {
        t->duration = t->end - (t->has_start ? t->start : t->submit);
    } else if (both && (t->end - t->start > t->duration + SIM_SECOND ||
                        t->duration > t->end - t->start + SIM_SECOND)) {
        t->duration = t->end - t->start;
        if (!import_repair(r, REASON_TIMES_DISAGREE, GEN_DURATION)) {
            return ROW_FAILED;
        }
    }
    return import_check_duration(r, &t->duration, t->has_end ? GEN_END : GEN_DURATION);
}

static enum import_verdict settle_wait(struct generic *g, const struct times *t, int64_t *wait)
{
    struct import_rows *r = &g->rows;
    *wait = IMPORT_WAIT_UNKNOWN;
    if (given(r, GEN_WAIT)) {
        return import_duration_unit(r, GEN_WAIT, g->unit_ns[GEN_WAIT], wait) ? ROW_USED : ROW_BAD;
    }
    if (!t->has_start) {
        return ROW_USED;
    }
    if (t->start < t->submit) {
        return import_repair(r, REASON_START_BEFORE_SUBMIT, GEN_START) ? ROW_USED : ROW_FAILED;
    }
    *wait = t->start - t->submit;
    return ROW_USED;
}

/* ---- size of a job ---- */

struct size {
    int64_t workers;
    int64_t milli; /* thousandths of a card per worker */
};

static bool take_milli(struct import_rows *r, int field, int digits, int64_t *milli)
{
    return import_decimal(r, field, digits, 0, (int64_t)JOBS_FILE_WORKERS_MAX * 1000,
                          "a number of GPUs from 0 to 1000000", milli);
}

static bool take_size(struct import_rows *r, struct size *s)
{
    s->workers = 1;
    if (given(r, GEN_WORKERS) && !import_decimal(r, GEN_WORKERS, 0, 1, JOBS_FILE_WORKERS_MAX,
                                                 "a number of workers from 1 to 1000000", &s->workers)) {
        return false;
    }
    bool part = given(r, GEN_GPU_MILLI) || given(r, GEN_GPU_FRACTION);
    if (given(r, GEN_GPUS_PER_WORKER) && !(part && strcmp(import_text(r, GEN_GPUS_PER_WORKER), "0") == 0)) {
        return take_milli(r, GEN_GPUS_PER_WORKER, 3, &s->milli);
    }
    int64_t total = 1000;
    if (given(r, GEN_GPUS)) {
        if (!take_milli(r, GEN_GPUS, 3, &total)) {
            return false;
        }
        bool divides = total % s->workers == 0 && (total / s->workers) % 1000 == 0;
        s->workers = divides || total < 1000 ? s->workers : 1;
        s->milli = divides ? total / s->workers : total;
    } else if (!part) {
        import_row_bad(r, REASON_BAD_NUMBER, r->at[GEN_GPUS] >= 0 ? GEN_GPUS : GEN_GPUS_PER_WORKER,
                       "a number of GPUs");
        return false;
    }
    if (part && total == 1000) { /* a share of one GPU */
        return given(r, GEN_GPU_MILLI) ? take_milli(r, GEN_GPU_MILLI, 0, &s->milli)
                                       : take_milli(r, GEN_GPU_FRACTION, 3, &s->milli);
    }
    return true;
}

static enum import_verdict check_size(struct import_rows *r, const struct size *s)
{
    if (s->milli == 0) {
        return import_row_drop(r, REASON_ZERO_GPUS);
    }
    int field = given(r, GEN_GPUS_PER_WORKER) ? GEN_GPUS_PER_WORKER
                : given(r, GEN_GPUS)          ? GEN_GPUS
                : given(r, GEN_GPU_MILLI)     ? GEN_GPU_MILLI
                                              : GEN_GPU_FRACTION;
    if (s->milli > 1000 && s->milli % 1000 != 0) {
        return import_row_bad(r, REASON_GPUS_NOT_INTEGER, field,
                              "a whole number of GPUs, or a part of one below 1");
    }
    if (s->milli / 1000 > JOBS_FILE_CARDS_MAX) {
        return import_row_bad(r, REASON_OUT_OF_RANGE, field, "at most 1024 GPUs per worker");
    }
    return ROW_USED;
}

/* ---- rows ---- */

static enum import_verdict take_names(struct import_rows *r, struct import_job *job)
{
    bool is_new;
    job->id = names_add(&r->x->names, import_free_text(r, GEN_ID), &is_new);
    if (job->id != 0 && !is_new) {
        return import_row_bad(r, REASON_DUPLICATE_ID, GEN_ID, "an id that no row before has");
    }
    job->team = import_name(r, GEN_TEAM);
    job->queue = import_name(r, GEN_QUEUE);
    job->user = import_name(r, GEN_USER);
    job->state = import_name(r, GEN_STATE);
    job->model = import_name(r, GEN_MODEL);
    job->card_type = import_name(r, GEN_GPU_TYPE);
    job->cls = import_name(r, GEN_CLASS);
    int64_t priority = 0;
    if (given(r, GEN_PRIORITY) && !import_decimal(r, GEN_PRIORITY, 0, -1000000000, 1000000000,
                                                  "a whole number from -1000000000 to 1000000000",
                                                  &priority)) {
        return ROW_BAD;
    }
    job->priority = (int32_t)priority;
    return ROW_USED;
}

static enum import_verdict take_job(struct import_rows *r)
{
    struct generic *g = (struct generic *)r; /* rows is its first member */
    struct times t;
    struct size s = {0};
    struct import_job job = {0};
    if (!take_times(g, &t) || !take_size(r, &s)) {
        return ROW_BAD;
    }
    enum import_verdict verdict = check_size(r, &s);
    verdict = verdict == ROW_USED ? settle_duration(g, &t) : verdict;
    verdict = verdict == ROW_USED ? settle_wait(g, &t, &job.wait) : verdict;
    verdict = verdict == ROW_USED ? take_names(r, &job) : verdict;
    if (verdict != ROW_USED) {
        return verdict;
    }
    struct import_job *kept = import_add_job(r->x, r->err);
    if (kept == NULL) {
        return ROW_FAILED;
    }
    job.cpu_milli = job.memory_mib = -1;
    job.submit = t.submit;
    job.duration = t.duration;
    job.workers = (int32_t)s.workers;
    job.cards = s.milli < 1000 ? 0 : (int32_t)(s.milli / 1000);
    job.share_milli = s.milli < 1000 ? (int32_t)s.milli : 0;
    job.line = (uint32_t)r->csv.line;
    *kept = job;
    return ROW_USED;
}

static enum import_verdict take_request(struct import_rows *r)
{
    struct generic *g = (struct generic *)r;
    static const char expected[] = "a number of tokens from 0 to 1000000000";
    int64_t time;
    int64_t input = IMPORT_NO_TOKENS;
    int64_t output = IMPORT_NO_TOKENS;
    if (!given(r, GEN_SUBMIT)) {
        return import_row_bad(r, REASON_NO_SUBMIT, GEN_SUBMIT, "a time");
    }
    if (!read_time(g, GEN_SUBMIT, &time) ||
        (given(r, GEN_INPUT) && !import_decimal(r, GEN_INPUT, 0, 0, TOKENS_MAX, expected, &input)) ||
        (given(r, GEN_OUTPUT) && !import_decimal(r, GEN_OUTPUT, 0, 0, TOKENS_MAX, expected, &output))) {
        return ROW_BAD;
    }
    struct import_request *q = import_add_request(r->x, r->err);
    if (q == NULL) {
        return ROW_FAILED;
    }
    q->time = time;
    q->input = (int32_t)input;
    q->output = (int32_t)output;
    q->line = (uint32_t)r->csv.line;
    return ROW_USED;
}

/* Jobs when there is a column of GPUs, else requests, unless --format says so. */
static bool settle_form(struct generic *g, struct err *err)
{
    struct import *x = g->rows.x;
    const int *at = g->rows.at;
    bool gpus = at[GEN_GPUS] >= 0 || at[GEN_GPUS_PER_WORKER] >= 0 || at[GEN_GPU_MILLI] >= 0 ||
                at[GEN_GPU_FRACTION] >= 0;
    bool tokens = at[GEN_INPUT] >= 0 && at[GEN_OUTPUT] >= 0;
    if (x->form == FORM_AUTO) {
        x->form = gpus || !tokens ? FORM_JOBS : FORM_REQUESTS;
    }
    if (at[GEN_SUBMIT] < 0) {
        return err_set(err, ERR_INPUT, "%s:%ld:1: no column for submit; name one with --map submit=COLUMN",
                       x->file, g->rows.csv.line);
    }
    if (x->form != FORM_JOBS) {
        return true;
    }
    if (!gpus || (at[GEN_DURATION] < 0 && at[GEN_END] < 0)) {
        return err_set(err, ERR_INPUT,
                       "%s:%ld:1: no column for %s; name one with --map %s=COLUMN, or give token columns "
                       "for requests",
                       x->file, g->rows.csv.line, gpus ? "duration or end" : "gpus",
                       gpus ? "duration" : "gpus");
    }
    return true;
}

bool generic_csv_detect(const char *head, uint64_t n)
{
    (void)head;
    (void)n;
    return false; /* only when asked for: it would take anything */
}

bool generic_csv_run(struct import *x, struct text_input *in, struct err *err)
{
    struct generic g = {.rows = {.x = x, .err = err}};
    bool fine = generic_open(&g, in, err) && settle_form(&g, err) &&
                import_rows_loop(&g.rows, x->form == FORM_JOBS ? take_job : take_request);
    csv_fini(&g.rows.csv);
    return fine;
}
