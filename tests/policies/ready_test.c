/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waitForPodsReady and admission fair sharing, against the specification's values. */
#include "tests/policies/cluster.h"

#include "models/policies/kueue/kq.h"
#include "models/policies/kueue/usage.h"

static struct cluster *waiting(int64_t base_s, int64_t max_s, int64_t limit)
{
    struct cluster *c = cl_new();
    cl_queue(c, "q", POLICY_NONE, 4, CL_NIL, CL_NIL);
    c->cfg.pods_ready = (struct policy_pods_ready){.on = true,
                                                   .timeout_ns = 10 * (int64_t)CL_S,
                                                   .recovery_timeout_ns = 5 * (int64_t)CL_S,
                                                   .backoff_limit = limit,
                                                   .backoff_base_ns = base_s * CL_S,
                                                   .backoff_max_ns = max_s * CL_S};
    cl_start(c);
    return c;
}

static void expect_delays(int64_t base, int64_t max, const int64_t *delays, uint32_t n)
{
    struct cluster *c = waiting(base, max, POLICY_NIL);
    cl_submit(c, 1, 0, 0, 1);
    for (uint32_t i = 0; i < n; i++) {
        const int64_t at = settle_next(c->settle, false); /* the timeout */
        cl_forget(c);
        cl_settle(c, at / CL_S);
        assert_int_equal(c->evicted_count, 1);
        assert_int_equal(c->evicted[0].reason, POLICY_EVICT_PODS_READY_TIMEOUT);
        assert_int_equal(c->evicted[0].count, i + 1);
        assert_int_equal(c->evicted[0].until_ns - at, delays[i] * CL_S);
        while (!c->admitted[0])
            cl_settle(c, settle_next(c->settle, false) / CL_S);
    }
    cl_end(c);
}

static void the_delay_doubles_up_to_its_cap_but_the_first_one_is_never_cut(void **state)
{
    (void)state;
    static const int64_t defaults[] = {60, 120, 240, 480, 960, 1920, 3600, 3600};
    static const int64_t above[] = {20, 15, 15};
    expect_delays(60, 3600, defaults, 8);
    expect_delays(20, 15, above, 3);
}

static void ready_in_time_stops_the_timeout_and_unready_starts_another(void **state)
{
    (void)state;
    struct cluster *c = waiting(60, 3600, POLICY_NIL);
    const uint32_t w = cl_submit(c, 1, 0, 0, 1);
    assert_int_equal(settle_next(c->settle, false), 11 * (int64_t)CL_S);
    cl_give(c, 11, POLICY_IN_READY, w); /* exactly at the timeout is in time */
    assert_int_equal(c->evicted_count, 0);
    assert_true(settle_next(c->settle, false) == POLICY_NEVER);
    cl_give(c, 20, POLICY_IN_UNREADY, w);
    assert_int_equal(settle_next(c->settle, false), 25 * (int64_t)CL_S);
    cl_give(c, 24, POLICY_IN_READY, w);
    assert_true(settle_next(c->settle, false) == POLICY_NEVER);
    cl_end(c);
}

static void above_the_limit_it_is_deactivated_and_its_quota_is_free_at_once(void **state)
{
    (void)state;
    struct cluster *c = waiting(1, 3600, 0);
    c->settling.eviction_ns = 0;
    const uint32_t w = cl_submit(c, 1, 0, 0, 4), next = cl_submit(c, 2, 0, 0, 4);
    cl_settle(c, 11);
    assert_int_equal(c->deactivated_count, 1);
    assert_int_equal(c->evicted[0].victim, w);
    assert_int_equal(c->evicted[0].reason, POLICY_EVICT_DEACTIVATED);
    assert_true(c->admitted[next]);
    cl_end(c);
}

static void block_admission_waits_for_whoever_is_not_ready(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_queue(c, "q", POLICY_NONE, 9, CL_NIL, CL_NIL);
    c->cfg.pods_ready = (struct policy_pods_ready){.on = true,
                                                   .block_admission = true,
                                                   .timeout_ns = 100 * (int64_t)CL_S,
                                                   .backoff_limit = POLICY_NIL};
    cl_start(c);
    const uint32_t first = cl_submit(c, 1, 0, 0, 1), second = cl_submit(c, 2, 0, 0, 1);
    assert_true(c->admitted[first]);
    assert_false(c->admitted[second]);
    assert_int_equal(cl_settle(c, 3), SETTLE_BLOCKED);
    cl_give(c, 7, POLICY_IN_READY, first);
    assert_true(c->admitted[second]);
    cl_end(c);
}

/* Spec 6.1: half-life 10 min, sampling 5 min, 8 cores: a penalty of 2.34315; with consumed 10 and
 * 4 admitted, a sample gives 8.24264. */
static void usage_decays_with_its_half_life(void **state)
{
    (void)state;
    struct cluster *c = cl_new();
    cl_queue(c, "q", POLICY_NONE, 100, CL_NIL, CL_NIL);
    c->queues[0].usage_based_admission = true;
    c->cfg.admission_fair_sharing = (struct policy_admission_fair_sharing){
        .on = true, .half_life_ns = 600 * (int64_t)CL_S, .sampling_ns = 300 * (int64_t)CL_S};
    cl_start(c);
    cl_settle(c, 0); /* the first samples are due at 0 */
    const uint32_t w = cl_submit(c, 0, 0, 0, 8);
    const double penalty = kq_usage_of(c->policy, 0);
    assert_true(penalty > 2.343145 && penalty < 2.343146);
    cl_settle(c, 300); /* 2.34315 * 0.70711 + 8 * 0.29289 = 4 */
    const double sampled = kq_usage_of(c->policy, 0);
    assert_true(sampled > 3.99999 && sampled < 4.00001);
    cl_give(c, 300, POLICY_IN_FINISHED, w);
    cl_settle(c, 900); /* two samples were due; the time since the last one counts: half of it */
    const double half = kq_usage_of(c->policy, 0);
    assert_true(half > 1.99999 && half < 2.00001);
    cl_end(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_delay_doubles_up_to_its_cap_but_the_first_one_is_never_cut),
        cmocka_unit_test(ready_in_time_stops_the_timeout_and_unready_starts_another),
        cmocka_unit_test(above_the_limit_it_is_deactivated_and_its_quota_is_free_at_once),
        cmocka_unit_test(block_admission_waits_for_whoever_is_not_ready),
        cmocka_unit_test(usage_decays_with_its_half_life),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
