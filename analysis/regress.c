/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/regress.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/regress_priv.h"

#define LEVEL 0.95

void regress_note(struct regress *r, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    r->notes = mem_grow(r->notes, &r->note_capacity, r->note_count + 1, sizeof *r->notes);
    r->notes[r->note_count++] = arena_strdup(&r->arena, text);
}

/* ---- judging ---- */

/* Equal values differ by 0 also when both are infinite. */
static double difference(double before, double after)
{
    return before <= after && before >= after ? 0 : after - before;
}

static double allowed_change(const struct tolerance_limit *l, double before)
{
    double relative = isfinite(before) ? l->relative * fabs(before) : 0;
    return relative > l->absolute ? relative : l->absolute;
}

/* change > 0 is bad. Not chance: the interval is on one side, or every replication agrees. */
static enum regress_verdict verdict_of(const double *bad, size_t n, const struct interval *in, double allowed)
{
    double mean = in->mean;
    if (!(fabs(mean) > allowed))
        return REGRESS_SAME;
    bool sure = n < 2 || (!isnan(in->low) && (in->low > 0 || in->high < 0));
    size_t agree = 0;
    for (size_t i = 0; i < n; i++)
        agree += mean > 0 ? bad[i] > allowed : bad[i] < -allowed;
    if (!sure && agree < n)
        return mean > 0 ? REGRESS_UNCLEAR : REGRESS_SAME;
    return mean > 0 ? REGRESS_WORSE : REGRESS_BETTER;
}

static void add_finding(struct regress *r, const struct regress_finding *f)
{
    r->findings = mem_grow(r->findings, &r->finding_capacity, r->finding_count + 1, sizeof *r->findings);
    r->findings[r->finding_count++] = *f;
    r->counts[f->verdict]++;
}

void regress_judge(struct regress_reading *g, const struct regress_pairs *p)
{
    struct tolerance_limit limit = p->limit != NULL
                                       ? *p->limit
                                       : tolerance_of(g->options->tolerance, p->def, p->kind, p->scope);
    if (p->def->better == 0 || limit.ignore)
        return;
    double *change = mem_alloc(p->n + 1, sizeof *change), *bad = mem_alloc(p->n + 1, sizeof *bad);
    size_t n = 0;
    double before = 0, after = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (isnan(p->before[i]) || isnan(p->after[i]))
            continue;
        before += p->before[i];
        after += p->after[i];
        change[n] = difference(p->before[i], p->after[i]);
        bad[n] = -p->def->better * change[n];
        n++;
    }
    if (n > 0) {
        struct interval in = stats_interval(bad, n, LEVEL);
        struct regress_finding f = {.arbiter = p->arbiter,
                                    .kind = p->kind,
                                    .scope = p->scope,
                                    .def = p->def,
                                    .before = before / (double)n,
                                    .after = after / (double)n,
                                    .change = stats_interval(change, n, LEVEL),
                                    .censored = p->censored};
        f.allowed = allowed_change(&limit, f.before);
        f.verdict = verdict_of(bad, n, &in, f.allowed);
        add_finding(g->r, &f);
    }
    free(change);
    free(bad);
}

/* ---- what must hold before anything is compared ---- */

static int64_t one_number(struct results *db, struct err *err, const char *sql)
{
    int64_t n = 0;
    sqlite3_stmt *q = results_query(db, err, "%s", sql);
    if (results_next(db, q, err))
        n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return n;
}

static bool attach(struct regress_reading *g)
{
    sqlite3_stmt *q = results_query(g->before, g->err, "ATTACH DATABASE %Q AS after", g->after->path);
    (void)results_next(g->before, q, g->err);
    sqlite3_finalize(q);
    return g->err->code == ERR_NONE;
}

static void note_arbiters(struct regress_reading *g, const char *sql, const char *path)
{
    sqlite3_stmt *q = results_query(g->before, g->err, "%s", sql);
    while (results_next(g->before, q, g->err))
        regress_note(g->r, "arbiter '%s' is in '%s' only: not compared", results_text(q, 0), path);
    sqlite3_finalize(q);
}

static bool same_demand(struct regress_reading *g)
{
    int64_t common = one_number(g->before, g->err,
                                "SELECT count(*) FROM main.run r JOIN after.run q USING (arbiter, replication)");
    if (g->err->code == ERR_NONE && common == 0)
        return err_set(g->err, ERR_INPUT, "'%s' and '%s' have no arbiter of the same name", g->before->path,
                       g->after->path);
    sqlite3_stmt *q = results_query(g->before, g->err,
                                    "SELECT r.replication FROM main.run r JOIN after.run q USING (replication)"
                                    " WHERE r.demand_hash <> q.demand_hash ORDER BY 1 LIMIT 1");
    if (results_next(g->before, q, g->err))
        err_set(g->err, ERR_INPUT,
                "'%s' and '%s' hold different demand (replication %lld): what differs between them "
                "would not be the change's doing",
                g->before->path, g->after->path, (long long)sqlite3_column_int64(q, 0));
    sqlite3_finalize(q);
    return g->err->code == ERR_NONE;
}

static bool check_arbiter(struct regress_reading *g)
{
    struct regress *r = g->r;
    char *sql = sqlite3_mprintf("SELECT count(DISTINCT replication), count(DISTINCT arbiter) FROM main.run r"
                                " JOIN after.run q USING (arbiter, replication) WHERE 1%s", g->only);
    sqlite3_stmt *q = results_query(g->before, g->err, "%s", sql);
    if (results_next(g->before, q, g->err)) {
        r->replications = sqlite3_column_int64(q, 0);
        r->arbiter_count = (size_t)sqlite3_column_int64(q, 1);
    }
    sqlite3_finalize(q);
    sqlite3_free(sql);
    if (g->err->code == ERR_NONE && r->arbiter_count == 0)
        return err_set(g->err, ERR_INPUT, "no arbiter '%s' in both '%s' and '%s'", g->options->arbiter,
                       g->before->path, g->after->path);
    return g->err->code == ERR_NONE;
}

/* ---- loops ---- */

static void read_loops(struct regress_reading *g)
{
    static const char runs[] = "SELECT r.arbiter, r.replication FROM %s.run r JOIN %s.event_of_note e USING (run)"
                               " WHERE e.kind = 'eviction_loop'";
    struct regress *r = g->r;
    char *before = sqlite3_mprintf(runs, "main", "main"), *after = sqlite3_mprintf(runs, "after", "after");
    char *sql = sqlite3_mprintf("SELECT (SELECT count(*) FROM (%s)), (SELECT count(*) FROM (%s)),"
                                " (SELECT count(*) FROM (%s EXCEPT %s))", before, after, after, before);
    sqlite3_stmt *q = results_query(g->before, g->err, "%s", sql);
    if (results_next(g->before, q, g->err)) {
        r->loops_before = sqlite3_column_int64(q, 0);
        r->loops_after = sqlite3_column_int64(q, 1);
        r->new_loops = sqlite3_column_int64(q, 2) > 0;
    }
    sqlite3_finalize(q);
    sqlite3_free(sql);
    q = results_query(g->before, g->err,
                      "SELECT r.arbiter, r.replication, e.detail FROM after.run r JOIN after.event_of_note e"
                      " USING (run) WHERE e.kind = 'eviction_loop' ORDER BY r.run LIMIT 3");
    while (results_next(g->before, q, g->err))
        regress_note(r, "workloads evict each other without end under %s, replication %lld: %s",
                     results_text(q, 0), (long long)sqlite3_column_int64(q, 1), results_text(q, 2));
    sqlite3_finalize(q);
    sqlite3_free(before);
    sqlite3_free(after);
}

/* ---- the whole ---- */

/* By arbiter, then the whole fleet, metrics in the order of their definitions, scopes by name. */
static int by_place(const void *x, const void *y)
{
    const struct regress_finding *a = x, *b = y;
    bool all_a = strcmp(a->kind, "all") == 0, all_b = strcmp(b->kind, "all") == 0;
    int c = a->arbiter_ix < b->arbiter_ix ? -1 : a->arbiter_ix > b->arbiter_ix;
    if (c == 0)
        c = (int)all_b - (int)all_a;
    if (c == 0 && !all_a)
        c = strcmp(a->kind, b->kind);
    if (c == 0)
        c = strcmp(a->scope, b->scope);
    return c != 0 ? c : a->metric_ix < b->metric_ix ? -1 : a->metric_ix > b->metric_ix;
}

static size_t metric_place(const struct metric_def *def)
{
    size_t count, i = 0;
    const struct metric_def *defs = metric_defs_all(&count);
    while (i < count && &defs[i] != def)
        i++;
    return i;
}

static void sort_findings(struct regress *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        struct regress_finding *f = &r->findings[i];
        size_t k = 0;
        while (k < i && strcmp(r->findings[k].arbiter, f->arbiter) != 0)
            k++;
        f->arbiter_ix = k < i ? r->findings[k].arbiter_ix : i;
        f->metric_ix = metric_place(f->def);
    }
    if (r->finding_count > 0)
        qsort(r->findings, r->finding_count, sizeof *r->findings, by_place);
}

static bool read_all(struct regress_reading *g)
{
    if (!attach(g) || !same_demand(g) || !check_arbiter(g))
        return false;
    note_arbiters(g, "SELECT DISTINCT arbiter FROM main.run EXCEPT SELECT arbiter FROM after.run",
                  g->before->path);
    note_arbiters(g, "SELECT DISTINCT arbiter FROM after.run EXCEPT SELECT arbiter FROM main.run",
                  g->after->path);
    regress_read_metrics(g);
    regress_read_jobs(g);
    sort_findings(g->r);
    regress_read_decisions(g);
    read_loops(g);
    return g->err->code == ERR_NONE;
}

bool regress_read(struct regress *r, struct results *before, struct results *after,
                  const struct regress_options *options, struct err *err)
{
    *r = (struct regress){.path_before = before->path, .path_after = after->path, .strict = options->strict,
                          .longer.limit = options->top, .evicted.limit = options->top};
    struct regress_reading g = {.r = r, .before = before, .after = after, .options = options, .err = err};
    char *only = options->arbiter == NULL ? sqlite3_mprintf("%s", "")
                                          : sqlite3_mprintf(" AND r.arbiter = %Q", options->arbiter);
    g.only = only;
    bool ok = read_all(&g);
    sqlite3_free(only);
    return ok;
}

void regress_fini(struct regress *r)
{
    free(r->findings);
    free(r->notes);
    arena_fini(&r->arena);
    *r = (struct regress){0};
}

int regress_status(const struct regress *r)
{
    bool worse = r->counts[REGRESS_WORSE] > 0 || (r->strict && r->counts[REGRESS_UNCLEAR] > 0);
    return r->new_loops ? 4 : worse ? 1 : 0;
}

void regress_print(FILE *out, const struct regress *r, enum rows_format format)
{
    if (format == ROWS_JSON)
        regress_json(out, r);
    else
        regress_table(out, r);
}
