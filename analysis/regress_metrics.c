/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of both databases side by side, by arbiter, metric and scope. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/regress_priv.h"

struct gathering { /* the figure whose replications are being read */
    struct regress_pairs pairs;
    double *before, *after;
    size_t before_capacity, after_capacity;
};

static bool goes_on(const struct gathering *a, sqlite3_stmt *q)
{
    const struct regress_pairs *p = &a->pairs;
    return p->n > 0 && strcmp(p->arbiter, results_text(q, 0)) == 0 && strcmp(p->kind, results_text(q, 1)) == 0 &&
           strcmp(p->scope, results_text(q, 2)) == 0 && strcmp(p->def->name, results_text(q, 3)) == 0;
}

static void close_figure(struct regress_reading *g, struct gathering *a)
{
    a->pairs.before = a->before;
    a->pairs.after = a->after;
    if (a->pairs.n > 0)
        regress_judge(g, &a->pairs);
    a->pairs.n = 0;
}

static void open_figure(struct regress_reading *g, struct gathering *a, sqlite3_stmt *q,
                        const struct metric_def *def)
{
    struct arena *arena = &g->r->arena;
    a->pairs = (struct regress_pairs){.arbiter = arena_strdup(arena, results_text(q, 0)),
                                      .kind = arena_strdup(arena, results_text(q, 1)),
                                      .scope = arena_strdup(arena, results_text(q, 2)),
                                      .def = def};
}

static void add_pair(struct gathering *a, double before, double after, bool censored)
{
    size_t n = a->pairs.n++;
    a->before = mem_grow(a->before, &a->before_capacity, n + 1, sizeof *a->before);
    a->after = mem_grow(a->after, &a->after_capacity, n + 1, sizeof *a->after);
    a->before[n] = before;
    a->after[n] = after;
    a->pairs.censored |= censored;
}

/* Scopes that one side lacks: a team, service or node pool that is new or gone. */
static void note_scopes(struct regress_reading *g, const char *here, const char *there, const char *path)
{
    sqlite3_stmt *q = results_query(g->before, g->err,
                                    "SELECT scope_kind, scope FROM %s.metric WHERE scope_kind <> 'all'"
                                    " EXCEPT SELECT scope_kind, scope FROM %s.metric LIMIT 10", here, there);
    while (results_next(g->before, q, g->err))
        regress_note(g->r, "%s '%s' is in '%s' only: not compared", results_text(q, 0), results_text(q, 1),
                     path);
    sqlite3_finalize(q);
}

/* A figure that applied before the change and no longer does (or the other way) has no difference. */
static void note_gone(struct regress_reading *g)
{
    sqlite3_stmt *q = results_query(
        g->before, g->err,
        "SELECT DISTINCT b.name, r.arbiter, b.value IS NULL FROM main.run r"
        " JOIN after.run a USING (arbiter, replication) JOIN main.metric b ON b.run = r.run"
        " JOIN after.metric f ON f.run = a.run AND f.scope_kind = 'all' AND f.scope = b.scope AND f.name = b.name"
        " WHERE b.scope_kind = 'all' AND (b.value IS NULL) <> (f.value IS NULL)%s LIMIT 10", g->only);
    while (results_next(g->before, q, g->err))
        regress_note(g->r, "%s under %s applies only %s the change", results_text(q, 0), results_text(q, 1),
                     sqlite3_column_int(q, 2) != 0 ? "after" : "before");
    sqlite3_finalize(q);
}

void regress_read_metrics(struct regress_reading *g)
{
    struct gathering a = {0};
    sqlite3_stmt *q = results_query(
        g->before, g->err,
        "SELECT r.arbiter, b.scope_kind, b.scope, b.name, b.value, f.value, max(b.censored, f.censored)"
        " FROM main.run r JOIN after.run a USING (arbiter, replication) JOIN main.metric b ON b.run = r.run"
        " JOIN after.metric f ON f.run = a.run AND f.scope_kind = b.scope_kind AND f.scope = b.scope"
        " AND f.name = b.name WHERE 1%s"
        " ORDER BY r.arbiter_ix, b.scope_kind <> 'all', b.scope_kind, b.scope, b.name, r.replication", g->only);
    while (results_next(g->before, q, g->err)) {
        const struct metric_def *def = metric_defs_find(results_text(q, 3));
        if (!goes_on(&a, q)) {
            close_figure(g, &a);
            if (def == NULL)
                continue; /* of a later version */
            open_figure(g, &a, q, def);
        }
        add_pair(&a, results_real(q, 4), results_real(q, 5), sqlite3_column_int(q, 6) != 0);
    }
    sqlite3_finalize(q);
    close_figure(g, &a);
    free(a.before);
    free(a.after);
    note_scopes(g, "main", "after", g->before->path);
    note_scopes(g, "after", "main", g->after->path);
    note_gone(g);
}
