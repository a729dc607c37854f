/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `run --manifests`: the workloads of a cluster replayed into a results database. */
#ifndef STUDIES_MANIFEST_RUN_H
#define STUDIES_MANIFEST_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/err.h"

enum { MANIFEST_FILES_MAX = 64 };

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

#endif
