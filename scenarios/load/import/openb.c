/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Alibaba openb 2023 pods (trace-formats 8.1). num_gpu 1 with gpu_milli below 1000 is a share of a
 * card; else num_gpu whole cards, whatever gpu_milli says per card; cpu and memory are kept. A pod without
 * cards is dropped, or with --zero-gpus keep a job of cpu and memory alone. A pod without scheduled_time
 * never started. Files that end after gpu_milli have no times: arrivals one second apart, and no
 * pod leaves (a packing input).
 */
#include <string.h>

#include "scenarios/load/import/import_ctx.h"
#include "scenarios/load/jobs_file.h"

enum { COL_NAME, COL_GPUS, COL_MILLI, COL_SPEC, COL_QOS, COL_PHASE, COL_CREATED, COL_DELETED,
       COL_SCHEDULED, COL_CPU, COL_MEMORY, COL_COUNT };

#define AMOUNT_MAX 1000000000
#define STAYS (10 * 365 * SIM_DAY) /* a pod that does not leave */

static const struct import_column columns[COL_COUNT] = {
    {"name", true}, {"num_gpu", true}, {"gpu_milli", true}, {"gpu_spec", false}, {"qos", false},
    {"pod_phase", false}, {"creation_time", false}, {"deletion_time", false}, {"scheduled_time", false},
    {"cpu_milli", false}, {"memory_mib", false}};

struct pod {
    int64_t submit, start, end; /* start -1: never scheduled */
    int64_t gpus, milli;
    int64_t cpu_milli, memory_mib; /* -1: not known */
};

static enum import_verdict take_times(struct import_rows *r, struct pod *p)
{
    p->start = -1;
    if (!import_time(r, COL_CREATED, &p->submit)) {
        return ROW_BAD;
    }
    if (import_text(r, COL_SCHEDULED)[0] == '\0') {
        return import_row_drop(r, REASON_NEVER_STARTED);
    }
    if (!import_time(r, COL_SCHEDULED, &p->start) || !import_time(r, COL_DELETED, &p->end)) {
        return ROW_BAD;
    }
    return p->end < p->start
               ? import_row_bad(r, REASON_END_BEFORE_START, COL_DELETED, "a time not before scheduled_time")
               : ROW_USED;
}

static enum import_verdict times_or_sequence(struct import_rows *r, struct pod *p)
{
    if (r->at[COL_CREATED] >= 0) {
        return take_times(r, p);
    }
    r->x->sequential = true;
    r->x->clock.kind = CLOCK_NUMBERS;
    p->submit = p->start = (int64_t)(r->x->account.rows_read - 1) * SIM_SECOND;
    p->end = p->start + STAYS;
    return ROW_USED;
}

/* openb names the empty phase never; the four others are states. */
static const char *state_of(const char *phase)
{
    return strcmp(phase, "Succeeded") == 0 ? "completed"
           : strcmp(phase, "Failed") == 0  ? "failed"
           : strcmp(phase, "Running") == 0 ? "running"
           : strcmp(phase, "Pending") == 0 ? "pending"
                                           : "unknown";
}

static enum import_verdict add_job(struct import_rows *r, const struct pod *p)
{
    bool is_new;
    uint32_t id = names_add(&r->x->names, import_free_text(r, COL_NAME), &is_new);
    if (id != 0 && !is_new) {
        return import_row_bad(r, REASON_DUPLICATE_ID, COL_NAME, "a name that no row before has");
    }
    int64_t duration = p->end - p->start;
    enum import_verdict verdict = import_check_duration(r, &duration, COL_DELETED);
    if (verdict != ROW_USED) {
        return verdict;
    }
    if (p->start < p->submit && !import_repair(r, REASON_START_BEFORE_SUBMIT, COL_SCHEDULED)) {
        return ROW_FAILED;
    }
    struct import_job *job = import_add_job(r->x, r->err);
    if (job == NULL) {
        return ROW_FAILED;
    }
    bool no_cards = p->gpus == 0 || p->milli == 0;
    bool share = !no_cards && p->gpus == 1 && p->milli < 1000;
    job->submit = p->submit;
    job->duration = duration;
    job->wait = p->start < p->submit || r->x->sequential ? IMPORT_WAIT_UNKNOWN : p->start - p->submit;
    job->cards = share || no_cards ? 0 : (int32_t)p->gpus;
    job->share_milli = share ? (int32_t)p->milli : 0;
    job->cpu_milli = p->cpu_milli;
    job->memory_mib = p->memory_mib;
    job->id = id;
    job->card_type = import_name(r, COL_SPEC);
    job->cls = import_name(r, COL_QOS);
    job->state = r->at[COL_PHASE] < 0
                     ? 0
                     : names_add(&r->x->names, state_of(import_text(r, COL_PHASE)), NULL);
    job->line = (uint32_t)r->csv.line;
    return ROW_USED;
}

static bool take_amount(struct import_rows *r, int c, const char *expected, int64_t *out)
{
    return import_text(r, c)[0] == '\0' || import_decimal(r, c, 0, 0, AMOUNT_MAX, expected, out);
}

static enum import_verdict take_row(struct import_rows *r)
{
    struct pod p = {.cpu_milli = -1, .memory_mib = -1};
    if (!import_decimal(r, COL_GPUS, 0, 0, JOBS_FILE_CARDS_MAX, "a number of GPUs from 0 to 1024", &p.gpus) ||
        !import_decimal(r, COL_MILLI, 0, 0, 1000, "thousandths of a GPU from 0 to 1000", &p.milli) ||
        !take_amount(r, COL_CPU, "thousandths of a cpu from 0 to 10^9", &p.cpu_milli) ||
        !take_amount(r, COL_MEMORY, "MiB from 0 to 10^9", &p.memory_mib)) {
        return ROW_BAD;
    }
    bool no_cards = p.gpus == 0 || p.milli == 0;
    bool of_cpu = p.cpu_milli > 0 || p.memory_mib > 0;
    if (no_cards && !(r->x->o->keep_cpu_jobs && of_cpu)) {
        return import_row_drop(r, REASON_ZERO_GPUS);
    }
    enum import_verdict verdict = times_or_sequence(r, &p);
    return verdict == ROW_USED ? add_job(r, &p) : verdict;
}

bool openb_detect(const char *head, uint64_t n)
{
    return import_head_has(head, n, "gpu_milli");
}

bool openb_run(struct import *x, struct text_input *in, struct err *err)
{
    bool fine = import_rows_run(x, in, columns, COL_COUNT, take_row, err);
    if (fine && x->sequential) {
        import_note(x, "no times in the file: arrivals 1 s apart, no pod leaves for 10 years");
    }
    return fine;
}
