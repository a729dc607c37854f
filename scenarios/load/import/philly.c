/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Microsoft Philly 2017 (trace-formats 7.2): philly.csv of Pollux and others (timestamp, duration,
 * num_gpus, gpu_time, cluster; not sorted), or the original cluster_job_log, a JSON array.
 * The flat list gives only the total of GPUs: split into the fewest equal workers of at most 8, the
 * cards of a Philly node.
 */
#include <string.h>

#include "scenarios/load/import/import_ctx.h"
#include "scenarios/load/jobs_file.h"

enum { COL_TIME, COL_DURATION, COL_GPUS, COL_CLUSTER, COL_GPU_TIME, COL_COUNT };

static const struct import_column columns[COL_COUNT] = {
    {"timestamp", true}, {"duration", true}, {"num_gpus", true}, {"cluster", true}, {"gpu_time", false}};

/* The fewest equal workers that fit a node: 12 GPUs are 2 x 6, 11 are 11 x 1. */
int32_t philly_workers(int64_t gpus)
{
    int64_t workers = (gpus + PHILLY_CARDS_PER_NODE - 1) / PHILLY_CARDS_PER_NODE;
    while (gpus % workers != 0) {
        workers++;
    }
    return (int32_t)workers;
}

static enum import_verdict take_row
(struct import_rows *r)
{
    int64_t submit;
    int64_t duration;
    int64_t gpus;
    if (!import_time(r, COL_TIME, &submit) || !import_duration(r, COL_DURATION, &duration) ||
        !import_decimal(r, COL_GPUS, 0, 0, JOBS_FILE_CARDS_MAX, "a number of GPUs from 0 to 1024", &gpus)) {
        return ROW_BAD;
    }
    if (gpus == 0) {
        return import_row_drop(r, REASON_ZERO_GPUS);
    }
    enum import_verdict verdict = import_check_duration(r, &duration, COL_DURATION);
    if (verdict != ROW_USED) {
        return verdict;
    }
    struct import_job *job = import_add_job(r->x, r->err);
    if (job == NULL) {
        return ROW_FAILED;
    }
    job->submit = submit;
    job->duration = duration;
    job->wait = IMPORT_WAIT_UNKNOWN;
    job->workers = philly_workers(gpus);
    job->cards = (int32_t)gpus / job->workers;
    job->team = import_name(r, COL_CLUSTER);
    job->line = (uint32_t)r->csv.line;
    return ROW_USED;
}

static char first_mark(const char *head, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (strchr(" \t\r\n", head[i]) == NULL) {
            return head[i];
        }
    }
    return '\0';
}

bool philly_detect(const char *head, uint64_t n)
{
    return (import_head_has(head, n, "num_gpus") && import_head_has(head, n, "cluster")) ||
           first_mark(head, n) == '[';
}

bool philly_run(struct import *x, struct text_input *in, struct err *err)
{
    const char *head;
    size_t n;
    if (!text_input_peek(in, &head, &n, err)) {
        return false;
    }
    if (first_mark(head, n) == '[') {
        return philly_json_run(x, in, err);
    }
    return import_rows_run(x, in, columns, COL_COUNT, take_row, err);
}
