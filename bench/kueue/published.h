/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What Kueue's performance test does, and the means that its authors published: the parameters of
 * test/performance/scheduler/configs/{baseline,large-scale}/generator.yaml and the comments of the
 * rangespec.yaml beside them, at commit ff69552e (the limits there are these means plus 20 or 40 %).
 * The mean of the large class of large-scale leaves out two runs that measured it wrongly (pull
 * request 11871). Baseline's were taken at different times: medium, small and the whole in April 2024,
 * large in May 2026 with SchedulingEquivalenceHashing (pull request 11097; 6,666 ms before it).
 * Large-scale's are of 19 runs between 8 and 21 May 2026; it became the default on the 13th.
 */
#ifndef BENCH_KUEUE_PUBLISHED_H
#define BENCH_KUEUE_PUBLISHED_H

#include "bench/kueue/paced.h"

struct paced_published {
    const char *name;
    struct paced_config config;
    double admission_ms[PACED_CLASSES], wall_ms;
    bool before_hashing[PACED_CLASSES], wall_before_hashing; /* when they were taken */
};

static const struct paced_published paced_baseline = {
    "baseline",
    {5, 6, 20000, 100000,
     {{"small", 350, 100, 200, 50, 1000}, {"medium", 100, 500, 500, 100, 5000}, {"large", 50, 1200, 1000, 200, 20000}}},
    {215468, 76768, 16501},
    351116.4,
    {true, true, false}, true};

static const struct paced_published paced_large_scale = {
    "large-scale",
    {10, 100, 20000, 100000,
     {{"small", 35, 60, 150, 50, 1000}, {"medium", 11, 300, 350, 100, 5000}, {"large", 4, 700, 700, 200, 20000}}},
    {700379, 256413, 105604},
    1179411,
    {false, false, false}, false};

#endif
