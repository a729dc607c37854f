/* SPDX-License-Identifier: GPL-3.0-or-later */
/* docs/results-schema.md tells the truth: its queries run, and it names every table and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/store/results.h"
#include "tests/store/fixture.h"
#include "tests/store/near.h"
#include "tests/store/scratch.h"

#define QUERIES 10

struct world {
    struct scratch scratch;
    struct results results;
    char *doc;
    char queries[QUERIES][2000];
};

static char *read_doc(void)
{
    char path[1024];
    const char *root = getenv("FLEETSIM_SOURCE_ROOT");
    snprintf(path, sizeof path, "%s/docs/results-schema.md", root == NULL ? "." : root);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        fail_msg("cannot open %s", path);
    char *text = calloc(1, 65536);
    assert_true(fread(text, 1, 65535, f) > 0);
    fclose(f);
    return text;
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    struct err err = {0};
    struct fixture f = fixture_default();
    scratch_open(&w->scratch);
    const char *path = scratch_file(&w->scratch, "r.db");
    if (!fixture_write(path, &f, &err) || !results_open(&w->results, path, &err))
        return -1;
    w->doc = read_doc();
    int count = 0;
    for (char *p = w->doc; (p = strstr(p, "```sql\n")) != NULL && count < QUERIES; count++) {
        p += strlen("```sql\n");
        snprintf(w->queries[count], sizeof w->queries[count], "%.*s", (int)(strstr(p, "```") - p), p);
    }
    *state = w;
    return count == QUERIES ? 0 : -1;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    results_close(&w->results);
    scratch_close(&w->scratch);
    free(w->doc);
    free(w);
    return 0;
}

/* Runs query number n (from 1); rows in *rows; `column` of the first row. */
static double ask(struct world *w, int n, int column, int *rows)
{
    struct err err = {0};
    double first = 0;
    sqlite3_stmt *q = results_query(&w->results, &err, "%s", w->queries[n - 1]);
    *rows = 0;
    while (results_next(&w->results, q, &err))
        if ((*rows)++ == 0)
            first = results_real(q, column);
    sqlite3_finalize(q);
    if (err.code != ERR_NONE)
        fail_msg("query %d: %s", n, err.text);
    return first;
}

static void every_documented_query_runs_and_finds_rows(void **state)
{
    for (int n = 1; n <= QUERIES; n++) {
        int rows;
        ask(*state, n, 0, &rows);
        if (rows == 0)
            fail_msg("query %d finds nothing", n);
    }
}

/* The fixture has 10,000 cards over 28 days; ledger rows are cut to whole seconds. */
static void ledger_of_the_documented_query_closes(void **state)
{
    int rows;
    double card_hours = ask(*state, 4, 2, &rows);
    assert_int_equal(rows, 12); /* three arbiters with cards, four replications */
    assert_near(card_hours, 10000.0 * 24 * 28, 1);
}

static void documented_paired_differences_average_to_those_of_the_view(void **state)
{
    struct world *w = *state;
    struct err err = {0};
    double sum = 0;
    int rows = 0;
    sqlite3_stmt *q = results_query(&w->results, &err, "%s", w->queries[5]);
    for (; results_next(&w->results, q, &err); rows++)
        sum += results_real(q, 1);
    sqlite3_finalize(q);
    assert_int_equal(rows, 4);
    q = results_query(&w->results, &err,
                      "SELECT b.mean - a.mean FROM summary a JOIN summary b USING (metric)"
                      " WHERE a.arbiter = 'pools' AND b.arbiter = 'cohort'"
                      " AND metric = 'utilization.real'");
    assert_true(results_next(&w->results, q, &err));
    assert_near(sum / rows, results_real(q, 0), 1e-12);
    sqlite3_finalize(q);
}

static void money_by_item_adds_up_to_the_total_cost(void **state)
{
    struct world *w = *state;
    struct err err = {0};
    double pools = 0;
    sqlite3_stmt *q = results_query(&w->results, &err, "%s", w->queries[8]);
    while (results_next(&w->results, q, &err))
        if (strcmp(results_text(q, 0), "pools") == 0)
            pools += results_real(q, 2);
    sqlite3_finalize(q);
    assert_near(pools, 43.1e6, 3); /* each item is rounded to a dollar */
}

static void every_table_view_and_column_is_documented(void **state)
{
    struct world *w = *state;
    struct err err = {0};
    char quoted[128];
    int columns = 0;
    sqlite3_stmt *q = results_query(
        &w->results, &err,
        "SELECT s.name, c.name FROM sqlite_schema s, pragma_table_info(s.name) c"
        " WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite%%'");
    for (; results_next(&w->results, q, &err); columns++) {
        snprintf(quoted, sizeof quoted, "| `%s` | ", results_text(q, 0));
        const char *row = strstr(w->doc, quoted);
        if (row == NULL)
            fail_msg("table %s is not documented", results_text(q, 0));
        const char *at = strstr(row, results_text(q, 1)), *end = strchr(row, '\n');
        if (at == NULL || at > end)
            fail_msg("column %s.%s is not documented", results_text(q, 0), results_text(q, 1));
    }
    sqlite3_finalize(q);
    assert_int_equal(err.code, ERR_NONE);
    assert_true(columns > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_documented_query_runs_and_finds_rows),
        cmocka_unit_test(ledger_of_the_documented_query_closes),
        cmocka_unit_test(documented_paired_differences_average_to_those_of_the_view),
        cmocka_unit_test(money_by_item_adds_up_to_the_total_cost),
        cmocka_unit_test(every_table_view_and_column_is_documented),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
