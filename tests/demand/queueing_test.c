/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Closed forms against tables and exact small cases (workload-models 6.3 and 6.4). */
#include "models/demand/llm.h"
#include "models/demand/queueing.h"
#include "tests/demand/near.h"

static void erlang_b_agrees_with_tables(void **state)
{
    (void)state;
    assert_near(queue_erlang_b(2, 1.6), 0.329897, 1e-6);
    assert_near(queue_erlang_b(8, 6.4), 0.144394, 1e-6);
    assert_near(queue_erlang_b(100, 90), 0.026957, 1e-6);
    /* By hand: B(1, a) = a/(1+a), B(2, a) = a^2/2 / (1 + a + a^2/2). */
    assert_near(queue_erlang_b(1, 3.0), 0.75, 1e-15);
    assert_near(queue_erlang_b(2, 3.0), 4.5 / 8.5, 1e-15);
    assert_true(queue_erlang_b(0, 3.0) == 1.0);
    assert_true(queue_erlang_b(3, 0.0) == 0.0);
}

static void erlang_c_agrees_with_tables(void **state)
{
    (void)state;
    static const struct {
        int32_t c;
        double a, want;
    } rows[] = {{2, 1.6, 0.711111}, {4, 3.2, 0.596432}, {8, 7.6, 0.844169}, {16, 12.8, 0.304884},
                {100, 90, 0.216940}, {256, 240, 0.219503}, {1000, 970, 0.242823}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_near(queue_erlang_c(rows[i].c, rows[i].a), rows[i].want, 1e-6);
    assert_near(queue_erlang_c(1, 0.7), 0.7, 1e-15); /* M/M/1: rho */
    assert_true(queue_erlang_c(4, 4.0) == 1.0);
    assert_true(queue_erlang_c(1000, 1.0) < 1e-200);
}

/* The short sum must give what the textbook recurrence gives. */
static void the_short_sum_equals_the_recurrence(void **state)
{
    (void)state;
    for (int32_t c = 1; c <= 400; c += 13) {
        for (double rho = 0.05; rho < 1.6; rho += 0.11) {
            double a = rho * c, b = 1.0;
            for (int32_t k = 1; k <= c; k++)
                b = a * b / (k + a * b);
            if (b > 1e-200)
                assert_near_rel(queue_erlang_b(c, a), b, 1e-12);
        }
    }
}

static void brownian_backlog_agrees_with_the_closed_form(void **state)
{
    (void)state;
    assert_near(queue_rbm_mean(-0.05, 1.95, 100), 8.8784, 5e-5);
    assert_near(queue_rbm_mean(0.1, 2.1, 100), 17.4590, 5e-5);
    assert_near(queue_rbm_mean(0.0, 2.0, 100), 11.2838, 5e-5);
    /* No jump where the small-drift branch begins. */
    double left = queue_rbm_mean(0.999e-6, 1.0, 100), right = queue_rbm_mean(1.001e-6, 1.0, 100);
    assert_near(right - left, 2e-9 * 50, 1e-9); /* slope t/2 */
    /* Long after a start below capacity: variance / (2 |drift|). */
    assert_near_rel(queue_rbm_mean(-0.5, 2.0, 1e4), 2.0, 1e-9);
}

/* Barrer 1957, M/M/1 with constant patience D:
 * loss = (1-rho) rho e^{-(mu-lambda)D} / (1 - rho^2 e^{-(mu-lambda)D}). */
static void loss_with_patience_is_barrers_for_one_server(void **state)
{
    (void)state;
    for (double rho = 0.1; rho < 1.0; rho += 0.2) {
        for (double d = 0.0; d < 10.0; d += 1.5) {
            double e = exp(-(1.0 - rho) * d);
            double want = (1.0 - rho) * rho * e / (1.0 - rho * rho * e);
            assert_near(queue_loss_with_patience(rho, rho * e), want, 1e-14);
        }
    }
}

static void slot_chain_agrees_with_the_worked_values(void **state)
{
    (void)state;
    struct slot_chain c;
    queue_slot_chain(7.0, 1.0, 0.0621, 16, &c); /* L5 */
    assert_near(c.p_wait, 0.400843, 1e-6);
    assert_near(c.wait_mean_s, 0.390806, 1e-6);
    assert_near(c.in_service, 12.84354, 1e-5);
    assert_near(c.wait_scale_s * log(c.p_wait / 0.05), 2.029427, 1e-5);
    assert_near(c.wait_scale_s * log(c.p_wait / 0.01), 3.598566, 1e-5);
    queue_slot_chain(7.8, 1.0, 0.0621, 16, &c); /* L6 */
    assert_near(c.p_wait, 0.836722, 1e-6);
    assert_near(c.wait_mean_s, 3.707523, 1e-5);
    assert_near(c.wait_scale_s * log(c.p_wait / 0.05), 12.48423, 1e-4);
    assert_near(c.in_service / (7.8 * 100), 0.0195908, 1e-7);
    queue_slot_chain(12.5, 1.0, 0.0621, 64, &c); /* L7 */
    assert_near(c.p_wait, 0.550148, 1e-6);
    assert_near(c.wait_mean_s, 1.503658, 1e-5);
    assert_near(c.wait_scale_s * log(c.p_wait / 0.01), 10.95353, 1e-4);
    assert_near(c.in_service / (12.5 * 100), 0.0459413, 1e-7);
}

/* With work_s = 0 the chain is M/M/c: Erlang C again, and a = lambda/mu in service. */
static void slot_chain_without_shared_work_is_erlang_c(void **state)
{
    (void)state;
    struct slot_chain c;
    queue_slot_chain(3.2, 1.0, 0.0, 4, &c);
    assert_near(c.p_wait, 0.596432, 1e-6);
    assert_near(c.wait_mean_s, 0.745541, 1e-6);
    assert_near(c.in_service, 3.2, 1e-9);
    queue_slot_chain(240, 1.0, 0.0, 256, &c);
    assert_near(c.p_wait, 0.219503, 1e-6);
    assert_near(c.in_service, 240, 1e-6);
}

/* L8: far below the limit the chain is negative binomial with r = A/w + 1. The probabilities here
 * are summed from the definition, not from the code under test. */
static void occupancy_is_negative_binomial(void **state)
{
    (void)state;
    const double lone = 2.49, work = 0.05, lambda = 12, rho = lambda * work, r = lone / work + 1.0;
    assert_near(r, 50.8, 1e-12);
    double p = pow(1.0 - rho, r), mean = 0.0, second = 0.0, below_100 = 0.0;
    for (int n = 0; n < 2000; n++) {
        mean += n * p;
        second += (double)n * n * p;
        below_100 += n < 100 ? p : 0.0;
        p *= rho * (r + n) / (n + 1);
    }
    assert_near(mean, 76.2, 1e-6);
    assert_near(second - mean * mean, 190.5, 1e-5);
    assert_near(1.0 - below_100, 0.053163, 1e-6);
    struct slot_chain c;
    queue_slot_chain(lambda, lone, work, 500, &c);
    assert_near(c.in_service, 76.2, 1e-6);
    assert_true(c.p_wait < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(erlang_b_agrees_with_tables),
        cmocka_unit_test(erlang_c_agrees_with_tables),
        cmocka_unit_test(the_short_sum_equals_the_recurrence),
        cmocka_unit_test(brownian_backlog_agrees_with_the_closed_form),
        cmocka_unit_test(loss_with_patience_is_barrers_for_one_server),
        cmocka_unit_test(slot_chain_agrees_with_the_worked_values),
        cmocka_unit_test(slot_chain_without_shared_work_is_erlang_c),
        cmocka_unit_test(occupancy_is_negative_binomial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
