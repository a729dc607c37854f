/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of workload-models 5.1, 5.3, 5.4 and 6.6 (A1 to A5). GB are 10^9 bytes, as there. */
#include "models/demand/lora_base.h"

#include "tests/demand/near.h"

/* Llama-3.1-8B: q, k, v, o, gate, up, down of a layer. */
#define DIMS_8B (8192 + 5120 + 5120 + 8192 + 3 * 18432)
/* Llama-3.1-70B: q, k, v, o alone. */
#define DIMS_70B_ATTENTION (16384 + 9216 + 9216 + 16384)

static struct lora_adapter adapter_8b(void)
{
    return (struct lora_adapter){.rank = 16,
                                 .bytes = 2 * lora_parameters(16, 32, DIMS_8B),
                                 .activation_bytes = 2920000000};
}

static void parameters_and_state_are_those_of_the_table(void **state)
{
    (void)state;
    struct lora_adapter a = adapter_8b();
    assert_int_equal(lora_parameters(16, 32, DIMS_8B), 41943040);               /* A1 */
    assert_int_equal(lora_adapter_memory(&a, false), INT64_C(16) * 41943040);   /* 0.671 GB */
    assert_near((double)lora_adapter_memory(&a, false) / 1e9, 0.671, 5e-4);
    assert_int_equal(lora_parameters(16, 80, DIMS_70B_ATTENTION), 65536000);    /* A2 */
    assert_near(2.0 * 65536000 / 1e6, 131, 0.1);
    a.memory_bytes = 5;
    assert_int_equal(lora_adapter_memory(&a, true), 5);
}

static double training_gb(int32_t tenants, enum lora_mode mode)
{
    struct lora_sharing p = lora_sharing_defaults();
    struct lora_memory m = lora_memory_open(16060000000, false, &p);
    struct lora_adapter a = adapter_8b();
    for (int32_t i = 0; i < tenants; i++)
        lora_memory_add(&m, &a, false);
    return (double)lora_memory_training(&m, mode) / 1e9;
}

static void five_tenants_keep_one_base(void **state)
{
    (void)state;
    double one = training_gb(1, LORA_TIME_SHARE), five = training_gb(5, LORA_TIME_SHARE);
    assert_near(one, 20.65, 0.01);                                /* A1 */
    assert_near(five, 23.3, 0.05);                                /* A3 */
    assert_near(1 - five / (5 * one), 0.774, 5e-4);
    assert_near(1 - training_gb(5, LORA_FUSED) / (5 * one), 0.66, 5e-3); /* all activations at once */
}

static void serving_takes_slots_of_the_largest_adapter(void **state)
{
    (void)state;
    struct lora_sharing p = lora_sharing_defaults();
    struct lora_memory m = lora_memory_open(16000000000, true, &p);
    lora_memory_add(&m, &(struct lora_adapter){.bytes = 27000000}, true);
    lora_memory_add(&m, &(struct lora_adapter){.bytes = 54000000}, true);
    assert_int_equal(lora_memory_serving(&m, 5), 16000000000 + 3760000000 + 5 * INT64_C(54000000));
}

static void cards_of_five_tenants_are_those_of_the_claim(void **state)
{
    (void)state;
    static const struct { double u; double saving; } row[] = { /* A4 and the table of 5.3 */
        {0.1, 0.8}, {0.2, 0.8}, {0.25, 0.6}, {0.4, 0.6}, {0.6, 0.4}, {1.0, 0}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_near(1 - (double)lora_cards(5, 5, 5 * row[i].u, 0) / 5, row[i].saving, 1e-12);
        assert_near(1 - (double)lora_cards(5, 5, 5 * row[i].u, 0.17) / 5, row[i].saving, 1e-12);
    }
    assert_int_equal(lora_cards(6, 5, 0.6, 0), 2); /* A5: a second instance */
    /* Large pool, whole cards lost to rounding: 1 - 0.2/1.17, 1 - 1/1.17. */
    assert_near(1 - (double)lora_cards(50000, 5, 50000 * 0.2, 0.17) / 50000, 0.80, 1e-12);
    assert_near(1 - (double)lora_cards(50000, 5, 50000 * 1.0, 0.17) / 50000, 0.15, 5e-3);
}

static void busy_tenants_have_equal_parts(void **state)
{
    (void)state;
    int64_t got[5], asked[5] = {1000000, 1000000, 1000000, 1000000, 1000000};
    lora_fair(asked, 5, lora_capacity_ppm(LORA_TIME_SHARE, 0.17, 5), got);
    for (int i = 0; i < 5; i++)
        assert_int_equal(got[i], 200000); /* 1/k of the card */
    lora_fair(asked, 5, lora_capacity_ppm(LORA_FUSED, 0.17, 5), got);
    assert_int_equal(got[4], 234000); /* (1 + g)/k */
    assert_int_equal(lora_capacity_ppm(LORA_FUSED, 0.17, 1), 1000000); /* nothing to fuse with */
}

static void a_tenant_gets_no_more_than_it_asks_for(void **state)
{
    (void)state;
    int64_t got[4], asked[4] = {100000, 700000, 0, 400000};
    lora_fair(asked, 4, 1000000, got);
    assert_int_equal(got[0], 100000);
    assert_int_equal(got[1], 500000); /* 1 - 0.1 - 0.4: it alone asks for more than is left */
    assert_int_equal(got[2], 0);
    assert_int_equal(got[3], 400000);
}

static void distinct_adapters_slow_an_iteration(void **state)
{
    (void)state;
    struct lora_sharing p = lora_sharing_defaults();
    assert_near(lora_serving_factor(&p, 0, 0), 1, 0);
    assert_near(lora_serving_factor(&p, 1, 16), 1.06, 1e-12);
    assert_near(lora_serving_factor(&p, 5, 16), 1.10, 1e-12);
    assert_near(lora_serving_factor(&p, 5, 32), 1.15, 1e-12);
    assert_near(lora_serving_factor(&p, 64, 32), 1.5, 0); /* cap */
}

/* Processor sharing: with loads rho_i, each takes 1/(1 - sum rho) times its time alone. */
static void a_request_is_slowed_by_all_loads_together(void **state)
{
    (void)state;
    double speeds[3], loads[3] = {0.1, 0.2, 0.3};
    lora_serving_speeds(loads, 3, 1, speeds, NULL);
    for (int i = 0; i < 3; i++)
        assert_near(speeds[i] * (1 - loads[i] / speeds[i]), 1 - 0.6, 2e-6);
    lora_serving_speeds(loads, 3, 1.1, speeds, NULL);
    for (int i = 0; i < 3; i++) /* in units of the factor's longer time */
        assert_near(1.1 * speeds[i] * (1 - loads[i] / speeds[i]), 1 - 0.66, 2e-6);
    double many[2] = {3, 0.25}; /* overload: the small one keeps what it needs */
    lora_serving_speeds(many, 2, 1, speeds, NULL);
    assert_near(speeds[0], 0.75, 1e-6);
    assert_near(speeds[1], 0.25, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_and_state_are_those_of_the_table),
        cmocka_unit_test(five_tenants_keep_one_base),
        cmocka_unit_test(serving_takes_slots_of_the_largest_adapter),
        cmocka_unit_test(cards_of_five_tenants_are_those_of_the_claim),
        cmocka_unit_test(busy_tenants_have_equal_parts),
        cmocka_unit_test(a_tenant_gets_no_more_than_it_asks_for),
        cmocka_unit_test(distinct_adapters_slow_an_iteration),
        cmocka_unit_test(a_request_is_slowed_by_all_loads_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
