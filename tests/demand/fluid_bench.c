/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPU time of one traffic step and one fluid step: `meson test --benchmark fluid_bench -v`. */
#include <stdio.h>
#include <time.h>

#include "models/demand/fluid.h"

static double ns_since(clock_t start, int steps)
{
    return (double)(clock() - start) * 1e9 / CLOCKS_PER_SEC / steps;
}

static void run(const char *name, const struct service_config *cfg, int32_t replicas)
{
    enum { STEPS = 1000000 };
    static struct fluid f;
    struct err err = {0};
    struct qhist latency, ttft;
    struct traffic_point p = {0};
    struct fluid_result r;
    qhist_init(&latency, 0.01, 1e-3, 1e5);
    qhist_init(&ttft, 0.01, 1e-3, 1e5);
    clock_t start = clock();
    fluid_init(&f, cfg);
    double init_us = ns_since(start, 1) / 1000;
    struct traffic_source *s = traffic_source_open(cfg, 0, 1, 0, 0, SIM_MINUTE, NULL, NULL, &err);
    double traffic_sum = 0.0;
    start = clock();
    for (int i = 0; i < STEPS; i++) {
        traffic_source_next(s, i * SIM_MINUTE, &p, &err);
        traffic_sum += p.rate_per_s;
    }
    double traffic_ns = ns_since(start, STEPS);
    traffic_source_close(s);
    double mean = traffic_sum / STEPS;
    start = clock();
    for (int i = 0; i < STEPS; i++) {
        p.rate_per_s = mean * (0.5 + 0.9 * (double)((unsigned)i * 7919U % 1000U) / 1000);
        fluid_step(&f, SIM_MINUTE, &p, replicas, &latency, &ttft, &r);
    }
    printf("%s: init %.0f us, traffic %.0f ns, fluid %.0f ns a step (load %.2f)\n", name, init_us,
           traffic_ns, ns_since(start, STEPS), mean / (f.lambda_max * replicas));
    qhist_fini(&latency);
    qhist_fini(&ttft);
}

int main(void)
{
    struct service_config llm = {.name = "llm", .kind = SERVICE_LLM, .max_replicas = 20,
                                 .slo_latency_s = 20, .slo_target = 0.99};
    llm.law = (struct replica_law){.c0_s = 9.27e-3, .a_s = 27.1e-6, .d1_s = 55.5e-6, .d2_s = 23.4e-9,
                                   .max_num_seqs = 1024, .max_num_batched_tokens = 8192,
                                   .kv_capacity_tokens = 677601};
    llm.traffic = (struct traffic_config){.scale = 1, .input_tokens_mean = 1000,
                                          .input_tokens_cv = 1, .output_tokens_mean = 200,
                                          .output_tokens_cv = 0.8, .arrival_cv = 1.2};
    llm.traffic.profile = (struct rate_profile){.base_per_s = 20, .a1 = 0.3, .phase1_h = 14,
                                                .a2 = 0.1, .phase2_h = 10, .ou_sigma = 0.27,
                                                .ou_tau = 30 * SIM_MINUTE};
    run("llm, 2 replicas", &llm, 2);
    run("llm, 8 replicas", &llm, 8);
    struct service_config simple = llm;
    simple.kind = SERVICE_SIMPLE;
    simple.service_time_s = 0.2;
    simple.service_time_cv = 1.2;
    simple.servers_per_replica = 1;
    run("simple, 5 replicas", &simple, 5);
    run("simple, 40 replicas", &simple, 40);
    return 0;
}
