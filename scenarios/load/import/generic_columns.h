/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which column of a CSV holds which field, and in which unit (trace-formats 12). */
#ifndef SCENARIOS_LOAD_IMPORT_GENERIC_COLUMNS_H
#define SCENARIOS_LOAD_IMPORT_GENERIC_COLUMNS_H

#include "scenarios/load/import/import_ctx.h"

enum generic_field {
    GEN_SUBMIT, GEN_START, GEN_END, GEN_DURATION, GEN_WAIT, GEN_GPUS, GEN_GPUS_PER_WORKER, GEN_WORKERS,
    GEN_GPU_MILLI, GEN_GPU_FRACTION, GEN_GPU_TYPE, GEN_ID, GEN_USER, GEN_TEAM, GEN_QUEUE, GEN_PRIORITY,
    GEN_CLASS, GEN_STATE, GEN_MODEL, GEN_INPUT, GEN_OUTPUT, GEN_COUNT
};

struct generic {
    struct import_rows rows; /* first member: row functions get it */
    int64_t unit_ns[GEN_COUNT];
};

/* Starts the CSV (its separator told from the header unless given) and finds the columns. */
bool generic_open(struct generic *g, struct text_input *in, struct err *err);

#endif
