/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speed under sharing: the arithmetic checks of gpu-sharing 4.4 and the measurements of 4.1 that
 * the parameters were fitted to (so those are fit errors, not a validation). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/fleet/sharing/mig.h"
#include "models/fleet/sharing/speed.h"

static void assert_near(double value, double wanted, double tolerance)
{
    if (fabs(value - wanted) > tolerance)
        fail_msg("%.6f, expected %.6f within %g", value, wanted, tolerance);
}

static struct speed_tenant busy(double duty)
{
    struct speed_tenant t = speed_tenant_default();
    t.duty = duty;
    return t;
}

static void time_slicing_divides_the_time(void **state)
{
    (void)state;
    struct speed_params p = speed_params_default();
    double rate[4];
    struct speed_tenant two[2] = {busy(1), busy(1)};
    speed_time_slicing(two, 2, &p, rate);
    assert_near(rate[0], 0.46, 1e-12);
    assert_near(rate[1], 0.46, 1e-12);
    struct speed_tenant uneven[2] = {busy(1), busy(0.2)};
    speed_time_slicing(uneven, 2, &p, rate);
    assert_near(rate[0], 0.72, 1e-12);
    assert_near(rate[1], 1, 1e-12);
    struct speed_tenant four[4] = {busy(1), busy(1), busy(1), busy(1)};
    p.switch_loss = 0.156;
    speed_time_slicing(four, 4, &p, rate);
    assert_near(rate[3], 0.211, 1e-12); /* four of them: 0.844 = 38/45, P6 */
    assert_near(4 * rate[3], 38.0 / 45, 0.001);
    speed_time_slicing(two, 1, &p, rate); /* P5: one process, no loss */
    assert_near(rate[0], 1, 0);
}

static void idle_tenants_do_not_count(void **state)
{
    (void)state;
    struct speed_params p = speed_params_default();
    struct speed_tenant t[3] = {busy(1), busy(0), busy(0)};
    double rate[3];
    speed_time_slicing(t, 3, &p, rate);
    assert_near(rate[0], 1, 0);
    speed_mps(t, 3, &p, rate);
    assert_near(rate[0], 1, 0);
    speed_hami(t, 3, &p, rate);
    assert_near(rate[0], 1 / 1.02, 1e-12);
}

/* QLoRA, d = 0.527: calculated 0.246 / 0.492 / 0.738 / 1.0; P1 measured 42.3, 83.0, 130.9 of 173.2. */
static void mig_gives_the_measured_parts(void **state)
{
    (void)state;
    static const double calculated[4] = {0.246, 0.492, 0.738, 1.0};
    static const double measured[3] = {42.3 / 173.2, 83.0 / 173.2, 130.9 / 173.2};
    const struct mig_card *card = mig_card_find("A100-80");
    static const int32_t profiles[4] = {0, 3, 4, 6};
    struct speed_params p = speed_params_default();
    for (int i = 0; i < 4; i++) {
        struct speed_tenant t = busy(1);
        double rate;
        t.demand = 0.527;
        t.sm_share = mig_sm_share(card, profiles[i]);
        speed_mig(&t, 1, &p, &rate);
        assert_near(rate, calculated[i], 5e-4);
        if (i < 3)
            assert_near(rate / measured[i], 1, 0.027);
    }
    struct speed_tenant three[3] = {busy(1), busy(1), busy(1)};
    double rate[3];
    for (int i = 0; i < 3; i++) {
        three[i].demand = 0.527;
        three[i].sm_share = mig_sm_share(card, 3);
    }
    speed_mig(three, 3, &p, rate);
    assert_near(rate[0] + rate[1] + rate[2], 1.48, 0.005);
    p.mig_interference = 0.02; /* two others */
    speed_mig(three, 3, &p, rate);
    assert_near(rate[0], 0.492 / 1.04, 5e-4);
}

/* P16: H200, contexts with fewer SMs of 132. */
static void amdahl_fits_contexts_with_fewer_sms(void **state)
{
    (void)state;
    static const double sms[5] = {32, 48, 64, 80, 96};
    static const double step[5] = {1.33, 1.21, 1.09, 1.08, 1.06};
    static const double vocoder[5] = {2.5, 1.83, 1.49, 1.30, 1.18};
    for (int i = 0; i < 5; i++) {
        assert_near(speed_amdahl(0.106, sms[i] / 132) / step[i], 1, 0.022);
        assert_near(speed_amdahl(0.473, sms[i] / 132) / vocoder[i], 1, 0.0095);
    }
    assert_near(speed_amdahl(0.473, 32.0 / 132), 2.48, 0.005);
    assert_near(speed_amdahl(0.473, 1), 1, 1e-12);
    assert_near(speed_knee(0.3, 0.5), 1, 0);
}

/* P3: FP16 and TF32 by the knee. */
static void the_knee_fits_matrix_products(void **state)
{
    (void)state;
    static const double sms[3] = {14, 28, 42};
    static const double fp16[3] = {38.7 / 286.2, 79.3 / 286.2, 118.9 / 286.2};
    static const double tf32[3] = {19.0 / 135.7, 37.9 / 135.7, 55.6 / 135.7};
    for (int i = 0; i < 3; i++) {
        assert_near(1 / speed_knee(0.947, sms[i] / 108) / fp16[i], 1, 0.013);
        assert_near(1 / speed_knee(0.938, sms[i] / 108) / tf32[i], 1, 0.014);
    }
}

static void mps_lets_small_jobs_run_side_by_side(void **state)
{
    (void)state;
    struct speed_params p = speed_params_default();
    struct speed_tenant t[3] = {busy(0.3), busy(0.3), busy(0.3)};
    double rate[3];
    speed_mps(t, 3, &p, rate); /* 0.9 wanted of 1: only bandwidth interferes */
    assert_near(rate[0], 1 / (1 + 0.15 * 0.5 * 0.6), 1e-12);
    struct speed_tenant full[2] = {busy(1), busy(1)};
    speed_mps(full, 2, &p, rate); /* half the SMs each */
    assert_near(rate[0], 0.5 / 1.075, 1e-12);
    for (int i = 0; i < 2; i++) { /* P9: factor 1.075 at b = 0.5 and no loss from the cap */
        full[i].parallel = 0;
        full[i].cap = 0.6;
    }
    speed_mps(full, 2, &p, rate);
    assert_near(1 / rate[0], 1557.1 / 1448.2, 0.001);
    /* capped to a quarter: 1 / (1 - p + p / 0.25) */
    struct speed_tenant one = busy(1);
    one.cap = 0.25;
    one.parallel = 0.19;
    speed_mps(&one, 1, &p, rate);
    assert_near(rate[0], 1 / (0.81 + 0.76), 1e-12);
}

/* 30/70 with the released limiter on a very large card, h = 0.2: 0.46/0.54 (21.4/25.2 measured). */
static void hami_shares_are_between_equal_and_asked(void **state)
{
    (void)state;
    struct speed_params p = speed_params_default();
    struct speed_tenant t[2] = {busy(1), busy(1)};
    double rate[2];
    t[0].cap = 0.3;
    t[1].cap = 0.7;
    p.hami_limiter = 0.2;
    speed_hami(t, 2, &p, rate);
    assert_near(rate[0] / (rate[0] + rate[1]), 0.46, 1e-9);
    assert_near(rate[0] / (rate[0] + rate[1]), 21.4 / (21.4 + 25.2), 0.002);
    /* 10/90 with h = 0.9: 1 to about 7 (1 to 6..8 measured, HAMi #2863). With cap 0.1 + 0.09 the
     * small one may have 0.19, but its share is 0.05 + 0.09 = 0.14 of 0.92. */
    p = speed_params_default();
    t[0].cap = 0.1;
    t[1].cap = 0.9;
    speed_hami(t, 2, &p, rate);
    assert_near(rate[0], 0.14 * 0.92 / 1.02, 1e-9);
    assert_true(rate[1] / rate[0] > 6 && rate[1] / rate[0] < 8);
}

static void hami_throttles_only_beside_others_unless_forced(void **state)
{
    (void)state;
    struct speed_params p = speed_params_default();
    struct speed_tenant t = busy(1);
    double rate;
    t.cap = 0.3;
    speed_hami(&t, 1, &p, &rate);
    assert_near(rate, 1 / 1.02, 1e-12);
    p.hami_policy = SPEED_HAMI_FORCE; /* even alone at most w / u, less the overhead of the hook */
    speed_hami(&t, 1, &p, &rate);
    assert_near(rate, 0.3 / 1.02, 1e-12);
    struct speed_tenant two[2] = {t, busy(1)};
    double rates[2];
    two[1].cap = 0.7;
    p.hami_policy = SPEED_HAMI_DISABLE;
    speed_hami(two, 2, &p, rates);
    assert_near(rates[0], 0.46 / 1.02, 1e-12);
    assert_near(rates[1], 0.46 / 1.02, 1e-12);
    /* no cores asked counts as the whole card: 1 against 0.25 gives 0.8 / 0.2 at h = 1 */
    p = speed_params_default();
    p.hami_limiter = 1.13; /* overshoot is cut to 1 */
    two[0].cap = 0.25;
    two[1].cap = 0;
    speed_hami(two, 2, &p, rates);
    assert_near(rates[0], 0.2 * 0.92 / 1.02, 1e-12);
    assert_near(rates[1], 0.8 * 0.92 / 1.02, 1e-12);
}

static void unused_time_goes_to_the_others(void **state)
{
    (void)state;
    static const double demand[4] = {0.1, 0.4, 1, 1}, weight[4] = {1, 1, 1, 2};
    double out[4];
    speed_maxmin(1, demand, NULL, 4, out);
    assert_near(out[0], 0.1, 1e-12);
    assert_near(out[1], 0.3, 1e-12);
    assert_near(out[2] + out[3], 0.6, 1e-12);
    speed_maxmin(1, demand, weight, 4, out); /* 0.1; then 0.9 by 1:1:2 */
    assert_near(out[1], 0.225, 1e-12);
    assert_near(out[3], 0.45, 1e-12);
    speed_maxmin(3, demand, NULL, 4, out); /* enough for all */
    assert_near(out[0] + out[1] + out[2] + out[3], 2.5, 1e-12);
    struct speed_params p = speed_params_default();
    struct speed_tenant t[3] = {busy(1), busy(0.5), busy(0.5)};
    assert_near(speed_slice_wait_s(t, 3, 0, &p), 0.001, 1e-12); /* 2 ms x 1 other / 2 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_slicing_divides_the_time),
        cmocka_unit_test(idle_tenants_do_not_count),
        cmocka_unit_test(mig_gives_the_measured_parts),
        cmocka_unit_test(amdahl_fits_contexts_with_fewer_sms),
        cmocka_unit_test(the_knee_fits_matrix_products),
        cmocka_unit_test(mps_lets_small_jobs_run_side_by_side),
        cmocka_unit_test(hami_shares_are_between_equal_and_asked),
        cmocka_unit_test(hami_throttles_only_beside_others_unless_forced),
        cmocka_unit_test(unused_time_goes_to_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
