/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fleetsim-bench: one table of benchmarks, one format of results. A benchmark runs its cases once,
 * measures CPU time of the process itself and adds one row per case; main repeats and prints.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

struct bench_options {
    uint64_t customers; /* mm1; 0 = 20,000,000 */
    uint64_t pending;   /* hold, heap40: this size only; 0 = the standard sizes */
    uint64_t count;     /* operations of the micro benchmarks, seeds of fgd; 0 = each one's own default */
    uint64_t seed;
    const char *file;   /* --file: scenario or trace of the benchmarks that need one, or NULL */
    char **paths;       /* folders named after fgd */
    size_t path_count;
    const char *write;  /* fgd: folder for the experiment as scenarios, or NULL */
    unsigned repeat;    /* at least 1 */
    bool csv;
};

struct bench_row {
    const char *benchmark;
    char parameter[48];
    uint64_t items, events; /* what a user counts (customers, holds, numbers); events popped */
    double cpu_s;
    uint64_t peak_rss_bytes; /* of the process so far */
};

struct bench_report {
    const char *current; /* name of the running benchmark */
    const struct bench_options *options;
    struct bench_row *rows; /* owned */
    size_t count, capacity;
    bool differs;       /* a result is not what was published: exit 1 */
};

struct benchmark {
    const char *name, *help;
    /* false with e filled when it could not run. */
    bool (*run)(struct bench_report *report, struct err *e);
};

/* CPU seconds of the process (CLOCK_PROCESS_CPUTIME_ID). */
double bench_cpu_s(void);

/* Adds the result of one case. parameter names the case, such as "pending=30000". */
void bench_add(struct bench_report *report, const char *parameter, uint64_t items,
               uint64_t events, double cpu_s);

/* A line for the reader, such as the estimate that the case computed; dropped with --csv. */
void bench_note(const struct bench_report *report, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Keeps the optimiser from dropping a computation. */
static inline void bench_keep(uint64_t x)
{
    __asm__ volatile("" : : "r"(x) : "memory");
}

bool bench_mm1(struct bench_report *report, struct err *e);
bool bench_hold(struct bench_report *report, struct err *e);
bool bench_heap40(struct bench_report *report, struct err *e);
bool bench_rng(struct bench_report *report, struct err *e);
bool bench_dmath(struct bench_report *report, struct err *e);
bool bench_qhist(struct bench_report *report, struct err *e);
bool bench_fgd(struct bench_report *report, struct err *e);
bool bench_place(struct bench_report *report, struct err *e);
bool bench_place_gangs(struct bench_report *report, struct err *e);
bool bench_kueue_pending(struct bench_report *report, struct err *e);
bool bench_kueue_cycle(struct bench_report *report, struct err *e);
bool bench_kueue_range(struct bench_report *report, struct err *e);
bool bench_scenario(struct bench_report *report, struct err *e);
bool bench_trace(struct bench_report *report, struct err *e);

#endif
