/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "sim/arena.h"
#include "sim/diag.h"

static const struct benchmark benchmarks[] = {
    {"mm1", "M/M/1 queue, arrivals 0.9/s, service 1/s: customers", bench_mm1},
    {"hold", "event queue of constant size: holds (pop and push)", bench_hold},
    {"heap40", "the yardstick, a plain 4-ary heap: holds", bench_heap40},
    {"rng", "random variates: draws", bench_rng},
    {"dmath", "portable mathematical functions: calls", bench_dmath},
    {"qhist", "quantile histogram: calls", bench_qhist},
    {"fgd", "the FGD packing experiment on the openb lists in DIR...: pods", bench_fgd},
    {"place", "placement rules with 10,000 and 100,000 cards, filled and churned: pods", bench_place},
    {"place-gangs", "gangs on the same fleets, with network locality and without: workers", bench_place_gangs},
    {"kueue-pending", "cohort policy, 100,000 (--pending) waiting in 1,000 queues: decisions", bench_kueue_pending},
    {"kueue-cycle", "the same with 10,000 to 1,000,000 waiting and few changes: decisions", bench_kueue_cycle},
    {"kueue-range", "Kueue's performance test, times to admission as published: admissions", bench_kueue_range},
    {"scenario", "every arbiter of --file (scenarios/quick.yaml): jobs and replicas", bench_scenario},
    {"trace", "a jobs file (--file) in order on 1,000 cards: jobs", bench_trace},
};
enum { BENCHMARKS = sizeof benchmarks / sizeof benchmarks[0] };

static const char usage[] =
    "Usage: fleetsim-bench BENCHMARK... [OPTION]...\n"
    "       fleetsim-bench fgd DIR... [OPTION]...\n"
    "Measures CPU time of parts of fleetsim.\n"
    "\n"
    "Example: fleetsim-bench mm1 heap40 --customers 20000000\n"
    "\n"
    "  --list         the benchmarks, one a line\n"
    "  --csv          one line of CSV per case and repetition\n"
    "  --repeat N     repeat each benchmark; the table shows best and median\n"
    "  --customers N  customers of mm1 (20000000)\n"
    "  --pending N    size of the queue of hold and heap40 (2, 1000, 30000, 1000000)\n"
    "  --count N      operations of each micro benchmark; seeds of fgd (10); pods\n"
    "                 churned by place, gangs by place-gangs (60000)\n"
    "  --seed N       seed of the random streams (1)\n"
    "  --write DIR    fgd: write the experiment, list by list and seed by seed, as scenarios for fleetsim run\n"
    "  --file PATH    scenario or trace, for the benchmarks that read one\n"
    "  --help         this text\n"
    "\n"
    "The column `heap40` is the rate over the rate of `heap40 pending=2` of the same run.\n";

enum option_id { OPT_LIST, OPT_CSV, OPT_REPEAT, OPT_CUSTOMERS, OPT_PENDING, OPT_COUNT, OPT_SEED, OPT_WRITE,
                 OPT_FILE, OPT_HELP };

static const struct option long_options[] = {
    {"list", no_argument, NULL, OPT_LIST},
    {"csv", no_argument, NULL, OPT_CSV},
    {"repeat", required_argument, NULL, OPT_REPEAT},
    {"customers", required_argument, NULL, OPT_CUSTOMERS},
    {"pending", required_argument, NULL, OPT_PENDING},
    {"count", required_argument, NULL, OPT_COUNT},
    {"seed", required_argument, NULL, OPT_SEED},
    {"write", required_argument, NULL, OPT_WRITE},
    {"file", required_argument, NULL, OPT_FILE},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static const struct benchmark *find(const char *name)
{
    for (int i = 0; i < BENCHMARKS; i++) {
        if (strcmp(benchmarks[i].name, name) == 0)
            return &benchmarks[i];
    }
    return NULL;
}

static int unknown_benchmark(const char *name)
{
    const char *names[BENCHMARKS];
    for (int i = 0; i < BENCHMARKS; i++)
        names[i] = benchmarks[i].name;
    const char *near = diag_nearest(name, names, BENCHMARKS);
    fprintf(stderr, "fleetsim-bench: unknown benchmark '%s'", name);
    if (near != NULL)
        fprintf(stderr, ", did you mean '%s'?", near);
    fputs("\nTry 'fleetsim-bench --list'.\n", stderr);
    return 2;
}

static int list_benchmarks(void)
{
    for (int i = 0; i < BENCHMARKS; i++)
        printf("%-13s %s\n", benchmarks[i].name, benchmarks[i].help);
    return 0;
}

/* A whole number in 1..limit. */
static bool parse_count(const char *option, const char *text, uint64_t limit, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long x = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || x < 1 || x > limit) {
        fprintf(stderr,
                "fleetsim-bench: --%s: expected a whole number from 1 to %" PRIu64
                ", got '%s'\n",
                option,
                limit,
                text);
        return false;
    }
    *out = x;
    return true;
}

static bool set_number(struct bench_options *o, int id, const char *text)
{
    uint64_t repeat;
    switch (id) {
    case OPT_REPEAT:
        if (!parse_count("repeat", text, 1000, &repeat))
            return false;
        o->repeat = (unsigned)repeat;
        return true;
    case OPT_CUSTOMERS:
        return parse_count("customers", text, UINT64_C(1000000000), &o->customers);
    case OPT_PENDING:
        return parse_count("pending", text, UINT64_C(100000000), &o->pending);
    case OPT_COUNT:
        return parse_count("count", text, UINT64_C(1000000000000), &o->count);
    default:
        return parse_count("seed", text, UINT64_MAX, &o->seed);
    case OPT_WRITE:
        o->write = text;
        return true;
    }
}

/* -1: go on; else the exit status. */
static int parse_options(int argc, char **argv, struct bench_options *o)
{
    for (;;) {
        int id = getopt_long(argc, argv, "", long_options, NULL);
        if (id == -1)
            return -1;
        if (id == OPT_LIST)
            return list_benchmarks();
        if (id == OPT_HELP) {
            fputs(usage, stdout);
            return 0;
        }
        if (id == '?') {
            fputs("Try 'fleetsim-bench --help'.\n", stderr);
            return 2;
        }
        if (id == OPT_CSV)
            o->csv = true;
        else if (id == OPT_FILE)
            o->file = optarg;
        else if (!set_number(o, id, optarg))
            return 2;
    }
}

static double rate(const struct bench_row *row)
{
    return row->cpu_s > 0 ? (double)row->items / row->cpu_s : 0;
}

static void print_csv(const struct bench_report *report)
{
    if (report->count == 0)
        return; /* fgd has printed its own */
    puts("benchmark,parameter,items,events,cpu_s,items_per_cpu_s,peak_rss_bytes");
    for (size_t i = 0; i < report->count; i++) {
        const struct bench_row *row = &report->rows[i];
        printf("%s,%s,%" PRIu64 ",%" PRIu64 ",%.6f,%.0f,%" PRIu64 "\n",
               row->benchmark,
               row->parameter,
               row->items,
               row->events,
               row->cpu_s,
               rate(row),
               row->peak_rss_bytes);
    }
}

static bool same_case(const struct bench_row *a, const struct bench_row *b)
{
    return strcmp(a->benchmark, b->benchmark) == 0 && strcmp(a->parameter, b->parameter) == 0;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* CPU seconds of all repetitions of the case of row i, ascending; returns how many. */
static size_t collect(const struct bench_report *report, size_t i, double *seconds)
{
    size_t n = 0;
    for (size_t j = 0; j < report->count; j++) {
        if (same_case(&report->rows[i], &report->rows[j]))
            seconds[n++] = report->rows[j].cpu_s;
    }
    qsort(seconds, n, sizeof *seconds, compare_doubles);
    return n;
}

static bool seen_before(const struct bench_report *report, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (same_case(&report->rows[i], &report->rows[j]))
            return true;
    }
    return false;
}

/* Best rate of `heap40 pending=2`, or 0 when it was not run. */
static double yardstick(const struct bench_report *report)
{
    double best = 0;
    for (size_t i = 0; i < report->count; i++) {
        const struct bench_row *row = &report->rows[i];
        bool is_it = strcmp(row->benchmark, "heap40") == 0 &&
                     strcmp(row->parameter, "pending=2") == 0;
        if (is_it && rate(row) > best)
            best = rate(row);
    }
    return best;
}

static void print_table(const struct bench_report *report)
{
    double *seconds = mem_alloc(report->count, sizeof *seconds), unit = yardstick(report);
    printf("%-13s %-20s %12s %12s %9s %9s %12s %7s %9s\n",
           "benchmark", "parameter", "items", "events", "best s", "median s", "items/cpu-s",
           "heap40", "peak MiB");
    for (size_t i = 0; i < report->count; i++) {
        struct bench_row row = report->rows[i];
        if (seen_before(report, i))
            continue;
        size_t n = collect(report, i, seconds);
        row.cpu_s = seconds[0];
        printf("%-13s %-20s %12" PRIu64 " %12" PRIu64 " %9.3f %9.3f %12.0f",
               row.benchmark, row.parameter, row.items, row.events, seconds[0], seconds[n / 2],
               rate(&row));
        if (unit > 0)
            printf(" %7.2f", rate(&row) / unit);
        else
            printf(" %7s", "-");
        printf(" %9.1f\n", (double)row.peak_rss_bytes / 1048576);
    }
    free(seconds);
}

/* Repetitions go round the benchmarks, so that a busy neighbour does not hit one of them only. */
static bool run_all(struct bench_report *report, char **names, int count, struct err *e)
{
    for (unsigned r = 0; r < report->options->repeat; r++) {
        for (int i = 0; i < count; i++) {
            const struct benchmark *b = find(names[i]);
            report->current = b->name;
            if (!b->run(report, e))
                return false;
        }
    }
    return true;
}

/* Moves the folders (what is no benchmark, after fgd) behind the names; returns how many names. */
static int split_arguments(struct bench_options *o, char **args, int count)
{
    bool folders = false;
    int names = 0;
    o->paths = mem_alloc((size_t)count + 1, sizeof *o->paths);
    for (int i = 0; i < count; i++) {
        if (folders && find(args[i]) == NULL)
            o->paths[o->path_count++] = args[i];
        else
            args[names++] = args[i];
        folders = folders || strcmp(args[i], "fgd") == 0;
    }
    return names;
}

int main(int argc, char **argv)
{
    struct bench_options options = {.repeat = 1, .seed = 1};
    struct bench_report report = {.options = &options};
    struct err e = {0};
    int status = parse_options(argc, argv, &options);
    if (status >= 0)
        return status;
    if (optind == argc) {
        fputs("fleetsim-bench: no benchmark given\nTry 'fleetsim-bench --help'.\n", stderr);
        return 2;
    }
    int names = split_arguments(&options, argv + optind, argc - optind);
    for (int i = optind; i < optind + names; i++) {
        if (find(argv[i]) == NULL) {
            free(options.paths);
            return unknown_benchmark(argv[i]);
        }
    }
    if (!run_all(&report, argv + optind, names, &e))
        fprintf(stderr, "fleetsim-bench: %s\n", e.text);
    else if (options.csv)
        print_csv(&report);
    else
        print_table(&report);
    free(report.rows);
    free(options.paths);
    return e.code == ERR_NONE && report.differs ? 1 : err_exit_status(&e);
}
