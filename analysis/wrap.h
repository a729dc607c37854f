/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running text in columns. */
#ifndef ANALYSIS_WRAP_H
#define ANALYSIS_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Prints the words of text in lines of at most `width` columns, ended by a newline. The first line
 * begins at column `at` (already printed), the others are indented by `indent`. UTF-8; a word that
 * is longer than such a line stands alone, moved to the left as far as it must, but by all but 2 columns at most. */
void wrap_print(FILE *out, const char *text, size_t width, size_t at, size_t indent);

/* The same for one line of a format, behind `at` blanks that it prints. */
void wrap_printf(FILE *out, size_t width, size_t at, size_t indent, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

#endif
