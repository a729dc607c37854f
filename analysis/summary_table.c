/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/summary_table.h"

#include <math.h>
#include <string.h>

#include "analysis/table_priv.h"

struct block {
    size_t first, end; /* arbiters */
    size_t cell;
};

static void print_names(FILE *out, const struct summary_data *data, const struct block *block)
{
    table_left(out, "", TABLE_LABEL);
    for (size_t a = block->first; a < block->end; a++)
        table_right(out, data->arbiters[a].name, block->cell);
    putc('\n', out);
}

static void print_row(FILE *out,
                      const struct summary_data *data,
                      const struct block *block,
                      const struct metric_def *def)
{
    putc(' ', out);
    table_left(out, def->label, TABLE_LABEL - 1);
    for (size_t a = block->first, carried = 0; a < block->end; a++) {
        struct figure f = summary_figure(data, 0, a, def->name);
        carried = table_interval(out, def->format, &f, block->cell, carried);
    }
    putc('\n', out);
}

static void print_block(FILE *out, const struct summary_data *data, const struct block *block)
{
    size_t count;
    const struct metric_def *defs = metric_defs_all(&count);
    const char *group = NULL;
    print_names(out, data, block);
    for (size_t i = 0; i < count; i++) {
        if (defs[i].group == NULL || !summary_has(data, defs[i].name))
            continue;
        if (group == NULL || strcmp(group, defs[i].group) != 0)
            fprintf(out, "%s\n", defs[i].group);
        group = defs[i].group;
        print_row(out, data, block, &defs[i]);
    }
}

static bool any_censored(const struct summary_data *data)
{
    size_t count;
    const struct metric_def *defs = metric_defs_all(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t a = 0; a < data->arbiter_count; a++)
            if (defs[i].group != NULL && summary_figure(data, 0, a, defs[i].name).censored)
                return true;
    return false;
}

static bool any_missing(const struct summary_data *data)
{
    size_t count;
    const struct metric_def *defs = metric_defs_all(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t a = 0; a < data->arbiter_count; a++)
            if (defs[i].group != NULL && summary_has(data, defs[i].name) &&
                isnan(summary_figure(data, 0, a, defs[i].name).value))
                return true;
    return false;
}

static void print_head(FILE *out, const struct summary_data *data)
{
    int64_t replications = data->arbiters[0].replications;
    double days = data->horizon_s / 86400;
    fprintf(out, "%s: %.*f day%s of the same demand, %lld replication%s%s\n\n", data->scenario,
            days < 9.95 && days != floor(days) ? 1 : 0, days, days == 1 ? "" : "s",
            (long long)replications, replications == 1 ? "" : "s",
            replications == 1 ? "" : "; mean ±half of 95 % interval");
}

static void print_all(FILE *out, const struct summary_data *data)
{
    size_t cell, per_block;
    table_layout(data, &cell, &per_block);
    print_head(out, data);
    for (size_t first = 0; first < data->arbiter_count; first += per_block) {
        size_t end = first + per_block;
        if (first > 0)
            putc('\n', out);
        print_block(out, data,
                    &(struct block){first, end < data->arbiter_count ? end : data->arbiter_count,
                                    cell});
    }
    if (any_censored(data))
        fputs("\n≥ at least: some had not started at the end", out);
    if (any_missing(data))
        fprintf(out, "%s– does not apply", any_censored(data) ? "; " : "\n");
    if (any_censored(data) || any_missing(data))
        putc('\n', out);
}

/* Words broken into lines of `width` columns, later ones indented by `indent`. */
static void print_wrapped(FILE *out, const char *text, size_t indent, size_t width)
{
    size_t at = indent;
    while (*text != '\0') {
        char word[128];
        size_t n = strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", n < 120 ? (int)n : 120, text);
        if (at > indent && at + 1 + figure_columns(word) > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        }
        at += (size_t)fprintf(out, "%s", at > indent ? " " : "") + figure_columns(word);
        fputs(word, out);
        text += n + strspn(text + n, " ");
    }
    putc('\n', out);
}

/* Those that touch the largest part of the card time, over all runs. */
static void print_assumptions(FILE *out, struct results *results, struct err *err)
{
    bool first = true;
    sqlite3_stmt *q = results_query(results, err,
                                    "SELECT name || ' [' || value || ']', max(touches) AS t FROM assumption"
                                    " WHERE touches >= 0.01 GROUP BY name, value"
                                    " ORDER BY t DESC, name LIMIT 6");
    while (results_next(results, q, err)) {
        fputs(first ? "\nassumptions that matter most, by the share of card time they touch\n" : "",
              out);
        fprintf(out, " %3.0f %%  ", 100 * results_real(q, 1));
        print_wrapped(out, results_text(q, 0), 8, TABLE_WIDTH);
        first = false;
    }
    sqlite3_finalize(q);
}

bool summary_by_check(const char *by, struct err *err)
{
    static const char *const kinds[] = {"team", "service", "node_pool", "flavor"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(by, kinds[i]) == 0)
            return true;
    return err_set(err, ERR_INPUT, "--by: expected team, service, node_pool or flavor, got '%s'",
                   by);
}

static bool print_table(FILE *out, struct results *results, const char *by, struct err *err)
{
    struct summary_data data;
    bool ok = summary_data_read(&data, results, by == NULL ? "all" : by, err);
    if (ok && data.scope_count == 0)
        ok = err_set(err, ERR_INPUT, "'%s' has no figures by %s", results->path,
                     by == NULL ? "arbiter" : by);
    if (ok && by == NULL) {
        print_all(out, &data);
        print_assumptions(out, results, err);
    } else if (ok) {
        table_by_print(out, &data);
    }
    summary_data_fini(&data);
    return ok && err->code == ERR_NONE;
}

static bool print_rows(FILE *out,
                       struct results *results,
                       const struct summary_options *options,
                       struct err *err)
{
    sqlite3_stmt *q = options->by == NULL
                          ? results_query(results, err, "SELECT * FROM summary")
                          : results_query(results, err,
                                          "SELECT * FROM summary_by WHERE scope_kind = %Q",
                                          options->by);
    bool ok = rows_out_query(out, options->format, results, q, err);
    sqlite3_finalize(q);
    return ok;
}

int summary_print(FILE *out,
                  const char *db_path,
                  const struct summary_options *options,
                  struct err *err)
{
    struct results results;
    if (options->by != NULL && !summary_by_check(options->by, err))
        return err_exit_status(err);
    if (!results_open(&results, db_path, err))
        return err_exit_status(err);
    bool ok = options->format == ROWS_TABLE ? print_table(out, &results, options->by, err)
                                            : print_rows(out, &results, options, err);
    results_close(&results);
    if (ok)
        rows_out_done(out, err);
    return err_exit_status(err);
}
