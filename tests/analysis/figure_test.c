/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void prints(enum metric_format format, double value, const char *expected)
{
    char text[FIGURE_SIZE];
    figure_print(text, format, value);
    assert_string_equal(text, expected);
}

static void figures_have_human_units_and_three_digits(void **state)
{
    (void)state;
    prints(METRIC_PERCENT, 0.618, "61.8");
    prints(METRIC_PERCENT, 1, "100.0");
    prints(METRIC_PERCENT, 0.9991, "99.91");
    prints(METRIC_DURATION, 0, "0s");
    prints(METRIC_DURATION, 0.35, "350ms");
    prints(METRIC_DURATION, 2.5, "2.50s");
    prints(METRIC_DURATION, 119, "119s");
    prints(METRIC_DURATION, 600, "10.0min");
    prints(METRIC_DURATION, 3 * 3600, "3.00h");
    prints(METRIC_DURATION, 5.5 * 86400, "5.50d");
    prints(METRIC_AMOUNT, 978078.47, "978k");
    prints(METRIC_AMOUNT, 999999, "1.00M");
    prints(METRIC_AMOUNT, 1243, "1243");
    prints(METRIC_COUNT, 82247, "82.2k");
    prints(METRIC_COUNT, 12, "12");
    prints(METRIC_COUNT, 12.5, "12.5");
    prints(METRIC_MONEY, 1.8251, "1.83");
    prints(METRIC_MONEY, 43.1e6, "43.1M");
    prints(METRIC_MONEY, (double)NAN, "–");
    prints(METRIC_DURATION, (double)INFINITY, "∞");
}

static void changes_carry_their_sign(void **state)
{
    char text[FIGURE_SIZE];
    (void)state;
    figure_print_change(text, METRIC_DURATION, -7560);
    assert_string_equal(text, "-2.10h");
    figure_print_change(text, METRIC_PERCENT, 0.263);
    assert_string_equal(text, "+26.3");
}

static void interval(struct figure f, enum metric_format format, size_t width, const char *expected)
{
    char text[FIGURE_SIZE];
    figure_print_interval(text, format, &f, width, NULL);
    assert_string_equal(text, expected);
    assert_true(figure_columns(text) <= width || width < 4);
}

static void intervals_share_unit_and_digit_and_shrink_to_fit(void **state)
{
    (void)state;
    interval((struct figure){0.618, 0.004, false, false}, METRIC_PERCENT, 12, "61.8 ±0.4");
    interval((struct figure){11160, 720, true, false}, METRIC_DURATION, 13, "≥3.10 ±0.20h");
    interval((struct figure){11160, 720, true, false}, METRIC_DURATION, 11, "≥3.1 ±0.2h");
    interval((struct figure){11160, 720, true, false}, METRIC_DURATION, 6, "≥3.10h");
    interval((struct figure){11160, 720000, false, false}, METRIC_DURATION, 12, "3.10 ±200h");
    interval((struct figure){120000, 2000, false, false}, METRIC_AMOUNT, 12, "120 ±2k");
    interval((struct figure){120000, (double)NAN, false, false}, METRIC_AMOUNT, 12, "120k");
    interval((struct figure){(double)NAN, (double)NAN, true, false}, METRIC_AMOUNT, 12, "–");
    interval((struct figure){(double)INFINITY, (double)NAN, true, false}, METRIC_DURATION, 12, "≥∞");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_have_human_units_and_three_digits),
        cmocka_unit_test(changes_carry_their_sign),
        cmocka_unit_test(intervals_share_unit_and_digit_and_shrink_to_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
