/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A database of hand-chosen figures: a list of (arbiter, replication, scope, metric, value). */
#ifndef TESTS_ANALYSIS_TINY_DB_H
#define TESTS_ANALYSIS_TINY_DB_H

#include <string.h>

#include "analysis/store/store.h"
#include "models/world/tables.h"

struct tiny {
    const char *arbiter;
    int replication;
    const char *scope_kind, *scope, *metric;
    double value;
    int censored;
};

/* Rows in order of arbiters and replications. */
static inline bool tiny_db(const char *path, const struct tiny *rows, size_t count, uint64_t demand,
                           struct err *err)
{
    struct store *store = store_create(path, world_tables, err);
    if (store == NULL)
        return false;
    struct record_sink sink = store_sink(store);
    int64_t run = -1, arbiter_ix = -1;
    for (size_t i = 0; i < count; i++) {
        bool new_arbiter = i == 0 || strcmp(rows[i].arbiter, rows[i - 1].arbiter) != 0;
        arbiter_ix += new_arbiter;
        if (new_arbiter || rows[i].replication != rows[i - 1].replication) {
            struct store_run r = {.run = ++run, .arbiter_ix = arbiter_ix, .arbiter = rows[i].arbiter,
                                  .preset = rows[i].arbiter, .replication = rows[i].replication,
                                  .horizon_s = 86400, .scenario_name = "tiny",
                                  .scenario_text = "name: tiny\n", .demand_hash = demand};
            store_add_run(store, &r);
        }
        struct record_value row[] = {rec_int(run),
                                     rec_text(rows[i].scope_kind),
                                     rec_text(rows[i].scope),
                                     rec_text(rows[i].metric),
                                     rec_real(rows[i].value),
                                     rec_int(rows[i].censored)};
        record_row(&sink, &table_metric, row);
    }
    return store_commit(store, err);
}

#endif
