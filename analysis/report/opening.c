/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page opens with one sentence and three numbers. */
#include <math.h>
#include <string.h>

#include "analysis/report/page.h"

static const struct {
    const char *preset, *words;
} presets[] = {
    {"pools", "fixed pools: every use owns its cards, nothing is lent"},
    {"cohort", "one shared pool with quotas that lend and take back (as Kueue does)"},
    {"hyperpod", "one shared pool with fair shares, whole cards only (as SageMaker HyperPod does)"},
    {"managed", "outside the cluster: a provider's service, paid by token and by job-hour"},
};

static const char *preset_words(const char *preset)
{
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (strcmp(presets[i].preset, preset) == 0)
            return presets[i].words;
    return "";
}

static void strong(struct page *page, size_t arbiter)
{
    fputs("<em>", page->out);
    html_text(page->out, page_arbiter(page, arbiter));
    fputs("</em>", page->out);
}

static bool got_worse(const struct page *page, const char *metric)
{
    const struct compare_cell *c = page_against_first(page, page->focus, metric);
    if (c == NULL || isnan(c->difference.mean))
        return false;
    const struct metric_def *def = metric_defs_find(metric);
    bool worse = c->verdict == COMPARE_WORSE ||
                 (c->verdict == COMPARE_UNKNOWN && c->difference.mean * def->better < 0);
    /* only what a person would call a change */
    double limit = def->format == METRIC_PERCENT ? def->tolerance
                                                 : def->tolerance * fabs(c->mean_a);
    return worse && fabs(c->difference.mean) > limit;
}

/* "; in return, ...": what the better use of cards costs. */
static void print_price(struct page *page)
{
    const char *latency = "inference.latency.p99", *wait = "training.wait.p95";
    bool slower = got_worse(page, latency), longer = got_worse(page, wait);
    bool redone = got_worse(page, "training.rework");
    if (!slower && !redone && !longer)
        return;
    fputs("; in return, ", page->out);
    if (longer) {
        fputs("the longest waits of training jobs grow to ", page->out);
        html_figure(page->out, wait, page_value(page, page->focus, wait));
    } else if (slower) {
        fputs("the slowest 1&nbsp;% of requests take ", page->out);
        html_figure(page->out, latency, page_value(page, page->focus, latency));
        fputs(" instead of ", page->out);
        html_figure(page->out, latency, page_value(page, 0, latency));
    }
    if (redone) {
        fputs(slower || longer ? ", and " : "", page->out);
        html_whole(page->out, page_value(page, page->focus, "training.rework"));
        fputs(" card-hours of training are done twice", page->out);
    }
}

static void print_fleet(struct page *page)
{
    if (isnan(page->cards)) {
        fputs("With the same demand", page->out);
        return;
    }
    fputs("On the same ", page->out);
    html_whole(page->out, page->cards);
    fputs(" cards and with the same demand", page->out);
}

static void print_sentence(struct page *page)
{
    const char *real = "utilization.real";
    double first = page_value(page, 0, real), best = page_value(page, page->focus, real);
    fputs("<p class=\"lead\">", page->out);
    print_fleet(page);
    fputs(", ", page->out);
    if (isnan(best)) {
        fputs("no arbiter ran cards of its own", page->out);
    } else if (page->focus == 0) {
        strong(page, 0);
        fputs(" keeps ", page->out);
        html_figure(page->out, real, best);
        fputs(" of the cards computing", page->out);
        if (page->all.arbiter_count > 1)
            fputs(", and no other arbiter does better", page->out);
    } else {
        strong(page, page->focus);
        fputs(" keeps ", page->out);
        html_figure(page->out, real, best);
        fputs(" of the cards computing", page->out);
        if (!isnan(first)) {
            fputs(" where ", page->out);
            strong(page, 0);
            fputs(" keeps ", page->out);
            html_figure(page->out, real, first);
            if (page_against_first(page, page->focus, real)->verdict == COMPARE_SAME)
                fputs(" (a difference that may be chance)", page->out);
        }
        print_price(page);
    }
    fputs(".</p>\n", page->out);
}

/* "±0.1 points": half of the paired interval of focus minus first. */
static void print_certainty(struct page *page, const char *metric)
{
    char text[FIGURE_SIZE];
    const struct compare_cell *c = page_against_first(page, page->focus, metric);
    if (c == NULL || isnan(c->difference.low) || c->censored)
        return;
    const struct metric_def *def = metric_defs_find(metric);
    struct figure f = {.value = c->difference.mean,
                       .half = c->difference.high - c->difference.mean,
                       .change = true};
    figure_print_interval(text, def->format, &f, 24, NULL);
    fputs("<span>difference ", page->out);
    html_text(page->out, text);
    fprintf(page->out, " %s</span>", figure_change_unit(def->format));
}

static void print_bound(struct page *page, size_t arbiter, const char *metric)
{
    struct figure f = summary_figure(&page->all, 0, arbiter, metric);
    fputs(f.censored ? "≥&nbsp;" : "", page->out);
    html_figure(page->out, metric, f.value);
}

/* The first arbiter's figure; a unit that the second one repeats is left out. */
static void print_first(struct page *page, const char *metric)
{
    char text[FIGURE_SIZE];
    struct figure f = summary_figure(&page->all, 0, 0, metric);
    if (metric_defs_find(metric)->format == METRIC_DURATION) {
        print_bound(page, 0, metric);
        return;
    }
    figure_print(text, metric_defs_find(metric)->format, f.value);
    fputs(f.censored ? "≥&nbsp;" : "", page->out);
    html_text(page->out, text);
}

static void print_number(struct page *page, const char *what, const char *metric, const char *words)
{
    fprintf(page->out, "<div><span class=\"what\">%s</span><b>", what);
    if (page->focus > 0 && !isnan(page_value(page, 0, metric))) {
        print_first(page, metric);
        fputs(" → ", page->out);
    }
    print_bound(page, page->focus, metric);
    fprintf(page->out, "</b><span>%s</span>", words);
    if (page->focus > 0)
        print_certainty(page, metric);
    fputs("</div>\n", page->out);
}

static void print_arbiters(struct page *page)
{
    fputs("<dl>", page->out);
    for (size_t a = 0; a < page->all.arbiter_count; a++) {
        fputs("<dt>", page->out);
        html_text(page->out, page_arbiter(page, a));
        fputs("</dt><dd>", page->out);
        html_text(page->out, preset_words(page->all.arbiters[a].preset));
        fputs("</dd>", page->out);
    }
    fputs("</dl>\n", page->out);
}

void section_opening(struct page *page)
{
    double days = page->all.horizon_s / 86400;
    int64_t replications = page->all.arbiters[0].replications;
    fputs("<h1>", page->out);
    html_text(page->out, page->all.scenario);
    fprintf(page->out, " · %.*f %s of demand · %zu arbiter%s · %lld replication%s</h1>\n",
            days == floor(days) ? 0 : 1, days, days == 1 ? "day" : "days",
            page->all.arbiter_count, page->all.arbiter_count == 1 ? "" : "s",
            (long long)replications, replications == 1 ? "" : "s");
    section_agreement(page);
    page->about_sharing = sharing_opening(page);
    if (page->about_sharing)
        return;
    print_sentence(page);
    fputs("<div class=\"three\">\n", page->out);
    print_number(page, "Cards that compute", "utilization.real",
                 "of the fleet's available card time, as nvidia-smi would show it");
    print_number(page, "Wait of training jobs", "training.wait.p95",
                 "19 of 20 jobs start within this time");
    print_number(page, "Price of useful work", "cost.per_useful_card_hour",
                 "what a card-hour of new work costs, all in");
    fputs("</div>\n", page->out);
    fputs("<p>An <em>arbiter</em> decides who gets cards. This page puts the same demand before ",
          page->out);
    fputs(page->all.arbiter_count == 1 ? "one:</p>\n" : "each of these:</p>\n", page->out);
    print_arbiters(page);
}
