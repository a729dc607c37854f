/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table by team, service or node pool: one block per arbiter, rows sorted by what changed for
 * the worse against the first arbiter. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table_priv.h"

struct by_column {
    const char *metric, *head;
    size_t width;
};

#define BY_COLUMNS_MAX 9

/* Name and change take the columns that are left of 80. */
struct by_table {
    const char *kind, *loss; /* metric whose change sorts the rows */
    const char *loss_words;
    struct by_column columns[BY_COLUMNS_MAX + 1];
};

static const struct by_table tables[] = {
    {"team",
     "training.wait.p95",
     "wait p95",
     {{"quota.nominal", "quota", 6},
      {"quota.used", "used", 6},
      {"quota.lent", "lent", 5},
      {"quota.borrowed", "borr", 5},
      {"training.wait.p50", "p50", 8},
      {"training.wait.p95", "p95", 8},
      {"training.evictions", "evict", 6},
      {"training.rework", "rework", 7},
      {"cost.total", "usd", 6},
      {NULL, NULL, 0}}},
    {"service",
     "inference.latency.p99",
     "p99",
     {{"inference.latency.p50", "p50", 8},
      {"inference.latency.p99", "p99", 8},
      {"inference.slo_attainment", "SLO %", 7},
      {"inference.cold_starts", "cold", 6},
      {"replicas.mean", "replicas", 9},
      {"inference.rejected", "rejected", 9},
      {NULL, NULL, 0}}},
    {"node_pool",
     "utilization.real",
     "real, points",
     {{"utilization.allocated", "alloc %", 8},
      {"utilization.real", "real %", 8},
      {"utilization.useful", "useful %", 9},
      {"utilization.work", "work %", 8},
      {"idle.no_demand", "no dem %", 9},
      {"idle.quota", "quota %", 8},
      {"idle.fragmented", "frag %", 7},
      {NULL, NULL, 0}}},
    {"flavor",
     "utilization.real",
     "real, points",
     {{"utilization.allocated", "alloc %", 8},
      {"utilization.real", "real %", 8},
      {"utilization.useful", "useful %", 9},
      {"utilization.work", "work %", 8},
      {NULL, NULL, 0}}},
};

#define CHANGE_WIDTH 9

struct by_row {
    size_t scope;
    double loss; /* change for the worse, > 0; NaN when there is none to compare */
};

static const struct by_table *table_of(const char *kind)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (strcmp(tables[i].kind, kind) == 0)
            return &tables[i];
    return &tables[0];
}

static int by_loss(const void *left, const void *right)
{
    const struct by_row *a = left, *b = right;
    if (isnan(a->loss) != isnan(b->loss))
        return isnan(a->loss) ? 1 : -1;
    if (!isnan(a->loss) && (a->loss < b->loss || a->loss > b->loss))
        return a->loss < b->loss ? 1 : -1;
    return a->scope < b->scope ? -1 : a->scope > b->scope;
}

/* Against the first arbiter; the first one itself is sorted by its own value. */
static double loss_of(const struct summary_data *data,
                      const struct by_table *table,
                      size_t scope,
                      size_t arbiter)
{
    double sign = metric_defs_find(table->loss)->better > 0 ? -1 : 1;
    double value = summary_figure(data, scope, arbiter, table->loss).value;
    if (arbiter == 0)
        return sign * value;
    double first = summary_figure(data, scope, 0, table->loss).value;
    return isinf(value) && isinf(first) ? 0 : sign * (value - first);
}

static void print_header(FILE *out, const struct by_table *table, bool with_change, size_t name)
{
    table_left(out, table->kind, name);
    for (const struct by_column *c = table->columns; c->metric != NULL; c++)
        table_right(out, c->head, c->width);
    if (with_change)
        table_right(out, "change", CHANGE_WIDTH);
    putc('\n', out);
}

/* A difference of bounds is a bound in turn, or tells nothing of its direction. */
static void print_change(FILE *out,
                         const struct summary_data *data,
                         const struct by_table *table,
                         const struct by_row *row,
                         size_t arbiter)
{
    char change[FIGURE_SIZE], text[FIGURE_SIZE + 4];
    const struct metric_def *def = metric_defs_find(table->loss);
    bool here = summary_figure(data, row->scope, arbiter, table->loss).censored;
    bool first = summary_figure(data, row->scope, 0, table->loss).censored;
    figure_print_change(change, def->format, def->better > 0 ? -row->loss : row->loss);
    snprintf(text, sizeof text, "%s%s",
             isnan(row->loss) ? "" : here && first ? "~" : here ? "≥" : first ? "≤" : "", change);
    table_right(out, text, CHANGE_WIDTH);
}

static void print_scope(FILE *out,
                        const struct summary_data *data,
                        const struct by_table *table,
                        const struct by_row *row,
                        size_t arbiter,
                        size_t name)
{
    char text[FIGURE_SIZE];
    table_left(out, data->scopes[row->scope].name, name);
    for (const struct by_column *c = table->columns; c->metric != NULL; c++) {
        struct figure f = summary_figure(data, row->scope, arbiter, c->metric);
        f.half = (double)NAN;
        figure_print_interval(text, metric_defs_find(c->metric)->format, &f, c->width, NULL);
        table_right(out, text, c->width);
    }
    if (arbiter > 0)
        print_change(out, data, table, row, arbiter);
    putc('\n', out);
}

static void print_arbiter(FILE *out,
                          const struct summary_data *data,
                          const struct by_table *table,
                          size_t arbiter)
{
    struct by_row *rows = mem_alloc(data->scope_count + 1, sizeof *rows);
    size_t name = TABLE_WIDTH - CHANGE_WIDTH;
    for (const struct by_column *c = table->columns; c->metric != NULL; c++)
        name -= c->width;
    name = name < 24 ? name : 24;
    for (size_t s = 0; s < data->scope_count; s++)
        rows[s] = (struct by_row){s, loss_of(data, table, s, arbiter)};
    qsort(rows, data->scope_count, sizeof *rows, by_loss);
    if (arbiter == 0)
        fprintf(out, "%s%s\n", data->arbiters[arbiter].name,
                strcmp(data->kind, "team") == 0 ? " (p50, p95: wait of training jobs)" : "");
    else
        fprintf(out, "\n%s (change of %s against %s, worst first)\n", data->arbiters[arbiter].name,
                table->loss_words, data->arbiters[0].name);
    print_header(out, table, arbiter > 0, name);
    for (size_t i = 0; i < data->scope_count; i++)
        print_scope(out, data, table, &rows[i], arbiter, name);
    free(rows);
}

void table_by_print(FILE *out, const struct summary_data *data)
{
    const struct by_table *table = table_of(data->kind);
    for (size_t a = 0; a < data->arbiter_count; a++)
        print_arbiter(out, data, table, a);
}
