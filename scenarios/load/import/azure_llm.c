/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Azure LLM inference traces 2023 and 2024 (trace-formats 9.1): TIMESTAMP with up to 9 fraction
 * digits and perhaps a zone, ContextTokens, GeneratedTokens; one request a row.
 */
#include "scenarios/load/import/import_ctx.h"

enum { COL_TIME, COL_INPUT, COL_OUTPUT, COL_COUNT, TOKENS_MAX = 1000000000 };

static const struct import_column columns[COL_COUNT] = {
    {"TIMESTAMP", true}, {"ContextTokens", true}, {"GeneratedTokens", true}};

static enum import_verdict take_row(struct import_rows *r)
{
    static const char expected[] = "a number of tokens from 0 to 1000000000";
    int64_t time;
    int64_t input;
    int64_t output;
    if (!import_time(r, COL_TIME, &time) ||
        !import_decimal(r, COL_INPUT, 0, 0, TOKENS_MAX, expected, &input) ||
        !import_decimal(r, COL_OUTPUT, 0, 0, TOKENS_MAX, expected, &output)) {
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

bool azure_llm_detect(const char *head, uint64_t n)
{
    return import_head_has(head, n, "ContextTokens") && import_head_has(head, n, "GeneratedTokens");
}

bool azure_llm_run(struct import *x, struct text_input *in, struct err *err)
{
    return import_rows_run(x, in, columns, COL_COUNT, take_row, err);
}
