/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim run: a scenario under all its arbiters, into a database, and the table of it. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/alarms.h"
#include "analysis/summary_table.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/regress_gate.h"
#include "cli/run_manifests.h"
#include "scenarios/load/load.h"
#include "studies/runner.h"

#define SETS_MAX 256

enum { OPT_SET = 256, OPT_RECORD, OPT_FORMAT, OPT_BY, OPT_NO_PROGRESS, OPT_REPLICATIONS, OPT_SEED, OPT_SKIP_BAD, OPT_MANIFESTS, OPT_DURATIONS, OPT_POLICY,
       OPT_BASELINE };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Results database (default results.db)", 0},
    {"set", OPT_SET, "KEY=VALUE", 0, "Override a field of the scenario; repeatable", 0},
    {"jobs", 'j', "N", 0, "Threads (default: one per processor)", 0},
    {"replications", OPT_REPLICATIONS, "N", 0, "Shorthand for --set replications=N", 0},
    {"seed", OPT_SEED, "N", 0, "Shorthand for --set seed=N", 0},
    {"record", OPT_RECORD, "LEVEL", 0, "summary, series (default) or full", 0},
    {"format", OPT_FORMAT, "FORMAT", 0, "table (default), json or csv", 0},
    {"by", OPT_BY, "KIND", 0, "Break the table down by team, service or node_pool", 0},
    {"policy", OPT_POLICY, "FILE.so", 0, "Admission by this shared object (docs/examples/fifo_policy), under all arbiters", 0},
    {"skip-bad", OPT_SKIP_BAD, "N", 0, "Leave out up to N bad rows of jobs and traffic files", 0},
    {"manifests", OPT_MANIFESTS, "FILE", 0, "Replay the workloads of a cluster's Kueue objects instead; repeatable (docs/manifests.md)", 0},
    {"durations", OPT_DURATIONS, "FILE|LAW", 0, "Run times of workloads that have not finished: a CSV file, 2h, or lognormal,median=2h,sigma=1", 0},
    {"baseline", OPT_BASELINE, "OLD.yaml", 0, "Run this one too (to FILE with .baseline in its name) and tell what got worse, as 'regress' does; records in full unless --record says otherwise", 0},
    {"no-progress", OPT_NO_PROGRESS, NULL, 0, "No progress line, even on a terminal", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct run_arguments {
    const char *scenario, *output, *by, *baseline;
    struct regress_gate gate;  /* with a baseline */
    bool has_level;
    const char *sets[SETS_MAX];
    char replications[64], seed[64], policy[1100];
    int set_count, jobs;
    enum record_level level;
    enum rows_format format;
    bool no_progress;
    uint64_t skip_bad;
    struct manifest_run_options manifests;
};

static void add_set(struct run_arguments *a, const char *set, struct argp_state *state)
{
    if (a->set_count == SETS_MAX)
        argp_error(state, "more than %d --set options", SETS_MAX);
    a->sets[a->set_count++] = set;
}

static int choice(const char *value, const char *const *names, struct argp_state *state,
                  const char *option)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(value, names[i]) == 0)
            return i;
    argp_error(state, "%s: expected %s, %s or %s, got '%s'", option, names[0], names[1], names[2], value);
    return 0;
}

static int number(const char *value, struct argp_state *state, const char *option)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (errno != 0 || *end != '\0' || end == value || n < 1 || n > 4096)
        argp_error(state, "%s: expected a whole number from 1 to 4096, got '%s'", option, value);
    return (int)n;
}

static uint64_t rows(const char *value, struct argp_state *state)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    if (errno != 0 || *end != '\0' || value[0] < '0' || value[0] > '9')
        argp_error(state, "--skip-bad: expected a number of rows, got '%s'", value);
    return n;
}

static void text_option(int key, char *arg, struct run_arguments *a, struct argp_state *state)
{
    static const char *const levels[] = {"summary", "series", "full", NULL};
    static const char *const formats[] = {"table", "json", "csv", NULL};
    if (key == OPT_RECORD) {
        a->level = (enum record_level)choice(arg, levels, state, "--record");
        a->has_level = true;
    } else if (key == OPT_FORMAT) {
        static const enum rows_format f[] = {ROWS_TABLE, ROWS_JSON, ROWS_CSV};
        a->format = f[choice(arg, formats, state, "--format")];
    } else if (key == OPT_REPLICATIONS) {
        (void)snprintf(a->replications, sizeof a->replications, "replications=%.40s", arg);
        add_set(a, a->replications, state);
    } else if (key == OPT_POLICY) { /* a bare name would be looked up in the system's folders */
        (void)snprintf(a->policy, sizeof a->policy, "arbiters[*].policyFile=%s%.1000s",
                       strchr(arg, '/') == NULL ? "./" : "", arg);
        add_set(a, a->policy, state);
    } else {
        (void)snprintf(a->seed, sizeof a->seed, "seed=%.40s", arg);
        add_set(a, a->seed, state);
    }
}

static void check_together(const struct run_arguments *a, struct argp_state *state)
{
    if (a->scenario == NULL && a->manifests.file_count == 0)
        argp_error(state, "expected a scenario file");
    if (a->baseline != NULL && a->format == ROWS_CSV)
        argp_error(state, "--baseline prints a table or json, not csv");
    if (a->baseline == NULL && (a->gate.tolerance != NULL || a->gate.junit != NULL || a->gate.markdown != NULL))
        argp_error(state, "--tolerance, --junit and --markdown need --baseline");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct run_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->gate;
        break;
    case 'o':
        a->output = arg;
        break;
    case 'j':
        a->jobs = number(arg, state, "--jobs");
        break;
    case OPT_SET:
        add_set(a, arg, state);
        break;
    case OPT_RECORD:
    case OPT_FORMAT:
    case OPT_REPLICATIONS:
    case OPT_SEED:
    case OPT_POLICY:
        text_option(key, arg, a, state);
        break;
    case OPT_BY:
        a->by = arg;
        break;
    case OPT_SKIP_BAD:
        a->skip_bad = rows(arg, state);
        break;
    case OPT_MANIFESTS:
        if (a->manifests.file_count == MANIFEST_FILES_MAX)
            argp_error(state, "more than %d --manifests options", MANIFEST_FILES_MAX);
        a->manifests.files[a->manifests.file_count++] = arg;
        break;
    case OPT_BASELINE:
        a->baseline = arg;
        break;
    case OPT_DURATIONS:
        a->manifests.durations = arg;
        break;
    case OPT_NO_PROGRESS:
        a->no_progress = true;
        break;
    case ARGP_KEY_ARG:
        if (a->scenario != NULL)
            argp_error(state, "one scenario at a time; found a second: '%s'", arg);
        a->scenario = arg;
        break;
    case ARGP_KEY_END:
        check_together(a, state);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&regress_gate_argp, 0, "With --baseline, as in regress:", 0}, {NULL, 0, NULL, 0}};

static const struct argp argp = {
    options, parse, "SCENARIO.yaml\n--manifests FILE",
    "Runs the same demand under every arbiter of the scenario, prints the figures side by side and "
    "writes them to a database.\v"
    "Example:\n"
    "  fleetsim run scenarios/bank-10k.yaml --set arbiters.cohort.placement=spread -o spread.db\n"
    "  fleetsim run new.yaml --baseline old.yaml --junit gate.xml\n"
    "Exit status: 0 done, 1 worse than the baseline, 2 bad input, 3 the machine failed us, 4 done, but workloads evict each "
    "other without end.",
    children, NULL, NULL};

/* The one thing a signal handler may touch. */
static atomic_bool stop_flag;

static void on_signal(int signal_number)
{
    (void)signal_number;
    atomic_store(&stop_flag, true);
}

static void catch_interrupts(void)
{
    struct sigaction sa = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
}

static struct scenario *load(const struct run_arguments *a, const char *path)
{
    struct diag_list diags = {0};
    struct scenario *s = scenario_load(path, a->sets, a->set_count, &diags);
    diag_print(&diags, stderr);
    diag_fini(&diags);
    return s;
}

static int fail(const struct err *err, const struct runner_result *result)
{
    fprintf(stderr, "fleetsim run: %s\n", err->text);
    if (result != NULL && result->partial[0] != '\0')
        fprintf(stderr, "fleetsim run: the finished runs are in %s\n", result->partial);
    return err->code == ERR_STOPPED ? 130 : err_exit_status(err);
}

static void replay_options(struct run_arguments *a)
{
    a->manifests.output = a->output;
    a->manifests.seed = 1;
    if (a->seed[0] != '\0')
        a->manifests.seed = strtoull(a->seed + strlen("seed="), NULL, 10);
    a->manifests.horizon_ns = INT64_MAX;
    a->manifests.decisions = a->level != RECORD_LEVEL_SUMMARY;
}

static int replay(struct run_arguments *a)
{
    const struct summary_options so = {.format = a->format, .by = a->by};
    replay_options(a);
    return run_manifests(&a->manifests, &so);
}

/* A scenario of manifests: its own files and settings, --durations over it. */
static int run_replay(const struct run_arguments *a, const struct scenario *s, const char *output, bool *loops)
{
    struct manifest_run_options o = {.name = s->name, .text = s->text, .durations = s->replay->durations, .output = output, .seed = s->seed,
                                     .horizon_ns = s->replay->horizon > 0 ? s->replay->horizon : INT64_MAX,
                                     .decisions = a->level != RECORD_LEVEL_SUMMARY};
    struct manifest_run_result result;
    struct err err = {0};
    for (int32_t i = 0; i < s->replay->manifest_count; i++)
        o.files[o.file_count++] = s->replay->manifests[i];
    if (a->manifests.durations != NULL)
        o.durations = a->manifests.durations;
    const bool ok = manifest_run(&o, &result, &err);
    *loops = result.loops;
    return ok ? 0 : err.text[0] != '\0' ? fail(&err, NULL) : 2;
}

/* Runs a scenario into a database; the exit status so far. */
static int run_scenario(const struct run_arguments *a, const char *path, const char *output, bool *loops)
{
    struct err err = {0};
    struct scenario *s = load(a, path);
    if (s == NULL)
        return 2;
    if (s->replay != NULL) {
        const int status = run_replay(a, s, output, loops);
        scenario_free(s);
        return status;
    }
    scenario_skip_bad(s, a->skip_bad);
    struct runner_options ro = {.output = output,
                                .jobs = a->jobs,
                                .level = a->level,
                                .progress = !a->no_progress && isatty(STDERR_FILENO),
                                .stop = &stop_flag};
    struct runner_result result;
    bool ok = runner_run(s, &ro, &result, &err);
    scenario_free(s);
    *loops = result.loops;
    return ok ? 0 : fail(&err, &result);
}

/* ---- two runs and the gate ---- */

static int replay_into(struct run_arguments *a, const char *output)
{
    struct manifest_run_result result;
    struct err err = {0};
    replay_options(a);
    a->manifests.output = output;
    bool ok = manifest_run(&a->manifests, &result, &err);
    a->manifests.output = NULL; /* the caller's own */
    return ok ? 0 : err.text[0] != '\0' ? fail(&err, NULL) : 2;
}

static int run_baseline(struct run_arguments *a)
{
    char before[4200];
    bool loops;
    size_t n = strlen(a->output);
    n -= n > 3 && strcmp(a->output + n - 3, ".db") == 0 ? 3 : 0;
    (void)snprintf(before, sizeof before, "%.*s.baseline.db", n < 4096 ? (int)n : 4096, a->output);
    if (!a->has_level)
        a->level = RECORD_LEVEL_FULL;
    int status;
    if (a->manifests.file_count > 0) {
        status = replay_into(a, a->output);
        a->manifests.files[0] = a->baseline; /* in the place of the first file; others stay */
        status = status != 0 ? status : replay_into(a, before);
    } else {
        status = run_scenario(a, a->baseline, before, &loops);
        status = status != 0 ? status : run_scenario(a, a->scenario, a->output, &loops);
    }
    a->gate.format = a->format;
    a->gate.top = 10;
    return status != 0 ? status : regress_gate_run(&a->gate, before, a->output, "fleetsim run");
}

int cmd_run(int argc, char **argv)
{
    struct run_arguments a = {.output = "results.db", .level = RECORD_LEVEL_SERIES, .format = ROWS_TABLE};
    if (!options_parse(&argp, "fleetsim run", argc, argv, &a))
        return 2;
    struct err err = {0};
    if (a.by != NULL && !summary_by_check(a.by, &err))
        return fail(&err, NULL);
    catch_interrupts();
    if (a.baseline != NULL)
        return run_baseline(&a);
    if (a.manifests.file_count > 0)
        return replay(&a);
    bool loops;
    int status = run_scenario(&a, a.scenario, a.output, &loops);
    if (status != 0)
        return status;
    struct summary_options so = {.format = a.format, .by = a.by};
    if (summary_print(stdout, a.output, &so, &err) != 0 || !alarms_print(stderr, a.output, ALARM_LINES, &err))
        return fail(&err, NULL);
    if (loops)
        fputs("fleetsim run: workloads evict each other without end (see docs/kueue-fidelity.md)\n", stderr);
    return loops ? 4 : 0;
}
