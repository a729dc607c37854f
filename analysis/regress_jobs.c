/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs of both databases, paired by (arbiter, replication, id). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/regress_priv.h"

#define LONGER_S 1.0 /* less is not worth a line */

/* Sums of one (arbiter, priority, replication), in the order of the query. */
struct sums {
    const char *arbiter;
    int64_t priority, replication, jobs;
    double wait_before, wait_after, evictions_before, evictions_after;
    bool censored;
};

struct tally {
    struct sums *items;
    size_t count, capacity;
    struct regress_job worst[2]; /* of workload.wait and workload.evictions, when the file gates them */
    double worst_by[2];
    struct tolerance_limit worst_limit[2];
    bool has_worst[2];
};

static bool has_rows(struct regress_reading *g, const char *schema, const char *table)
{
    sqlite3_stmt *q = results_query(g->before, g->err, "SELECT 1 FROM %s.%s LIMIT 1", schema, table);
    bool found = results_next(g->before, q, g->err);
    sqlite3_finalize(q);
    return found;
}

static bool both_have(struct regress_reading *g, const char *table, const char *lost)
{
    bool before = has_rows(g, "main", table), after = has_rows(g, "after", table);
    if (before && after)
        return true;
    regress_note(g->r, "no %ss in %s%s%s: record both with 'run --record full' to see %s", table,
                 before ? "" : g->before->path, !before && !after ? " and " : "", after ? "" : g->after->path, lost);
    return false;
}

/* ---- the lists ---- */

static bool worse_than(const struct regress_job *a, const struct regress_job *b, bool by_wait)
{
    double x = by_wait ? a->wait_after_s - a->wait_before_s : (double)(a->evictions_after - a->evictions_before);
    double y = by_wait ? b->wait_after_s - b->wait_before_s : (double)(b->evictions_after - b->evictions_before);
    if (x > y || x < y)
        return x > y;
    return !by_wait && a->rework_after_card_s > b->rework_after_card_s;
}

/* Keeps the worst `limit` in order; texts of j are copied only when it stays. */
static void list_add(struct regress *r, struct regress_jobs *list, const struct regress_job *j, bool by_wait)
{
    list->total++;
    if (list->limit == 0 || (list->count == list->limit && !worse_than(j, &list->items[list->count - 1], by_wait)))
        return;
    if (list->items == NULL)
        list->items = arena_alloc(&r->arena, list->limit, sizeof *list->items);
    size_t at = list->count < list->limit ? list->count++ : list->count - 1;
    for (; at > 0 && worse_than(j, &list->items[at - 1], by_wait); at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = *j;
    const char **texts[] = {&list->items[at].arbiter, &list->items[at].id, &list->items[at].team,
                            &list->items[at].queue, &list->items[at].reason};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = arena_strdup(&r->arena, *texts[i]);
}

/* ---- single jobs as a gate: only where the tolerance file says so ---- */

static const struct tolerance_line *line_for(const struct regress_reading *g, const char *metric,
                                             const struct regress_job *j)
{
    char priority[24];
    (void)snprintf(priority, sizeof priority, "%lld", (long long)j->priority);
    const char *const scopes[][2] = {{"all", ""}, {"team", j->team}, {"queue", j->queue}, {"priority", priority}};
    const struct tolerance_line *last = NULL;
    for (size_t i = 0; i < 4; i++) {
        const struct tolerance_line *l = tolerance_find(g->options->tolerance, metric, scopes[i][0], scopes[i][1]);
        if (l != NULL && (last == NULL || l->line > last->line))
            last = l;
    }
    return last == NULL || last->limit.ignore || strcmp(last->metric, "*") == 0 ? NULL : last;
}

static void gate_job(struct regress_reading *g, struct tally *t, const struct regress_job *j)
{
    static const char *const metrics[] = {"workload.wait", "workload.evictions"};
    const double before[] = {j->wait_before_s, (double)j->evictions_before};
    const double after[] = {j->wait_after_s, (double)j->evictions_after};
    for (int i = 0; i < 2; i++) {
        const struct tolerance_line *l = line_for(g, metrics[i], j);
        if (l == NULL)
            continue;
        double relative = l->limit.relative * before[i];
        double over = after[i] - before[i] - (relative > l->limit.absolute ? relative : l->limit.absolute);
        if (over > 0 && (!t->has_worst[i] || over > t->worst_by[i])) {
            t->worst[i] = *j;
            t->worst[i].id = arena_strdup(&g->r->arena, j->id);
            t->worst[i].arbiter = arena_strdup(&g->r->arena, j->arbiter);
            t->worst_by[i] = over;
            t->worst_limit[i] = l->limit;
            t->has_worst[i] = true;
        }
    }
}

static void add_worst(struct regress_reading *g, const struct tally *t)
{
    static const char *const metrics[] = {"workload.wait", "workload.evictions"};
    for (int i = 0; i < 2; i++) {
        const struct regress_job *j = &t->worst[i];
        if (!t->has_worst[i])
            continue;
        double before = i == 0 ? j->wait_before_s : (double)j->evictions_before;
        double after = i == 0 ? j->wait_after_s : (double)j->evictions_after;
        struct regress_pairs p = {.arbiter = j->arbiter, .kind = "job", .scope = j->id,
                                  .def = tolerance_metric(metrics[i]), .before = &before, .after = &after, .n = 1,
                                  .limit = &t->worst_limit[i]};
        regress_judge(g, &p);
    }
}

/* ---- reading ---- */

static struct sums *sums_of(struct regress *r, struct tally *t, const struct regress_job *j)
{
    for (size_t i = t->count; i-- > 0;) {
        struct sums *s = &t->items[i];
        if (s->priority == j->priority && s->replication == j->replication && strcmp(s->arbiter, j->arbiter) == 0)
            return s;
    }
    t->items = mem_grow(t->items, &t->capacity, t->count + 1, sizeof *t->items);
    t->items[t->count] = (struct sums){.arbiter = arena_strdup(&r->arena, j->arbiter), .priority = j->priority,
                                       .replication = j->replication};
    return &t->items[t->count++];
}

static struct regress_job job_of(sqlite3_stmt *q)
{
    return (struct regress_job){.arbiter = results_text(q, 0),
                                .replication = sqlite3_column_int64(q, 1),
                                .id = results_text(q, 2),
                                .team = results_text(q, 3),
                                .queue = results_text(q, 4),
                                .priority = sqlite3_column_int64(q, 5),
                                .cards_milli = sqlite3_column_int64(q, 6),
                                .wait_before_s = results_real(q, 7),
                                .wait_after_s = results_real(q, 8),
                                .started_before = sqlite3_column_int(q, 9) != 0,
                                .started_after = sqlite3_column_int(q, 10) != 0,
                                .evictions_before = sqlite3_column_int64(q, 11),
                                .evictions_after = sqlite3_column_int64(q, 12),
                                .rework_after_card_s = results_real(q, 13),
                                .reason = results_text(q, 14)};
}

static void take_job(struct regress_reading *g, struct tally *t, const struct regress_job *j)
{
    struct regress *r = g->r;
    double longer = j->wait_after_s - j->wait_before_s;
    struct sums *s = sums_of(r, t, j);
    s->jobs++;
    s->wait_before += j->wait_before_s;
    s->wait_after += j->wait_after_s;
    s->evictions_before += (double)j->evictions_before;
    s->evictions_after += (double)j->evictions_after;
    s->censored |= !j->started_before || !j->started_after;
    r->jobs_paired++;
    if (longer > LONGER_S) {
        r->waited_longer_s += longer;
        list_add(r, &r->longer, j, true);
    } else if (longer < -LONGER_S) {
        r->waited_less_s -= longer;
        r->jobs_faster++;
    }
    if (j->evictions_before == 0 && j->evictions_after > 0)
        list_add(r, &r->evicted, j, false);
    gate_job(g, t, j);
}

static bool same_class(const struct sums *a, const struct sums *b)
{
    return a->priority == b->priority && strcmp(a->arbiter, b->arbiter) == 0;
}

/* Figures by priority over the replications: sums of the same class are apart by whole rounds. */
static void judge_class(struct regress_reading *g, const struct tally *t, size_t first)
{
    double *values = mem_alloc(4 * (t->count + 1), sizeof *values);
    double *wait[] = {values, values + t->count}, *evicted[] = {values + 2 * t->count, values + 3 * t->count};
    size_t n = 0;
    bool censored = false;
    for (size_t i = first; i < t->count; i++) {
        const struct sums *s = &t->items[i];
        if (!same_class(s, &t->items[first]))
            continue;
        wait[0][n] = s->wait_before / (double)s->jobs;
        wait[1][n] = s->wait_after / (double)s->jobs;
        evicted[0][n] = s->evictions_before;
        evicted[1][n++] = s->evictions_after;
        censored |= s->censored;
    }
    struct regress_pairs p = {.arbiter = t->items[first].arbiter, .kind = "priority", .n = n,
                              .scope = arena_printf(&g->r->arena, "%lld", (long long)t->items[first].priority)};
    p.def = tolerance_metric("jobs.wait.mean");
    p.before = wait[0];
    p.after = wait[1];
    p.censored = censored;
    regress_judge(g, &p);
    p.def = tolerance_metric("jobs.evictions");
    p.before = evicted[0];
    p.after = evicted[1];
    p.censored = false;
    regress_judge(g, &p);
    free(values);
}

static void judge_classes(struct regress_reading *g, const struct tally *t)
{
    for (size_t i = 0; i < t->count; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first = first && !same_class(&t->items[k], &t->items[i]);
        if (first)
            judge_class(g, t, i);
    }
}

static void note_unpaired(struct regress_reading *g, const char *here, const char *there, const char *path)
{
    sqlite3_stmt *q = results_query(
        g->before, g->err,
        "SELECT count(*), min(w.id) FROM %s.workload w JOIN %s.run h USING (run)"
        " JOIN %s.run o USING (arbiter, replication) WHERE NOT EXISTS"
        " (SELECT 1 FROM %s.workload x WHERE x.run = o.run AND x.id = w.id)", here, here, there, there);
    if (results_next(g->before, q, g->err) && sqlite3_column_int64(q, 0) > 0)
        regress_note(g->r, "%lld jobs are in '%s' only, such as %s: a stream was renamed?",
                     (long long)sqlite3_column_int64(q, 0), path, results_text(q, 1));
    sqlite3_finalize(q);
}

void regress_read_jobs(struct regress_reading *g)
{
    struct tally t = {0};
    g->r->has_jobs = both_have(g, "workload", "which jobs wait longer or are newly evicted");
    if (!g->r->has_jobs)
        return;
    sqlite3_stmt *q = results_query(
        g->before, g->err,
        "SELECT r.arbiter, r.replication, f.id, f.team, f.queue, f.priority, f.cards_milli,"
        " coalesce(b.start_s, r.horizon_s) - b.submit_s, coalesce(f.start_s, a.horizon_s) - f.submit_s,"
        " b.start_s IS NOT NULL, f.start_s IS NOT NULL, b.evictions, f.evictions, f.rework_card_s,"
        " coalesce(f.wait_reason, '') FROM main.run r JOIN after.run a USING (arbiter, replication)"
        " JOIN main.workload b ON b.run = r.run JOIN after.workload f ON f.run = a.run AND f.id = b.id"
        " WHERE 1%s ORDER BY r.arbiter_ix, r.replication, b.rowid", g->only);
    while (results_next(g->before, q, g->err)) {
        struct regress_job j = job_of(q);
        take_job(g, &t, &j);
    }
    sqlite3_finalize(q);
    judge_classes(g, &t);
    add_worst(g, &t);
    note_unpaired(g, "main", "after", g->before->path);
    note_unpaired(g, "after", "main", g->after->path);
    free(t.items);
}
