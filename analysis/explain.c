/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/explain_priv.h"
#include "analysis/table_priv.h"
#include "analysis/wrap.h"
#include "sim/diag.h"

enum { NAMES_MAX = 200000 };

/* ---- runs ---- */

static void list_arbiters(struct results *results, char *text, size_t size)
{
    struct err ignored = {0};
    sqlite3_stmt *q = results_query(results, &ignored,
                                    "SELECT group_concat(arbiter, ', ') FROM (SELECT DISTINCT arbiter FROM run"
                                    " ORDER BY arbiter_ix)");
    if (results_next(results, q, &ignored))
        (void)snprintf(text, size, "%s", results_text(q, 0));
    sqlite3_finalize(q);
}

bool explain_runs_read(struct explain_runs *runs, struct results *results, const char *arbiter,
                       int64_t replication, struct err *err)
{
    size_t capacity = 256;
    *runs = (struct explain_runs){0};
    runs->items = arena_alloc(&runs->arena, capacity, sizeof *runs->items);
    sqlite3_stmt *q = results_query(results, err,
                                    "SELECT run, arbiter, preset, EXISTS (SELECT 1 FROM decision d WHERE"
                                    " d.run = run.run) FROM run WHERE replication = %lld AND"
                                    " (%Q IS NULL AND preset <> 'managed' OR arbiter = %Q) ORDER BY arbiter_ix",
                                    (long long)replication, arbiter, arbiter);
    while (results_next(results, q, err) && runs->count < capacity)
        runs->items[runs->count++] =
            (struct explain_run){.run = sqlite3_column_int64(q, 0),
                                 .replication = replication,
                                 .arbiter = arena_strdup(&runs->arena, results_text(q, 1)),
                                 .preset = arena_strdup(&runs->arena, results_text(q, 2)),
                                 .has_decisions = sqlite3_column_int(q, 3) != 0};
    sqlite3_finalize(q);
    if (err->code == ERR_NONE && runs->count == 0) {
        char names[300] = "";
        list_arbiters(results, names, sizeof names);
        return err_set(err, ERR_INPUT, "'%s' holds no run of %s%s%s, replication %lld; it holds: %s", results->path,
                       arbiter == NULL ? "a fleet" : "arbiter '", arbiter == NULL ? "" : arbiter,
                       arbiter == NULL ? "" : "'", (long long)replication, names);
    }
    return err->code == ERR_NONE;
}

void explain_runs_fini(struct explain_runs *runs)
{
    arena_fini(&runs->arena);
    *runs = (struct explain_runs){0};
}

/* ---- names ---- */

bool explain_no_such(struct results *results, sqlite3_stmt *query, const char *what, const char *name,
                    const struct explain_run *run, struct err *err)
{
    struct arena arena = {0};
    size_t count = 0, capacity = 0;
    const char **names = NULL;
    while (count < NAMES_MAX && results_next(results, query, err)) {
        names = mem_grow(names, &capacity, count + 1, sizeof *names);
        names[count++] = arena_strdup(&arena, results_text(query, 0));
    }
    sqlite3_finalize(query);
    const char *near = count == 0 ? NULL : diag_nearest(name, names, count);
    err_set(err, ERR_INPUT, near == NULL ? "no %s '%s' under %s, replication %lld%s%s%s"
                                         : "no %s '%s' under %s, replication %lld; did you mean '%s%s%s'?",
            what, name, run->arbiter, (long long)run->replication, near == NULL ? "" : near, "", "");
    free((void *)names);
    arena_fini(&arena);
    return false;
}

static void heading(FILE *out, const struct explain_run *run, const char *what, const char *name)
{
    wrap_printf(out, TABLE_WIDTH, 0, 2, "%s%s%s under %s, replication %lld", what, what[0] != '\0' ? " " : "", name,
                run->arbiter, (long long)run->replication);
}

void explain_json_begin(FILE *out, const struct explain_run *run)
{
    fputs("{\"arbiter\": ", out);
    rows_out_text(out, ROWS_JSON, run->arbiter);
    fprintf(out, ", \"replication\": %lld", (long long)run->replication);
}

/* ---- one workload ---- */

static sqlite3_stmt *job_query(struct results *results, const struct explain_run *run, const char *name,
                               struct err *err)
{
    return results_query(results, err,
                         "SELECT class, team, queue, priority, workers, cards_milli, submit_s, start_s, finish_s,"
                         " work_s, done_s, evictions, rework_card_s, wait_reason FROM workload WHERE run = %lld"
                         " AND id = %Q", (long long)run->run, name);
}

static void duration(char out[FIGURE_SIZE], double seconds)
{
    figure_print(out, METRIC_DURATION, seconds);
}

static void job_text(FILE *out, sqlite3_stmt *q)
{
    char wait[FIGURE_SIZE], work[FIGURE_SIZE], done[FIGURE_SIZE], rework[FIGURE_SIZE], when[FIGURE_SIZE];
    double start = results_real(q, 7), finish = results_real(q, 8);
    wrap_printf(out, TABLE_WIDTH, 2, 4, "%s job of team %s, queue %s, priority %lld", results_text(q, 0), results_text(q, 1),
                results_text(q, 2), (long long)sqlite3_column_int64(q, 3));
    duration(work, results_real(q, 9));
    fprintf(out, "  %lld workers, %.10g cards in all; work %s on each\n", (long long)sqlite3_column_int64(q, 4),
            results_real(q, 5) / 1000, work);
    duration(wait, start - results_real(q, 6));
    duration(done, results_real(q, 10));
    figure_print(rework, METRIC_AMOUNT, results_real(q, 12) / 3600);
    if (isnan(start))
        fprintf(out, "  never started; waits for: %s\n", results_text(q, 13));
    else
        fprintf(out, "  waited %s%s%s, evicted %lld times, rework %s card-h\n", wait,
                results_text(q, 13)[0] != '\0' ? ", last for " : "", results_text(q, 13),
                (long long)sqlite3_column_int64(q, 11), rework);
    if (!isnan(finish)) {
        regress_time_text(when, finish);
        fprintf(out, "  finished at %s\n", when);
    } else if (!isnan(start)) {
        fprintf(out, "  not finished: %s of its work is done\n", done);
    }
}

static void job_json(FILE *out, struct results *results, sqlite3_stmt *q)
{
    (void)results;
    fputs(", \"job\": {", out);
    for (int c = 0; c < sqlite3_column_count(q); c++) {
        fprintf(out, "%s\"%s\": ", c == 0 ? "" : ", ", sqlite3_column_name(q, c));
        if (sqlite3_column_type(q, c) == SQLITE_TEXT || sqlite3_column_type(q, c) == SQLITE_NULL)
            rows_out_text(out, ROWS_JSON, sqlite3_column_type(q, c) == SQLITE_NULL ? NULL : results_text(q, c));
        else
            rows_out_real(out, ROWS_JSON, sqlite3_column_double(q, c));
    }
    putc('}', out);
}

static bool workload(FILE *out, struct results *results, const struct explain_run *run,
                     const struct explain_query *query, struct err *err)
{
    struct explain_rows rows = {0};
    explain_rows_workload(&rows, results, run->run, query->name, err);
    explain_tries_read(&rows, results, run->run, err);
    explain_beside_read(&rows, results, run->run, err);
    sqlite3_stmt *job = job_query(results, run, query->name, err);
    bool is_job = results_next(results, job, err), found = is_job || rows.count > 0;
    if (found && query->format == ROWS_JSON) {
        explain_json_begin(out, run);
        fputs(", \"workload\": ", out);
        rows_out_text(out, ROWS_JSON, query->name);
        if (is_job)
            job_json(out, results, job);
        fputs(",\n  ", out);
        explain_rows_json(out, &rows);
        putc('}', out);
    } else if (found) {
        heading(out, run, "", query->name);
        if (is_job)
            job_text(out, job);
        putc('\n', out);
        explain_rows_text(out, &rows, false);
    }
    sqlite3_finalize(job);
    explain_rows_fini(&rows);
    if (!found && err->code == ERR_NONE)
        return explain_no_such(results,
                       results_query(results, err, "SELECT id FROM workload WHERE run = %lld UNION SELECT workload"
                                                   " FROM decision WHERE run = %lld AND kind = 'submitted'",
                                     (long long)run->run, (long long)run->run),
                       "workload", query->name, run, err);
    return err->code == ERR_NONE;
}

bool explain_print(FILE *out, struct results *results, const struct explain_run *run,
                   const struct explain_query *query, struct err *err)
{
    switch (query->what) {
    case EXPLAIN_WORKLOAD:
        return workload(out, results, run, query, err);
    case EXPLAIN_QUEUE:
        return explain_queue(out, results, run, query, err);
    case EXPLAIN_AT:
        break;
    }
    return explain_instant(out, results, run, query, err);
}
