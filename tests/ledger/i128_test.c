/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/ledger/i128.h"

static void a_fleet_month_does_not_overflow(void **state)
{
    (void)state;
    /* 10,000 cards for 28 days are 10,000 * 28 * 86,400 card-seconds. */
    int64_t ns_28_days = (int64_t)28 * 86400 * 1000000000;
    struct i128_card_s s = i128_split(i128_mcns((int64_t)10000 * 1000, ns_28_days));
    assert_int_equal(s.card_s, (int64_t)10000 * 28 * 86400);
    assert_int_equal(s.rest_mcns, 0);
}

static void the_rest_is_below_a_card_second_and_joins_back(void **state)
{
    (void)state;
    i128 x = (i128)5 * I128_MCNS_PER_CARD_S + 999999999999;
    struct i128_card_s s = i128_split(x);
    assert_int_equal(s.card_s, 5);
    assert_int_equal(s.rest_mcns, 999999999999);
    assert_true(i128_join(s) == x);
    struct i128_card_s negative = i128_split(-1);
    assert_int_equal(negative.card_s, -1);
    assert_int_equal(negative.rest_mcns, 999999999999);
    assert_true(i128_join(negative) == -1);
}

static void card_hours_and_ratios_are_plain(void **state)
{
    (void)state;
    i128 two_cards_half_an_hour = i128_mcns(2000, (int64_t)1800 * 1000000000);
    assert_true(i128_card_hours(two_cards_half_an_hour) == 1.0);
    assert_true(i128_ratio(two_cards_half_an_hour, two_cards_half_an_hour * 4) == 0.25);
    assert_true(i128_ratio(1, 0) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fleet_month_does_not_overflow),
        cmocka_unit_test(the_rest_is_below_a_card_second_and_joins_back),
        cmocka_unit_test(card_hours_and_ratios_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
