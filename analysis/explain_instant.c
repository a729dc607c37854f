/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One instant: quota at every node, where the workloads of each queue stand and who is first in line,
 * and the decisions around it. */
#include <stdlib.h>

#include "analysis/explain_quota.h"
#include "analysis/explain_standing.h"
#include "analysis/table_priv.h"
#include "analysis/wrap.h"

struct queue_state {
    const char *name;
    long long waits, holds, leaves;
};

struct states {
    struct arena arena;
    struct queue_state *items;
    size_t count;
};

/* Where each workload stands: by its last row. An evicted one waits again when its quota is released. */
static void states_read(struct states *s, struct results *results, const struct explain_run *run, int64_t t_ns, struct err *err)
{
    size_t capacity = 0;
    const long long r = run->run, t = t_ns;
    const bool holdings = explain_has_holdings(results, run->run, err);
    sqlite3_stmt *q = results_query(
        results, err,
        "SELECT queue, sum(state = 'waits'), sum(state = 'holds'), sum(state = 'leaves') FROM (SELECT queue, CASE"
        " WHEN kind = 'evicted' AND %d AND NOT EXISTS (SELECT 1 FROM holding h WHERE h.run = %lld AND h.queue = d.queue"
        " AND h.workload = d.workload AND h.from_ns <= %lld AND (h.to_ns IS NULL OR h.to_ns > %lld)) THEN 'waits'"
        " ELSE " EXPLAIN_STATE " END AS state FROM (SELECT queue, workload, kind, reason, max(seq) FROM decision"
        " WHERE run = %lld AND t_ns <= %lld GROUP BY workload) d) GROUP BY queue ORDER BY queue", holdings, r, t, t, r, t);
    while (results_next(results, q, err)) {
        s->items = mem_grow(s->items, &capacity, s->count + 1, sizeof *s->items);
        s->items[s->count++] = (struct queue_state){arena_strdup(&s->arena, results_text(q, 0)), sqlite3_column_int64(q, 1),
                                                    sqlite3_column_int64(q, 2), sqlite3_column_int64(q, 3)};
    }
    sqlite3_finalize(q);
}

static void states_fini(struct states *s)
{
    free(s->items);
    arena_fini(&s->arena);
}

static void states_text(FILE *out, const struct states *s)
{
    fprintf(out, "  %-40s %9s %9s %9s\n", "workloads of queue", "waiting", "admitted", "evicted");
    for (size_t i = 0; i < s->count; i++) {
        const struct queue_state *v = &s->items[i];
        if (v->waits + v->holds + v->leaves == 0)
            continue;
        fputs("  ", out);
        table_left(out, v->name, 40);
        fprintf(out, " %9lld %9lld %9lld\n", v->waits, v->holds, v->leaves);
    }
}

static void states_json(FILE *out, const struct states *s)
{
    fputs(", \"queues\": [", out);
    for (size_t i = 0; i < s->count; i++) {
        const struct queue_state *v = &s->items[i];
        fprintf(out, "%s{\"queue\": ", i == 0 ? "" : ", ");
        rows_out_text(out, ROWS_JSON, v->name);
        fprintf(out, ", \"waiting\": %lld, \"admitted\": %lld, \"evicted\": %lld}", v->waits, v->holds, v->leaves);
    }
    putc(']', out);
}

/* ---- who is first in line ---- */

struct first {
    FILE *out;
    bool json;
    size_t shown;
};

static void first_one(struct first *f, const char *queue, const struct explain_standing *s)
{
    if (s->waiter_count == 0)
        return;
    if (f->json) {
        fputs(f->shown > 0 ? ", {\"queue\": " : "{\"queue\": ", f->out);
        rows_out_text(f->out, ROWS_JSON, queue);
        fputs(", \"first\": ", f->out);
        explain_waiter_json(f->out, s, 0);
        putc('}', f->out);
    } else {
        fprintf(f->out, f->shown == 0 ? "\n  first in line\n  %s\n" : "  %s\n", queue);
        explain_waiter_text(f->out, s, 0);
    }
    f->shown++;
}

static void first_in_line(FILE *out, struct results *results, const struct explain_run *run, const struct explain_query *query,
                          const struct states *s, struct err *err)
{
    struct first f = {.out = out, .json = query->format == ROWS_JSON};
    const size_t most = query->limit == 0 ? SIZE_MAX : explain_names(query);
    if (f.json)
        fputs(",\n  \"first_in_line\": [", out);
    for (size_t i = 0; i < s->count && f.shown < most && err->code == ERR_NONE; i++) {
        struct explain_standing standing = {.admitted = 0};
        if (s->items[i].waits == 0)
            continue;
        explain_standing_read(&standing, results, run->run, s->items[i].name, query->t_ns, 1, err);
        first_one(&f, s->items[i].name, &standing);
        explain_standing_fini(&standing);
    }
    if (f.json)
        putc(']', out);
}

/* ---- all of it ---- */

/* Decisions of the instant and as many before and after as the limit leaves. */
static void around(struct explain_rows *rows, struct results *results, const struct explain_run *run,
                   const struct explain_query *query, struct err *err)
{
    long long limit = query->limit == 0 ? INT64_MAX : (long long)query->limit, t = query->t_ns, r = run->run;
    explain_rows_read(rows, results,
                      results_query(results, err,
                                    "SELECT * FROM (SELECT " EXPLAIN_COLUMNS " FROM decision WHERE run = %lld AND t_ns <= %lld"
                                    " ORDER BY seq DESC LIMIT %lld) UNION ALL"
                                    " SELECT * FROM (SELECT " EXPLAIN_COLUMNS " FROM decision WHERE run = %lld AND t_ns > %lld"
                                    " ORDER BY seq LIMIT %lld) ORDER BY seq", r, t, limit / 2 + limit % 2, r, t,
                                    limit / 2),
                      err);
}

bool explain_instant(FILE *out, struct results *results, const struct explain_run *run, const struct explain_query *query,
                     struct err *err)
{
    struct explain_rows rows = {0};
    struct explain_quota quota;
    struct states s = {.count = 0};
    char when[FIGURE_SIZE];
    around(&rows, results, run, query, err);
    explain_tries_read(&rows, results, run->run, err);
    explain_beside_read(&rows, results, run->run, err);
    explain_quota_read(&quota, results, run->run, NULL, query->t_ns, err);
    states_read(&s, results, run, query->t_ns, err);
    regress_time_text(when, (double)query->t_ns / 1e9);
    if (query->format == ROWS_JSON) {
        explain_json_begin(out, run);
        fprintf(out, ", \"t_ns\": %lld", (long long)query->t_ns);
        explain_quota_json(out, &quota, NULL);
        states_json(out, &s);
        first_in_line(out, results, run, query, &s, err);
        fputs(",\n  ", out);
        explain_rows_json(out, &rows);
        putc('}', out);
    } else {
        wrap_printf(out, TABLE_WIDTH, 0, 2, "at %s under %s, replication %lld", when, run->arbiter, (long long)run->replication);
        explain_quota_tree_text(out, &quota, query->limit);
        putc('\n', out);
        states_text(out, &s);
        first_in_line(out, results, run, query, &s, err);
        fputs("\n  decisions around it\n", out);
        explain_rows_text(out, &rows, true);
    }
    states_fini(&s);
    explain_quota_fini(&quota);
    explain_rows_fini(&rows);
    return err->code == ERR_NONE;
}
