/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of all figures, and what the reader must know about them. */
#include <math.h>
#include <string.h>

#include "analysis/report/page.h"

static void print_cell(struct page *page, const struct metric_def *def, size_t arbiter)
{
    char text[FIGURE_SIZE];
    size_t split;
    struct figure f = summary_figure(&page->all, 0, arbiter, def->name);
    figure_print_interval(text, def->format, &f, 24, &split);
    fputs("<td>", page->out);
    if (text[split] != ' ') /* no half width: only a unit */
        split = strlen(text);
    char tail[FIGURE_SIZE];
    snprintf(tail, sizeof tail, "%s", text + split);
    text[split] = '\0';
    html_text(page->out, text);
    fputs("<small>", page->out);
    html_text(page->out, tail);
    fputs("</small></td>", page->out);
}

static void print_rows(struct page *page)
{
    size_t count;
    const struct metric_def *defs = metric_defs_all(&count);
    const char *group = NULL;
    for (size_t m = 0; m < count; m++) {
        if (defs[m].group == NULL || !summary_has(&page->all, defs[m].name))
            continue;
        if (group == NULL || strcmp(group, defs[m].group) != 0)
            fprintf(page->out, "<tr class=\"group\"><th colspan=\"%zu\">%s</th></tr>\n",
                    page->all.arbiter_count + 1, defs[m].group);
        group = defs[m].group;
        fputs("<tr><td>", page->out);
        html_text(page->out, defs[m].title);
        if (defs[m].format != METRIC_PERCENT && defs[m].format != METRIC_DURATION &&
            defs[m].format != METRIC_COUNT)
            fprintf(page->out, ", %s", defs[m].unit);
        else if (defs[m].format == METRIC_PERCENT)
            fputs(", %", page->out);
        fputs("</td>", page->out);
        for (size_t a = 0; a < page->all.arbiter_count; a++)
            print_cell(page, &defs[m], a);
        fputs("</tr>\n", page->out);
    }
}

void section_figures(struct page *page)
{
    fputs("<h2>All figures</h2>\n<p>Mean over the replications ± half of the 95&nbsp;% confidence "
          "interval. ≥ means at least: some jobs had not started at the end. – means that it does "
          "not apply.</p>\n<div class=\"scroll\"><table>\n<thead><tr><th></th>",
          page->out);
    for (size_t a = 0; a < page->all.arbiter_count; a++) {
        fputs("<th>", page->out);
        html_text(page->out, page_arbiter(page, a));
        fputs("</th>", page->out);
    }
    fputs("</tr></thead>\n<tbody>\n", page->out);
    print_rows(page);
    fputs("</tbody></table></div>\n", page->out);
}

static const char *confidence_words(const char *letter)
{
    static const struct {
        const char *letter, *words;
    } all[] = {{"V", "vendor's documentation"}, {"D", "measured data"}, {"B", "secondary source"},
               {"A", "our own assumption"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(letter, all[i].letter) == 0)
            return all[i].words;
    return letter;
}

static void print_assumption(struct page *page, sqlite3_stmt *q)
{
    fputs("<tr>", page->out);
    for (int c = 0; c < 4; c++) {
        fputs("<td class=\"text\">", page->out);
        html_text(page->out, c == 3 ? confidence_words(results_text(q, 3)) : results_text(q, c));
        fputs("</td>", page->out);
    }
    fprintf(page->out, "<td>%.1f&nbsp;%%</td></tr>\n", 100 * results_real(q, 4));
}

static void print_assumptions(struct page *page)
{
    size_t rows = 0;
    sqlite3_stmt *q = results_query(page->results, page->err,
                                    "SELECT name, value, source, confidence, max(touches) AS t"
                                    " FROM assumption GROUP BY name, value, source, confidence"
                                    " ORDER BY t DESC, name LIMIT 20");
    fputs("<h2>What was assumed</h2>\n", page->out);
    while (results_next(page->results, q, page->err)) {
        if (rows++ == 0)
            fputs("<p>Where this page stands on an assumption, and the largest share of the "
                  "fleet's card time that each one touches.</p>\n<div class=\"scroll\"><table>"
                  "<thead><tr><th>assumption</th><th class=\"text\">value</th><th class=\"text\">"
                  "from</th><th class=\"text\">kind of source</th><th>touches</th></tr></thead>"
                  "<tbody>\n",
                  page->out);
        print_assumption(page, q);
    }
    fputs(rows > 0 ? "</tbody></table></div>\n" : "", page->out);
    if (rows == 0)
        page_missing(page, "This database names no assumptions.");
    sqlite3_finalize(q);
}

static void print_words(struct page *page)
{
    fputs("<h2>Words</h2>\n<dl>"
          "<dt>card</dt><dd>one accelerator (GPU)</dd>"
          "<dt>card-hour</dt><dd>one card for one hour</dd>"
          "<dt>allocated</dt><dd>somebody holds the card, whether it computes or not: what "
          "dashboards of requests show</dd>"
          "<dt>real</dt><dd>the card computes: what nvidia-smi shows</dd>"
          "<dt>useful</dt><dd>computing, without work done again and without the overhead of "
          "sharing</dd>"
          "<dt>work</dt><dd>work done of the work that all available cards could do</dd>"
          "<dt>rework</dt><dd>training repeated because an eviction or failure threw away what came "
          "after the last checkpoint</dd>"
          "<dt>quota</dt><dd>cards that a team may count on; it may lend what it leaves unused</dd>"
          "<dt>reclaim</dt><dd>the owner of lent cards takes them back, and who borrowed is "
          "evicted</dd>"
          "<dt>95th percentile</dt><dd>19 of 20 are below it</dd>"
          "<dt>SLO</dt><dd>the latency that a service promises</dd></dl>\n",
          page->out);
}

static void print_provenance(struct page *page)
{
    sqlite3_stmt *q = results_query(
        page->results, page->err,
        "SELECT name, scenario_hash, seed, count(DISTINCT replication), max(version), count(*)"
        " FROM run JOIN scenario USING (scenario_hash) GROUP BY scenario_hash, seed LIMIT 8");
    fputs("<h2>How to repeat it</h2>\n", page->out);
    while (results_next(page->results, q, page->err)) {
        fputs("<p class=\"note\">Scenario ", page->out);
        html_text(page->out, results_text(q, 0));
        fputs(" (hash <code>", page->out);
        html_text(page->out, results_text(q, 1));
        fprintf(page->out, "</code>), seed %lld, %lld replications, %lld runs, fleetsim ",
                (long long)sqlite3_column_int64(q, 2), (long long)sqlite3_column_int64(q, 3),
                (long long)sqlite3_column_int64(q, 5));
        html_text(page->out, results_text(q, 4));
        fputs(". The scenario's text and every figure are in the database; the same scenario and "
              "seed give the same figures to the last bit.</p>\n",
              page->out);
    }
    sqlite3_finalize(q);
}

void section_about(struct page *page)
{
    print_assumptions(page);
    print_words(page);
    print_provenance(page);
}
