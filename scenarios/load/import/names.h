/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts stored once, known by a number from 1; 0 is the empty text. */
#ifndef SCENARIOS_LOAD_IMPORT_NAMES_H
#define SCENARIOS_LOAD_IMPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/arena.h"

struct names {
    struct arena arena;
    const char **text; /* by number */
    size_t count, capacity;
    uint32_t *slot; /* open addressing by FNV hash; 0 = free */
    size_t slot_count;
};

/* The number of text, new or known; *is_new may be NULL. */
uint32_t names_add(struct names *n, const char *text, bool *is_new);
/* The number of a known text; 0 when it is not. */
uint32_t names_find(const struct names *n, const char *text);
const char *names_text(const struct names *n, uint32_t number);
void names_fini(struct names *n); /* a zeroed struct is empty */

#endif
