/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line of fleetsim-bench; its figures are not judged here (machines differ). */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Runs fleetsim-bench with the arguments; returns its exit status. */
static int run_bench(const char *arguments, char *text, size_t size)
{
    char command[1024];
    const char *root = getenv("FLEETSIM_BUILD_ROOT");
    snprintf(command, sizeof command, "'%s/fleetsim-bench' %s 2>&1", root, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t n = fread(text, 1, size - 1, pipe);
    text[n] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void csv_has_the_agreed_columns_and_one_row_per_repetition(void **state)
{
    char text[4096], parameter[64];
    uint64_t items, events, rss;
    double cpu_s, rate;
    (void)state;
    assert_int_equal(run_bench("mm1 --customers 20000 --csv --repeat 2", text, sizeof text), 0);
    const char *row = strchr(text, '\n');
    assert_non_null(row);
    static const char header[] =
        "benchmark,parameter,items,events,cpu_s,items_per_cpu_s,peak_rss_bytes\n";
    assert_memory_equal(text, header, sizeof header - 1);
    int got = sscanf(row + 1, "mm1,%63[^,],%" SCNu64 ",%" SCNu64 ",%lf,%lf,%" SCNu64, parameter,
                     &items, &events, &cpu_s, &rate, &rss);
    assert_int_equal(got, 6);
    assert_string_equal(parameter, "customers=20000");
    assert_int_equal(items, 20000);
    assert_int_equal(events, 40000);
    assert_true(cpu_s > 0 && rate > 0 && rss > 100000);
    assert_non_null(strstr(row + 1, "\nmm1,"));
}

static void the_mm1_estimate_is_printed_with_its_verdict(void **state)
{
    char text[4096];
    (void)state;
    assert_int_equal(run_bench("mm1 --customers 1000000", text, sizeof text), 0);
    assert_non_null(strstr(text, "mean time in system"));
    assert_non_null(strstr(text, ", within 3 sigma of 10.0"));
}

static void the_list_names_every_benchmark(void **state)
{
    static const char *const names[] = {"mm1", "hold", "heap40", "rng", "dmath", "qhist", "fgd", "place"};
    char text[4096];
    (void)state;
    assert_int_equal(run_bench("--list", text, sizeof text), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_non_null(strstr(text, names[i]));
}

static void wrong_usage_ends_with_status_two_and_says_what_was_expected(void **state)
{
    char text[4096];
    (void)state;
    assert_int_equal(run_bench("holf", text, sizeof text), 2);
    assert_string_equal(text, "fleetsim-bench: unknown benchmark 'holf', did you mean 'hold'?\n"
                              "Try 'fleetsim-bench --list'.\n");
    assert_int_equal(run_bench("hold --pending -3", text, sizeof text), 2);
    assert_non_null(strstr(text, "--pending: expected a whole number from 1 to "));
    assert_non_null(strstr(text, ", got '-3'"));
    assert_int_equal(run_bench("", text, sizeof text), 2);
    assert_int_equal(run_bench("mm1 --customers 3", text, sizeof text), 2);
    assert_int_equal(run_bench("mm1 --nonsense", text, sizeof text), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_has_the_agreed_columns_and_one_row_per_repetition),
        cmocka_unit_test(the_mm1_estimate_is_printed_with_its_verdict),
        cmocka_unit_test(the_list_names_every_benchmark),
        cmocka_unit_test(wrong_usage_ends_with_status_two_and_says_what_was_expected),
    };
    return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
