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

#include <stdio.h>

/* Status 0: every compared workload agrees to a second or less, 1: some differ, 2: bad input. */
int conform_workloads_files(int n, char **files, FILE *out);

#endif
