/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decisions of the cohort policy per second, with many workloads waiting (kueue/churn.h says how
 * they are kept in motion, counts.h what a decision is: nothing but heads of queues in cycles of the
 * real scheduler). Items are decisions; events are those of them that were computed.
 *
 *   kueue-pending  100,000 waiting (or --pending) in 1,000 queues: rates, in each mode; under fair
 *                  sharing also with all queues in one cohort
 *   kueue-cycle    10,000, 100,000 and 1,000,000 waiting, the same changes: what a round costs
 */
#include <inttypes.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/kueue/churn.h"

enum { QUEUES = 1000, SHAPES = 8, WARM_UP = 20 };

static const char *const mode_names[] = {"never", "preempt", "fair", "fair-one"};

static void run_case(struct bench_report *report, const struct churn_options *o, uint32_t rounds, const char *name)
{
    struct churn *c = churn_create(o);
    churn_rounds(c, WARM_UP);
    const struct churn_result a = churn_result(c);
    const double begun = bench_cpu_s();
    churn_rounds(c, rounds);
    const double cpu_s = bench_cpu_s() - begun;
    const struct churn_result b = churn_result(c);
    const uint64_t decisions = kq_decisions(&b.counts) - kq_decisions(&a.counts);
    const uint64_t evaluated = b.counts.evaluated - a.counts.evaluated;
    bench_add(report, name, decisions, evaluated, cpu_s);
    bench_note(report, "%s: %u wait, %u run; %u rounds of %.1f us: %" PRIu64 " decisions (%" PRIu64
               " computed, %" PRIu64 " proven), %" PRIu64 " admitted, %" PRIu64 " evicted, %.0f computed decisions/s",
               name, b.waiting, b.running, rounds, 1e6 * cpu_s / rounds, decisions, evaluated,
               b.counts.proven - a.counts.proven, b.admitted - a.admitted, b.evicted - a.evicted,
               (double)evaluated / cpu_s);
    churn_destroy(c);
}

bool bench_kueue_pending(struct bench_report *report, struct err *e)
{
    const uint64_t pending = report->options->pending, count = report->options->count;
    (void)e;
    for (int m = 0; m < 4; m++) {
        const bool one = m == 3;
        const struct churn_options o = {.pending = pending > 0 ? (uint32_t)pending : 100000, .queues = QUEUES,
                                        .shapes = SHAPES, .changed = 100, .cohort_queues = one ? QUEUES : 0,
                                        .mode = one ? CHURN_FAIR : (enum churn_mode)m,
                                        .seed = report->options->seed};
        char name[48];
        snprintf(name, sizeof name, "%s/%u", mode_names[m], o.pending);
        run_case(report, &o, count > 0 ? (uint32_t)count : one ? 20 : 100, name);
    }
    return true;
}

bool bench_kueue_cycle(struct bench_report *report, struct err *e)
{
    static const uint32_t sizes[] = {10000, 100000, 1000000};
    static const uint32_t changes[] = {1, 10, 100};
    const uint64_t count = report->options->count;
    (void)e;
    for (size_t c = 0; c < sizeof changes / sizeof changes[0]; c++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            const struct churn_options o = {.pending = sizes[s], .queues = QUEUES, .shapes = SHAPES,
                                            .changed = changes[c], .mode = CHURN_NEVER,
                                            .seed = report->options->seed};
            char name[48];
            snprintf(name, sizeof name, "changed=%u/%u", o.changed, o.pending);
            run_case(report, &o, count > 0 ? (uint32_t)count : 100, name);
        }
    return true;
}
