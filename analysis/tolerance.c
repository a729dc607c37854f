/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/tolerance.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
enum { WORDS_MAX = 4, NAMES_MAX = 128 };

static const struct metric_def job_defs[] = {
    {"jobs.wait.mean", "seconds", -1, 0.05, NULL, "wait, mean", "Wait of a job, mean", METRIC_DURATION},
    {"jobs.evictions", "count", -1, 0.05, NULL, "evictions", "Evictions of jobs", METRIC_COUNT},
    {"workload.wait", "seconds", -1, 0.0, NULL, "wait of one job", "Wait of a single job", METRIC_DURATION},
    {"workload.evictions", "count", -1, 0.0, NULL, "evictions of one job", "Evictions of a single job",
     METRIC_COUNT},
};

static const char *const kinds[] = {"team", "queue", "service", "node_pool", "flavor", "class", "priority"};

const struct metric_def *tolerance_metric(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(job_defs); i++)
        if (strcmp(job_defs[i].name, name) == 0)
            return &job_defs[i];
    return metric_defs_find(name);
}

/* ---- reading ---- */

struct word {
    const char *text; /* in the line; not terminated */
    size_t length;
    long column;
};

struct reader {
    struct tolerance_list *list;
    struct diag_list *diags;
    const char *name;  /* of the file */
    char *line;        /* terminated copy of the line */
    long number;
};

static bool problem(struct reader *r, long column, const char *fmt, const char *what, const char *near)
{
    if (near != NULL)
        diag_add(r->diags, DIAG_ERROR, r->name, r->number, column, r->line, "%s, got '%.60s'; did you mean '%s'?",
                 fmt, what, near);
    else
        diag_add(r->diags, DIAG_ERROR, r->name, r->number, column, r->line, "%s, got '%.60s'", fmt, what);
    return false;
}

static size_t split(const char *line, struct word *words)
{
    size_t n = 0;
    for (const char *p = line; *p != '\0' && *p != '#';) {
        if (*p == ' ' || *p == '\t' || *p == '\r') {
            p++;
            continue;
        }
        const char *from = p;
        while (*p != '\0' && *p != ' ' && *p != '\t' && *p != '\r')
            p++;
        if (n < WORDS_MAX)
            words[n] = (struct word){from, (size_t)(p - from), (long)(from - line) + 1};
        n++;
    }
    return n;
}

static size_t metric_names(const char **names)
{
    size_t count, n = 0;
    const struct metric_def *defs = metric_defs_all(&count);
    for (size_t i = 0; i < ARRAY_LEN(job_defs); i++)
        names[n++] = job_defs[i].name;
    for (size_t i = 0; i < count && n < NAMES_MAX; i++)
        names[n++] = defs[i].name;
    return n;
}

static bool name_fits(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);
    if (n > 0 && pattern[n - 1] == '*')
        return strncmp(pattern, name, n - 1) == 0;
    return strcmp(pattern, name) == 0;
}

static bool read_metric(struct reader *r, const struct word *w, struct tolerance_line *out)
{
    const char *names[NAMES_MAX];
    size_t n = metric_names(names);
    out->metric = arena_strndup(&r->list->arena, w->text, w->length);
    for (size_t i = 0; i < n; i++)
        if (name_fits(out->metric, names[i]))
            return true;
    return problem(r, w->column, "expected the name of a metric", out->metric,
                   diag_nearest(out->metric, names, n));
}

static bool read_scope(struct reader *r, const struct word *w, struct tolerance_line *out)
{
    char *text = arena_strndup(&r->list->arena, w->text, w->length);
    char *colon = strchr(text, ':');
    out->kind = text;
    out->scope = "*";
    if (colon == NULL && strcmp(text, "*") == 0)
        return true;
    if (colon == NULL && strcmp(text, "all") == 0) {
        out->scope = "";
        return true;
    }
    if (colon == NULL || colon[1] == '\0')
        return problem(r, w->column, "scope: expected *, all or KIND:NAME such as team:research", text,
                       diag_nearest(text, kinds, ARRAY_LEN(kinds)));
    *colon = '\0';
    out->scope = colon + 1;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(text, kinds[i]) == 0)
            return true;
    return problem(r, w->column, "scope: expected team, queue, service, node_pool, flavor, class or priority",
                   text, diag_nearest(text, kinds, ARRAY_LEN(kinds)));
}

static double unit_factor(const char *unit)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (strcmp(unit, units[i].unit) == 0)
            return units[i].seconds;
    return (double)NAN;
}

/* "*": the unit must fit whatever the star stands for, so durations are for named times only. */
static bool is_duration(const char *metric)
{
    const struct metric_def *def = tolerance_metric(metric);
    return def != NULL && def->format == METRIC_DURATION;
}

static bool read_limit(struct reader *r, const struct word *w, struct tolerance_line *out)
{
    static const char expected[] = "tolerance: expected a percentage (5%), an absolute change (0.01), or ignore";
    char *text = arena_strndup(&r->list->arena, w->text, w->length), *end = text;
    if (strcmp(text, "ignore") == 0) {
        out->limit.ignore = true;
        return true;
    }
    bool digit = isdigit((unsigned char)text[0]) || (text[0] == '.' && isdigit((unsigned char)text[1]));
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    double value = digit && !hex ? strtod(text, &end) : -1;
    if (end == text || !isfinite(value) || value > 1e15)
        return problem(r, w->column, expected, text, NULL);
    if (strcmp(end, "%") == 0) {
        if (value / 100 > out->limit.relative)
            out->limit.relative = value / 100;
        return true;
    }
    double factor = *end == '\0' ? 1 : unit_factor(end);
    if (isnan(factor))
        return problem(r, w->column + (long)(end - text), expected, text, NULL);
    if (*end != '\0' && !is_duration(out->metric))
        return problem(r, w->column, "tolerance: expected no unit of time, for the metric is not a time", text,
                       NULL);
    if (value * factor > out->limit.absolute)
        out->limit.absolute = value * factor;
    return true;
}

static void read_line(struct reader *r)
{
    struct word words[WORDS_MAX];
    struct tolerance_line out = {.line = r->number};
    size_t n = split(r->line, words);
    if (n == 0)
        return;
    if (n < 3 || n > WORDS_MAX) {
        char found[32];
        (void)snprintf(found, sizeof found, "%zu words", n);
        (void)problem(r, words[0].column, "expected metric, scope and one or two tolerances", found, NULL);
        return;
    }
    bool ok = read_metric(r, &words[0], &out);
    ok = read_scope(r, &words[1], &out) && ok;
    for (size_t i = 2; ok && i < n; i++)
        ok = read_limit(r, &words[i], &out);
    if (!ok)
        return;
    struct tolerance_list *list = r->list;
    list->lines = mem_grow(list->lines, &list->capacity, list->count + 1, sizeof *list->lines);
    list->lines[list->count++] = out;
}

/* Bytes that no name has: a binary file is not read line by line. */
static bool is_text(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

bool tolerance_read_text(struct tolerance_list *list, const char *name, const char *text, size_t length,
                         struct diag_list *diags)
{
    struct reader r = {.list = list, .diags = diags, .name = name};
    size_t errors = diags->error_count;
    if (length > TOLERANCE_BYTES_MAX || !is_text(text, length)) {
        diag_add(diags, DIAG_ERROR, name, 0, 0, NULL,
                 length > TOLERANCE_BYTES_MAX ? "tolerance file of more than 1 MiB" : "not a text file");
        return false;
    }
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t n = newline == NULL ? length - at : (size_t)(newline - text) - at;
        if (++r.number > TOLERANCE_LINES_MAX) {
            diag_add(diags, DIAG_ERROR, name, r.number, 0, NULL, "more than %d lines", TOLERANCE_LINES_MAX);
            break;
        }
        r.line = arena_strndup(&list->arena, text + at, n > 0 && text[at + n - 1] == '\r' ? n - 1 : n);
        read_line(&r);
        at += n + 1;
    }
    return diags->error_count == errors;
}

bool tolerance_read_file(struct tolerance_list *list, const char *path, struct diag_list *diags)
{
    FILE *f = fopen(path, "rb");
    char *text = f == NULL ? NULL : mem_alloc(TOLERANCE_BYTES_MAX + 2, 1);
    size_t n = f == NULL ? 0 : fread(text, 1, TOLERANCE_BYTES_MAX + 1, f);
    bool ok = f != NULL && !ferror(f);
    if (!ok)
        diag_add(diags, DIAG_ERROR, path, 0, 0, NULL, "cannot read the tolerance file: %s", strerror(errno));
    else
        ok = tolerance_read_text(list, path, text, n, diags);
    if (f != NULL)
        (void)fclose(f);
    free(text);
    return ok;
}

void tolerance_fini(struct tolerance_list *list)
{
    free(list->lines);
    arena_fini(&list->arena);
    *list = (struct tolerance_list){0};
}

/* ---- asking ---- */

static bool scope_fits(const struct tolerance_line *l, const char *kind, const char *scope)
{
    if (strcmp(l->kind, "*") == 0)
        return true;
    return strcmp(l->kind, kind) == 0 && (strcmp(l->scope, "*") == 0 || strcmp(l->scope, scope) == 0);
}

const struct tolerance_line *tolerance_find(const struct tolerance_list *list, const char *metric,
                                            const char *kind, const char *scope)
{
    for (size_t i = list->count; i-- > 0;)
        if (name_fits(list->lines[i].metric, metric) && scope_fits(&list->lines[i], kind, scope))
            return &list->lines[i];
    return NULL;
}

static double least_change(const struct metric_def *def)
{
    switch (def->format) {
    case METRIC_PERCENT:
        return 0;
    case METRIC_DURATION:
        return strstr(def->name, ".wait") != NULL ? 1.0 : 1e-3;
    case METRIC_COUNT:
        return 0.5;
    case METRIC_AMOUNT:
    case METRIC_MONEY:
        return 0.01;
    }
    return 0;
}

struct tolerance_limit tolerance_of(const struct tolerance_list *list, const struct metric_def *def,
                                    const char *kind, const char *scope)
{
    const struct tolerance_line *l = tolerance_find(list, def->name, kind, scope);
    if (l != NULL)
        return l->limit;
    if (strcmp(def->unit, "fraction") == 0)
        return (struct tolerance_limit){.absolute = def->tolerance};
    return (struct tolerance_limit){.relative = def->tolerance, .absolute = least_change(def)};
}
