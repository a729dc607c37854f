/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arena and checked memory, errors, assertions, time. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/arena.h"
#include "sim/check.h"
#include "sim/dmath.h"
#include "sim/err.h"
#include "sim/rng.h"
#include "sim/sim_time.h"

static void arena_memory_is_zeroed_aligned_and_apart(void **state)
{
    struct arena a = {0};
    struct rng r;
    unsigned char *at[2000];
    size_t size[2000], total = 0;
    (void)state;
    rng_open(&r, 1, 0, 0, 0);
    for (size_t i = 0; i < 2000; i++) {
        size[i] = rng_below(&r, i % 100 == 0 ? 3000000 : 300);
        at[i] = arena_alloc(&a, size[i], 1);
        assert_int_equal((uintptr_t)at[i] % 16, 0);
        for (size_t k = 0; k < size[i]; k++)
            assert_true(at[i][k] == 0);
        memset(at[i], (int)(i % 255) + 1, size[i]);
        total += size[i];
    }
    for (size_t i = 0; i < 2000; i++) {
        for (size_t k = 0; k < size[i]; k++)
            assert_true(at[i][k] == i % 255 + 1);
    }
    assert_true(a.used_bytes >= total && a.used_bytes <= total + 2000 * 16);
    arena_fini(&a);
    assert_int_equal(a.used_bytes, 0);
    arena_fini(&a);
}

static void arena_copies_and_prints_text(void **state)
{
    struct arena a = {0};
    char source[] = "replica";
    (void)state;
    char *copy = arena_strdup(&a, source), *part = arena_strndup(&a, source, 3);
    char *all = arena_strndup(&a, source, 100), *line = arena_printf(&a, "%s %d", source, 7);
    source[0] = '!';
    assert_string_equal(copy, "replica");
    assert_string_equal(part, "rep");
    assert_string_equal(all, "replica");
    assert_string_equal(line, "replica 7");
    arena_fini(&a);
}

static void growing_doubles_and_keeps_the_content(void **state)
{
    uint64_t *items = NULL;
    size_t capacity = 0;
    int grown = 0;
    (void)state;
    for (size_t n = 0; n < 100000; n++) {
        size_t before = capacity;
        items = mem_grow(items, &capacity, n + 1, sizeof *items);
        grown += capacity != before;
        items[n] = n * n;
    }
    for (size_t n = 0; n < 100000; n++)
        assert_int_equal(items[n], n * n);
    assert_true(grown < 20 && capacity < 200000);
    free(items);
    free(mem_alloc(0, 8));
    char *copy = mem_strdup("x");
    assert_string_equal(copy, "x");
    free(copy);
}

/* Runs f in a child; returns what it wrote on stderr and its wait status. */
static int run_in_child(void (*f)(void), char *text, size_t size)
{
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        f();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t n;
    while (used + 1 < size && (n = read(ends[0], text + used, size - 1 - used)) > 0)
        used += (size_t)n;
    text[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void ask_for_too_much(void)
{
    struct arena a = {0};
    arena_alloc(&a, SIZE_MAX / 2, 4);
}

static void an_overflowing_product_is_fatal_with_its_size(void **state)
{
    char text[200];
    (void)state;
    int status = run_in_child(ask_for_too_much, text, sizeof text);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_string_equal(text,
                        "out of memory: could not allocate 9223372036854775807 items of 4 bytes\n");
}

static void break_a_rule(void)
{
    int cards = 3;
    REQUIRE(cards == 4);
}

static void keep_the_rules(void)
{
    int cards = 4;
    REQUIRE(cards == 4);
    CHECK(cards == 4);
}

static void a_broken_requirement_aborts_with_its_place_and_text(void **state)
{
    char text[400];
    (void)state;
    int status = run_in_child(break_a_rule, text, sizeof text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "base_test.c:"));
    assert_non_null(strstr(text, "cards == 4"));
    status = run_in_child(keep_the_rules, text, sizeof text);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_string_equal(text, "");
}

static void the_first_error_wins_and_gives_the_exit_status(void **state)
{
    struct err e = {0};
    (void)state;
    assert_int_equal(err_exit_status(&e), 0);
    assert_false(err_set(&e, ERR_INPUT, "no such %s", "arbiter"));
    assert_false(err_set(&e, ERR_SYSTEM, "later"));
    assert_string_equal(e.text, "no such arbiter");
    assert_int_equal(err_exit_status(&e), 2);
    struct err disk = {0};
    errno = ENOSPC;
    assert_false(err_errno(&disk, ERR_SYSTEM, "cannot write '%s'", "results.db"));
    assert_string_equal(disk.text, "cannot write 'results.db': No space left on device");
    assert_int_equal(err_exit_status(&disk), 3);
}

static void a_long_error_text_is_cut_not_overrun(void **state)
{
    struct err e = {0};
    char name[2000];
    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[1999] = '\0';
    errno = ENOENT;
    err_errno(&e, ERR_INPUT, "cannot open '%s'", name);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
}

static void adding_a_duration_saturates(void **state)
{
    (void)state;
    assert_int_equal(sim_time_after(5, 7), 12);
    assert_int_equal(sim_time_after(SIM_NEVER, 1), SIM_NEVER);
    assert_int_equal(sim_time_after(SIM_NEVER, 0), SIM_NEVER);
    assert_int_equal(sim_time_after(SIM_NEVER - 5, 5), SIM_NEVER);
    assert_int_equal(sim_time_after(SIM_NEVER - 5, 6), SIM_NEVER);
    assert_int_equal(sim_time_after(0, SIM_DAY), 86400000000000);
}

static void seconds_become_the_nearest_nanosecond(void **state)
{
    static const struct {
        double s;
        sim_time want;
    } cases[] = {
        {0, 0}, {-1, 0}, {1, SIM_SECOND}, {0.1, 100000000}, {1.5e-9, 2}, {0.4e-9, 0},
        {1e-9, 1}, {86400, SIM_DAY}, {9e6 + 0.123456789, 9000000123456789},
        {9223372036.0, 9223372036000000000}, {9223372036.9, SIM_NEVER}, {1e10, SIM_NEVER},
        {1e300, SIM_NEVER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(sim_time_from_seconds(cases[i].s), cases[i].want);
    assert_int_equal(sim_time_from_seconds(DM_NAN), SIM_NEVER);
    assert_int_equal(sim_time_from_seconds(DM_INF), SIM_NEVER);
    assert_int_equal(sim_time_from_seconds(-DM_INF), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(arena_copies_and_prints_text),
        cmocka_unit_test(growing_doubles_and_keeps_the_content),
        cmocka_unit_test(an_overflowing_product_is_fatal_with_its_size),
        cmocka_unit_test(a_broken_requirement_aborts_with_its_place_and_text),
        cmocka_unit_test(the_first_error_wins_and_gives_the_exit_status),
        cmocka_unit_test(a_long_error_text_is_cut_not_overrun),
        cmocka_unit_test(adding_a_duration_saturates),
        cmocka_unit_test(seconds_become_the_nearest_nanosecond),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
