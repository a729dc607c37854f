/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `run` and `report` print: the headline figures of all arbiters side by side, in 80 columns,
 * or the same by team, service, node pool or flavor.
 */
#ifndef ANALYSIS_SUMMARY_TABLE_H
#define ANALYSIS_SUMMARY_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/rows_out.h"

struct summary_options {
    enum rows_format format; /* ROWS_TABLE is the zero value */
    const char *by;          /* NULL, or "team", "service", "node_pool", "flavor" */
};

/* False, with err, when nothing is broken down by this. */
bool summary_by_check(const char *by, struct err *err);

/*
 * Prints the table of a results database. json and csv give the rows of the view `summary` (or,
 * with `by`, those of `summary_by` of that kind), columns named as there. Returns the exit status:
 * 0, or 2 and 3 with err filled; nothing was printed about the error.
 */
int summary_print(FILE *out,
                  const char *db_path,
                  const struct summary_options *options,
                  struct err *err);

#endif
