/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The audit for people: per arbiter the findings, who shared with whom, incidents, pools. */
#include <stdlib.h>
#include <string.h>

#include "analysis/audit_priv.h"
#include "analysis/figure.h"
#include "analysis/regress_priv.h"
#include "analysis/table_priv.h"
#include "analysis/wrap.h"

enum { PAIRS_SHOWN = 20, CARDS_SHOWN = 8, OTHERS_SHOWN = 6, WORST_SHOWN = 3 };

static void hours(char out[FIGURE_SIZE], double seconds)
{
    figure_print(out, METRIC_AMOUNT, seconds / 3600);
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static void right(FILE *out, size_t width, int64_t n)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)n);
    table_right(out, text, width);
}

static void right_hours(FILE *out, size_t width, double seconds)
{
    char text[FIGURE_SIZE];
    hours(text, seconds);
    table_right(out, text, width);
}

static void left(FILE *out, const char *text, size_t width)
{
    table_left(out, text, width);
    putc(' ', out);
}

/* ---- findings ---- */

static void say_others(FILE *text, const struct audit_finding *f)
{
    char h[FIGURE_SIZE];
    for (size_t i = 0; i < f->other_count && i < OTHERS_SHOWN; i++) {
        hours(h, f->others[i].shared_s);
        fprintf(text, "%s %s %s h on %lld card%s", i == 0 ? " with" : ",", f->others[i].name, h,
                (long long)f->others[i].cards, plural(f->others[i].cards));
    }
    if (f->other_count > OTHERS_SHOWN)
        fprintf(text, " and %zu more", f->other_count - OTHERS_SHOWN);
}

static void say_cards(FILE *text, const struct audit_finding *f)
{
    fputs(" Cards (node/card):", text);
    for (size_t i = 0; i < f->card_count && i < CARDS_SHOWN; i++)
        fprintf(text, "%s %lld/%lld", i == 0 ? "" : ",", (long long)f->cards[i].node, (long long)f->cards[i].card);
    fputs(f->card_count > CARDS_SHOWN ? ", … (all: --format json)." : ".", text);
}

static void say_requirement(FILE *text, const char *tenant, const char *requires, const char *reason)
{
    fprintf(text, "%s requires %s isolation%s%s%s", tenant, requires, reason[0] != '\0' ? " (" : "", reason,
            reason[0] != '\0' ? ")" : "");
}

static void finding(FILE *out, const struct audit_finding *f)
{
    char *line = NULL, h[FIGURE_SIZE];
    size_t size = 0;
    FILE *text = open_memstream(&line, &size);
    if (text == NULL)
        return;
    hours(h, f->shared_s);
    say_requirement(text, f->tenant, f->requires, f->reason);
    fprintf(text, ", but shared %zu card%s of %s under %s (%s) for %s card-hours:", f->card_count,
            plural((int64_t)f->card_count), f->node_pool, f->mechanism, f->isolation, h);
    say_others(text, f);
    putc('.', text);
    say_cards(text, f);
    if (f->died_for_others > 0) {
        hours(h, f->lost_card_s);
        fprintf(text, " Failures of others took it down %lld time%s, %s card-hours lost.", (long long)f->died_for_others,
                plural(f->died_for_others), h);
    }
    fclose(text);
    fputs("  ! ", out);
    wrap_print(out, line, TABLE_WIDTH, 4, 4);
    free(line);
}

static void requirement(FILE *out, const struct audit_requirement *t)
{
    char *line = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&line, &size);
    if (text == NULL)
        return;
    say_requirement(text, t->tenant, t->requires, t->reason);
    fputs(t->shared ? " and had it on every card that it shared." : " and shared no card.", text);
    fclose(text);
    fputs("    ", out);
    wrap_print(out, line, TABLE_WIDTH, 4, 4);
    free(line);
}

static void findings(FILE *out, const struct audit_run *run)
{
    if (run->finding_count > 0)
        fprintf(out, "  %zu finding%s\n", run->finding_count, plural((int64_t)run->finding_count));
    for (size_t i = 0; i < run->finding_count; i++)
        finding(out, &run->findings[i]);
    for (size_t i = 0; i < run->requirement_count; i++)
        if (!run->requirements[i].broken)
            requirement(out, &run->requirements[i]);
}

/* ---- who with whom ---- */

static void pairs(FILE *out, const struct audit_run *run)
{
    fputs("\n  tenant         with           node pool    mechanism    isolation cards card-h\n", out);
    for (size_t i = 0; i < run->pair_count && i < PAIRS_SHOWN; i++) {
        const struct audit_pair *p = &run->pairs[i];
        fputs(p->tenant_broken || p->other_broken ? "! " : "  ", out);
        left(out, p->tenant, 14);
        left(out, p->other, 14);
        left(out, p->node_pool, 12);
        left(out, p->mechanism, 12);
        left(out, p->isolation, 9);
        right(out, 5, p->cards);
        right_hours(out, 7, p->shared_s);
        putc('\n', out);
    }
    if (run->pair_count > PAIRS_SHOWN)
        fprintf(out, "  … and %zu pairs that shared less (all: --format csv)\n", run->pair_count - PAIRS_SHOWN);
}

/* ---- incidents ---- */

struct incident_sum {
    const struct audit_incident *like;
    int64_t incidents, victims, others, most;
    double lost_card_s;
};

static bool alike(const struct audit_incident *a, const struct audit_incident *b)
{
    return strcmp(a->cause, b->cause) == 0 && strcmp(a->mechanism, b->mechanism) == 0 &&
           strcmp(a->node_pool, b->node_pool) == 0;
}

/* Sums by cause, mechanism and pool, in order of their first incident; at most `most` of them. */
static size_t sum_incidents(const struct audit_run *run, struct incident_sum *sums, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < run->incident_count; i++) {
        const struct audit_incident *x = &run->incidents[i];
        size_t s = 0;
        while (s < count && !alike(sums[s].like, x))
            s++;
        if (s == most)
            continue;
        if (s == count)
            sums[count++] = (struct incident_sum){.like = x};
        sums[s].incidents++;
        sums[s].victims += x->victim_count;
        sums[s].others += x->others;
        sums[s].most = x->victim_count > sums[s].most ? x->victim_count : sums[s].most;
        sums[s].lost_card_s += x->lost_card_s;
    }
    return count;
}

static void worst(FILE *out, const struct audit_run *run)
{
    int64_t below = INT64_MAX;
    int shown = 0;
    while (shown < WORST_SHOWN && below > 1) {
        int64_t most = 1;
        for (size_t i = 0; i < run->incident_count; i++)
            if (run->incidents[i].others > 0 && run->incidents[i].victim_count < below &&
                run->incidents[i].victim_count > most)
                most = run->incidents[i].victim_count;
        for (size_t i = 0; i < run->incident_count && shown < WORST_SHOWN && most > 1; i++) {
            const struct audit_incident *x = &run->incidents[i];
            if (x->victim_count != most || x->others == 0)
                continue;
            char when[FIGURE_SIZE], line[760];
            regress_time_text(when, x->t_s);
            (void)snprintf(line, sizeof line, "%s: %.60s (%.20s) took down %.400s on %.60s %lld/%lld", when, x->culprit,
                           x->cause, x->victims, x->node_pool, (long long)x->node, (long long)x->card);
            fputs("    ", out);
            wrap_print(out, line, TABLE_WIDTH, 4, 6);
            shown++;
        }
        below = most;
    }
}

static void incidents(FILE *out, const struct audit_run *run)
{
    struct incident_sum sums[16];
    size_t count = sum_incidents(run, sums, sizeof sums / sizeof sums[0]);
    if (count == 0)
        return;
    fputs("\n  incidents      node pool    mechanism    number victims of others most lost h\n", out);
    for (size_t i = 0; i < count; i++) {
        fputs("  ", out);
        left(out, sums[i].like->cause, 14);
        left(out, sums[i].like->node_pool, 12);
        left(out, sums[i].like->mechanism, 12);
        right(out, 6, sums[i].incidents);
        right(out, 8, sums[i].victims);
        right(out, 10, sums[i].others);
        right(out, 5, sums[i].most);
        right_hours(out, 7, sums[i].lost_card_s);
        putc('\n', out);
    }
    worst(out, run);
}

/* ---- pools ---- */

static void pools(FILE *out, const struct audit_run *run)
{
    fputs("\n  node pool    card         mechanism    isolation  cards  most shared h useful\n", out);
    for (size_t i = 0; i < run->pool_count; i++) {
        const struct audit_pool *p = &run->pools[i];
        char use[FIGURE_SIZE + 2] = "–";
        if (p->cards_mean > 0 && run->horizon_s > 0) {
            figure_print(use, METRIC_PERCENT, p->computing_card_s / (p->cards_mean * run->horizon_s));
            strcat(use, "%");
        }
        fputs("  ", out);
        left(out, p->node_pool, 12);
        left(out, p->card, 12);
        left(out, p->shared_by, 12);
        left(out, p->isolation, 9);
        right(out, 6, p->cards);
        right(out, 6, p->cards_peak);
        right_hours(out, 9, p->shared_card_s);
        table_right(out, use, 7);
        putc('\n', out);
    }
}

static void one_run(FILE *out, const struct audit_run *run, const struct audit_options *options)
{
    fprintf(out, "\n%s\n", run->arbiter);
    if (run->pool_count == 0) {
        fputs(strcmp(run->preset, "managed") == 0 ? "  runs no cards of its own: nobody shared one\n"
                                                  : "  nothing was recorded about its cards\n", out);
        return;
    }
    findings(out, run);
    if (run->pair_count > 0)
        pairs(out, run);
    else
        fprintf(out, "  %s shared a card\n", options->tenant == NULL ? "nobody" : "it never");
    incidents(out, run);
    if (options->tenant == NULL)
        pools(out, run);
}

void audit_table(FILE *out, const struct audit *audit, const struct audit_options *options)
{
    bool shared = false, useful = false, parts = false;
    fprintf(out, "who shared which card with whom: %s, replication %lld\n", audit->scenario,
            audit->run_count == 0 ? 0LL : (long long)audit->runs[0].replication);
    for (size_t i = 0; i < audit->run_count; i++) {
        one_run(out, &audit->runs[i], options);
        shared |= audit->runs[i].pair_count > 0;
        useful |= audit->runs[i].pool_count > 0;
        for (size_t k = 0; k < audit->runs[i].pool_count; k++)
            parts |= strcmp(audit->runs[i].pools[k].shared_by, "whole") == 0 &&
                     strcmp(audit->runs[i].pools[k].isolation, "exclusive") != 0;
    }
    putc('\n', out);
    if (shared)
        wrap_print(out,
                   "card-h: hours that both held a part of the same card, summed over cards; three tenants of one card "
                   "are three pairs. ! less isolation than one of the two requires.",
                   TABLE_WIDTH, 0, 0);
    if (parts)
        wrap_print(out,
                   "whole with isolation none: parts of cards, handed out without a mechanism (sharing: fraction).",
                   TABLE_WIDTH, 0, 0);
    if (useful && options->tenant == NULL)
        wrap_print(out,
                   "most: cards in use at once. useful: computing without rework and sharing overhead, of the time "
                   "that cards had a tenant.",
                   TABLE_WIDTH, 0, 0);
    if (audit->finding_count == 0)
        fputs("no findings\n", out);
    else
        fprintf(out, "%zu finding%s\n", audit->finding_count, plural((int64_t)audit->finding_count));
}
