/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/kueue/range.h"

#include "sim/sim_time.h"

enum { FIT_POINTS = 5 };
static const int64_t low_ns = 18 * SIM_MS, step_ns = SIM_MS;

/* Mean of all cycles of 100 heads or more before the first that waited for a write, of each start. */
static const int64_t creating_us[RANGE_RUNS] = {1640, 1170, 480, 610, 1760, 1300};

static struct paced_pace pace_of(int run, int64_t write_ns, bool before_hashing)
{
    return (struct paced_pace){.write_ns = write_ns,
                               .queue_ns = 7000,
                               .creating_ns = creating_us[run] * 1000,
                               .quiet_ns = SIM_MS / 5,
                               .round_trip_ns = 5 * SIM_MS,
                               .seed = (uint64_t)run + 1,
                               .before_hashing = before_hashing};
}

static bool any(const struct paced_published *p, bool before_hashing)
{
    bool found = p->wall_before_hashing == before_hashing;
    for (int c = 0; c < PACED_CLASSES; c++)
        found |= p->before_hashing[c] == before_hashing;
    return found;
}

static void add(const struct paced_published *p, bool before_hashing, const struct paced_result *r, struct paced_result *mean)
{
    for (int c = 0; c < PACED_CLASSES; c++)
        if (p->before_hashing[c] == before_hashing) {
            mean->admission_ms[c] += r->admission_ms[c] / RANGE_RUNS;
            mean->decision_ms[c] += r->decision_ms[c] / RANGE_RUNS;
        }
    if (p->wall_before_hashing != before_hashing)
        return;
    mean->wall_ms += r->wall_ms / RANGE_RUNS;
    mean->admissions += r->admissions;
    mean->evictions += r->evictions;
    mean->writes += r->writes;
    mean->cycles += r->cycles;
}

void range_mean(const struct paced_published *p, int64_t write_ns, struct paced_result *mean)
{
    *mean = (struct paced_result){0};
    for (int before = 0; before <= 1; before++) {
        if (!any(p, before != 0))
            continue;
        for (int run = 0; run < RANGE_RUNS; run++) {
            const struct paced_pace pace = pace_of(run, write_ns, before != 0);
            struct paced_result r;
            paced_run(&p->config, &pace, &r);
            add(p, before != 0, &r, mean);
        }
    }
    mean->admissions /= RANGE_RUNS;
    mean->evictions /= RANGE_RUNS;
    mean->writes /= RANGE_RUNS;
    mean->cycles /= RANGE_RUNS;
}

int64_t range_fit(const struct paced_published *p)
{
    double y[FIT_POINTS][PACED_CLASSES], up = 0, down = 0;
    const double middle = (FIT_POINTS - 1) / 2.0;
    for (int i = 0; i < FIT_POINTS; i++) {
        struct paced_result r;
        range_mean(p, low_ns + i * step_ns, &r);
        for (int c = 0; c < PACED_CLASSES; c++)
            y[i][c] = r.admission_ms[c];
    }
    for (int c = 0; c < PACED_CLASSES; c++) { /* y = centre + slope * (i - middle) */
        double centre = 0, slope = 0, square = 0;
        for (int i = 0; i < FIT_POINTS; i++) {
            centre += y[i][c] / FIT_POINTS;
            slope += y[i][c] * (i - middle);
            square += (i - middle) * (i - middle);
        }
        slope /= square;
        up += slope * (p->admission_ms[c] - centre);
        down += slope * slope;
    }
    return low_ns + (int64_t)((middle + up / down) * (double)step_ns);
}
