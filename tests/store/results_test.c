/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/store/results.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/summary_table.h"
#include "tests/store/fixture.h"
#include "tests/store/scratch.h"

/* Opening must fail as bad input and say `words`. */
static void refused(const char *path, const char *words)
{
    struct results r;
    struct err err = {0};
    assert_false(results_open(&r, path, &err));
    assert_int_equal(err_exit_status(&err), 2);
    if (strstr(err.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, words);
}

static void write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void exec(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void small_fixture(const char *path)
{
    struct err err = {0};
    struct fixture f = fixture_default();
    f.days = 2;
    f.replications = 1;
    assert_true(fixture_write(path, &f, &err));
}

static void what_is_no_results_database_is_refused(void **state)
{
    struct scratch s;
    (void)state;
    scratch_open(&s);
    refused(scratch_file(&s, "missing.db"), "No such file or directory");
    refused(s.directory, "is a directory");
    write_bytes(scratch_file(&s, "empty.db"), "", 0);
    refused(scratch_file(&s, "empty.db"), "is empty");
    write_bytes(scratch_file(&s, "text.db"), "name: bank-10k\n", 15);
    refused(scratch_file(&s, "text.db"), "is not a results database");
    exec(scratch_file(&s, "other.db"), "CREATE TABLE t(x)");
    refused(scratch_file(&s, "other.db"), "is not a results database");
    scratch_close(&s);
}

static void another_version_is_named(void **state)
{
    struct scratch s;
    (void)state;
    scratch_open(&s);
    small_fixture(scratch_file(&s, "r.db"));
    exec(scratch_file(&s, "r.db"), "PRAGMA user_version = 7");
    refused(scratch_file(&s, "r.db"), "results version 7, this program reads version 1");
    scratch_close(&s);
}

/* Every page but the first is overwritten: the damage shows while reading, never as a figure. */
static void damage_is_reported_while_reading(void **state)
{
    struct scratch s;
    struct err err = {0};
    struct summary_options options = {0};
    struct stat st;
    static const char junk[4096] = "\x7f junk";
    (void)state;
    scratch_open(&s);
    const char *path = scratch_file(&s, "r.db");
    small_fixture(path);
    assert_int_equal(stat(path, &st), 0);
    FILE *f = fopen(path, "r+b");
    assert_int_equal(fseek(f, 4096, SEEK_SET), 0);
    for (long at = 4096; at + 4096 <= (long)st.st_size; at += 4096)
        assert_int_equal(fwrite(junk, 1, sizeof junk, f), sizeof junk);
    assert_int_equal(fclose(f), 0);
    FILE *sink = fopen("/dev/null", "w");
    assert_int_equal(summary_print(sink, path, &options, &err), 2);
    fclose(sink);
    assert_non_null(strstr(err.text, "malformed"));
    scratch_close(&s);
}

static void truncated_file_is_reported(void **state)
{
    struct scratch s;
    struct err err = {0};
    struct summary_options options = {0};
    (void)state;
    scratch_open(&s);
    const char *path = scratch_file(&s, "r.db");
    small_fixture(path);
    assert_int_equal(truncate(path, 8192), 0);
    FILE *sink = fopen("/dev/null", "w");
    assert_int_equal(summary_print(sink, path, &options, &err), 2);
    fclose(sink);
    assert_non_null(strstr(err.text, "cannot read"));
    scratch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_results_database_is_refused),
        cmocka_unit_test(another_version_is_named),
        cmocka_unit_test(damage_is_reported_while_reading),
        cmocka_unit_test(truncated_file_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
