/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim compare: what differs between arbiters, or between two databases. */
#include <stdio.h>

#include "analysis/compare.h"
#include "cli/commands.h"
#include "cli/options.h"

enum { OPT_FORMAT = 256, OPT_FORCE };

static const struct argp_option options[] = {
    {"format", OPT_FORMAT, "FORMAT", 0, "table (default), json or csv", 0},
    {"force", OPT_FORCE, NULL, 0, "Compare although the demand differs", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct compare_arguments {
    const char *paths[2];
    int count;
    struct compare_options options;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct compare_arguments *a = state->input;
    struct err err = {0};
    switch (key) {
    case OPT_FORMAT:
        if (!rows_format_read(arg, &a->options.format, &err))
            argp_error(state, "%s", err.text);
        break;
    case OPT_FORCE:
        a->options.force = true;
        break;
    case ARGP_KEY_ARG:
        if (a->count == 2)
            argp_error(state, "at most two databases; found a third: '%s'", arg);
        a->paths[a->count++] = arg;
        break;
    case ARGP_KEY_END:
        if (a->count == 0)
            argp_error(state, "expected a results database");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options, parse, "A.db [B.db]",
    "Tells what differs, with paired 95 % confidence intervals: within one database every arbiter "
    "against the first, with two databases arbiters of the same name (B minus A).\v"
    "Example:\n"
    "  fleetsim compare before.db after.db\n"
    "Exit status: 0 done, 2 bad input (also: different demand without --force), 3 the machine "
    "failed us.",
    NULL, NULL, NULL};

int cmd_compare(int argc, char **argv)
{
    struct compare_arguments a = {0};
    struct err err = {0};
    if (!options_parse(&argp, "fleetsim compare", argc, argv, &a))
        return 2;
    int status = compare_print(stdout, a.paths[0], a.paths[1], &a.options, &err);
    if (err.code != ERR_NONE)
        fprintf(stderr, "fleetsim compare: %s\n", err.text);
    return status;
}
