/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim schema: JSON Schema of scenario files, or the reference page. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "scenarios/load/load.h"

enum { OPT_REFERENCE = 256, EXIT_BAD_INPUT = 2, EXIT_MACHINE = 3 };

static const struct argp_option options[] = {
    {"reference", OPT_REFERENCE, NULL, 0, "Print docs/scenario-reference.md instead", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    bool *reference = state->input;
    if (key == OPT_REFERENCE)
        *reference = true;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "unexpected argument '%s'", arg);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp argp = {
    options, parse, NULL,
    "Prints the JSON Schema of scenario files, which lets an editor complete and check them.\v"
    "Example:\n"
    "  fleetsim schema > fleetsim.schema.json\n"
    "  # first line of the scenario: # yaml-language-server: $schema=fleetsim.schema.json\n",
    NULL, NULL, NULL};

int cmd_schema(int argc, char **argv)
{
    bool reference = false;
    if (!options_parse(&argp, "fleetsim schema", argc, argv, &reference))
        return EXIT_BAD_INPUT;
    char *text = reference ? scenario_reference() : scenario_json_schema();
    bool ok = fputs(text, stdout) >= 0 && (reference ||
                                           putchar('\n') != EOF) && fflush(stdout) == 0;
    free(text);
    if (!ok)
        fputs("error: cannot write to standard output\n", stderr);
    return ok ? EXIT_SUCCESS : EXIT_MACHINE;
}
