/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums that must close to the last micro-dollar, and the figures of managed-and-costs 5. */
#include "models/money/money.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/rng.h"

static void node_hours_are_exact_and_round_once(void **state)
{
    (void)state;
    assert_int_equal(money_time_uusd(55040000, 4, 10 * SIM_HOUR), INT64_C(2201600000));
    assert_int_equal(money_time_uusd(6880000, 1, 8760 * SIM_HOUR), INT64_C(60268800000)); /* 60,269 */
    assert_int_equal(money_time_uusd(3600, 1, SIM_SECOND), 1);
    assert_int_equal(money_time_uusd(3600, 1, SIM_SECOND / 2), 1); /* half goes up */
    assert_int_equal(money_time_uusd(3600, 1, SIM_SECOND / 2 - 1), 0);
    /* 1250 nodes of 8 H100 for 28 days: 672 h * 1250 * 55.04 */
    assert_int_equal(money_time_uusd(55040000, 1250, 28 * SIM_DAY), INT64_C(46233600000000));
}

static void parts_add_up_and_go_to_the_largest_remainders(void **state)
{
    (void)state;
    int64_t out[3];
    i128 thirds[3] = {1, 1, 1};
    assert_true(money_split(100, thirds, 3, out));
    assert_int_equal(out[0], 34);
    assert_int_equal(out[1], 33);
    assert_int_equal(out[2], 33);
    i128 uneven[3] = {1, 2, 4}; /* of 10: 1.43, 2.86, 5.71 */
    assert_true(money_split(10, uneven, 3, out));
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 3);
    assert_int_equal(out[2], 6);
    i128 none[3] = {0, 0, 0};
    assert_false(money_split(10, none, 3, out));
    assert_int_equal(out[0] + out[1] + out[2], 0);
}

static void every_rule_closes_to_the_last_unit(void **state)
{
    (void)state;
    struct rng r;
    rng_open(&r, 1, 0, 1000, 5);
    for (int i = 0; i < 20000; i++) {
        i128 held[6], quota[6], sum = 0;
        int64_t use[6], idle[6];
        int32_t teams = 1 + (int32_t)rng_below(&r, 6);
        for (int32_t t = 0; t < teams; t++) {
            held[t] = rng_below(&r, 3) == 0 ? 0 : (i128)rng_below(&r, UINT64_C(1) << 60);
            quota[t] = (i128)rng_below(&r, 3);
            sum += held[t];
        }
        struct showback_pool pool = {.cost_uusd = (int64_t)rng_below(&r, UINT64_C(1) << 45),
                                     .capacity = sum + (i128)rng_below(&r, UINT64_C(1) << 61),
                                     .held = held, .quota = quota, .team_count = teams};
        for (int rule = 0; rule < SHOWBACK_COUNT; rule++) {
            int64_t left = showback_split(&pool, (enum showback_rule)rule, use, idle);
            int64_t total = left;
            for (int32_t t = 0; t < teams; t++) {
                assert_true(use[t] >= 0 && idle[t] >= 0);
                total += use[t] + idle[t];
            }
            assert_int_equal(total, pool.cost_uusd);
            assert_true(left >= 0);
        }
    }
}

static void rules_share_idle_as_they_say(void **state)
{
    (void)state;
    /* 100 $; A held 30 %, B 10 %, C nothing: idle 60 $ */
    i128 held[3] = {30, 10, 0}, quota[3] = {1, 1, 4};
    int64_t use[3], idle[3];
    struct showback_pool pool = {.cost_uusd = 100000000, .capacity = 100, .held = held,
                                 .quota = quota, .team_count = 3};
    assert_int_equal(showback_split(&pool, SHOWBACK_NONE, use, idle), 60000000);
    assert_int_equal(use[0], 30000000);
    assert_int_equal(use[1], 10000000);
    assert_int_equal(idle[0] + idle[1] + idle[2], 0);
    assert_int_equal(showback_split(&pool, SHOWBACK_WEIGHTED, use, idle), 0);
    assert_int_equal(idle[0], 45000000);
    assert_int_equal(idle[1], 15000000);
    assert_int_equal(idle[2], 0);
    assert_int_equal(showback_split(&pool, SHOWBACK_EVEN, use, idle), 0);
    assert_int_equal(idle[2], 20000000);
    assert_int_equal(showback_split(&pool, SHOWBACK_QUOTA, use, idle), 0);
    assert_int_equal(idle[0], 10000000);
    assert_int_equal(idle[2], 40000000);
}

static void idle_without_weights_stays_in_its_own_row(void **state)
{
    (void)state;
    i128 zero[2] = {0, 0};
    int64_t use[2], idle[2];
    struct showback_pool pool = {.cost_uusd = 7, .capacity = 100, .held = zero, .quota = zero,
                                 .team_count = 2};
    assert_int_equal(showback_split(&pool, SHOWBACK_WEIGHTED, use, idle), 7);
    assert_int_equal(showback_split(&pool, SHOWBACK_QUOTA, use, idle), 7);
    pool.capacity = 0; /* a pool that was never there costs, and nobody held it */
    assert_int_equal(showback_split(&pool, SHOWBACK_WEIGHTED, use, idle), 7);
    pool.team_count = 0;
    assert_int_equal(showback_split(&pool, SHOWBACK_EVEN, use, idle), 7);
}

static void unit_costs_give_the_published_examples(void **state)
{
    (void)state;
    /* p5 at 6.88 per card-hour: 35 % useful -> 19.66, 60 % -> 11.47 */
    assert_true(fabs(money_per_useful_card_hour(6880000, 0.35) - 19.66) < 0.005);
    assert_true(fabs(money_per_useful_card_hour(6880000, 0.60) - 11.47) < 0.005);
    /* 2,654 tokens/s for an hour at 6.88 cost 0.72 per million */
    assert_true(fabs(money_per_million_tokens(6880000, 2654.0 * 3600) - 0.72) < 0.0005);
    assert_true(isnan(money_per_million_tokens(1, 0)));
    assert_true(isnan(money_per_useful_card_hour(1, 0)));
}

static void node_prices_split_as_datadog_does(void **state)
{
    (void)state;
    struct node_price_parts p = money_node_parts(55040000);
    assert_int_equal(p.card_uusd, 52288000);
    assert_int_equal(p.cpu_uusd, 1651200);
    assert_int_equal(p.memory_uusd, 1100800);
}

static void a_monthly_band_becomes_an_hourly_hazard(void **state)
{
    (void)state;
    double hazard = money_spot_hazard_per_h(0.175);
    assert_true(fabs(hazard - 2.6e-4) < 0.05e-4);         /* 2.6e-4 per hour */
    assert_true(fabs(1 / hazard - 3800) < 50);            /* one per about 3,800 instance-hours */
    assert_true(fabs(1 / hazard / 16 - 240) < 5);         /* 16 nodes: every about 240 h */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_hours_are_exact_and_round_once),
        cmocka_unit_test(parts_add_up_and_go_to_the_largest_remainders),
        cmocka_unit_test(every_rule_closes_to_the_last_unit),
        cmocka_unit_test(rules_share_idle_as_they_say),
        cmocka_unit_test(idle_without_weights_stays_in_its_own_row),
        cmocka_unit_test(unit_costs_give_the_published_examples),
        cmocka_unit_test(node_prices_split_as_datadog_does),
        cmocka_unit_test(a_monthly_band_becomes_an_hourly_hazard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
