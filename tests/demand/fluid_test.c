/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Backlog, patience, cold start and simple services: workload-models 2.5 to 2.7, 6.3 and 6.5. */
#include "models/demand/fluid.h"
#include "sim/rng.h"
#include "tests/demand/near.h"

static struct service_config simple(double service_s, double cv)
{
    struct service_config c = {.name = "s", .kind = SERVICE_SIMPLE, .model = -1, .max_replicas = 1,
                               .service_time_s = service_s, .service_time_cv = cv,
                               .servers_per_replica = 1};
    c.traffic.scale = 1;
    c.traffic.arrival_cv = 1;
    return c;
}

struct scene {
    struct service_config cfg;
    struct fluid f;
    struct qhist latency;
    struct fluid_result out;
};

static void begin(struct scene *s, struct service_config cfg)
{
    s->cfg = cfg;
    fluid_init(&s->f, &s->cfg);
    qhist_init(&s->latency, 0.005, 1e-4, 1e6);
}

static void step(struct scene *s, double seconds, double rate, int32_t replicas)
{
    struct traffic_point p = {rate, 0, 0};
    fluid_step(&s->f, sim_time_from_seconds(seconds), &p, replicas, &s->latency, NULL, &s->out);
}

static void assert_conserved(const struct fluid *f)
{
    double sum = f->served + f->rejected + f->timed_out + f->backlog;
    assert_near(sum, f->arrived, 1e-9 * (1.0 + f->arrived));
    double tokens = f->tokens_in + f->tokens_out + f->tokens_lost + f->tokens_backlog;
    assert_near(tokens, f->tokens_arrived, 1e-9 * (1.0 + f->tokens_arrived));
    assert_near(f->slo_total, f->arrived - f->backlog, 1e-9 * (1.0 + f->arrived));
}

/* O1: C = 10/s; lambda 6, 14, 12, 4, 4 for ten minutes each. No randomness in service or arrivals,
 * so that only the fluid backlog makes anybody wait. */
static void overload_is_carried_over_and_waits_are_those_of_fcfs(void **state)
{
    (void)state;
    static const double rate[] = {6, 14, 12, 4, 4}, backlog[] = {0, 2400, 3600, 0, 0};
    struct scene s;
    struct service_config cfg = simple(0.1, 0.0);
    cfg.traffic.arrival_cv = 0.0;
    cfg.slo_latency_s = 60.1; /* waits up to 60 s */
    cfg.slo_target = 0.99;
    begin(&s, cfg);
    double sum = 0.0, served = 0.0;
    for (int i = 0; i < 5; i++) {
        step(&s, 600, rate[i], 1);
        assert_near(s.f.backlog, backlog[i], 1e-6);
        assert_conserved(&s.f);
        sum += s.out.latency_mean_s * s.out.served;
        served += s.out.served;
    }
    assert_near(served, 24000, 1e-6);
    assert_near(sum / served, 150.1, 0.01);
    assert_near(s.latency.sum / s.latency.total, 150.1, 0.01);
    assert_near_rel(qhist_quantile(&s.latency, 0.50), 144.1, 0.01);
    assert_near_rel(qhist_quantile(&s.latency, 0.95), 342.1, 0.01);
    assert_near_rel(qhist_quantile(&s.latency, 0.99), 356.5, 0.01);
    assert_near(s.f.slo_met / s.f.slo_total, 0.354167, 1e-6);
    qhist_fini(&s.latency);
}

static void a_saturated_interval_is_busy_and_a_drained_one_less(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, simple(0.1, 0.0));
    step(&s, 600, 14, 1);
    assert_true(s.out.busy == 1.0 && s.out.load == 1.0);
    assert_between(s.out.in_flight, 1200, 1230); /* half of 2400, one in service, noise */
    step(&s, 600, 4, 1); /* 2400 are gone after 400 s, then rho = 0.4 */
    assert_near(s.out.load, (2400 + 4 * 600) / 6000.0, 1e-9);
    assert_near(s.out.busy, (400 + 200 * 0.4) / 600, 1e-9);
    qhist_fini(&s.latency);
}

/* O2: lambda = 5/s, no replica for 120 s, then C = 8/s. */
static void cold_start_builds_a_backlog_that_drains(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, simple(0.125, 0.0));
    step(&s, 120, 5, 0);
    assert_near(s.f.backlog, 600, 1e-9);
    assert_true(s.out.served == 0.0 && s.out.busy == 0.0 && s.out.load == 0.0);
    step(&s, 199, 5, 1);
    assert_near(s.f.backlog, 600 - 3 * 199, 1e-6);
    step(&s, 1.5, 5, 1); /* empty after 200 s, that is at 320 s */
    assert_near(s.f.backlog, 0, 1e-9);
    assert_conserved(&s.f);
    /* The first of all waited longest; 120 s. */
    assert_near_rel(qhist_quantile(&s.latency, 1.0), 120.1, 0.01);
    qhist_fini(&s.latency);
}

/* The request that arrives at 120 s waits 75 s: the mean of a thin slice around it shows that. */
static void the_last_before_the_replica_waits_its_turn(void **state)
{
    (void)state;
    struct scene s;
    struct service_config cfg = simple(0.125, 0.0);
    cfg.traffic.arrival_cv = 0.0;
    begin(&s, cfg);
    step(&s, 120, 5, 0);
    step(&s, 75, 5, 1); /* 600 are served in 75 s: the head now came at 120 s */
    step(&s, 0.01, 5, 1);
    assert_near(s.out.latency_mean_s, 75 + 0.125, 0.01);
    qhist_fini(&s.latency);
}

static void patience_of_sixty_seconds_loses_exactly_three_hundred(void **state)
{
    (void)state;
    struct scene s;
    struct service_config cfg = simple(0.125, 0.0);
    cfg.timeout_s = 60;
    begin(&s, cfg);
    step(&s, 120, 5, 0);
    assert_near(s.f.timed_out, 300, 1e-6);
    assert_near(s.f.backlog, 300, 1e-6);
    for (int i = 0; i < 40; i++)
        step(&s, 10, 5, 1);
    assert_near(s.f.timed_out, 300, 1e-6); /* and nobody after */
    assert_near(s.f.backlog, 0, 1e-9);
    assert_near(s.latency.infinite, 300, 1e-6);
    assert_conserved(&s.f);
    qhist_fini(&s.latency);
}

/* Permanent overload with patience: the wait settles at the patience, the excess is lost
 * (Liu and Whitt 2012, fluid limit with constant patience). */
static void overload_with_patience_loses_the_excess(void **state)
{
    (void)state;
    struct scene s;
    struct service_config cfg = simple(0.1, 0.0);
    cfg.timeout_s = 30;
    begin(&s, cfg);
    for (int i = 0; i < 60; i++)
        step(&s, 60, 15, 1);
    /* Queue of 30 s of arrivals at the density 15/s, reached when its head is 30 s old. */
    assert_near(s.f.backlog, 30 * 15, 1e-6);
    assert_near(s.out.timed_out, 60 * 5, 1e-6);
    assert_near(s.out.served, 600, 1e-6);
    assert_near_rel(s.out.latency_mean_s, 30.1, 0.02);
    assert_conserved(&s.f);
    qhist_fini(&s.latency);
}

static void no_replica_rejects_when_told_to(void **state)
{
    (void)state;
    struct scene s;
    struct service_config cfg = simple(0.1, 0.0);
    cfg.on_no_replica = NO_REPLICA_REJECT;
    begin(&s, cfg);
    step(&s, 100, 5, 0);
    assert_near(s.f.rejected, 500, 1e-9);
    assert_true(s.f.backlog == 0.0);
    step(&s, 100, 5, 1);
    assert_near(s.f.served, 500, 1e-9);
    assert_conserved(&s.f);
    qhist_fini(&s.latency);
}

static void a_full_queue_rejects_the_rest(void **state)
{
    (void)state;
    struct scene s;
    struct service_config cfg = simple(0.1, 0.0);
    cfg.max_queue = 120;
    begin(&s, cfg);
    step(&s, 60, 5, 0); /* full after 24 s */
    assert_near(s.f.backlog, 120, 1e-9);
    assert_near(s.f.rejected, 36 * 5, 1e-9);
    step(&s, 60, 14, 1); /* served 600, rejected 240 */
    assert_near(s.f.backlog, 120, 1e-6);
    assert_near(s.out.served, 600, 1e-6);
    assert_near(s.out.rejected, 240, 1e-6);
    assert_conserved(&s.f);
    qhist_fini(&s.latency);
}

/* O3: a thousand random steps of every setting. */
static void everything_that_arrives_is_accounted_for(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 48; seed++) {
        struct rng r;
        rng_open(&r, seed, 0, 99, 0);
        struct service_config cfg = simple(0.05 + 0.2 * rng_unit(&r), rng_unit(&r));
        cfg.timeout_s = seed % 3 == 0 ? 0.0 : 1.0 + 200.0 * rng_unit(&r);
        cfg.max_queue = seed % 4 == 0 ? 0.0 : 500.0 * rng_unit(&r);
        cfg.on_no_replica = seed % 5 == 0 ? NO_REPLICA_REJECT : NO_REPLICA_QUEUE;
        cfg.slo_latency_s = 1.0;
        struct scene s;
        begin(&s, cfg);
        double served = 0.0, lost = 0.0;
        for (int i = 0; i < 1000; i++) {
            struct traffic_point p = {40.0 * rng_unit(&r) * rng_unit(&r), 100, 50 * rng_unit(&r)};
            if (i % 17 == 0)
                p.rate_per_s = 0.0;
            sim_time length = sim_time_from_seconds(0.001 + 120.0 * rng_unit(&r) * rng_unit(&r));
            fluid_step(&s.f, length, &p, (int32_t)rng_below(&r, 6), &s.latency, NULL, &s.out);
            assert_conserved(&s.f);
            assert_true(s.out.busy >= 0.0 && s.out.busy <= 1.0 + 1e-12);
            assert_true(s.out.load >= 0.0 && s.out.load <= 1.0);
            assert_true(s.f.backlog >= 0.0 && isfinite(s.out.in_flight));
            assert_true(cfg.max_queue == 0.0 || s.f.backlog <= cfg.max_queue * (1 + 1e-9));
            served += s.out.served;
            lost += s.out.rejected + s.out.timed_out;
        }
        assert_near_rel(served, s.f.served, 1e-9);
        assert_near(lost, s.f.rejected + s.f.timed_out, 1e-6);
        assert_near(s.latency.total, served + lost, 1e-6 * (served + lost));
        assert_near(s.latency.infinite, lost, 1e-6 * (1.0 + lost));
        assert_true(s.f.slo_met <= s.f.slo_total * (1 + 1e-12));
        qhist_fini(&s.latency);
    }
}

/* 2.7 mixture: M/M/1 (mu = 1) at 0.5 and 0.9, one hour each: merged p99 of the sojourn 41.63. */
static void merged_quantiles_are_those_of_the_mixture(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, simple(1.0, 1.0));
    /* Long enough for the stationary law, in steps that go through the quadrature. */
    for (int i = 0; i < NODES_PHASES * NODES_PHASES; i++)
        step(&s, 3600, 0.5, 1);
    assert_near_rel(qhist_quantile(&s.latency, 0.99), 9.21, 0.03);
    assert_near_rel(qhist_quantile(&s.latency, 0.50), log(2) / 0.5, 0.03);
    for (int i = 0; i < NODES_PHASES * NODES_PHASES; i++)
        step(&s, 3600, 0.9, 1);
    assert_near_rel(qhist_quantile(&s.latency, 0.99), 41.6334, 0.03);
    assert_near_rel(s.out.latency_mean_s, 10.0, 1e-9);
    qhist_fini(&s.latency);
}

/* E3 to E5: M/M/c. */
static void many_servers_agree_with_mmc(void **state)
{
    (void)state;
    static const struct {
        int32_t c;
        double rate, wq, p95, p99; /* of the sojourn */
    } rows[] = {{4, 3.2, 0.745541, 4.7380, 6.8932}, {8, 7.6, 2.110422, 8.338, 12.366}};
    for (int i = 0; i < 2; i++) {
        struct scene s;
        begin(&s, simple(1.0, 1.0));
        for (int k = 0; k < NODES_PHASES * NODES_PHASES; k++)
            step(&s, 36000, rows[i].rate, rows[i].c);
        assert_near(s.out.latency_mean_s, 1.0 + rows[i].wq, 1e-5);
        assert_near_rel(qhist_quantile(&s.latency, 0.95), rows[i].p95, 0.03);
        assert_near_rel(qhist_quantile(&s.latency, 0.99), rows[i].p99, 0.03);
        assert_near(s.out.busy, rows[i].rate / rows[i].c, 1e-12);
        assert_near(s.out.load, rows[i].rate / rows[i].c, 1e-12);
        /* Little's law. */
        assert_near(s.out.in_flight, rows[i].rate * (1.0 + rows[i].wq), 1e-4);
        qhist_fini(&s.latency);
    }
    struct scene s;
    begin(&s, simple(1.0, 1.0));
    step(&s, 36000, 90, 100); /* E5 */
    assert_near(s.out.latency_mean_s, 1.021694, 1e-5);
    qhist_fini(&s.latency);
}

/* Pollaczek-Khinchine; E10 for several servers (2.4: rho 0.8, cs 2 doubles Wq of M/M/4 x 2.5). */
static void general_service_times_agree_with_mg1_and_allen_cunneen(void **state)
{
    (void)state;
    for (double cv = 0.0; cv <= 2.0; cv += 0.5) {
        struct scene s;
        begin(&s, simple(1.0, cv));
        step(&s, 1e6, 0.8, 1);
        assert_near_rel(s.out.latency_mean_s, 1.0 + 0.8 * (1.0 + cv * cv) / (2 * 0.2), 1e-9);
        qhist_fini(&s.latency);
    }
    struct scene s;
    begin(&s, simple(1.0, 2.0));
    step(&s, 1e6, 3.2, 4);
    assert_near(s.out.latency_mean_s - 1.0, 1.86385, 1e-5);
    qhist_fini(&s.latency);
}

/* Near capacity a short interval does not show the stationary infinity but the Brownian backlog,
 * and a long stay comes back to the stationary law. */
static void a_minute_near_capacity_is_not_for_ever(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, simple(0.1, 1.0));
    step(&s, 60, 9.9, 1);
    double stationary_wait = 0.1 * 0.99 / 0.01;
    /* E[Q(t)] of 2.4 at 4t/9, divided by C. */
    double m = -0.1, variance = 9.9 + 10, t = 60 * 4.0 / 9, y = m * sqrt(t / variance);
    double cdf = 0.5 * erfc(-y / sqrt(2)), density = exp(-y * y / 2) / sqrt(2 * 3.14159265358979);
    double brownian = (variance / (2 * m) * (2 * cdf - 1) + m * t * cdf
                       + sqrt(variance * t) * density) / 10;
    assert_near_rel(s.out.latency_mean_s - 0.1, brownian, 1e-9);
    assert_true(s.out.latency_mean_s < 0.3 * stationary_wait);
    for (int i = 0; i < 20000; i++)
        step(&s, 60, 9.9, 1);
    assert_near_rel(s.out.latency_mean_s - 0.1, stationary_wait, 0.02);
    qhist_fini(&s.latency);
}

static void an_idle_service_does_nothing(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, simple(0.1, 1.0));
    step(&s, 3600, 0, 3);
    assert_true(s.out.busy == 0.0 && s.out.load == 0.0 && s.out.in_flight == 0.0);
    assert_true(s.latency.total == 0.0 && s.f.arrived == 0.0);
    qhist_fini(&s.latency);
}

/* Exact P(T > t) of M/M/c (2.4). */
static double mmc_tail(int32_t c, double rate, double mu, double t)
{
    double a = rate / mu, b = 1.0;
    for (int32_t k = 1; k <= c; k++)
        b = a * b / (k + a * b);
    double wait = b / (1.0 - a / c * (1.0 - b)), theta = c * mu - rate;
    return (1.0 - wait) * exp(-mu * t)
           + wait * (theta * exp(-mu * t) - mu * exp(-theta * t)) / (theta - mu);
}

static void replicas_for_a_target_agree_with_the_exact_mmc(void **state)
{
    (void)state;
    struct service_config cfg = simple(0.1, 1.0);
    cfg.slo_latency_s = 0.6;
    cfg.slo_target = 0.99;
    struct fluid f;
    fluid_init(&f, &cfg);
    static const double rates[] = {0.5, 3, 9, 17, 25, 44, 80, 170, 300, 707, 2000.5, 20000};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        int32_t c = (int32_t)(rates[i] * 0.1) + 1;
        while (mmc_tail(c, rates[i], 10.0, 0.6) > 0.01 || rates[i] * 0.1 > 0.98 * c)
            c++; /* and no load above 0.98, as fluid.h says */
        struct traffic_point p = {rates[i], 0, 0};
        int32_t got = fluid_replicas_for(&f, &p);
        print_message("# rate %g: exact %d, fluid %d\n", rates[i], c, got);
        assert_between(got, c - 1, c + 1 + 0.005 * c);
    }
    cfg.slo_latency_s = 0.05; /* shorter than the service itself: no number of replicas helps */
    fluid_init(&f, &cfg);
    struct traffic_point p = {80, 0, 0};
    assert_int_equal(fluid_replicas_for(&f, &p), 10);
    p.rate_per_s = 0;
    assert_int_equal(fluid_replicas_for(&f, &p), 1);
}

static void replicas_for_an_llm_meet_the_target_and_one_less_does_not(void **state)
{
    (void)state;
    struct service_config cfg = {.name = "l", .kind = SERVICE_LLM, .max_replicas = 50,
                                 .slo_latency_s = 12, .slo_ttft_s = 1, .slo_target = 0.99};
    cfg.law = (struct replica_law){.c0_s = 9.27e-3, .a_s = 27.1e-6, .d1_s = 55.5e-6, .d2_s = 23.4e-9,
                                   .max_num_seqs = 256, .max_num_batched_tokens = 8192};
    cfg.traffic = (struct traffic_config){.scale = 1, .input_tokens_mean = 1000,
                                          .input_tokens_cv = 1, .output_tokens_mean = 250,
                                          .output_tokens_cv = 0.8, .arrival_cv = 1};
    struct fluid f;
    fluid_init(&f, &cfg);
    struct traffic_point p = {70, 1000, 250};
    int32_t r = fluid_replicas_for(&f, &p);
    double share[2];
    for (int k = 0; k < 2; k++) {
        struct fluid g;
        struct fluid_result out;
        fluid_init(&g, &cfg);
        for (int i = 0; i < NODES_PHASES * NODES_PHASES; i++)
            fluid_step(&g, SIM_MINUTE, &p, r - k, NULL, NULL, &out);
        share[k] = g.slo_met / g.slo_total;
    }
    print_message("# %d replicas: %.4f, one less: %.4f; target in flight %.1f\n", r, share[0],
                  share[1], f.target_in_flight);
    assert_true(share[0] >= 0.99 - 1e-9);
    assert_true(share[1] < 0.99);
    /* In flight at the target is what the scaler should hold: r replicas give about 70/s. */
    assert_true(f.target_in_flight > 1.0 && f.lambda_slo * r >= 70.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overload_is_carried_over_and_waits_are_those_of_fcfs),
        cmocka_unit_test(a_saturated_interval_is_busy_and_a_drained_one_less),
        cmocka_unit_test(cold_start_builds_a_backlog_that_drains),
        cmocka_unit_test(the_last_before_the_replica_waits_its_turn),
        cmocka_unit_test(patience_of_sixty_seconds_loses_exactly_three_hundred),
        cmocka_unit_test(overload_with_patience_loses_the_excess),
        cmocka_unit_test(no_replica_rejects_when_told_to),
        cmocka_unit_test(a_full_queue_rejects_the_rest),
        cmocka_unit_test(everything_that_arrives_is_accounted_for),
        cmocka_unit_test(merged_quantiles_are_those_of_the_mixture),
        cmocka_unit_test(many_servers_agree_with_mmc),
        cmocka_unit_test(general_service_times_agree_with_mg1_and_allen_cunneen),
        cmocka_unit_test(a_minute_near_capacity_is_not_for_ever),
        cmocka_unit_test(an_idle_service_does_nothing),
        cmocka_unit_test(replicas_for_a_target_agree_with_the_exact_mmc),
        cmocka_unit_test(replicas_for_an_llm_meet_the_target_and_one_less_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
