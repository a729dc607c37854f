/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the published runs of the FGD experiment gave: our statistics (mean, least, most of ten
 * seeds) over the result files of Weng et al., USENIX ATC 2023, github.com/hkust-adsl/
 * kubernetes-scheduler-simulator at 8f3d641; means and deviations are in gpu-sharing 5.7.
 */
#ifndef BENCH_FGD_PUBLISHED_H
#define BENCH_FGD_PUBLISHED_H

#include "models/fleet/score/score.h"

#define PUBLISHED_FIRST_SEED 42
#define PUBLISHED_SEEDS 10

enum published_column { PUBLISHED_ALLOCATED_100, PUBLISHED_ALLOCATED_130, PUBLISHED_FRAGMENTED_100,
                        PUBLISHED_FRAGMENTED_130, PUBLISHED_COLUMNS };

struct published_cell {
    double mean, least, most; /* percent of the cluster's cards */
};

struct published_list {
    const char *name; /* "default", "cpu050", ... */
    struct published_cell cell[SCORE_KINDS][PUBLISHED_COLUMNS];
};

/* NULL when the list is not among the ten. */
const struct published_list *published_find(const char *name);

#endif
