/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/run_manifests.h"

#include <stdio.h>

#include "analysis/alarms.h"

static int fail(const struct err *err)
{
    if (err->text[0] != '\0')
        fprintf(stderr, "fleetsim run: %s\n", err->text);
    return err_exit_status(err);
}

int run_manifests(const struct manifest_run_options *options, const struct summary_options *table)
{
    struct manifest_run_result result;
    struct err err = {0};
    if (!manifest_run(options, &result, &err) || summary_print(stdout, options->output, table, &err) != 0 ||
        !alarms_print(stderr, options->output, ALARM_LINES, &err))
        return fail(&err);
    return result.loops ? 4 : 0;
}
