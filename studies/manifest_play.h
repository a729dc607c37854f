/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replays the workloads of a manifest through the shipped admission policy and policy_settle, at
 * the level of quota. A workload is submitted at its creation; once admitted it runs after the
 * delay of its queue's admission checks and its recorded start-up, for its duration; an evicted one
 * begins anew, as Kueue keeps nothing of it. The replay ends when nothing more follows, at the
 * horizon, or where workloads evict each other without end.
 */
#ifndef STUDIES_MANIFEST_PLAY_H
#define STUDIES_MANIFEST_PLAY_H

#include "models/policies/settle.h"
#include "scenarios/load/manifest/manifest.h"
#include "sim/err.h"

struct mplay_run { /* of one workload; times in ns since the start, POLICY_NEVER: did not happen */
    int64_t reserved;  /* the first reservation of quota */
    int64_t last_reserved;
    int64_t started, finished, deactivated;
    int64_t lost_ns;   /* run time that evictions threw away */
    int64_t run_since; /* begin of the current run */
    uint32_t admissions, evictions, preemptions;
    int64_t counted;   /* main resource it holds now */
    uint32_t generation;
    bool submitted, holds;
};

struct mplay;

/* What happens, for those who record it. Any may be NULL. */
struct mplay_watch {
    void *ctx;
    void (*output)(void *ctx, const struct mplay *p, int64_t now, const struct policy_output *o);
    void (*submitted)(void *ctx, const struct mplay *p, int64_t now, uint32_t workload);
    void (*finished)(void *ctx, const struct mplay *p, int64_t now, uint32_t workload);
    /* All of an instant is settled; the next one is later. */
    void (*instant)(void *ctx, const struct mplay *p, int64_t now);
};

/* Decision specification 2.11. */
#define MPLAY_KUEUE_BATCH INT64_C(1000000000)

struct mplay_options {
    int64_t horizon_ns;  /* POLICY_NEVER: until nothing follows */
    int64_t eviction_ns; /* from an eviction to the release of its quota */
    int64_t requeue_batch_ns; /* wake-ups are collected this long; MPLAY_KUEUE_BATCH as Kueue does */
    bool reasons;        /* the policy tells reasons and waiting groups */
    struct mplay_watch watch;
};

struct mplay {
    const struct manifest *m;
    struct mplay_options opt;
    const struct policy_ops *ops;
    void *policy;
    struct settle *settle;
    struct mplay_run *runs; /* by workload */
    int64_t *queue_used;    /* by cluster queue: main resource that its admitted workloads hold */
    int64_t now, end_ns;    /* end: where the replay stopped */
    uint64_t cycles, settles;
    bool loop;              /* workloads evict each other again and again (settle_loop) */
    bool stopped;           /* and nothing ended it: the replay stopped there */
    /* inside */
    struct mplay_event *events;
    size_t event_count, event_capacity;
    struct policy_input *inputs;
    size_t input_count, input_capacity;
    uint32_t next, idle_evictions; /* since a workload finished */
};

/* False with err when the policy refuses the configuration. mplay_fini in every case. */
bool mplay_run(struct mplay *p, const struct manifest *m, const struct mplay_options *options,
               struct err *err);
void mplay_fini(struct mplay *p);

/* Cluster queue of a workload that can be submitted. */
uint32_t mplay_queue(const struct manifest *m, uint32_t workload);

/* One line for each step of the loop found: "b evicts a (InClusterQueue)". */
void mplay_print_loop(const struct mplay *p, FILE *out);

#endif
