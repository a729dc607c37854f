/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/explain_quota.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/explain_priv.h"
#include "analysis/table_priv.h"
#include "analysis/wrap.h"
#include "sim/text.h"

enum { NAME = 32, FIGURE = 9, DEEPEST = 64 };
#define UNLIMITED 1125899906842624.0 /* 2^50, in milli-units or pieces: as the policy counts a quota without end */

/* ---- reading ---- */

static const char *text_or_null(struct arena *a, sqlite3_stmt *q, int column)
{
    return sqlite3_column_type(q, column) == SQLITE_NULL ? NULL : arena_strdup(a, results_text(q, column));
}

/* NAN when it stands for a quota without end. */
static double limited(double v)
{
    return v >= UNLIMITED || (v >= UNLIMITED / 1000 && v <= UNLIMITED / 1000) ? (double)NAN : v;
}

static void read_cells(struct explain_quota *quota, struct results *results, int64_t run, const char *queue, int64_t t_ns,
                       struct err *err)
{
    size_t capacity = 0;
    sqlite3_stmt *q = results_query(
        results, err,
        "SELECT kind = 'cohort', node, parent, flavor, resource, own, nominal, most, borrowing_limit, lending_limit,"
        " CASE kind WHEN 'queue' THEN coalesce((SELECT sum(amount) FROM holding h WHERE h.run = q.run AND h.queue = q.node"
        " AND h.flavor = q.flavor AND h.resource = q.resource AND h.from_ns <= %lld"
        " AND (h.to_ns IS NULL OR h.to_ns > %lld)), 0) ELSE 0 END FROM quota_node q WHERE run = %lld AND (%Q IS NULL"
        " OR (root IS NULL AND kind = 'queue' AND node = %Q) OR root IN (SELECT root FROM quota_node WHERE run = q.run"
        " AND kind = 'queue' AND node = %Q)) ORDER BY rowid",
        (long long)t_ns, (long long)t_ns, (long long)run, queue, queue, queue);
    while (results_next(results, q, err)) {
        quota->cells = mem_grow(quota->cells, &capacity, quota->count + 1, sizeof *quota->cells);
        quota->cells[quota->count++] =
            (struct explain_cell){.cohort = sqlite3_column_int(q, 0) != 0,
                                  .node = arena_strdup(&quota->arena, results_text(q, 1)),
                                  .parent = text_or_null(&quota->arena, q, 2),
                                  .flavor = arena_strdup(&quota->arena, results_text(q, 3)),
                                  .resource = arena_strdup(&quota->arena, results_text(q, 4)),
                                  .up = SIZE_MAX,
                                  .own = results_real(q, 5),
                                  .nominal = results_real(q, 6),
                                  .most = results_real(q, 7),
                                  .borrowing_limit = results_real(q, 8),
                                  .lending_limit = results_real(q, 9),
                                  .used = results_real(q, 10)};
    }
    sqlite3_finalize(q);
}

/* ---- the tree ---- */

static bool same_fr(const struct explain_cell *a, const struct explain_cell *b)
{
    return strcmp(a->flavor, b->flavor) == 0 && strcmp(a->resource, b->resource) == 0;
}

static void link_cells(struct explain_quota *q)
{
    for (size_t i = 0; i < q->count; i++)
        for (size_t k = i + 1; k < q->count && q->cells[i].parent != NULL && q->cells[i].up == SIZE_MAX; k++)
            if (q->cells[k].cohort && strcmp(q->cells[k].node, q->cells[i].parent) == 0 && same_fr(&q->cells[i], &q->cells[k]))
                q->cells[i].up = k;
}

static double unused_of(const struct explain_cell *c)
{
    return fmax(0, c->subtree - fmax(c->use, c->local));
}

static void add_up(struct explain_quota *q)
{
    for (size_t i = 0; i < q->count; i++) {
        struct explain_cell *c = &q->cells[i];
        c->subtree += c->own;
        c->local = isnan(c->lending_limit) ? 0 : fmax(0, c->subtree - c->lending_limit);
        c->use += c->cohort ? 0 : c->used;
        if (c->up == SIZE_MAX)
            continue;
        struct explain_cell *p = &q->cells[c->up];
        p->subtree += c->subtree - c->local;
        p->used += c->used;
        p->use += fmax(0, c->use - c->local);
        p->below_borrowed += fmax(0, c->use - c->subtree);
        p->below_unused += unused_of(c);
    }
}

/* Part of each pot that is taken, from the root down. */
static void flow_down(struct explain_quota *q)
{
    for (size_t i = q->count; i-- > 0;) {
        struct explain_cell *c = &q->cells[i];
        const double pot = c->below_unused + c->own, over = fmax(0, c->use - c->subtree);
        c->lent = c->up == SIZE_MAX ? 0 : unused_of(c) * q->cells[c->up].share;
        c->borrowed = c->up == SIZE_MAX ? 0 : over;
        c->share = c->cohort && pot > 0 ? (fmin(pot, c->below_borrowed) + c->lent) / pot : 0;
        c->free = c->nominal - c->used + over - c->lent;
        if (fabs(c->free) < 1e-9 * fabs(c->nominal))
            c->free = 0; /* rounding */
    }
}

void explain_quota_read(struct explain_quota *quota, struct results *results, int64_t run, const char *queue, int64_t t_ns,
                        struct err *err)
{
    *quota = (struct explain_quota){.count = 0};
    if (err->code != ERR_NONE || !explain_has_table(results, "holding", err))
        return;
    read_cells(quota, results, run, queue, t_ns, err);
    link_cells(quota);
    add_up(quota);
    flow_down(quota);
}

void explain_quota_fini(struct explain_quota *quota)
{
    arena_fini(&quota->arena);
    free(quota->cells);
    *quota = (struct explain_quota){.count = 0};
}

/* ---- text ---- */

static void figure(FILE *out, const char *resource, double v)
{
    static const struct {
        const char *suffix;
        double size;
    } units[] = {{"Ti", 1099511627776.0}, {"Gi", 1073741824.0}, {"Mi", 1048576.0}};
    const bool bytes = strcmp(resource, "memory") == 0 || strstr(resource, "storage") != NULL;
    char text[40];
    (void)snprintf(text, sizeof text, fabs(v - nearbyint(v)) < 1e-6 ? "%.0f" : "%.2f", v);
    for (size_t i = 0; i < sizeof units / sizeof units[0] && bytes; i++)
        if (fabs(v) >= units[i].size) {
            (void)snprintf(text, sizeof text, "%.4g%s", v / units[i].size, units[i].suffix);
            break;
        }
    if (isnan(limited(v)))
        (void)snprintf(text, sizeof text, "no end");
    else if (strlen(text) >= FIGURE)
        (void)snprintf(text, sizeof text, "%.2g", v);
    table_right(out, text, FIGURE);
}

static void head_text(FILE *out)
{
    static const char *const heads[] = {"nominal", "used", "borrowed", "lent", "free"};
    fputs("  ", out);
    table_left(out, "quota", NAME);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        table_right(out, heads[i], FIGURE);
    putc('\n', out);
}

static void limit_text(FILE *out, const char *name, double v)
{
    if (isnan(v))
        return;
    fprintf(out, "%s%.10g", name, v);
}

static void cell_text(FILE *out, const struct explain_cell *c, unsigned indent)
{
    char name[300];
    const double values[] = {c->nominal, c->used, c->borrowed, c->lent, isnan(limited(c->nominal)) ? c->nominal : c->free};
    (void)snprintf(name, sizeof name, "%s %s", c->flavor, c->resource);
    fprintf(out, "  %*s", (int)indent, "");
    table_left(out, name, NAME - indent);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        figure(out, c->resource, values[i]);
    putc('\n', out);
    if (isnan(c->borrowing_limit) && isnan(c->lending_limit))
        return;
    fprintf(out, "  %*s", (int)indent + 2, "");
    limit_text(out, "borrowingLimit ", c->borrowing_limit);
    limit_text(out, isnan(c->borrowing_limit) ? "lendingLimit " : ", lendingLimit ", c->lending_limit);
    putc('\n', out);
}

/* A node is the first of its cells. */
static bool same_node(const struct explain_cell *a, const struct explain_cell *b)
{
    return a->cohort == b->cohort && strcmp(a->node, b->node) == 0;
}

static void node_text(FILE *out, const struct explain_quota *q, const struct explain_cell *node, unsigned depth)
{
    const unsigned indent = depth < 8 ? 2 * depth : 16;
    fprintf(out, "  %*s%s%s\n", (int)indent, "", node->cohort ? "cohort " : "", node->node);
    for (size_t i = 0; i < q->count; i++)
        if (same_node(&q->cells[i], node))
            cell_text(out, &q->cells[i], indent + 2);
}

static const struct explain_cell *find(const struct explain_quota *q, const char *name, bool cohort)
{
    for (size_t i = 0; name != NULL && i < q->count; i++)
        if (q->cells[i].cohort == cohort && strcmp(q->cells[i].node, name) == 0)
            return &q->cells[i];
    return NULL;
}

/* From the queue (at 0) to the root; the number of nodes. */
static size_t path_of(const struct explain_quota *q, const char *queue, const struct explain_cell *path[DEEPEST])
{
    size_t n = 0;
    for (const struct explain_cell *c = find(q, queue, false); c != NULL && n < DEEPEST; c = find(q, c->parent, true))
        path[n++] = c;
    return n;
}

void explain_quota_path_text(FILE *out, const struct explain_quota *quota, const char *queue)
{
    const struct explain_cell *path[DEEPEST];
    const size_t n = path_of(quota, queue, path);
    if (n == 0) {
        fputs("  the quota of that instant is not in the database (kept of replication 0, --record full)\n", out);
        return;
    }
    char line[DEEPEST * 300] = "";
    struct text t = TEXT(line);
    text_say(&t, n == 1 ? "stands alone, in no cohort" : "place: ");
    for (size_t i = n; i-- > 0 && n > 1;)
        text_say(&t, "%s%s", path[i]->node, i > 0 ? " > " : "");
    fputs("  ", out);
    wrap_print(out, line, TABLE_WIDTH, 2, 4);
    putc('\n', out);
    head_text(out);
    for (size_t i = n; i-- > 0;)
        node_text(out, quota, path[i], (unsigned)(n - 1 - i));
}

struct walk {
    FILE *out;
    const struct explain_quota *q;
    size_t shown, limit, all;
};

/* The node and what is below it. Only first cells stand for their node. */
static void walk(struct walk *w, size_t at, unsigned depth)
{
    const struct explain_cell *node = &w->q->cells[at];
    if (w->all++ < w->limit) {
        node_text(w->out, w->q, node, depth);
        w->shown++;
    }
    for (size_t i = 0; i < w->q->count && node->cohort && depth < DEEPEST; i++) {
        const struct explain_cell *c = &w->q->cells[i];
        if (c->parent != NULL && strcmp(c->parent, node->node) == 0 && find(w->q, c->node, c->cohort) == c)
            walk(w, i, depth + 1);
    }
}

void explain_quota_tree_text(FILE *out, const struct explain_quota *quota, size_t limit)
{
    struct walk w = {.out = out, .q = quota, .limit = limit == 0 ? SIZE_MAX : limit};
    if (quota->count == 0) {
        fputs("  the quota of that instant is not in the database (kept of replication 0, --record full)\n", out);
        return;
    }
    head_text(out);
    for (size_t i = 0; i < quota->count; i++)
        if (quota->cells[i].parent == NULL && find(quota, quota->cells[i].node, quota->cells[i].cohort) == &quota->cells[i])
            walk(&w, i, 0);
    if (w.all > w.shown)
        fprintf(out, "  and %zu more; all with --limit 0\n", w.all - w.shown);
}

/* ---- JSON ---- */

static void number(FILE *out, const char *key, double v)
{
    fprintf(out, ", \"%s\": ", key);
    rows_out_real(out, ROWS_JSON, v);
}

static void cell_json(FILE *out, const struct explain_cell *c, bool first)
{
    fprintf(out, "%s{\"node\": ", first ? "" : ", ");
    rows_out_text(out, ROWS_JSON, c->node);
    fprintf(out, ", \"kind\": \"%s\", \"parent\": ", c->cohort ? "cohort" : "queue");
    rows_out_text(out, ROWS_JSON, c->parent);
    fputs(", \"flavor\": ", out);
    rows_out_text(out, ROWS_JSON, c->flavor);
    fputs(", \"resource\": ", out);
    rows_out_text(out, ROWS_JSON, c->resource);
    number(out, "own", limited(c->own));
    number(out, "nominal", limited(c->nominal));
    number(out, "used", c->used);
    number(out, "borrowed", c->borrowed);
    number(out, "lent", c->lent);
    number(out, "free", isnan(limited(c->nominal)) ? (double)NAN : c->free);
    number(out, "borrowing_limit", c->borrowing_limit);
    number(out, "lending_limit", c->lending_limit);
    number(out, "most", c->most);
    putc('}', out);
}

static bool on_path(const struct explain_cell *c, const struct explain_cell *const *path, size_t n)
{
    bool found = n == 0;
    for (size_t i = 0; i < n; i++)
        found = found || same_node(c, path[i]);
    return found;
}

void explain_quota_json(FILE *out, const struct explain_quota *quota, const char *queue)
{
    const struct explain_cell *path[DEEPEST];
    const size_t n = queue == NULL ? 0 : path_of(quota, queue, path);
    if (queue != NULL) {
        fputs(", \"tree\": [", out);
        for (size_t i = n; i-- > 0;) {
            rows_out_text(out, ROWS_JSON, path[i]->node);
            fputs(i > 0 ? ", " : "", out);
        }
        putc(']', out);
    }
    fputs(", \"quota\": [", out);
    bool first = true;
    for (size_t i = 0; i < quota->count; i++)
        if (queue == NULL || (n > 0 && on_path(&quota->cells[i], path, n))) {
            cell_json(out, &quota->cells[i], first);
            first = false;
        }
    putc(']', out);
}
