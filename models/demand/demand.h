/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Demand at run time: jobs arriving one by one (streamed: memory does not grow with the length of
 * a trace) and traffic rates step by step. Streams are keyed by (seed, replication, purpose,
 * entity) and know nothing of the arbiter.
 */
#ifndef MODELS_DEMAND_DEMAND_H
#define MODELS_DEMAND_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "models/demand/demand_config.h"
#include "sim/err.h"

/* Purposes of random streams; never renumber. */
enum demand_purpose {
    PURPOSE_ARRIVALS = 1, PURPOSE_ARRIVAL_RATE, PURPOSE_JOB, PURPOSE_TRAFFIC_RATE, PURPOSE_TRAFFIC_BURST,
    PURPOSE_COLD_START, PURPOSE_JOB_FAILURE, PURPOSE_PLACEMENT, PURPOSE_MANAGED, PURPOSE_ARRIVAL_BURST,
    PURPOSE_INCIDENT
};

/* Of each worker, in place of what its stream says; -1: what the stream says. */
struct job_amounts {
    int64_t cpu_milli, memory_bytes;
};

/* One job as it arrives. */
struct job_spec {
    uint64_t id;               /* number within its stream, from 0 */
    sim_time submit;
    sim_time work;             /* undisturbed run time (per card), ns, >= 1 */
    int32_t workers, cards_per_worker; /* cards_per_worker 0 with share_milli > 0, or a job of cpu and memory alone */
    int32_t share_milli;
    struct job_amounts amounts;
    int32_t queue;             /* index; the stream's unless the file names one */
    int32_t team;
    int32_t priority;
    sim_time checkpoint_interval;
    double trace_wait_s;       /* what the trace says it waited, NaN when unknown */
};

/* A source of jobs in order of submit (ties: file order). */
struct job_source;

/* Opens stream `index` of the scenario. Files are opened through open_file (given by the loader,
 * since models read no formats); NULL when cfg->file is NULL. */
struct job_reader {
    void *ctx;
    /* Fills the next job; false at the end or on error (then err is set). */
    bool (*next)(void *ctx, struct job_spec *out, struct err *err);
    void (*close)(void *ctx);
};
typedef bool (*job_open_fn)(void *loader, const struct job_stream_config *cfg,
                            struct job_reader *out, struct err *err);

struct job_source *job_source_open(const struct job_stream_config *cfg, int32_t index, uint64_t seed,
                                   uint32_t replication, sim_time start_epoch, sim_time horizon,
                                   job_open_fn open_file, void *loader, struct err *err);
/* The next job with submit < horizon; false at the end (or err set). */
bool job_source_next(struct job_source *s, struct job_spec *out, struct err *err);
void job_source_close(struct job_source *s);

/* Traffic of one service: mean rate in each step. */
struct traffic_point {
    double rate_per_s;
    double input_tokens_mean, output_tokens_mean; /* as configured unless the file gives them */
};
struct traffic_reader {
    void *ctx;
    /* Mean over [t, t + step). Called with t ascending. */
    bool (*at)(void *ctx, sim_time t, sim_time step, struct traffic_point *out, struct err *err);
    void (*close)(void *ctx);
};
typedef bool (*traffic_open_fn)(void *loader, const struct service_config *cfg,
                                struct traffic_reader *out, struct err *err);

struct traffic_source;
struct traffic_source *traffic_source_open(const struct service_config *cfg, int32_t index,
                                           uint64_t seed, uint32_t replication, sim_time start_epoch,
                                           sim_time step, traffic_open_fn open_file, void *loader,
                                           struct err *err);
/* Called with t = 0, step, 2*step, ... */
bool traffic_source_next(struct traffic_source *s, sim_time t, struct traffic_point *out,
                         struct err *err);
void traffic_source_close(struct traffic_source *s);

#endif
