/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fluid of a batching replica against a simulation of its iterations. */
#include <stdlib.h>

#include "models/demand/fluid.h"
#include "sim/arena.h"
#include "tests/demand/iteration_sim.h"
#include "tests/demand/near.h"

static const struct replica_law plain = {.c0_s = 0.01, .a_s = 50e-6, .d1_s = 100e-6, .d2_s = 20e-9,
                                         .max_num_seqs = 4096, .max_num_batched_tokens = 8192};

/* workload-models 6.1, V1 to V4, V6 and V8: the simulation itself, to the last digit given. */
static void simulation_agrees_with_worked_time_stamps(void **state)
{
    (void)state;
    struct replica_law law = plain;
    law.max_num_batched_tokens = 2048;
    law.max_num_seqs = 128;
    struct sim_result out;
    struct sim_request v1[] = {{0, 1000, 101, 0, 0, 0}};
    iteration_sim(v1, 1, &law, &out);
    assert_near(v1[0].first_s, 0.060000, 1e-9);
    assert_near(v1[0].last_s, 1.072099, 1e-6);
    assert_int_equal(out.iterations, 101);
    struct sim_request v2[] = {{0, 5000, 11, 0, 0, 0}};
    iteration_sim(v2, 1, &law, &out);
    assert_near(v2[0].first_s, 0.280000, 1e-9);
    assert_near(v2[0].last_s, 0.382001, 1e-6);
    struct sim_request v3[] = {{0, 1000, 101, 0, 0, 0}, {0, 500, 51, 0, 0, 0}};
    iteration_sim(v3, 2, &law, &out);
    assert_near(v3[0].first_s, 0.085000, 1e-9);
    assert_near(v3[0].last_s, 1.102623, 1e-6);
    assert_near(v3[1].last_s, 0.596549, 1e-6);
    struct sim_request v4[] = {{0, 1000, 101, 0, 0, 0}, {0.5, 2000, 21, 0, 0, 0}};
    iteration_sim(v4, 2, &law, &out);
    assert_near(v4[1].scheduled_s, 0.505299, 1e-6);
    assert_near(v4[1].first_s - 0.5, 0.115420, 1e-6);
    assert_near(v4[1].last_s - 0.5, 0.320645, 1e-6);
    assert_near(v4[0].last_s, 1.174903, 1e-6);
    law.max_num_seqs = 1;
    struct sim_request v6[] = {{0, 1000, 101, 0, 0, 0}, {0.1, 500, 51, 0, 0, 0}};
    iteration_sim(v6, 2, &law, &out);
    assert_near(v6[1].scheduled_s, 1.072099, 1e-6);
    assert_near(v6[1].last_s - 0.1, 1.512623, 1e-6);
    law.max_num_seqs = 128;
    struct sim_request v8[] = {{0, 100, 200, 0, 0, 0}, {0.2, 5000, 11, 0, 0, 0}};
    iteration_sim(v8, 2, &law, &out);
    assert_near(v8[1].first_s - 0.2, 0.287249, 1e-6);
    assert_near(v8[0].last_s, 2.277693, 1e-6);
    assert_int_equal(out.iterations, 200);
}

struct lengths {
    double p, p_cv, o, o_cv;
};

struct measured {
    double ttft, tpot, latency, busy, load;
    double ttft_q[3], latency_q[3]; /* p50, p95, p99 */
};
static const double levels[3] = {0.50, 0.95, 0.99};

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void simulate(const struct replica_law *law, double rate, struct lengths l, int32_t count,
                     struct measured *m)
{
    struct sim_request *r = mem_zalloc((size_t)count, sizeof *r);
    double *ttft = mem_zalloc((size_t)count, sizeof *ttft);
    double *latency = mem_zalloc((size_t)count, sizeof *latency);
    struct sim_result out;
    iteration_sim_draw(r, count, rate, l.p, l.p_cv, l.o, l.o_cv, 20261129);
    iteration_sim(r, count, law, &out);
    int32_t skip = count / 20, n = count - skip;
    *m = (struct measured){.tpot = out.decode_s / out.decode_tokens, .busy = out.busy_s / out.end_s};
    for (int32_t i = 0; i < n; i++) {
        ttft[i] = r[skip + i].first_s - r[skip + i].arrival_s;
        latency[i] = r[skip + i].last_s - r[skip + i].arrival_s;
        m->ttft += ttft[i] / n;
        m->latency += latency[i] / n;
    }
    qsort(ttft, (size_t)n, sizeof *ttft, by_double);
    qsort(latency, (size_t)n, sizeof *latency, by_double);
    for (int i = 0; i < 3; i++) {
        m->ttft_q[i] = ttft[(int32_t)(levels[i] * n)];
        m->latency_q[i] = latency[(int32_t)(levels[i] * n)];
    }
    free(r);
    free(ttft);
    free(latency);
}

static void service_of(const struct replica_law *law, struct lengths l, struct service_config *cfg)
{
    *cfg = (struct service_config){.name = "s", .kind = SERVICE_LLM, .max_replicas = 4, .law = *law};
    cfg->traffic = (struct traffic_config){.scale = 1, .input_tokens_mean = l.p,
                                           .input_tokens_cv = l.p_cv, .output_tokens_mean = l.o,
                                           .output_tokens_cv = l.o_cv, .arrival_cv = 1};
}

/* All rounds of the quadrature. */
static void fluid_of(const struct replica_law *law, double rate, struct lengths l,
                     struct measured *m)
{
    struct service_config cfg;
    service_of(law, l, &cfg);
    struct fluid f;
    fluid_init(&f, &cfg);
    struct qhist latency, ttft;
    qhist_init(&latency, 0.005, 1e-4, 1e5);
    qhist_init(&ttft, 0.005, 1e-4, 1e5);
    struct traffic_point p = {rate, l.p, l.o};
    struct fluid_result out;
    for (int i = 0; i < NODES_PHASES * NODES_PHASES; i++)
        fluid_step(&f, 600 * SIM_SECOND, &p, 1, &latency, &ttft, &out);
    *m = (struct measured){.ttft = out.ttft_mean_s, .latency = out.latency_mean_s, .busy = out.busy,
                           .load = rate * f.work_s,
                           .tpot = f.station.decode_s / (l.o - 1)};
    for (int i = 0; i < 3; i++) {
        m->latency_q[i] = qhist_quantile(&latency, levels[i]);
        m->ttft_q[i] = qhist_quantile(&ttft, levels[i]);
    }
    qhist_fini(&latency);
    qhist_fini(&ttft);
}

static void print_row(double rate, const struct lengths *l, const struct measured *f,
                      const struct measured *s)
{
    print_message("# rate %5.1f cv %.0f/%.0f: TPOT %+.1f%% TTFT %+.1f%% (p50 %+.0f p95 %+.0f p99 %+.0f) "
                  "E2E %+.1f%% (p50 %+.0f p95 %+.0f p99 %+.0f) busy %.4f %.4f\n",
                  rate, l->p_cv, l->o_cv, 100 * (f->tpot / s->tpot - 1), 100 * (f->ttft / s->ttft - 1),
                  100 * (f->ttft_q[0] / s->ttft_q[0] - 1), 100 * (f->ttft_q[1] / s->ttft_q[1] - 1),
                  100 * (f->ttft_q[2] / s->ttft_q[2] - 1), 100 * (f->latency / s->latency - 1),
                  100 * (f->latency_q[0] / s->latency_q[0] - 1),
                  100 * (f->latency_q[1] / s->latency_q[1] - 1),
                  100 * (f->latency_q[2] / s->latency_q[2] - 1), f->busy, s->busy);
}

/*
 * Error of the fluid. workload-models 2.3 states TPOT and E2E -1 to -6 % and mean TTFT 2 %; the
 * bound on the means is 1 % + 7.5 % rho here. Quantiles of E2E: -12 to +5 %. Of TTFT: p50 15 %, p95
 * 7 %, p99 -8 to +12 % (2.3: -30 to +39 % with a gamma of fixed shape).
 *
 * Its L12 (0 to +5 % from the formula c0/(1-rho) to simulation) does not hold at L3: 10^6 requests
 * give TPOT +10.1 %, E2E +7.5 % (L1 +2.8, +2.3; L2 +5.2, +3.8), with a simulation that reproduces
 * the time stamps of 6.1 and of the real trace (X1) to the last digit. Hence the decode time of
 * llm.h, which includes the request's own work.
 */
static void compare(const struct replica_law *law, double rate, struct lengths l, int32_t count)
{
    struct measured f, s;
    simulate(law, rate, l, count, &s);
    fluid_of(law, rate, l, &f);
    print_row(rate, &l, &f, &s);
    double bias = 0.01 + 0.075 * f.load;
    assert_between(f.tpot / s.tpot, 1.0 - bias, 1.01);
    assert_between(f.latency / s.latency, 1.0 - bias, 1.01);
    assert_between(f.ttft / s.ttft, 0.96, 1.04);
    assert_near(f.busy, s.busy, 0.02);
    for (int i = 0; i < 3; i++)
        assert_between(f.latency_q[i] / s.latency_q[i], 0.88, 1.05);
    assert_between(f.ttft_q[0] / s.ttft_q[0], 0.85, 1.15);
    assert_between(f.ttft_q[1] / s.ttft_q[1], 0.93, 1.07);
    assert_between(f.ttft_q[2] / s.ttft_q[2], 0.92, 1.12);
}

static void constant_lengths_agree_with_the_simulation(void **state)
{
    (void)state;
    struct lengths l = {1000, 0, 101, 0};
    for (double rate = 4; rate <= 12; rate += 4) /* L12 at L1 to L3 */
        compare(&plain, rate, l, 100000);
}

static void lognormal_lengths_agree_with_the_simulation(void **state)
{
    (void)state;
    struct lengths l = {1000, 1, 101, 1};
    for (double rate = 2; rate <= 10; rate += 4)
        compare(&plain, rate, l, 100000);
    struct lengths chat = {1155, 0.96, 211, 0.77}; /* moments of the Azure conversation trace */
    struct replica_law h200 = {.c0_s = 9.27e-3, .a_s = 27.1e-6, .d1_s = 55.5e-6, .d2_s = 23.4e-9,
                               .max_num_seqs = 4096, .max_num_batched_tokens = 8192};
    compare(&h200, 6, chat, 60000);
}

/* 2.2: with M = 2048 the replica of L11 collapses at 18.8/s although 1/w = 21.1/s. */
static void token_budget_is_a_limit_of_its_own(void **state)
{
    (void)state;
    struct replica_law law = {.c0_s = 9.27e-3, .a_s = 27.1e-6, .d1_s = 55.5e-6, .d2_s = 23.4e-9,
                              .max_num_seqs = 30000, .max_num_batched_tokens = 2048};
    const int32_t count = 30000;
    struct sim_request *r = mem_zalloc((size_t)count, sizeof *r);
    struct sim_result below, above;
    iteration_sim_draw(r, count, 17.5, 1000, 0, 250, 0, 5);
    iteration_sim(r, count, &law, &below);
    iteration_sim_draw(r, count, 20.3, 1000, 0, 250, 0, 5);
    iteration_sim(r, count, &law, &above);
    print_message("# left behind at 17.5/s %d, at 20.3/s %d\n", below.left_at_end, above.left_at_end);
    assert_true(below.left_at_end < 500);
    assert_true(above.left_at_end > 1500);
    struct service_config cfg;
    struct lengths l = {1000, 0, 250, 0};
    service_of(&law, l, &cfg);
    struct fluid f;
    fluid_init(&f, &cfg);
    assert_near(f.lambda_max, 18.8235, 1e-4);
    struct traffic_point p = {20.3, 1000, 250};
    struct fluid_result out;
    fluid_step(&f, sim_time_from_seconds(count / 20.3), &p, 1, NULL, NULL, &out);
    assert_near_rel(f.backlog, (20.3 - 18.8235) * count / 20.3, 1e-3);
    free(r);
}

/* Slots bind: waits against the simulation. Bands of 2.3 where E[W] > 0.2 s: -17 to +25 %. */
static void waits_for_a_slot_agree_with_the_simulation(void **state)
{
    (void)state;
    struct replica_law law = plain;
    law.max_num_seqs = 64;
    struct lengths l = {1000, 1, 101, 1};
    struct measured s, f;
    simulate(&law, 11.0, l, 200000, &s);
    fluid_of(&law, 11.0, l, &f);
    print_row(11.0, &l, &f, &s);
    assert_between(f.ttft / s.ttft, 0.75, 1.30);
    assert_between(f.latency / s.latency, 0.90, 1.10);
}

static void repeated_and_split_steps_give_the_same_totals(void **state)
{
    (void)state;
    struct lengths l = {1000, 1, 101, 1};
    struct service_config cfg;
    service_of(&plain, l, &cfg);
    struct fluid whole, split;
    fluid_init(&whole, &cfg);
    fluid_init(&split, &cfg);
    struct traffic_point p = {6, 1000, 101};
    struct fluid_result out;
    fluid_step(&whole, 60 * SIM_SECOND, &p, 2, NULL, NULL, &out);
    double busy = out.busy, in_flight = out.in_flight;
    for (int i = 0; i < 60; i++) {
        fluid_step(&split, SIM_SECOND, &p, 2, NULL, NULL, &out);
        assert_near(out.busy, busy, 1e-12);
        assert_near(out.in_flight, in_flight, 1e-9);
    }
    assert_near_rel(split.served, whole.served, 1e-12);
    assert_near_rel(split.tokens_out, whole.tokens_out, 1e-12);
}

/* Token means that a traffic file gives replace the configured ones. */
static void lengths_of_the_point_count(void **state)
{
    (void)state;
    struct lengths l = {1000, 0, 101, 0}, twice = {2000, 0, 101, 0};
    struct service_config cfg, other;
    service_of(&plain, l, &cfg);
    service_of(&plain, twice, &other);
    struct fluid f, g;
    fluid_init(&f, &cfg);
    fluid_init(&g, &other);
    struct traffic_point p = {6, 2000, 101};
    struct fluid_result a, b;
    fluid_step(&f, SIM_MINUTE, &p, 1, NULL, NULL, &a);
    fluid_step(&g, SIM_MINUTE, &p, 1, NULL, NULL, &b);
    assert_near(a.latency_mean_s, b.latency_mean_s, 1e-12);
    assert_near(a.load, b.load, 1e-12);
    assert_near(f.tokens_in, 6 * 60 * 2000, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulation_agrees_with_worked_time_stamps),
        cmocka_unit_test(constant_lengths_agree_with_the_simulation),
        cmocka_unit_test(lognormal_lengths_agree_with_the_simulation),
        cmocka_unit_test(token_budget_is_a_limit_of_its_own),
        cmocka_unit_test(waits_for_a_slot_agree_with_the_simulation),
        cmocka_unit_test(repeated_and_split_steps_give_the_same_totals),
        cmocka_unit_test(lengths_of_the_point_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
