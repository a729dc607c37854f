/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate for machines and for pull requests: JUnit XML (one case per figure, as GitLab, Jenkins
 * and GitHub's report actions read it) and Markdown. */
#include <string.h>

#include "analysis/regress_priv.h"

/* ---- JUnit ---- */

/* Characters that XML 1.0 does not allow become a question mark. */
static void xml(FILE *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        switch (*p) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            putc(*p < 0x20 ? '?' : *p, out);
        }
    }
}

static void message(FILE *out, const struct regress_finding *f)
{
    char before[FIGURE_SIZE], after[FIGURE_SIZE], change[FIGURE_SIZE], allowed[FIGURE_SIZE];
    regress_value_text(before, f->def, f->before);
    regress_value_text(after, f->def, f->after);
    regress_change_text(change, f);
    regress_allowed_text(allowed, f);
    xml(out, f->def->title);
    fputs(": ", out);
    xml(out, before);
    fputs(" -&gt; ", out);
    xml(out, after);
    fprintf(out, " (%s; allowed %s)", change, allowed);
}

static void junit_case(FILE *out, const struct regress *r, const struct regress_finding *f)
{
    char scope[160];
    regress_scope_text(scope, sizeof scope, f);
    fputs("    <testcase classname=\"", out);
    xml(out, f->arbiter);
    putc('.', out);
    xml(out, scope);
    fputs("\" name=\"", out);
    xml(out, f->def->name);
    bool fails = f->verdict == REGRESS_WORSE || (r->strict && f->verdict == REGRESS_UNCLEAR);
    if (!fails && f->verdict != REGRESS_UNCLEAR) {
        fputs("\"/>\n", out);
        return;
    }
    fprintf(out, "\">\n      <%s message=\"", fails ? "failure" : "skipped");
    message(out, f);
    fputs("\"/>\n    </testcase>\n", out);
}

static void junit_loops(FILE *out, const struct regress *r)
{
    fputs("  <testsuite name=\"loops\" tests=\"1\" failures=\"", out);
    fprintf(out, "%d\" errors=\"0\" skipped=\"0\">\n    <testcase classname=\"loops\" name=\"no new eviction loops\"",
            r->new_loops ? 1 : 0);
    if (r->new_loops)
        fprintf(out, ">\n      <failure message=\"%lld runs with loops, before %lld\"/>\n    </testcase>\n",
                (long long)r->loops_after, (long long)r->loops_before);
    else
        fputs("/>\n", out);
    fputs("  </testsuite>\n", out);
}

static size_t suite_end(const struct regress *r, size_t from, size_t counts[REGRESS_WORSE + 1])
{
    size_t i = from;
    memset(counts, 0, (REGRESS_WORSE + 1) * sizeof *counts);
    while (i < r->finding_count && strcmp(r->findings[i].arbiter, r->findings[from].arbiter) == 0)
        counts[r->findings[i++].verdict]++;
    return i;
}

static void junit(FILE *out, const struct regress *r)
{
    size_t counts[REGRESS_WORSE + 1];
    size_t failures = r->counts[REGRESS_WORSE] + (r->strict ? r->counts[REGRESS_UNCLEAR] : 0) + r->new_loops;
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<testsuites name=\"fleetsim regress\" tests=\"%zu\" failures=\"%zu\">\n",
            r->finding_count + 1, failures);
    for (size_t i = 0; i < r->finding_count;) {
        size_t end = suite_end(r, i, counts);
        size_t unclear = r->strict ? 0 : counts[REGRESS_UNCLEAR];
        fputs("  <testsuite name=\"", out);
        xml(out, r->findings[i].arbiter);
        fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", end - i,
                counts[REGRESS_WORSE] + counts[REGRESS_UNCLEAR] - unclear, unclear);
        for (; i < end; i++)
            junit_case(out, r, &r->findings[i]);
        fputs("  </testsuite>\n", out);
    }
    junit_loops(out, r);
    fputs("</testsuites>\n", out);
}

bool regress_junit(const char *path, const struct regress *r, struct err *err)
{
    return regress_file(path, r, junit, err);
}

/* ---- Markdown ---- */

/* Text of a cell: what Markdown or HTML would take for markup is escaped. */
static void md(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("\\`*_|<>[]#", *text) != NULL)
            putc('\\', out);
        putc((unsigned char)*text < 0x20 ? ' ' : *text, out);
    }
}

static void md_findings(FILE *out, const struct regress *r, enum regress_verdict v, const char *title, bool fold)
{
    if (r->counts[v] == 0)
        return;
    if (fold)
        fprintf(out, "\n<details><summary>%s (%zu)</summary>\n", title, r->counts[v]);
    else
        fprintf(out, "\n### %s\n", title);
    fputs("\n| arbiter | figure | of | before | after | change | allowed |\n|---|---|---|--:|--:|--:|--:|\n", out);
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct regress_finding *f = &r->findings[i];
        char scope[160], before[FIGURE_SIZE], after[FIGURE_SIZE], change[FIGURE_SIZE], allowed[FIGURE_SIZE];
        if (f->verdict != v)
            continue;
        regress_scope_text(scope, sizeof scope, f);
        regress_value_text(before, f->def, f->before);
        regress_value_text(after, f->def, f->after);
        regress_change_text(change, f);
        regress_allowed_text(allowed, f);
        const char *cells[] = {f->arbiter, f->def->title, scope, before, after, change, allowed};
        for (size_t c = 0; c < sizeof cells / sizeof cells[0]; c++) {
            fputs("| ", out);
            md(out, cells[c]);
            putc(' ', out);
        }
        fputs("|\n", out);
    }
    if (fold)
        fputs("\n</details>\n", out);
}

static void md_jobs(FILE *out, const struct regress *r, const struct regress_jobs *list, const char *what)
{
    bool by_wait = list == &r->longer;
    if (list->total == 0)
        return;
    fprintf(out, "\n### %lld of %lld jobs %s\n\n| arbiter | job | team | before | after | %s |\n|---|---|---|--:|--:|---|\n",
            (long long)list->total, (long long)r->jobs_paired, what, by_wait ? "reason" : "rework, card-h");
    for (size_t i = 0; i < list->count; i++) {
        const struct regress_job *j = &list->items[i];
        char before[FIGURE_SIZE], after[FIGURE_SIZE], rework[FIGURE_SIZE];
        figure_print(before, by_wait ? METRIC_DURATION : METRIC_COUNT,
                     by_wait ? j->wait_before_s : (double)j->evictions_before);
        figure_print(after, by_wait ? METRIC_DURATION : METRIC_COUNT,
                     by_wait ? j->wait_after_s : (double)j->evictions_after);
        figure_print(rework, METRIC_AMOUNT, j->rework_after_card_s / 3600);
        fputs("| ", out);
        md(out, j->arbiter);
        fputs(" | ", out);
        md(out, j->id);
        fputs(" | ", out);
        md(out, j->team);
        fprintf(out, " | %s%s | %s%s | ", by_wait && !j->started_before ? "≥" : "", before,
                by_wait && !j->started_after ? "≥" : "", after);
        md(out, by_wait ? j->reason : rework);
        fputs(" |\n", out);
    }
}

static void md_side(FILE *out, const char *name, const struct regress_side *s)
{
    char when[FIGURE_SIZE];
    fprintf(out, "* **%s** ", name);
    if (!s->found) {
        fputs("nothing about it so far\n", out);
        return;
    }
    regress_time_text(when, (double)s->t_ns / 1e9);
    fprintf(out, "(%s) %s %s", when, s->kind, s->reason);
    if (s->detail[0] != '\0') {
        fputs(": ", out);
        md(out, s->detail);
    }
    putc('\n', out);
}

static void markdown(FILE *out, const struct regress *r)
{
    char headline[160];
    regress_headline(headline, sizeof headline, r);
    fprintf(out, "## fleetsim: %s\n\n", headline);
    md(out, r->path_before);
    fputs(" → ", out);
    md(out, r->path_after);
    fprintf(out, ", %zu arbiters, %lld replications, same demand\n", r->arbiter_count, (long long)r->replications);
    md_findings(out, r, REGRESS_WORSE, "Worse", false);
    md_findings(out, r, REGRESS_UNCLEAR, "Unclear: beyond the tolerance, but not surely", false);
    md_findings(out, r, REGRESS_BETTER, "Better", true);
    md_jobs(out, r, &r->longer, "wait longer");
    md_jobs(out, r, &r->evicted, "are newly evicted");
    for (size_t i = 0; i < r->difference_count; i++) {
        const struct regress_difference *d = &r->differences[i];
        char when[FIGURE_SIZE];
        regress_time_text(when, (double)d->t_ns / 1e9);
        if (i == 0)
            fputs("\n### The first decision that differs\n\n", out);
        md(out, d->arbiter);
        fprintf(out, ", replication %lld, at %s: ", (long long)d->replication, when);
        md(out, d->workload);
        fputs("\n\n", out);
        md_side(out, "before", &d->before);
        md_side(out, "after", &d->after);
        putc('\n', out);
    }
    if (r->note_count > 0)
        fputs("\n### Notes\n\n", out);
    for (size_t i = 0; i < r->note_count; i++) {
        fputs("* ", out);
        md(out, r->notes[i]);
        putc('\n', out);
    }
}

bool regress_markdown(const char *path, const struct regress *r, struct err *err)
{
    return regress_file(path, r, markdown, err);
}
