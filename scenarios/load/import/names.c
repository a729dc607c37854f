/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/import/names.h"

#include <stdlib.h>
#include <string.h>

#include "sim/fnv.h"

static size_t home(const struct names *n, const char *text)
{
    uint64_t h = fnv_add(FNV_START, text, strlen(text));
    return (size_t)(h ^ h >> 32) & (n->slot_count - 1);
}

static void grow(struct names *n)
{
    free(n->slot);
    n->slot_count = n->slot_count == 0 ? 256 : 2 * n->slot_count;
    n->slot = mem_zalloc(n->slot_count, sizeof *n->slot);
    for (size_t i = 0; i < n->count; i++) {
        size_t s = home(n, n->text[i]);
        while (n->slot[s] != 0) {
            s = (s + 1) & (n->slot_count - 1);
        }
        n->slot[s] = (uint32_t)i + 1;
    }
}

uint32_t names_add(struct names *n, const char *text, bool *is_new)
{
    if (is_new != NULL) {
        *is_new = false;
    }
    if (text[0] == '\0') {
        return 0;
    }
    if (2 * (n->count + 1) > n->slot_count) {
        grow(n);
    }
    size_t s = home(n, text);
    for (; n->slot[s] != 0; s = (s + 1) & (n->slot_count - 1)) {
        if (strcmp(n->text[n->slot[s] - 1], text) == 0) {
            return n->slot[s];
        }
    }
    n->text = mem_grow(n->text, &n->capacity, n->count + 1, sizeof *n->text);
    n->text[n->count++] = arena_strdup(&n->arena, text);
    n->slot[s] = (uint32_t)n->count;
    if (is_new != NULL) {
        *is_new = true;
    }
    return n->slot[s];
}

uint32_t names_find(const struct names *n, const char *text)
{
    if (n->slot_count == 0 || text[0] == '\0') {
        return 0;
    }
    size_t s = home(n, text);
    for (; n->slot[s] != 0; s = (s + 1) & (n->slot_count - 1)) {
        if (strcmp(n->text[n->slot[s] - 1], text) == 0) {
            return n->slot[s];
        }
    }
    return 0;
}

const char *names_text(const struct names *n, uint32_t number)
{
    return number == 0 ? "" : n->text[number - 1];
}

void names_fini(struct names *n)
{
    arena_fini(&n->arena);
    free(n->text);
    free(n->slot);
    memset(n, 0, sizeof *n);
}
