/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report/page.h"

#include <math.h>
#include <string.h>

/* All card time of the first arbiter that runs the fleet, over the length of the run. */
static double read_cards(struct page *page)
{
    double cards = (double)NAN;
    sqlite3_stmt *q = results_query(
        page->results, page->err,
        "SELECT sum(l.card_s) / r.horizon_s FROM run r JOIN ledger l ON l.run = r.run"
        " WHERE r.preset <> 'managed' GROUP BY r.run ORDER BY r.arbiter_ix, r.replication LIMIT 1");
    if (results_next(page->results, q, page->err))
        cards = nearbyint(results_real(q, 0));
    sqlite3_finalize(q);
    return cards;
}

static size_t find_focus(const struct page *page)
{
    size_t best = 0;
    for (size_t a = 1; a < page->all.arbiter_count; a++)
        if (page_value(page, a, "utilization.real") >
            page_value(page, best, "utilization.real") + 1e-12)
            best = a;
    return best;
}

bool page_read(struct page *page)
{
    if (!summary_data_read(&page->all, page->results, "all", page->err) ||
        !summary_data_read(&page->teams, page->results, "team", page->err))
        return false;
    if (page->all.arbiter_count > 1 &&
        !compare_read(&page->compare, page->results, NULL, true, page->err))
        return false;
    page->cards = read_cards(page);
    page->focus = find_focus(page);
    return page->err->code == ERR_NONE;
}

const char *page_arbiter(const struct page *page, size_t arbiter)
{
    return page->all.arbiters[arbiter].name;
}

double page_value(const struct page *page, size_t arbiter, const char *metric)
{
    return summary_figure(&page->all, 0, arbiter, metric).value;
}

size_t page_shown(const struct page *page)
{
    return page->all.arbiter_count < ARBITERS_SHOWN ? page->all.arbiter_count : ARBITERS_SHOWN;
}

const struct compare_cell *page_against_first(const struct page *page, size_t arbiter,
                                              const char *metric)
{
    return compare_cell(&page->compare, arbiter - 1, metric);
}

void page_plot(struct page *page, struct plot *plot, const char *alt)
{
    fputs("<figure>\n", page->out);
    plot_end(plot, page->out, alt, ++page->plots, page->err);
    fputs("</figure>\n", page->out);
}

void page_missing(struct page *page, const char *what)
{
    fputs("<p class=\"missing\">", page->out);
    html_text(page->out, what);
    fputs("</p>\n", page->out);
}

void page_arbiter_keys(struct page *page, const bool shown[ARBITERS_SHOWN])
{
    char colour[32];
    fputs("<ul class=\"keys\">", page->out);
    for (size_t a = 0; a < page_shown(page); a++) {
        snprintf(colour, sizeof colour, "arbiter%zu", a + 1);
        if (shown[a])
            html_key(page->out, colour, "line", page_arbiter(page, a));
    }
    fputs("</ul>\n", page->out);
}

double page_tic(double most, int ticks)
{
    double raw = most / ticks, power = 1;
    if (!(raw > 0) || !isfinite(raw))
        return 1;
    power = pow(10, floor(log10(raw)));
    double step = raw / power;
    return power * (step <= 1 ? 1 : step <= 2 ? 2 : step <= 5 ? 5 : 10);
}
