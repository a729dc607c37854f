/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Alibaba GenAI 2026 (trace-formats 8.4): Stable Diffusion requests with LoRA. Two readings:
 *   jobs      a short job of 1 GPU for exec_time_seconds, user = groupId, model = base checkpoint
 *   requests  arrivals alone (--format requests or rates); its lengths are no LLM tokens
 * Requests that never ran (PENDING, or without execution time) are dropped; FAILED ones used the
 * GPU and are kept (--only state=completed drops them).
 */
#include <string.h>

#include "scenarios/load/import/import_ctx.h"

enum { COL_TIME, COL_STATUS, COL_EXEC, COL_GROUP, COL_MODEL, COL_TYPE, COL_LORA, COL_COUNT };

static const struct import_column columns[COL_COUNT] = {
    {"gmt_create", true}, {"predict_status", true}, {"exec_time_seconds", true}, {"groupId", false},
    {"checkpoint_model_version_id", false}, {"predict_type", false}, {"num_lora", true}};

/* trace-formats 4; NULL when unknown. */
static const char *state_of(const char *status)
{
    static const char *const states[][2] = {{"SUCCEED", "completed"},
                                            {"FAILED", "failed"},
                                            {"PROCESSING", "running"},
                                            {"PENDING", "pending"}};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (strcmp(status, states[i][0]) == 0) {
            return states[i][1];
        }
    }
    return NULL;
}

static enum import_verdict add_request(struct import_rows *r, int64_t time)
{
    struct import_request *q = import_add_request(r->x, r->err);
    if (q == NULL) {
        return ROW_FAILED;
    }
    q->time = time;
    q->line = (uint32_t)r->csv.line;
    return ROW_USED;
}

static enum import_verdict add_job(struct import_rows *r, int64_t submit, int64_t duration,
                                   const char *state)
{
    struct import_job *job = import_add_job(r->x, r->err);
    if (job == NULL) {
        return ROW_FAILED;
    }
    job->submit = submit;
    job->duration = duration;
    job->cards = 1;
    job->user = import_name(r, COL_GROUP);
    job->model = import_name(r, COL_MODEL);
    job->cls = import_name(r, COL_TYPE);
    job->state = names_add(&r->x->names, state, NULL);
    job->line = (uint32_t)r->csv.line;
    return ROW_USED;
}

static enum import_verdict take_row(struct import_rows *r)
{
    int64_t submit;
    int64_t duration = 0;
    const char *state = state_of(import_text(r, COL_STATUS));
    if (!import_time(r, COL_TIME, &submit)) {
        return ROW_BAD;
    }
    if (state == NULL) {
        return import_row_bad(r, REASON_UNKNOWN_STATE, COL_STATUS, "SUCCEED, FAILED, PENDING or PROCESSING");
    }
    if (import_text(r, COL_EXEC)[0] != '\0' && !import_duration(r, COL_EXEC, &duration)) {
        return ROW_BAD;
    }
    if (strcmp(state, "pending") == 0) {
        return import_row_drop(r, REASON_NEVER_STARTED);
    }
    if (r->x->form != FORM_JOBS) {
        return add_request(r, submit);
    }
    if (strcmp(state, "running") == 0 && !import_repair(r, REASON_STILL_RUNNING, COL_STATUS)) {
        return ROW_FAILED;
    }
    enum import_verdict verdict = import_check_duration(r, &duration, COL_EXEC);
    return verdict == ROW_USED ? add_job(r, submit, duration, state) : verdict;
}

bool genai_lora_detect(const char *head, uint64_t n)
{
    return import_head_has(head, n, "num_lora");
}

bool genai_lora_run(struct import *x, struct text_input *in, struct err *err)
{
    return import_rows_run(x, in, columns, COL_COUNT, take_row, err);
}
