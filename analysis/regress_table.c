/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate on a terminal, in 80 columns. */
#include <math.h>
#include <string.h>

#include "analysis/regress_priv.h"
#include "analysis/table_priv.h"
#include "analysis/wrap.h"

enum { METRIC = 24, SCOPE = 17, VALUE = 9, CHANGE = 14, JOB = 34, BETTER_LISTED = 10 };

static const char *const marks[] = {"=", "✓", "?", "✗"};

static void finding_line(FILE *out, const struct regress_finding *f)
{
    char scope[160], before[FIGURE_SIZE], after[FIGURE_SIZE], change[FIGURE_SIZE];
    regress_scope_text(scope, sizeof scope, f);
    figure_print(before, f->def->format, f->before);
    figure_print(after, f->def->format, f->after);
    struct figure d = {.value = f->change.mean, .half = f->change.high - f->change.mean,
                       .censored = f->censored, .change = true};
    figure_print_interval(change, f->def->format, &d, CHANGE, NULL);
    fprintf(out, " %s ", marks[f->verdict]);
    table_left(out, f->def->label, METRIC);
    putc(' ', out);
    table_left(out, scope, SCOPE);
    table_right(out, before, VALUE);
    table_right(out, after, VALUE + 1);
    fprintf(out, "  %s\n", change);
}

static void findings(FILE *out, const struct regress *r, enum regress_verdict v, size_t most)
{
    const char *arbiter = NULL;
    size_t shown = 0;
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct regress_finding *f = &r->findings[i];
        if (f->verdict != v || shown == most)
            continue;
        if (arbiter == NULL || strcmp(arbiter, f->arbiter) != 0) {
            fprintf(out, "%s\n", f->arbiter);
            arbiter = f->arbiter;
        }
        finding_line(out, f);
        shown++;
    }
    if (shown < r->counts[v])
        fprintf(out, " … and %zu more\n", r->counts[v] - shown);
}

static void section(FILE *out, const struct regress *r, enum regress_verdict v, const char *title, size_t most)
{
    if (r->counts[v] == 0)
        return;
    putc('\n', out);
    table_left(out, title, 3 + METRIC + 1 + SCOPE);
    table_right(out, "before", VALUE);
    table_right(out, "after", VALUE + 1);
    fputs("  change\n", out);
    findings(out, r, v, most);
}

static void wait_text(char out[FIGURE_SIZE], double seconds, bool started)
{
    char figure[FIGURE_SIZE];
    figure_print(figure, METRIC_DURATION, seconds);
    (void)snprintf(out, FIGURE_SIZE, "%s%.40s", started ? "" : "≥", figure);
}

static void job_line(FILE *out, const struct regress_job *j, bool by_wait)
{
    char name[300], before[FIGURE_SIZE], after[FIGURE_SIZE];
    (void)snprintf(name, sizeof name, "%.120s (%.40s)", j->id, j->team[0] != '\0' ? j->team : j->queue);
    fputs("   ", out);
    table_left(out, name, JOB);
    if (by_wait) {
        wait_text(before, j->wait_before_s, j->started_before);
        wait_text(after, j->wait_after_s, j->started_after);
    } else {
        (void)snprintf(before, sizeof before, "%lld", (long long)j->evictions_before);
        (void)snprintf(after, sizeof after, "%lld", (long long)j->evictions_after);
    }
    table_right(out, before, VALUE);
    table_right(out, after, VALUE + 1);
    fprintf(out, "  %.24s\n", by_wait ? j->reason : "");
}

static void jobs(FILE *out, const struct regress *r, const struct regress_jobs *list, const char *what)
{
    const char *arbiter = NULL;
    int64_t replication = -1;
    bool by_wait = list == &r->longer;
    if (list->total == 0)
        return;
    fprintf(out, "\n%lld of %lld jobs %s; the worst:\n", (long long)list->total, (long long)r->jobs_paired, what);
    for (size_t i = 0; i < list->count; i++) {
        const struct regress_job *j = &list->items[i];
        if (arbiter == NULL || strcmp(arbiter, j->arbiter) != 0 || replication != j->replication)
            fprintf(out, " %s, replication %lld\n", j->arbiter, (long long)j->replication);
        arbiter = j->arbiter;
        replication = j->replication;
        job_line(out, j, by_wait);
    }
}

static void job_account(FILE *out, const struct regress *r)
{
    char longer[FIGURE_SIZE], less[FIGURE_SIZE];
    if (!r->has_jobs)
        return;
    jobs(out, r, &r->longer, "wait longer");
    jobs(out, r, &r->evicted, "are newly evicted");
    figure_print(longer, METRIC_DURATION, r->waited_longer_s);
    figure_print(less, METRIC_DURATION, r->waited_less_s);
    fprintf(out, "\n%lld jobs: %lld wait longer (%s in all), %lld less (%s), %lld newly evicted\n",
            (long long)r->jobs_paired, (long long)r->longer.total, longer, (long long)r->jobs_faster, less,
            (long long)r->evicted.total);
}

static void side(FILE *out, const char *name, const struct regress_side *s, int64_t t_ns)
{
    char text[1200], when[FIGURE_SIZE] = "";
    if (!s->found) {
        fprintf(out, "   %-7s nothing about it so far\n", name);
        return;
    }
    if (s->t_ns != t_ns)
        regress_time_text(when, (double)s->t_ns / 1e9);
    (void)snprintf(text, sizeof text, "%s %s%s%s%s%s%s", s->kind, s->reason, when[0] != '\0' ? " (at " : "", when,
                   when[0] != '\0' ? ")" : "", s->detail[0] != '\0' ? ": " : "", s->detail);
    fprintf(out, "   %-7s ", name);
    wrap_print(out, text, TABLE_WIDTH, 11, 11);
}

static void differences(FILE *out, const struct regress *r)
{
    for (size_t i = 0; i < r->difference_count; i++) {
        const struct regress_difference *d = &r->differences[i];
        char when[FIGURE_SIZE];
        regress_time_text(when, (double)d->t_ns / 1e9);
        if (i == 0)
            fputs("\nthe first decision that differs\n", out);
        wrap_printf(out, TABLE_WIDTH, 1, 3, "%s, replication %lld, at %s: %s (queue %s)", d->arbiter, (long long)d->replication, when,
                d->workload, d->queue);
        side(out, "before", &d->before, d->t_ns);
        side(out, "after", &d->after, d->t_ns);
    }
    if (r->has_decisions && r->difference_count == 0)
        fputs("\nno decision differs\n", out);
}

void regress_table(FILE *out, const struct regress *r)
{
    char headline[160];
    regress_headline(headline, sizeof headline, r);
    fprintf(out, "%s\n%s -> %s: %zu arbiters, %lld replications, same demand\n", headline, r->path_before,
            r->path_after, r->arbiter_count, (long long)r->replications);
    section(out, r, REGRESS_WORSE, "worse", SIZE_MAX);
    section(out, r, REGRESS_UNCLEAR, "unclear: beyond the tolerance, but not surely", SIZE_MAX);
    section(out, r, REGRESS_BETTER, "better", BETTER_LISTED);
    job_account(out, r);
    differences(out, r);
    if (r->note_count > 0)
        fputs("\nnotes\n", out);
    for (size_t i = 0; i < r->note_count; i++) {
        fputs(" - ", out);
        wrap_print(out, r->notes[i], TABLE_WIDTH, 3, 3);
    }
}
