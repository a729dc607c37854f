/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/load/import_help.h"

#include "scenarios/load/import/clock.h"
#include "scenarios/load/text_number.h"

static void check_decimal(const char *text, int digits, bool round, enum number_status status, int64_t value)
{
    int64_t got = value;
    assert_int_equal(number_decimal(text, digits, round, &got), status);
    assert_true(got == value);
}

static void decimals_become_integers_exactly(void **state)
{
    (void)state;
    check_decimal("1.5", 9, false, NUMBER_OK, 1500000000);
    check_decimal("-0.000000001", 9, false, NUMBER_OK, -1);
    check_decimal("0.0000000001", 9, false, NUMBER_FINE, 0);
    check_decimal("475.00000000000006", 9, true, NUMBER_OK, INT64_C(475000000000));
    check_decimal("0.0000000005", 9, true, NUMBER_OK, 1);
    check_decimal("0.00000000049999", 9, true, NUMBER_OK, 0);
    check_decimal("8.0", 0, false, NUMBER_OK, 8);
    check_decimal("1e3", 0, false, NUMBER_OK, 1000);
    check_decimal("1.25E2", 0, false, NUMBER_OK, 125);
    check_decimal("125e-2", 2, false, NUMBER_OK, 125);
    check_decimal("9223372036.854775807", 9, false, NUMBER_OK, INT64_MAX);
    check_decimal("9223372036.854775808", 9, false, NUMBER_RANGE, 0);
    check_decimal("1e400", 0, false, NUMBER_RANGE, 0);
    check_decimal("0e400", 0, false, NUMBER_OK, 0);
    check_decimal(" 7 ", 0, false, NUMBER_OK, 7);
    check_decimal("  ", 0, false, NUMBER_EMPTY, 0);
    static const char *const bad[] = {"abc", "1.2.3", ".", "-", "1e", "0x10", "nan", "inf", "1 2", "1_0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        check_decimal(bad[i], 9, true, NUMBER_BAD, 0);
    }
}

static void integers_print_without_trailing_zeros(void **state)
{
    (void)state;
    char text[32];
    number_print(text, 1500000000, 9);
    assert_string_equal(text, "1.5");
    number_print(text, -1, 9);
    assert_string_equal(text, "-0.000000001");
    number_print(text, INT64_MIN, 9);
    assert_string_equal(text, "-9223372036.854775808");
}

/* Seconds of a date text in a zone, as `date -u -d ... +%s` prints them. */
static void check_date(const char *zone, const char *text, int64_t seconds, int64_t ns)
{
    struct clock c = {.unit_ns = SIM_SECOND};
    struct err err = {0};
    assert_true(tz_open(&c.tz, zone, &err));
    int64_t got = 0;
    assert_null(clock_read(&c, text, &got));
    assert_true(got == seconds * SIM_SECOND + ns);
    tz_fini(&c.tz);
}

static void date_texts_of_every_kind_are_read(void **state)
{
    (void)state;
    check_date(NULL, "1970-01-01 00:00:00", 0, 0);
    check_date(NULL, "2000-02-29", 951782400, 0);
    check_date(NULL, "2017-10-07 01:12:09", 1507338729, 0);
    check_date(NULL, "2023-11-16 18:15:46.6805900", 1700158546, 680590000);
    check_date(NULL, "2026-05-03T20:01:59Z", 1777838519, 0);
    check_date(NULL, "2023-03-01 00:18:22+08:00", 1677601102, 0);
    check_date(NULL, "2023-03-01 00:18:22+0800", 1677601102, 0);
    check_date(NULL, "2023-02-28 16:18:22+00:00", 1677601102, 0);
    check_date("+08:00", "2023-03-01 00:18:22", 1677601102, 0);
}

static void dates_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"2017-02-29",          "2017-13-01",          "2017-00-10",
                                      "2017-10-32",          "2017-10-07 24:00:00", "2017-10-07 01:60:00",
                                      "2017-10-07 01:12",    "2017-10-07x",         "2017-10-07 01:12:09.",
                                      "2017-10-07 01:12:09.1234567890", "2017-10-07 01:12:09+8"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct clock c = {.unit_ns = SIM_SECOND};
        int64_t ns;
        assert_string_equal(clock_read(&c, bad[i], &ns), "a date such as 2017-10-21 23:03:38[.123][Z]");
    }
}

static void dates_and_numbers_do_not_mix(void **state)
{
    (void)state;
    struct clock c = {.unit_ns = SIM_MS};
    int64_t ns;
    assert_null(clock_read(&c, "12.5", &ns));
    assert_true(ns == 12500000);
    assert_string_equal(clock_read(&c, "2017-10-07", &ns), "a number as in the rows before");
    assert_string_equal(clock_read(&c, "-1", &ns), "a time that is not negative");
    assert_string_equal(clock_read(&c, "nan", &ns), "a number");
    assert_string_equal(clock_read(&c, "1e16", &ns), "a time within 150 years (is --time-unit right?)");
}

/* US Pacific: daylight saving ended 2017-11-05 at 02:00 PDT and began 2017-03-12 at 02:00 PST. */
static void the_hour_that_occurs_twice_is_read_as_its_first(void **state)
{
    (void)state;
    struct tz z;
    struct err err = {0};
    if (!tz_open(&z, "America/Los_Angeles", &err)) {
        print_message("# skipped: no zone files on this machine\n");
        return;
    }
    tz_fini(&z);
    const char *zone = "America/Los_Angeles";
    check_date(zone, "2017-10-07 01:12:09", 1507363929, 0); /* 08:12:09 UTC */
    check_date(zone, "2017-11-05 00:59:59", 1509868799, 0); /* 07:59:59 UTC */
    check_date(zone, "2017-11-05 01:30:00", 1509870600, 0); /* 08:30 UTC, PDT */
    check_date(zone, "2017-11-05 02:00:00", 1509876000, 0); /* 10:00 UTC, PST */
    check_date(zone, "2017-03-12 01:59:59", 1489312799, 0); /* 09:59:59 UTC */
    check_date(zone, "2017-03-12 02:30:00", 1489314600, 0); /* left out: read as PST */
    check_date(zone, "2017-03-12 03:00:00", 1489312800, 0); /* 10:00 UTC, PDT */
}

static void unknown_zones_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"Mars/Base", "../../etc/passwd", "/etc/passwd", "", "+25:00", "+8"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tz z;
        struct err err = {0};
        assert_false(tz_open(&z, bad[i], &err));
        assert_int_equal(err_exit_status(&err), 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_become_integers_exactly),
        cmocka_unit_test(integers_print_without_trailing_zeros),
        cmocka_unit_test(date_texts_of_every_kind_are_read),
        cmocka_unit_test(dates_that_do_not_exist_are_refused),
        cmocka_unit_test(dates_and_numbers_do_not_mix),
        cmocka_unit_test(the_hour_that_occurs_twice_is_read_as_its_first),
        cmocka_unit_test(unknown_zones_are_refused),
    };
    return cmocka_run_group_tests_name("import_clock", tests, NULL, NULL);
}
