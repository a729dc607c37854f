/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Efficiency of gangs: values of workload-models 6.6 (R1, R2, R5), and what follows from the formulas. */
#include "models/demand/communication.h"

#include "tests/demand/near.h"

static double eta(enum communication_model model, double batch, int32_t cards, int32_t nodes)
{
    struct communication c = communication_defaults(model);
    c.batch = batch > 0 ? batch : c.batch;
    return communication_efficiency(&c, cards, nodes, 1);
}

/* R5; 1 inside a node whatever its size; 0.9925 per doubling in between. */
static void a_large_model_on_a_fast_fabric_loses_as_published(void **state)
{
    (void)state;
    assert_int_equal(communication_ppm(eta(COMMUNICATION_LLM_FAST_FABRIC, 0, 8, 1)), 1000000);
    assert_int_equal(communication_ppm(eta(COMMUNICATION_LLM_FAST_FABRIC, 0, 8, 2)), 1000000);
    assert_int_equal(communication_ppm(eta(COMMUNICATION_LLM_FAST_FABRIC, 0, 16, 2)), 992500);
    assert_int_equal(communication_ppm(eta(COMMUNICATION_LLM_FAST_FABRIC, 0, 64, 8)), 977500);
    assert_int_equal(communication_ppm(eta(COMMUNICATION_LLM_FAST_FABRIC, 0, 128, 16)), 970000);
    assert_int_equal(communication_ppm(eta(COMMUNICATION_LLM_FAST_FABRIC, 0, 128, 1)), 1000000);
}

/* R1: step times at batch 100; 0.5167 s with one card. The constants of one node have three digits. */
static void imagenet_steps_take_what_the_table_says(void **state)
{
    (void)state;
    assert_near(eta(COMMUNICATION_IMAGENET, 100, 1, 1), 1, 0);
    assert_near(0.5167 / eta(COMMUNICATION_IMAGENET, 100, 4, 1), 0.518744, 1e-5);
    assert_near(0.5167 / eta(COMMUNICATION_IMAGENET, 100, 8, 2), 0.570086, 2e-6);
    assert_near(0.5167 / eta(COMMUNICATION_IMAGENET, 100, 16, 4), 0.589337, 2e-6);
    assert_near(eta(COMMUNICATION_IMAGENET, 100, 4, 1), 0.9961, 5e-5);
    assert_near(eta(COMMUNICATION_IMAGENET, 100, 8, 2), 0.9064, 5e-5);
    assert_near(eta(COMMUNICATION_IMAGENET, 100, 16, 4), 0.8767, 5e-5);
}

static double computing(double batch)
{
    return 0.0622 + 0.004545 * batch;
}

static double speed_up(int32_t cards, int32_t nodes)
{
    double batch = 400.0 / cards;
    return computing(400) / computing(batch) * eta(COMMUNICATION_IMAGENET, batch, cards, nodes);
}

/* R2: a batch of 400 over all cards. */
static void strong_scaling_saturates_as_the_table_says(void **state)
{
    (void)state;
    assert_near(speed_up(2, 1), 1.9355, 1e-4);
    assert_near(speed_up(4, 1), 3.6245, 3e-4);
    assert_near(speed_up(8, 2), 4.6098, 3e-4);
    assert_near(speed_up(16, 4), 4.6718, 3e-4);
}

/* The measured efficiencies of workload-models 4.3 (4 on 1 node, 4 on 4, 8 on 2, 16 on 4): each row within
 * the largest relative error that is stated for its fit. */
static void every_row_is_as_near_to_its_measurements_as_its_fit_says(void **state)
{
    (void)state;
    static const struct {
        enum communication_model model;
        double measured[4], error;
    } rows[] = {{COMMUNICATION_BERT, {0.96, 0.63, 0.36, 0.49}, 0.39},
                {COMMUNICATION_CIFAR10, {0.94, 0.79, 0.61, 0.78}, 0.44},
                {COMMUNICATION_DEEPSPEECH2, {0.89, 0.84, 0.58, 0.66}, 0.32},
                {COMMUNICATION_IMAGENET, {0.94, 0.97, 0.73, 0.79}, 0.41},
                {COMMUNICATION_NCF, {0.65, 0.42, 0.27, 0.29}, 0.56},
                {COMMUNICATION_YOLOV3, {0.75, 0.60, 0.31, 0.39}, 0.38}};
    static const int32_t cards[4] = {4, 4, 8, 16}, nodes[4] = {1, 4, 2, 4};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 4; k++) {
            double step = 1 / eta(rows[i].model, 0, cards[k], nodes[k]), seen = 1 / rows[i].measured[k];
            assert_near_rel(step, seen, rows[i].error + 0.02); /* two digits of the table */
        }
}

/* x of the computing time is waited for the network; o times as much across domains. */
static void oversubscription_stretches_what_is_lost(void **state)
{
    (void)state;
    struct communication c = communication_defaults(COMMUNICATION_LLM_FAST_FABRIC);
    c.loss = 0.1;
    assert_int_equal(communication_ppm(communication_efficiency(&c, 16, 2, 1)), 900000);
    assert_int_equal(communication_ppm(communication_efficiency(&c, 16, 2, 3)), 750000); /* x = 1/9 */
    assert_int_equal(communication_ppm(communication_efficiency(&c, 16, 2, 9)), 500000);
    assert_int_equal(communication_ppm(communication_efficiency(&c, 16, 1, 9)), 1000000);
    c = communication_defaults(COMMUNICATION_NCF); /* gamma 1: Tc + o Tn */
    double computes = 0.0070 + 1e-6, exchanges = 0.0151 + 0.0004 * 6;
    assert_near(communication_efficiency(&c, 8, 2, 1), computes / (computes + exchanges), 1e-12);
    assert_near(communication_efficiency(&c, 8, 4, 4), computes / (computes + 4 * exchanges), 1e-12);
    c.two_node_penalty = 1.5;
    assert_near(communication_efficiency(&c, 8, 2, 4), computes / (computes + 6 * exchanges), 1e-12);
    assert_near(communication_efficiency(&c, 8, 3, 4), computes / (computes + 4 * exchanges), 1e-12);
}

static void speeds_stay_above_nothing_and_up_to_one(void **state)
{
    (void)state;
    struct communication c = communication_defaults(COMMUNICATION_LLM_FAST_FABRIC);
    c.loss = 0.5;
    assert_int_equal(communication_ppm(communication_efficiency(&c, 1 << 30, 2, 1000)), 1);
    assert_int_equal(communication_ppm(1.2), 1000000);
    assert_int_equal(communication_ppm(0), 1);
    c = communication_defaults(COMMUNICATION_NONE);
    assert_int_equal(communication_ppm(communication_efficiency(&c, 1000, 100, 7)), 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_model_on_a_fast_fabric_loses_as_published),
        cmocka_unit_test(imagenet_steps_take_what_the_table_says),
        cmocka_unit_test(strong_scaling_saturates_as_the_table_says),
        cmocka_unit_test(every_row_is_as_near_to_its_measurements_as_its_fit_says),
        cmocka_unit_test(oversubscription_stretches_what_is_lost),
        cmocka_unit_test(speeds_stay_above_nothing_and_up_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
