/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mean times to admission of Kueue's own performance test (kueue/paced.h, kueue/range.h). The service
 * time of a write is fitted on the baseline, by least squares over its three classes; the large-scale test
 * is then predicted, and both are compared with published.h. Items are admissions, events cycles.
 */
#include <inttypes.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/kueue/range.h"

static double percent(double ours, double published)
{
    return 100 * (ours / published - 1);
}

static void run_one(struct bench_report *report, const struct paced_published *p, int64_t write_ns)
{
    struct paced_result r;
    const double begun = bench_cpu_s();
    range_mean(p, write_ns, &r);
    bench_add(report, p->name, r.admissions, r.cycles, bench_cpu_s() - begun);
    for (int c = PACED_CLASSES; c-- > 0;)
        bench_note(report, "%s: %-6s %6.1f s, published %6.1f s (%+.1f %%); decided after %.1f s", p->name,
                   p->config.classes[c].name, r.admission_ms[c] / 1e3, p->admission_ms[c] / 1e3,
                   percent(r.admission_ms[c], p->admission_ms[c]), r.decision_ms[c] / 1e3);
    bench_note(report, "%s: all    %6.1f s, published %6.1f s (%+.1f %%); %" PRIu64 " writes, %" PRIu64 " evictions",
               p->name, r.wall_ms / 1e3, p->wall_ms / 1e3, percent(r.wall_ms, p->wall_ms), r.writes, r.evictions);
}

bool bench_kueue_range(struct bench_report *report, struct err *e)
{
    (void)e;
    const int64_t write_ns = range_fit(&paced_baseline);
    bench_note(report, "service time of a write, fitted on the baseline: %.2f ms (its client may make 50 a second)",
               (double)write_ns / 1e6);
    run_one(report, &paced_baseline, write_ns);
    run_one(report, &paced_large_scale, write_ns);
    return true;
}
