/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Beside a decision: shares under fair sharing, and whom fill-back spared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/explain_priv.h"
#include "analysis/table_priv.h"
#include "analysis/wrap.h"
#include "sim/arena.h"
#include "sim/text.h"

bool explain_has_table(struct results *results, const char *name, struct err *err)
{
    sqlite3_stmt *q = results_query(results, err, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = %Q", name);
    const bool found = results_next(results, q, err);
    sqlite3_finalize(q);
    return found;
}

bool explain_has_holdings(struct results *results, int64_t run, struct err *err)
{
    if (!explain_has_table(results, "holding", err))
        return false;
    sqlite3_stmt *q = results_query(results, err, "SELECT 1 FROM holding WHERE run = %lld LIMIT 1", (long long)run);
    const bool found = results_next(results, q, err);
    sqlite3_finalize(q);
    return found;
}

/* A list of the reading's arena in the place of one that grew. */
static void *keep(struct arena *arena, void *list, size_t count, size_t size)
{
    void *kept = NULL;
    if (list != NULL) {
        kept = arena_alloc(arena, count, size);
        memcpy(kept, list, count * size);
    }
    free(list);
    return kept;
}

static void read_shares(struct explain_rows *rows, struct explain_row *r, struct results *results, int64_t run,
                        struct err *err)
{
    struct explain_share *list = NULL;
    size_t capacity = 0;
    sqlite3_stmt *q = results_query(results, err, "SELECT queue, before, after FROM decision_share WHERE run = %lld"
                                                  " AND seq = %lld ORDER BY n", (long long)run, (long long)r->seq);
    while (results_next(results, q, err)) {
        list = mem_grow(list, &capacity, r->share_count + 1, sizeof *list);
        list[r->share_count++] = (struct explain_share){arena_strdup(&rows->arena, results_text(q, 0)), results_real(q, 1),
                                                        results_real(q, 2)};
    }
    sqlite3_finalize(q);
    r->shares = keep(&rows->arena, list, r->share_count, sizeof *list);
}

static void read_spared(struct explain_rows *rows, struct explain_row *r, struct results *results, int64_t run,
                        struct err *err)
{
    const char **list = NULL;
    size_t capacity = 0;
    sqlite3_stmt *q = results_query(results, err, "SELECT workload FROM decision_spared WHERE run = %lld AND seq = %lld"
                                                  " ORDER BY n", (long long)run, (long long)r->seq);
    while (results_next(results, q, err)) {
        list = mem_grow(list, &capacity, r->spared_count + 1, sizeof *list);
        list[r->spared_count++] = arena_strdup(&rows->arena, results_text(q, 0));
    }
    sqlite3_finalize(q);
    r->spared = keep(&rows->arena, list, r->spared_count, sizeof *list);
}

void explain_beside_read(struct explain_rows *rows, struct results *results, int64_t run, struct err *err)
{
    if (err->code != ERR_NONE || !explain_has_table(results, "decision_share", err))
        return;
    for (size_t i = 0; i < rows->count && err->code == ERR_NONE; i++) {
        read_shares(rows, &rows->items[i], results, run, err);
        read_spared(rows, &rows->items[i], results, run, err);
    }
}

static void share_text(struct text *t, double v)
{
    if (isnan(v))
        text_say(t, "beyond all (weight 0)");
    else
        text_say(t, "%.10g", v);
}

void explain_beside_text(FILE *out, const struct explain_row *r, unsigned indent)
{
    char line[700] = "";
    struct text t = TEXT(line);
    for (size_t i = 0; i < r->share_count; i++) {
        text_say(&t, "%s %.80s ", i == 0 ? "share of" : ", of", r->shares[i].queue);
        share_text(&t, r->shares[i].before);
        text_say(&t, " before, ");
        share_text(&t, r->shares[i].after);
        text_say(&t, " after");
    }
    for (size_t i = 0; i < r->spared_count; i++)
        text_say(&t, "%s%s %.80s", i == 0 && t.length > 0 ? "; " : "", i == 0 ? "fill-back spared" : ",", r->spared[i]);
    if (t.length == 0)
        return;
    fprintf(out, "%*s", (int)indent, "");
    wrap_print(out, line, TABLE_WIDTH, indent, indent + 2);
}

void explain_beside_json(FILE *out, const struct explain_row *r)
{
    fputs(", \"shares\": [", out);
    for (size_t i = 0; i < r->share_count; i++) {
        fputs(i == 0 ? "{\"queue\": " : ", {\"queue\": ", out);
        rows_out_text(out, ROWS_JSON, r->shares[i].queue);
        fputs(", \"before\": ", out);
        rows_out_real(out, ROWS_JSON, r->shares[i].before);
        fputs(", \"after\": ", out);
        rows_out_real(out, ROWS_JSON, r->shares[i].after);
        putc('}', out);
    }
    fputs("], \"spared\": [", out);
    for (size_t i = 0; i < r->spared_count; i++) {
        fputs(i == 0 ? "" : ", ", out);
        rows_out_text(out, ROWS_JSON, r->spared[i]);
    }
    putc(']', out);
}
