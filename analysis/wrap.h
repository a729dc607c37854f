/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running text in columns. */
#ifndef ANALYSIS_WRAP_H
#define ANALYSIS_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Prints the words of text in lines of at most `width` columns, ended by a newline. The first line
 * begins at column `at` (already printed), the others are indented by `indent`. UTF-8; a word that
 * is longer than a line stands alone. */
void wrap_print(FILE *out, const char *text, size_t width, size_t at, size_t indent);

#endif
