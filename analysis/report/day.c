/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One day around the costliest reclaim: the hour at which inference takes cards back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/page.h"

#define DAY_STEPS_MAX 2000
#define DAY_COLUMNS 7

static const char *const names[DAY_COLUMNS] = {
    "day.traffic.rate",  "day.replicas.cards", "day.replicas.wanted_cards", "day.training.cards",
    "day.pending.cards", "day.evictions",      "day.rework.card_h"};

enum { RATE, REPLICAS, WANTED, TRAINING, PENDING, EVICTIONS, LOST };

struct day {
    int64_t run;
    size_t arbiter;
    double at_s;      /* the reclaim; NaN when there was none */
    double magnitude; /* card-hours lost in that hour */
    size_t steps;
    double t_s[DAY_STEPS_MAX], value[DAY_COLUMNS][DAY_STEPS_MAX];
};

static size_t arbiter_of(const struct page *page, const char *name)
{
    for (size_t a = 0; a < page->all.arbiter_count; a++)
        if (strcmp(page_arbiter(page, a), name) == 0)
            return a;
    return 0;
}

/* The run with the costliest reclaim, else the first that has a day. */
static bool choose_run(struct page *page, struct day *day)
{
    bool found = false;
    sqlite3_stmt *q = results_query(
        page->results, page->err,
        "SELECT r.run, r.arbiter, e.t_s, e.magnitude FROM run r LEFT JOIN event_of_note e"
        " ON e.run = r.run AND e.kind = 'costliest_reclaim'"
        " WHERE EXISTS (SELECT 1 FROM series s WHERE s.run = r.run AND s.name = 'day.traffic.rate')"
        " ORDER BY e.magnitude DESC NULLS LAST, r.run LIMIT 1");
    if (results_next(page->results, q, page->err)) {
        day->run = sqlite3_column_int64(q, 0);
        day->arbiter = arbiter_of(page, results_text(q, 1));
        day->at_s = results_real(q, 2);
        day->magnitude = results_real(q, 3);
        found = true;
    }
    sqlite3_finalize(q);
    return found;
}

static void read_column(struct page *page, struct day *day, size_t column)
{
    size_t at = 0;
    for (size_t i = 0; i < DAY_STEPS_MAX; i++)
        day->value[column][i] = (double)NAN;
    sqlite3_stmt *q = results_query(page->results, page->err,
                                    "SELECT t_s, value FROM series WHERE run = %lld AND name = %Q"
                                    " AND scope = '' ORDER BY t_s LIMIT %d",
                                    (long long)day->run, names[column], DAY_STEPS_MAX);
    while (results_next(page->results, q, page->err)) {
        double t_s = results_real(q, 0);
        if (column == RATE)
            day->t_s[day->steps++] = t_s;
        while (at < day->steps && day->t_s[at] < t_s - 1e-6)
            at++;
        if (at < day->steps && day->t_s[at] < t_s + 1e-6)
            day->value[column][at] = results_real(q, 1);
    }
    sqlite3_finalize(q);
}

/* Largest value in [from, to] seconds; sum when `sum`. */
static double over(const struct day *day, int column, double from_s, double to_s, bool sum)
{
    double most = 0, total = 0;
    for (size_t i = 0; i < day->steps; i++) {
        double v = day->value[column][i];
        if (day->t_s[i] < from_s - 1e-6 || day->t_s[i] >= to_s - 1e-6 || isnan(v))
            continue;
        total += v;
        most = v > most ? v : most;
    }
    return sum ? total : most;
}

static double first_at(const struct day *day, int column, double t_s)
{
    for (size_t i = 0; i < day->steps; i++)
        if (day->t_s[i] >= t_s - 1e-6)
            return day->value[column][i];
    return (double)NAN;
}

/* Cards of ready replicas an hour before the reclaim and at most three hours after it. */
static bool inference_grew(const struct day *day, double *before, double *peak)
{
    *before = first_at(day, REPLICAS, day->at_s - 3600);
    *peak = over(day, REPLICAS, day->at_s - 3600, day->at_s + 3 * 3600, false);
    return *peak > 1.02 * *before;
}

static void print_title(struct page *page, const struct day *day)
{
    double second = fmod(day->at_s, 86400), before, peak;
    if (isnan(day->at_s)) {
        fputs("<h2>The busiest day: no work was lost to evictions</h2>\n", page->out);
        return;
    }
    fprintf(page->out, "<h2>The costliest hour: at %02d:%02d ", (int)(second / 3600),
            (int)fmod(second / 60, 60));
    fputs(inference_grew(day, &before, &peak) ? "inference takes cards back, and "
                                              : "lent cards are taken back, and ",
          page->out);
    html_whole(page->out, day->magnitude);
    fputs(" card-hours of work are lost</h2>\n", page->out);
}

static void print_cause(struct page *page, const struct day *day)
{
    double before, peak;
    if (!inference_grew(day, &before, &peak)) {
        fputs(" Replicas do not grow in this hour: others take back what they had lent.", page->out);
        return;
    }
    fputs(" Traffic rises, and the scaler asks for more replicas (from ", page->out);
    html_whole(page->out, before);
    fputs(" to ", page->out);
    html_whole(page->out, peak);
    fputs(" cards). Where no card is free, training gives way.", page->out);
}

static void print_story(struct page *page, const struct day *day)
{
    double at = isnan(day->at_s) ? day->t_s[0] : day->at_s;
    double evicted = over(day, EVICTIONS, at, at + 3600, true);
    fprintf(page->out, "<p>Day %d under <em>", (int)(at / 86400) + 1);
    html_text(page->out, page_arbiter(page, day->arbiter));
    fputs("</em>.", page->out);
    if (!isnan(day->at_s)) {
        print_cause(page, day);
        fputs(" Within this hour ", page->out);
        html_whole(page->out, evicted);
        fputs(evicted < 1.5 ? " workload is evicted and loses what it"
                            : " workloads are evicted and lose what they",
              page->out);
        fputs(" did since the last checkpoint. Over the whole day it is ", page->out);
        html_whole(page->out, over(day, LOST, 0, (double)INFINITY, true));
        fputs(" card-hours.", page->out);
    }
    fputs("</p>\n", page->out);
}

static void write_data(const struct day *day, FILE *f, double start_s)
{
    for (size_t i = 0; i < day->steps; i++) {
        fprintf(f, "%.6f", (day->t_s[i] - start_s) / 3600);
        for (int c = 0; c < DAY_COLUMNS; c++)
            plot_column(f, day->value[c][i]);
        putc('\n', f);
    }
}

/* Top of the panel of cards: what is held decides; a queue much longer than that is cut off. */
static double cards_scale(const struct day *day)
{
    double all = (double)INFINITY, pending = over(day, PENDING, 0, all, false);
    double held = fmax(over(day, TRAINING, 0, all, false), over(day, WANTED, 0, all, false));
    held = 1.1 * fmax(held, over(day, REPLICAS, 0, all, false));
    return pending > held && pending < 1.6 * held ? 1.05 * pending : held > 0 ? held : 1;
}

static void draw(struct page *page, const struct day *day)
{
    char text[100];
    struct plot *plot = plot_begin("day", page->err);
    if (plot == NULL)
        return;
    double start_s = floor(day->t_s[0] / 86400) * 86400, all = (double)INFINITY;
    double most = cards_scale(day), pending = over(day, PENDING, 0, all, false);
    write_data(day, plot_file(plot, "day.tsv"), start_s);
    plot_number(plot, "W", 900);
    plot_number(plot, "H", 640);
    plot_number(plot, "HOUR", isnan(day->at_s) ? -1 : (day->at_s - start_s) / 3600);
    plot_number(plot, "STEP_H", day->steps > 1 ? (day->t_s[1] - day->t_s[0]) / 3600 : 1);
    plot_number(plot, "RATE_TIC", page_tic(over(day, RATE, 0, all, false), 2));
    plot_number(plot, "CARD_TIC", page_tic(most, 4));
    plot_number(plot, "CARD_MOST", most);
    plot_number(plot, "EVICTION_TIC", page_tic(over(day, EVICTIONS, 0, all, false), 2));
    plot_number(plot, "LOST_TIC", page_tic(over(day, LOST, 0, all, false), 2));
    page_plot(page, plot,
              "Four panels over 24 hours: requests per second; cards held by replicas and by "
              "training; workloads evicted; card-hours of work lost.");
    fputs("<ul class=\"keys\">", page->out);
    html_key(page->out, "traffic", "line", "requests, and cards of ready replicas");
    html_key(page->out, "wanted", "dots", "cards the scaler asks for");
    html_key(page->out, "computing", "line", "cards held by training");
    snprintf(text, sizeof text, "cards that waiting jobs ask for%s", "");
    if (pending > most)
        snprintf(text, sizeof text, "cards that waiting jobs ask for: up to %.0f, above the panel",
                 pending);
    html_key(page->out, "pending", "dash", text);
    fputs("</ul>\n", page->out);
}

void section_day(struct page *page)
{
    struct day *day = mem_zalloc(1, sizeof *day);
    bool found = choose_run(page, day);
    for (size_t c = 0; found && c < DAY_COLUMNS; c++)
        read_column(page, day, c);
    if (found && day->steps > 1) {
        print_title(page, day);
        print_story(page, day);
        draw(page, day);
    } else if (page->err->code == ERR_NONE) {
        fputs("<h2>The costliest hour</h2>\n", page->out);
        page_missing(page, "This database has no series of one day (it was recorded with --record "
                           "summary, or no arbiter runs cards of its own).");
    }
    free(day);
}
