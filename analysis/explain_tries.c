/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Per decision: each flavor that was tried, with its numbers (table `nomination`). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/explain_priv.h"
#include "analysis/table_priv.h"
#include "analysis/wrap.h"
#include "sim/arena.h"
#include "sim/text.h"

static void read_row(struct explain_rows *rows, struct explain_row *r, struct results *results, int64_t run,
                     struct err *err)
{
    struct explain_try *list = NULL;
    size_t capacity = 0;
    sqlite3_stmt *q = results_query(results, err,
                                    "SELECT flavor, resource, grade, asks, available, nominal, used, borrowing_limit,"
                                    " lending_limit, most, level FROM nomination WHERE run = %lld AND seq = %lld"
                                    " ORDER BY n", (long long)run, (long long)r->seq);
    while (results_next(results, q, err)) {
        list = mem_grow(list, &capacity, r->try_count + 1, sizeof *list);
        list[r->try_count++] = (struct explain_try){.flavor = arena_strdup(&rows->arena, results_text(q, 0)),
                                                    .resource = arena_strdup(&rows->arena, results_text(q, 1)),
                                                    .grade = arena_strdup(&rows->arena, results_text(q, 2)),
                                                    .asks = results_real(q, 3),
                                                    .available = results_real(q, 4),
                                                    .nominal = results_real(q, 5),
                                                    .used = results_real(q, 6),
                                                    .borrowing_limit = results_real(q, 7),
                                                    .lending_limit = results_real(q, 8),
                                                    .most = results_real(q, 9),
                                                    .level = sqlite3_column_int64(q, 10)};
    }
    sqlite3_finalize(q);
    if (list != NULL) {
        struct explain_try *kept = arena_alloc(&rows->arena, r->try_count, sizeof *kept);
        memcpy(kept, list, r->try_count * sizeof *kept);
        r->tries = kept;
    }
    free(list);
}

void explain_tries_read(struct explain_rows *rows, struct results *results, int64_t run, struct err *err)
{
    if (err->code != ERR_NONE || !explain_has_table(results, "nomination", err))
        return;
    for (size_t i = 0; i < rows->count && err->code == ERR_NONE; i++)
        read_row(rows, &rows->items[i], results, run, err);
}

/* ---- text ---- */

static void amount(struct text *t, double v)
{
    if (isnan(v))
        text_say(t, "unlimited");
    else
        text_say(t, "%.10g", v);
}

static void one(struct text *t, const struct explain_try *r)
{
    text_say(t, "%s %s: %s, asks ", r->flavor, r->resource, r->grade);
    amount(t, r->asks);
    text_say(t, ", available ");
    amount(t, r->available);
    text_say(t, " of ");
    amount(t, r->nominal);
    if (!isnan(r->available) && !isnan(r->nominal) && !isnan(r->used)) {
        const double rest = r->available - (r->nominal - r->used);
        text_say(t, ": nominal %.10g − used %.10g %s %.10g", r->nominal, r->used, rest < 0 ? "− lent" : "+ borrowable",
            fabs(rest));
    }
    if (!isnan(r->borrowing_limit))
        text_say(t, "; borrowingLimit %.10g", r->borrowing_limit);
    if (!isnan(r->lending_limit))
        text_say(t, "; lendingLimit %.10g", r->lending_limit);
    if (!isnan(r->most) && (isnan(r->asks) || r->asks > r->most))
        text_say(t, "; never more than %.10g", r->most);
    if (r->level > 0)
        text_say(t, "; borrows at level %lld", (long long)r->level);
}

void explain_tries_text(FILE *out, const struct explain_row *r, unsigned indent)
{
    for (size_t i = 0; i < r->try_count; i++) {
        char t_text[500] = "";
        struct text t = TEXT(t_text);
        one(&t, &r->tries[i]);
        fprintf(out, "%*s", (int)indent, "");
        wrap_print(out, t.v, TABLE_WIDTH, indent, indent + 2);
    }
}

void explain_tries_missing(const struct explain_row *r, char *text, size_t size)
{
    char t_text[500] = "";
    struct text t = TEXT(t_text);
    text[0] = '\0';
    for (size_t i = 0; i < r->try_count; i++) {
        const struct explain_try *v = &r->tries[i];
        if (isnan(v->asks) || isnan(v->available) || v->asks <= v->available || (!isnan(v->most) && v->asks > v->most))
            continue;
        text_say(&t, "%s%.10g %s on %s", t.length == 0 ? "; it lacks " : i > 0 && strcmp(v->flavor, r->tries[i - 1].flavor) == 0
                                                                       ? " and " : ", or ",
            v->asks - v->available, v->resource, v->flavor);
    }
    (void)snprintf(text, size, "%s", t.length == 0 ? "" : t.v);
}

/* ---- JSON ---- */

static void number(FILE *out, const char *key, double v)
{
    fprintf(out, ", \"%s\": ", key);
    rows_out_real(out, ROWS_JSON, v);
}

void explain_tries_json(FILE *out, const struct explain_row *r)
{
    fputs(", \"flavors\": [", out);
    for (size_t i = 0; i < r->try_count; i++) {
        const struct explain_try *v = &r->tries[i];
        fputs(i == 0 ? "{\"flavor\": " : ", {\"flavor\": ", out);
        rows_out_text(out, ROWS_JSON, v->flavor);
        fputs(", \"resource\": ", out);
        rows_out_text(out, ROWS_JSON, v->resource);
        fputs(", \"grade\": ", out);
        rows_out_text(out, ROWS_JSON, v->grade);
        number(out, "asks", v->asks);
        number(out, "available", v->available);
        number(out, "nominal", v->nominal);
        number(out, "used", v->used);
        number(out, "borrowable", v->available - (v->nominal - v->used));
        number(out, "borrowing_limit", v->borrowing_limit);
        number(out, "lending_limit", v->lending_limit);
        number(out, "most", v->most);
        fprintf(out, ", \"level\": %lld}", (long long)v->level);
    }
    fputs("]", out);
}
