/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decisions of a replayed manifest as rows of table `decision`, in the words of the simulated
 * worlds: submitted, waiting (with the arithmetic of the flavor that decided), admitted, preempts,
 * evicted, deactivated, finished. The policy gives one reason for all workloads of a queue that have
 * the same shape and priority; it is told of the one that was looked at, and repeats are counted.
 */
#ifndef STUDIES_MANIFEST_DECISIONS_H
#define STUDIES_MANIFEST_DECISIONS_H

#include "sim/record.h"
#include "studies/manifest_play.h"

struct mdecisions;

struct mdecisions *mdecisions_create(const struct manifest *m);
void mdecisions_destroy(struct mdecisions *d);

/* From the watch of a replay. */
void mdecisions_submitted(struct mdecisions *d, const struct mplay *p, int64_t now, uint32_t workload);
void mdecisions_output(struct mdecisions *d, const struct mplay *p, int64_t now, const struct policy_output *o);
void mdecisions_finished(struct mdecisions *d, const struct mplay *p, int64_t now, uint32_t workload);

/* Last reason of a workload that waits or waited; NULL: it never did. Valid until destroy. */
const char *mdecisions_reason(struct mdecisions *d, const struct mplay *p, uint32_t workload);

/* All rows, in order. */
void mdecisions_emit(struct mdecisions *d, const struct mplay *p, int64_t run_id, const struct record_sink *sink);

#endif
