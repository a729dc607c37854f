/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole run: where card time went, how long jobs waited, replicas against traffic. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/page.h"

#define GROUPS 5
#define STEPS_MAX 1100

static const char *const groups[GROUPS] = {"computing", "rework", "waiting", "idle", "offline"};
static const char *const group_words[GROUPS] = {
    "computing: new work", "computing: work done again, or lost to sharing",
    "held, but not computing", "idle: nobody holds the card", "offline"};

static size_t group_of(const char *bucket)
{
    const struct bucket_def *def = bucket_defs_find(bucket);
    for (size_t g = 0; def != NULL && g < GROUPS; g++)
        if (strcmp(groups[g], def->group) == 0)
            return g;
    return GROUPS - 1;
}

static bool has_cards(const struct page *page, size_t arbiter)
{
    return strcmp(page->all.arbiters[arbiter].preset, "managed") != 0;
}

/* ---- card time over the whole run, all replications ---- */

/* Shares in per cent of an arbiter's card time; false when there is no ledger. */
static bool read_shares(struct page *page, size_t arbiter, double share[GROUPS])
{
    double sum = 0;
    memset(share, 0, GROUPS * sizeof *share);
    sqlite3_stmt *q = results_query(page->results, page->err,
                                    "SELECT bucket, sum(card_s + rest_mcns / 1e12) FROM ledger"
                                    " JOIN run USING (run) WHERE arbiter = %Q GROUP BY bucket",
                                    page_arbiter(page, arbiter));
    while (results_next(page->results, q, page->err)) {
        share[group_of(results_text(q, 0))] += results_real(q, 1);
        sum += results_real(q, 1);
    }
    sqlite3_finalize(q);
    for (size_t g = 0; g < GROUPS && sum > 0; g++)
        share[g] *= 100 / sum;
    return sum > 0;
}

static size_t write_shares(struct page *page, struct plot *plot)
{
    double shares[ARBITERS_SHOWN][GROUPS];
    bool known[ARBITERS_SHOWN] = {false};
    size_t row = 0;
    for (size_t a = 0; a < page_shown(page); a++)
        known[a] = has_cards(page, a) && read_shares(page, a, shares[a]);
    FILE *f = plot_file(plot, "share.tsv");
    for (size_t a = 0; a < page_shown(page); a++) {
        double from = 0;
        if (!known[a])
            continue;
        fprintf(f, "%zu\t%s", row++, plot_label(plot, page_arbiter(page, a)));
        for (size_t g = 0; g < GROUPS; from += shares[a][g++]) {
            plot_column(f, from);
            plot_column(f, from + shares[a][g]);
        }
        putc('\n', f);
    }
    f = plot_file(plot, "labels.tsv");
    fprintf(f, "-9\t0\t0\t%s\n", plot_label(plot, ""));
    for (size_t a = 0, at = 0; a < page_shown(page); at += known[a++]) {
        double from = 0;
        for (size_t g = 0; known[a] && g < GROUPS; from += shares[a][g++]) {
            char text[32];
            snprintf(text, sizeof text, "%.0f %%", shares[a][g]);
            if (shares[a][g] >= 4)
                fprintf(f, "%.4f\t%zu\t%zu\t%s\n", from + shares[a][g] / 2, at, g,
                        plot_label(plot, text));
        }
    }
    return row;
}

static void group_keys(struct page *page)
{
    fputs("<ul class=\"keys\">", page->out);
    for (size_t g = 0; g < GROUPS; g++)
        html_key(page->out, groups[g], "box", group_words[g]);
    fputs("</ul>\n", page->out);
}

static void draw_shares(struct page *page)
{
    struct plot *plot = plot_begin("share", page->err);
    if (plot == NULL)
        return;
    size_t rows = write_shares(page, plot);
    if (rows == 0) {
        plot_end(plot, NULL, NULL, 0, page->err);
        page_missing(page, "This database has no ledger of card time.");
        return;
    }
    plot_number(plot, "W", 900);
    plot_number(plot, "H", 34 + 46 * (double)rows);
    plot_number(plot, "ROWS", (double)rows);
    page_plot(page, plot,
              "Stacked bars, one per arbiter: share of card time that computes, is held without "
              "computing, is idle or offline. The figures are in the table below.");
    group_keys(page);
}

/* ---- card time over time, replication 0 ---- */

struct stack {
    size_t steps;
    double t_s[STEPS_MAX], cards[STEPS_MAX][GROUPS];
};

static void read_stack(struct page *page, size_t arbiter, struct stack *s)
{
    s->steps = 0;
    sqlite3_stmt *q = results_query(
        page->results, page->err,
        "SELECT t_s, substr(name, 7), value FROM series WHERE run = %lld AND name LIKE 'cards.%%'"
        " AND name <> 'cards.capacity' AND scope = '' ORDER BY t_s, name",
        (long long)page->all.arbiters[arbiter].first_run);
    while (results_next(page->results, q, page->err)) {
        double t_s = results_real(q, 0);
        if (s->steps == 0 || t_s > s->t_s[s->steps - 1]) {
            if (s->steps == STEPS_MAX)
                break;
            s->t_s[s->steps] = t_s;
            memset(s->cards[s->steps++], 0, sizeof s->cards[0]);
        }
        s->cards[s->steps - 1][group_of(results_text(q, 1))] += results_real(q, 2);
    }
    sqlite3_finalize(q);
}

/* Means over `span` steps: a picture of half a page shows no more than a few hundred. */
static void write_stack(const struct stack *s, FILE *f, double unit_s, double end)
{
    size_t span = s->steps / 224 + 1;
    for (size_t i = 0; i < s->steps; i += span) {
        double sum[GROUPS] = {0}, all = 0, edge = 0;
        for (size_t k = i; k < i + span && k < s->steps; k++)
            for (size_t g = 0; g < GROUPS; g++)
                sum[g] += s->cards[k][g];
        for (size_t g = 0; g < GROUPS; g++)
            all += sum[g];
        int times = i + span >= s->steps ? 2 : 1; /* the last step lasts until the end */
        for (int k = 0; k < times; k++, edge = 0) {
            fprintf(f, "%.6f", k == 1 ? end : s->t_s[i] / unit_s);
            for (size_t g = 0; g < GROUPS; g++) {
                edge += sum[g];
                plot_column(f, all > 0 ? 100 * edge / all : (double)NAN);
            }
            putc('\n', f);
        }
    }
}

static void draw_stack(struct page *page, size_t arbiter, const struct stack *s)
{
    char alt[200];
    bool days = page->all.horizon_s > 3 * 86400;
    double unit_s = days ? 86400 : 3600, end = page->all.horizon_s / unit_s;
    struct plot *plot = plot_begin("stack", page->err);
    if (plot == NULL)
        return;
    write_stack(s, plot_file(plot, "stack.tsv"), unit_s, end);
    plot_number(plot, "W", 440);
    plot_number(plot, "H", 230);
    plot_number(plot, "DAYS", days);
    plot_number(plot, "END", end);
    plot_number(plot, "TIC", days && end <= 70 && end > 13 ? 7 : page_tic(end, 6));
    snprintf(alt, sizeof alt, "Card time of %.100s over the run, stacked by what cards do.",
             page_arbiter(page, arbiter));
    fputs("<div><h3>", page->out);
    html_text(page->out, page_arbiter(page, arbiter));
    fputs("</h3>", page->out);
    page_plot(page, plot, alt);
    fputs("</div>\n", page->out);
}

static void draw_stacks(struct page *page)
{
    struct stack *s = mem_zalloc(1, sizeof *s);
    size_t drawn = 0;
    for (size_t a = 0; a < page_shown(page); a++) {
        if (has_cards(page, a))
            read_stack(page, a, s);
        if (!has_cards(page, a) || s->steps < 2)
            continue;
        fputs(drawn++ == 0 ? "<p style=\"margin-top:28px\">The same over time:</p>\n"
                             "<div class=\"two\">\n"
                           : "",
              page->out);
        draw_stack(page, a, s);
    }
    fputs(drawn > 0 ? "</div>\n" : "", page->out);
    if (drawn == 0)
        page_missing(page, "This database has no series over time (recorded with --record summary).");
    free(s);
}

static void note_those_without_cards(struct page *page)
{
    for (size_t a = 0; a < page_shown(page); a++)
        if (!has_cards(page, a)) {
            fputs("<p class=\"note\"><em>", page->out);
            html_text(page->out, page_arbiter(page, a));
            fputs("</em> runs on the provider's cards, which nobody sees, and has no bar.</p>\n",
                  page->out);
        }
}

void section_use(struct page *page)
{
    const char *real = "utilization.real", *held = "utilization.allocated";
    size_t f = page->focus;
    fputs("<h2>", page->out);
    if (isnan(page_value(page, f, real))) {
        fputs("Where the card time goes", page->out);
    } else {
        html_text(page->out, page_arbiter(page, 0));
        fputs(" holds ", page->out);
        html_figure(page->out, held, page_value(page, 0, held));
        fputs(" of the cards and computes on ", page->out);
        html_figure(page->out, real, page_value(page, 0, real));
        if (f > 0) {
            fputs("; ", page->out);
            html_text(page->out, page_arbiter(page, f));
            fputs(" computes on ", page->out);
            html_figure(page->out, real, page_value(page, f, real));
        }
    }
    fputs("</h2>\n<p>Every second of every card is in exactly one of these parts, over the whole run "
          "and all replications. A dashboard that counts requested cards shows the first three "
          "together.</p>\n",
          page->out);
    draw_shares(page);
    note_those_without_cards(page);
    draw_stacks(page);
}
