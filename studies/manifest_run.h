/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `run --manifests`: the workloads of a cluster replayed into a results database. */
#ifndef STUDIES_MANIFEST_RUN_H
#define STUDIES_MANIFEST_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/err.h"
#include "sim/record.h"

enum { MANIFEST_FILES_MAX = 64 };

/* Settings that a run keeps so that it can be repeated (table param): the horizon in ns, "" without
 * one; and `durations`, which is this where recorded run times are enough. */
#define MANIFEST_HORIZON_PARAM "replay.horizon_ns"
#define MANIFEST_DURATIONS_RECORDED "of finished workloads"

struct manifest_run_options {
    const char *files[MANIFEST_FILES_MAX];
    int file_count;
    const char *name, *text; /* of the scenario that names the files; NULL: files alone */
    const char *durations;   /* file or distribution; NULL */
    const char *output;      /* results database */
    uint64_t seed;           /* of drawn durations */
    int64_t horizon_ns;      /* INT64_MAX: until nothing follows */
    bool decisions;          /* store decisions and single workloads */
};

struct manifest_run_result {
    uint32_t workloads;
    uint64_t cycles;
    bool loops;              /* workloads evict each other; which ones is on stderr */
};

/* Problems and warnings go to stderr. False with err (text "" when they were printed). */
bool manifest_run(const struct manifest_run_options *o, struct manifest_run_result *result, struct err *err);

/* The same once more, into a sink, without a word; only problems go to stderr. *demand: the hash of what
 * was replayed. o->output is not used. */
bool manifest_repeat(const struct manifest_run_options *o, int64_t run_id, const struct record_sink *sink, uint64_t *demand,
                     struct err *err);

#endif
