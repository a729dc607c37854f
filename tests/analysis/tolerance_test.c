/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/tolerance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/store/near.h"

static bool read(struct tolerance_list *list, struct diag_list *diags, const char *text)
{
    return tolerance_read_text(list, "gate.txt", text, strlen(text), diags);
}

static struct tolerance_limit limit(const struct tolerance_list *list, const char *metric, const char *kind,
                                    const char *scope)
{
    return tolerance_of(list, tolerance_metric(metric), kind, scope);
}

/* One line of metric_defs: 5 % of a wait, but at least a second; a point of a fraction. */
static void without_a_file_the_definitions_hold(void **state)
{
    (void)state;
    struct tolerance_list none = {0};
    assert_near(limit(&none, "training.wait.p95", "all", "").relative, 0.05, 0);
    assert_near(limit(&none, "training.wait.p95", "all", "").absolute, 1.0, 0);
    assert_near(limit(&none, "utilization.real", "node_pool", "h100").absolute, 0.01, 0);
    assert_near(limit(&none, "utilization.real", "node_pool", "h100").relative, 0, 0);
    assert_near(limit(&none, "training.preemptions", "all", "").absolute, 0.5, 0);
    assert_near(limit(&none, "jobs.wait.mean", "priority", "100").relative, 0.05, 0);
}

static void lines_are_read_and_the_last_that_fits_wins(void **state)
{
    (void)state;
    struct tolerance_list list = {0};
    struct diag_list diags = {0};
    assert_true(read(&list, &diags,
                     "# what we accept\r\n"
                     "\n"
                     "training.wait.p95  *              10%  5m   # the larger of both\n"
                     "training.wait.p95  team:research  2h\n"
                     "cost.*             *              ignore\n"
                     "jobs.wait.mean     priority:100   0.5s\n"
                     "utilization.real   all            0.002"));
    assert_int_equal(list.count, 5);
    assert_near(limit(&list, "training.wait.p95", "all", "").relative, 0.10, 1e-15);
    assert_near(limit(&list, "training.wait.p95", "all", "").absolute, 300, 0);
    assert_near(limit(&list, "training.wait.p95", "team", "risk").absolute, 300, 0);
    assert_near(limit(&list, "training.wait.p95", "team", "research").absolute, 7200, 0);
    assert_near(limit(&list, "training.wait.p95", "team", "research").relative, 0, 0);
    assert_true(limit(&list, "cost.total", "all", "").ignore);
    assert_near(limit(&list, "jobs.wait.mean", "priority", "100").absolute, 0.5, 0);
    assert_near(limit(&list, "jobs.wait.mean", "priority", "200").relative, 0.05, 0);
    assert_near(limit(&list, "utilization.real", "all", "").absolute, 0.002, 0);
    assert_near(limit(&list, "utilization.real", "node_pool", "h100").absolute, 0.01, 0);
    tolerance_fini(&list);
    diag_fini(&diags);
}

static void bad_lines_are_named_with_line_and_column(void **state)
{
    static const struct {
        const char *line;
        long column;
        const char *text;
    } cases[] = {
        {"training.wiat.p95 * 5%", 1, "expected the name of a metric, got 'training.wiat.p95'; did you mean"},
        {"idle.quota  taem:x 5%", 13, "expected team, queue, service, node_pool, flavor, class or priority, got 'taem'; did you mean 'team'?"},
        {"idle.quota team 5%", 12, "expected *, all or KIND:NAME such as team:research, got 'team'"},
        {"idle.quota team: 5%", 12, "expected *, all or KIND:NAME"},
        {"idle.quota * five", 14, "expected a percentage (5%), an absolute change (0.01), or ignore, got 'five'"},
        {"idle.quota * -5%", 14, "got '-5%'"},
        {"idle.quota * nan", 14, "got 'nan'"},
        {"idle.quota * 0x10", 14, "got '0x10'"},
        {"idle.quota * 1e400", 14, "got '1e400'"},
        {"idle.quota * 5m", 14, "expected no unit of time, for the metric is not a time, got '5m'"},
        {"training.wait.p50 * 5weeks", 22, "got '5weeks'"},
        {"idle.quota *", 1, "expected metric, scope and one or two tolerances, got '2 words'"},
        {"idle.quota * 1% 2 3", 1, "got '5 words'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tolerance_list list = {0};
        struct diag_list diags = {0};
        char text[200];
        (void)snprintf(text, sizeof text, "* * 1%%\n%s\n", cases[i].line);
        assert_false(read(&list, &diags, text));
        assert_int_equal(diags.error_count, 1);
        assert_string_equal(diags.items[0].file, "gate.txt");
        assert_int_equal(diags.items[0].line, 2);
        assert_int_equal(diags.items[0].column, cases[i].column);
        assert_non_null(strstr(diags.items[0].text, cases[i].text));
        assert_string_equal(diags.items[0].excerpt, cases[i].line);
        tolerance_fini(&list);
        diag_fini(&diags);
    }
}

static void a_binary_or_missing_file_is_refused(void **state)
{
    (void)state;
    struct tolerance_list list = {0};
    struct diag_list diags = {0};
    assert_false(tolerance_read_text(&list, "x.db", "SQLite format 3\0\1", 17, &diags));
    assert_false(tolerance_read_file(&list, "no-such-directory/gate.txt", &diags));
    assert_non_null(strstr(diags.items[0].text, "not a text file"));
    assert_non_null(strstr(diags.items[1].text, "cannot read the tolerance file"));
    tolerance_fini(&list);
    diag_fini(&diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_file_the_definitions_hold),
        cmocka_unit_test(lines_are_read_and_the_last_that_fits_wins),
        cmocka_unit_test(bad_lines_are_named_with_line_and_column),
        cmocka_unit_test(a_binary_or_missing_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
