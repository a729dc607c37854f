/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/regress_gate.h"

enum { OPT_TOLERANCE = 512, OPT_JUNIT, OPT_MARKDOWN };

static const struct argp_option gate_options[] = {
    {"tolerance", OPT_TOLERANCE, "FILE", 0, "What may change: lines 'metric scope tolerance' (docs/regress.md)", 0},
    {"junit", OPT_JUNIT, "FILE", 0, "Write JUnit XML", 0},
    {"markdown", OPT_MARKDOWN, "FILE", 0, "Write Markdown for a pull request", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

static error_t gate_option(int key, char *arg, struct argp_state *state)
{
    struct regress_gate *gate = state->input;
    switch (key) {
    case OPT_TOLERANCE:
        gate->tolerance = arg;
        break;
    case OPT_JUNIT:
        gate->junit = arg;
        break;
    case OPT_MARKDOWN:
        gate->markdown = arg;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp regress_gate_argp = {gate_options, gate_option, NULL, NULL, NULL, NULL, NULL};

static bool outputs(const struct regress_gate *gate, const struct regress *r, struct err *err)
{
    if (gate->junit != NULL && !regress_junit(gate->junit, r, err))
        return false;
    if (gate->markdown != NULL && !regress_markdown(gate->markdown, r, err))
        return false;
    regress_print(stdout, r, gate->format);
    return rows_out_done(stdout, err);
}

static int compare(const struct regress_gate *gate, const struct tolerance_list *tolerance, const char *before,
                   const char *after, struct err *err)
{
    struct results a = {0}, b = {0};
    struct regress r = {0};
    struct regress_options options = {.tolerance = tolerance, .arbiter = gate->arbiter, .top = gate->top,
                                      .strict = gate->strict};
    bool ok = results_open(&a, before, err) && results_open(&b, after, err) &&
              regress_read(&r, &a, &b, &options, err) && outputs(gate, &r, err);
    int status = ok ? regress_status(&r) : err_exit_status(err);
    regress_fini(&r);
    results_close(&a);
    results_close(&b);
    return status;
}

int regress_gate_run(const struct regress_gate *gate, const char *before, const char *after, const char *name)
{
    struct tolerance_list tolerance = {0};
    struct diag_list diags = {0};
    struct err err = {0};
    int status = 2;
    if (gate->tolerance == NULL || tolerance_read_file(&tolerance, gate->tolerance, &diags))
        status = compare(gate, &tolerance, before, after, &err);
    diag_print(&diags, stderr);
    if (err.code != ERR_NONE)
        fprintf(stderr, "%s: %s\n", name, err.text);
    diag_fini(&diags);
    tolerance_fini(&tolerance);
    return status;
}
