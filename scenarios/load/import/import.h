/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fleetsim import: other people's traces into our jobs and traffic files, with an account of what
 * was read, used and dropped, and why. One format = one file here + one row of the table in
 * table.c. Rows are kept in memory until they are sorted (a job takes 80 bytes and the text of its
 * id, a request 24; at most IMPORT_ROWS_MAX rows); replaying the result streams.
 *
 * A bad row (a time or number that cannot be read, an end before a start, ...) is an error that
 * names file, line and column, unless --skip-bad tolerates it. A row that the format marks as
 * no work (never started, no GPU) is dropped and counted; with --strict it is an error too.
 */
#ifndef SCENARIOS_LOAD_IMPORT_IMPORT_H
#define SCENARIOS_LOAD_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/err.h"
#include "sim/sim_time.h"

#define IMPORT_ROWS_MAX 100000000u
#define IMPORT_MAPS_MAX 64
#define IMPORT_ONLY_MAX 8

enum import_form { FORM_AUTO, FORM_JOBS, FORM_REQUESTS, FORM_RATES };
enum import_retries { RETRIES_SUM, RETRIES_LAST, RETRIES_SPAN };

/* Texts are kept, not copied. A zeroed struct after import_options_init is the default. */
struct import_options {
    enum import_form form;
    const char *start;          /* instant or offset that becomes second 0; NULL = earliest submit */
    sim_time window;            /* length kept after start; 0 = all */
    int64_t sample_ppm;         /* part of the rows kept, in millionths */
    uint64_t seed;              /* of the sample */
    int64_t arrivals_ppm;       /* inter-arrival times are divided by this / 10^6 */
    int64_t durations_ppm;      /* durations are multiplied by this / 10^6 */
    const char *tz;             /* zone of times without one; NULL = UTC */
    int64_t unit_ns;            /* of times and durations that are bare numbers */
    char separator;             /* of generic CSV; 0 = told from the header */
    const char *map[IMPORT_MAPS_MAX]; /* "name=column" of generic CSV */
    int map_count;
    const char *only[IMPORT_ONLY_MAX]; /* "team=a,b": rows kept */
    int only_count;
    sim_time step;              /* of rates made from requests */
    bool lift_zero;             /* a duration of 0 becomes 1 s instead of dropping the job */
    bool keep_cpu_jobs;         /* openb: pods without cards are jobs of cpu and memory alone */
    enum import_retries retries; /* how the attempts of one job make its duration */
    bool per_client;            /* rates: one service per client instead of their sum */
    bool strict;
    uint64_t skip_bad;
};

void import_options_init(struct import_options *o);

/* Sets an option by its long name without dashes; value is kept. False and err (ERR_INPUT) when
 * the value is not of the expected form. */
bool import_options_set(struct import_options *o, const char *name, const char *value, struct err *err);

struct import; /* one import under way; import_ctx.h */
struct text_input;

struct importer {
    const char *name, *help;
    enum import_form form;                         /* of its output unless --format says otherwise */
    bool (*detect)(const char *head, uint64_t n);  /* do the first bytes look like it? */
    bool (*run)(struct import *x, struct text_input *in, struct err *err); /* takes one file */
    bool (*finish)(struct import *x, struct err *err); /* after the last file; may be NULL */
};

/* All importers, `*count` of them. */
const struct importer *import_table(int *count);
const struct importer *import_find(const char *name);
void import_list(FILE *out);

/* Reads the files ("-" = standard input), writes `output` (under a temporary name, renamed at the
 * end; "-" = standard output) and prints the account. False and err: ERR_INPUT for the files,
 * ERR_SYSTEM for the output; then nothing of the output is left. */
bool import_run(const struct importer *which, const struct import_options *o, char *const *files,
                int file_count, const char *output, FILE *account, struct err *err);

/* One input in memory, output thrown away: for tests and fuzzing. */
bool import_memory(const struct importer *which, const struct import_options *o, const char *data,
                   uint64_t n, FILE *out, FILE *account, struct err *err);

#endif
