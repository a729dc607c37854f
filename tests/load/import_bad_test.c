/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bad input and bad luck: what is said, the exit status, and that nothing half-written is left. */
#include "tests/load/import_help.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void check_refused(const char *kind, const char *text, const char *expected)
{
    struct help_import r = help_import_text(kind, text, NULL);
    assert_false(r.fine);
    assert_int_equal(err_exit_status(&r.err), 2);
    assert_string_equal(r.err.text, expected);
    help_import_free(&r);
}

#define PHILLY "timestamp,duration,num_gpus,gpu_time,cluster\n"

static void negative_and_nan_times_are_refused(void **state)
{
    (void)state;
    check_refused("philly", PHILLY "2017-10-01 00:00:00,-66.0,1,66,a\n",
                  "memory:2:21: duration: expected a duration that is not negative, got '-66.0'");
    check_refused("philly", PHILLY "2017-10-01 00:00:00,NaN,1,66,a\n",
                  "memory:2:21: duration: expected a duration, got 'NaN'");
    check_refused("philly", PHILLY "nan,6,1,66,a\n",
                  "memory:2:1: timestamp: expected a date such as 2017-10-21 23:03:38, or a number, got 'nan'");
    check_refused("csv", "submit,duration,gpus\n-5,1,1\n",
                  "memory:2:1: submit: expected a time that is not negative, got '-5'");
    check_refused("csv", "submit,duration,gpus\n5,1,-1\n",
                  "memory:2:5: gpus: expected a number of GPUs from 0 to 1000000, got '-1'");
    check_refused("servegen", "client_id,timestamp_s,rate_rps\n0,0,nan\n",
                  "memory:2:5: rate_rps: expected a rate from 0 to 1000000000 requests/s, got 'nan'");
    check_refused("azure-llm", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,-1,4\n",
                  "memory:2:21: ContextTokens: expected a number of tokens from 0 to 1000000000, got '-1'");
}

static void ends_before_starts_are_refused(void **state)
{
    (void)state;
    check_refused("csv", "submit,start,end,gpus\n0,10,9,1\n",
                  "memory:2:6: end: expected a time not before the start, got '9'");
    check_refused("csv", "submit,end,gpus\n10,9,1\n",
                  "memory:2:4: end: expected a time not before submit, got '9'");
    check_refused("openb",
                  "name,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\na,1,1000,5,6,7\n",
                  "memory:2:12: deletion_time: expected a time not before scheduled_time, got '6'");
    check_refused("philly",
                  "[{\"submitted_time\":\"2017-10-07 01:00:00\",\"attempts\":[{\"start_time\":"
                  "\"2017-10-07 01:00:10\",\"end_time\":\"2017-10-07 01:00:09\"}]}]",
                  "memory:1:1: end_time: expected not before start_time, got '2017-10-07 01:00:09'");
}

static void malformed_rows_are_refused(void **state)
{
    (void)state;
    check_refused("philly", PHILLY "2017-10-01 00:00:00,66.0,1\n",
                  "memory:2:1: 3 fields, expected 5 as in the header");
    check_refused("philly", PHILLY "2017-10-01 00:00:00,66.0,1.5,66,a\n",
                  "memory:2:26: num_gpus: expected a number of GPUs from 0 to 1024, got '1.5'");
    check_refused("csv", "submit,duration,gpus\n0,1,2.5\n",
                  "memory:2:5: gpus: expected a whole number of GPUs, or a part of one below 1, got '2.5'");
    check_refused("csv", "id,submit,duration,gpus\na,0,1,1\na,1,1,1\n",
                  "memory:3:1: id: expected an id that no row before has, got 'a'");
    check_refused("csv", "submit,gpus\n0,1\n",
                  "memory:1:1: no column for duration or end; name one with --map duration=COLUMN, or give "
                  "token columns for requests");
    check_refused("genai-lora", "gmt_create,predict_status,exec_time_seconds,num_lora\n"
                                "2024-11-15 16:00:00,DONE,1,0\n",
                  "memory:2:21: predict_status: expected SUCCEED, FAILED, PENDING or PROCESSING, got 'DONE'");
}

static void windows_given_twice_are_refused(void **state)
{
    (void)state;
    check_refused("servegen", "client_id,timestamp_s,rate_rps\n0,0,1\n1,0,1\n0,0,2\n",
                  "memory:4:1: a second rate of client-0 for the same window of 600 s");
}

static void runs_and_spans_of_centuries_are_refused(void **state)
{
    (void)state;
    check_refused("csv", "submit,duration,gpus\n0,4000000000,1\n",
                  "memory:2:3: duration: expected a run of at most 100 years (is --time-unit right?), got "
                  "'4000000000'");
    struct import_options o;
    import_options_init(&o);
    o.start = "1900-01-01";
    struct help_import r = help_import_text("philly", PHILLY "2017-10-01 00:00:00,1,1,66,a\n", &o);
    assert_string_equal(r.err.text, "--start: '1900-01-01' lies more than 100 years before the end of the "
                                    "trace");
    help_import_free(&r);
}

static void files_of_another_kind_are_refused(void **state)
{
    (void)state;
    check_refused("philly", "a,b\n1,2\n", "memory:1:1: no column 'timestamp'; this is not a philly file");
    check_refused("philly", "", "memory: empty file, expected a philly trace");
    check_refused("servegen", "client_id,window_start_s,field,mean\n0,0,input_tokens,5\n",
                  "memory: no rates among the files; lengths alone make no traffic");
    struct help_import r = help_import("philly", PHILLY "\0\1\2", sizeof PHILLY + 2, NULL);
    assert_string_equal(r.err.text, "memory:2:1: a NUL byte: this is a binary file, expected text");
    help_import_free(&r);
}

static void a_wrong_time_unit_is_caught_by_the_span(void **state)
{
    (void)state;
    /* Muri's times are ms */
    check_refused("csv", "submit,duration,gpus\n0,1,1\n4000000000,1,1\n",
                  "memory: the times span 127 years; expected at most 100 (is --time-unit right?)");
    struct import_options o;
    import_options_init(&o);
    o.unit_ns = SIM_MS;
    struct help_import r = help_import_text("csv", "submit,duration,gpus\n0,1,1\n4000000000,1,1\n", &o);
    assert_true(r.fine);
    help_import_free(&r);
}

static void skip_bad_counts_and_strict_refuses_odd_rows(void **state)
{
    (void)state;
    static const char text[] = PHILLY "2017-10-01 00:00:00,-1,1,66,a\n2017-10-01 00:00:00,5,0,66,a\n"
                                      "2017-10-01 00:00:00,5,x,66,a\n2017-10-01 00:00:00,5,1,66,a\n";
    struct import_options o;
    import_options_init(&o);
    o.skip_bad = 2;
    struct help_import r = help_import_text("philly", text, &o);
    assert_true(r.fine);
    assert_account(&r, "rows used", "1");
    assert_account(&r, "  negative_duration", "1 (line 2)");
    assert_account(&r, "  zero_gpus", "1 (line 3)");
    assert_account(&r, "  bad_number", "1 (line 4)");
    assert_non_null(strstr(r.out, "# rows read 4, dropped 3, bad_number 1, negative_duration 1, zero_gpus 1\n"));
    help_import_free(&r);
    o.skip_bad = 1;
    r = help_import_text("philly", text, &o);
    assert_string_equal(r.err.text, "memory:4:23: num_gpus: expected a number of GPUs from 0 to 1024, got "
                                    "'x' (after 1 bad rows that were left out)");
    help_import_free(&r);
    o.skip_bad = 5;
    o.strict = true;
    r = help_import_text("philly", PHILLY "2017-10-01 00:00:00,5,0,66,a\n", &o);
    assert_string_equal(r.err.text, "memory:2:1: zero_gpus, refused by --strict");
    help_import_free(&r);
}

static void wrong_option_values_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"window", "7"},      {"sample", "0"},       {"sample", "1.1"},
                                           {"sample", "nan"},    {"scale-arrivals", "0"}, {"time-unit", "y"},
                                           {"separator", "ab"},  {"skip-bad", "-1"},    {"format", "xml"},
                                           {"map", "submit"},    {"retries", "all"},    {"step", "0s"},
                                           {"zero-duration", "x"}, {"nonsense", "1"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct import_options o;
        struct err err = {0};
        import_options_init(&o);
        assert_false(import_options_set(&o, wrong[i][0], wrong[i][1], &err));
        assert_int_equal(err_exit_status(&err), 2);
        assert_non_null(strstr(err.text, wrong[i][0]));
    }
}

/* ---- the output ---- */

static int entries(const char *path)
{
    char directory[256];
    snprintf(directory, sizeof directory, "%s", path);
    *strrchr(directory, '/') = '\0';
    DIR *d = opendir(directory);
    int n = 0;
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

static bool import_to(const char *text, const char *output, struct err *err)
{
    char in[256];
    help_write(in, "in.csv", text, strlen(text));
    char *files[] = {in};
    struct import_options o;
    import_options_init(&o);
    FILE *account = fopen("/dev/null", "w");
    bool fine = import_run(import_find("csv"), &o, files, 1, output, account, err);
    fclose(account);
    help_remove(in);
    return fine;
}

static void an_older_output_stays_when_the_input_is_bad(void **state)
{
    (void)state;
    char out[256];
    struct err err = {0};
    help_write(out, "jobs.csv", "old\n", 4);
    assert_false(import_to("submit,duration,gpus\n0,x,1\n", out, &err));
    struct stat info;
    assert_int_equal(stat(out, &info), 0);
    assert_int_equal(info.st_size, 4);
    assert_int_equal(entries(out), 1);
    err = (struct err){0};
    assert_true(import_to("submit,duration,gpus\n0,1,1\n", out, &err));
    assert_int_equal(stat(out, &info), 0);
    assert_true(info.st_size > 4);
    assert_int_equal(entries(out), 1);
    help_remove(out);
}

static void a_full_disk_is_exit_3_and_leaves_the_older_output(void **state)
{
    (void)state;
    char out[256];
    struct err err = {0};
    help_write(out, "jobs.csv", "old\n", 4);
    struct rlimit usual;
    getrlimit(RLIMIT_FSIZE, &usual);
    signal(SIGXFSZ, SIG_IGN); /* then writing past the limit fails with EFBIG, as a full disk does */
    char text[8192];
    size_t n = (size_t)sprintf(text, "submit,duration,gpus\n");
    for (int i = 0; i < 300; i++) {
        n += (size_t)sprintf(text + n, "%d,1,1\n", i);
    }
    char in[256];
    help_write(in, "in.csv", text, n);
    struct rlimit low = {.rlim_cur = 1000, .rlim_max = usual.rlim_max};
    setrlimit(RLIMIT_FSIZE, &low);
    char *files[] = {in};
    struct import_options o;
    import_options_init(&o);
    FILE *account = fopen("/dev/null", "w");
    bool fine = import_run(import_find("csv"), &o, files, 1, out, account, &err);
    setrlimit(RLIMIT_FSIZE, &usual);
    fclose(account);
    assert_false(fine);
    assert_int_equal(err_exit_status(&err), 3);
    assert_non_null(strstr(err.text, "cannot write '"));
    struct stat info;
    assert_int_equal(stat(out, &info), 0);
    assert_int_equal(info.st_size, 4);
    assert_int_equal(entries(out), 1);
    help_remove(in);
    help_remove(out);
    err = (struct err){0};
    assert_false(import_to("submit,duration,gpus\n0,1,1\n", "/dev/full", &err));
    assert_int_equal(err_exit_status(&err), 3);
    assert_string_equal(err.text, "cannot write '/dev/full': No space left on device");
}

static void an_output_that_cannot_be_created_is_exit_3(void **state)
{
    (void)state;
    struct err err = {0};
    assert_false(import_to("submit,duration,gpus\n0,1,1\n", "no-such-directory/jobs.csv", &err));
    assert_int_equal(err_exit_status(&err), 3);
    assert_string_equal(err.text, "cannot create 'no-such-directory/jobs.csv': No such file or directory");
    err = (struct err){0};
    assert_false(import_to("submit,duration,gpus\n0,1,1\n", ".", &err));
    assert_string_equal(err.text, "cannot create '.': it is a directory");
}

static void missing_files_and_directories_are_exit_2(void **state)
{
    (void)state;
    char *missing[] = {(char[]){"no-such.csv"}};
    char *directory[] = {(char[]){"."}};
    struct help_import r = help_import_files("philly", missing, 1, NULL);
    assert_int_equal(err_exit_status(&r.err), 2);
    assert_string_equal(r.err.text, "cannot open 'no-such.csv': No such file or directory");
    help_import_free(&r);
    r = help_import_files("philly", directory, 1, NULL);
    assert_int_equal(err_exit_status(&r.err), 2);
    help_import_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(negative_and_nan_times_are_refused),
        cmocka_unit_test(ends_before_starts_are_refused),
        cmocka_unit_test(malformed_rows_are_refused),
        cmocka_unit_test(windows_given_twice_are_refused),
        cmocka_unit_test(runs_and_spans_of_centuries_are_refused),
        cmocka_unit_test(files_of_another_kind_are_refused),
        cmocka_unit_test(a_wrong_time_unit_is_caught_by_the_span),
        cmocka_unit_test(skip_bad_counts_and_strict_refuses_odd_rows),
        cmocka_unit_test(wrong_option_values_are_refused),
        cmocka_unit_test(an_older_output_stays_when_the_input_is_bad),
        cmocka_unit_test(a_full_disk_is_exit_3_and_leaves_the_older_output),
        cmocka_unit_test(an_output_that_cannot_be_created_is_exit_3),
        cmocka_unit_test(missing_files_and_directories_are_exit_2),
    };
    return cmocka_run_group_tests_name("import_bad", tests, NULL, NULL);
}
