/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Diagnostics about the user's input: collected, not thrown, so that a reader goes on and
 * reports up to a limit of problems at once. Printed as
 *   file:line:column: [warning: ]text
 *   <source line>
 *   <caret>
 */
#ifndef SIM_DIAG_H
#define SIM_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum diag_severity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

struct diag {
    enum diag_severity severity;
    char *file;     /* owned; NULL when the problem has no file */
    long line;      /* 1-based; 0 = none */
    long column;    /* 1-based, in bytes; 0 = none */
    char *text;     /* owned */
    char *excerpt;  /* owned copy of the source line without its newline, or NULL */
};

struct diag_list {
    struct diag *items;
    size_t count, capacity;
    size_t error_count, warning_count; /* all that were reported, also those above the limit */
    size_t limit;                      /* errors kept; 0 means 20 */
};

/* Adds one problem; text as printf. file and excerpt may be NULL (they are copied). */
void diag_add(struct diag_list *list, enum diag_severity severity, const char *file, long line,
              long column, const char *excerpt, const char *fmt, ...)
    __attribute__((format(printf, 7, 8)));

/* Prints all kept problems, errors first in input order, then "N more" when some were cut. */
void diag_print(const struct diag_list *list, FILE *out);

/* Frees the content; a zeroed list is valid and empty. */
void diag_fini(struct diag_list *list);

/* Nearest of count names to word by edit distance, or NULL when none is near (distance over
 * half the word's length, or over 3). */
const char *diag_nearest(const char *word, const char *const *names, size_t count);

#endif
