/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The jobs file (docs/jobs-file.md): CSV with a header, one job a row, sorted by submit_s. Read as
 * a stream: memory does not grow with its length. What the file leaves out comes from the stream's
 * configuration; time_scale and work_scale are applied by models/demand, not here.
 */
#ifndef SCENARIOS_LOAD_JOBS_FILE_H
#define SCENARIOS_LOAD_JOBS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/demand/demand.h"
#include "scenarios/load/text_input.h"
#include "sim/err.h"

/* Limits of a row; the reader refuses what lies outside. */
#define JOBS_FILE_TIME_MAX (100 * 365 * SIM_DAY)
#define JOBS_FILE_WORKERS_MAX 1000000
#define JOBS_FILE_CARDS_MAX 1024

struct jobs_file_options {
    /* Names of the scenario's queues, for cfg->file_queue_column; kept, not copied. */
    const char *const *queues;
    int32_t queue_count;
    int32_t local_queue_count; /* the last of them are "namespace/name" of manifests */
    const int32_t *queue_ids;  /* of each name, NULL: its position; local queues share that of their queue */
    const int32_t *queue_team; /* team of each name, NULL: always the stream's */
    uint64_t skip_bad;         /* this many bad rows are left out; one more is an error */
};

struct jobs_file_counts {
    uint64_t jobs;    /* handed out */
    uint64_t skipped; /* bad rows left out */
};

/* Opens path (plain, gzip, zstd, "-"). cfg and options must outlive the reader. False and err
 * (ERR_INPUT) when the file cannot be opened or its header is wrong. A bad row makes next() fail
 * with "file:line:column: column: expected ..., got '...'". */
bool jobs_file_open(const char *path, const struct job_stream_config *cfg,
                    const struct jobs_file_options *options, struct job_reader *out, struct err *err);

/* The same over an open input, which it closes, also on failure. */
bool jobs_file_read(struct text_input *in, const struct job_stream_config *cfg,
                    const struct jobs_file_options *options, struct job_reader *out, struct err *err);

struct jobs_file_counts jobs_file_counts(const struct job_reader *reader);

/* Known column names in the order of docs/jobs-file.md, NULL at the end. */
const char *const *jobs_file_columns(void);

#endif
