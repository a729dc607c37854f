/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Run times of workloads that never finished: a file, or a distribution.
 *
 *   FILE          CSV with the columns workload (name or namespace/name) and duration_s
 *   DISTRIBUTION  a duration (2h), or a law of the scenario reference with its fields behind it:
 *                 lognormal,median=2h,sigma=1.5   exponential,mean=40m   uniform,from=1m,to=3h
 *
 * A drawn duration depends on the seed and the workload's name, not on the other workloads.
 */
#ifndef SCENARIOS_LOAD_MANIFEST_DURATIONS_H
#define SCENARIOS_LOAD_MANIFEST_DURATIONS_H

#include "scenarios/load/manifest/manifest.h"
#include "sim/err.h"

/* Fills duration_ns where it is POLICY_NEVER (forever stays). A file that leaves some out is no
 * error here. False with err: bad text, file or row. */
bool manifest_durations(struct manifest *m, const char *source, uint64_t seed, struct err *err);

/* Workloads that would have to run and have no duration. */
uint32_t manifest_without_duration(const struct manifest *m);

#endif
