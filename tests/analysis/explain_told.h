/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `explain` prints of a database of gate_db.h. */
#ifndef TESTS_ANALYSIS_EXPLAIN_TOLD_H
#define TESTS_ANALYSIS_EXPLAIN_TOLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/explain.h"
#include "tests/analysis/gate_db.h"
#include "tests/store/scratch.h"

struct told {
    struct scratch scratch;
    struct results results;
    struct explain_runs runs;
    struct err err;
    char text[16384];
};

/* Makes the database and asks; false: t->err says why. told_done() in any case. */
static inline bool told_ask(struct told *t, const struct gate_run *g, const struct explain_query *query)
{
    *t = (struct told){.text = ""};
    scratch_open(&t->scratch);
    assert_true(gate_db(scratch_file(&t->scratch, "a.db"), g, 7, &t->err));
    assert_true(results_open(&t->results, scratch_file(&t->scratch, "a.db"), &t->err));
    assert_true(explain_runs_read(&t->runs, &t->results, NULL, 0, &t->err));
    assert_int_equal(t->runs.count, 1);
    FILE *out = fmemopen(t->text, sizeof t->text - 1, "w");
    assert_non_null(out);
    const bool ok = explain_print(out, &t->results, &t->runs.items[0], query, &t->err);
    (void)fclose(out);
    return ok;
}

static inline void told_done(struct told *t)
{
    explain_runs_fini(&t->runs);
    results_close(&t->results);
    scratch_close(&t->scratch);
}

static inline void told_says(const struct told *t, const char *text)
{
    if (strstr(t->text, text) == NULL)
        fail_msg("'%s' is not in:\n%s", text, t->text);
}

#endif
