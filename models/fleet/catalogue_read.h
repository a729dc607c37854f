/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a catalogue file: CSV (RFC 4180 quotes, no line breaks inside a cell), lines that start
 * with # are comments, first line kind,name,field,value,unit,as_of,source,confidence.
 * Used by the build to compile scenarios/catalogue.csv in, and for a file of the user's.
 */
#ifndef MODELS_FLEET_CATALOGUE_READ_H
#define MODELS_FLEET_CATALOGUE_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "models/fleet/catalogue.h"
#include "sim/arena.h"
#include "sim/diag.h"

/* text: size bytes, need not end with 0; file is for messages. Everything of *out lives in the
 * arena. Returns false when anything was wrong; every problem is in the list with its line. */
bool catalogue_read(struct catalogue *out, struct arena *arena, const char *file, const char *text,
                    size_t size, struct diag_list *problems);

#endif
