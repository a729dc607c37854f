/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/data/coldstart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define GB INT64_C(1000000000)

static sim_time load_seconds(double gb_per_s, int64_t gb)
{
    struct coldstart_config c = coldstart_defaults();
    c.mode = COLDSTART_NONE;
    c.store_bytes_per_s = gb_per_s * 1e9;
    c.store_first_byte = 0;
    return coldstart_estimate(&c, 0, true, gb * GB, true, true).loading;
}

static void weights_take_the_published_times(void **state)
{
    (void)state;
    /* cache-and-checkpoint 2.4: GB/s; seconds for 16, 140 and 810 GB */
    static const struct {
        double rate, seconds[3], half_digit;
    } rows[] = {{0.085, {188, 1647, 9529}, 0.5}, {2.71, {5.9, 52, 299}, 0.5},
                {8.0, {2.0, 17.5, 101.25}, 0.01}, {7, {2.3, 20, 116}, 0.5}, {20, {0.8, 7.0, 40.5}, 0.05}};
    static const int64_t gb[3] = {16, 140, 810};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int k = 0; k < 3; k++) {
            double got = sim_time_seconds(load_seconds(rows[i].rate, gb[k]));
            assert_true(got > rows[i].seconds[k] - rows[i].half_digit &&
                        got < rows[i].seconds[k] + rows[i].half_digit);
        }
}

static void defaults_give_the_articles_figures_for_30_gigabytes(void **state)
{
    (void)state;
    struct coldstart_config c = coldstart_defaults();
    double store = sim_time_seconds(coldstart_estimate(&c, 0, true, 30 * GB, false, false).loading);
    double fluid = sim_time_seconds(coldstart_estimate(&c, 0, true, 30 * GB, false, true).loading);
    double node = sim_time_seconds(coldstart_estimate(&c, 0, true, 30 * GB, true, true).loading);
    assert_true(store > 119.9 && store < 120.5); /* 120 s from the object store */
    assert_true(fluid >= 10 && fluid <= 20);     /* 10-20 s with a cache */
    assert_true(node < fluid);
}

static void images_pull_within_the_measured_range(void **state)
{
    (void)state;
    struct coldstart_config c = coldstart_defaults();
    c.process_start = 0;
    double s = sim_time_seconds(coldstart_estimate(&c, 13 * GB, false, 0, true, true).starting);
    assert_true(s > 13e9 / 83e6 && s < 571); /* 22.8 to 83 MB/s were seen */
    assert_int_equal(coldstart_estimate(&c, 13 * GB, true, 0, true, true).starting, 0);
}

static void each_mode_uses_only_the_caches_it_has(void **state)
{
    (void)state;
    struct coldstart_config c = coldstart_defaults();
    sim_time t[3][2][2];
    for (int mode = 0; mode < 3; mode++)
        for (int node = 0; node < 2; node++)
            for (int cluster = 0; cluster < 2; cluster++) {
                c.mode = (enum coldstart_mode)mode;
                t[mode][node][cluster] =
                    coldstart_estimate(&c, GB, false, 16 * GB, node, cluster).loading;
            }
    sim_time store = t[COLDSTART_NONE][0][0];
    assert_int_equal(t[COLDSTART_NONE][1][1], store);
    assert_int_equal(t[COLDSTART_NODE][0][1], store);
    assert_int_equal(t[COLDSTART_NODE][1][0], 5 * SIM_SECOND); /* 16 GB at 3.2 GB/s */
    assert_int_equal(t[COLDSTART_FLUID][0][1], 8 * SIM_SECOND); /* 16 GB at 2 GB/s */
    assert_int_equal(t[COLDSTART_FLUID][1][1], t[COLDSTART_NODE][1][0]);
    assert_int_equal(t[COLDSTART_FLUID][0][0], store);
}

static void parts_add_up(void **state)
{
    (void)state;
    struct coldstart_config c = {.mode = COLDSTART_NONE, .image_bytes_per_s = 1e8,
                                 .store_bytes_per_s = 1e9, .node_bytes_per_s = 1e9,
                                 .fluid_bytes_per_s = 1e9, .store_first_byte = 150 * SIM_MS,
                                 .process_start = 3 * SIM_SECOND, .engine_start = 82 * SIM_SECOND};
    struct coldstart_time t = coldstart_estimate(&c, 10 * GB, false, 16 * GB, false, false);
    assert_int_equal(t.starting, (100 + 3 + 82) * SIM_SECOND);
    assert_int_equal(t.loading, 16 * SIM_SECOND + 150 * SIM_MS);
    assert_int_equal(coldstart_engine_default(true), 82 * SIM_SECOND); /* Tensorfuse, caches kept */
    assert_int_equal(coldstart_engine_default(false), 200 * SIM_SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_take_the_published_times),
        cmocka_unit_test(defaults_give_the_articles_figures_for_30_gigabytes),
        cmocka_unit_test(images_pull_within_the_measured_range),
        cmocka_unit_test(each_mode_uses_only_the_caches_it_has),
        cmocka_unit_test(parts_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
