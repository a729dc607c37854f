/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long training jobs wait, and replicas against traffic. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/page.h"

/* ---- the distribution of waiting ---- */

#define POINTS 161
#define POINT_LEAST_S 1.0

/* Mass that started within each point's time, from bins in which it lies evenly in the logarithm. */
struct curve {
    double mass[POINTS], total;
};

static double point_s(size_t i, double most_s)
{
    return POINT_LEAST_S * pow(most_s / POINT_LEAST_S, (double)i / (POINTS - 1));
}

static double part_below(double lo, double hi, double x)
{
    if (x >= hi)
        return 1;
    if (x <= lo)
        return 0;
    return lo <= 0 ? x / hi : log(x / lo) / log(hi / lo);
}

/* Over all replications. Jobs that never started count in the total only. */
static void read_curve(struct page *page, size_t arbiter, double most_s, struct curve *curve)
{
    *curve = (struct curve){0};
    sqlite3_stmt *q = results_query(page->results, page->err,
                                    "SELECT lo, hi, sum(mass) FROM histogram JOIN run USING (run)"
                                    " WHERE arbiter = %Q AND name = 'training.wait' AND scope = ''"
                                    " GROUP BY lo, hi",
                                    page_arbiter(page, arbiter));
    while (results_next(page->results, q, page->err)) {
        double lo = results_real(q, 0), hi = results_real(q, 1), mass = results_real(q, 2);
        curve->total += mass;
        for (size_t i = 0; !isnan(hi) && i < POINTS; i++)
            curve->mass[i] += mass * part_below(lo, hi, point_s(i, most_s));
    }
    sqlite3_finalize(q);
    q = results_query(page->results, page->err,
                      "SELECT sum(value) FROM metric JOIN run USING (run) WHERE arbiter = %Q"
                      " AND scope_kind = 'all' AND name = 'training.submitted'",
                      page_arbiter(page, arbiter));
    if (results_next(page->results, q, page->err) && results_real(q, 0) > curve->total &&
        curve->total > 0)
        curve->total = results_real(q, 0);
    sqlite3_finalize(q);
}

static bool write_curves(struct page *page, FILE *f, double most_s, bool shown[ARBITERS_SHOWN])
{
    struct curve *curves = mem_zalloc(ARBITERS_SHOWN, sizeof *curves);
    bool any = false;
    for (size_t a = 0; a < page_shown(page); a++) {
        read_curve(page, a, most_s, &curves[a]);
        shown[a] = curves[a].total > 0;
        any |= shown[a];
    }
    for (size_t i = 0; i < POINTS; i++) {
        fprintf(f, "%.6g", point_s(i, most_s));
        for (size_t a = 0; a < page_shown(page); a++)
            plot_column(f, curves[a].total > 0 ? 100 * curves[a].mass[i] / curves[a].total : (double)NAN);
        putc('\n', f);
    }
    free(curves);
    return any;
}

/* "46.4 h", "at least 46.4 h" when it is only a bound. */
static void print_within(struct page *page, size_t arbiter, const char *wait)
{
    fputs(summary_figure(&page->all, 0, arbiter, wait).censored ? "at least " : "", page->out);
    html_figure(page->out, wait, page_value(page, arbiter, wait));
    fputs(" under ", page->out);
    html_text(page->out, page_arbiter(page, arbiter));
}

/* The median tells nothing when half of the jobs start at once: then the 95th percentile does. */
static void print_waiting_title(struct page *page)
{
    size_t f = page->focus;
    bool at_once = !(page_value(page, f, "training.wait.p50") >= 1) &&
                   !(page_value(page, 0, "training.wait.p50") >= 1);
    const char *wait = at_once ? "training.wait.p95" : "training.wait.p50";
    if (isnan(page_value(page, f, wait))) {
        fputs("<h2>How long training jobs wait</h2>\n", page->out);
        return;
    }
    fputs(at_once ? "<h2>19 of 20 training jobs start within " : "<h2>Half of the training jobs start within ",
          page->out);
    print_within(page, f, wait);
    if (f > 0 && !isnan(page_value(page, 0, wait))) {
        fputs(", within ", page->out);
        print_within(page, 0, wait);
    }
    fputs("</h2>\n", page->out);
}

void section_waiting(struct page *page)
{
    double most_s = page->all.horizon_s > 3600 ? page->all.horizon_s : 3600;
    bool shown[ARBITERS_SHOWN] = {false};
    print_waiting_title(page);
    struct plot *plot = plot_begin("wait", page->err);
    if (plot == NULL)
        return;
    if (!write_curves(page, plot_file(plot, "wait.tsv"), most_s, shown)) {
        plot_end(plot, NULL, NULL, 0, page->err);
        page_missing(page, "This database has no distribution of waiting times.");
        return;
    }
    plot_number(plot, "W", 900);
    plot_number(plot, "H", 340);
    plot_number(plot, "END", most_s);
    plot_number(plot, "ARBITERS", (double)page_shown(page));
    fputs("<p>Share of all training jobs that have started after waiting no longer than the time "
          "below. A curve further up and to the left is better; one that does not reach 100&nbsp;% "
          "has jobs that never started.</p>\n",
          page->out);
    page_plot(page, plot,
              "Share of training jobs that started within a time, by arbiter, on a logarithmic "
              "axis of time. Medians and 95th percentiles are in the table below.");
    page_arbiter_keys(page, shown);
}

/* ---- replicas against traffic ---- */

#define WEEK_S (7 * 86400.0)
#define STEPS_MAX 1100

struct week {
    double from_s, to_s;
    size_t steps;
    double t_s[STEPS_MAX], rate[STEPS_MAX], cards[ARBITERS_SHOWN][STEPS_MAX];
    bool known[ARBITERS_SHOWN], any; /* arbiters with replicas */
};

static void read_rate(struct page *page, struct week *w)
{
    sqlite3_stmt *q = results_query(
        page->results, page->err,
        "SELECT t_s, value FROM series WHERE run = (SELECT min(run) FROM series"
        " WHERE name = 'traffic.rate') AND name = 'traffic.rate' AND scope = ''"
        " AND t_s >= %f AND t_s < %f ORDER BY t_s LIMIT %d",
        w->from_s, w->to_s, STEPS_MAX);
    while (results_next(page->results, q, page->err)) {
        w->t_s[w->steps] = results_real(q, 0);
        w->rate[w->steps++] = results_real(q, 1);
    }
    sqlite3_finalize(q);
}

static void read_replicas(struct page *page, struct week *w, size_t arbiter)
{
    size_t at = 0, found = 0;
    for (size_t i = 0; i < w->steps; i++)
        w->cards[arbiter][i] = (double)NAN;
    sqlite3_stmt *q = results_query(
        page->results, page->err,
        "SELECT t_s, value FROM series WHERE run = %lld AND name = 'replicas.cards' AND scope = ''"
        " AND t_s >= %f AND t_s < %f ORDER BY t_s",
        (long long)page->all.arbiters[arbiter].first_run, w->from_s, w->to_s);
    while (results_next(page->results, q, page->err)) {
        double t_s = results_real(q, 0);
        while (at < w->steps && w->t_s[at] < t_s - 1e-6)
            at++;
        if (at < w->steps && w->t_s[at] < t_s + 1e-6) {
            w->cards[arbiter][at] = results_real(q, 1);
            found++;
        }
    }
    sqlite3_finalize(q);
    w->known[arbiter] = found > 1;
    w->any |= found > 1;
}

static double most_of(const double *values, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

static double least_of(const double *values, size_t n)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < n; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

static void draw_week(struct page *page, const struct week *w)
{
    double most = 0;
    bool days = w->to_s - w->from_s > 2.5 * 86400;
    double unit_s = days ? 86400 : 3600;
    struct plot *plot = plot_begin("replicas", page->err);
    if (plot == NULL)
        return;
    FILE *f = plot_file(plot, "replicas.tsv");
    for (size_t i = 0; i < w->steps; i++) {
        fprintf(f, "%.6f", w->t_s[i] / unit_s);
        plot_column(f, w->rate[i]);
        for (size_t a = 0; a < page_shown(page); a++)
            plot_column(f, w->cards[a][i]);
        putc('\n', f);
    }
    for (size_t a = 0; a < page_shown(page); a++)
        if (most_of(w->cards[a], w->steps) > most)
            most = most_of(w->cards[a], w->steps);
    plot_number(plot, "W", 900);
    plot_number(plot, "H", 400);
    plot_number(plot, "DAYS", days);
    plot_number(plot, "FROM", w->from_s / unit_s);
    plot_number(plot, "TO", w->to_s / unit_s);
    plot_number(plot, "TIC", days ? 1 : page_tic((w->to_s - w->from_s) / unit_s, 8));
    plot_number(plot, "RATE_TIC", page_tic(most_of(w->rate, w->steps), 2));
    plot_number(plot, "CARD_TIC", page_tic(most, 4));
    plot_number(plot, "ARBITERS", (double)page_shown(page));
    page_plot(page, plot,
              "Two panels over one week: requests per second, and the cards that replicas hold "
              "under each arbiter.");
    page_arbiter_keys(page, w->known);
}

static void print_replica_title(struct page *page, const struct week *w)
{
    const double *cards = w->cards[page->focus < ARBITERS_SHOWN ? page->focus : 0];
    /* the first steps fill an empty fleet */
    size_t skip = w->from_s > 0 ? 0 : w->steps / 24;
    double least = least_of(cards + skip, w->steps - skip), most = most_of(cards, w->steps);
    fputs("<h2>", page->out);
    if (!isfinite(least) || !w->any) {
        fputs("Replicas against traffic</h2>\n", page->out);
        return;
    }
    html_text(page->out, page_arbiter(page, page->focus));
    if (most - least < 0.02 * most) {
        fputs(" holds ", page->out);
        html_whole(page->out, most);
        fputs(" cards for replicas, day and night", page->out);
    } else {
        fputs(" follows the traffic with ", page->out);
        html_whole(page->out, least);
        fputs(" to ", page->out);
        html_whole(page->out, most);
        fputs(" cards", page->out);
    }
    fputs("</h2>\n", page->out);
}

void section_replicas(struct page *page)
{
    struct week *w = mem_zalloc(1, sizeof *w);
    w->to_s = page->all.horizon_s;
    if (w->to_s >= 2 * WEEK_S) { /* the second week: the first begins with an empty fleet */
        w->from_s = WEEK_S;
        w->to_s = 2 * WEEK_S;
    } else if (w->to_s > WEEK_S) {
        w->to_s = WEEK_S;
    }
    read_rate(page, w);
    for (size_t a = 0; a < page_shown(page); a++)
        read_replicas(page, w, a);
    print_replica_title(page, w);
    if (w->steps > 1 && w->any) {
        fprintf(page->out, "<p>%s What replicas do not hold at night is there for training.</p>\n",
                w->from_s > 0 ? "One week, the second." : "");
        draw_week(page, w);
    } else {
        page_missing(page, "This database has no series of traffic and replicas (recorded with "
                           "--record summary, or without inference).");
    }
    free(w);
}
