/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kueue's scheduler performance test (kubernetes-sigs/kueue, test/performance/scheduler, commit
 * ff69552e) at the pace of its API client. What takes time there, by its sources:
 *
 *  - minimalkueue writes Workloads through one client of 50 requests/s, burst 100: a write waits for
 *    its token behind all writes before it. One parameter stands for it here: `write_ns`, the
 *    service time of a write, so the time that an admission costs.
 *  - An admission is decided in the cycle, which also stamps its time; its write is made beside the
 *    cycle. The run time begins when it is written, and the quota is free when the runner, which has
 *    a client of 1,000 requests/s, has set Finished.
 *  - A cycle waits for its own writes: each eviction, and the status of each head that it puts back.
 *    The next one begins when they are done, or 1 to 10 ms later if it admitted nothing.
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

struct paced_result {
    double admission_ms[PACED_CLASSES]; /* mean, from creation until the admission is written */
    double decision_ms[PACED_CLASSES];  /* the same until it is decided */
    double wall_ms;                     /* until the last one has finished */
    uint64_t admissions, evictions, writes, cycles;
};

void paced_run(const struct paced_config *config, int64_t write_ns, struct paced_result *result);

#endif
