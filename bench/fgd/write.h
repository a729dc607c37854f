/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The FGD experiment as a scenario of `fleetsim run`: one pod list, one seed. LIST-SEED.yaml has the nodes,
 * in the order that breaks ties, as node pools of equal neighbours, and the six rules as arbiters;
 * LIST-SEED.csv (docs/jobs-file.md) has the pods in their order. A pod arrives when the demand
 * before it, in clusters, says so: one cluster of demand in one hour, all of it in 78 minutes.
 */
#ifndef BENCH_FGD_WRITE_H
#define BENCH_FGD_WRITE_H

#include "bench/fgd/run.h"
#include "sim/err.h"

/* False with e when a file cannot be written, or a pod is limited to models of cards, which a jobs file
 * cannot say. name: of the list. */
bool fgd_write(const char *folder, const char *name, int64_t seed, const struct openb_nodes *n,
               const struct openb_pods *p, const struct fgd_events *v, struct err *e);

#endif
