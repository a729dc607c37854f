/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arena: memory of one lifetime (program, scenario, run), freed at once. Zeroed, 16-byte aligned.
 * Out of memory is fatal, in one function, with the size and what for.
 */
#ifndef SIM_ARENA_H
#define SIM_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *blocks;
    size_t used_bytes; /* handed out so far */
};

/* count * size zeroed bytes; overflow of the product is fatal. A zeroed struct arena is ready. */
void *arena_alloc(struct arena *a, size_t count, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_fini(struct arena *a);

/* malloc, calloc, realloc that do not return NULL (fatal, with size); the one place that checks.
 * mem_grow: makes room for at least need items, doubling *capacity; new items are not zeroed. */
void *mem_alloc(size_t count, size_t size);
void *mem_zalloc(size_t count, size_t size);
void *mem_realloc(void *p, size_t count, size_t size);
void *mem_grow(void *p, size_t *capacity, size_t need, size_t size);
char *mem_strdup(const char *s);

#endif
