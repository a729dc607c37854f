/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the parts of explain. */
#ifndef ANALYSIS_EXPLAIN_PRIV_H
#define ANALYSIS_EXPLAIN_PRIV_H

#include "analysis/explain.h"
#include "analysis/figure.h"
#include "analysis/regress_priv.h"

struct explain_try { /* of `nomination`; NAN: unlimited, or no such limit */
    const char *flavor, *resource, *grade;
    double asks, available, nominal, used, borrowing_limit, lending_limit, most;
    int64_t level;
};

struct explain_share { /* of `decision_share`; NAN: weight 0 and borrowing */
    const char *queue;
    double before, after;
};

struct explain_row { /* of `decision`; texts live in the arena of the reading */
    int64_t t_ns, seq, repeats;
    const char *workload, *queue, *kind, *reason, *detail; /* detail "" when there is none */
    bool of_group; /* said about another workload of the same group */
    const struct explain_try *tries; /* after explain_tries_read */
    size_t try_count;
    const struct explain_share *shares; /* after explain_beside_read */
    const char *const *spared;          /* by fill-back; likewise */
    size_t share_count, spared_count;
};

struct explain_rows {
    struct arena arena;
    struct explain_row *items;
    size_t count, capacity;
};

#define EXPLAIN_COLUMNS "t_ns, seq, workload, queue, kind, reason, detail, repeats"

/* Reads rows of a query with EXPLAIN_COLUMNS. */
void explain_rows_read(struct explain_rows *rows, struct results *results, sqlite3_stmt *query, struct err *err);
void explain_rows_fini(struct explain_rows *rows);
/* Its texts must live as long as the rows. */
void explain_rows_add(struct explain_rows *rows, struct explain_row row);

/* Decisions about one workload, with what its group was told where it was told nothing itself. */
void explain_rows_workload(struct explain_rows *rows, struct results *results, int64_t run, const char *name,
                           struct err *err);

/* Fills the flavors that were tried for each row (explain_tries.c). */
void explain_tries_read(struct explain_rows *rows, struct results *results, int64_t run, struct err *err);
/* One line for each; the columns before are left free. */
void explain_tries_text(FILE *out, const struct explain_row *r, unsigned indent);
/* "; it lacks 2 cards on a100, or 4 cards on h100"; "" when nothing is missing. */
void explain_tries_missing(const struct explain_row *r, char *text, size_t size);
/* , "flavors": [...] */
void explain_tries_json(FILE *out, const struct explain_row *r);

/* Fills shares and spared for each row, where the table is there. */
void explain_beside_read(struct explain_rows *rows, struct results *results, int64_t run, struct err *err);
/* A line, where there is anything. */
void explain_beside_text(FILE *out, const struct explain_row *r, unsigned indent);
/* , "shares": [...], "spared": [...] */
void explain_beside_json(FILE *out, const struct explain_row *r);
bool explain_has_table(struct results *results, const char *name, struct err *err);
/* What workloads held is recorded of this run. */
bool explain_has_holdings(struct results *results, int64_t run, struct err *err);

/* Plain words for a kind and reason, and what would change it; "" when there is nothing to say. */
const char *explain_means(const char *kind, const char *reason);
const char *explain_wakes(const char *kind, const char *reason);
bool explain_is_waiting(const char *kind);

/* Rows as text; with the names of their workloads when `names`. */
void explain_rows_text(FILE *out, const struct explain_rows *rows, bool names);
void explain_row_json(FILE *out, const struct explain_row *row);
/* "decisions": [...] */
void explain_rows_json(FILE *out, const struct explain_rows *rows);

/* ---- views of one run ---- */

/* Fills err with the nearest of the names that the query gives; false. */
bool explain_no_such(struct results *results, sqlite3_stmt *query, const char *what, const char *name,
                     const struct explain_run *run, struct err *err);
/* Workloads of a list: a quarter of the limit; 0: all. */
static inline size_t explain_names(const struct explain_query *query)
{
    return (query->limit + 3) / 4;
}
/* {"arbiter": ..., "replication": ... */
void explain_json_begin(FILE *out, const struct explain_run *run);
/* A queue, at the end of the run or at query->t_ns. */
bool explain_queue(FILE *out, struct results *results, const struct explain_run *run, const struct explain_query *query,
                   struct err *err);
/* An instant, in all queues. */
bool explain_instant(FILE *out, struct results *results, const struct explain_run *run, const struct explain_query *query,
                     struct err *err);

#endif
