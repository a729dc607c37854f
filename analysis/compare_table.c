/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/table_priv.h"

#define MARK 2 /* columns of " ✓" */

static const char *const marks[] = {"", " =", " ✓", " ✗", " ≠"};
static const char *const words[] = {"unknown", "same", "better", "worse", "differs"};

struct columns {
    size_t first, end, width;
};

static bool applies(const struct compare *c, size_t metric)
{
    for (size_t p = 0; p < c->pair_count; p++)
        if (!isnan(c->cells[p * c->metric_count + metric].difference.mean))
            return true;
    return false;
}

static void print_row(FILE *out,
                      const struct compare *c,
                      const struct columns *columns,
                      const struct metric_def *def,
                      size_t metric)
{
    size_t carried = 0;
    putc(' ', out);
    table_left(out, def->label, TABLE_LABEL - 1);
    for (size_t p = columns->first; p < columns->end; p++) {
        const struct compare_cell *cell = &c->cells[p * c->metric_count + metric];
        struct figure f = {.value = cell->difference.mean,
                           .half = cell->difference.high - cell->difference.mean,
                           .censored = cell->censored,
                           .change = true};
        const char *mark = isnan(f.value) ? "" : marks[cell->verdict];
        carried = table_interval(out, def->format, &f, columns->width - MARK, carried);
        carried += MARK - figure_columns(mark);
        if (mark[0] != '\0') {
            fprintf(out, "%*s%s", (int)carried, "", mark);
            carried = 0;
        }
    }
    putc('\n', out);
}

static void print_block(FILE *out, const struct compare *c, const struct columns *columns)
{
    size_t count;
    const struct metric_def *defs = metric_defs_all(&count);
    const char *group = NULL;
    table_left(out, "", TABLE_LABEL);
    for (size_t p = columns->first; p < columns->end; p++)
        table_right(out, c->names_b[p], columns->width);
    putc('\n', out);
    for (size_t m = 0; m < count; m++) {
        if (defs[m].group == NULL || !applies(c, m))
            continue;
        if (group == NULL || strcmp(group, defs[m].group) != 0)
            fprintf(out, "%s\n", defs[m].group);
        group = defs[m].group;
        print_row(out, c, columns, &defs[m], m);
    }
}

static void print_table(FILE *out, const struct compare *c, const char *path_a, const char *path_b)
{
    size_t room = TABLE_WIDTH - TABLE_LABEL;
    size_t per_block = c->pair_count < 3 ? c->pair_count : 3;
    if (path_b == NULL)
        fprintf(out, "%s: difference to %s", path_a, c->names_a[0]);
    else
        fprintf(out, "%s minus %s", path_b, path_a);
    fprintf(out, "; ± half of paired %.*f %% interval; shares in points\n\n",
            c->pair_count > 1 ? 1 : 0, c->level * 100);
    for (size_t first = 0; first < c->pair_count; first += per_block) {
        size_t end = first + per_block < c->pair_count ? first + per_block : c->pair_count;
        if (first > 0)
            putc('\n', out);
        print_block(out, c, &(struct columns){first, end, room / per_block < 18 ? room / per_block : 18});
    }
    fputs("\n✓ better  ✗ worse  = no difference shown  ≠ differs  ~ of a lower bound\n", out);
    if (c->demand_differs)
        fputs("the demand differs: these differences are not those of the policies alone\n", out);
}

static void print_cell(FILE *out, enum rows_format format, const struct compare *c, size_t p,
                       size_t m, const struct metric_def *def)
{
    static const char *const names[] = {"arbiter", "against", "metric", "unit",  "mean_a",
                                        "mean_b",  "difference", "low", "high", "level",
                                        "pairs",   "verdict"};
    const struct compare_cell *cell = &c->cells[p * c->metric_count + m];
    const char *texts[] = {c->names_b[p], c->names_a[p], def->name, def->unit};
    double reals[] = {cell->mean_a,         cell->mean_b,          cell->difference.mean,
                      cell->difference.low, cell->difference.high, c->level,
                      (double)cell->difference.count};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (format == ROWS_JSON)
            fprintf(out, "%s\"%s\": ", i == 0 ? "  {" : ", ", names[i]);
        else if (i > 0)
            putc(',', out);
        if (i < 4 || i == 11)
            rows_out_text(out, format, i == 11 ? words[cell->verdict] : texts[i]);
        else
            rows_out_real(out, format, reals[i - 4]);
    }
    fputs(format == ROWS_JSON ? "}" : "\n", out);
}

static void print_rows(FILE *out, enum rows_format format, const struct compare *c)
{
    size_t count;
    const struct metric_def *defs = metric_defs_all(&count);
    bool first = true;
    fputs(format == ROWS_JSON ? "[\n"
                              : "arbiter,against,metric,unit,mean_a,mean_b,difference,low,high,level,"
                                "pairs,verdict\n",
          out);
    for (size_t p = 0; p < c->pair_count; p++)
        for (size_t m = 0; m < count; m++) {
            if (defs[m].group == NULL || !applies(c, m))
                continue;
            fputs(format == ROWS_JSON && !first ? ",\n" : "", out);
            print_cell(out, format, c, p, m, &defs[m]);
            first = false;
        }
    fputs(format == ROWS_JSON ? "\n]\n" : "", out);
}

int compare_print(FILE *out,
                  const char *path_a,
                  const char *path_b,
                  const struct compare_options *options,
                  struct err *err)
{
    struct results a = {0}, b = {0};
    struct compare compare = {0};
    bool ok = results_open(&a, path_a, err) && (path_b == NULL || results_open(&b, path_b, err)) &&
              compare_read(&compare, &a, path_b == NULL ? NULL : &b, options->force, err);
    if (ok && options->format == ROWS_TABLE)
        print_table(out, &compare, path_a, path_b);
    else if (ok)
        print_rows(out, options->format, &compare);
    compare_fini(&compare);
    results_close(&a);
    results_close(&b);
    if (ok)
        rows_out_done(out, err);
    return err_exit_status(err);
}
