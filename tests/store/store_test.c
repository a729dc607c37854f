/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/store/store.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "analysis/store/results.h"
#include "models/world/tables.h"
#include "tests/store/fixture.h"
#include "tests/store/near.h"
#include "tests/store/scratch.h"

static struct store_run run_of(int64_t run, int64_t replication)
{
    return (struct store_run){.run = run, .arbiter = "pools", .preset = "pools",
                              .replication = replication, .seed = UINT64_MAX, .horizon_s = 3600,
                              .scenario_name = "tiny", .scenario_text = "name: tiny\n",
                              .scenario_hash = 1, .demand_hash = 2};
}

static void metric(const struct record_sink *sink, int64_t run, const char *name, double value)
{
    struct record_value row[] = {rec_int(run),   rec_text("all"),  rec_text(""),
                                 rec_text(name), rec_real(value), rec_int(0)};
    record_row(sink, &table_metric, row);
}

static double scalar(const char *path, const char *sql)
{
    struct results r;
    struct err err = {0};
    assert_true(results_open(&r, path, &err));
    sqlite3_stmt *q = results_query(&r, &err, "%s", sql);
    assert_true(results_next(&r, q, &err));
    double value = results_real(q, 0);
    sqlite3_finalize(q);
    results_close(&r);
    return value;
}

static void rows_come_back_as_they_were_written(void **state)
{
    struct scratch s;
    struct err err = {0};
    (void)state;
    scratch_open(&s);
    const char *path = scratch_file(&s, "r.db");
    struct store *store = store_create(path, world_tables, &err);
    assert_non_null(store);
    struct record_sink sink = store_sink(store);
    struct store_run run = run_of(7, 0);
    store_add_run(store, &run);
    for (int i = 0; i < 1003; i++) { /* not a multiple of the rows in a statement */
        char name[32];
        snprintf(name, sizeof name, "m%d 'quoted' é", i);
        metric(&sink, 7, name, i == 5 ? (double)__builtin_nanf("") : i * 0.1);
    }
    assert_true(store_commit(store, &err));
    assert_true(scalar(path, "SELECT count(*) FROM metric") == 1003);
    assert_true(scalar(path, "SELECT value FROM metric WHERE name = 'm3 ''quoted'' é'") == 3 * 0.1);
    assert_true(scalar(path, "SELECT count(*) FROM metric WHERE value IS NULL") == 1);
    assert_true(scalar(path, "SELECT count(*) FROM metric WHERE rowid = 1 + CAST(substr(name, 2,"
                             " instr(name, ' ') - 2) AS INTEGER)") == 1003);
    assert_true(scalar(path, "SELECT seed FROM run") == -1); /* the bits of 2^64 - 1 */
    assert_true(scalar(path, "SELECT count(*) FROM pragma_table_list WHERE type = 'table'"
                             " AND NOT strict AND name NOT LIKE 'sqlite%'") == 0);
    assert_int_equal(scratch_count(&s), 1);
    scratch_close(&s);
}

/* Mean 4, standard deviation of 2, 4, 6 is 2; t(0.975, 2) = 4.3027 from tables;
 * 4.3027 * 2 / sqrt(3) = 4.9683. */
static void summary_has_student_intervals_over_replications(void **state)
{
    struct scratch s;
    struct err err = {0};
    (void)state;
    scratch_open(&s);
    const char *path = scratch_file(&s, "r.db");
    struct store *store = store_create(path, world_tables, &err);
    struct record_sink sink = store_sink(store);
    for (int i = 0; i < 3; i++) {
        struct store_run run = run_of(i, i);
        store_add_run(store, &run);
        metric(&sink, i, "utilization.real", 2.0 * (i + 1));
        if (i == 0) {
            metric(&sink, i, "cost.total", 5);
            metric(&sink, i, "idle.quota", (double)__builtin_nanf(""));
        }
    }
    assert_true(store_commit(store, &err));
    const char *real = "SELECT mean FROM summary WHERE metric = 'utilization.real'";
    assert_true(scalar(path, real) == 4);
    const char *half = "SELECT high95 - mean FROM summary WHERE metric = 'utilization.real'";
    assert_near(scalar(path, half), 4.9683, 5e-5);
    half = "SELECT mean - low95 FROM summary WHERE metric = 'utilization.real'";
    assert_near(scalar(path, half), 4.9683, 5e-5);
    assert_true(scalar(path, "SELECT replications = 3 AND unit = 'fraction' FROM summary"
                             " WHERE metric = 'utilization.real'") == 1);
    assert_true(scalar(path, "SELECT mean = 5 AND low95 IS NULL AND replications = 1 FROM summary"
                             " WHERE metric = 'cost.total'") == 1);
    assert_true(scalar(path, "SELECT mean IS NULL AND replications = 0 FROM summary"
                             " WHERE metric = 'idle.quota'") == 1);
    scratch_close(&s);
}

static void content_hash_ignores_insertion_order_and_wall_time(void **state)
{
    struct scratch s;
    struct err err = {0};
    uint64_t a, b, c;
    (void)state;
    scratch_open(&s);
    struct fixture f = fixture_default();
    f.days = 3;
    f.replications = 2;
    assert_true(fixture_write(scratch_file(&s, "a.db"), &f, &err));
    f.backwards = true;
    f.wall_s = 12.5;
    assert_true(fixture_write(scratch_file(&s, "b.db"), &f, &err));
    f.shift = 1e-9;
    assert_true(fixture_write(scratch_file(&s, "c.db"), &f, &err));
    assert_true(store_content_hash(scratch_file(&s, "a.db"), &a, &err));
    assert_true(store_content_hash(scratch_file(&s, "b.db"), &b, &err));
    assert_true(store_content_hash(scratch_file(&s, "c.db"), &c, &err));
    assert_true(a == b);
    assert_true(a != c);
    scratch_close(&s);
}

/* A small database of one run under `path`; false with err on failure. */
static bool write_tiny(const char *path, double value, struct err *err)
{
    struct store *store = store_create(path, world_tables, err);
    if (store == NULL)
        return false;
    struct record_sink sink = store_sink(store);
    struct store_run run = run_of(0, 0);
    store_add_run(store, &run);
    metric(&sink, 0, "cost.total", value);
    return store_commit(store, err);
}

static void full_disk_keeps_the_older_results(void **state)
{
    struct scratch s;
    struct err err = {0};
    struct rlimit before, small = {.rlim_cur = 1 << 20, .rlim_max = RLIM_INFINITY};
    (void)state;
    scratch_open(&s);
    const char *path = scratch_file(&s, "results.db");
    assert_true(write_tiny(path, 17, &err));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN); /* then write(2) fails as on a full disk */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct fixture f = fixture_default();
    bool written = fixture_write(path, &f, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(written);
    assert_int_equal(err_exit_status(&err), 3);
    assert_non_null(strstr(err.text, "cannot write"));
    assert_non_null(strstr(err.text, "results.db"));
    assert_int_equal(scratch_count(&s), 1);
    assert_true(scalar(path, "SELECT value FROM metric") == 17);
    scratch_close(&s);
}

static void interrupted_work_leaves_finished_runs_beside_the_older_results(void **state)
{
    struct scratch s;
    struct err err = {0};
    char partial[512] = "";
    (void)state;
    scratch_open(&s);
    const char *path = scratch_file(&s, "results.db");
    assert_true(write_tiny(path, 17, &err));
    struct store *store = store_create(path, world_tables, &err);
    struct record_sink sink = store_sink(store);
    struct store_run run = run_of(0, 0);
    store_add_run(store, &run);
    metric(&sink, 0, "cost.total", 18);
    assert_true(store_abort(store, true, partial, sizeof partial));
    assert_string_equal(partial, scratch_file(&s, "results.partial.db"));
    assert_true(scalar(path, "SELECT value FROM metric") == 17);
    assert_true(scalar(partial, "SELECT mean FROM summary") == 18);
    assert_int_equal(scratch_count(&s), 2);
    scratch_close(&s);
}

static void abandoned_work_leaves_nothing(void **state)
{
    struct scratch s;
    struct err err = {0};
    (void)state;
    scratch_open(&s);
    const char *path = scratch_file(&s, "results.db");
    assert_false(store_abort(store_create(path, world_tables, &err), true, NULL, 0)); /* no run */
    struct store *store = store_create(path, world_tables, &err);
    struct store_run run = run_of(0, 0);
    store_add_run(store, &run);
    assert_false(store_abort(store, false, NULL, 0));
    assert_int_equal(scratch_count(&s), 0);
    scratch_close(&s);
}

static void unfit_targets_are_refused_with_the_reason(void **state)
{
    struct scratch s;
    (void)state;
    scratch_open(&s);
    struct err missing = {0}, directory = {0}, device = {0}, foreign = {0};
    assert_null(store_create(scratch_file(&s, "no/such/r.db"), world_tables, &missing));
    assert_int_equal(err_exit_status(&missing), 3);
    assert_non_null(strstr(missing.text, "No such file or directory"));
    assert_null(store_create(s.directory, world_tables, &directory));
    assert_int_equal(err_exit_status(&directory), 2);
    assert_non_null(strstr(directory.text, "is a directory"));
    assert_null(store_create("/dev/null", world_tables, &device));
    assert_int_equal(err_exit_status(&device), 2);
    FILE *f = fopen(scratch_file(&s, "scenario.yaml"), "w");
    fputs("name: precious\n", f);
    fclose(f);
    assert_null(store_create(scratch_file(&s, "scenario.yaml"), world_tables, &foreign));
    assert_int_equal(err_exit_status(&foreign), 2);
    assert_non_null(strstr(foreign.text, "not a results database"));
    assert_int_equal(scratch_count(&s), 1);
    scratch_close(&s);
}

static void rows_that_do_not_fit_their_table_fail_the_commit(void **state)
{
    struct scratch s;
    struct err err = {0}, early = {0};
    static const struct record_table unknown = {"unknown", "", {{"run", RECORD_INT, false}}, 1};
    (void)state;
    scratch_open(&s);
    struct store *store = store_create(scratch_file(&s, "r.db"), world_tables, &err);
    struct record_sink sink = store_sink(store);
    assert_false(store_failed(store, &early));
    struct record_value row[] = {rec_int(0),   rec_text("all"), rec_text(""),
                                 rec_text("x"), rec_real(1),     rec_null()};
    record_row(&sink, &table_metric, row);
    assert_true(store_failed(store, &early));
    assert_non_null(strstr(early.text, "'censored'"));
    assert_false(store_commit(store, &err));
    err = (struct err){0};
    store = store_create(scratch_file(&s, "r.db"), world_tables, &err);
    sink = store_sink(store);
    record_row(&sink, &unknown, row);
    assert_false(store_commit(store, &err));
    assert_non_null(strstr(err.text, "'unknown'"));
    assert_int_equal(scratch_count(&s), 0);
    scratch_close(&s);
}

static void link_to_results_stays_a_link(void **state)
{
    struct scratch s;
    struct err err = {0};
    struct stat st;
    (void)state;
    scratch_open(&s);
    const char *file = scratch_file(&s, "real.db"), *link = scratch_file(&s, "link.db");
    assert_true(write_tiny(file, 1, &err));
    assert_int_equal(symlink("real.db", link), 0);
    assert_true(write_tiny(link, 2, &err));
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_true(scalar(file, "SELECT value FROM metric") == 2);
    scratch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_as_they_were_written),
        cmocka_unit_test(summary_has_student_intervals_over_replications),
        cmocka_unit_test(content_hash_ignores_insertion_order_and_wall_time),
        cmocka_unit_test(full_disk_keeps_the_older_results),
        cmocka_unit_test(interrupted_work_leaves_finished_runs_beside_the_older_results),
        cmocka_unit_test(abandoned_work_leaves_nothing),
        cmocka_unit_test(unfit_targets_are_refused_with_the_reason),
        cmocka_unit_test(rows_that_do_not_fit_their_table_fail_the_commit),
        cmocka_unit_test(link_to_results_stays_a_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
