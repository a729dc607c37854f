/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/alarms.h"

#include "analysis/store/results.h"

static void print_duration(FILE *out, double s)
{
    if (s < 7200)
        fprintf(out, "%.0f min", s / 60);
    else if (s < 2 * 86400)
        fprintf(out, "%.1f h", s / 3600);
    else
        fprintf(out, "%.1f days", s / 86400);
}

bool alarms_print(FILE *out, const char *db_path, int most, struct err *err)
{
    struct results results;
    int lines = 0;
    if (!results_open(&results, db_path, err))
        return false;
    sqlite3_stmt *q = results_query(
        &results, err,
        "SELECT arbiter, queue, reason, count(*), sum(to_s - from_s), max(to_s - from_s) AS longest, workload, why"
        " FROM alarm JOIN run USING (run) GROUP BY arbiter_ix, queue, reason ORDER BY longest DESC, arbiter_ix, queue, reason");
    while (results_next(&results, q, err)) {
        if (lines++ >= most)
            continue;
        fprintf(out, "alarm: %s: queue '%s': %s would fit the queue's own quota and stays out for ", results_text(q, 0),
                results_text(q, 1), results_text(q, 6));
        print_duration(out, results_real(q, 5));
        fprintf(out, " (%s): %s", results_text(q, 2), results_text(q, 7));
        if (sqlite3_column_int64(q, 3) > 1) {
            fprintf(out, "; %lld such, ", (long long)sqlite3_column_int64(q, 3));
            print_duration(out, results_real(q, 4));
            fputs(" together", out);
        }
        putc('\n', out);
    }
    if (lines > most)
        fprintf(out, "alarm: and %d more lines like these, see table alarm of %s\n", lines - most, db_path);
    sqlite3_finalize(q);
    results_close(&results);
    return err->code == ERR_NONE;
}
