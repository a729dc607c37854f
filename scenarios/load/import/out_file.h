/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An output that appears complete or not at all: written beside its place, renamed at the end. */
#ifndef SCENARIOS_LOAD_IMPORT_OUT_FILE_H
#define SCENARIOS_LOAD_IMPORT_OUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/err.h"

struct out_file {
    FILE *stream;
    char *path;
    char *temporary; /* NULL: written in place (standard output, a device, a pipe) */
};

/* path "-" is standard output. ERR_SYSTEM when it cannot be created. */
bool out_file_open(struct out_file *f, const char *path, struct err *err);

/* Flushes to the disk and renames. On failure the temporary file is gone, an older file untouched. */
bool out_file_commit(struct out_file *f, struct err *err);

/* Drops what was written. After commit, or on a zeroed struct, it does nothing. */
void out_file_abandon(struct out_file *f);

#endif
