/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scenarios/load/units.h"

#define H INT64_C(3600000000000)
#define LENGTH(a) (sizeof(a) / sizeof *(a))

struct whole_row {
    const char *text;
    enum units_status status;
    int64_t value;
};

static void check_whole(enum units_status (*parse)(const char *, int64_t *),
                        const struct whole_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t got = INT64_MIN;
        enum units_status status = parse(rows[i].text, &got);
        if (status != rows[i].status || (status == UNITS_OK && got != rows[i].value))
            fail_msg("'%s': status %d value %lld", rows[i].text, (int)status, (long long)got);
    }
}

static void durations_are_sums_of_units_largest_first(void **state)
{
    (void)state;
    static const struct whole_row rows[] = {
        {"30s", UNITS_OK, INT64_C(30000000000)}, {"5m", UNITS_OK, INT64_C(300000000000)}, {"28d",
            UNITS_OK, 28 * 24 * H},
        {"1h30m", UNITS_OK, H + H / 2}, {"1.5h", UNITS_OK, H + H / 2}, {"2w", UNITS_OK,
            14 * 24 * H}, {"0s", UNITS_OK, 0},
        {"250ms", UNITS_OK, 250000000}, {"3us", UNITS_OK, 3000}, {"7ns", UNITS_OK,
            7}, {"1d2h3m4s5ms6us7ns", UNITS_OK, 24 * H + 2 * H + INT64_C(184005006007)},
        {"0.1s", UNITS_OK, 100000000}, {"0.000000001s", UNITS_OK, 1}, {"106751d", UNITS_OK,
                                                                       106751 * 24 * H},
        {"106752d", UNITS_RANGE, 0}, {"99999999999999999999s", UNITS_RANGE, 0}, {"300",
            UNITS_NO_UNIT, 0}, {"1.5", UNITS_NO_UNIT, 0},
        {"30m1h", UNITS_BAD, 0}, {"1h1h", UNITS_BAD, 0}, {"1h30", UNITS_BAD, 0}, {"-1s", UNITS_BAD,
            0}, {"+1s", UNITS_BAD, 0}, {"01s", UNITS_BAD, 0},
        {"1 s", UNITS_BAD, 0}, {"1S", UNITS_BAD, 0}, {"1y", UNITS_BAD, 0}, {".5s", UNITS_BAD,
            0}, {"5.s", UNITS_BAD, 0}, {"1e3s", UNITS_BAD, 0}, {"s", UNITS_BAD, 0},
        {"", UNITS_BAD, 0}, {"1_000s", UNITS_BAD, 0}, {"nan", UNITS_BAD, 0}};
    check_whole(units_duration, rows, LENGTH(rows));
}

static void sizes_are_decimal_or_binary(void **state)
{
    (void)state;
    static const struct whole_row rows[] = {
        {"80GiB", UNITS_OK, INT64_C(80) << 30}, {"15GB", UNITS_OK, INT64_C(15000000000)}, {"64Gi",
            UNITS_OK, INT64_C(64) << 30}, {"1.5GiB", UNITS_OK, INT64_C(3) << 29},
        {"0B", UNITS_OK, 0}, {"1kB", UNITS_OK, 1000}, {"1KiB", UNITS_OK, 1024}, {"2TB", UNITS_OK,
            INT64_C(2000000000000)}, {"1PiB", UNITS_OK, INT64_C(1) << 50},
        {"0.1GB", UNITS_OK, 100000000}, {"8192PiB", UNITS_RANGE, 0}, {"80", UNITS_NO_UNIT, 0}, {"0",
            UNITS_NO_UNIT, 0}, {"80gb", UNITS_BAD, 0}, {"80 GB", UNITS_BAD, 0},
        {"-1GB", UNITS_BAD, 0}, {"1KB", UNITS_BAD, 0}, {"GB", UNITS_BAD, 0}, {"1GBs", UNITS_BAD,
                                                                              0}};
    check_whole(units_bytes, rows, LENGTH(rows));
}

static void whole_numbers_have_no_leading_zeros_or_marks(void **state)
{
    (void)state;
    static const struct whole_row rows[] = {
        {"0", UNITS_OK, 0}, {"12", UNITS_OK, 12}, {"-3", UNITS_OK, -3}, {"9223372036854775807",
            UNITS_OK, INT64_MAX}, {"-9223372036854775808", UNITS_OK, INT64_MIN},
        {"9223372036854775808", UNITS_RANGE, 0}, {"010", UNITS_BAD, 0}, {"0x10", UNITS_BAD,
            0}, {"1_000", UNITS_BAD, 0}, {"1,000", UNITS_BAD, 0}, {"1.0", UNITS_BAD, 0},
        {"1e3", UNITS_BAD, 0}, {"+1", UNITS_BAD, 0}, {" 1", UNITS_BAD, 0}, {"1 ", UNITS_BAD,
            0}, {"", UNITS_BAD, 0}, {"-", UNITS_BAD, 0}, {"yes", UNITS_BAD, 0}};
    check_whole(units_int, rows, LENGTH(rows));
}

static void cards_have_at_most_three_decimals(void **state)
{
    (void)state;
    static const struct whole_row rows[] = {
        {"2", UNITS_OK, 2000}, {"0.25", UNITS_OK, 250}, {"0.125", UNITS_OK, 125}, {"0", UNITS_OK,
            0}, {"0.001", UNITS_OK, 1}, {"0.0001", UNITS_BAD, 0},
        {"-1", UNITS_BAD, 0}, {"1e3", UNITS_BAD, 0}, {"all", UNITS_BAD, 0}, {"9300000000000000",
                                                                             UNITS_RANGE, 0}};
    check_whole(units_milli, rows, LENGTH(rows));
}

static void prices_are_exact_to_a_micro_dollar(void **state)
{
    (void)state;
    static const struct whole_row hour[] = {
        {"6.88usd/h", UNITS_OK, 6880000}, {"0.000001usd/h", UNITS_OK, 1}, {"113.9328usd/h",
            UNITS_OK, 113932800}, {"24usd/day", UNITS_OK, 1000000}, {"1usd/s", UNITS_OK,
                                                                     INT64_C(3600000000)},
        {"8760usd/year", UNITS_OK, 1000000}, {"0usd/h", UNITS_OK, 0}, {"6.88", UNITS_NO_UNIT,
            0}, {"6.88eur/h", UNITS_BAD, 0}, {"6.88usd", UNITS_BAD, 0}, {"$6.88/h", UNITS_BAD,
                0}, {"6.88usd/month", UNITS_BAD, 0}};
    static const struct whole_row year[] = {{"200000usd/year", UNITS_OK, INT64_C(200000000000)},
                                            {"1usd/h", UNITS_OK, INT64_C(8760000000)}};
    static const struct whole_row token[] = {{"0.72usd/Mtok", UNITS_OK, 720000},
                                             {"15usd/Mtok", UNITS_OK, 15000000}, {"0.72",
                                                 UNITS_NO_UNIT, 0}, {"0.72usd/h", UNITS_BAD, 0}};
    check_whole(units_money_hour, hour, LENGTH(hour));
    check_whole(units_money_year, year, LENGTH(year));
    check_whole(units_token_price, token, LENGTH(token));
}

static void instants_are_dates_of_the_calendar_in_utc(void **state)
{
    (void)state;
    /* Unix times by the definition of POSIX (seconds since the Epoch). */
    static const struct whole_row rows[] = {
        {"1970-01-01T00:00:00Z", UNITS_OK, 0}, {"2026-01-05T00:00:00Z", UNITS_OK,
                                                INT64_C(1767571200000000000)}, {"2026-01-05",
                                                    UNITS_OK, INT64_C(1767571200000000000)},
        {"2000-02-29T12:34:56Z", UNITS_OK, INT64_C(951827696000000000)}, {"2038-01-19T03:14:08Z",
            UNITS_OK, INT64_C(2147483648000000000)},
        {"2026-02-29", UNITS_BAD, 0}, {"1900-01-01", UNITS_RANGE, 0}, {"2026-13-01", UNITS_BAD,
            0}, {"2026-00-10", UNITS_BAD, 0}, {"2026-01-05T24:00:00Z", UNITS_BAD, 0},
        {"2026-01-05T00:00:00", UNITS_BAD, 0}, {"2026-01-05T00:00:00+01:00", UNITS_BAD,
                                                0}, {"2026-1-5", UNITS_BAD, 0}, {"today", UNITS_BAD,
                                                                                 0}};
    check_whole(units_instant, rows, LENGTH(rows));
}

static void quantities_follow_kubernetes_and_kueues_units(void **state)
{
    (void)state;
    static const struct {
        const char *resource, *text;
        enum units_status status;
        int64_t value;
    } rows[] = {{"cpu", "8", UNITS_OK, 8000}, {"cpu", "500m", UNITS_OK, 500},
                {"cpu", "0.5", UNITS_OK, 500}, {"cpu", "8GiB", UNITS_BAD, 0},
                {"memory", "64Gi", UNITS_OK, INT64_C(64) << 30}, {"memory", "1024", UNITS_OK,
                    1024}, {"memory", "1.5", UNITS_NO_UNIT, 0},
                {"vpc.amazonaws.com/efa", "32", UNITS_OK, 32}, {"pods", "-1", UNITS_BAD, 0}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        int64_t got = -1;
        enum units_status status = units_quantity(rows[i].resource, rows[i].text, &got);
        if (status != rows[i].status || (status == UNITS_OK && got != rows[i].value))
            fail_msg("%s '%s': status %d value %lld", rows[i].resource, rows[i].text, (int)status,
                     (long long)got);
    }
}

static void rates_and_reals_are_finite(void **state)
{
    (void)state;
    static const struct {
        enum units_status (*parse)(const char *, double *);
        const char *text;
        enum units_status status;
        double value;
    } rows[] = {
        {units_rate, "12/s", UNITS_OK, 12}, {units_rate, "3/min", UNITS_OK, 0.05}, {units_rate,
            "36/h", UNITS_OK, 0.01}, {units_rate, "86400/day", UNITS_OK, 1},
        {units_rate, "604800/week", UNITS_OK, 1}, {units_rate, "1e3/s", UNITS_OK,
                                                   1000}, {units_rate, "12", UNITS_NO_UNIT,
                                                           0}, {units_rate, "12/", UNITS_BAD, 0},
        {units_rate, "12req/s", UNITS_BAD, 0}, {units_rate, "12/month", UNITS_BAD, 0}, {units_rate,
            "-1/s", UNITS_BAD, 0}, {units_rate, "1e999/s", UNITS_RANGE, 0},
        {units_byte_rate, "10GB/s", UNITS_OK, 1e10}, {units_byte_rate, "60MiB/min", UNITS_OK,
                                                      1048576}, {units_byte_rate, "10/s", UNITS_BAD,
                                                          0}, {units_byte_rate, "10GB", UNITS_BAD,
                                                               0},
        {units_real, "0.5", UNITS_OK, 0.5}, {units_real, "-2.5e-3", UNITS_OK, -0.0025}, {units_real,
            "1e999", UNITS_RANGE, 0}, {units_real, "nan", UNITS_BAD, 0},
        {units_real, "inf", UNITS_BAD, 0}, {units_real, ".5", UNITS_BAD, 0}, {units_real, "5.",
            UNITS_BAD, 0}, {units_real, "0x1p3", UNITS_BAD, 0}, {units_real, "1e", UNITS_BAD,
                0}, {units_real, "01.5", UNITS_BAD, 0},
        {units_seconds, "40ms", UNITS_OK, 0.04}, {units_seconds, "1m30s", UNITS_OK,
                                                  90}, {units_seconds, "0.5h", UNITS_OK,
                                                        1800}, {units_seconds, "1", UNITS_NO_UNIT,
                                                                0},
        {units_seconds, "23.4ns", UNITS_OK, 23.4 / 1e9}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        double got = -1;
        enum units_status status = rows[i].parse(rows[i].text, &got);
        if (status != rows[i].status || (status == UNITS_OK && memcmp(&got, &rows[i].value,
                                                                      sizeof got) != 0))
            fail_msg("'%s': status %d value %.17g", rows[i].text, (int)status, got);
    }
}

static void only_true_and_false_are_truth_values(void **state)
{
    (void)state;
    static const char *const bad[] = {"yes", "no", "on", "off", "True", "TRUE", "1", "0", "y", ""};
    bool v = false;
    assert_int_equal(units_bool("true", &v), UNITS_OK);
    assert_true(v);
    assert_int_equal(units_bool("false", &v), UNITS_OK);
    assert_false(v);
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_int_equal(units_bool(bad[i], &v), UNITS_BAD);
}

static void what_is_printed_reads_back(void **state)
{
    (void)state;
    static const int64_t durations[] = {0, 1, 999, 1000000, INT64_C(1500000000), H + 1, 28 * 24 * H,
                                        INT64_MAX};
    static const int64_t sizes[] = {0, 1, 1000, 1024, INT64_C(80) << 30, INT64_C(15000000000),
                                    123456789, INT64_MAX};
    char text[128];
    int64_t back;
    for (size_t i = 0; i < LENGTH(durations); i++) {
        units_print_duration(text, sizeof text, durations[i]);
        assert_int_equal(units_duration(text, &back), UNITS_OK);
        assert_int_equal(back, durations[i]);
    }
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        units_print_bytes(text, sizeof text, sizes[i]);
        assert_int_equal(units_bytes(text, &back), UNITS_OK);
        assert_int_equal(back, sizes[i]);
    }
    units_print_duration(text, sizeof text, H + H / 2);
    assert_string_equal(text, "1h30m");
    units_print_bytes(text, sizeof text, INT64_C(80) << 30);
    assert_string_equal(text, "80GiB");
    units_print_milli(text, sizeof text, 250);
    assert_string_equal(text, "0.25");
    units_print_instant(text, sizeof text, INT64_C(951827696000000000));
    assert_string_equal(text, "2000-02-29T12:34:56Z");
    units_print_seconds(text, sizeof text, 23.4 / 1e9);
    assert_string_equal(text, "23.4ns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_sums_of_units_largest_first),
        cmocka_unit_test(sizes_are_decimal_or_binary),
        cmocka_unit_test(whole_numbers_have_no_leading_zeros_or_marks),
        cmocka_unit_test(cards_have_at_most_three_decimals),
        cmocka_unit_test(prices_are_exact_to_a_micro_dollar),
        cmocka_unit_test(instants_are_dates_of_the_calendar_in_utc),
        cmocka_unit_test(quantities_follow_kubernetes_and_kueues_units),
        cmocka_unit_test(rates_and_reals_are_finite),
        cmocka_unit_test(only_true_and_false_are_truth_values),
        cmocka_unit_test(what_is_printed_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
