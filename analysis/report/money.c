/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cost by arbiter and item, and waiting by team. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/page.h"

#define ITEMS_MAX 6

struct costs {
    const char *items[ITEMS_MAX];
    size_t item_count, rows;
    double usd[ARBITERS_SHOWN][ITEMS_MAX], total[ARBITERS_SHOWN];
};

/* The largest items by name; the last place takes the rest. Rows with a team show the same money
 * again, by who used it, and are left out. */
static void read_items(struct page *page, struct costs *c)
{
    sqlite3_stmt *q = results_query(page->results, page->err,
                                    "SELECT item FROM cost WHERE team IS NULL GROUP BY item"
                                    " ORDER BY sum(uusd) DESC, item");
    while (results_next(page->results, q, page->err)) {
        if (c->item_count == ITEMS_MAX)
            c->items[ITEMS_MAX - 1] = "other";
        else
            c->items[c->item_count++] = arena_strdup(&page->all.arena, results_text(q, 0));
    }
    sqlite3_finalize(q);
}

static void read_costs(struct page *page, struct costs *c)
{
    read_items(page, c);
    for (size_t a = 0; a < page_shown(page); a++) {
        sqlite3_stmt *q = results_query(
            page->results, page->err,
            "SELECT item, sum(uusd) / 1e6 / (SELECT count(*) FROM run WHERE arbiter = %Q)"
            " FROM cost JOIN run USING (run) WHERE arbiter = %Q AND team IS NULL GROUP BY item",
            page_arbiter(page, a), page_arbiter(page, a));
        while (results_next(page->results, q, page->err)) {
            size_t i = 0;
            while (i + 1 < c->item_count && strcmp(c->items[i], results_text(q, 0)) != 0)
                i++;
            c->usd[a][i] += results_real(q, 1);
            c->total[a] += results_real(q, 1);
        }
        sqlite3_finalize(q);
        c->rows += c->total[a] > 0;
    }
}

static void write_costs(struct page *page, struct plot *plot, const struct costs *c, double unit)
{
    char text[FIGURE_SIZE];
    size_t row = 0;
    FILE *f = plot_file(plot, "cost.tsv");
    for (size_t a = 0; a < page_shown(page); a++) {
        double from = 0;
        if (c->total[a] <= 0)
            continue;
        fprintf(f, "%zu\t%s", row++, plot_label(plot, page_arbiter(page, a)));
        for (size_t i = 0; i < c->item_count; from += c->usd[a][i++]) {
            plot_column(f, from / unit);
            plot_column(f, (from + c->usd[a][i]) / unit);
        }
        putc('\n', f);
    }
    f = plot_file(plot, "totals.tsv");
    row = 0;
    for (size_t a = 0; a < page_shown(page); a++) {
        if (c->total[a] <= 0)
            continue;
        figure_print(text, METRIC_MONEY, c->total[a]);
        fprintf(f, "%.8g\t%zu\t%s\n", c->total[a] / unit, row++, plot_label(plot, text));
    }
}

static void draw_costs(struct page *page, const struct costs *c)
{
    double most = 0;
    for (size_t a = 0; a < page_shown(page); a++)
        most = c->total[a] > most ? c->total[a] : most;
    double unit = most >= 2e6 ? 1e6 : most >= 2e3 ? 1e3 : 1;
    struct plot *plot = plot_begin("cost", page->err);
    if (plot == NULL)
        return;
    write_costs(page, plot, c, unit);
    plot_number(plot, "W", 900);
    plot_number(plot, "H", 56 + 44 * (double)c->rows);
    plot_number(plot, "ROWS", (double)c->rows);
    plot_number(plot, "ITEMS", (double)c->item_count);
    plot_number(plot, "UNIT", unit);
    plot_number(plot, "MOST", most / unit);
    plot_number(plot, "TIC", page_tic(most / unit, 6));
    page_plot(page, plot, "Bars of cost per arbiter, stacked by item; totals at their ends.");
    fputs("<ul class=\"keys\">", page->out);
    for (size_t i = 0; i < c->item_count; i++) {
        char colour[32];
        snprintf(colour, sizeof colour, "item%zu", i + 1);
        html_key(page->out, colour, "box", c->items[i]);
    }
    fputs("</ul>\n", page->out);
}

static void print_cost_title(struct page *page)
{
    const char *price = "cost.per_useful_card_hour";
    double first = page_value(page, 0, price), best = page_value(page, page->focus, price);
    fputs("<h2>", page->out);
    if (isnan(best)) {
        fputs("What it costs", page->out);
    } else {
        fputs("A card-hour of new work costs ", page->out);
        html_figure(page->out, price, best);
        if (page->focus > 0) {
            fputs(" under ", page->out);
            html_text(page->out, page_arbiter(page, page->focus));
            if (!isnan(first)) {
                fputs(", ", page->out);
                html_figure(page->out, price, first);
                fputs(" under ", page->out);
                html_text(page->out, page_arbiter(page, 0));
            }
        }
    }
    fputs("</h2>\n<p>What the whole run costs. Arbiters that run the fleet pay for the same cards "
          "whether they compute or not; a managed service is paid by use.</p>\n",
          page->out);
}

void section_cost(struct page *page)
{
    struct costs c = {0};
    read_costs(page, &c);
    print_cost_title(page);
    if (c.rows > 0)
        draw_costs(page, &c);
    else
        page_missing(page, "This database has no costs.");
}

/* ---- teams ---- */

#define TEAMS_MAX 40

struct team {
    size_t scope;
    double first, second; /* 95th percentile of waiting, seconds */
};

static int by_change(const void *left, const void *right)
{
    const struct team *a = left, *b = right;
    double x = a->second - a->first, y = b->second - b->first;
    return x < y ? 1 : x > y ? -1 : a->scope < b->scope ? -1 : a->scope > b->scope;
}

static double at_least_a_second(double s)
{
    return s < 1 ? 1 : s;
}

/* Teams that wait under both arbiters, the worst change first. */
static size_t read_teams(const struct page *page, struct team *teams)
{
    const char *wait = "training.wait.p95";
    size_t count = 0;
    for (size_t s = 0; s < page->teams.scope_count; s++) {
        double first = summary_figure(&page->teams, s, 0, wait).value;
        double second = summary_figure(&page->teams, s, page->focus, wait).value;
        if (isfinite(first) && isfinite(second))
            teams[count++] = (struct team){s, at_least_a_second(first), at_least_a_second(second)};
    }
    qsort(teams, count, sizeof *teams, by_change);
    return count;
}

static void draw_teams(struct page *page, const struct team *teams, size_t count)
{
    double least = (double)INFINITY, most = 0;
    size_t shown = count < TEAMS_MAX ? count : TEAMS_MAX;
    struct plot *plot = plot_begin("teams", page->err);
    if (plot == NULL)
        return;
    FILE *f = plot_file(plot, "teams.tsv");
    for (size_t i = 0; i < shown; i++) {
        const struct team *t = &teams[i];
        bool longer = t->second > t->first;
        fprintf(f, "%zu\t%s", i, plot_label(plot, page->teams.scopes[t->scope].name));
        plot_column(f, t->first);
        plot_column(f, longer ? (double)NAN : t->second);
        plot_column(f, longer ? t->second : (double)NAN);
        putc('\n', f);
        least = fmin(least, fmin(t->first, t->second));
        most = fmax(most, fmax(t->first, t->second));
    }
    plot_number(plot, "W", 900);
    plot_number(plot, "H", 56 + 24 * (double)shown);
    plot_number(plot, "ROWS", (double)shown);
    plot_number(plot, "LEAST", least / 1.3);
    plot_number(plot, "MOST", most * 1.3);
    page_plot(page, plot,
              "For each team the 95th percentile of waiting under both arbiters, joined by a line.");
}

static void team_keys(struct page *page)
{
    char text[200];
    fputs("<ul class=\"keys\">", page->out);
    html_key(page->out, "arbiter1", "dot", page_arbiter(page, 0));
    snprintf(text, sizeof text, "%.80s: waits less", page_arbiter(page, page->focus));
    html_key(page->out, "arbiter2", "dot", text);
    snprintf(text, sizeof text, "%.80s: waits longer", page_arbiter(page, page->focus));
    html_key(page->out, "rework", "dot", text);
    fputs("</ul>\n", page->out);
}

static void print_team_title(struct page *page, const struct team *teams, size_t count)
{
    size_t better = 0, worse = 0;
    for (size_t i = 0; i < count; i++) {
        better += teams[i].second < teams[i].first;
        worse += teams[i].second > teams[i].first;
    }
    fprintf(page->out, "<h2>%zu of %zu teams wait less under ", better, count);
    html_text(page->out, page_arbiter(page, page->focus));
    fputs(" than under ", page->out);
    html_text(page->out, page_arbiter(page, 0));
    if (worse > 0) {
        fprintf(page->out, "; %zu wait%s longer, worst ", worse, worse == 1 ? "s" : "");
        html_text(page->out, page->teams.scopes[teams[0].scope].name);
    }
    fputs("</h2>\n", page->out);
}

static void team_table(struct page *page)
{
    static const char *const metrics[] = {"quota.nominal",     "quota.used",        "quota.lent",
                                          "quota.borrowed",    "training.wait.p50", "training.wait.p95",
                                          "training.evictions", "training.rework",   "cost.total"};
    static const char *const heads[] = {"quota, cards", "used",          "lent",
                                        "borrowed",     "wait, median",  "wait, 95th pct.",
                                        "evictions",    "rework, card-h", "cost"};
    fputs("<details><summary>All teams under ", page->out);
    html_text(page->out, page_arbiter(page, page->focus));
    fputs(", in figures</summary>\n<div class=\"scroll\"><table><thead><tr><th>team</th>", page->out);
    for (size_t m = 0; m < sizeof metrics / sizeof metrics[0]; m++)
        fprintf(page->out, "<th>%s</th>", heads[m]);
    fputs("</tr></thead><tbody>\n", page->out);
    for (size_t s = 0; s < page->teams.scope_count; s++) {
        fputs("<tr><td>", page->out);
        html_text(page->out, page->teams.scopes[s].name);
        fputs("</td>", page->out);
        for (size_t m = 0; m < sizeof metrics / sizeof metrics[0]; m++) {
            struct figure f = summary_figure(&page->teams, s, page->focus, metrics[m]);
            fputs(f.censored ? "<td>≥&nbsp;" : "<td>", page->out);
            html_figure(page->out, metrics[m], f.value);
            fputs("</td>", page->out);
        }
        fputs("</tr>\n", page->out);
    }
    fputs("</tbody></table></div></details>\n", page->out);
}

void section_teams(struct page *page)
{
    struct team *teams = mem_zalloc(page->teams.scope_count + 1, sizeof *teams);
    size_t count = read_teams(page, teams);
    if (page->teams.scope_count == 0) {
        free(teams);
        return;
    }
    if (page->focus == 0 || count == 0) {
        fputs("<h2>Teams</h2>\n", page->out);
    } else {
        print_team_title(page, teams, count);
        fputs("<p>The 95th percentile of waiting: 19 of 20 jobs of a team start sooner. The line "
              "shows what changes for the team.</p>\n",
              page->out);
        draw_teams(page, teams, count);
        team_keys(page);
    }
    team_table(page);
    free(teams);
}
