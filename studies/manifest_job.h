/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `explain --job`: would this job start now in this cluster, how large may it be, and which single
 * change lets it start? Each answer is tried with the shipped policy (manifest_now.h).
 */
#ifndef STUDIES_MANIFEST_JOB_H
#define STUDIES_MANIFEST_JOB_H

#include <stdbool.h>
#include <stdio.h>

#include "studies/manifest_run.h"

struct manifest_job_options {
    const char *files[MANIFEST_FILES_MAX]; /* the cluster */
    int file_count;
    const char *job;                       /* file with a Job, Workload, ... */
    bool json;
};

/* Prints the answer. Status 0: it would start now; 1: it would not; 2: bad input. */
int manifest_job(const struct manifest_job_options *o, FILE *out);

#endif
