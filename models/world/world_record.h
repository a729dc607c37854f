/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What --record full keeps beside the figures: decisions with their arithmetic, single jobs, and
 * intervals of services (docs/results-schema.md). Without that level world.record is NULL and every
 * function here returns at once.
 *
 * Names of workloads are those of the demand, hence equal under every arbiter: <stream>-<number>
 * for the jobs of a stream (from 0), <service>/<number> for the replicas of a service. The pods of
 * a gang go by the name of their job.
 *
 * A decision is kept when the reason changes; `repeats` counts evaluations that gave the same again.
 * A waiting row speaks for all workloads of its group (queue, shape, priority): the `submitted` row
 * of each workload says its group in `reason`.
 */
#ifndef MODELS_WORLD_WORLD_RECORD_H
#define MODELS_WORLD_WORLD_RECORD_H

#include "models/world/world_priv.h"

#define RECORD_NAME_SIZE 160

struct world_record;

/* NULL unless the level of the run is full. */
struct world_record *record_create(const struct world *w);
void record_destroy(struct world_record *r);

/* The rows of decisions, intervals and jobs that are still in the system; at the end of the run. */
void record_emit(struct world *w);

/* Name of a workload, also without recording (then a replica has no number). */
void record_name(const struct world *w, uint32_t wl, char name[RECORD_NAME_SIZE]);

/* ---- admission ---- */
void record_submitted(struct world *w, uint32_t wl, int64_t priority, uint64_t uid);
void record_output(struct world *w, const struct policy_output *o); /* before it is applied */
void record_outputs_done(struct world *w);
void record_lost(struct world *w, i128 lost_mcns);  /* work lost by the eviction just recorded */
void record_loop(struct world *w);                  /* writes an event of note, at every level */

/* ---- placement and life ---- */
void record_unplaced(struct world *w, uint32_t wl);
void record_preempted(struct world *w, uint32_t victim, uint32_t by); /* by the scheduler */
void record_started(struct world *w, uint32_t wl, sim_time starting, sim_time loading);
void record_released(struct world *w, uint32_t wl);
void record_stopped(struct world *w, uint32_t wl); /* a replica that is no longer wanted */
void record_job_end(struct world *w, uint32_t job);
/* The fluid model of a service went from `from` to now. */
void record_service(struct world *w, uint32_t service, sim_time from);

#endif
