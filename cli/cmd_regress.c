/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim regress: the gate between two databases. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/regress_gate.h"

enum { OPT_FORMAT = 256, OPT_ARBITER, OPT_TOP, OPT_STRICT };

static const struct argp_option options[] = {
    {"arbiter", OPT_ARBITER, "NAME", 0, "Look at this arbiter alone", 0},
    {"strict", OPT_STRICT, NULL, 0, "Figures that are unclear fail as well", 0},
    {"top", OPT_TOP, "N", 0, "Jobs listed per kind (default 10)", 0},
    {"format", OPT_FORMAT, "FORMAT", 0, "table (default) or json", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct regress_arguments {
    const char *paths[2];
    int count;
    struct regress_gate gate;
};

static size_t top_of(const char *arg, struct argp_state *state)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(arg, &end, 10);
    if (errno != 0 || *end != '\0' || arg[0] < '0' || arg[0] > '9' || n > 100000)
        argp_error(state, "--top: expected a whole number up to 100000, got '%s'", arg);
    return (size_t)n;
}

static void format_of(const char *arg, enum rows_format *format, struct argp_state *state)
{
    struct err err = {0};
    if (!rows_format_read(arg, format, &err) || *format == ROWS_CSV)
        argp_error(state, "--format: expected table or json, got '%s'", arg);
}

static void add_database(struct regress_arguments *a, const char *arg, struct argp_state *state)
{
    if (a->count == 2)
        argp_error(state, "expected two databases; found a third: '%s'", arg);
    a->paths[a->count++] = arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct regress_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->gate;
        break;
    case OPT_FORMAT:
        format_of(arg, &a->gate.format, state);
        break;
    case OPT_ARBITER:
        a->gate.arbiter = arg;
        break;
    case OPT_TOP:
        a->gate.top = top_of(arg, state);
        break;
    case OPT_STRICT:
        a->gate.strict = true;
        break;
    case ARGP_KEY_ARG:
        add_database(a, arg, state);
        break;
    case ARGP_KEY_END:
        if (a->count < 2)
            argp_error(state, "expected two databases: before and after the change");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&regress_gate_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};

static const struct argp argp = {
    options, parse, "BASE.db NEW.db",
    "Tells whether a change made anything worse, and for whom: figures beyond their tolerance, jobs "
    "that wait longer or are newly evicted, and the first decision that differs, with the arithmetic "
    "of both sides. Both databases must hold the same demand; with 'run --record full' they hold jobs "
    "and decisions as well.\v"
    "Example:\n"
    "  fleetsim regress before.db after.db --junit gate.xml --markdown gate.md\n"
    "Exit status: 0 nothing worse, 1 worse, 2 bad input (also: different demand), 3 the machine "
    "failed us, 4 workloads newly evict each other without end.",
    children, NULL, NULL};

int cmd_regress(int argc, char **argv)
{
    struct regress_arguments a = {.gate.top = 10};
    if (!options_parse(&argp, "fleetsim regress", argc, argv, &a))
        return 2;
    return regress_gate_run(&a.gate, a.paths[0], a.paths[1], "fleetsim regress");
}
