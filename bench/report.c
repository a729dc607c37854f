/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/bench.h"
#include "sim/arena.h"
#include "sim/check.h"

double bench_cpu_s(void)
{
    struct timespec t;
    REQUIRE(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t peak_rss_bytes(void)
{
    struct rusage usage;
    REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
    return (uint64_t)usage.ru_maxrss * 1024;
}

void bench_add(struct bench_report *report, const char *parameter, uint64_t items,
               uint64_t events, double cpu_s)
{
    report->rows = mem_grow(
        report->rows, &report->capacity, report->count + 1, sizeof *report->rows);
    struct bench_row *row = &report->rows[report->count++];
    *row = (struct bench_row){.benchmark = report->current,
                              .items = items,
                              .events = events,
                              .cpu_s = cpu_s,
                              .peak_rss_bytes = peak_rss_bytes()};
    snprintf(row->parameter, sizeof row->parameter, "%s", parameter);
}

void bench_note(const struct bench_report *report, const char *fmt, ...)
{
    if (report->options->csv)
        return;
    va_list args;
    va_start(args, fmt);
    printf("%s: ", report->current);
    vprintf(fmt, args);
    putchar('\n');
    va_end(args);
}
