/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the tables `workload` and `service_interval`. */
#ifndef MODELS_WORLD_RECORD_JOBS_H
#define MODELS_WORLD_RECORD_JOBS_H

#include "models/world/world_priv.h"

struct managed_life;
struct record_jobs;

struct record_jobs *record_jobs_create(const struct world *w);
void record_jobs_destroy(struct record_jobs *r);

/* <stream>-<number>; name has RECORD_NAME_SIZE bytes. */
void record_job_name(const struct world *w, const struct job *j, char *name);

/* The slot holds a new job. */
void record_jobs_begin(struct record_jobs *r, uint32_t job);
/* It was admitted after waiting for this reason. */
void record_jobs_waited(struct record_jobs *r, uint32_t job, const char *reason);
/* Its row: when it ends (waits NULL), or at the end of the run with what it still waits for. */
void record_jobs_row(struct world *w, struct record_jobs *r, uint32_t job, const char *waits);

/* The row of a job that a managed service ran. */
void record_jobs_managed(const struct world_options *opt, const struct scenario *s, int32_t stream,
                         const struct job_spec *spec, const struct managed_life *managed);

void record_jobs_service(struct world *w, struct record_jobs *r, uint32_t service, sim_time from);
void record_jobs_close(struct world *w, struct record_jobs *r);

#endif
