/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scaler: what a world uses for one service. A KEDA ScaledObject polled every pollingInterval and
 * the HPA it makes, synced every sync_period, both on clocks of their own:
 *   polls at poll_phase + k * pollingInterval, syncs at sync_phase + k * sync_period, k >= 0;
 *   at one instant the poll comes first (specs "autoscaling" 4).
 *
 * The world runs as few of them as matter:
 *   scaler_run(s, now, ...)        runs what is due at now (a poll, a sync, or both)
 *   scaler_next_due(s, now)        first instant >= now at which something is due: use it when an
 *                                  input changed (metric, replicas, ready pods)
 *   scaler_next_change(s)          first due instant at which the outcome could differ if all
 *                                  inputs stay as they were at the last run, or SIM_NEVER
 * What lies between is left out and costs nothing; the next run makes up for it (the windows see
 * the recommendations that were left out, lastActive the polls). Leaving out gives exactly the
 * decisions that running everything gives. Contract: when an input changes at t, the run at
 * scaler_next_due(s, t) must not be left out, and inputs are those at the instant of the run.
 *
 * The scaler decides and the world applies: after a decision with write set, spec.replicas is
 * decision.replicas from that instant on. Pods that come or go with it at the same instant need no
 * notice of their own; pods that follow later are changed inputs.
 */
#ifndef MODELS_ELASTIC_SCALER_H
#define MODELS_ELASTIC_SCALER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/elastic/hpa.h"
#include "models/elastic/keda.h"
#include "sim/err.h"
#include "sim/sim_time.h"

struct scaler_config {
    struct keda_config keda; /* the ScaledObject, with advanced.horizontalPodAutoscalerConfig */
    struct hpa_config hpa;   /* controller settings only: tolerance, downscale_stabilization, cpu
                                delays, gate; minReplicas, maxReplicas, behavior and metrics come
                                from keda */
    sim_time sync_period;    /* 15 s */
    sim_time poll_phase, sync_phase; /* first poll, first sync: instants */
    sim_time query_latency;  /* time one metric query of a poll takes; twice when it fails */
    sim_time created;        /* creation of the ScaledObject */
};

/* KEDA's and the controller's defaults; phases, latency and creation 0; no trigger. */
struct scaler_config scaler_config_defaults(void);

/* False with ERR_INPUT when the manifest would be refused or a period is not positive. */
bool scaler_config_check(const struct scaler_config *cfg, struct err *e);

struct scaler; /* opaque: memory of both controllers */

/* The config is copied. REQUIREs scaler_config_check. */
struct scaler *scaler_create(const struct scaler_config *cfg);
void scaler_destroy(struct scaler *s);

/* What both controllers look at, at one instant. Everything is constant between changes. */
struct scaler_inputs {
    const struct keda_sample *samples; /* one per trigger */
    struct hpa_target target; /* current, status_replicas, pod_count, ready_count; pods may be NULL
                                 unless a cpu or memory trigger exists */
    const struct hpa_reading *resources; /* per trigger; read for cpu and memory only; or NULL */
};

#define SCALER_NO_METRIC (-2)

enum scaler_owner { SCALER_OWNER_KEDA, SCALER_OWNER_HPA };

/* One decision with its arithmetic. */
struct scaler_decision {
    enum scaler_owner owner;
    sim_time t;
    int32_t current, replicas;
    bool write;
    const char *reason;    /* static: the row's or condition's name that bound */
    int32_t metric;        /* trigger index, KEDA_COMPOSITE or SCALER_NO_METRIC */
    double value, target;  /* metric value, and threshold (KEDA: activation; HPA: per replica) */
    double ratio;          /* HPA: usage over target */
    int32_t raw;           /* HPA: recommendation before the brakes */
    int32_t stabilised;    /* HPA: after the windows */
    int32_t limit;         /* HPA: rate limit that was looked at */
    enum hpa_limit limited_by;
};
/* "HPA 4 -> 8: ScaleUpLimit; metric 0 = 120 / 10, ratio 3, raw 12, stabilised 12, limit 8".
 * Returns what snprintf returns. */
int scaler_describe(const struct scaler_decision *d, char *buf, size_t size);

/* Runs what is due at now and returns the number of decisions (0, 1 or 2: KEDA's first), in
 * out[2]. The sync sees the replicas that the poll wrote. When nothing is due it does nothing. */
int scaler_run(struct scaler *s, sim_time now, const struct scaler_inputs *in,
               struct scaler_decision out[2]);

/* One poll or one sync at an instant of the caller's choosing (jittered clocks). */
void scaler_poll(struct scaler *s, sim_time now, const struct scaler_inputs *in,
                 struct scaler_decision *out);
void scaler_sync(struct scaler *s, sim_time now, const struct scaler_inputs *in,
                 struct scaler_decision *out);

/* First due instant >= now that has not been run. */
sim_time scaler_next_due(const struct scaler *s, sim_time now);
sim_time scaler_next_change(const struct scaler *s);

/* Read-only views, for records and tests. */
const struct keda_state *scaler_keda(const struct scaler *s);
const struct hpa_state *scaler_hpa(const struct scaler *s);
const struct hpa_config *scaler_hpa_config(const struct scaler *s);

#endif
