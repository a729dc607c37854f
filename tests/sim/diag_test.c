/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/diag.h"

static void assert_prints(const struct diag_list *list, const char *want)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    diag_print(list, out);
    fclose(out);
    assert_string_equal(text, want);
    free(text);
}

static void an_error_shows_its_line_and_a_caret(void **state)
{
    struct diag_list list = {0};
    (void)state;
    diag_add(&list, DIAG_ERROR, "fleet.yaml", 12, 12, "    count: eight\n",
             "pools[%d].count: expected a whole number >= 1, got '%s'", 1, "eight");
    assert_prints(&list,
                  "fleet.yaml:12:12: pools[1].count: expected a whole number >= 1, got 'eight'\n"
                  "    count: eight\n"
                  "           ^\n");
    assert_int_equal(list.error_count, 1);
    diag_fini(&list);
}

static void the_caret_stands_under_its_column_after_tabs_and_accents(void **state)
{
    struct diag_list list = {0};
    (void)state;
    /* "\tn\xc3\xa9\xc3\xa9: x": x is byte 9 and the seventh place */
    diag_add(&list, DIAG_ERROR, "a", 1, 9, "\tn\xc3\xa9\xc3\xa9: x", "bad");
    assert_prints(&list, "a:1:9: bad\n\tn\xc3\xa9\xc3\xa9: x\n\t     ^\n");
    diag_fini(&list);
}

static void missing_positions_are_left_out(void **state)
{
    struct diag_list list = {0};
    (void)state;
    diag_add(&list, DIAG_ERROR, NULL, 0, 0, NULL, "no fleet");
    diag_add(&list, DIAG_ERROR, "a.yaml", 0, 0, NULL, "empty");
    diag_add(&list, DIAG_ERROR, "a.yaml", 3, 0, "x: 1", "odd");
    assert_prints(&list, "no fleet\na.yaml: empty\na.yaml:3: odd\nx: 1\n");
    diag_fini(&list);
}

static void errors_come_first_and_keep_their_order(void **state)
{
    struct diag_list list = {0};
    (void)state;
    diag_add(&list, DIAG_WARNING, "f", 1, 1, NULL, "w1");
    diag_add(&list, DIAG_ERROR, "f", 9, 1, NULL, "e1");
    diag_add(&list, DIAG_NOTE, "f", 2, 1, NULL, "n1");
    diag_add(&list, DIAG_ERROR, "f", 3, 1, NULL, "e2");
    assert_prints(&list, "f:9:1: e1\nf:3:1: e2\nf:1:1: warning: w1\nf:2:1: note: n1\n");
    assert_int_equal(list.error_count, 2);
    assert_int_equal(list.warning_count, 1);
    diag_fini(&list);
}

static void problems_above_the_limit_are_counted_not_kept(void **state)
{
    struct diag_list list = {.limit = 2};
    (void)state;
    for (int i = 0; i < 5; i++)
        diag_add(&list, DIAG_ERROR, "f", i, 1, NULL, "e%d", i);
    for (int i = 0; i < 3; i++)
        diag_add(&list, DIAG_WARNING, "f", i + 1, 1, NULL, "w%d", i);
    assert_prints(&list,
                  "f: e0\nf:1:1: e1\nf:1:1: warning: w0\nf:2:1: warning: w1\n"
                  "3 more errors\n1 more warning\n");
    assert_int_equal(list.error_count, 5);
    assert_int_equal(list.warning_count, 3);
    diag_fini(&list);
    struct diag_list standard = {0};
    for (int i = 0; i < 50; i++)
        diag_add(&standard, DIAG_ERROR, NULL, 0, 0, NULL, "e");
    assert_int_equal(standard.count, 20);
    diag_fini(&standard);
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
    struct diag_list list = {0};
    (void)state;
    diag_add(&list, DIAG_ERROR, "f", 1, 2, "\x1b[31mred\x07\r\nnext", "got '\x1b[0m'");
    assert_prints(&list, "f:1:2: got '?[0m'\n?[31mred?\n ^\n");
    diag_fini(&list);
}

static void of_a_long_line_the_part_around_the_column_is_shown(void **state)
{
    struct diag_list list = {0};
    char line[5001], want[400];
    (void)state;
    memset(line, 'a', 5000);
    line[5000] = '\0';
    line[2999] = 'X';
    diag_add(&list, DIAG_ERROR, "f", 1, 3000, line, "bad");
    diag_add(&list, DIAG_ERROR, "f", 1, 9999, "short", "beyond");
    snprintf(want, sizeof want,
             "f:1:3000: bad\n%.60sX%.59s\n%60s^\nf:1:9999: beyond\nshort\n     ^\n",
             line, line, "");
    assert_prints(&list, want);
    diag_fini(&list);
}

static void the_list_owns_copies(void **state)
{
    struct diag_list list = {0};
    char file[] = "a", excerpt[] = "b", text[] = "c";
    (void)state;
    diag_add(&list, DIAG_ERROR, file, 1, 1, excerpt, "%s", text);
    file[0] = excerpt[0] = text[0] = '!';
    assert_prints(&list, "a:1:1: c\nb\n^\n");
    diag_fini(&list);
    diag_fini(&list);
    assert_prints(&list, "");
}

static void the_nearest_name_is_found_by_edit_distance(void **state)
{
    static const char *const names[] = {"nominalQuota", "borrowingLimit", "lendingLimit", "pods",
                                        "nodes"};
    (void)state;
    assert_string_equal(diag_nearest("nominalQuoat", names, 5), "nominalQuota");
    assert_string_equal(diag_nearest("borowingLimit", names, 5), "borrowingLimit");
    assert_string_equal(diag_nearest("pod", names, 5), "pods");
    assert_string_equal(diag_nearest("nodess", names, 5), "nodes");
    assert_string_equal(diag_nearest("pdos", names, 5), "pods"); /* a swap is distance 1 */
    assert_string_equal(diag_nearest("nodes", names, 5), "nodes");
}

static void a_name_that_is_too_different_is_not_suggested(void **state)
{
    static const char *const names[] = {"pods", "replicas", "maximumReplicas"};
    (void)state;
    assert_null(diag_nearest("xyz", names, 3));
    assert_null(diag_nearest("po", names, 3));              /* distance 2 of a word of 2 */
    assert_null(diag_nearest("maximum", names, 3));         /* distance 8 */
    assert_null(diag_nearest("minimumRepliccass", names, 3)); /* distance 4 */
    assert_null(diag_nearest("", names, 3));
    assert_null(diag_nearest("pods", names, 0));
    char word[200];
    memset(word, 'a', sizeof word - 1);
    word[199] = '\0';
    assert_null(diag_nearest(word, names, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_shows_its_line_and_a_caret),
        cmocka_unit_test(the_caret_stands_under_its_column_after_tabs_and_accents),
        cmocka_unit_test(missing_positions_are_left_out),
        cmocka_unit_test(errors_come_first_and_keep_their_order),
        cmocka_unit_test(problems_above_the_limit_are_counted_not_kept),
        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(of_a_long_line_the_part_around_the_column_is_shown),
        cmocka_unit_test(the_list_owns_copies),
        cmocka_unit_test(the_nearest_name_is_found_by_edit_distance),
        cmocka_unit_test(a_name_that_is_too_different_is_not_suggested),
    };
    return cmocka_run_group_tests_name("diag", tests, NULL, NULL);
}
