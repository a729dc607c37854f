/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's dress: escaping, style sheet, figures in prose. */
#ifndef ANALYSIS_REPORT_HTML_H
#define ANALYSIS_REPORT_HTML_H

#include <stdio.h>

#include "analysis/figure.h"

/* Writes text with markup escaped; control characters are left out. */
void html_text(FILE *out, const char *text);

/* <head> with style sheet, and the opening of <body>; title is text. */
void html_begin(FILE *out, const char *title);
void html_end(FILE *out);

/* A figure in prose: "46.4 h", "70.6 %", "6,377". */
void html_figure(FILE *out, const char *metric, double value);
/* Into a buffer, as text (not markup). */
void html_figure_text(char out[FIGURE_SIZE], const char *metric, double value);

/* Whole number with thousands separated: 10,000. */
void html_whole(FILE *out, double value);

/* A swatch of a palette colour with its meaning, for legends. kind: box, line, dash, dot. */
void html_key(FILE *out, const char *colour, const char *kind, const char *text);

#endif
