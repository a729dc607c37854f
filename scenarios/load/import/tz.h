/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time zones for texts without one: UTC, a fixed offset (+08:00), or a name of the system's zone
 * files (America/Los_Angeles), read as TZif (RFC 8536), never through the process's TZ.
 */
#ifndef SCENARIOS_LOAD_IMPORT_TZ_H
#define SCENARIOS_LOAD_IMPORT_TZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

struct tz {
    int32_t fixed_s; /* offset east of UTC when there are no transitions */
    int64_t *at;     /* UTC second of each transition, ascending */
    int32_t *offset; /* offset from then on */
    size_t count;
};

/* name NULL = UTC. False and err when it is unknown. */
bool tz_open(struct tz *z, const char *name, struct err *err);

/* Local seconds (as if UTC) to UTC. In an hour that occurs twice the first occurrence is taken, in
 * one that is left out the offset before the change. */
int64_t tz_to_utc(const struct tz *z, int64_t local_s);

/* "Z", "+08", "+0800" or "+08:00" as seconds east; false when it is none of them. */
bool tz_offset(const char *text, int32_t *seconds);

/* Reads TZif bytes; for tests and fuzzing. False when they are damaged. */
bool tz_parse(struct tz *z, const unsigned char *data, size_t n);
void tz_fini(struct tz *z);

#endif
