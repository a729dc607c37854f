/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first decision that differs. Both logs of a run are read instant by instant; at the first one
 * whose decisions are not the same set, the earliest of those that the other side lacks names the
 * workload, and both sides say what they decided about it then or last.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/regress_priv.h"

struct row {
    int64_t t_ns, seq;
    char *workload, *queue, *kind, *reason, *detail;
    bool matched;
};

struct stream { /* the decisions of one run in order; `rows` are those of the instant at `t_ns` */
    struct results *db;
    sqlite3_stmt *query;
    struct row *rows;
    size_t count, capacity;
    int64_t t_ns;
    bool more; /* the query stands on a row after this instant */
};

static void rows_clear(struct stream *s)
{
    for (size_t i = 0; i < s->count; i++) {
        char *texts[] = {s->rows[i].workload, s->rows[i].queue, s->rows[i].kind, s->rows[i].reason,
                         s->rows[i].detail};
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            free(texts[k]);
    }
    s->count = 0;
}

static void row_take(struct stream *s)
{
    sqlite3_stmt *q = s->query;
    s->rows = mem_grow(s->rows, &s->capacity, s->count + 1, sizeof *s->rows);
    s->rows[s->count++] = (struct row){.t_ns = sqlite3_column_int64(q, 0),
                                       .seq = sqlite3_column_int64(q, 1),
                                       .workload = mem_strdup(results_text(q, 2)),
                                       .queue = mem_strdup(results_text(q, 3)),
                                       .kind = mem_strdup(results_text(q, 4)),
                                       .reason = mem_strdup(results_text(q, 5)),
                                       .detail = mem_strdup(results_text(q, 6))};
}

/* Reads the next instant; false at the end. */
static bool next_instant(struct stream *s, struct err *err)
{
    rows_clear(s);
    if (!s->more)
        return false;
    s->t_ns = sqlite3_column_int64(s->query, 0);
    do
        row_take(s);
    while ((s->more = results_next(s->db, s->query, err)) && sqlite3_column_int64(s->query, 0) == s->t_ns);
    return true;
}

static void stream_open(struct stream *s, struct results *db, int64_t run, struct err *err)
{
    *s = (struct stream){.db = db};
    s->query = results_query(db, err,
                             "SELECT t_ns, seq, workload, queue, kind, reason, detail FROM main.decision"
                             " WHERE run = %lld ORDER BY t_ns, seq", (long long)run);
    s->more = results_next(db, s->query, err);
}

static void stream_close(struct stream *s)
{
    rows_clear(s);
    free(s->rows);
    sqlite3_finalize(s->query);
}

/* ---- one instant ---- */

/* The group of a submission is a label, not a decision. */
static int order(const struct row *a, const struct row *b)
{
    int c = strcmp(a->workload, b->workload);
    if (c == 0)
        c = strcmp(a->kind, b->kind);
    if (c == 0 && strcmp(a->kind, "submitted") != 0)
        c = strcmp(a->reason, b->reason);
    return c;
}

static int by_content(const void *x, const void *y)
{
    const struct row *a = x, *b = y;
    int c = order(a, b);
    return c != 0 ? c : a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* True when both hold the same decisions; else rows without a partner are not `matched`. */
static bool match(struct stream *a, struct stream *b)
{
    qsort(a->rows, a->count, sizeof *a->rows, by_content);
    qsort(b->rows, b->count, sizeof *b->rows, by_content);
    size_t i = 0, k = 0, matched = 0;
    while (i < a->count && k < b->count) {
        int c = order(&a->rows[i], &b->rows[k]);
        if (c == 0) {
            a->rows[i].matched = b->rows[k].matched = true;
            matched++;
        }
        i += c <= 0;
        k += c >= 0;
    }
    return matched == a->count && matched == b->count;
}

/* Submissions of replicas follow from decisions elsewhere: others come first. */
static const struct row *earliest(const struct stream *s, const struct row *best)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct row *r = &s->rows[i];
        if (r->matched)
            continue;
        bool plain = strcmp(r->kind, "submitted") != 0;
        bool best_plain = best != NULL && strcmp(best->kind, "submitted") != 0;
        if (best == NULL || (plain && !best_plain) || (plain == best_plain && r->seq < best->seq))
            best = r;
    }
    return best;
}

static struct regress_side side_of(struct arena *a, const struct row *r)
{
    return (struct regress_side){.found = true,
                                 .t_ns = r->t_ns,
                                 .kind = arena_strdup(a, r->kind),
                                 .reason = arena_strdup(a, r->reason),
                                 .detail = arena_strdup(a, r->detail)};
}

/* What this side said about the workload at the instant, else last before it. */
static struct regress_side side_read(struct regress_reading *g, const struct stream *s, int64_t run, int64_t t_ns,
                                     const char *workload)
{
    const struct row *here = NULL;
    struct regress_side side = {.found = false};
    for (size_t i = 0; i < s->count && s->t_ns == t_ns; i++)
        if (!s->rows[i].matched && strcmp(s->rows[i].workload, workload) == 0 &&
            (here == NULL || s->rows[i].seq < here->seq))
            here = &s->rows[i];
    if (here != NULL)
        return side_of(&g->r->arena, here);
    sqlite3_stmt *q = results_query(s->db, g->err,
                                    "SELECT t_ns, kind, reason, detail FROM main.decision WHERE run = %lld AND"
                                    " workload = %Q AND t_ns <= %lld ORDER BY seq DESC LIMIT 1",
                                    (long long)run, workload, (long long)t_ns);
    if (results_next(s->db, q, g->err))
        side = (struct regress_side){.found = true,
                                     .t_ns = sqlite3_column_int64(q, 0),
                                     .kind = arena_strdup(&g->r->arena, results_text(q, 1)),
                                     .reason = arena_strdup(&g->r->arena, results_text(q, 2)),
                                     .detail = arena_strdup(&g->r->arena, results_text(q, 3))};
    sqlite3_finalize(q);
    return side;
}

/* ---- one run ---- */

struct run_pair {
    char *arbiter;
    int64_t replication, before, after;
};

/* Stops both streams at the first instant that differs; false when there is none. */
static bool find_difference(struct stream *a, struct stream *b, struct err *err, int64_t *t_ns)
{
    bool more_a = next_instant(a, err), more_b = next_instant(b, err);
    while (err->code == ERR_NONE && (more_a || more_b)) {
        if (more_a && more_b && a->t_ns == b->t_ns) {
            *t_ns = a->t_ns;
            if (!match(a, b))
                return true;
            more_a = next_instant(a, err);
            more_b = next_instant(b, err);
            continue;
        }
        /* one side decides something at an instant at which the other is silent */
        struct stream *silent = !more_a ? a : !more_b ? b : a->t_ns < b->t_ns ? b : a;
        *t_ns = silent == a ? b->t_ns : a->t_ns;
        rows_clear(silent);
        return true;
    }
    return false;
}

static void read_run(struct regress_reading *g, const struct run_pair *p)
{
    struct stream a, b;
    int64_t t_ns = 0;
    stream_open(&a, g->before, p->before, g->err);
    stream_open(&b, g->after, p->after, g->err);
    if (find_difference(&a, &b, g->err, &t_ns)) {
        const struct row *first = earliest(&b, earliest(&a, NULL));
        struct regress_difference *d = &g->r->differences[g->r->difference_count++];
        *d = (struct regress_difference){.arbiter = arena_strdup(&g->r->arena, p->arbiter),
                                         .replication = p->replication,
                                         .t_ns = t_ns,
                                         .workload = arena_strdup(&g->r->arena, first->workload),
                                         .queue = arena_strdup(&g->r->arena, first->queue)};
        d->before = side_read(g, &a, p->before, t_ns, d->workload);
        d->after = side_read(g, &b, p->after, t_ns, d->workload);
    }
    stream_close(&a);
    stream_close(&b);
}

static bool has_decisions(struct regress_reading *g)
{
    bool found[2];
    struct results *dbs[] = {g->before, g->after};
    for (int i = 0; i < 2; i++) {
        sqlite3_stmt *q = results_query(dbs[i], g->err, "SELECT 1 FROM main.decision LIMIT 1");
        found[i] = results_next(dbs[i], q, g->err);
        sqlite3_finalize(q);
        if (!found[i])
            regress_note(g->r, "no decisions in %s: record it with 'run --record full' to see the first that"
                         " differs", dbs[i]->path);
    }
    return found[0] && found[1];
}

/* The first replication of each arbiter that differs. */
void regress_read_decisions(struct regress_reading *g)
{
    struct run_pair *pairs = NULL;
    size_t count = 0, capacity = 0;
    g->r->has_decisions = has_decisions(g);
    if (!g->r->has_decisions)
        return;
    g->r->differences = arena_alloc(&g->r->arena, g->r->arbiter_count + 1, sizeof *g->r->differences);
    sqlite3_stmt *q = results_query(g->before, g->err,
                                    "SELECT r.arbiter, r.replication, r.run, a.run FROM main.run r JOIN after.run a"
                                    " USING (arbiter, replication) WHERE 1%s ORDER BY r.arbiter_ix, r.replication",
                                    g->only);
    while (results_next(g->before, q, g->err)) {
        pairs = mem_grow(pairs, &capacity, count + 1, sizeof *pairs);
        pairs[count++] = (struct run_pair){mem_strdup(results_text(q, 0)), sqlite3_column_int64(q, 1),
                                           sqlite3_column_int64(q, 2), sqlite3_column_int64(q, 3)};
    }
    sqlite3_finalize(q);
    for (size_t i = 0; i < count; i++) {
        size_t n = g->r->difference_count;
        if (n == 0 || strcmp(g->r->differences[n - 1].arbiter, pairs[i].arbiter) != 0)
            read_run(g, &pairs[i]);
        free(pairs[i].arbiter);
    }
    free(pairs);
}
