/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * First come, first served queue with c servers on the event queue and the random streams of
 * sim/: the smallest model that uses the whole engine. Poisson arrivals, any service times.
 */
#ifndef TESTS_THEORY_QUEUE_MODEL_H
#define TESTS_THEORY_QUEUE_MODEL_H

#include <stdint.h>

#include "sim/rng.h"
#include "sim/sim_time.h"
#include "sim/tally.h"

struct queue_setup {
    unsigned servers;
    double arrivals_per_s;
    double (*service_s)(struct rng *r); /* draws one service time */
    uint64_t warm_up;                   /* first customers, left out of all statistics */
    uint64_t customers;                 /* counted ones; afterwards the queue runs empty */
};

struct queue_outcome {
    struct welford wait_s, sojourn_s;
    struct qhist wait_hist, sojourn_hist; /* relative error 0.001 */
    uint64_t waited;                      /* counted customers that had to wait */
    struct tw number;                     /* customers in the system, from time 0 to the end */
    int64_t sojourn_sum_ns;               /* of all customers, counted or not */
    sim_time end;
};

/* Runs one replication; the caller releases the outcome with queue_outcome_fini. */
void queue_run(const struct queue_setup *setup, uint64_t seed, uint32_t replication,
               struct queue_outcome *out);
void queue_outcome_fini(struct queue_outcome *out);

#endif
