/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures as a person reads them: three significant digits, human units, UTF-8. */
#ifndef ANALYSIS_FIGURE_H
#define ANALYSIS_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/metric_defs.h"

#define FIGURE_SIZE 48 /* bytes that hold any figure */

/* "61.8" (a fraction as per cent), "3.10h", "978k", "1.83"; NaN is "–", infinity "∞". */
void figure_print(char out[FIGURE_SIZE], enum metric_format format, double value);

/* As figure_print with a sign, "+3.10h", for differences; fractions are points of per cent. */
void figure_print_change(char out[FIGURE_SIZE], enum metric_format format, double change);

/*
 * A figure with the half width of its interval in the same unit and to the same digit, in at most
 * `width` columns: "61.8 ±0.4", "≥3.1h ±0.2". Digits are dropped to fit, then the half width.
 * split (may be NULL) receives the byte at which the half width begins, for aligning columns.
 */
struct figure {
    double value, half; /* half NaN = unknown */
    bool censored;      /* value is a lower bound: printed with ≥ */
    bool change;        /* a difference: printed with its sign; with ~ when of a bound */
};
void figure_print_interval(char out[FIGURE_SIZE],
                           enum metric_format format,
                           const struct figure *figure,
                           size_t width,
                           size_t *split);

/* Columns that UTF-8 text takes (no wide or combining characters are expected). */
size_t figure_columns(const char *text);

/* Words for a difference of two figures of this format, e.g. "+3.10h", are in figure_print_change;
 * this gives the unit of a fraction's difference, "points", else "". */
const char *figure_change_unit(enum metric_format format);

#endif
