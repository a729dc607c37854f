/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes gnuplot's SVG part of a page: palette colours become CSS variables (so that it follows
 * the page into the dark), ids get a prefix (so that several can stand in one page), label tokens
 * become escaped text, and it gets a name for those who do not see it.
 */
#ifndef ANALYSIS_REPORT_SVG_H
#define ANALYSIS_REPORT_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SVG_LABEL_FORMAT "@L%zu@"

struct svg_labels {
    const char **items;
    size_t count, capacity;
};

/* False when the text is no SVG of gnuplot. */
bool svg_write(FILE *out, const char *svg, const char *alt, int number,
               const struct svg_labels *labels);

/* Name of the CSS variable for a palette place, or NULL: "computing" for 11. */
const char *svg_colour(int place);

#endif
