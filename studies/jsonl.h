/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of one JSON object per line, plain or gzip, for the conform studies. Empty lines are
 * skipped. Getters read optional members with a default, so that a case file stays readable code.
 */
#ifndef STUDIES_JSONL_H
#define STUDIES_JSONL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "sim/err.h"

struct jsonl; /* an open file */

/* NULL with e set when the file cannot be opened. */
struct jsonl *jsonl_open(const char *path, struct err *e);
void jsonl_close(struct jsonl *f);

/* Next object, to be freed with cJSON_Delete; NULL at the end, or with e set: not JSON, not an
 * object, line above 256 MiB, truncated gzip. */
cJSON *jsonl_next(struct jsonl *f, struct err *e);

/* Members of an object; a missing or null one gives the default. */
int64_t jsonl_int(const cJSON *o, const char *name, int64_t otherwise);
double jsonl_double(const cJSON *o, const char *name, double otherwise);
bool jsonl_bool(const cJSON *o, const char *name, bool otherwise);
const char *jsonl_string(const cJSON *o, const char *name, const char *otherwise);
/* Member, or NULL when missing or null. */
const cJSON *jsonl_get(const cJSON *o, const char *name);
/* Number of array element i, or otherwise. */
int64_t jsonl_at(const cJSON *array, int i, int64_t otherwise);

#endif
