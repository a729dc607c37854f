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

static void print_title(struct page *page, const struct day *day)
{
    double second = fmod(day->at_s, 86400);
    if (isnan(day->at_s)) {
        fputs("<h2>The busiest day: no work was lost to evictions</h2>\n", page->out);
        return;
    }
    fprintf(page->out, "<h2>The costliest hour: at %02d:%02d inference takes cards back, and ",
            (int)(second / 3600), (int)fmod(second / 60, 60));
    html_whole(page->out, day->magnitude);
    fputs(" card-hours of work are lost</h2>\n", page->out);
}

static void print_story(struct page *page, const struct day *day)
{
    char name[FIGURE_SIZE];
    double at = isnan(day->at_s) ? day->t_s[0] : day->at_s;
    double before = first_at(day, REPLICAS, at - 3600);
    double peak = over(day, REPLICAS, at - 3600, at + 3 * 3600, false);
    snprintf(name, sizeof name, "%.40s", page_arbiter(page, day->arbiter));
    fprintf(page->out, "<p>Day %d under <em>", (int)(at / 86400) + 1);
    html_text(page->out, name);
    fputs("</em>.", page->out);
    if (!isnan(day->at_s)) {
        fputs(" Traffic rises, the scaler asks for more replicas", page->out);
        if (!isnan(before) && peak > before) {
            fputs(" (from ", page->out);
            html_whole(page->out, before);
            fputs(" to ", page->out);
            html_whole(page->out, peak);
            fputs(" cards)", page->out);
        }
        fputs(", and since no card is free, training gives way: within this hour ", page->out);
        html_whole(page->out, over(day, EVICTIONS, at, at + 3600, true));
        fputs(" workloads are evicted and lose what they did since their last checkpoint. Over the "
              "whole day it is ",
              page->out);
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

static void draw(struct page *page, const struct day *day)
{
    struct plot *plot = plot_begin("day", page->err);
    if (plot == NULL)
        return;
    double start_s = floor(day->t_s[0] / 86400) * 86400, all = (double)INFINITY;
    double cards = over(day, TRAINING, 0, all, false), replicas = over(day, WANTED, 0, all, false);
    write_data(day, plot_file(plot, "day.tsv"), start_s);
    plot_number(plot, "W", 900);
    plot_number(plot, "H", 640);
    plot_number(plot, "HOUR", isnan(day->at_s) ? -1 : (day->at_s - start_s) / 3600);
    plot_number(plot, "STEP_H", day->steps > 1 ? (day->t_s[1] - day->t_s[0]) / 3600 : 1);
    plot_number(plot, "RATE_TIC", page_tic(over(day, RATE, 0, all, false), 2));
    plot_number(plot, "CARD_TIC", page_tic(cards > replicas ? cards : replicas, 4));
    plot_number(plot, "EVICTION_TIC", page_tic(over(day, EVICTIONS, 0, all, false), 2));
    plot_number(plot, "LOST_TIC", page_tic(over(day, LOST, 0, all, false), 2));
    page_plot(page, plot,
              "Four panels over 24 hours: requests per second; cards held by replicas and by "
              "training; workloads evicted; card-hours of work lost.");
    fputs("<ul class=\"keys\">", page->out);
    html_key(page->out, "traffic", "line", "requests, and cards of ready replicas");
    html_key(page->out, "wanted", "dots", "cards the scaler asks for");
    html_key(page->out, "computing", "line", "cards held by training");
    html_key(page->out, "pending", "dash", "cards that waiting jobs ask for");
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
