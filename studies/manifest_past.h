/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `conform workloads DUMP...`: the workloads of a dump replayed from their creation with their
 * recorded run times, and the simulated instants of quota reservation held against the recorded
 * ones, by cluster queue.
 *
 * A condition keeps only its last change: of a workload that was evicted, the last reservation is
 * compared. A dump holds what still exists, and no workload that held quota before the oldest one
 * in it; both make simulated waits shorter than the recorded ones.
 */
#ifndef STUDIES_MANIFEST_PAST_H
#define STUDIES_MANIFEST_PAST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/load/manifest/manifest.h"
#include "sim/err.h"

struct manifest_agreement { /* of one cluster queue, or of all; times in seconds */
    const char *queue;      /* "" for all */
    uint32_t compared, within_1s, within_60s, only_recorded, only_simulated;
    double error_p50, error_p95, recorded_wait, simulated_wait; /* waits: means */
};

/* Replays the recorded past: all queues with anything to compare, and the sum last. False with err
 * when the policy refuses the configuration. An empty list: no reservation is recorded. The list is
 * the caller's to free; names are the manifest's. Durations that were not recorded are left as they
 * are. */
bool manifest_past(struct manifest *m, struct manifest_agreement **list, uint32_t *count, struct err *err);

/* Status 0: every compared workload agrees to a second or less, 1: some differ, 2: bad input. */
int conform_workloads_files(int n, char **files, FILE *out);

#endif
