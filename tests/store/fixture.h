/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A results database with plausible rows for tests of the store, the tables and the page, written
 * through the store's API: a fleet of 10,000 cards under up to four arbiters. The rows come from a
 * crude hourly balance (traffic, replicas, training), not from the simulator.
 */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/err.h"

struct fixture {
    int arbiters;     /* 1..4: pools, cohort, hyperpod, managed */
    int replications; /* >= 1 */
    int days;
    int teams; /* <= 22 */
    double shift;          /* added to the wait of every arbiter but the first: a changed policy */
    uint64_t demand_hash;
    bool bare;             /* only runs and metrics, as --record summary writes */
    bool backwards;        /* runs are added in reverse order, tables of a run in another order */
    double wall_s;
};

struct fixture fixture_default(void);

bool fixture_write(const char *path, const struct fixture *fixture, struct err *err);

#endif
