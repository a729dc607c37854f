/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/summary_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void read_arbiters(struct summary_data *data, struct results *results, struct err *err)
{
    size_t count = 0;
    sqlite3_stmt *q = results_query(results, err, "SELECT count(DISTINCT arbiter) FROM run");
    if (results_next(results, q, err))
        count = (size_t)sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    data->arbiters = arena_alloc(&data->arena, count + 1, sizeof *data->arbiters);
    /* SQLite takes the bare columns from the row of the minimum */
    q = results_query(results, err,
                      "SELECT arbiter, preset, count(*), run, min(replication), horizon_s, name"
                      " FROM run JOIN scenario USING (scenario_hash)"
                      " GROUP BY arbiter ORDER BY arbiter_ix");
    while (results_next(results, q, err) && data->arbiter_count < count) {
        data->arbiters[data->arbiter_count++] =
            (struct summary_arbiter){.name = arena_strdup(&data->arena, results_text(q, 0)),
                                     .preset = arena_strdup(&data->arena, results_text(q, 1)),
                                     .replications = sqlite3_column_int64(q, 2),
                                     .first_run = sqlite3_column_int64(q, 3)};
        data->horizon_s = results_real(q, 5);
        data->scenario = arena_strdup(&data->arena, results_text(q, 6));
    }
    sqlite3_finalize(q);
    if (err->code == ERR_NONE && data->arbiter_count == 0)
        err_set(err, ERR_INPUT, "'%s' holds no finished run", results->path);
}

static size_t metric_index(const char *name)
{
    size_t count;
    const struct metric_def *defs = metric_defs_all(&count);
    const struct metric_def *d = metric_defs_find(name);
    return d == NULL ? SIZE_MAX : (size_t)(d - defs);
}

static size_t arbiter_index(const struct summary_data *data, const char *name)
{
    for (size_t i = 0; i < data->arbiter_count; i++)
        if (strcmp(data->arbiters[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

/* Scopes come sorted by name from the query below. */
static void read_scopes(struct summary_data *data, struct results *results, struct err *err)
{
    size_t capacity = 0, cells = data->arbiter_count * data->metric_count;
    struct summary_scope *scopes = NULL;
    sqlite3_stmt *q = results_query(
        results, err, "SELECT DISTINCT scope FROM metric WHERE scope_kind = %Q ORDER BY scope",
        data->kind);
    while (results_next(results, q, err)) {
        scopes = mem_grow(scopes, &capacity, data->scope_count + 1, sizeof *scopes);
        struct summary_scope *s = &scopes[data->scope_count++];
        s->name = arena_strdup(&data->arena, results_text(q, 0));
        s->figures = arena_alloc(&data->arena, cells, sizeof *s->figures);
        for (size_t i = 0; i < cells; i++)
            s->figures[i] = (struct figure){.value = (double)NAN, .half = (double)NAN};
    }
    sqlite3_finalize(q);
    data->scopes = arena_alloc(&data->arena, data->scope_count + 1, sizeof *scopes);
    if (scopes != NULL)
        memcpy(data->scopes, scopes, data->scope_count * sizeof *scopes);
    free(scopes);
}

static size_t scope_index(const struct summary_data *data, const char *name)
{
    size_t low = 0, high = data->scope_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(data->scopes[mid].name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < data->scope_count && strcmp(data->scopes[low].name, name) == 0 ? low : SIZE_MAX;
}

static void read_figures(struct summary_data *data, struct results *results, struct err *err)
{
    bool all = strcmp(data->kind, "all") == 0;
    sqlite3_stmt *q =
        all ? results_query(results, err,
                            "SELECT arbiter, '', metric, mean, high95 - mean, censored"
                            " FROM summary")
            : results_query(results, err,
                            "SELECT arbiter, scope, metric, mean, high95 - mean, censored"
                            " FROM summary_by WHERE scope_kind = %Q",
                            data->kind);
    while (results_next(results, q, err)) {
        size_t a = arbiter_index(data, results_text(q, 0));
        size_t s = scope_index(data, results_text(q, 1));
        size_t m = metric_index(results_text(q, 2));
        if (a == SIZE_MAX || s == SIZE_MAX || m == SIZE_MAX)
            continue;
        data->scopes[s].figures[a * data->metric_count + m] =
            (struct figure){.value = results_real(q, 3),
                            .half = results_real(q, 4),
                            .censored = sqlite3_column_int(q, 5) != 0};
    }
    sqlite3_finalize(q);
}

bool summary_data_read(struct summary_data *data,
                       struct results *results,
                       const char *kind,
                       struct err *err)
{
    *data = (struct summary_data){.kind = kind};
    metric_defs_all(&data->metric_count);
    read_arbiters(data, results, err);
    read_scopes(data, results, err);
    read_figures(data, results, err);
    return err->code == ERR_NONE;
}

void summary_data_fini(struct summary_data *data)
{
    arena_fini(&data->arena);
    *data = (struct summary_data){0};
}

struct figure summary_figure(const struct summary_data *data,
                             size_t scope,
                             size_t arbiter,
                             const char *metric)
{
    size_t m = metric_index(metric);
    if (m == SIZE_MAX || scope >= data->scope_count || arbiter >= data->arbiter_count)
        return (struct figure){.value = (double)NAN, .half = (double)NAN};
    return data->scopes[scope].figures[arbiter * data->metric_count + m];
}

bool summary_has(const struct summary_data *data, const char *metric)
{
    for (size_t s = 0; s < data->scope_count; s++)
        for (size_t a = 0; a < data->arbiter_count; a++)
            if (!isnan(summary_figure(data, s, a, metric).value))
                return true;
    return false;
}
