/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quota over time at the nodes of the tree: held, borrowed, waiting; and where a head stays out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/page.h"
#include "sim/arena.h"

enum { BINS = 240, PANELS_MAX = 4, NODES_SHOWN = 16, ALARMS_SHOWN = 8 };

struct root {
    char scope[512], node[192], flavor[192], resource[192];
    bool cohort;
    double nominal;
};

struct panel {
    double reserved[BINS], borrowed[BINS], pending[BINS];
};

static bool has_tree(struct page *page)
{
    bool found = false;
    sqlite3_stmt *q = results_query(page->results, page->err,
                                    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'quota_node'");
    found = results_next(page->results, q, page->err);
    sqlite3_finalize(q);
    return found;
}

/* The roots with most nominal quota, of cards where there are any. */
static size_t read_roots(struct page *page, int64_t run, struct root *roots)
{
    size_t n = 0;
    sqlite3_stmt *q = results_query(
        page->results, page->err,
        "SELECT scope, node, flavor, resource, kind = 'cohort', nominal FROM quota_node WHERE run = %lld"
        " AND parent IS NULL AND nominal > 0 ORDER BY resource LIKE '%%gpu%%' DESC, resource = 'cpu' DESC,"
        " nominal DESC, scope LIMIT %d",
        (long long)run, PANELS_MAX);
    while (results_next(page->results, q, page->err)) {
        struct root *r = &roots[n];
        (void)snprintf(r->scope, sizeof r->scope, "%s", results_text(q, 0));
        (void)snprintf(r->node, sizeof r->node, "%s", results_text(q, 1));
        (void)snprintf(r->flavor, sizeof r->flavor, "%s", results_text(q, 2));
        (void)snprintf(r->resource, sizeof r->resource, "%s", results_text(q, 3));
        r->cohort = sqlite3_column_int64(q, 4) != 0;
        r->nominal = results_real(q, 5);
        n += n == 0 || strcmp(r->resource, roots[0].resource) == 0; /* one resource */
    }
    sqlite3_finalize(q);
    return n;
}

/* Adds `value` over [from, to) to the means of the bins. */
static void spread(double *bins, double from, double to, double horizon, double value)
{
    const double width = horizon / BINS;
    for (size_t i = (size_t)(from / width); i < BINS && (double)i * width < to; i++) {
        const double begin = fmax(from, (double)i * width), end = fmin(to, (double)(i + 1) * width);
        if (end > begin)
            bins[i] += value * (end - begin) / width;
    }
}

/* Sum over the scopes that the query gives: scope, t_s, value, in this order. */
static void read_series(struct page *page, sqlite3_stmt *q, double *bins)
{
    char scope[512] = "";
    double t = 0, v = 0, horizon = page->all.horizon_s;
    bool open = false;
    while (results_next(page->results, q, page->err)) {
        const bool same = open && strcmp(scope, results_text(q, 0)) == 0;
        if (open)
            spread(bins, t, same ? results_real(q, 1) : horizon, horizon, v);
        (void)snprintf(scope, sizeof scope, "%s", results_text(q, 0));
        t = results_real(q, 1);
        v = results_real(q, 2);
        open = true;
    }
    if (open)
        spread(bins, t, horizon, horizon, v);
    sqlite3_finalize(q);
}

static void read_panel(struct page *page, int64_t run, const struct root *r, struct panel *p)
{
    static const char one[] = "SELECT scope, t_s, value FROM series WHERE run = %lld AND name = %Q AND scope = %Q"
                              " ORDER BY t_s";
    *p = (struct panel){.reserved = {0}};
    read_series(page, results_query(page->results, page->err, one, (long long)run, "quota.reserved", r->scope),
                p->reserved);
    read_series(page, results_query(page->results, page->err, one, (long long)run, "quota.pending", r->scope),
                p->pending);
    if (r->cohort)
        read_series(page,
                    results_query(page->results, page->err,
                                  "SELECT s.scope, t_s, value FROM series s JOIN quota_node n ON n.run = s.run AND"
                                  " n.scope = s.scope WHERE s.run = %lld AND s.name = 'quota.borrowed' AND n.kind ="
                                  " 'queue' AND n.root = %Q AND n.flavor = %Q AND n.resource = %Q ORDER BY s.scope, t_s",
                                  (long long)run, r->node, r->flavor, r->resource),
                    p->borrowed);
}

static void draw(struct page *page, const struct root *r, const struct panel *p)
{
    const bool days = page->all.horizon_s > 3 * 86400;
    const double unit_s = days ? 86400 : 3600, end = page->all.horizon_s / unit_s;
    double most = r->nominal, held = r->nominal;
    char alt[300];
    struct plot *plot = plot_begin("quota", page->err);
    if (plot == NULL)
        return;
    for (size_t i = 0; i < BINS; i++) {
        most = fmax(most, p->reserved[i] + p->pending[i]);
        held = fmax(held, p->reserved[i]);
    }
    most = 1.05 * fmin(most, 2 * held); /* a long queue is cut off */
    FILE *f = plot_file(plot, "quota.tsv");
    for (size_t i = 0; i <= BINS; i++) {
        const size_t at = i < BINS ? i : BINS - 1; /* the last bin lasts until the end */
        const double reserved = p->reserved[at];
        fprintf(f, "%.6f", end * (double)i / BINS);
        plot_column(f, fmin(reserved - p->borrowed[at], most));
        plot_column(f, fmin(reserved, most));
        plot_column(f, fmin(reserved + p->pending[at], most));
        plot_column(f, r->nominal);
        putc('\n', f);
    }
    plot_number(plot, "W", 440);
    plot_number(plot, "H", 230);
    plot_number(plot, "DAYS", days);
    plot_number(plot, "END", end);
    plot_number(plot, "TIC", days && end <= 70 && end > 13 ? 7 : page_tic(end, 6));
    plot_number(plot, "MOST", most);
    plot_number(plot, "QUOTA_TIC", page_tic(most, 4));
    (void)snprintf(alt, sizeof alt, "Quota of %.80s on %.80s over the run: held, borrowed, waiting, and the nominal quota.",
                   r->node, r->flavor);
    fputs("<div><h3>", page->out);
    html_text(page->out, r->node);
    fputs(", ", page->out);
    html_text(page->out, r->flavor);
    fputs("</h3>", page->out);
    page_plot(page, plot, alt);
    fputs("</div>\n", page->out);
}

/* Means over the run of each node: a value lasts until the next row. */
static sqlite3_stmt *node_means(struct page *page, int64_t run, const char *resource)
{
    return results_query(
        page->results, page->err,
        "WITH step AS (SELECT name, scope, value, lead(t_s, 1, %f) OVER (PARTITION BY name, scope ORDER BY t_s) - t_s AS dt"
        " FROM series WHERE run = %lld AND name IN ('quota.pending', 'quota.reserved', 'quota.borrowed', 'quota.lent',"
        " 'quota.free')), mean AS (SELECT name, scope, sum(value * dt) / sum(dt) AS v FROM step GROUP BY name, scope)"
        " SELECT n.kind, n.node, n.flavor, n.nominal, max(CASE name WHEN 'quota.reserved' THEN v END),"
        " max(CASE name WHEN 'quota.borrowed' THEN v END), max(CASE name WHEN 'quota.lent' THEN v END),"
        " max(CASE name WHEN 'quota.free' THEN v END), max(CASE name WHEN 'quota.pending' THEN v END)"
        " FROM quota_node n JOIN mean m ON m.scope = n.scope WHERE n.run = %lld AND n.resource = %Q GROUP BY n.scope"
        " ORDER BY n.kind, sum(CASE WHEN name IN ('quota.reserved', 'quota.pending') THEN v END) DESC, n.scope"
        " LIMIT %d",
        page->all.horizon_s, (long long)run, (long long)run, resource, NODES_SHOWN);
}

static void print_nodes(struct page *page, int64_t run, const char *resource)
{
    sqlite3_stmt *q = node_means(page, run, resource);
    fputs("<div class=\"scroll\"><table><thead><tr><th>node</th><th class=\"text\">flavor</th><th>nominal</th>"
          "<th>reserved</th><th>borrowed</th><th>lent</th><th>free</th><th>waiting</th></tr></thead><tbody>\n",
          page->out);
    while (results_next(page->results, q, page->err)) {
        fputs(strcmp(results_text(q, 0), "cohort") == 0 ? "<tr><td>cohort " : "<tr><td>", page->out);
        html_text(page->out, results_text(q, 1));
        fputs("</td><td class=\"text\">", page->out);
        html_text(page->out, results_text(q, 2));
        fputs("</td>", page->out);
        for (int c = 3; c <= 8; c++)
            fprintf(page->out, "<td>%.*f</td>", c > 3 && results_real(q, 3) < 100 ? 1 : 0, results_real(q, c));
        fputs("</tr>\n", page->out);
    }
    sqlite3_finalize(q);
    fputs("</tbody></table></div>\n<p class=\"note\">Means over the run, of the cohorts and the busiest queues; the others are in the "
          "database (table quota_node, series quota.*).</p>\n",
          page->out);
}

static void print_alarms(struct page *page)
{
    size_t rows = 0;
    sqlite3_stmt *q = results_query(page->results, page->err,
                                    "SELECT arbiter, queue, workload, reason, count(*), max(to_s - from_s) AS longest, why"
                                    " FROM alarm JOIN run USING (run) GROUP BY arbiter_ix, queue, reason"
                                    " ORDER BY longest DESC, arbiter_ix, queue, reason LIMIT %d",
                                    ALARMS_SHOWN);
    while (results_next(page->results, q, page->err)) {
        if (rows++ == 0)
            fputs("<h3>Heads that would fit their own quota and stayed out</h3>\n<div class=\"scroll\"><table><thead><tr>"
                  "<th>arbiter</th><th class=\"text\">queue</th><th class=\"text\">longest</th><th>hours</th><th>times</th>"
                  "<th class=\"text\">why</th></tr></thead><tbody>\n",
                  page->out);
        fputs("<tr><td>", page->out);
        html_text(page->out, results_text(q, 0));
        for (int c = 1; c <= 2; c++) {
            fputs("</td><td class=\"text\">", page->out);
            html_text(page->out, results_text(q, c));
        }
        fprintf(page->out, "</td><td>%.1f</td><td>%lld</td><td class=\"text\">", results_real(q, 5) / 3600,
                (long long)sqlite3_column_int64(q, 4));
        html_text(page->out, results_text(q, 3));
        fputs(": ", page->out);
        html_text(page->out, results_text(q, 6));
        fputs("</td></tr>\n", page->out);
    }
    sqlite3_finalize(q);
    fputs(rows > 0 ? "</tbody></table></div>\n" : "", page->out);
}

/* The arbiter shown: the focus, else the first whose queues stand in cohorts. */
static size_t choose(struct page *page)
{
    size_t chosen = page->focus;
    sqlite3_stmt *q = results_query(page->results, page->err,
                                    "SELECT arbiter FROM run JOIN quota_node USING (run) WHERE root IS NOT NULL"
                                    " GROUP BY arbiter ORDER BY arbiter = %Q DESC, arbiter_ix LIMIT 1",
                                    page_arbiter(page, page->focus));
    if (results_next(page->results, q, page->err))
        for (size_t a = 0; a < page->all.arbiter_count; a++)
            if (strcmp(page_arbiter(page, a), results_text(q, 0)) == 0)
                chosen = a;
    sqlite3_finalize(q);
    return chosen;
}

void section_quota(struct page *page)
{
    struct root roots[PANELS_MAX + 1];
    if (!has_tree(page))
        return;
    const size_t arbiter = choose(page);
    const int64_t run = page->all.arbiters[arbiter].first_run;
    const size_t n = read_roots(page, run, roots);
    if (n == 0)
        return;
    struct panel *p = mem_alloc(1, sizeof *p);
    fputs("<h2>Quota over time: who holds it, who borrows, who waits</h2>\n<p>Under <em>", page->out);
    html_text(page->out, page_arbiter(page, arbiter));
    fputs("</em>, for each root of the quota tree. What is borrowed is lent by others of the same tree: it is the same "
          "amount. The space up to the line is free; what waits stands above what is held, and is cut off where it is much "
          "more.</p>\n",
          page->out);
    fputs(n > 1 ? "<div class=\"two\">\n" : "<div style=\"max-width:480px\">\n", page->out);
    for (size_t i = 0; i < n && page->err->code == ERR_NONE; i++) {
        read_panel(page, run, &roots[i], p);
        draw(page, &roots[i], p);
    }
    free(p);
    fputs("</div>\n<ul class=\"keys\">", page->out);
    html_key(page->out, "computing", "box", "reserved within the own quota of its queue");
    html_key(page->out, "waiting", "box", "reserved and borrowed (lent by others)");
    html_key(page->out, "pending", "box", "waiting");
    html_key(page->out, "text", "line", "nominal quota");
    fputs("</ul>\n", page->out);
    print_nodes(page, run, roots[0].resource);
    print_alarms(page);
}
