/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim audit: who shared which card with whom, and who should not have. */
#include <stdio.h>

#include "analysis/audit.h"
#include "cli/commands.h"
#include "cli/options.h"

enum { OPT_FORMAT = 256, OPT_ARBITER, OPT_TENANT, OPT_STRICT };

static const struct argp_option options[] = {
    {"arbiter", OPT_ARBITER, "NAME", 0, "Look at this arbiter alone", 0},
    {"tenant", OPT_TENANT, "NAME", 0, "Look at this service or job stream alone", 0},
    {"strict", OPT_STRICT, NULL, 0, "Exit with status 1 when there are findings", 0},
    {"format", OPT_FORMAT, "FORMAT", 0, "table (default), json or csv (a row per card and pair)", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct audit_arguments {
    const char *path;
    bool strict;
    struct audit_options options;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct audit_arguments *a = state->input;
    struct err err = {0};
    switch (key) {
    case OPT_FORMAT:
        if (!rows_format_read(arg, &a->options.format, &err))
            argp_error(state, "%s", err.text);
        break;
    case OPT_ARBITER:
        a->options.arbiter = arg;
        break;
    case OPT_TENANT:
        a->options.tenant = arg;
        break;
    case OPT_STRICT:
        a->strict = true;
        break;
    case ARGP_KEY_ARG:
        if (a->path != NULL)
            argp_error(state, "one database at a time; found a second: '%s'", arg);
        a->path = arg;
        break;
    case ARGP_KEY_END:
        if (a->path == NULL)
            argp_error(state, "expected a results database");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options, parse, "RESULTS.db",
    "Tells who shared which card with whom, under which mechanism and how long; which tenants that "
    "require an isolation (software, hardware or exclusive) shared with less; and which incidents "
    "took others down.\v"
    "Example:\n"
    "  fleetsim audit results.db --strict\n"
    "Exit status: 0 done, 1 findings (with --strict), 2 bad input (also: a database that does not "
    "record who shares), 3 the machine failed us.",
    NULL, NULL, NULL};

int cmd_audit(int argc, char **argv)
{
    struct audit_arguments a = {0};
    struct results results = {0};
    struct audit audit = {0};
    struct err err = {0};
    size_t findings = 0;
    if (!options_parse(&argp, "fleetsim audit", argc, argv, &a))
        return 2;
    if (results_open(&results, a.path, &err) && audit_read(&audit, &results, &a.options, false, &err)) {
        audit_print(stdout, &audit, &results, &a.options, &err);
        findings = audit.finding_count;
        (void)rows_out_done(stdout, &err);
    }
    audit_fini(&audit);
    results_close(&results);
    if (err.code != ERR_NONE)
        fprintf(stderr, "fleetsim audit: %s\n", err.text);
    int status = err_exit_status(&err);
    return status == 0 && a.strict && findings > 0 ? 1 : status;
}
