/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/figure.h"
#include "tests/analysis/tiny_db.h"
#include "tests/store/fixture.h"
#include "tests/store/near.h"
#include "tests/store/scratch.h"

/* Student's sleep data (Biometrika 6, 1908): mean difference 1.58, 95 % interval (0.700, 2.460) as
 * R's t.test(paired) documents it, standard deviation of the differences 1.229995. */
#define PAIRS 10
static const double before[PAIRS] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double after[PAIRS] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

/* An arbiter whose waits are `values`. */
static size_t add(struct tiny *rows, size_t at, const char *arbiter, const double *values)
{
    for (int r = 0; r < PAIRS; r++)
        rows[at++] = (struct tiny){arbiter, r, "all", "", "training.wait.p50", values[r], 0};
    return at;
}

static void db_of(const char *path, const char *const *arbiters, const double *const *values,
                  size_t count, uint64_t demand)
{
    struct tiny rows[4 * PAIRS];
    struct err err = {0};
    size_t at = 0;
    for (size_t a = 0; a < count; a++)
        at = add(rows, at, arbiters[a], values[a]);
    assert_true(tiny_db(path, rows, at, demand, &err));
}

struct opened {
    struct results a, b;
    struct compare compare;
    struct err err;
};

static bool open_pair(struct opened *o, const char *a, const char *b, bool force)
{
    *o = (struct opened){0};
    return results_open(&o->a, a, &o->err) && (b == NULL || results_open(&o->b, b, &o->err)) &&
           compare_read(&o->compare, &o->a, b == NULL ? NULL : &o->b, force, &o->err);
}

static void close_pair(struct opened *o)
{
    compare_fini(&o->compare);
    results_close(&o->a);
    results_close(&o->b);
}

static void arbiters_of_one_database_are_paired_with_the_first(void **state)
{
    struct scratch s;
    struct opened o;
    (void)state;
    scratch_open(&s);
    db_of(scratch_file(&s, "a.db"), (const char *const[]){"pools", "cohort"},
          (const double *const[]){before, after}, 2, 1);
    assert_true(open_pair(&o, scratch_file(&s, "a.db"), NULL, false));
    const struct compare_cell *c = compare_cell(&o.compare, 0, "training.wait.p50");
    assert_int_equal(o.compare.pair_count, 1);
    assert_string_equal(o.compare.names_a[0], "pools");
    assert_string_equal(o.compare.names_b[0], "cohort");
    assert_near(c->difference.mean, 1.58, 1e-9);
    assert_near(c->difference.low, 0.7001142, 1e-6);
    assert_near(c->difference.high, 2.4598858, 1e-6);
    assert_int_equal(c->verdict, COMPARE_WORSE); /* a longer wait */
    assert_true(isnan(compare_cell(&o.compare, 0, "cost.total")->difference.mean));
    close_pair(&o);
    scratch_close(&s);
}

/* Two pairs: each interval at 97.5 %, t(0.9875, 9) = 2.685 from tables of Bonferroni's t. */
static void more_pairs_widen_the_intervals(void **state)
{
    struct scratch s;
    struct opened o;
    (void)state;
    scratch_open(&s);
    db_of(scratch_file(&s, "a.db"), (const char *const[]){"pools", "same", "cohort"},
          (const double *const[]){before, before, after}, 3, 1);
    assert_true(open_pair(&o, scratch_file(&s, "a.db"), NULL, false));
    const struct compare_cell *c = compare_cell(&o.compare, 1, "training.wait.p50");
    assert_near(o.compare.level, 0.975, 1e-12);
    assert_near(c->difference.high - c->difference.mean, 2.685 * 1.229995 / sqrt(10.0), 3e-4);
    c = compare_cell(&o.compare, 0, "training.wait.p50");
    assert_true(c->difference.mean == 0);
    assert_int_equal(c->verdict, COMPARE_SAME);
    close_pair(&o);
    scratch_close(&s);
}

static void two_databases_are_compared_by_arbiter_name(void **state)
{
    struct scratch s;
    struct opened o;
    (void)state;
    scratch_open(&s);
    db_of(scratch_file(&s, "a.db"), (const char *const[]){"pools", "cohort"},
          (const double *const[]){before, after}, 2, 1);
    db_of(scratch_file(&s, "b.db"), (const char *const[]){"cohort", "new"},
          (const double *const[]){before, after}, 2, 1);
    assert_true(open_pair(&o, scratch_file(&s, "a.db"), scratch_file(&s, "b.db"), false));
    assert_int_equal(o.compare.pair_count, 1);
    assert_string_equal(o.compare.names_b[0], "cohort");
    const struct compare_cell *c = compare_cell(&o.compare, 0, "training.wait.p50");
    assert_near(c->difference.mean, -1.58, 1e-9);
    assert_int_equal(c->verdict, COMPARE_BETTER);
    close_pair(&o);
    scratch_close(&s);
}

static void different_demand_is_refused_unless_forced(void **state)
{
    struct scratch s;
    struct opened o;
    (void)state;
    scratch_open(&s);
    db_of(scratch_file(&s, "a.db"), (const char *const[]){"pools"}, (const double *const[]){before}, 1, 1);
    db_of(scratch_file(&s, "b.db"), (const char *const[]){"pools"}, (const double *const[]){after}, 1, 2);
    assert_false(open_pair(&o, scratch_file(&s, "a.db"), scratch_file(&s, "b.db"), false));
    assert_int_equal(err_exit_status(&o.err), 2);
    assert_non_null(strstr(o.err.text, "hold different demand"));
    close_pair(&o);
    assert_true(open_pair(&o, scratch_file(&s, "a.db"), scratch_file(&s, "b.db"), true));
    assert_true(o.compare.demand_differs);
    close_pair(&o);
    scratch_close(&s);
}

static void nothing_to_compare_is_said(void **state)
{
    struct scratch s;
    struct opened o;
    (void)state;
    scratch_open(&s);
    db_of(scratch_file(&s, "a.db"), (const char *const[]){"pools"}, (const double *const[]){before}, 1, 1);
    db_of(scratch_file(&s, "b.db"), (const char *const[]){"cohort"}, (const double *const[]){after}, 1, 1);
    assert_false(open_pair(&o, scratch_file(&s, "a.db"), NULL, false));
    assert_non_null(strstr(o.err.text, "one arbiter only"));
    close_pair(&o);
    assert_false(open_pair(&o, scratch_file(&s, "a.db"), scratch_file(&s, "b.db"), false));
    assert_non_null(strstr(o.err.text, "no arbiter of the same name"));
    close_pair(&o);
    scratch_close(&s);
}

/* More replications on one side: only the common ones are paired. */
static void replications_without_a_partner_are_left_out(void **state)
{
    struct scratch s;
    struct opened o;
    struct err err = {0};
    struct tiny rows[] = {{"pools", 0, "all", "", "cost.total", 10, 0},
                          {"pools", 1, "all", "", "cost.total", 20, 0},
                          {"pools", 2, "all", "", "cost.total", 90, 0}};
    (void)state;
    scratch_open(&s);
    assert_true(tiny_db(scratch_file(&s, "a.db"), rows, 2, 1, &err));
    assert_true(tiny_db(scratch_file(&s, "b.db"), rows, 3, 1, &err));
    assert_true(open_pair(&o, scratch_file(&s, "a.db"), scratch_file(&s, "b.db"), false));
    const struct compare_cell *c = compare_cell(&o.compare, 0, "cost.total");
    assert_int_equal(c->difference.count, 2);
    assert_true(c->difference.mean == 0);
    close_pair(&o);
    scratch_close(&s);
}

static char *printed(const char *a, const char *b, enum rows_format format)
{
    struct err err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(compare_print(out, a, b, &(struct compare_options){.format = format}, &err), 0);
    fclose(out);
    char *copy = strdup(text); /* the compiler takes the stream's own for a local */
    free(text);
    return copy;
}

static void printed_comparison_fits_and_marks_what_got_worse(void **state)
{
    struct scratch s;
    struct err err = {0};
    (void)state;
    scratch_open(&s);
    struct fixture f = fixture_default();
    f.days = 7;
    assert_true(fixture_write(scratch_file(&s, "a.db"), &f, &err));
    f.shift = 0.5; /* half as much again of waiting */
    assert_true(fixture_write(scratch_file(&s, "b.db"), &f, &err));
    char *text = printed(scratch_file(&s, "a.db"), scratch_file(&s, "b.db"), ROWS_TABLE);
    const char *wait = strstr(text, " wait, median"), *real = strstr(text, " real (computing)");
    assert_true(wait != NULL && real != NULL);
    const char *end = strchr(wait, '\n'), *worse = strstr(wait, "✗");
    assert_true(worse != NULL && worse < end);
    worse = strstr(real, "✗");
    assert_true(worse == NULL || worse > strchr(real, '\n'));
    for (char *line = strchr(text, '\n') + 1; (line = strtok(line, "\n")) != NULL; line = NULL)
        if (figure_columns(line) > 80)
            fail_msg("%zu columns: %s", figure_columns(line), line);
    free(text);
    text = printed(scratch_file(&s, "a.db"), scratch_file(&s, "b.db"), ROWS_CSV);
    assert_non_null(strstr(text, "\ncohort,cohort,utilization.real,fraction,"));
    assert_non_null(strstr(text, ",4,same\n"));
    free(text);
    scratch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arbiters_of_one_database_are_paired_with_the_first),
        cmocka_unit_test(more_pairs_widen_the_intervals),
        cmocka_unit_test(two_databases_are_compared_by_arbiter_name),
        cmocka_unit_test(different_demand_is_refused_unless_forced),
        cmocka_unit_test(nothing_to_compare_is_said),
        cmocka_unit_test(replications_without_a_partner_are_left_out),
        cmocka_unit_test(printed_comparison_fits_and_marks_what_got_worse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
