/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The named cases of Kueue's own tests, one test each, under Kueue's names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/policies/named.h"
#include "tests/policies/named_queue.h"

enum { TESTS_MAX = 1024 };

static void play_case(void **state)
{
    const struct named_case *c = *state;
    struct named *n = calloc(1, sizeof *n);
    named_objects(n, c);
    const char *problem = named_play(n);
    char text[16384];
    if (problem != NULL)
        snprintf(text, sizeof text, "%s: %s%s", c->test, c->name, problem);
    named_stop(n);
    arena_fini(&n->mem);
    free(n);
    if (problem != NULL)
        fail_msg("%s", text);
}

static const char *root(void)
{
    const char *r = getenv("FLEETSIM_SOURCE_ROOT");
    return r != NULL ? r : ".";
}

struct titles { /* of all tests */
    const struct CMUnitTest *tests;
    size_t count;
};

/* kueue-named/names.txt is the list of the cases that must be there. */
static void every_name_of_the_list_has_a_case(void **state)
{
    const struct titles *made = *state;
    char path[512], line[512];
    int missing = 0, listed = 0;
    snprintf(path, sizeof path, "%s/tests/policies/kueue-named/names.txt", root());
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0')
            continue;
        bool found = false;
        for (size_t i = 0; i < made->count && !found; i++)
            found = strcmp(made->tests[i].name, line) == 0;
        listed++;
        missing += !found;
        if (!found)
            print_error("no case of this name: %s\n", line);
    }
    fclose(in);
    assert_int_equal(missing, 0);
    assert_int_equal(listed, 232);
}

/* Tests of all files and of the table of queue tests; their number. */
static size_t make_tests(struct named_file *files, struct CMUnitTest *tests)
{
    static const char *const names[] = {"quota", "share", "cycle", "cycle-fair", "cycle-overlap", "reducer",
                                        "two-cycles", "assign", "preempt", "preempt-hierarchy", "preempt-fair",
                                        "topology", "cycle-topology", "cycle-usage"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/tests/policies/kueue-named/%s.txt", root(), names[i]);
        named_read(&files[i], path);
        for (size_t c = 0; c < files[i].count && count < TESTS_MAX; c++) {
            struct named_case *one = &files[i].cases[c];
            tests[count++] =
                (struct CMUnitTest){arena_printf(&files[i].mem, "%s: %s", one->test, one->name), play_case, NULL, NULL, one};
        }
    }
    for (size_t i = 0; i < named_queue_count && count < TESTS_MAX; i++)
        tests[count++] = named_queue_tests[i];
    return count;
}

int main(void)
{
    static struct CMUnitTest tests[TESTS_MAX + 1];
    static struct named_file files[16];
    struct titles made = {tests, make_tests(files, tests)};
    tests[made.count] = (struct CMUnitTest)cmocka_unit_test_prestate(every_name_of_the_list_has_a_case, &made);
    const int status = _cmocka_run_group_tests("named cases of Kueue", tests, made.count + 1, NULL, NULL);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        named_file_fini(&files[i]);
    return status;
}
