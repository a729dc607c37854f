/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that appears whole or not at all: written beside its target, flushed, renamed. */
#ifndef ANALYSIS_STORE_TARGET_H
#define ANALYSIS_STORE_TARGET_H

#include <stdbool.h>

#include "sim/err.h"

struct target {
    char *path;      /* final name, links resolved; owned */
    char *temporary; /* name while writing, in the same directory; owned */
};

/* Chooses the names and creates the empty temporary file. A directory, a device or the like as
 * target is ERR_INPUT; a directory that is missing or not writable is ERR_SYSTEM. */
bool target_open(struct target *target, const char *path, struct err *err);

/* Flushes the temporary file and renames it to `path` (NULL: target->path). Frees. */
bool target_commit(struct target *target, const char *path, struct err *err);

/* Removes the temporary file. Frees; a zeroed target is a no-op. */
void target_discard(struct target *target);

#endif
