/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/import/import_ctx.h"
#include "scenarios/load/import/out_file.h"
#include "scenarios/load/jobs_file.h"
#include "sim/arena.h"
#include "sim/check.h"

/* ---- the account of rows ---- */

bool import_bad_row(struct import *x, enum import_reason r, long line, const struct row_error *e,
                    struct err *err)
{
    if (x->o->strict || x->account.bad >= x->o->skip_bad) {
        row_error_raise(e, x->file, line, x->account.bad, err);
        return false;
    }
    account_count(&x->account, r, line);
    return true;
}

bool import_odd_row(struct import *x, enum import_reason r, long line, const char *got, struct err *err)
{
    if (x->o->strict) {
        return err_set(err, ERR_INPUT, "%s:%ld:1: %s%s%.40s%s, refused by --strict", x->file, line,
                       reason_name(r), got[0] != '\0' ? " '" : "", got, got[0] != '\0' ? "'" : "");
    }
    account_count(&x->account, r, line);
    return true;
}

static bool full(const struct import *x, struct err *err)
{
    size_t rows = x->jobs.count + x->requests.count;
    return rows >= IMPORT_ROWS_MAX &&
           !err_set(err, ERR_INPUT, "%s: more than %u rows; import the trace in parts", x->file,
                    IMPORT_ROWS_MAX);
}

struct import_job *import_add_job(struct import *x, struct err *err)
{
    if (full(x, err)) {
        return NULL;
    }
    struct import_job *j = chunks_add(&x->jobs);
    j->workers = 1;
    j->wait = IMPORT_WAIT_UNKNOWN;
    j->cpu_milli = j->memory_mib = -1;
    return j;
}

struct import_request *import_add_request(struct import *x, struct err *err)
{
    if (full(x, err)) {
        return NULL;
    }
    struct import_request *q = chunks_add(&x->requests);
    q->input = q->output = IMPORT_NO_TOKENS;
    return q;
}

/* ---- one import ---- */

static bool begin(struct import *x, const struct importer *which, const struct import_options *o,
                  struct err *err)
{
    memset(x, 0, sizeof *x);
    x->which = which;
    x->o = o;
    x->form = o->form != FORM_AUTO ? o->form : which->form;
    x->file = "";
    x->clock.unit_ns = o->unit_ns;
    chunks_init(&x->jobs, sizeof(struct import_job));
    chunks_init(&x->requests, sizeof(struct import_request));
    chunks_init(&x->rates, sizeof(struct import_rate));
    chunks_init(&x->lengths, sizeof(struct import_length));
    return tz_open(&x->clock.tz, o->tz, err);
}

static void end(struct import *x)
{
    for (size_t i = 0; i < x->source_count; i++) {
        free(x->sources[i].name);
    }
    free(x->sources);
    chunks_fini(&x->jobs);
    chunks_fini(&x->requests);
    chunks_fini(&x->rates);
    chunks_fini(&x->lengths);
    names_fini(&x->names);
    tz_fini(&x->clock.tz);
}

/* Remembers the source by its last path component; control bytes must not end the comment line. */
static void remember(struct import *x, struct text_input *in)
{
    x->sources = mem_grow(x->sources, &x->source_capacity, x->source_count + 1, sizeof *x->sources);
    struct import_source *s = &x->sources[x->source_count++];
    const char *slash = strrchr(x->file, '/');
    s->name = mem_strdup(slash != NULL ? slash + 1 : x->file);
    for (char *p = s->name; *p != '\0'; p++) {
        *p = (unsigned char)*p < 32 || *p == 127 ? '?' : *p;
    }
    s->bytes = text_input_bytes(in);
    text_input_sha256(in, s->sha256);
}

static bool take_input(struct import *x, struct text_input *in, struct err *err)
{
    x->file = text_input_name(in);
    text_input_want_sha256(in);
    const char *head;
    size_t n;
    if (!text_input_peek(in, &head, &n, err)) {
        return false;
    }
    if (n == 0) {
        return err_set(err, ERR_INPUT, "%s: empty file, expected a %s trace", x->file, x->which->name);
    }
    if (!x->which->run(x, in, err)) {
        return false;
    }
    remember(x, in);
    return true;
}

static bool take_file(struct import *x, const char *path, struct err *err)
{
    struct text_input *in = text_input_open(path, 0, err);
    if (in == NULL) {
        return false;
    }
    bool fine = take_input(x, in, err);
    x->file = path;
    text_input_close(in);
    return fine;
}

static bool finish(struct import *x, FILE *out, FILE *account, struct err *err)
{
    if (x->which->finish != NULL && !x->which->finish(x, err)) {
        return false;
    }
    if (x->form == FORM_JOBS) {
        return import_write_jobs(x, out, account, err);
    }
    return import_write_traffic(x, out, account, err);
}

bool import_run(const struct importer *which, const struct import_options *o, char *const *files,
                int file_count, const char *output, FILE *account, struct err *err)
{
    REQUIRE(file_count > 0);
    struct import x;
    struct out_file out = {0};
    bool fine = begin(&x, which, o, err);
    for (int i = 0; i < file_count && fine; i++) {
        fine = take_file(&x, files[i], err);
    }
    /* the output is touched only when all input was good */
    fine = fine && out_file_open(&out, output, err) && finish(&x, out.stream, account, err) &&
           out_file_commit(&out, err);
    out_file_abandon(&out);
    end(&x);
    return fine;
}

bool import_memory(const struct importer *which, const struct import_options *o, const char *data,
                   uint64_t n, FILE *out, FILE *account, struct err *err)
{
    struct import x;
    struct text_input *in = text_input_memory("memory", data, (size_t)n, 0);
    bool fine = begin(&x, which, o, err) && take_input(&x, in, err) && finish(&x, out, account, err);
    text_input_close(in);
    end(&x);
    return fine;
}
