/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim check: is a scenario, or a cluster's objects, valid, and which known mistakes does it contain? */
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "scenarios/load/load.h"
#include "studies/manifest_check.h"

enum { OPT_SET = 256, OPT_STRICT, OPT_MANIFESTS, OPT_PRINT, SETS_MAX = 256, EXIT_NO = 1, EXIT_BAD_INPUT = 2 };

static const struct argp_option options[] = {
    {"set", OPT_SET, "KEY=VALUE", 0, "Override a field of the scenario; repeatable", 0},
    {"strict", OPT_STRICT, NULL, 0, "Exit with 1 when there are warnings", 0},
    {"manifests", OPT_MANIFESTS, "FILE", 0, "Check Kubernetes objects instead; repeatable, more files may follow", 0},
    {"print", OPT_PRINT, NULL, 0, "Print the whole scenario, with base, set, repeats and manifests written out", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct check_arguments {
    const char *scenario;
    const char *sets[SETS_MAX];
    int set_count;
    bool strict, print;
    struct manifest_check_options manifests;
};

/* A scenario, or with --manifests one more file of objects. */
static void take_file(struct check_arguments *a, const char *file, bool objects, struct argp_state *state)
{
    struct manifest_check_options *m = &a->manifests;
    if (!objects && a->scenario != NULL)
        argp_error(state, "one scenario at a time; found a second: '%s'", file);
    if (objects && m->file_count == MANIFEST_FILES_MAX)
        argp_error(state, "more than %d files of manifests", MANIFEST_FILES_MAX);
    if (objects)
        m->files[m->file_count++] = file;
    else
        a->scenario = file;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct check_arguments *a = state->input;
    switch (key) {
    case OPT_SET:
        if (a->set_count == SETS_MAX)
            argp_error(state, "more than %d --set options", SETS_MAX);
        a->sets[a->set_count++] = arg;
        break;
    case OPT_STRICT:
        a->strict = true;
        break;
    case OPT_PRINT:
        a->print = true;
        break;
    case ARGP_KEY_ARG:
        take_file(a, arg, a->manifests.file_count > 0, state);
        break;
    case OPT_MANIFESTS:
        take_file(a, arg, true, state);
        break;
    case ARGP_KEY_END:
        if (a->scenario == NULL && a->manifests.file_count == 0)
            argp_error(state, "expected a scenario file, or --manifests");
        if (a->manifests.file_count > 0 && a->set_count > 0)
            argp_error(state, "--set is for scenarios, not for --manifests");
        if (a->manifests.file_count > 0 && a->print)
            argp_error(state, "--print is for scenarios, not for --manifests");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options, parse, "SCENARIO.yaml\n--manifests FILE...",
    "Reads a scenario and reports what is wrong with it (errors) and what is valid but known to go wrong "
    "(warnings, each with its reason); with --manifests the objects of a cluster that runs Kueue: what was "
    "read, which queues are inactive, and which workloads no quota can ever admit, with the arithmetic.\v"
    "Example:\n"
    "  fleetsim check scenarios/bank-10k.yaml --set demand.training[*].rateScale=1.3\n"
    "  fleetsim check --manifests cluster.yaml workloads.json\n"
    "Exit status: 0 valid, 1 valid with warnings under --strict, 2 errors.",
    NULL, NULL, NULL};

static void print_account(const struct scenario *s)
{
    if (s->replay != NULL) {
        printf("%s: valid; workloads of %d file%s of manifests\n", s->name, (int)s->replay->manifest_count,
               s->replay->manifest_count == 1 ? "" : "s");
        return;
    }
    int64_t cards = 0;
    for (int32_t i = 0; i < s->fleet.pool_count; i++)
        cards += (int64_t)s->fleet.pools[i].node_count * s->fleet.pools[i].cards_per_node;
    printf("%s: valid; %lld cards in %d node pools, %d queues, %d job streams, %d services, %d arbiters\n",
           s->name, (long long)cards, (int)s->fleet.pool_count, (int)s->quota.queue_count,
           (int)s->demand.stream_count, (int)s->demand.service_count, (int)s->arbiter_count);
}

/* The objects that a scenario of manifests names; the worse status. */
static int check_replay(struct check_arguments *a, const struct replay_config *r, int status)
{
    for (int32_t i = 0; i < r->manifest_count && i < MANIFEST_FILES_MAX; i++)
        a->manifests.files[a->manifests.file_count++] = r->manifests[i];
    const int objects = manifest_check(&a->manifests, stdout);
    return objects > status ? objects : status;
}

/* The scenario is valid: what is left can only be its text. */
static void print_whole(const struct check_arguments *a)
{
    struct diag_list again = {0};
    char *text = scenario_print(a->scenario, a->sets, a->set_count, &again);
    if (text != NULL)
        fputs(text, stdout);
    free(text);
    diag_fini(&again);
}

int cmd_check(int argc, char **argv)
{
    struct check_arguments a = {0};
    if (!options_parse(&argp, "fleetsim check", argc, argv, &a))
        return EXIT_BAD_INPUT;
    a.manifests.strict = a.strict;
    if (a.manifests.file_count > 0)
        return manifest_check(&a.manifests, stdout);
    struct diag_list diags = {0};
    struct scenario *s = scenario_check(a.scenario, a.sets, a.set_count, &diags);
    diag_print(&diags, stderr);
    int status = s == NULL ? EXIT_BAD_INPUT : a.strict && diags.warning_count > 0 ? EXIT_NO : EXIT_SUCCESS;
    if (s != NULL && a.print)
        print_whole(&a);
    else if (s != NULL)
        print_account(s);
    if (s != NULL && s->replay != NULL && !a.print)
        status = check_replay(&a, s->replay, status);
    scenario_free(s);
    diag_fini(&diags);
    return status;
}
