/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run of the FGD experiment: a pod list grown or cut to a demand of 1.3 clusters, shuffled,
 * placed pod by pod (gpu-sharing 5.2), and what is measured on the way (5.6).
 */
#ifndef BENCH_FGD_RUN_H
#define BENCH_FGD_RUN_H

#include "bench/fgd/go_rand.h"
#include "bench/fgd/openb.h"

#define FGD_TUNE_MILLI 1300  /* demand in thousandths of the cluster's cards */
#define FGD_COVERED 0.95     /* share of the workload that the expected pods cover */
#define FGD_COLUMNS 131      /* arrived demand in percent of the cluster, 0..130 */

enum fgd_metric { FGD_ALLOCATED, FGD_FRAGMENTED, FGD_FRAGMENT_RATIO, FGD_METRICS };

struct fgd_events {
    int32_t *pod; /* owned: index into openb_pods of each arrival */
    int32_t count;
    int32_t *rank; /* owned: of each node; ties go to the lowest */
};

struct fgd_result {
    double percent[FGD_METRICS][FGD_COLUMNS]; /* of the cluster's cards; ratio: of the idle ones */
    int32_t events, failed;
    struct packing_totals end;
};

/* The arrivals and node order of one seed. Needs pods and nodes with cards. */
void fgd_events_make(struct fgd_events *v, const struct openb_nodes *n, const struct openb_pods *p,
                     const struct go_rand_table *table, int64_t seed);
void fgd_events_fini(struct fgd_events *v);

/* The pods to expect, of the list as it is. The caller frees it with frag_mix_fini. */
void fgd_mix_make(struct frag_mix *mix, const struct openb_pods *p);

/* seed is for the random rule's own draws. */
void fgd_run(struct fgd_result *r, const struct openb_nodes *n, const struct openb_pods *p,
             const struct frag_mix *mix, const struct fgd_events *v, enum score_kind rule,
             uint64_t seed);

#endif
