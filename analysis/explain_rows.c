/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/explain_priv.h"
#include "analysis/table_priv.h"
#include "analysis/wrap.h"
#include "sim/text.h"
#include "sim/text.h"

enum { TIME = 13, KIND = 12 };

static struct explain_row *row_add(struct explain_rows *rows)
{
    rows->items = mem_grow(rows->items, &rows->capacity, rows->count + 1, sizeof *rows->items);
    return &rows->items[rows->count++];
}

static struct explain_row row_of(struct arena *a, sqlite3_stmt *q)
{
    return (struct explain_row){.t_ns = sqlite3_column_int64(q, 0),
                                .seq = sqlite3_column_int64(q, 1),
                                .workload = arena_strdup(a, results_text(q, 2)),
                                .queue = arena_strdup(a, results_text(q, 3)),
                                .kind = arena_strdup(a, results_text(q, 4)),
                                .reason = arena_strdup(a, results_text(q, 5)),
                                .detail = arena_strdup(a, results_text(q, 6)),
                                .repeats = sqlite3_column_int64(q, 7)};
}

void explain_rows_add(struct explain_rows *rows, struct explain_row row)
{
    *row_add(rows) = row;
}

void explain_rows_read(struct explain_rows *rows, struct results *results, sqlite3_stmt *query, struct err *err)
{
    while (results_next(results, query, err))
        *row_add(rows) = row_of(&rows->arena, query);
    sqlite3_finalize(query);
}

void explain_rows_fini(struct explain_rows *rows)
{
    free(rows->items);
    arena_fini(&rows->arena);
    *rows = (struct explain_rows){0};
}

/* ---- one workload ---- */

struct group_query {
    struct results *results;
    struct err *err;
    int64_t run;
    const char *queue, *group;
};

/* The last that any workload of the group was told before `seq`; false: never. */
static bool group_row(struct explain_rows *rows, const struct group_query *g, int64_t seq, struct explain_row *out)
{
    sqlite3_stmt *q = results_query(
        g->results, g->err,
        "SELECT " EXPLAIN_COLUMNS " FROM decision d WHERE run = %lld AND seq < %lld AND queue = %Q"
        " AND kind IN ('waiting', 'skipped', 'preempting') AND %Q = (SELECT reason FROM decision s"
        " WHERE s.run = d.run AND s.workload = d.workload AND s.kind = 'submitted' LIMIT 1)"
        " ORDER BY seq DESC LIMIT 1", (long long)g->run, (long long)seq, g->queue, g->group);
    bool found = results_next(g->results, q, g->err);
    if (found)
        *out = row_of(&rows->arena, q);
    sqlite3_finalize(q);
    return found;
}

/* A wait from `from` to row `until` in which the workload itself was told nothing. */
static void fill_wait(struct explain_rows *into, const struct group_query *g, const struct explain_row *from,
                      int64_t until_seq)
{
    struct explain_row r;
    if (!group_row(into, g, until_seq, &r)) {
        r = *from;
        r.kind = "waiting";
        r.reason = "QueueOrder";
        r.detail = "";
        r.repeats = 0;
    } else {
        r.of_group = strcmp(r.workload, from->workload) != 0;
    }
    *row_add(into) = r;
}

static bool begins_wait(const struct explain_row *r)
{
    return strcmp(r->kind, "submitted") == 0 || strcmp(r->kind, "evicted") == 0 ||
           (strcmp(r->kind, "released") == 0 && r->reason != NULL && strcmp(r->reason, "Requeued") == 0);
}

static bool ends_wait(const struct explain_row *r)
{
    return strcmp(r->kind, "admitted") == 0 || strcmp(r->kind, "stopped") == 0 || strcmp(r->kind, "finished") == 0 ||
           strcmp(r->kind, "failed") == 0;
}

/* Copies own rows; before the end of a wait without a word goes what the group was told. */
static void merge(struct explain_rows *into, const struct explain_rows *own, struct group_query *g)
{
    const struct explain_row *waits = NULL;
    for (size_t i = 0; i < own->count; i++) {
        const struct explain_row *r = &own->items[i];
        if (strcmp(r->kind, "submitted") == 0) {
            g->queue = r->queue;
            g->group = r->reason;
        }
        if (waits != NULL && explain_is_waiting(r->kind))
            waits = NULL;
        if (waits != NULL && ends_wait(r) && r->t_ns > waits->t_ns && g->group != NULL)
            fill_wait(into, g, waits, r->seq);
        if (ends_wait(r))
            waits = NULL;
        if (begins_wait(r))
            waits = r;
        *row_add(into) = *r;
    }
    if (waits != NULL && g->group != NULL && strcmp(waits->kind, "evicted") != 0)
        fill_wait(into, g, waits, INT64_MAX);
}

void explain_rows_workload(struct explain_rows *rows, struct results *results, int64_t run, const char *name,
                           struct err *err)
{
    struct explain_rows own = {0};
    struct group_query g = {.results = results, .err = err, .run = run};
    explain_rows_read(&own, results,
                      results_query(results, err, "SELECT " EXPLAIN_COLUMNS " FROM decision WHERE run = %lld AND"
                                                  " workload = %Q ORDER BY seq", (long long)run, name),
                      err);
    merge(rows, &own, &g);
    /* the texts of `own` live on with the rows */
    for (size_t i = 0; i < rows->count; i++) {
        struct explain_row *r = &rows->items[i];
        const char **texts[] = {&r->workload, &r->queue, &r->kind, &r->reason, &r->detail};
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            *texts[k] = arena_strdup(&rows->arena, *texts[k]);
    }
    explain_rows_fini(&own);
}

/* ---- printing ---- */

static void line(FILE *out, const char *text, const char *more)
{
    char buffer[1200];
    (void)snprintf(buffer, sizeof buffer, "%s%s", text, more);
    fprintf(out, "  %*s", TIME + KIND, "");
    wrap_print(out, buffer, TABLE_WIDTH, 2 + TIME + KIND, 4 + TIME + KIND);
}

static void row_text(FILE *out, const struct explain_row *r, bool names)
{
    char when[FIGURE_SIZE], head[1600] = "";
    struct text t = TEXT(head);
    bool submitted = strcmp(r->kind, "submitted") == 0;
    regress_time_text(when, (double)r->t_ns / 1e9);
    fputs("  ", out);
    table_left(out, when, TIME);
    table_left(out, r->kind, KIND);
    text_say(&t, "%s", submitted ? "" : r->reason);
    if (names)
        text_say(&t, "%s%s (queue %s)", t.length > 0 ? ", " : "", r->workload, r->queue);
    if (r->of_group)
        text_say(&t, ", said to %s of its group", r->workload);
    if (r->repeats > 0)
        text_say(&t, ", repeated %lld time%s", (long long)r->repeats, r->repeats == 1 ? "" : "s");
    if (t.length > 0)
        wrap_print(out, head, TABLE_WIDTH, 2 + TIME + KIND, 4 + TIME + KIND);
    if (t.length > 0 && r->detail[0] != '\0')
        line(out, r->detail, "");
    else if (t.length == 0)
        wrap_print(out, r->detail, TABLE_WIDTH, 2 + TIME + KIND, 4 + TIME + KIND);
    explain_tries_text(out, r, 2 + TIME + KIND);
    if (names)
        return;
    const char *means = explain_means(r->kind, r->reason), *wakes = explain_wakes(r->kind, r->reason);
    if (means[0] != '\0')
        line(out, "= ", means);
    if (wakes[0] != '\0')
    {
        char text[700], lacks[400];
        explain_tries_missing(r, lacks, sizeof lacks);
        (void)snprintf(text, sizeof text, "%s%s", wakes, explain_is_waiting(r->kind) ? lacks : "");
        line(out, "wakes when: ", text);
    }
}

void explain_rows_text(FILE *out, const struct explain_rows *rows, bool names)
{
    for (size_t i = 0; i < rows->count; i++)
        row_text(out, &rows->items[i], names);
}

static void field(FILE *out, const char *key, const char *text)
{
    fprintf(out, ", \"%s\": ", key);
    rows_out_text(out, ROWS_JSON, text != NULL && text[0] == '\0' ? NULL : text);
}

/* Who is named behind the word in a detail: "evicts NAME (queue q, priority 0)", "for NAME (queue ...". */
static void partner(FILE *out, const char *key, const char *detail, const char *word)
{
    const char *at = strstr(detail, word);
    const char *name = at == NULL ? NULL : at + strlen(word), *end = name == NULL ? NULL : strstr(name, " (queue ");
    char text[400];
    if (end == NULL || (at != detail && at[-1] != ' '))
        return;
    (void)snprintf(text, sizeof text, "%.*s", end - name > 390 ? 390 : (int)(end - name), name);
    field(out, key, text);
}

void explain_row_json(FILE *out, const struct explain_row *r)
{
    fprintf(out, "{\"t_ns\": %lld, \"seq\": %lld", (long long)r->t_ns, (long long)r->seq);
    field(out, "workload", r->workload);
    field(out, "queue", r->queue);
    field(out, "kind", r->kind);
    field(out, "reason", r->reason);
    field(out, "detail", r->detail);
    if (strcmp(r->kind, "preempts") == 0)
        partner(out, "evicts", r->detail, "evicts ");
    if (strcmp(r->kind, "evicted") == 0)
        partner(out, "for", r->detail, "for ");
    field(out, "means", explain_means(r->kind, r->reason));
    field(out, "wakes", explain_wakes(r->kind, r->reason));
    explain_tries_json(out, r);
    explain_beside_json(out, r);
    fprintf(out, ", \"repeats\": %lld, \"of_group\": %s}", (long long)r->repeats, r->of_group ? "true" : "false");
}

void explain_rows_json(FILE *out, const struct explain_rows *rows)
{
    fputs("\"decisions\": [", out);
    for (size_t i = 0; i < rows->count; i++) {
        fputs(i == 0 ? "\n    " : ",\n    ", out);
        explain_row_json(out, &rows->items[i]);
    }
    fputs("]", out);
}
