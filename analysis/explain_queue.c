/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queue at one instant: its place in the tree, its quota, who waits in it and who holds it, and its
 * last decisions. */
#include "analysis/explain_quota.h"
#include "analysis/explain_standing.h"
#include "analysis/table_priv.h"
#include "analysis/wrap.h"

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
        figure_print(mean, METRIC_DURATION, results_real(q, 3));
        figure_print(most, METRIC_DURATION, results_real(q, 4));
        figure_print(rework, METRIC_AMOUNT, results_real(q, 6));
        fprintf(out, "  %lld job%s, %lld started, %lld finished; wait %s%s in the mean, %s%s at most\n",
                (long long)sqlite3_column_int64(q, 0), sqlite3_column_int64(q, 0) == 1 ? "" : "s",
                (long long)sqlite3_column_int64(q, 1), (long long)sqlite3_column_int64(q, 2), all ? "" : "≥", mean, all ? "" : "≥", most);
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

/* Alarms that go on at the instant. */
static sqlite3_stmt *alarms_query(struct results *results, const struct explain_run *run, const struct explain_query *query,
                                  struct err *err)
{
    const double t = query->t_ns == INT64_MAX ? 1e300 : (double)query->t_ns / 1e9;
    return results_query(results, err,
                         "SELECT workload, reason, why, from_s FROM alarm JOIN run USING (run) WHERE run = %lld AND queue = %Q"
                         " AND from_s <= min(%!.17g, horizon_s) AND to_s >= min(%!.17g, horizon_s) ORDER BY from_s",
                         (long long)run->run, query->name, t, t);
}

static void alarms_text(FILE *out, struct results *results, sqlite3_stmt *q, struct err *err)
{
    while (results_next(results, q, err)) {
        char line[700], when[FIGURE_SIZE];
        regress_time_text(when, results_real(q, 3));
        (void)snprintf(line, sizeof line, "alarm: %.160s would fit the queue's own quota and stays out since %s (%.60s): %.300s",
                       results_text(q, 0), when, results_text(q, 1), results_text(q, 2));
        fputs("\n  ", out);
        wrap_print(out, line, TABLE_WIDTH, 2, 4);
    }
}

static void alarms_json(FILE *out, struct results *results, sqlite3_stmt *q, struct err *err)
{
    static const char *const keys[] = {"workload", "reason", "why"};
    bool first = true;
    fputs(",\n  \"alarms\": [", out);
    for (; results_next(results, q, err); first = false) {
        fprintf(out, "%s{\"from_s\": %.17g", first ? "" : ", ", results_real(q, 3));
        for (int i = 0; i < 3; i++) {
            fprintf(out, ", \"%s\": ", keys[i]);
            rows_out_text(out, ROWS_JSON, results_text(q, i));
        }
        putc('}', out);
    }
    putc(']', out);
}

/* The last decisions of the queue up to the instant. */
static void last_rows(struct explain_rows *rows, struct results *results, const struct explain_run *run,
                      const struct explain_query *query, struct err *err)
{
    const long long limit = query->limit == 0 ? INT64_MAX : (long long)query->limit;
    explain_rows_read(rows, results,
                      results_query(results, err, "SELECT * FROM (SELECT " EXPLAIN_COLUMNS " FROM decision WHERE run = %lld"
                                                  " AND queue = %Q AND t_ns <= %lld ORDER BY seq DESC LIMIT %lld) ORDER BY seq",
                                    (long long)run->run, query->name, (long long)query->t_ns, limit),
                      err);
    explain_tries_read(rows, results, run->run, err);
    explain_beside_read(rows, results, run->run, err);
}

static sqlite3_stmt *reasons_query(struct results *results, const struct explain_run *run, const struct explain_query *query,
                                   struct err *err)
{
    return results_query(results, err,
                         "SELECT kind, CASE kind WHEN 'submitted' THEN '' ELSE reason END, count(*), sum(repeats) FROM decision"
                         " WHERE run = %lld AND queue = %Q AND t_ns <= %lld GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2",
                         (long long)run->run, query->name, (long long)query->t_ns);
}

struct view {
    struct explain_rows rows;
    struct explain_quota quota;
    struct explain_standing standing;
    sqlite3_stmt *reasons, *alarms;
};

static void view_text(FILE *out, struct results *results, const struct explain_run *run, const struct explain_query *query,
                      struct view *v, struct err *err)
{
    char when[FIGURE_SIZE] = "the end";
    if (query->t_ns != INT64_MAX)
        regress_time_text(when, (double)query->t_ns / 1e9);
    wrap_printf(out, TABLE_WIDTH, 0, 2, "queue %s under %s, replication %lld, at %s", query->name, run->arbiter,
                (long long)run->replication, when);
    explain_quota_path_text(out, &v->quota, query->name);
    explain_standing_text(out, &v->standing);
    if (v->alarms != NULL)
        alarms_text(out, results, v->alarms, err);
    fputs("\n  decisions\n", out);
    if (query->t_ns == INT64_MAX)
        queue_jobs(out, results, run, query->name, err);
    reasons_text(out, results, v->reasons, err);
    fprintf(out, "\n  the last %zu\n", v->rows.count);
    explain_rows_text(out, &v->rows, true);
}

static void view_json(FILE *out, struct results *results, const struct explain_run *run, const struct explain_query *query,
                      struct view *v, struct err *err)
{
    explain_json_begin(out, run);
    fputs(", \"queue\": ", out);
    rows_out_text(out, ROWS_JSON, query->name);
    if (query->t_ns != INT64_MAX)
        fprintf(out, ", \"t_ns\": %lld", (long long)query->t_ns);
    explain_quota_json(out, &v->quota, query->name);
    explain_standing_json(out, &v->standing);
    if (v->alarms != NULL)
        alarms_json(out, results, v->alarms, err);
    reasons_json(out, results, v->reasons, err);
    fputs(",\n  ", out);
    explain_rows_json(out, &v->rows);
    putc('}', out);
}

/* A queue without a decision is still one of the tree. */
static bool exists(struct results *results, const struct explain_run *run, const char *name, struct err *err)
{
    const bool tree = explain_has_table(results, "quota_node", err);
    sqlite3_stmt *q = results_query(results, err, tree ? "SELECT 1 FROM decision WHERE run = %lld AND queue = %Q UNION SELECT 1 FROM"
                                                         " quota_node WHERE run = %lld AND kind = 'queue' AND node = %Q"
                                                       : "SELECT 1 FROM decision WHERE run = %lld AND queue = %Q",
                                    (long long)run->run, name, (long long)run->run, name);
    const bool found = results_next(results, q, err);
    sqlite3_finalize(q);
    return found;
}

static bool is_cohort(struct results *results, const struct explain_run *run, const char *name, struct err *err)
{
    if (!explain_has_table(results, "quota_node", err))
        return false;
    sqlite3_stmt *q = results_query(results, err, "SELECT 1 FROM quota_node WHERE run = %lld AND kind = 'cohort' AND node = %Q",
                                    (long long)run->run, name);
    const bool found = results_next(results, q, err);
    sqlite3_finalize(q);
    return found;
}

/* There is no such queue; false. */
static bool unknown(struct results *results, const struct explain_run *run, const char *name, struct err *err)
{
    if (is_cohort(results, run, name, err))
        return err_set(err, ERR_INPUT, "'%s' is a cohort, not a queue; --at shows every node of the tree", name);
    return err->code == ERR_NONE &&
           explain_no_such(results, results_query(results, err, "SELECT DISTINCT queue FROM decision WHERE run = %lld",
                                                  (long long)run->run),
                           "queue", name, run, err);
}

bool explain_queue(FILE *out, struct results *results, const struct explain_run *run, const struct explain_query *query,
                   struct err *err)
{
    struct view v = {.alarms = NULL};
    if (!exists(results, run, query->name, err))
        return unknown(results, run, query->name, err);
    last_rows(&v.rows, results, run, query, err);
    explain_quota_read(&v.quota, results, run->run, query->name, query->t_ns, err);
    explain_standing_read(&v.standing, results, run->run, query->name, query->t_ns, explain_names(query), err);
    v.reasons = reasons_query(results, run, query, err);
    if (explain_has_table(results, "alarm", err))
        v.alarms = alarms_query(results, run, query, err);
    if (err->code == ERR_NONE)
        (query->format == ROWS_JSON ? view_json : view_text)(out, results, run, query, &v, err);
    sqlite3_finalize(v.reasons);
    sqlite3_finalize(v.alarms);
    explain_standing_fini(&v.standing);
    explain_quota_fini(&v.quota);
    explain_rows_fini(&v.rows);
    return err->code == ERR_NONE;
}
