/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hold model: a queue of constant size; pop the earliest, push it again later. Increments are
 * uniform on 0..2 s from a hash of the counter, the same for evq and for the reference `heap40`.
 */
#include <stdio.h>

#include "bench/bench.h"
#include "sim/evq.h"
#include "sim/rng.h"

static inline sim_time increment(uint64_t i)
{
    return (sim_time)(rng_hash(i) >> 33);
}

static uint64_t default_count(uint64_t pending)
{
    return pending > 100000 ? 5000000 : 20000000;
}

static void hold_evq(struct bench_report *report, uint64_t pending)
{
    uint64_t count = report->options->count;
    struct evq q;
    struct ev e;
    char parameter[32];
    count = count > 0 ? count : default_count(pending);
    evq_init(&q, pending);
    for (uint64_t i = 0; i < pending; i++)
        evq_push(&q, increment(i), 0, (uint32_t)i, 0, 0);
    double start = bench_cpu_s();
    for (uint64_t i = 0; i < count && evq_pop(&q, &e); i++)
        evq_push(&q, e.time + increment(pending + i), 0, ev_rank(&e), 0, 0);
    double cpu_s = bench_cpu_s() - start;
    snprintf(parameter, sizeof parameter, "pending=%llu", (unsigned long long)pending);
    bench_add(report, parameter, q.popped, q.popped, cpu_s);
    evq_fini(&q);
}

bool bench_hold(struct bench_report *report, struct err *e)
{
    static const uint64_t sizes[] = {2, 1000, 30000, 1000000};
    (void)e;
    if (report->options->pending > 0) {
        hold_evq(report, report->options->pending);
        return true;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        hold_evq(report, sizes[i]);
    return true;
}
