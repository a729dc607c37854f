/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of a replayed dump: how its own past was met. Nothing where no past was recorded. */
#include <math.h>

#include "analysis/report/page.h"

static double value_of(struct page *page, const char *name)
{
    double value = (double)NAN;
    sqlite3_stmt *q = results_query(page->results, page->err,
                                    "SELECT value FROM metric WHERE scope_kind = 'past' AND scope = '' AND name = %Q"
                                    " ORDER BY run LIMIT 1", name);
    if (results_next(page->results, q, page->err))
        value = results_real(q, 0);
    sqlite3_finalize(q);
    return value;
}

static void seconds(struct page *page, double s)
{
    char text[FIGURE_SIZE];
    figure_print(text, METRIC_DURATION, s);
    html_text(page->out, text);
}

static void number(struct page *page, const char *what, double percent, const char *words)
{
    fprintf(page->out, "<div><span class=\"what\">%s</span><b>%.1f&nbsp;%%</b><span>%s</span></div>\n", what,
            100 * percent, words);
}

void section_agreement(struct page *page)
{
    const double compared = value_of(page, "past.compared"), only = value_of(page, "past.one_sided");
    if (!(compared + only > 0))
        return;
    fprintf(page->out, "<p class=\"lead\">Held against the dump's own past: of %.0f workloads that got quota, in the record "
            "or in the replay, %.1f&nbsp;%% got it within the same second in both, and %.1f&nbsp;%% within the same "
            "minute", compared + only, 100 * value_of(page, "past.within_1s"),
            100 * value_of(page, "past.within_60s"));
    if (only > 0)
        fprintf(page->out, "; %.0f got quota on one side only", only);
    fputs(".</p>\n<div class=\"three\">\n", page->out);
    number(page, "Same second", value_of(page, "past.within_1s"), "of reservations, simulated against recorded");
    number(page, "Same minute", value_of(page, "past.within_60s"), "of reservations, simulated against recorded");
    fputs("<div><span class=\"what\">Mean wait, recorded → simulated</span><b>", page->out);
    seconds(page, value_of(page, "past.wait.recorded"));
    fputs(" → ", page->out);
    seconds(page, value_of(page, "past.wait.simulated"));
    fputs("</b><span>difference of a reservation: median ", page->out);
    seconds(page, value_of(page, "past.error.p50"));
    fputs(", 95th percentile ", page->out);
    seconds(page, value_of(page, "past.error.p95"));
    fputs("</span></div>\n</div>\n", page->out);
}
