/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The writer of a results database (docs/results-schema.md): SQLite, STRICT tables, one writer.
 *
 * Everything goes to a temporary file beside the target; store_commit() makes indexes and views,
 * flushes to the disk and renames. Until then an older file under the target's name stays as it
 * is, and a file that carries the final name is complete. A results file can be computed again,
 * hence no journal and no syncing while loading.
 *
 * Rows are buffered 16 to a statement and 10,000 to a transaction (measured: ten times as fast as
 * row by row). The first error is kept and later rows are dropped; store_commit() reports it, and
 * store_failed() lets a long run stop early.
 */
#ifndef ANALYSIS_STORE_STORE_H
#define ANALYSIS_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "sim/record.h"

#define STORE_APPLICATION_ID 0x666c7369 /* "flsi" */
#define STORE_SCHEMA_VERSION 1

struct store;

/* A file that the scenario read; name as written in the scenario, hash of the bytes. */
struct store_input {
    const char *name;
    uint64_t hash;
};

/* One run: an arbiter in one replication. Texts are copied. */
struct store_run {
    int64_t run;          /* unique id; from (arbiter, replication), never from completion order */
    int64_t arbiter_ix;   /* position in the scenario's list: the order of columns */
    const char *arbiter;  /* unique name */
    const char *preset;   /* pools, cohort, hyperpod, managed */
    int64_t replication;  /* 0, 1, ... */
    uint64_t seed;
    double horizon_s;     /* simulated seconds */
    const char *scenario_name;
    const char *scenario_text; /* effective text: enough to repeat the run; stored once per hash */
    uint64_t scenario_hash;
    uint64_t demand_hash; /* equal = same demand in this replication; `compare` insists */
    const struct store_input *inputs;
    size_t input_count;
    /* beside the hashed content */
    double wall_s;
    const char *version; /* of the program; may be NULL */
    const char *host;    /* may be NULL */
};

/*
 * Begins a database for `path`; tables = NULL-terminated list of what the sink may receive. The
 * tables run, scenario, input, param, metric_def, bucket_def and student are the store's own and
 * filled by it. Returns NULL and fills err: target is a directory or a file that is no results
 * database (ERR_INPUT), or nothing can be written there (ERR_SYSTEM).
 */
struct store *store_create(const char *path, const struct record_table *const *tables,
                           struct err *err);

/* Adds the run; its rows follow through the sink. */
void store_add_run(struct store *store, const struct store_run *run);

/* One setting of a run (effective settings, for a reader; hashed content). */
void store_param(struct store *store, int64_t run, const char *key, const char *value);

/* Sink that inserts; rows of a table that was not in the list are an error of ours. */
struct record_sink store_sink(struct store *store);

/* True after an error: nothing more will be written. err (may be NULL) receives it. */
bool store_failed(const struct store *store, struct err *err);

/* Completes, flushes and renames to the target. Frees the store in every case; after a failure
 * nothing is left behind and an older file is intact. */
bool store_commit(struct store *store, struct err *err);

/*
 * Gives up. keep_partial: what was added so far is completed as `<target without .db>.partial.db`
 * (only if at least one run was added) and its name is written to partial (may be NULL, size
 * bytes). Frees the store. Returns true when a partial file was kept.
 */
bool store_abort(struct store *store, bool keep_partial, char *partial, size_t size);

#endif
