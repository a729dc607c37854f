/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim report: a page with plots from a results database, and the table of it. */
#include <stdio.h>

#include "analysis/report.h"
#include "analysis/summary_table.h"
#include "cli/commands.h"
#include "cli/options.h"

enum { OPT_FORMAT = 256, OPT_BY, OPT_TABLE };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Page to write (default report.html)", 0},
    {"table", OPT_TABLE, NULL, 0, "No page: print the table that 'run' printed", 0},
    {"format", OPT_FORMAT, "FORMAT", 0, "With --table: table (default), json or csv", 0},
    {"by", OPT_BY, "KIND", 0, "With --table: by team, service, node_pool or flavor", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct report_arguments {
    const char *database, *output;
    struct summary_options summary;
    bool table;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct report_arguments *a = state->input;
    struct err err = {0};
    switch (key) {
    case 'o':
        a->output = arg;
        break;
    case OPT_TABLE:
        a->table = true;
        break;
    case OPT_FORMAT:
        a->table = true;
        if (!rows_format_read(arg, &a->summary.format, &err))
            argp_error(state, "%s", err.text);
        break;
    case OPT_BY:
        a->table = true;
        a->summary.by = arg;
        break;
    case ARGP_KEY_ARG:
        if (a->database != NULL)
            argp_error(state, "one database at a time; found a second: '%s'", arg);
        a->database = arg;
        break;
    case ARGP_KEY_END:
        if (a->database == NULL)
            argp_error(state, "expected a results database");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options, parse, "RESULTS.db",
    "Writes one self-contained HTML page with plots about a results database, ready for a review, "
    "or prints its figures. Drawing needs gnuplot (package gnuplot-nox).\v"
    "Examples:\n"
    "  fleetsim report results.db -o report.html\n"
    "  fleetsim report results.db --by team\n"
    "Exit status: 0 done, 2 bad input, 3 the machine failed us (also: gnuplot is missing).",
    NULL, NULL, NULL};

int cmd_report(int argc, char **argv)
{
    struct report_arguments a = {.output = "report.html"};
    struct err err = {0};
    if (!options_parse(&argp, "fleetsim report", argc, argv, &a))
        return 2;
    if (a.table) {
        summary_print(stdout, a.database, &a.summary, &err);
    } else if (report_write(a.database, a.output, &err)) {
        printf("%s\n", a.output);
        rows_out_done(stdout, &err);
    }
    if (err.code != ERR_NONE)
        fprintf(stderr, "fleetsim report: %s\n", err.text);
    return err_exit_status(&err);
}
