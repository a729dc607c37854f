/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who shares cards, what it costs in isolation, and who should not have. */
#include "analysis/report/sharing.h"

#include <math.h>
#include <string.h>

enum { FINDINGS_SHOWN = 12 };

/* ---- ways of sharing ---- */

static const char *mechanisms_of(struct arena *arena, const struct audit_run *run)
{
    const char *text = "";
    for (size_t i = 0; i < run->pool_count; i++) {
        bool known = false;
        for (size_t k = 0; k < i; k++)
            known |= strcmp(run->pools[k].shared_by, run->pools[i].shared_by) == 0 && run->pools[k].cards_peak > 0;
        if (!known && run->pools[i].cards_peak > 0)
            text = arena_printf(arena, "%s%s%s", text, text[0] == '\0' ? "" : " + ", run->pools[i].shared_by);
    }
    return text;
}

static struct way way_of(struct page *page, struct arena *arena, const struct audit_run *run)
{
    struct way w = {.run = run, .mechanisms = mechanisms_of(arena, run), .rank = 3, .latency_s = (double)NAN};
    for (size_t i = 0; i < run->pool_count; i++) {
        const struct audit_pool *p = &run->pools[i];
        w.cards += (double)p->cards_peak;
        if (p->cards_peak > 0 && audit_rank(p->isolation) < w.rank)
            w.rank = audit_rank(p->isolation);
    }
    for (size_t i = 0; i < run->incident_count; i++)
        w.brought_down += (double)run->incidents[i].others;
    if (run->no_names)
        w.brought_down = (double)NAN;
    for (size_t a = 0; a < page->all.arbiter_count; a++)
        if (strcmp(page_arbiter(page, a), run->arbiter) == 0) {
            struct figure f = summary_figure(&page->all, 0, a, "inference.latency.p99");
            w.latency_s = f.value;
            w.latency_censored = f.censored;
        }
    return w;
}

static size_t ways_of(struct page *page, struct audit *audit, struct way *ways)
{
    size_t count = 0;
    for (size_t i = 0; i < audit->run_count && count < SHARING_WAYS_MAX; i++)
        if (audit->runs[i].pool_count > 0)
            ways[count++] = way_of(page, &audit->arena, &audit->runs[i]);
    return count;
}

/* Do arbiters differ in how they share? Only then is a comparison of ways of any use. */
static bool ways_differ(const struct way *ways, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (strcmp(ways[i].mechanisms, ways[0].mechanisms) != 0)
            return true;
    return false;
}

static bool anybody_shared(const struct audit *audit)
{
    for (size_t i = 0; i < audit->run_count; i++)
        for (size_t k = 0; k < audit->runs[i].pool_count; k++)
            if (audit->runs[i].pools[k].shared_card_s > 0)
                return true;
    return false;
}

/* ---- words ---- */

static void em(struct page *page, const char *text)
{
    fputs("<em>", page->out);
    html_text(page->out, text);
    fputs("</em>", page->out);
}

static const struct way *fewest(const struct way *ways, size_t count, bool clean)
{
    const struct way *best = NULL;
    for (size_t i = 0; i < count; i++)
        if ((!clean || (ways[i].run->finding_count == 0 && !ways[i].run->no_names)) &&
            (best == NULL || ways[i].cards < best->cards))
            best = &ways[i];
    return best;
}

static void print_cards(struct page *page, const struct way *w)
{
    em(page, w->run->arbiter);
    fprintf(page->out, " (%.0f card%s)", w->cards, w->cards == 1 ? "" : "s");
}

static bool names_missing(const struct audit *audit)
{
    for (size_t i = 0; i < audit->run_count; i++)
        if (audit->runs[i].no_names)
            return true;
    return false;
}

static bool anything_required(const struct audit *audit)
{
    for (size_t i = 0; i < audit->run_count; i++)
        if (audit->runs[i].requirement_count > 0)
            return true;
    return false;
}

static void print_title(struct page *page, const struct audit *audit, bool shared)
{
    size_t broken = 0, named = 0;
    for (size_t i = 0; i < audit->run_count; i++)
        broken += audit->runs[i].finding_count > 0;
    fputs("<h2>", page->out);
    if (!shared)
        fputs("Nobody shares a card", page->out);
    else if (names_missing(audit))
        fputs("Cards are shared; this database does not say who shared them", page->out);
    else if (audit->finding_count == 0)
        fputs(anything_required(audit) ? "Cards are shared, and everybody has the isolation they require"
                                       : "Cards are shared, and nobody requires isolation",
              page->out);
    else
        fputs("Tenants have less isolation than they require under ", page->out);
    for (size_t i = 0; i < audit->run_count && shared; i++)
        if (audit->runs[i].finding_count > 0) {
            named++;
            fputs(named == 1 ? "" : named == broken ? " and " : ", ", page->out);
            html_text(page->out, audit->runs[i].arbiter);
        }
    fputs("</h2>\n", page->out);
}

static void print_choice(struct page *page, const struct way *ways, size_t count)
{
    const struct way *all = fewest(ways, count, false), *clean = fewest(ways, count, true);
    fputs("<p>The same demand, shared in different ways. Fewest cards: ", page->out);
    print_cards(page, all);
    if (clean == all) {
        fputs(", and everybody has the isolation they require", page->out);
    } else if (clean != NULL) {
        fputs("; fewest cards with the isolation that everybody requires: ", page->out);
        print_cards(page, clean);
    } else {
        fputs(all->run->no_names ? "" : "; under no arbiter does everybody have the isolation they require", page->out);
    }
    fputs(". A colour is the weakest isolation among the pools in use.</p>\n", page->out);
}

static void print_rule(struct page *page)
{
    fputs("<p style=\"margin-top:14px\"><b>A rule to begin with:</b> MIG for inference that has promised a latency, HAMi or time-slicing for LoRA, "
          "whole cards for pre-training. MIG pays with stranded slices and slow changes of layout; HAMi and slicing pay "
          "with neighbours who slow each other and fail together; a whole card pays with what its tenant leaves unused. "
          "A gang that counts its cards must not meet slices: where slicing is switched on for the whole cluster, a "
          "request for 8 GPUs is 8 slices, and no longer 8 cards.</p>\n",
          page->out);
}

static void isolation_keys(struct page *page, const struct audit *audit)
{
    bool used[4] = {false};
    for (size_t i = 0; i < audit->run_count; i++)
        for (size_t k = 0; k < audit->runs[i].pool_count; k++)
            if (audit->runs[i].pools[k].cards_peak > 0)
                used[audit_rank(audit->runs[i].pools[k].isolation)] = true;
    fputs("<ul class=\"keys\">", page->out);
    for (int rank = 3; rank >= 0; rank--)
        if (used[rank])
            html_key(page->out, sharing_colour(rank), "dot", sharing_words(rank));
    fputs("</ul>\n", page->out);
}

static void print_finding(struct page *page, const struct audit_run *run, const struct audit_finding *f)
{
    char hours[FIGURE_SIZE];
    fputs("<li>", page->out);
    em(page, run->arbiter);
    fputs(": ", page->out);
    html_text(page->out, f->tenant);
    fputs(" requires ", page->out);
    html_text(page->out, f->requires);
    fputs(" isolation", page->out);
    if (f->reason[0] != '\0') {
        fputs(" (", page->out);
        html_text(page->out, f->reason);
        fputs(")", page->out);
    }
    figure_print(hours, METRIC_AMOUNT, f->shared_s / 3600);
    fprintf(page->out, ", but shared %zu card%s of ", f->card_count, f->card_count == 1 ? "" : "s");
    html_text(page->out, f->node_pool);
    fputs(" under ", page->out);
    html_text(page->out, f->mechanism);
    fprintf(page->out, " for %s card-hours with ", hours);
    for (size_t i = 0; i < f->other_count && i < 4; i++) {
        fputs(i == 0 ? "" : ", ", page->out);
        html_text(page->out, f->others[i].name);
    }
    if (f->other_count > 4)
        fprintf(page->out, " and %zu more", f->other_count - 4);
    if (f->died_for_others > 0)
        fprintf(page->out, "; failures of others took it down %lld time%s", (long long)f->died_for_others,
                f->died_for_others == 1 ? "" : "s");
    fputs("</li>\n", page->out);
}

static void print_findings(struct page *page, const struct audit *audit)
{
    size_t shown = 0;
    if (audit->finding_count == 0)
        return;
    fprintf(page->out, "<details open><summary>%zu finding%s</summary>\n<ul>\n", audit->finding_count,
            audit->finding_count == 1 ? "" : "s");
    for (size_t i = 0; i < audit->run_count; i++)
        for (size_t k = 0; k < audit->runs[i].finding_count; k++)
            if (shown++ < FINDINGS_SHOWN)
                print_finding(page, &audit->runs[i], &audit->runs[i].findings[k]);
    if (shown > FINDINGS_SHOWN)
        fprintf(page->out, "<li>and %zu more</li>\n", shown - FINDINGS_SHOWN);
    fputs("</ul>\n<p class=\"note\">Card-hours are counted per pair of tenants. <code>fleetsim audit results.db</code> "
          "names every card.</p></details>\n",
          page->out);
}

static void print_section(struct page *page, struct audit *audit)
{
    struct way ways[SHARING_WAYS_MAX];
    size_t count = ways_of(page, audit, ways);
    bool shared = anybody_shared(audit);
    if (count == 0)
        return;
    print_title(page, audit, shared);
    if (!shared && !ways_differ(ways, count)) {
        fputs("<p>Every card had one tenant at a time.</p>\n", page->out);
        return;
    }
    if (ways_differ(ways, count)) {
        print_choice(page, ways, count);
        sharing_draw_ways(page, ways, count);
        isolation_keys(page, audit);
        print_rule(page);
    }
    fputs("<p>Utilisation against isolation: how much of the time that a pool's cards had a tenant they computed. It is "
          "said that every point above 50&nbsp;% (dashed) is bought with less isolation; here is where that holds. A red "
          "ring: a tenant there had less isolation than it requires.</p>\n",
          page->out);
    if (sharing_draw_pools(page, audit) && !ways_differ(ways, count))
        isolation_keys(page, audit);
    print_findings(page, audit);
}

/* The arbiters admit alike and differ in how they share: then this is what the page is about. */
static bool only_sharing_differs(const struct way *ways, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (strcmp(ways[i].run->preset, ways[0].run->preset) != 0)
            return false;
    return ways_differ(ways, count);
}

static const struct way *most_cards(const struct way *ways, size_t count)
{
    const struct way *most = &ways[0];
    for (size_t i = 1; i < count; i++)
        most = ways[i].cards > most->cards ? &ways[i] : most;
    return most;
}

static void print_lead(struct page *page, const struct way *ways, size_t count)
{
    const struct way *all = fewest(ways, count, false), *clean = fewest(ways, count, true), *most = most_cards(ways, count);
    fprintf(page->out, "<p class=\"lead\">The same demand takes %.0f cards under ", most->cards);
    em(page, most->run->arbiter);
    fprintf(page->out, " and %.0f under ", all->cards);
    em(page, all->run->arbiter);
    if (clean == all) {
        fputs(", where everybody has the isolation they require", page->out);
    } else if (clean != NULL) {
        fprintf(page->out, "; with the isolation that everybody requires it takes %.0f at least, under ", clean->cards);
        em(page, clean->run->arbiter);
    }
    fputs(".</p>\n", page->out);
}

static void print_from_to(struct page *page, const char *what, const char *metric, double from, double to, const char *words)
{
    fprintf(page->out, "<div><span class=\"what\">%s</span><b>", what);
    html_figure(page->out, metric, from);
    if (from != to) {
        fputs(" → ", page->out);
        html_figure(page->out, metric, to);
    }
    fprintf(page->out, "</b><span>%s</span></div>\n", words);
}

/* From the way that takes most cards to the one that takes fewest (with everybody's isolation, if any has it). */
static void print_three(struct page *page, const struct way *most, const struct way *least)
{
    fputs("<div class=\"three\">\n", page->out);
    print_from_to(page, "Cards needed", "sharing.cards_peak", most->cards, least->cards, "in use at once, at most");
    print_from_to(page, "Slowest 1&nbsp;% of requests", "inference.latency.p99", most->latency_s, least->latency_s,
                  "99 of 100 requests are answered within this time");
    print_from_to(page, "Brought down by a neighbour", "sharing.victims", most->brought_down, least->brought_down,
                  "replicas and jobs that died of a failure of another tenant");
    fputs("</div>\n", page->out);
}

static void print_ways(struct page *page, const struct way *ways, size_t count)
{
    fputs("<p>This page puts the same demand before each of these ways to share cards:</p>\n<dl>", page->out);
    for (size_t i = 0; i < count; i++) {
        fputs("<dt>", page->out);
        html_text(page->out, ways[i].run->arbiter);
        fputs("</dt><dd>cards: ", page->out);
        html_text(page->out, ways[i].mechanisms);
        fprintf(page->out, "; weakest isolation: %s</dd>", sharing_words(ways[i].rank));
    }
    fputs("</dl>\n", page->out);
}

bool sharing_opening(struct page *page)
{
    struct way ways[SHARING_WAYS_MAX];
    struct audit audit = {0};
    bool is_it = false;
    if (audit_has_tables(page->results, page->err) &&
        audit_read(&audit, page->results, &(struct audit_options){0}, true, page->err)) {
        size_t count = ways_of(page, &audit, ways);
        is_it = only_sharing_differs(ways, count);
        if (is_it) {
            const struct way *clean = fewest(ways, count, true);
            print_lead(page, ways, count);
            print_three(page, most_cards(ways, count), clean != NULL ? clean : fewest(ways, count, false));
            print_ways(page, ways, count);
        }
    }
    audit_fini(&audit);
    return is_it;
}

void section_sharing(struct page *page)
{
    struct audit audit = {0};
    struct audit_options all = {0};
    if (audit_has_tables(page->results, page->err) && audit_read(&audit, page->results, &all, true, page->err))
        print_section(page, &audit);
    audit_fini(&audit);
}
