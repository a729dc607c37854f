/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/explain_priv.h"
#include "analysis/table_priv.h"
#include "analysis/wrap.h"
#include "sim/diag.h"

#define COLUMNS "t_ns, seq, workload, queue, kind, reason, detail, repeats"
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

/* Fills err with the nearest of the names that the query gives. */
static bool no_such(struct results *results, sqlite3_stmt *query, const char *what, const char *name,
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
    fprintf(out, "%s%s%s under %s, replication %lld\n", what, what[0] != '\0' ? " " : "", name, run->arbiter,
            (long long)run->replication);
}

static void json_begin(FILE *out, const struct explain_run *run)
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
    fprintf(out, "  %s job of team %s, queue %s, priority %lld\n", results_text(q, 0), results_text(q, 1),
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
    sqlite3_stmt *job = job_query(results, run, query->name, err);
    bool is_job = results_next(results, job, err), found = is_job || rows.count > 0;
    if (found && query->format == ROWS_JSON) {
        json_begin(out, run);
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
        return no_such(results,
                       results_query(results, err, "SELECT id FROM workload WHERE run = %lld UNION SELECT workload"
                                                   " FROM decision WHERE run = %lld AND kind = 'submitted'",
                                     (long long)run->run, (long long)run->run),
                       "workload", query->name, run, err);
    return err->code == ERR_NONE;
}

/* ---- one queue ---- */

static void queue_jobs(FILE *out, struct results *results, const struct explain_run *run, const char *name,
                       struct err *err)
{
    sqlite3_stmt *q = results_query(
        results, err,
        "SELECT count(*), count(w.start_s), count(w.finish_s), avg(coalesce(w.start_s, r.horizon_s) - w.submit_s),"
        " max(coalesce(w.start_s, r.horizon_s) - w.submit_s), sum(w.evictions), sum(w.rework_card_s) / 3600"
        " FROM workload w JOIN run r USING (run) WHERE w.run = %lld AND w.queue = %Q", (long long)run->run, name);
    if (results_next(results, q, err) && sqlite3_column_int64(q, 0) > 0) {
        char mean[FIGURE_SIZE], most[FIGURE_SIZE], rework[FIGURE_SIZE];
        bool all = sqlite3_column_int64(q, 0) == sqlite3_column_int64(q, 1);
        duration(mean, results_real(q, 3));
        duration(most, results_real(q, 4));
        figure_print(rework, METRIC_AMOUNT, results_real(q, 6));
        fprintf(out, "  %lld jobs, %lld started, %lld finished; wait %s%s in the mean, %s%s at most\n",
                (long long)sqlite3_column_int64(q, 0), (long long)sqlite3_column_int64(q, 1),
                (long long)sqlite3_column_int64(q, 2), all ? "" : "≥", mean, all ? "" : "≥", most);
        fprintf(out, "  %lld evictions, %s card-h done again\n", (long long)sqlite3_column_int64(q, 5), rework);
    }
    sqlite3_finalize(q);
}

/* How often each answer was given. */
static void reasons_text(FILE *out, struct results *results, sqlite3_stmt *q, struct err *err)
{
    while (results_next(results, q, err)) {
        char head[200];
        (void)snprintf(head, sizeof head, "%.40s %.80s", results_text(q, 0), results_text(q, 1));
        fputs("  ", out);
        table_left(out, head, 40);
        fprintf(out, " %8lld", (long long)sqlite3_column_int64(q, 2));
        if (sqlite3_column_int64(q, 3) > 0)
            fprintf(out, "  repeated %lld times", (long long)sqlite3_column_int64(q, 3));
        putc('\n', out);
    }
}

static void reasons_json(FILE *out, struct results *results, sqlite3_stmt *q, struct err *err)
{
    bool first = true;
    fputs(", \"reasons\": [", out);
    while (results_next(results, q, err)) {
        fprintf(out, "%s{\"kind\": ", first ? "" : ", ");
        rows_out_text(out, ROWS_JSON, results_text(q, 0));
        fputs(", \"reason\": ", out);
        rows_out_text(out, ROWS_JSON, results_text(q, 1));
        fprintf(out, ", \"rows\": %lld, \"repeats\": %lld}", (long long)sqlite3_column_int64(q, 2),
                (long long)sqlite3_column_int64(q, 3));
        first = false;
    }
    putc(']', out);
}

static bool queue(FILE *out, struct results *results, const struct explain_run *run,
                  const struct explain_query *query, struct err *err)
{
    struct explain_rows rows = {0};
    int64_t limit = query->limit == 0 ? INT64_MAX : (int64_t)query->limit;
    explain_rows_read(&rows, results,
                      results_query(results, err, "SELECT * FROM (SELECT " COLUMNS " FROM decision WHERE run = %lld"
                                                  " AND queue = %Q ORDER BY seq DESC LIMIT %lld) ORDER BY seq",
                                    (long long)run->run, query->name, (long long)limit),
                      err);
    if (rows.count == 0 && err->code == ERR_NONE)
        return no_such(results, results_query(results, err, "SELECT DISTINCT queue FROM decision WHERE run = %lld",
                                              (long long)run->run),
                       "decision of queue", query->name, run, err);
    explain_tries_read(&rows, results, run->run, err);
    sqlite3_stmt *q = results_query(results, err,
                                    "SELECT kind, CASE kind WHEN 'submitted' THEN '' ELSE reason END, count(*),"
                                    " sum(repeats) FROM decision WHERE run = %lld AND queue = %Q GROUP BY 1, 2"
                                    " ORDER BY 3 DESC, 1, 2", (long long)run->run, query->name);
    if (query->format == ROWS_JSON) {
        json_begin(out, run);
        fputs(", \"queue\": ", out);
        rows_out_text(out, ROWS_JSON, query->name);
        reasons_json(out, results, q, err);
        fputs(",\n  ", out);
        explain_rows_json(out, &rows);
        putc('}', out);
    } else {
        heading(out, run, "queue", query->name);
        queue_jobs(out, results, run, query->name, err);
        fputs("\n  decisions\n", out);
        reasons_text(out, results, q, err);
        fprintf(out, "\n  the last %zu\n", rows.count);
        explain_rows_text(out, &rows, true);
    }
    sqlite3_finalize(q);
    explain_rows_fini(&rows);
    return err->code == ERR_NONE;
}

/* ---- one instant ---- */

/* Where each workload stands: by its last row. */
static const char states_sql[] =
    "SELECT queue, sum(state = 'waits'), sum(state = 'holds'), sum(state = 'leaves') FROM ("
    "SELECT queue, CASE WHEN kind IN ('admitted', 'started', 'unplaced') THEN 'holds'"
    " WHEN kind IN ('finished', 'failed', 'stopped', 'deactivated') OR reason = 'Replaced' THEN 'gone'"
    " WHEN kind = 'evicted' THEN 'leaves' ELSE 'waits' END AS state FROM ("
    "SELECT queue, kind, reason, max(seq) FROM decision WHERE run = %lld AND t_ns <= %lld GROUP BY workload))"
    " GROUP BY queue ORDER BY queue";

static void states(FILE *out, struct results *results, const struct explain_run *run,
                   const struct explain_query *query, struct err *err)
{
    bool json = query->format == ROWS_JSON, first = true;
    sqlite3_stmt *q = results_query(results, err, states_sql, (long long)run->run, (long long)query->t_ns);
    if (json)
        fputs(", \"queues\": [", out);
    else
        fprintf(out, "  %-40s %9s %9s %9s\n", "workloads of queue", "waiting", "admitted", "evicted");
    for (; results_next(results, q, err); first = false) {
        long long waits = sqlite3_column_int64(q, 1), holds = sqlite3_column_int64(q, 2);
        long long leaves = sqlite3_column_int64(q, 3);
        if (json) {
            fprintf(out, "%s{\"queue\": ", first ? "" : ", ");
            rows_out_text(out, ROWS_JSON, results_text(q, 0));
            fprintf(out, ", \"waiting\": %lld, \"admitted\": %lld, \"evicted\": %lld}", waits, holds, leaves);
        } else if (waits + holds + leaves > 0) {
            fputs("  ", out);
            table_left(out, results_text(q, 0), 40);
            fprintf(out, " %9lld %9lld %9lld\n", waits, holds, leaves);
        }
    }
    if (json)
        putc(']', out);
    sqlite3_finalize(q);
}

/* Decisions of the instant and as many before and after as the limit leaves. */
static void around(struct explain_rows *rows, struct results *results, const struct explain_run *run,
                   const struct explain_query *query, struct err *err)
{
    long long limit = query->limit == 0 ? INT64_MAX : (long long)query->limit, t = query->t_ns, r = run->run;
    explain_rows_read(rows, results,
                      results_query(results, err,
                                    "SELECT * FROM (SELECT " COLUMNS " FROM decision WHERE run = %lld AND t_ns <= %lld"
                                    " ORDER BY seq DESC LIMIT %lld) UNION ALL"
                                    " SELECT * FROM (SELECT " COLUMNS " FROM decision WHERE run = %lld AND t_ns > %lld"
                                    " ORDER BY seq LIMIT %lld) ORDER BY seq", r, t, limit / 2 + limit % 2, r, t,
                                    limit / 2),
                      err);
}

static bool instant(FILE *out, struct results *results, const struct explain_run *run,
                    const struct explain_query *query, struct err *err)
{
    struct explain_rows rows = {0};
    char when[FIGURE_SIZE];
    around(&rows, results, run, query, err);
    explain_tries_read(&rows, results, run->run, err);
    regress_time_text(when, (double)query->t_ns / 1e9);
    if (query->format == ROWS_JSON) {
        json_begin(out, run);
        fprintf(out, ", \"t_ns\": %lld", (long long)query->t_ns);
        states(out, results, run, query, err);
        fputs(",\n  ", out);
        explain_rows_json(out, &rows);
        putc('}', out);
    } else {
        heading(out, run, "at", when);
        states(out, results, run, query, err);
        fputs("\n  decisions around it\n", out);
        explain_rows_text(out, &rows, true);
    }
    explain_rows_fini(&rows);
    return err->code == ERR_NONE;
}

bool explain_print(FILE *out, struct results *results, const struct explain_run *run,
                   const struct explain_query *query, struct err *err)
{
    switch (query->what) {
    case EXPLAIN_WORKLOAD:
        return workload(out, results, run, query, err);
    case EXPLAIN_QUEUE:
        return queue(out, results, run, query, err);
    case EXPLAIN_AT:
        break;
    }
    return instant(out, results, run, query, err);
}
