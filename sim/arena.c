/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"

enum { ALIGNMENT = 16, FIRST_BLOCK_BYTES = 4096, LARGEST_BLOCK_BYTES = 1 << 20 };

struct arena_block {
    struct arena_block *next;
    size_t used_bytes, size_bytes; /* of the payload, which follows the header */
};
_Static_assert(sizeof(struct arena_block) <= 2 * ALIGNMENT, "payload offset");

static _Noreturn void out_of_memory(size_t count, size_t size)
{
    fprintf(stderr, "out of memory: could not allocate %zu items of %zu bytes\n", count, size);
    exit(3);
}

static size_t checked_bytes(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
        out_of_memory(count, size);
    return bytes > 0 ? bytes : 1;
}

void *mem_alloc(size_t count, size_t size)
{
    void *p = malloc(checked_bytes(count, size));
    if (p == NULL)
        out_of_memory(count, size);
    return p;
}

void *mem_zalloc(size_t count, size_t size)
{
    void *p = calloc(1, checked_bytes(count, size));
    if (p == NULL)
        out_of_memory(count, size);
    return p;
}

void *mem_realloc(void *p, size_t count, size_t size)
{
    void *q = realloc(p, checked_bytes(count, size));
    if (q == NULL)
        out_of_memory(count, size);
    return q;
}

void *mem_grow(void *p, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return p;
    size_t grown = *capacity < 8 ? 8 : *capacity;
    while (grown < need) {
        if (grown > SIZE_MAX / 2)
            out_of_memory(need, size);
        grown *= 2;
    }
    p = mem_realloc(p, grown, size);
    *capacity = grown;
    return p;
}

char *mem_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(mem_alloc(n, 1), s, n);
}

static char *block_payload(struct arena_block *b)
{
    return (char *)b + 2 * ALIGNMENT;
}

/* A block twice the last one, up to a limit; larger requests get a block of their own size. */
static struct arena_block *add_block(struct arena *a, size_t need)
{
    size_t size = a->blocks == NULL ? FIRST_BLOCK_BYTES : 2 * a->blocks->size_bytes;
    if (size > LARGEST_BLOCK_BYTES)
        size = LARGEST_BLOCK_BYTES;
    if (size < need)
        size = need;
    struct arena_block *b = mem_zalloc(1, checked_bytes(1, size + 2 * ALIGNMENT));
    b->size_bytes = size;
    b->next = a->blocks;
    a->blocks = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t count, size_t size)
{
    size_t bytes = checked_bytes(count, size);
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct arena_block *b = a->blocks;
    if (b == NULL || b->size_bytes - b->used_bytes < bytes)
        b = add_block(a, bytes);
    void *p = block_payload(b) + b->used_bytes;
    b->used_bytes += bytes;
    a->used_bytes += bytes;
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    size_t length = strnlen(s, n);
    char *copy = arena_alloc(a, length + 1, 1);
    memcpy(copy, s, length);
    return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    REQUIRE(n >= 0);
    char *text = arena_alloc(a, (size_t)n + 1, 1);
    vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return text;
}

void arena_fini(struct arena *a)
{
    while (a->blocks != NULL) {
        struct arena_block *b = a->blocks;
        a->blocks = b->next;
        free(b);
    }
    a->used_bytes = 0;
}
