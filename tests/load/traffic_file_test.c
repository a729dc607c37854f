/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/load/import_help.h"

#include <math.h>

#include "scenarios/load/traffic_file.h"

static const struct service_config service = {
    .name = "chat", .traffic = {.input_tokens_mean = 100, .output_tokens_mean = 10}};
static const struct traffic_file_options usual = {0};

static bool open_text(const char *text, const struct traffic_file_options *o, struct traffic_reader *r,
                      struct err *err)
{
    return traffic_file_read(text_input_memory("t.csv", text, strlen(text), 0), &service, o, r, err);
}

/* Points of consecutive steps of `step` seconds, compared with the rates given. */
static void check_rates(const char *text, double step, const double *rates, int n)
{
    struct traffic_reader r;
    struct err err = {0};
    assert_true(open_text(text, &usual, &r, &err));
    sim_time length = sim_time_from_seconds(step);
    for (int i = 0; i < n; i++) {
        struct traffic_point p;
        assert_true(r.at(r.ctx, i * length, length, &p, &err));
        assert_true(fabs(p.rate_per_s - rates[i]) <= 1e-12 * rates[i]);
    }
    r.close(r.ctx);
}

static void rates_hold_until_the_next_row_and_the_last_as_long_as_the_one_before(void **state)
{
    (void)state;
    const double minutes[] = {0, 2, 2, 5, 5, 0, 0};
    check_rates("t_s,rate_per_s\n60,2\n180,5\n", 60, minutes, 7);
    const double means[] = {(60 * 0 + 30 * 2) / 90.0, 2, 5, (30 * 5) / 90.0};
    check_rates("t_s,rate_per_s\n60,2\n180,5\n", 90, means, 4);
    const double forever[] = {3, 3, 3};
    check_rates("t_s,rate_per_s\n0,3\n", 60, forever, 3);
}

static void rows_with_a_step_leave_gaps_without_traffic(void **state)
{
    (void)state;
    const double minutes[] = {2, 0, 4, 2, 0};
    check_rates("t_s,step_s,rate_per_s\n0,60,2\n120,90,4\n", 60, minutes, 5);
}

static void many_short_rows_in_one_step_are_averaged_exactly(void **state)
{
    (void)state;
    const double mean[] = {2.5};
    check_rates("t_s,step_s,rate_per_s\n0,1,1\n1,1,2\n2,1,3\n3,1,4\n", 4, mean, 1);
}

static void requests_are_counted_and_their_tokens_averaged(void **state)
{
    (void)state;
    struct traffic_reader r;
    struct err err = {0};
    struct traffic_point p;
    assert_true(open_text("t_s,input_tokens,output_tokens\n0,10,1\n0.5,20,\n9.999999999,30,5\n10,7,7\n",
                          &usual, &r, &err));
    assert_true(r.at(r.ctx, 0, 10 * SIM_SECOND, &p, &err));
    assert_true(fabs(p.rate_per_s - 0.3) < 1e-15);
    assert_true(p.input_tokens_mean == 20);
    assert_true(p.output_tokens_mean == 3);
    assert_true(r.at(r.ctx, 10 * SIM_SECOND, 10 * SIM_SECOND, &p, &err));
    assert_true(fabs(p.rate_per_s - 0.1) < 1e-15);
    assert_true(r.at(r.ctx, 20 * SIM_SECOND, 10 * SIM_SECOND, &p, &err));
    assert_true(p.rate_per_s == 0);
    assert_true(p.input_tokens_mean == 100); /* nothing given: the service's own */
    r.close(r.ctx);
}

static void token_means_are_weighted_by_requests(void **state)
{
    (void)state;
    struct traffic_reader r;
    struct err err = {0};
    struct traffic_point p;
    assert_true(open_text("t_s,rate_per_s,input_tokens\n0,1,100\n60,3,200\n120,0,\n", &usual, &r, &err));
    assert_true(r.at(r.ctx, 0, 120 * SIM_SECOND, &p, &err));
    assert_true(p.rate_per_s == 2);
    assert_true(p.input_tokens_mean == (1 * 100 + 3 * 200) / 4.0);
    assert_true(p.output_tokens_mean == 10);
    r.close(r.ctx);
}

static void only_rows_of_the_service_count(void **state)
{
    (void)state;
    const double minutes[] = {2, 4, 4};
    check_rates("t_s,service,rate_per_s\n0,chat,2\n0,code,9\n60,code,9\n60,chat,4\n120,chat,4\n", 60,
                minutes, 3);
    struct traffic_reader r;
    struct err err = {0};
    struct traffic_file_options o = {.service = "cat"};
    assert_false(open_text("t_s,service,rate_per_s\n0,chat,2\n0,code,9\n", &o, &r, &err));
    assert_string_equal(err.text, "t.csv: no row for service 'cat'; the file has 'chat', 'code'");
}

static void check_refused(const char *text, const char *expected)
{
    struct traffic_reader r;
    struct err err = {0};
    struct traffic_point p;
    if (open_text(text, &usual, &r, &err)) {
        for (int i = 0; i < 100 && err.code == ERR_NONE; i++) {
            r.at(r.ctx, i * SIM_SECOND, SIM_SECOND, &p, &err);
        }
        r.close(r.ctx);
    }
    assert_int_equal(err_exit_status(&err), 2);
    assert_string_equal(err.text, expected);
}

static void bad_rows_are_named_with_place_and_expectation(void **state)
{
    (void)state;
    check_refused("", "t.csv: empty file, expected a header line with column names");
    check_refused("t_s,rate_per_s\n", "t.csv: no rows after the header, expected traffic");
    check_refused("t,rate_per_s\n0,1\n",
                  "t.csv:1:1: no column 't_s'; a traffic file needs t_s, and rate_per_s unless each row "
                  "is one request (fleetsim import makes one from other formats)");
    check_refused("t_s,rate_per_s\n0,1\n0,2\n", "t.csv:3:1: t_s: expected above 0, where the row before "
                                                "begins, got '0'");
    check_refused("t_s,rate_per_s\n5,1\n4,2\n", "t.csv:3:1: t_s: expected above 5, where the row before "
                                                "begins, got '4'");
    check_refused("t_s,step_s,rate_per_s\n0,60,1\n59,60,2\n",
                  "t.csv:3:1: t_s: expected at least 60, where the row before ends, got '59'");
    check_refused("t_s,rate_per_s\n0,-1\n",
                  "t.csv:2:3: rate_per_s: expected a number from 0 to 1000000000, got '-1'");
    check_refused("t_s,rate_per_s\n0,nan\n",
                  "t.csv:2:3: rate_per_s: expected a number from 0 to 1000000000, got 'nan'");
    check_refused("t_s,rate_per_s\n0,\n",
                  "t.csv:2:3: rate_per_s: expected a number from 0 to 1000000000, got ''");
    check_refused("t_s,input_token\n0,1\n", "t.csv:1:5: unknown column 'input_token', did you mean "
                                            "'input_tokens'; own columns begin with x_");
    check_refused("t_s,step_s\n0,1\n", "t.csv:1:5: column 'step_s' without 'rate_per_s'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_hold_until_the_next_row_and_the_last_as_long_as_the_one_before),
        cmocka_unit_test(rows_with_a_step_leave_gaps_without_traffic),
        cmocka_unit_test(many_short_rows_in_one_step_are_averaged_exactly),
        cmocka_unit_test(requests_are_counted_and_their_tokens_averaged),
        cmocka_unit_test(token_means_are_weighted_by_requests),
        cmocka_unit_test(only_rows_of_the_service_count),
        cmocka_unit_test(bad_rows_are_named_with_place_and_expectation),
    };
    return cmocka_run_group_tests_name("traffic_file", tests, NULL, NULL);
}
