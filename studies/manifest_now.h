/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cluster as it is at the moment of its dump: workloads hold the quota that their status says, on
 * the flavors it says, since the instants it says; the others wait. Then one more job comes, and the
 * shipped policy decides.
 *
 * The holders are admitted while every queue has unlimited quota and a pinned flavor; afterwards the
 * real objects replace those. Where on the nodes they are is not known: for topology flavors the
 * nodes count as empty.
 */
#ifndef STUDIES_MANIFEST_NOW_H
#define STUDIES_MANIFEST_NOW_H

#include "scenarios/load/manifest/manifest.h"
#include "sim/err.h"

/* What is tried instead of the job as it is; 0 or POLICY_NIL where nothing changes. */
struct mnow_try {
    uint32_t set;      /* this pod set ... */
    int64_t count;     /* ... gets so many pods; POLICY_NIL: as it is */
    int64_t priority;  /* POLICY_NIL: as it is */
    /* quota of the job's cluster queue on (flavor, resource): */
    uint32_t flavor, resource;
    int64_t more_nominal, more_borrowing; /* added */
};

enum { MNOW_VICTIMS_MAX = 64, MNOW_TRIES_MAX = 64, MNOW_SHARES_MAX = 16 };

/* What its evaluation looked at: the one that evicts, else the last. */
struct mnow_evaluation {
    struct policy_try tries[MNOW_TRIES_MAX]; /* in the order of the scan */
    uint32_t spared[MNOW_VICTIMS_MAX];       /* by fill-back */
    struct policy_shares shares[MNOW_SHARES_MAX];
    uint32_t try_count, spared_count, share_count;
};

struct mnow_outcome {
    bool admitted;
    uint32_t victim_count; /* preempting, when it is not admitted: whom */
    uint32_t victims[MNOW_VICTIMS_MAX];
    enum policy_evict_reason rules[MNOW_VICTIMS_MAX];
    uint32_t flavors[8];   /* admitted: of the first pod set's resources, by choice */
    uint32_t resources[8], choice_count;
    bool has_reason;
    struct policy_reason reason;
    struct mnow_evaluation looked;
    uint32_t not_restored; /* holders that could not be put back as recorded */
    uint32_t rank, pending; /* place of the job among what waits in its queue, from 1 */
};

struct mnow_try mnow_as_it_is(void);

/* `job` is a workload of m. False with err when the policy refuses the configuration. */
bool mnow_try(struct manifest *m, uint32_t job, const struct mnow_try *t, struct mnow_outcome *out,
              struct err *err);

#endif
