/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kueue's performance test as its authors' means have it: averages of several runs, each class and the
 * whole under the version whose mean was published, and the one fitted parameter.
 *
 * A run's cycles take the time that was measured on Kueue's own scheduler, cache, queues and workload
 * controller (commit b5804b77c1, Go 1.26) over an in-memory API with client-go's limiter, large-scale
 * configuration: six starts, both cores of the machine kept busy as the API server and etcd keep those of
 * the test. They differ much, and so do the runs of the test; each run here takes one of them.
 */
#ifndef BENCH_KUEUE_RANGE_H
#define BENCH_KUEUE_RANGE_H

#include "bench/kueue/published.h"

enum { RANGE_RUNS = 6 };

/* Means over RANGE_RUNS runs with this service time of a write. */
void range_mean(const struct paced_published *p, int64_t write_ns, struct paced_result *mean);

/* The service time whose means differ least, in squares, from those published for the classes. Over a
 * straight line through the means at 18 to 22 ms: single ones jump, as ties fall one way or the other. */
int64_t range_fit(const struct paced_published *p);

#endif
