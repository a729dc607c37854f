/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/summary_table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/figure.h"
#include "tests/analysis/tiny_db.h"
#include "tests/store/fixture.h"
#include "tests/store/scratch.h"

#define NONE ((double)NAN)

/* Three replications a arbiter, so half widths are t(0.975, 2) = 4.3027 times sd / sqrt(3). */
static const struct tiny rows[] = {
    {"pools", 0, "all", "", "utilization.real", 0.34, 0},
    {"pools", 0, "all", "", "training.wait.p95", 10800, 1},
    {"pools", 0, "all", "", "cost.total", 43.1e6, 0},
    {"pools", 0, "all", "", "cost.per_million_tokens", NONE, 0},
    {"pools", 0, "team", "risk", "training.wait.p95", 600, 0},
    {"pools", 0, "team", "fx", "training.wait.p95", 7200, 0},
    {"pools", 1, "all", "", "utilization.real", 0.36, 0},
    {"pools", 1, "all", "", "training.wait.p95", 10800, 0},
    {"pools", 1, "all", "", "cost.total", 43.1e6, 0},
    {"pools", 2, "all", "", "utilization.real", 0.38, 0},
    {"pools", 2, "all", "", "training.wait.p95", 10800, 0},
    {"pools", 2, "all", "", "cost.total", 43.1e6, 0},
    {"cohort", 0, "all", "", "utilization.real", 0.60, 0},
    {"cohort", 0, "all", "", "training.wait.p95", 600, 0},
    {"cohort", 0, "all", "", "cost.total", 43.1e6, 0},
    {"cohort", 0, "all", "", "cost.per_million_tokens", 1.25, 0},
    {"cohort", 0, "team", "risk", "training.wait.p95", 4200, 0},
    {"cohort", 0, "team", "fx", "training.wait.p95", 3600, 0},
    {"cohort", 1, "all", "", "utilization.real", 0.62, 0},
    {"cohort", 1, "all", "", "training.wait.p95", 660, 0},
    {"cohort", 1, "all", "", "cost.total", 43.1e6, 0},
    {"cohort", 1, "all", "", "cost.per_million_tokens", 1.25, 0},
    {"cohort", 2, "all", "", "utilization.real", 0.64, 0},
    {"cohort", 2, "all", "", "training.wait.p95", 720, 0},
    {"cohort", 2, "all", "", "cost.total", 43.1e6, 0},
    {"cohort", 2, "all", "", "cost.per_million_tokens", 1.25, 0},
};

/* Output of summary_print; the caller frees. */
static char *printed(const char *path, struct summary_options options)
{
    struct err err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(summary_print(out, path, &options, &err), 0);
    fclose(out);
    char *copy = strdup(text); /* the compiler takes the stream's own for a local */
    free(text);
    return copy;
}

static char *printed_tiny(struct scratch *s, struct summary_options options)
{
    struct err err = {0};
    const char *path = scratch_file(s, "r.db");
    assert_true(tiny_db(path, rows, sizeof rows / sizeof rows[0], 1, &err));
    return printed(path, options);
}

/* 0.02 * 4.3027 / sqrt(3) = 0.0497; 60 s * 4.3027 / sqrt(3) = 149 s = 2.48 min. */
static void table_shows_means_intervals_bounds_and_gaps(void **state)
{
    struct scratch s;
    (void)state;
    scratch_open(&s);
    char *text = printed_tiny(&s, (struct summary_options){0});
    assert_string_equal(text,
                        "tiny: 1 day of the same demand, 3 replications; mean ±half of 95 % "
                        "interval\n"
                        "\n"
                        "                                  pools        cohort\n"
                        "cards in use, %\n"
                        " real (computing)            36.0 ±5.0     62.0 ±5.0\n"
                        "training jobs\n"
                        " wait, 95th percentile     ≥3.00 ±0.00h  11.0 ±2.5min\n"
                        "cost, same fleet\n"
                        " total, usd                  43.1 ±0.0M    43.1 ±0.0M\n"
                        " per million tokens, usd        –          1.25 ±0.00\n"
                        "\n"
                        "≥ at least: some had not started at the end; – does not apply\n");
    free(text);
    scratch_close(&s);
}

static void by_team_lists_the_worst_losers_first(void **state)
{
    struct scratch s;
    (void)state;
    scratch_open(&s);
    char *text = printed_tiny(&s, (struct summary_options){.by = "team"});
    const char *cohort = strstr(text, "cohort (change of wait p95 against pools");
    assert_non_null(cohort);
    const char *risk = strstr(cohort, "risk"), *fx = strstr(cohort, "fx");
    assert_true(risk != NULL && fx != NULL && risk < fx);
    assert_non_null(strstr(risk, "+60.0min\n")); /* 600 s became 4,200 s */
    assert_non_null(strstr(fx, "-60.0min\n"));   /* 7,200 s became 3,600 s */
    free(text);
    scratch_close(&s);
}

static void json_and_csv_are_the_rows_of_the_view(void **state)
{
    struct scratch s;
    (void)state;
    scratch_open(&s);
    char *json = printed_tiny(&s, (struct summary_options){.format = ROWS_JSON});
    assert_non_null(strstr(json, "{\"arbiter\": \"pools\", \"metric\": \"cost.total\", \"unit\": "
                                 "\"usd\", \"mean\": 43100000, \"low95\": 43100000, \"high95\": "
                                 "43100000, \"replications\": 3, \"censored\": 0}"));
    assert_non_null(strstr(json, "\"cost.per_million_tokens\", \"unit\": \"usd\", \"mean\": null"));
    free(json);
    char *csv = printed_tiny(&s, (struct summary_options){.format = ROWS_CSV, .by = "team"});
    assert_non_null(strstr(csv, "arbiter,scope_kind,scope,metric,unit,mean,low95,high95,"
                                "replications,censored\n"));
    assert_non_null(strstr(csv, "\ncohort,team,risk,training.wait.p95,seconds,4200,,,1,0\n"));
    free(csv);
    scratch_close(&s);
}

static void every_table_fits_eighty_columns(void **state)
{
    static const char *const kinds[] = {NULL, "team", "service", "node_pool"};
    struct scratch s;
    struct err err = {0};
    (void)state;
    scratch_open(&s);
    const char *path = scratch_file(&s, "r.db");
    struct fixture f = fixture_default();
    f.days = 7;
    assert_true(fixture_write(path, &f, &err));
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        char *text = printed(path, (struct summary_options){.by = kinds[k]});
        int lines = 0;
        for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++)
            if (figure_columns(line) > 80)
                fail_msg("%zu columns: %s", figure_columns(line), line);
        assert_true(lines > 20);
        free(text);
    }
    scratch_close(&s);
}

static void assumptions_that_touch_most_come_first(void **state)
{
    struct scratch s;
    struct err err = {0};
    (void)state;
    scratch_open(&s);
    struct fixture f = fixture_default();
    f.days = 1;
    assert_true(fixture_write(scratch_file(&s, "r.db"), &f, &err));
    char *text = printed(scratch_file(&s, "r.db"), (struct summary_options){0});
    assert_non_null(strstr(text, "touch\n  47 %  checkpoint interval [30min]\n"
                                 "   6 %  image pull bandwidth [2 GB/s]\n"));
    free(text);
    scratch_close(&s);
}

static void many_arbiters_with_long_names_break_into_blocks(void **state)
{
    static const char *const names[] = {"cohort-borrowing-limit-25", "b", "c", "d", "e", "f", "g"};
    struct tiny many[7];
    struct scratch s;
    struct err err = {0};
    (void)state;
    scratch_open(&s);
    for (int i = 0; i < 7; i++)
        many[i] = (struct tiny){names[i], 0, "all", "", "utilization.real", 0.1 * (i + 1), 0};
    assert_true(tiny_db(scratch_file(&s, "r.db"), many, 7, 1, &err));
    char *text = printed(scratch_file(&s, "r.db"), (struct summary_options){0});
    assert_non_null(strstr(text, "cohort-borrowing-limit-25"));
    assert_non_null(strstr(text, "70.0"));
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        assert_true(figure_columns(line) <= 80);
    free(text);
    scratch_close(&s);
}

static void unknown_scope_kind_is_bad_input(void **state)
{
    struct err err = {0};
    (void)state;
    assert_int_equal(
        summary_print(stdout, "none.db", &(struct summary_options){.by = "teams"}, &err), 2);
    assert_non_null(strstr(err.text, "got 'teams'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_shows_means_intervals_bounds_and_gaps),
        cmocka_unit_test(by_team_lists_the_worst_losers_first),
        cmocka_unit_test(json_and_csv_are_the_rows_of_the_view),
        cmocka_unit_test(every_table_fits_eighty_columns),
        cmocka_unit_test(assumptions_that_touch_most_come_first),
        cmocka_unit_test(many_arbiters_with_long_names_break_into_blocks),
        cmocka_unit_test(unknown_scope_kind_is_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
