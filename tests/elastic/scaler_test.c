/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/elastic/scaler.h"

static struct scaler_config config(void)
{
    struct scaler_config cfg = scaler_config_defaults();
    cfg.keda.trigger_count = 1;
    cfg.keda.triggers[0] = keda_trigger_defaults(10);
    return cfg;
}

static struct scaler_inputs inputs(const struct keda_sample *sample, int32_t replicas)
{
    return (struct scaler_inputs){.samples = sample,
                                  .target = {replicas, replicas, replicas, replicas, NULL}};
}

static void from_zero_to_demand_and_back(void **state)
{
    (void)state;
    struct scaler_config cfg = config();
    struct scaler *s = scaler_create(&cfg);
    struct scaler_decision d[2];
    struct keda_sample sample = {KEDA_ANSWER_VALUE, 75};
    int32_t n = 0;
    int64_t zero_at = -1;
    for (int64_t t = 0; t <= 2000; t += 15) { /* load until 600 s: 75 / 10 asks for 8 */
        sample.value = t <= 600 ? 75 : 0;
        struct scaler_inputs in = inputs(&sample, n);
        int k = scaler_run(s, t * SIM_SECOND, &in, d);
        n = d[k - 1].replicas;
        if (t == 0)
            assert_int_equal(n, 4); /* KEDA writes 1, the sync of the same instant 4 */
        if (t >= 15 && t <= 600)
            assert_int_equal(n, 8);
        if (n == 0 && zero_at < 0)
            zero_at = t;
    }
    assert_int_equal(zero_at, 930); /* last active poll 600, cooldown 300, strictly past */
    scaler_destroy(s);
}

static void clocks_have_phases_of_their_own(void **state)
{
    (void)state;
    struct scaler_config cfg = config();
    cfg.poll_phase = 7 * SIM_SECOND;
    cfg.sync_phase = 3 * SIM_SECOND;
    struct scaler *s = scaler_create(&cfg);
    assert_int_equal(scaler_next_due(s, 0), 3 * SIM_SECOND);
    assert_int_equal(scaler_next_due(s, 4 * SIM_SECOND), 7 * SIM_SECOND);
    assert_int_equal(scaler_next_due(s, 8 * SIM_SECOND), 18 * SIM_SECOND);
    assert_int_equal(scaler_next_due(s, 34 * SIM_SECOND), 37 * SIM_SECOND);
    struct keda_sample sample = {KEDA_ANSWER_VALUE, 0};
    struct scaler_inputs in = inputs(&sample, 0);
    struct scaler_decision d[2];
    assert_int_equal(scaler_run(s, 3 * SIM_SECOND, &in, d), 1);
    assert_int_equal(d[0].owner, SCALER_OWNER_HPA);
    assert_int_equal(scaler_run(s, 3 * SIM_SECOND, &in, d), 0); /* not twice */
    assert_int_equal(scaler_next_due(s, 3 * SIM_SECOND), 7 * SIM_SECOND);
    assert_int_equal(scaler_run(s, 7 * SIM_SECOND, &in, d), 1);
    assert_int_equal(d[0].owner, SCALER_OWNER_KEDA);
    scaler_destroy(s);
}

static void an_idle_service_costs_nothing(void **state)
{
    (void)state;
    struct scaler_config cfg = config();
    struct scaler *s = scaler_create(&cfg);
    struct keda_sample sample = {KEDA_ANSWER_VALUE, 0};
    struct scaler_inputs in = inputs(&sample, 0);
    struct scaler_decision d[2];
    assert_int_equal(scaler_run(s, 0, &in, d), 2);
    assert_true(scaler_next_change(s) == SIM_NEVER);
    sample.value = 5; /* a week later */
    sim_time t = scaler_next_due(s, 7 * SIM_DAY + 1);
    assert_int_equal(t, 7 * SIM_DAY + 15 * SIM_SECOND);
    assert_int_equal(scaler_run(s, t, &in, d), 1);
    assert_int_equal(scaler_next_change(s), 7 * SIM_DAY + 30 * SIM_SECOND);
    assert_int_equal(scaler_run(s, scaler_next_change(s), &in, d), 2);
    assert_int_equal(d[0].replicas, 1);
    scaler_destroy(s);
}

static void the_end_of_the_window_is_announced(void **state)
{
    (void)state;
    struct scaler_config cfg = config();
    cfg.keda.minReplicaCount = 1;
    struct scaler *s = scaler_create(&cfg);
    struct keda_sample sample = {KEDA_ANSWER_VALUE, 100};
    struct scaler_inputs in = inputs(&sample, 10);
    struct scaler_decision d[2];
    scaler_run(s, 0, &in, d);
    assert_true(scaler_next_change(s) == SIM_NEVER);
    sample.value = 30; /* from 600 s on, so 585 s is the last record of 10: it counts up to 885 */
    scaler_run(s, 600 * SIM_SECOND, &in, d);
    assert_int_equal(d[1].stabilised, 10);
    assert_string_equal(d[1].reason, "ScaleDownStabilized");
    assert_int_equal(scaler_next_change(s), 900 * SIM_SECOND);
    scaler_run(s, 900 * SIM_SECOND, &in, d);
    assert_int_equal(d[1].replicas, 3);
    char text[200];
    scaler_describe(&d[1], text, sizeof text);
    assert_string_equal(text, "HPA 10 -> 3: DesiredWithinRange; metric 0 = 30 / 10, ratio 0.3, "
                              "raw 3, stabilised 3, limit 20");
    scaler_destroy(s);
}

static void the_end_of_the_cooldown_is_announced(void **state)
{
    (void)state;
    struct scaler_config cfg = config();
    cfg.poll_phase = 250 * SIM_MS;
    struct scaler *s = scaler_create(&cfg);
    struct keda_sample sample = {KEDA_ANSWER_VALUE, 100};
    struct scaler_inputs in = inputs(&sample, 10);
    struct scaler_decision d[2];
    scaler_run(s, 0, &in, d);
    scaler_run(s, 250 * SIM_MS, &in, d);
    sample.value = 0; /* at 605 s: the polls up to 600.25 s were active, and were left out */
    sim_time t = 630 * SIM_SECOND + 250 * SIM_MS;
    scaler_run(s, 615 * SIM_SECOND, &in, d);
    scaler_run(s, t, &in, d);
    assert_int_equal(scaler_keda(s)->last_active, 600 * SIM_SECOND);
    assert_string_equal(d[0].reason, "cooling down");
    sim_time next = scaler_next_change(s);
    while (next < 900 * SIM_SECOND) { /* syncs of the scale-down window */
        scaler_run(s, next, &in, d);
        in.target.current = d[0].replicas;
        next = scaler_next_change(s);
    }
    while (next < 900 * SIM_SECOND + 250 * SIM_MS) {
        scaler_run(s, next, &in, d);
        in = inputs(&sample, d[0].replicas);
        next = scaler_next_change(s);
    }
    assert_int_equal(next, 900 * SIM_SECOND + 250 * SIM_MS);
    scaler_run(s, next, &in, d);
    assert_int_equal(d[0].replicas, 0);
    scaler_destroy(s);
}

static void refuse(struct scaler_config cfg, const char *text)
{
    struct err e = {0};
    assert_false(scaler_config_check(&cfg, &e));
    if (!strstr(e.text, text))
        print_error("%s\n", e.text);
    assert_non_null(strstr(e.text, text));
}

static void wrong_settings_are_named(void **state)
{
    (void)state;
    struct scaler_config good = config(), cfg = good;
    struct err e = {0};
    assert_true(scaler_config_check(&good, &e));
    cfg.keda.pollingInterval = 0;
    refuse(cfg, "pollingInterval");
    cfg = good;
    cfg.keda.triggers[0].threshold = 0.0004;
    refuse(cfg, "triggers[0].threshold: expected more than 0");
    cfg = good;
    cfg.keda.minReplicaCount = 101;
    refuse(cfg, "minReplicaCount 101 is above maxReplicaCount 100");
    cfg = good;
    cfg.keda.idleReplicaCount = 0;
    refuse(cfg, "idleReplicaCount 0 is not below");
    cfg = good;
    cfg.keda.behavior = hpa_behavior_defaults(300);
    cfg.keda.behavior.scaleUp.policies[1].periodSeconds = 1801;
    refuse(cfg, "behavior.scaleUp.policies[1].periodSeconds: expected 1 to 1800, got 1801");
    cfg.keda.behavior.scaleUp.policy_count = 0;
    refuse(cfg, "behavior.scaleUp: expected 1 to 16 policies, got 0");
    cfg = good;
    cfg.keda.trigger_count = 0;
    refuse(cfg, "triggers: expected 1 to 8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_zero_to_demand_and_back),
        cmocka_unit_test(clocks_have_phases_of_their_own),
        cmocka_unit_test(an_idle_service_costs_nothing),
        cmocka_unit_test(the_end_of_the_window_is_announced),
        cmocka_unit_test(the_end_of_the_cooldown_is_announced),
        cmocka_unit_test(wrong_settings_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
