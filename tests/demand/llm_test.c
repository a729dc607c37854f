/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replica formulas against the worked values of workload-models 6.4. */
#include "models/demand/llm.h"
#include "tests/demand/near.h"

/* 6.4: p = 1000, o = 101 constant, A = 1 s, w = 0.0621 s. */
static const struct replica_law plain = {.c0_s = 0.01, .a_s = 50e-6, .d1_s = 100e-6, .d2_s = 20e-9};
/* L11: 70B fp8 on four H200. */
static const struct replica_law h200 = {.c0_s = 9.27e-3, .a_s = 27.1e-6, .d1_s = 55.5e-6,
                                        .d2_s = 23.4e-9};

static struct llm_sizes sizes_of(struct replica_law law, double p, double o)
{
    struct llm_sizes s;
    llm_sizes_init(&s, &law, p, 0.0, o, 0.0);
    return s;
}

static void work_per_request_is_as_computed_by_hand(void **state)
{
    (void)state;
    struct llm_sizes s = sizes_of(plain, 1000, 101);
    assert_near(s.lone_s, 1.0, 1e-12);
    /* 1000*50us + 100*100us + 20ns*(100*1000 + 100^2/2) */
    assert_near(s.work_s, 0.05 + 0.01 + 0.0021, 1e-12);
    assert_near(sizes_of(h200, 1000, 250).work_s, 0.04747, 5e-6);
}

static void second_moments_of_lengths_enter_the_work(void **state)
{
    (void)state;
    struct replica_law law = plain;
    law.aq_s = 2e-9;
    struct llm_sizes s;
    llm_sizes_init(&s, &law, 1000, 2.0, 101, 1.0);
    /* E[p^2] = 5e6, E[(o-1)^2] = 2e4 */
    double want = 0.05 + 0.5 * 2e-9 * 5e6 + 0.01 + 20e-9 * (1e5 + 1e4);
    assert_near(s.work_s, want, 1e-12);
}

static double limit(struct replica_law law, int32_t seqs, int32_t tokens, double kv)
{
    law.max_num_seqs = seqs;
    law.max_num_batched_tokens = tokens;
    law.kv_capacity_tokens = kv;
    return sizes_of(law, 1000, law.c0_s == plain.c0_s ? 101 : 250).lambda_max;
}

static void capacity_is_the_least_of_the_three_limits(void **state)
{
    (void)state;
    assert_near(limit(plain, 16, 0, 0), 8.025682, 1e-6); /* L4 */
    assert_near(limit(plain, 64, 0, 0), 12.865873, 1e-6);
    assert_near(limit(plain, 0, 2048, 0), 14.821162, 1e-6);
    assert_near(limit(plain, 0, 0, 50000), 0.93 * 12.033694, 1e-6);
    assert_near(limit(plain, 0, 0, 0), 16.103060, 1e-6);
    assert_near(limit(plain, 64, 2048, 50000), 0.93 * 12.033694, 1e-6);
    assert_near(limit(h200, 256, 0, 0), 17.7029, 1e-4); /* L11 */
    assert_near(limit(h200, 0, 2048, 0), 18.8235, 1e-4);
    assert_near(limit(h200, 0, 0, 500000), 0.93 * 18.9888, 1e-4);
    assert_near(1.0 / sizes_of(h200, 1000, 250).work_s, 21.1, 0.05);
}

static void rate_for_a_tpot_target_is_as_worked(void **state)
{
    (void)state;
    struct llm_sizes s = sizes_of(h200, 1000, 250);
    assert_near(llm_rate_for_tpot(&s, &h200, 0.030), 14.556, 1e-3);
    assert_true(llm_rate_for_tpot(&s, &h200, 0.009) == 0.0);
}

static void stationary_values_are_as_worked(void **state)
{
    (void)state;
    /* L1 to L3: lambda, TPOT ms, N, TTFT ms, E2E by (A+w)/(1-rho) */
    static const double rows[3][5] = {{4, 13.305, 5.6525, 77.249, 1.41312},
                                      {8, 19.873, 16.8855, 101.238, 2.11069},
                                      {12, 39.246, 50.0204, 160.432, 4.16837}};
    struct llm_sizes s = sizes_of(plain, 1000, 101);
    for (int i = 0; i < 3; i++) {
        struct station st;
        llm_station(&s, &plain, rows[i][0], 1, 1.0, &st);
        assert_near(st.iteration_s * 1e3, rows[i][1], 1e-3);
        assert_near(st.in_service, rows[i][2], 1e-4);
        assert_near(st.own_ttft_s * 1e3, rows[i][3], 1e-3);
        assert_near(st.in_service / rows[i][0], rows[i][4], 1e-5); /* Little */
        assert_near(st.own_mean_s - st.gate_s - st.base_s, rows[i][4], 1e-5);
    }
    struct station st;
    llm_station(&s, &plain, 4, 1, 1.0, &st);
    assert_near(1.0 - st.busy, 7.57e-3, 1e-5);
}

static void replicas_share_the_rate(void **state)
{
    (void)state;
    struct llm_sizes s = sizes_of(plain, 1000, 101);
    struct station one, ten;
    llm_station(&s, &plain, 8, 1, 1.0, &one);
    llm_station(&s, &plain, 80, 10, 1.0, &ten);
    assert_near_rel(ten.own_mean_s, one.own_mean_s, 1e-12);
    assert_near_rel(ten.busy, one.busy, 1e-12);
    assert_near_rel(ten.in_service, 10 * one.in_service, 1e-12);
}

static void slots_make_requests_wait_as_the_chain_says(void **state)
{
    (void)state;
    struct replica_law law = plain;
    law.max_num_seqs = 16;
    struct llm_sizes s = sizes_of(law, 1000, 101);
    struct station st;
    llm_station(&s, &law, 7.8, 1, 1.0, &st);
    assert_near(st.p_wait, 0.836722, 1e-5); /* L6 */
    /* Constant work: half the wait of exponential work. */
    assert_near_rel(st.p_wait * st.wait_scale_s, 3.707523 / 2, 1e-4);
    /* N in service by the chain and Little: 1.95908 s of service */
    assert_near_rel(st.own_mean_s - st.gate_s - st.base_s, 1.95908, 0.01);
    assert_near(s.slots, 16, 1e-9);
}

static void saturation_fills_every_slot(void **state)
{
    (void)state;
    struct replica_law law = plain;
    law.max_num_seqs = 64;
    struct llm_sizes s = sizes_of(law, 1000, 101);
    struct station st;
    llm_station(&s, &law, 100, 3, 1.0, &st);
    assert_near(st.in_service, 192, 1e-6);
    assert_true(st.busy == 1.0);
    /* 64 in flight, 100 iterations of c0 + 64 w/100 each; throughput 64/(A + 64 w) */
    assert_near(st.iteration_s * 100, 1.0 + 64 * 0.0621, 1e-9);
    assert_near(64 / (st.own_mean_s - st.gate_s - st.base_s), s.lambda_max, 1e-9);
}

/* 2.3: TTFT x 1.8-1.9 at CV 2 and x 4.6-5.0 at CV 4, x 0.7-0.8 at CV 0.3; TPOT +2..7 and +18..28 %. */
static void bursty_arrivals_hit_ttft_and_hardly_tpot(void **state)
{
    (void)state;
    struct llm_sizes s = sizes_of(plain, 1000, 101);
    struct station one, two, four, smooth;
    llm_station(&s, &plain, 8, 1, 1.0, &one);
    llm_station(&s, &plain, 8, 1, 2.0, &two);
    llm_station(&s, &plain, 8, 1, 4.0, &four);
    llm_station(&s, &plain, 8, 1, 0.3, &smooth);
    assert_between(two.own_ttft_s / one.own_ttft_s, 1.8, 1.9);
    assert_between(four.own_ttft_s / one.own_ttft_s, 4.6, 5.3);
    assert_between(smooth.own_ttft_s / one.own_ttft_s, 0.7, 0.8);
    assert_between(two.decode_s / one.decode_s, 1.02, 1.07);
    assert_between(four.decode_s / one.decode_s, 1.18, 1.28);
}

static void work_that_only_reads_prompts_has_a_capacity(void **state)
{
    (void)state;
    struct replica_law law = plain;
    law.max_num_batched_tokens = 2048;
    struct llm_sizes s;
    llm_sizes_init(&s, &law, 500, 0.0, 1, 0.0); /* embeddings: one token out */
    assert_near(s.lambda_max, 2048 / (500 * 0.01 + 2048 * 0.025), 1e-9);
    struct station st;
    llm_station(&s, &law, 10, 1, 1.0, &st);
    assert_true(st.decode_s == 0.0 && st.p_wait == 0.0 && st.own_mean_s > 0.025);
    llm_station(&s, &law, 1000, 1, 1.0, &st);
    assert_true(isfinite(st.own_mean_s) && isfinite(st.in_service));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_per_request_is_as_computed_by_hand),
        cmocka_unit_test(second_moments_of_lengths_enter_the_work),
        cmocka_unit_test(capacity_is_the_least_of_the_three_limits),
        cmocka_unit_test(rate_for_a_tpot_target_is_as_worked),
        cmocka_unit_test(stationary_values_are_as_worked),
        cmocka_unit_test(replicas_share_the_rate),
        cmocka_unit_test(slots_make_requests_wait_as_the_chain_says),
        cmocka_unit_test(saturation_fills_every_slot),
        cmocka_unit_test(bursty_arrivals_hit_ttft_and_hardly_tpot),
        cmocka_unit_test(work_that_only_reads_prompts_has_a_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
