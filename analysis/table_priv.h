/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the printed tables: cells of fixed columns in UTF-8. */
#ifndef ANALYSIS_TABLE_PRIV_H
#define ANALYSIS_TABLE_PRIV_H

#include <stdio.h>

#include "analysis/summary_data.h"

#define TABLE_LABEL 25 /* one column of indent and the longest label */
#define TABLE_WIDTH 80

/* Left-aligned; too long a text gets … for its middle. */
void table_left(FILE *out, const char *text, size_t width);
void table_right(FILE *out, const char *text, size_t width);

/* "61.8 ±0.4": right-aligned in `width`, values under values and half widths under half widths.
 * Blanks at the end are not printed but returned, to be carried into the next cell. */
size_t table_interval(FILE *out,
                      enum metric_format format,
                      const struct figure *figure,
                      size_t width,
                      size_t carried);

/* Columns of a cell and number of arbiters to a block so that names and cells fit. */
void table_layout(const struct summary_data *data, size_t *cell, size_t *per_block);

/* The table by scope (--by). */
void table_by_print(FILE *out, const struct summary_data *data);

#endif
