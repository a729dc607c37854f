/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Databases of hand-chosen jobs and decisions for tests of regress and explain: one arbiter. */
#ifndef TESTS_ANALYSIS_GATE_DB_H
#define TESTS_ANALYSIS_GATE_DB_H

#include "analysis/store/store.h"
#include "models/world/tables.h"

struct gate_job {
    const char *id, *team;
    int priority;
    double submit_s, start_s; /* start_s < 0: never */
    int evictions;
    const char *reason;
};

struct gate_decision {
    double t_s;
    const char *workload, *kind, *reason, *detail;
    int repeats;
};

struct gate_run { /* NULL-terminated lists (id or workload NULL) */
    const struct gate_job *jobs;
    const struct gate_decision *decisions;
    const double *finished; /* training.finished of each replication */
    int replications;
    bool loop;
    void (*more)(const struct record_sink *sink, int64_t run); /* rows of other tables; may be NULL */
};

static inline void gate_rows(const struct record_sink *sink, int64_t run, const struct gate_run *g)
{
    struct record_value metric[] = {rec_int(run),  rec_text("all"), rec_text(""), rec_text("training.finished"),
                                    rec_real(g->finished == NULL ? 10 : g->finished[run]), rec_int(0)};
    record_row(sink, &table_metric, metric);
    for (const struct gate_job *j = g->jobs; j != NULL && j->id != NULL; j++) {
        struct record_value v[] = {rec_int(run), rec_text(j->id), rec_text("training"), rec_text(j->team),
                                   rec_text("q"), rec_int(j->priority), rec_int(1), rec_int(8000),
                                   rec_real(j->submit_s), j->start_s < 0 ? rec_null() : rec_real(j->start_s),
                                   rec_null(), rec_real(100), rec_real(0), rec_int(j->evictions), rec_real(60),
                                   rec_text(j->reason)};
        record_row(sink, &table_workload, v);
    }
    int64_t seq = 0;
    for (const struct gate_decision *d = g->decisions; d != NULL && d->workload != NULL; d++) {
        struct record_value v[] = {rec_int(run), rec_int((int64_t)(d->t_s * 1e9)), rec_int(seq++),
                                   rec_text(d->workload), rec_text("q"), rec_text(d->kind), rec_text(d->reason),
                                   rec_text(d->detail), rec_int(d->repeats)};
        record_row(sink, &table_decision, v);
    }
    struct record_value note[] = {rec_int(run), rec_real(5), rec_text("eviction_loop"), rec_null(), rec_real(2),
                                  rec_text("a evicts b (InClusterQueue), b evicts a (InClusterQueue)")};
    if (g->loop)
        record_row(sink, &table_event_of_note, note);
    if (g->more != NULL)
        g->more(sink, run);
}

/* A horizon of 1000 s under the arbiter "cohort". */
static inline bool gate_db(const char *path, const struct gate_run *g, uint64_t demand, struct err *err)
{
    struct store *store = store_create(path, world_tables, err);
    if (store == NULL)
        return false;
    struct record_sink sink = store_sink(store);
    for (int64_t r = 0; r < (g->replications == 0 ? 1 : g->replications); r++) {
        struct store_run run = {.run = r, .arbiter = "cohort", .preset = "cohort", .replication = r,
                                .horizon_s = 1000, .scenario_name = "gate", .scenario_text = "name: gate\n",
                                .demand_hash = demand};
        store_add_run(store, &run);
        gate_rows(&sink, r, g);
    }
    return store_commit(store, err);
}

#endif
