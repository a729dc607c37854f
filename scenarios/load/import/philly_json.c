/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Philly's cluster_job_log: one JSON array of jobs, read object by object, so that memory is that
 * of the largest job (trace-formats 7.2). Size from the first attempt that names GPUs; duration
 * from the attempts as --retries says.
 */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "scenarios/load/import/import_ctx.h"
#include "scenarios/load/jobs_file.h"
#include "sim/arena.h"

#define OBJECT_BYTES_MAX ((size_t)4 << 20)
enum { READ_BYTES = 65536 };

struct scan {
    struct import *x;
    char *text; /* the object being read */
    size_t length, capacity;
    int depth;
    bool in_string, escaped, opened, closed;
    long line, object_line;
};

/* ---- one job ---- */

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(v) ? v->valuestring : "";
}

/* Problem of the object being read. */
struct odd {
    enum import_reason reason;
    struct row_error error;
};

static bool bad(struct odd *o, enum import_reason reason, const char *key, const char *expected,
                const char *got)
{
    o->reason = reason;
    return row_error_set(&o->error, 1, key, expected, got);
}

/* A time of an object; *known false when it is null, absent or "None". */
static bool take_time(struct import *x, const cJSON *object, const char *key, int64_t *ns, bool *known,
                      struct odd *o)
{
    const char *text = text_of(object, key);
    *known = text[0] != '\0' && strcmp(text, "None") != 0;
    if (!*known) {
        return true;
    }
    const char *expected = clock_read(&x->clock, text, ns);
    return expected == NULL || bad(o, REASON_BAD_TIME, key, expected, text);
}

struct attempts {
    int64_t sum, last, first_start, last_end;
    bool started, unfinished;
    int workers, gpus;
    bool equal;
};

static void take_detail(const cJSON *detail, struct attempts *a)
{
    int workers = 0;
    int gpus = 0;
    bool equal = true;
    const cJSON *entry;
    cJSON_ArrayForEach(entry, detail)
    {
        int n = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(entry, "gpus"));
        equal = equal && (workers == 0 || n * workers == gpus);
        workers++;
        gpus += n;
    }
    if (gpus > 0 && a->gpus == 0) {
        a->workers = workers;
        a->gpus = gpus;
        a->equal = equal;
    }
}

static bool take_attempt(struct import *x, const cJSON *attempt, struct attempts *a, struct odd *o)
{
    int64_t start = 0;
    int64_t end = 0;
    bool has_start;
    bool has_end;
    if (!take_time(x, attempt, "start_time", &start, &has_start, o) ||
        !take_time(x, attempt, "end_time", &end, &has_end, o)) {
        return false;
    }
    take_detail(cJSON_GetObjectItemCaseSensitive(attempt, "detail"), a);
    if (!has_start) {
        return true;
    }
    a->first_start = a->started ? a->first_start : start;
    a->started = true;
    a->unfinished = !has_end;
    if (!has_end) {
        return true;
    }
    if (end < start) {
        return bad(o, REASON_END_BEFORE_START, "end_time", "not before start_time",
                   text_of(attempt, "end_time"));
    }
    a->last = end - start;
    a->last_end = end;
    return !__builtin_add_overflow(a->sum, a->last, &a->sum) ||
           bad(o, REASON_OUT_OF_RANGE, "attempts", "run times that fit", "");
}

static void fill_job(struct import *x, const cJSON *object, const struct attempts *a,
                     struct import_job *job)
{
    bool equal = a->equal && a->gpus % a->workers == 0;
    job->workers = equal ? a->workers : philly_workers(a->gpus);
    job->cards = a->gpus / job->workers;
    job->id = names_add(&x->names, text_of(object, "jobid"), NULL);
    job->user = names_add(&x->names, text_of(object, "user"), NULL);
    job->team = names_add(&x->names, text_of(object, "vc"), NULL);
    const char *status = text_of(object, "status");
    const char *state = strcmp(status, "Pass") == 0     ? "completed"
                        : strcmp(status, "Killed") == 0 ? "cancelled"
                        : strcmp(status, "Failed") == 0 ? "failed"
                                                        : "unknown";
    job->state = names_add(&x->names, state, NULL);
}

/* Reads the attempts of a job; false with o set. */
static bool take_attempts(struct import *x, const cJSON *object, struct attempts *a, struct odd *o)
{
    const cJSON *attempt;
    cJSON_ArrayForEach(attempt, cJSON_GetObjectItemCaseSensitive(object, "attempts"))
    {
        if (!take_attempt(x, attempt, a, o)) {
            return false;
        }
    }
    return true;
}

static int64_t duration_of(const struct import *x, const struct attempts *a)
{
    switch (x->o->retries) {
    case RETRIES_SUM:
        return a->sum;
    case RETRIES_LAST:
        return a->last;
    case RETRIES_SPAN:
        return a->last_end > a->first_start ? a->last_end - a->first_start : 0;
    }
    return a->sum;
}

static bool add_job(struct scan *s, const cJSON *object, const struct attempts *a, int64_t submit,
                    struct err *err)
{
    struct import *x = s->x;
    int64_t duration = duration_of(x, a);
    if (!a->started || a->gpus == 0 || (duration == 0 && !x->o->lift_zero)) {
        return import_odd_row(x, !a->started ? REASON_NEVER_STARTED
                                             : a->gpus == 0 ? REASON_ZERO_GPUS : REASON_ZERO_DURATION,
                              s->object_line, text_of(object, "jobid"), err);
    }
    if (duration == 0) {
        duration = SIM_SECOND;
        if (!import_odd_row(x, REASON_ZERO_LIFTED, s->object_line, "", err)) {
            return false;
        }
    }
    struct row_error e;
    if (duration > JOBS_FILE_TIME_MAX || a->gpus > JOBS_FILE_CARDS_MAX * PHILLY_CARDS_PER_NODE) {
        row_error_plain(&e, 1, duration > JOBS_FILE_TIME_MAX ? "expected a run of at most 100 years"
                                                             : "expected at most 8192 GPUs");
        return import_bad_row(x, REASON_OUT_OF_RANGE, s->object_line, &e, err);
    }
    if (a->unfinished && !import_odd_row(x, REASON_STILL_RUNNING, s->object_line, "", err)) {
        return false;
    }
    if (a->first_start < submit && !import_odd_row(x, REASON_START_BEFORE_SUBMIT, s->object_line, "", err)) {
        return false;
    }
    struct import_job *job = import_add_job(x, err);
    if (job == NULL) {
        return false;
    }
    job->submit = submit;
    job->duration = duration;
    job->wait = a->first_start < submit ? IMPORT_WAIT_UNKNOWN : a->first_start - submit;
    job->line = (uint32_t)s->object_line;
    fill_job(x, object, a, job);
    return true;
}

/* One complete object. */
static bool take_object(struct scan *s, struct err *err)
{
    struct import *x = s->x;
    x->account.rows_read++;
    struct odd o = {REASON_BAD_NUMBER, {1, "expected a JSON object of a job"}};
    cJSON *object = cJSON_ParseWithLength(s->text, s->length);
    struct attempts a = {0};
    int64_t submit = 0;
    bool known = false;
    bool fine = object != NULL && take_time(x, object, "submitted_time", &submit, &known, &o) &&
                (known || bad(&o, REASON_NO_SUBMIT, "submitted_time", "a time", "")) &&
                take_attempts(x, object, &a, &o);
    bool go_on = fine ? add_job(s, object, &a, submit, err)
                      : import_bad_row(x, o.reason, s->object_line, &o.error, err);
    cJSON_Delete(object);
    return go_on;
}

/* ---- the array around the jobs ---- */

static void track_string(struct scan *s, char c)
{
    if (s->escaped) {
        s->escaped = false;
    } else if (c == '\\') {
        s->escaped = true;
    } else if (c == '"') {
        s->in_string = false;
    }
}

/* Follows braces inside an object; true when it just ended. */
static bool track_object(struct scan *s, char c)
{
    if (s->in_string) {
        track_string(s, c);
        return false;
    }
    s->in_string = c == '"';
    s->depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    return s->depth == 0;
}

static bool outside(struct scan *s, char c, struct err *err)
{
    bool blank = strchr(" \t\r\n", c) != NULL;
    if (blank || (s->opened && !s->closed && c == ',')) {
        return true;
    }
    if (c == '[' && !s->opened) {
        s->opened = true;
        return true;
    }
    if (c == ']' && s->opened && !s->closed) {
        s->closed = true;
        return true;
    }
    if (c == '{' && s->opened && !s->closed) {
        s->depth = 1;
        s->object_line = s->line;
        s->length = 0;
        s->text = mem_grow(s->text, &s->capacity, 1, 1);
        s->text[s->length++] = c;
        return true;
    }
    char got[2] = {c, '\0'};
    struct row_error e;
    row_error_set(&e, 1, NULL, s->opened ? "an object or the end of the array" : "a JSON array of jobs", got);
    return row_error_raise(&e, s->x->file, s->line, 0, err);
}

static bool take_byte(struct scan *s, char c, struct err *err)
{
    s->line += c == '\n';
    if (s->depth == 0) {
        return outside(s, c, err);
    }
    if (s->length == OBJECT_BYTES_MAX) {
        return err_set(err, ERR_INPUT, "%s:%ld:1: job object longer than %zu bytes", s->x->file,
                       s->object_line, OBJECT_BYTES_MAX);
    }
    s->text = mem_grow(s->text, &s->capacity, s->length + 1, 1);
    s->text[s->length++] = c;
    return !track_object(s, c) || take_object(s, err);
}

bool philly_json_run(struct import *x, struct text_input *in, struct err *err)
{
    struct scan s = {.x = x, .line = 1};
    char buffer[READ_BYTES];
    bool fine = true;
    struct err inner = {0};
    size_t n;
    while (fine && (n = text_input_read(in, buffer, sizeof buffer, &inner)) > 0) {
        for (size_t i = 0; i < n && fine; i++) {
            fine = take_byte(&s, buffer[i], &inner);
        }
    }
    if (fine && inner.code == ERR_NONE && !s.closed) {
        err_set(&inner, ERR_INPUT, "%s:%ld:1: truncated: the array of jobs is not closed", x->file, s.line);
    }
    free(s.text);
    return inner.code == ERR_NONE || err_set(err, inner.code, "%s", inner.text);
}
