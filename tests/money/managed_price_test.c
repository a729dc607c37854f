/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worked examples of managed-and-costs section 2. */
#include "models/money/managed_price.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct catalogue *cat(void)
{
    return catalogue_builtin();
}

static void tokens_cost_their_price_times_the_tier(void **state)
{
    (void)state;
    struct token_price llama, sonnet;
    assert_true(token_price_find(cat(), "llama-3.3-70b", &llama));
    assert_true(token_price_find(cat(), "claude-sonnet-5", &sonnet));
    assert_false(token_price_find(cat(), "llama-9", &llama));
    struct token_usage million = {.in = 1000000}, answers = {.in = 2000, .out = 500};
    assert_int_equal(token_cost_uusd(&llama, &million, 1000), 720000);
    assert_int_equal(token_cost_uusd(&sonnet, &answers, 1000), 4000 + 5000);
    assert_int_equal(token_cost_uusd(&llama, &million, token_tier_milli(cat(), "flex")), 360000);
    assert_int_equal(token_cost_uusd(&llama, &million, token_tier_milli(cat(), "batch")), 360000);
    assert_int_equal(token_cost_uusd(&llama, &million, token_tier_milli(cat(), "priority")), 1260000);
    assert_int_equal(token_tier_milli(cat(), "regional"), 1100);
    assert_int_equal(token_tier_milli(cat(), "gold"), -1);
    struct token_price cached = {.in = 3000000, .cache_read = 300000, .cache_write = 3750000};
    struct token_usage reads = {.cache_read = 100000, .cache_write = 10000};
    assert_int_equal(token_cost_uusd(&cached, &reads, 1000), 30000 + 37500);
}

static void burndown_changes_the_quota_never_the_bill(void **state)
{
    (void)state;
    struct token_usage a = {.in = 2000, .out = 500}, b = {.in = 1000, .out = 1000};
    assert_int_equal(token_quota(&a, 5), 4500);
    assert_int_equal(token_quota(&b, 10), 11000);
    struct token_price one = {.in = 1000000, .out = 1000000};
    assert_int_equal(token_cost_uusd(&one, &b, 1000), 2000); /* 2,000 tokens at 1 usd per million */
}

static void the_bucket_reserves_and_settles(void **state)
{
    (void)state;
    struct token_bucket b;
    token_bucket_init(&b, 10000);
    assert_true(token_bucket_admit(&b, 0, 6000));
    assert_false(token_bucket_admit(&b, SIM_SECOND, 6000)); /* 429 */
    token_bucket_finish(&b, 2 * SIM_SECOND, 6000, 2500);     /* 3,500 come back */
    assert_true(token_bucket_admit(&b, 3 * SIM_SECOND, 7500));
    assert_false(token_bucket_admit(&b, 3 * SIM_SECOND, 1));
    token_bucket_finish(&b, 4 * SIM_SECOND, 7500, 12500);    /* burndown: 5,000 more than reserved */
    assert_false(token_bucket_admit(&b, SIM_MINUTE, 5001));  /* the next minute pays for it */
    assert_true(token_bucket_admit(&b, SIM_MINUTE, 5000));
    assert_true(token_bucket_admit(&b, 2 * SIM_MINUTE, 10000));
    assert_false(token_bucket_admit(&b, 2 * SIM_MINUTE, 10001));
}

static void model_units_cost_whether_used_or_not(void **state)
{
    (void)state;
    double month1 = catalogue_value(cat(), "model_unit", "llama-2-70b", "1_month");
    double month6 = catalogue_value(cat(), "model_unit", "llama-2-70b", "6_months");
    assert_true(fabs(month1 * 730 - 15461) < 0.5);
    assert_true(fabs(month6 * 730 - 9548) < 0.5);
    assert_true(fabs(model_unit_break_even(21.18, 1.95) - 21.18 / 1.95 * 1e6) < 1);
}

static int64_t cmu_price(const char *region)
{
    return (int64_t)(catalogue_value(cat(), "cmi", region, "price") * 1e6 + 0.5);
}

static void imported_models_pay_whole_windows(void **state)
{
    (void)state;
    assert_int_equal(cmi_cost_uusd(1, 1, cmu_price("us")), 285900);
    assert_int_equal(cmi_cost_uusd(1, 2, cmu_price("us")), 571800);
    assert_int_equal(cmi_cost_uusd(1, 2, cmu_price("older")), 785000);
    int64_t hour = cmi_cost_uusd(12, 8, cmu_price("us"));
    assert_int_equal(hour, 27446400);                       /* 27.45 an hour */
    assert_true(fabs((double)hour * 730 / 1e6 - 20036) < 0.5); /* a month */
}

static void windows_count_from_the_first_call_of_a_copy(void **state)
{
    (void)state;
    struct cmi_copy c = {0};
    assert_true(cmi_call(&c, 100 * SIM_SECOND)); /* window 100..400 */
    assert_false(cmi_call(&c, 399 * SIM_SECOND));
    assert_int_equal(c.windows, 1);
    assert_false(cmi_call(&c, 400 * SIM_SECOND)); /* 400..700 */
    assert_int_equal(c.windows, 2);
    assert_false(cmi_call(&c, 699 * SIM_SECOND));
    assert_false(cmi_call(&c, 998 * SIM_SECOND)); /* 700..1000, 299 s after the last call */
    assert_int_equal(c.windows, 3);
    assert_true(cmi_call(&c, 1298 * SIM_SECOND)); /* 300 idle seconds: a new copy */
    assert_int_equal(c.windows, 4);
    struct cmi_copy busy = {0};
    for (sim_time t = 0; t < SIM_HOUR; t += 30 * SIM_SECOND)
        cmi_call(&busy, t);
    assert_int_equal(busy.windows, 12);
}

static void training_jobs_pay_by_the_second(void **state)
{
    (void)state;
    int64_t p5 = ml_price_uusd(cat(), "p5.48xlarge");
    assert_int_equal(p5, 63296000);
    /* two instances for 1.5 h, kept warm half an hour: 2 * 2 h * 63.296 */
    assert_int_equal(training_cost_uusd(5400 * SIM_SECOND, 1800 * SIM_SECOND, 2, p5), 253184000);
    assert_int_equal(training_cost_uusd(SIM_SECOND, 0, 1, p5), 17582); /* 63.296 / 3600 */
    assert_true(fabs(training_spot_saving(30 * SIM_MINUTE, 100 * SIM_MINUTE) - 0.7) < 1e-12);
}

static void ml_prices_follow_the_published_ratios(void **state)
{
    (void)state;
    static const struct {
        const char *instance;
        double ratio;
    } rows[] = {{"p5.48xlarge", 1.150}, {"p4d.24xlarge", 1.150}, {"g7e.2xlarge", 1.250},
                {"g7e.48xlarge", 1.250}, {"g6.48xlarge", 1.250},  {"g5.48xlarge", 1.250},
                {"g6.xlarge", 1.40},     {"g5.xlarge", 1.40}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int32_t k = catalogue_find_instance(cat(), rows[i].instance);
        assert_true(k >= 0);
        double ec2 = (double)cat()->instances[k].price_uusd_per_h;
        assert_true(fabs((double)ml_price_uusd(cat(), rows[i].instance) / ec2 - rows[i].ratio) <
                    0.005);
        assert_true(fabs(ml_uplift(cat(), rows[i].instance) - rows[i].ratio) < 1e-12);
    }
    /* without a row of its own: 5.672 * 1.25, and nothing where EC2 has no price */
    assert_int_equal(ml_price_uusd(cat(), "g5.12xlarge"), 7090000);
    assert_int_equal(ml_price_uusd(cat(), "p5e.48xlarge"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_cost_their_price_times_the_tier),
        cmocka_unit_test(burndown_changes_the_quota_never_the_bill),
        cmocka_unit_test(the_bucket_reserves_and_settles),
        cmocka_unit_test(model_units_cost_whether_used_or_not),
        cmocka_unit_test(imported_models_pay_whole_windows),
        cmocka_unit_test(windows_count_from_the_first_call_of_a_copy),
        cmocka_unit_test(training_jobs_pay_by_the_second),
        cmocka_unit_test(ml_prices_follow_the_published_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
