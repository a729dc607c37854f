/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Growing tables of millions of rows without moving them, and their order in time. Every row type
 * begins with its int64_t time, by which chunks_order sorts.
 */
#ifndef SCENARIOS_LOAD_IMPORT_CHUNKS_H
#define SCENARIOS_LOAD_IMPORT_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

struct chunks {
    char **block;
    size_t block_count, block_capacity;
    size_t item;  /* bytes of a row */
    size_t count; /* rows */
};

void chunks_init(struct chunks *c, size_t item);
void *chunks_add(struct chunks *c); /* a zeroed row; pointers stay valid */
void *chunks_at(const struct chunks *c, size_t i);
int64_t chunks_time(const struct chunks *c, size_t i);

/* Row numbers in order of time, ties in row order; the caller frees. NULL for an empty table. */
uint32_t *chunks_order(const struct chunks *c);
void chunks_fini(struct chunks *c);

#endif
