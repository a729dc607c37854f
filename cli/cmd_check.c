/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim check: is a scenario valid, and which known mistakes does it contain? */
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "scenarios/load/load.h"

enum { OPT_SET = 256, OPT_STRICT, SETS_MAX = 256, EXIT_NO = 1, EXIT_BAD_INPUT = 2 };

static const struct argp_option options[] = {
    {"set", OPT_SET, "KEY=VALUE", 0, "Override a field of the scenario; repeatable", 0},
    {"strict", OPT_STRICT, NULL, 0, "Exit with 1 when there are warnings", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct check_arguments {
    const char *scenario;
    const char *sets[SETS_MAX];
    int set_count;
    bool strict;
};

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
    case ARGP_KEY_ARG:
        if (a->scenario != NULL)
            argp_error(state, "one scenario at a time; found a second: '%s'", arg);
        a->scenario = arg;
        break;
    case ARGP_KEY_END:
        if (a->scenario == NULL)
            argp_error(state, "expected a scenario file");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options, parse, "SCENARIO.yaml",
    "Reads a scenario and reports what is wrong with it (errors) and what is valid but known to go wrong "
    "(warnings, each with its reason).\v"
    "Example:\n"
    "  fleetsim check scenarios/bank-10k.yaml --set demand.training[*].rateScale=1.3\n"
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

int cmd_check(int argc, char **argv)
{
    struct check_arguments a = {0};
    if (!options_parse(&argp, "fleetsim check", argc, argv, &a))
        return EXIT_BAD_INPUT;
    struct diag_list diags = {0};
    struct scenario *s = scenario_check(a.scenario, a.sets, a.set_count, &diags);
    diag_print(&diags, stderr);
    int status = s == NULL ? EXIT_BAD_INPUT : a.strict && diags.warning_count > 0 ? EXIT_NO : EXIT_SUCCESS;
    if (s != NULL)
        print_account(s);
    scenario_free(s);
    diag_fini(&diags);
    return status;
}
