/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `check --manifests`: what a cluster's objects say, and what in them is known to go wrong. */
#ifndef STUDIES_MANIFEST_CHECK_H
#define STUDIES_MANIFEST_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#include "studies/manifest_run.h"

struct manifest_check_options {
    const char *files[MANIFEST_FILES_MAX];
    int file_count;
    bool strict; /* warnings are status 1 */
};

/* The summary goes to out, problems and warnings to stderr. Status 0: valid; 1: valid with warnings, and
 * strict; 2: errors. */
int manifest_check(const struct manifest_check_options *o, FILE *out);

#endif
