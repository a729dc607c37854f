/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traffic of a service step by step. */
#include <string.h>

#include "models/demand/demand.h"
#include "tests/demand/near.h"

#define STEP (5 * SIM_MINUTE)

static struct service_config service(void)
{
    struct service_config c = {.name = "s", .kind = SERVICE_LLM};
    c.traffic = (struct traffic_config){.scale = 1, .input_tokens_mean = 1000,
                                        .output_tokens_mean = 250, .arrival_cv = 1};
    c.traffic.profile.base_per_s = 20;
    return c;
}

static struct traffic_source *source(const struct service_config *c, int32_t index, uint64_t seed,
                                     sim_time step)
{
    struct err err = {0};
    return traffic_source_open(c, index, seed, 0, 0, step, NULL, NULL, &err);
}

static struct traffic_point next(struct traffic_source *s, sim_time t)
{
    struct err err = {0};
    struct traffic_point p;
    assert_true(traffic_source_next(s, t, &p, &err));
    return p;
}

static void the_curve_integrates_to_the_base_rate(void **state)
{
    (void)state;
    struct service_config c = service();
    c.traffic.profile.a1 = 0.23;
    c.traffic.profile.phase1_h = 17.3;
    c.traffic.profile.a2 = 0.187;
    c.traffic.profile.phase2_h = 9.6;
    c.traffic.scale = 3;
    struct traffic_source *s = source(&c, 0, 1, STEP);
    double sum = 0.0;
    for (int k = 0; k < 288 * 7; k++) {
        struct traffic_point p = next(s, k * STEP);
        assert_true(p.input_tokens_mean == 1000 && p.output_tokens_mean == 250);
        sum += p.rate_per_s / (288 * 7);
    }
    assert_near(sum, 60, 1e-9);
    traffic_source_close(s);
}

/* Over many days noise and bursts keep the mean: 20 * (1 + (factor - 1) share of time on). */
static void noise_and_bursts_have_the_configured_mean(void **state)
{
    (void)state;
    struct service_config c = service();
    c.traffic.profile.ou_sigma = 0.27;
    c.traffic.profile.ou_tau = 30 * SIM_MINUTE;
    c.traffic.profile.burst_per_day = 2;
    c.traffic.profile.burst_factor = 3;
    c.traffic.profile.burst_length = 20 * SIM_MINUTE;
    struct traffic_source *s = source(&c, 4, 2, STEP);
    const int n = 288 * 2000;
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += next(s, k * STEP).rate_per_s / n;
    double share = 1 - exp(-2.0 * 20 / 1440);
    double noise = 0.275 / sqrt(n / 12.0), bursts = 2 * share / sqrt(4000);
    assert_near(sum, 20 * (1 + 2 * share), 5 * 20 * (noise + bursts));
    traffic_source_close(s);
}

static void services_differ_and_repeat(void **state)
{
    (void)state;
    struct service_config c = service();
    c.traffic.profile.ou_sigma = 0.27;
    c.traffic.profile.ou_tau = 30 * SIM_MINUTE;
    struct traffic_source *a = source(&c, 0, 1, STEP), *b = source(&c, 0, 1, STEP);
    struct traffic_source *other = source(&c, 1, 1, STEP);
    int different = 0;
    for (int k = 0; k < 100; k++) {
        struct traffic_point p = next(a, k * STEP), q = next(b, k * STEP);
        assert_memory_equal(&p, &q, sizeof p);
        different += next(other, k * STEP).rate_per_s != p.rate_per_s;
    }
    assert_int_equal(different, 100);
    traffic_source_close(a);
    traffic_source_close(b);
    traffic_source_close(other);
}

/* The same seed with and without bursts: outside bursts nothing moves. */
static void bursts_do_not_move_the_noise(void **state)
{
    (void)state;
    struct service_config c = service();
    c.traffic.profile.ou_sigma = 0.3;
    c.traffic.profile.ou_tau = SIM_HOUR;
    struct service_config d = c;
    d.traffic.profile.burst_per_day = 3;
    d.traffic.profile.burst_factor = 2;
    d.traffic.profile.burst_length = SIM_HOUR;
    struct traffic_source *a = source(&c, 0, 1, STEP), *b = source(&d, 0, 1, STEP);
    int same = 0, doubled = 0;
    for (int k = 0; k < 2880; k++) {
        double ratio = next(b, k * STEP).rate_per_s / next(a, k * STEP).rate_per_s;
        assert_true(ratio > 1 - 1e-12 && ratio < 2 + 1e-12);
        same += fabs(ratio - 1) < 1e-12;
        doubled += fabs(ratio - 2) < 1e-12;
    }
    assert_true(same > 2000 && doubled > 150);
    traffic_source_close(a);
    traffic_source_close(b);
}

static void a_service_without_traffic_has_none(void **state)
{
    (void)state;
    struct service_config c = service();
    c.traffic.profile.base_per_s = 0;
    struct traffic_source *s = source(&c, 0, 1, STEP);
    assert_true(next(s, 0).rate_per_s == 0.0 && next(s, STEP).rate_per_s == 0.0);
    traffic_source_close(s);
}

struct file {
    double rate;
    int closed;
};

static bool file_at(void *ctx, sim_time t, sim_time step, struct traffic_point *out, struct err *err)
{
    struct file *f = ctx;
    if (t >= 3 * step)
        return err_set(err, ERR_INPUT, "no more");
    out->rate_per_s = f->rate;
    if (t > 0)
        out->output_tokens_mean = 99;
    return true;
}

static void file_close(void *ctx)
{
    ((struct file *)ctx)->closed++;
}

static bool file_open(void *loader, const struct service_config *cfg, struct traffic_reader *out,
                      struct err *err)
{
    (void)cfg;
    if (loader == NULL)
        return err_set(err, ERR_INPUT, "cannot open '%s'", cfg->traffic.file);
    *out = (struct traffic_reader){loader, file_at, file_close};
    return true;
}

static void files_give_rates_and_may_give_token_means(void **state)
{
    (void)state;
    struct service_config c = service();
    c.traffic.file = "t.csv";
    c.traffic.scale = 2;
    struct file f = {8, 0};
    struct err err = {0};
    struct traffic_source *s = traffic_source_open(&c, 0, 1, 0, 0, STEP, file_open, &f, &err);
    struct traffic_point p = next(s, 0);
    assert_true(p.rate_per_s == 16 && p.output_tokens_mean == 250);
    p = next(s, STEP);
    assert_true(p.rate_per_s == 16 && p.output_tokens_mean == 99 && p.input_tokens_mean == 1000);
    f.rate = (double)NAN;
    assert_false(traffic_source_next(s, 2 * STEP, &p, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_non_null(strstr(err.text, "t.csv"));
    traffic_source_close(s);
    assert_int_equal(f.closed, 1);
    err = (struct err){0};
    assert_null(traffic_source_open(&c, 0, 1, 0, 0, STEP, file_open, NULL, &err));
    assert_int_equal(err.code, ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_curve_integrates_to_the_base_rate),
        cmocka_unit_test(noise_and_bursts_have_the_configured_mean),
        cmocka_unit_test(services_differ_and_repeat),
        cmocka_unit_test(bursts_do_not_move_the_noise),
        cmocka_unit_test(a_service_without_traffic_has_none),
        cmocka_unit_test(files_give_rates_and_may_give_token_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
