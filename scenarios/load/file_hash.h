/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Content of an input file, by which a run that is repeated knows it again. */
#ifndef SCENARIOS_LOAD_FILE_HASH_H
#define SCENARIOS_LOAD_FILE_HASH_H

#include <stdbool.h>
#include <stdint.h>

#define FILE_HASH_NONE UINT64_C(0) /* of what is no plain file, such as a pipe: it can be read only once */

/* FNV-1a of its bytes as they are stored. False with errno. */
bool file_hash(const char *path, uint64_t *hash);

/* The same; FILE_HASH_NONE where it cannot be read again. */
uint64_t file_hash_or_none(const char *path);

#endif
