/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is no scenario at all: missing, a directory, empty, binary, too large, too deep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scenarios/load/load.h"
#include "scenarios/load/ytree.h"
#include "sim/arena.h"

/* Problems of a text as printed, in memory that the caller frees. */
static char *problems_of(const char *text, size_t n)
{
    struct diag_list diags = {0};
    assert_null(scenario_load_text("file.yaml", text, n, NULL, 0, &diags));
    char *out = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&out, &size);
    assert_non_null(f);
    diag_print(&diags, f);
    fclose(f);
    diag_fini(&diags);
    return out;
}

static void says(const char *text, size_t n, const char *expected)
{
    char *got = problems_of(text, n);
    if (strcmp(got, expected) != 0)
        fail_msg("expected\n%s\ngot\n%s", expected, got);
    free(got);
}

static void a_problem_shows_its_line_and_a_caret(void **state)
{
    (void)state;
    static const char text[] = "name: x\nhorizon: 300\nfleet: {nodePools: [{name: a, instance: p5.48xlarge, nodes: 1}]}\nqueues: []\ndemand: {}\narbiters: []\n";
    char *got = problems_of(text, strlen(text));
    assert_non_null(strstr(got,
                           "file.yaml:2:10: horizon: '300' has no unit; expected a duration such as 90s, 5m or 1h30m\n"
                                "horizon: 300\n         ^\n"));
    free(got);
}

static void crlf_and_a_byte_order_mark_change_nothing(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbfname: x\r\nhorizon: 300\r\nfleet: 1\r\n";
    char *got = problems_of(text, sizeof text - 1);
    assert_non_null(strstr(got, "file.yaml:2:10: horizon: '300' has no unit"));
    assert_non_null(strstr(got, "\nhorizon: 300\n         ^\n"));
    assert_null(strchr(got, '\r'));
    free(got);
}

static void columns_count_bytes_after_letters_of_two(void **state)
{
    (void)state;
    /* "é" is two bytes: the 1 of horizon stands in byte 24. */
    static const char text[] = "{name: \xc3\xa9\xc3\xa9, horizon: 1, queues: []}\n";
    char *got = problems_of(text, sizeof text - 1);
    assert_non_null(strstr(got, "file.yaml:1:23: horizon: '1' has no unit"));
    free(got);
}

static void empty_and_comments_only_are_empty(void **state)
{
    (void)state;
    says("", 0, "file.yaml: is empty; expected a scenario\n");
    says("  \n\n", 4, "file.yaml: is empty; expected a scenario\n");
    says("# a comment\n", 12, "file.yaml: is empty; expected a scenario\n");
}

static void binary_and_other_encodings_are_refused(void **state)
{
    (void)state;
    says("a\0b", 3, "file.yaml: is a binary file (it has a NUL byte); expected a YAML text file\n");
    says("\xff\xfe" "a", 3, "file.yaml: is UTF-16 text; expected UTF-8\n");
    says("name: \xe9\n", 8, "file.yaml:1:7: byte 0xe9 is not UTF-8 text\nname: \xe9\n      ^\n");
    char *got = problems_of("name: x\nb: \x01\n", 13);
    assert_non_null(strstr(got, "file.yaml:2:4: control byte 0x01 in the text\n"));
    free(got);
}

static void text_that_is_no_map_is_named(void **state)
{
    (void)state;
    char *got = problems_of("hello\n", 6);
    assert_non_null(strstr(got, "file.yaml:1:1: expected a scenario (a map), got 'hello'\n"));
    free(got);
    got = problems_of("- a\n", 4);
    assert_non_null(strstr(got, "file.yaml:1:1: expected a scenario (a map), got a list\n"));
    free(got);
}

static void depth_is_limited(void **state)
{
    (void)state;
    char text[128] = "a: ";
    memset(text + 3, '[', 100);
    char *got = problems_of(text, 103);
    assert_non_null(strstr(got, "nested deeper than 24 levels, the limit of a scenario"));
    free(got);
}

/* size bytes of one line; the caller frees. */
static char *one_line(size_t size)
{
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, "name: ", 6);
    return text;
}

static void size_is_limited(void **state)
{
    (void)state;
    size_t n = YTREE_BYTES_MAX + 1;
    char *text = one_line(n);
    says(text, n, "file.yaml: is larger than 8 MiB, the limit of a scenario (jobs and traffic go into files of their own)\n");
    char *got = problems_of(text,
                            n - 1); /* one line of 8 MiB is text, and its message stays short */
    assert_true(strlen(got) < 8000);
    free(got);
    free(text);
}

static void values_and_keys_are_limited(void **state)
{
    (void)state;
    size_t n = 0, room = 4 << 20;
    char *text = malloc(room);
    assert_non_null(text);
    n += (size_t)snprintf(text + n, room - n, "a: [");
    for (int i = 0; i < 260000; i++)
        n += (size_t)snprintf(text + n, room - n, "1,");
    n += (size_t)snprintf(text + n, room - n, "1]\n");
    char *got = problems_of(text, n);
    assert_non_null(strstr(got, "more than 250000 values, the limit of a scenario"));
    free(got);
    n = 0;
    for (int i = 0; i < 5000; i++)
        n += (size_t)snprintf(text + n, room - n, "k%d: 1\n", i);
    got = problems_of(text, n);
    assert_non_null(strstr(got, "more than 4096 keys in a map, the limit of a scenario"));
    free(got);
    free(text);
}

static void at_most_twenty_problems_are_shown(void **state)
{
    (void)state;
    char text[1024] = "";
    for (int i = 0; i < 30; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "colour%d: red\n", i);
    struct diag_list diags = {0};
    assert_null(scenario_load_text("file.yaml", text, strlen(text), NULL, 0, &diags));
    assert_int_equal(diags.count, 20);
    assert_true(diags.error_count >= 30);
    diag_fini(&diags);
}

static void first_problem(const char *path, const char *expected)
{
    struct diag_list diags = {0};
    assert_null(scenario_load(path, NULL, 0, &diags));
    assert_int_equal(diags.count, 1);
    assert_string_equal(diags.items[0].text, expected);
    assert_string_equal(diags.items[0].file, path);
    diag_fini(&diags);
}

static void missing_files_and_directories_are_named(void **state)
{
    (void)state;
    first_problem("/nowhere/at-all.yaml", "cannot open: No such file or directory");
    first_problem("/", "is a directory; expected a scenario file");
}

static void a_tree_written_out_reads_back_the_same(void **state)
{
    (void)state;
    static const char text[] = "a: {b: [1, \"two words\", 'it''s', null], c: \"\", d: [], e: {}}\n"
                               "f: |\n  two\n  lines\ng: 'x: \"y\" # z \\'\nh/i: a{i}\n";
    struct arena a = {0};
    struct diag_list diags = {0};
    struct ysource first, second;
    assert_true(ysource_text(&first, "f", text, strlen(text), &a, &diags));
    struct ynode *n = ytree_parse(&first, &a, &diags);
    assert_non_null(n);
    const char *once = ytree_text(&a, n);
    assert_true(ysource_text(&second, "s", once, strlen(once), &a, &diags));
    struct ynode *m = ytree_parse(&second, &a, &diags);
    assert_non_null(m);
    assert_string_equal(ytree_text(&a, m), once);
    assert_string_equal(ynode_get(m, "f")->text, "two\nlines\n");
    assert_string_equal(ynode_get(m, "g")->text, "x: \"y\" # z \\");
    assert_string_equal(ynode_get(ynode_get(m, "a"), "b")->items[2]->text, "it's");
    assert_true(ynode_is_nothing(ynode_get(ynode_get(m, "a"), "b")->items[3]));
    assert_false(ynode_is_nothing(ynode_get(ynode_get(m, "a"), "c")));
    assert_int_equal(ynode_get(ynode_get(m, "a"), "d")->kind, YNODE_LIST);
    assert_int_equal(diags.count, 0);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_shows_its_line_and_a_caret),
        cmocka_unit_test(crlf_and_a_byte_order_mark_change_nothing),
        cmocka_unit_test(columns_count_bytes_after_letters_of_two),
        cmocka_unit_test(empty_and_comments_only_are_empty),
        cmocka_unit_test(binary_and_other_encodings_are_refused),
        cmocka_unit_test(text_that_is_no_map_is_named),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(values_and_keys_are_limited),
        cmocka_unit_test(at_most_twenty_problems_are_shown),
        cmocka_unit_test(missing_files_and_directories_are_named),
        cmocka_unit_test(a_tree_written_out_reads_back_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
