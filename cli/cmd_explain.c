/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim explain: why did this job wait, move, or die? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/explain.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "sim/sim_time.h"
#include "studies/explain_rerun.h"
#include "studies/manifest_job.h"

enum { OPT_QUEUE = 256, OPT_AT, OPT_ARBITER, OPT_REPLICATION, OPT_LIMIT, OPT_FORMAT, OPT_JOB, OPT_MANIFESTS };

static const struct argp_option options[] = {
    {"queue", OPT_QUEUE, "NAME", 0, "Explain a queue: its quota, who waits in it and why, who is admitted", 0},
    {"at", OPT_AT, "TIME", 0, "Explain an instant (with --queue: of that queue): seconds, 3h12m, or 2d 07:30:00", 0},
    {"arbiter", OPT_ARBITER, "NAME", 0, "Under this arbiter (default: all)", 0},
    {"replication", OPT_REPLICATION, "N", 0, "In this replication (default 0)", 0},
    {"limit", OPT_LIMIT, "N", 0, "Decisions shown of a queue or an instant, and a quarter as many workloads; 0 = all (default 40)", 0},
    {"format", OPT_FORMAT, "FORMAT", 0, "text (default) or json", 0},
    {"job", OPT_JOB, "JOB.yaml", 0, "Would this job start now in the cluster of --manifests?", 0},
    {"manifests", OPT_MANIFESTS, "FILE", 0, "With --job: the cluster's objects; repeatable (docs/manifests.md)", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct explain_arguments {
    const char *path, *arbiter;
    int64_t replication;
    int subjects;
    bool at;
    int64_t t_ns;
    struct explain_query query;
    struct manifest_job_options job;
};

static int64_t whole_number(const char *arg, const char *option, struct argp_state *state)
{
    char *end;
    errno = 0;
    long long n = strtoll(arg, &end, 10);
    if (errno != 0 || *end != '\0' || arg[0] < '0' || arg[0] > '9')
        argp_error(state, "%s: expected a whole number, got '%s'", option, arg);
    return n;
}

/* Seconds of one "NUMBER UNIT" at *p, which moves on; negative when it is none. */
static double part_of_time(const char **p)
{
    static const struct {
        char unit;
        double seconds;
    } units[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
    if (**p < '0' || **p > '9')
        return -1;
    char *end;
    double value = strtod(*p, &end);
    if (*end == '\0') {
        *p = end;
        return value;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (*end == units[i].unit) {
            *p = end + 1;
            return value * units[i].seconds;
        }
    return -1;
}

/* One or two digits below `limit` at *p, which moves on. */
static bool clock_part(const char **p, int limit, int *value)
{
    if (**p < '0' || **p > '9')
        return false;
    char *end;
    long n = strtol(*p, &end, 10);
    if (end - *p > 2 || n >= limit)
        return false;
    *p = end;
    *value = (int)n;
    return true;
}

/* H:MM or H:MM:SS */
static bool clock_of(const char *p, double *seconds)
{
    int h = 0, m = 0, s = 0;
    if (!clock_part(&p, 100, &h) || *p++ != ':' || !clock_part(&p, 60, &m) ||
        (*p != '\0' && (*p++ != ':' || !clock_part(&p, 60, &s))) || *p != '\0')
        return false;
    *seconds += h * 3600.0 + m * 60.0 + s;
    return true;
}

static int64_t instant(const char *arg, struct argp_state *state)
{
    double seconds = 0;
    const char *p = arg;
    bool ok = *p != '\0';
    while (ok && *p != '\0') {
        if (*p == ' ') {
            p++;
            continue;
        }
        if (strchr(p, ':') != NULL && strchr(p, 'd') == NULL) {
            ok = clock_of(p, &seconds);
            break;
        }
        double part = part_of_time(&p);
        ok = part >= 0;
        seconds += part;
    }
    sim_time t = ok ? sim_time_from_seconds(seconds) : SIM_NEVER;
    if (t == SIM_NEVER)
        argp_error(state, "--at: expected seconds, 3h12m, or 2d 07:30:00 since the start, got '%s'", arg);
    return t;
}

/* An instant alone, or of the queue that was or will be named. */
static void moment(struct explain_arguments *a, const char *arg, struct argp_state *state)
{
    if (a->at)
        argp_error(state, "one --at; found a second: '%s'", arg);
    a->at = true;
    a->t_ns = instant(arg, state);
}

static void subject(struct explain_arguments *a, enum explain_what what, const char *name, struct argp_state *state)
{
    if (a->subjects++ > 0)
        argp_error(state, "one workload or one --queue; found a second: '%s'", name);
    a->query.what = what;
    a->query.name = name;
}

static void format_of(const char *arg, struct explain_arguments *a, struct argp_state *state)
{
    bool json = strcmp(arg, "json") == 0;
    if (!json && strcmp(arg, "text") != 0)
        argp_error(state, "--format: expected text or json, got '%s'", arg);
    a->query.format = json ? ROWS_JSON : ROWS_TABLE;
}

/* What the options ask for together. */
static void what_of(struct explain_arguments *a, struct argp_state *state)
{
    if (a->subjects == 0 && !a->at)
        argp_error(state, "expected a workload, --queue or --at");
    if (a->at && a->subjects > 0 && a->query.what == EXPLAIN_WORKLOAD)
        argp_error(state, "--at: a workload is explained from its beginning to its end; found '%s' beside it", a->query.name);
    if (a->subjects == 0)
        a->query.what = EXPLAIN_AT;
    a->query.t_ns = a->at ? a->t_ns : INT64_MAX;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct explain_arguments *a = state->input;
    switch (key) {
    case OPT_QUEUE:
        subject(a, EXPLAIN_QUEUE, arg, state);
        break;
    case OPT_AT:
        moment(a, arg, state);
        break;
    case OPT_ARBITER:
        a->arbiter = arg;
        break;
    case OPT_REPLICATION:
        a->replication = whole_number(arg, "--replication", state);
        break;
    case OPT_LIMIT:
        a->query.limit = (size_t)whole_number(arg, "--limit", state);
        break;
    case OPT_FORMAT:
        format_of(arg, a, state);
        break;
    case OPT_JOB:
        a->job.job = arg;
        break;
    case OPT_MANIFESTS:
        if (a->job.file_count == MANIFEST_FILES_MAX)
            argp_error(state, "more than %d --manifests options", MANIFEST_FILES_MAX);
        a->job.files[a->job.file_count++] = arg;
        break;
    case ARGP_KEY_ARG:
        if (a->path == NULL)
            a->path = arg;
        else
            subject(a, EXPLAIN_WORKLOAD, arg, state);
        break;
    case ARGP_KEY_END:
        if ((a->job.job != NULL) != (a->job.file_count > 0))
            argp_error(state, "--job and --manifests belong together");
        if (a->job.job != NULL)
            break;
        if (a->path == NULL)
            argp_error(state, "expected a results database");
        what_of(a, state);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options, parse, "RESULTS.db [WORKLOAD]\n--job JOB.yaml --manifests FILE",
    "Tells every decision about a workload with its arithmetic: its rank when it came, why it waited "
    "and what would wake it, who was evicted for it under which rule, its starts, evictions, rework "
    "and end. Where decisions were not recorded, the run is repeated from the scenario in the "
    "database.\v"
    "Example:\n"
    "  fleetsim explain results.db research-17 --arbiter cohort\n"
    "  fleetsim explain --job job.yaml --manifests cluster.yaml\n"
    "Exit status: 0 done, 1 the job of --job would not start now, 2 bad input (also: an input file "
    "of the run has changed), 3 the machine failed us.",
    NULL, NULL, NULL};

/* The run is repeated when it holds no decisions. */
static bool explain_one(struct results *stored, const struct explain_run *run, const struct explain_query *query,
                        struct err *err)
{
    struct explain_rerun rerun;
    struct diag_list diags = {0};
    if (run->has_decisions)
        return explain_print(stdout, stored, run, query, err);
    fprintf(stderr, "fleetsim explain: no decisions of %s recorded; repeating the run from its scenario\n",
            run->arbiter);
    bool ok = explain_rerun(&rerun, stored, run->run, &diags, err);
    if (!ok && err->code == ERR_NONE)
        err_set(err, ERR_INPUT, "the scenario in '%s' cannot be read by this version", stored->path);
    if (ok && rerun.figures_that_differ > 0)
        fprintf(stderr, "fleetsim explain: %lld of %lld figures differ from the stored ones (written by version %s)\n",
                (long long)rerun.figures_that_differ, (long long)rerun.figures, rerun.version);
    diag_print(&diags, stderr);
    ok = ok && explain_print(stdout, &rerun.results, run, query, err);
    diag_fini(&diags);
    explain_rerun_fini(&rerun);
    return ok;
}

static bool explain_all(struct results *results, const struct explain_arguments *a, struct err *err)
{
    struct explain_runs runs;
    bool json = a->query.format == ROWS_JSON;
    bool ok = explain_runs_read(&runs, results, a->arbiter, a->replication, err);
    for (size_t i = 0; ok && i < runs.count; i++) {
        fputs(json ? (i == 0 ? "[" : ",\n ") : (i == 0 ? "" : "\n"), stdout);
        ok = explain_one(results, &runs.items[i], &a->query, err);
    }
    if (ok && json)
        puts("]");
    explain_runs_fini(&runs);
    return ok && rows_out_done(stdout, err);
}

int cmd_explain(int argc, char **argv)
{
    struct explain_arguments a = {.query.limit = 40};
    struct err err = {0};
    struct results results = {0};
    if (!options_parse(&argp, "fleetsim explain", argc, argv, &a))
        return 2;
    a.job.json = a.query.format == ROWS_JSON;
    if (a.job.job != NULL)
        return manifest_job(&a.job, stdout);
    if (results_open(&results, a.path, &err))
        (void)explain_all(&results, &a, &err);
    results_close(&results);
    if (err.code != ERR_NONE)
        fprintf(stderr, "fleetsim explain: %s\n", err.text);
    return err_exit_status(&err);
}
