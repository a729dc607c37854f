/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kueue's scheduler performance test (kubernetes-sigs/kueue, test/performance/scheduler; rules the same
 * at b5804b77c1, of the week in which the large-scale means were taken, and at ff69552e) at the pace of
 * its API client. What takes time there, by its sources:
 *
 *  - minimalkueue/main.go: 50 requests/s, burst 100. controller-runtime opens a REST client, so a
 *    limiter, for each kind (client_rest_resources.go): writes of Workloads wait for their token behind
 *    all writes of Workloads before them, and never for the status updates of queues. One parameter
 *    stands for it here: `write_ns`, the service time of a write, so the time that an admission costs.
 *  - An admission is decided in the cycle, which also stamps its time; its write is made beside the
 *    cycle. The run time begins when it is written, and the quota is free when the runner, which has
 *    a client of 1,000 requests/s (envtest's default), has set Finished.
 *  - A cycle waits for its own writes: each eviction, and the status of each head that it puts back.
 *    That status is written only when the condition changes (requeueAndUpdate, and
 *    UnsetQuotaReservationWithCondition): its text has how much is missing and how many are being
 *    preempted. The next cycle begins when they are done, or 1 to 10 ms later if it admitted nothing.
 *  - A cycle works: it asks every queue for its head and copies every queue's state, then nominates and
 *    processes head by head. Slower while objects are created, as the API server needs the same cores.
 *  - Evicted workloads give their quota back as soon as the eviction is written. Wakes are
 *    collected for 1 s.
 *  - The generator makes the workloads of a set one after the other, an interval after the one
 *    before was created, through its client of 1,000 requests/s, burst 2,000.
 *  - Time to admission was measured until the runner saw the last admission; since pull request 13313,
 *    after the published means, until the admission was decided.
 *
 * The decisions are those of policy_kueue(); only their pace is made here.
 */
#ifndef BENCH_KUEUE_PACED_H
#define BENCH_KUEUE_PACED_H

#include <stdbool.h>
#include <stdint.h>

enum { PACED_CLASSES = 3 };

struct paced_class { /* a workloadsSet with one template */
    const char *name;
    uint32_t count; /* in each queue */
    int64_t interval_ms, runtime_ms, priority, request;
};

struct paced_config { /* a generator.yaml: reclaimWithinCohort Any, withinClusterQueue LowerPriority */
    uint32_t cohorts, queues; /* queues: in each cohort */
    int64_t nominal, borrowing;
    struct paced_class classes[PACED_CLASSES];
};

struct paced_pace { /* all but write_ns may be 0 */
    int64_t write_ns;
    int64_t queue_ns;              /* of a cycle, for each queue there is */
    int64_t creating_ns, quiet_ns; /* of a cycle, for each head: while workloads are created; later */
    int64_t round_trip_ns;         /* longest of a creation and of Finished; drawn from 0 up to it */
    uint64_t seed;
    bool before_hashing; /* SchedulingEquivalenceHashing off, as before May 2026 */
};

struct paced_result {
    double admission_ms[PACED_CLASSES]; /* mean, from creation until the admission is written */
    double decision_ms[PACED_CLASSES];  /* the same until it is decided */
    double wall_ms;                     /* until the last one has finished */
    uint64_t admissions, evictions, writes, cycles;
};

void paced_run(const struct paced_config *config, const struct paced_pace *pace, struct paced_result *result);

#endif
