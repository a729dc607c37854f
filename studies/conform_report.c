/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/conform_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "sim/check.h"

static struct conform_group *group_named(struct conform_report *r, const char *name)
{
    for (size_t i = 0; i < r->group_count; i++)
        if (strcmp(r->groups[i].name, name) == 0)
            return &r->groups[i];
    REQUIRE(r->group_count < CONFORM_GROUP_LIMIT);
    struct conform_group *g = &r->groups[r->group_count++];
    snprintf(g->name, sizeof g->name, "%.*s", (int)sizeof g->name - 1, name);
    return g;
}

void conform_begin(struct conform_report *r, const char *group, const char *id)
{
    r->group = group_named(r, group);
    r->case_agrees = true;
    snprintf(r->where, sizeof r->where, "%.60s", id);
}

void conform_end(struct conform_report *r)
{
    r->group->cases++;
    r->group->cases_agreed += r->case_agrees ? 1 : 0;
}

void conform_at(struct conform_report *r, const char *fmt, ...)
{
    char *colon = strchr(r->where, ':');
    size_t n = colon ? (size_t)(colon - r->where) : strlen(r->where);
    int m = snprintf(r->where + n, sizeof r->where - n, ": ");
    va_list ap;
    va_start(ap, fmt);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): begun one line above */
    vsnprintf(r->where + n + m, sizeof r->where - n - (size_t)m, fmt, ap);
    va_end(ap);
}

static struct conform_field *field_named(struct conform_group *g, const char *name)
{
    for (size_t i = 0; i < g->field_count; i++)
        if (strcmp(g->fields[i].name, name) == 0)
            return &g->fields[i];
    REQUIRE(g->field_count < CONFORM_FIELD_LIMIT);
    struct conform_field *f = &g->fields[g->field_count++];
    snprintf(f->name, sizeof f->name, "%.*s", (int)sizeof f->name - 1, name);
    return f;
}

/* Counts; true when this is the group's first difference and wants its text. */
static bool count(struct conform_report *r, const char *field, bool agrees)
{
    struct conform_group *g = r->group;
    struct conform_field *f = field_named(g, field);
    g->checks++;
    f->checks++;
    if (agrees) {
        g->checks_agreed++;
        return false;
    }
    f->differences++;
    r->case_agrees = false;
    return g->first[0] == '\0';
}

void conform_int(struct conform_report *r, const char *field, int64_t ours, int64_t recorded)
{
    if (count(r, field, ours == recorded))
        snprintf(r->group->first, sizeof r->group->first,
                 "%s: %s: ours %" PRId64 ", recorded %" PRId64, r->where, field, ours, recorded);
}

void conform_text(struct conform_report *r, const char *field, const char *ours,
                  const char *recorded)
{
    if (count(r, field, strcmp(ours, recorded) == 0))
        snprintf(r->group->first, sizeof r->group->first, "%s: %s: ours '%.200s', recorded '%.200s'",
                 r->where, field, ours, recorded);
}

static void print_fields(const struct conform_group *g, FILE *out)
{
    for (size_t i = 0; i < g->field_count; i++) {
        const struct conform_field *f = &g->fields[i];
        if (f->differences > 0)
            fprintf(out, "    %-20s %" PRIu64 " of %" PRIu64 " differ\n", f->name, f->differences,
                    f->checks);
    }
}

int conform_print(const struct conform_report *r, const char *title, FILE *out)
{
    uint64_t cases = 0, agreed = 0, checks = 0, checks_agreed = 0;
    fprintf(out, "%s\n%-14s %8s %8s %10s %10s %9s\n", title, "group", "cases", "agree", "checks",
            "agree", "percent");
    for (size_t i = 0; i < r->group_count; i++) {
        const struct conform_group *g = &r->groups[i];
        fprintf(out, "%-14s %8" PRIu64 " %8" PRIu64 " %10" PRIu64 " %10" PRIu64 " %9.3f\n", g->name,
                g->cases, g->cases_agreed, g->checks, g->checks_agreed,
                g->checks ? 100.0 * (double)g->checks_agreed / (double)g->checks : 100.0);
        cases += g->cases;
        agreed += g->cases_agreed;
        checks += g->checks;
        checks_agreed += g->checks_agreed;
    }
    fprintf(out, "%-14s %8" PRIu64 " %8" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n", "all", cases,
            agreed, checks, checks_agreed);
    for (size_t i = 0; i < r->group_count; i++) {
        const struct conform_group *g = &r->groups[i];
        if (g->first[0] == '\0')
            continue;
        fprintf(out, "first difference in %s: %s\n", g->name, g->first);
        print_fields(g, out);
    }
    return checks == checks_agreed ? 0 : 1;
}
