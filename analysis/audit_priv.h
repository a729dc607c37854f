/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the parts of the audit. */
#ifndef ANALYSIS_AUDIT_PRIV_H
#define ANALYSIS_AUDIT_PRIV_H

#include "analysis/audit.h"

/* SQL: rank of an isolation as audit_rank gives it. */
#define AUDIT_RANK(column)                                                                          \
    "(CASE " column " WHEN 'software' THEN 1 WHEN 'hardware' THEN 2 WHEN 'exclusive' THEN 3 ELSE 0 END)"

struct audit_reading {
    struct audit *audit;
    struct audit_run *run;
    struct results *results;
    const char *tenant; /* NULL: all */
    struct err *err;
};

/* Place for one more item at the end of an array in the arena. */
#define AUDIT_PUSH(arena, items, count)                                                             \
    ((items) = audit_grow((arena), (items), (count), sizeof *(items)), &(items)[(count)++])
void *audit_grow(struct arena *arena, void *items, size_t count, size_t size);

/* A text column, kept. */
const char *audit_text(struct audit_reading *r, sqlite3_stmt *query, int column);

void audit_read_findings(struct audit_reading *r);
void audit_read_incidents(struct audit_reading *r);

/* Per-card rows of the runs, for json and csv. */
void audit_json(FILE *out, const struct audit *audit, struct results *results,
                const struct audit_options *options, struct err *err);
void audit_csv(FILE *out, const struct audit *audit, struct results *results,
               const struct audit_options *options, struct err *err);
void audit_table(FILE *out, const struct audit *audit, const struct audit_options *options);

#endif
