/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `fleetsim run --manifests`. */
#ifndef CLI_RUN_MANIFESTS_H
#define CLI_RUN_MANIFESTS_H

#include "analysis/summary_table.h"
#include "studies/manifest_run.h"

/* Runs, stores, prints the table. Returns the exit status: 4 after a loop. */
int run_manifests(const struct manifest_run_options *options, const struct summary_options *table);

#endif
