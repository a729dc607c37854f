/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Draws with gnuplot, an external program. Its script is one of our templates, its input numbers
 * and label tokens that we write into a directory of their own: text of the user (names of teams,
 * arbiters, items) never reaches gnuplot, but takes the place of the tokens in the finished SVG.
 */
#ifndef ANALYSIS_REPORT_GNUPLOT_H
#define ANALYSIS_REPORT_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/err.h"

struct plot;

/* Begins a plot from a template by name ("share"). NULL and err when there is no place for files. */
struct plot *plot_begin(const char *template_name, struct err *err);

/* A variable of the template. */
void plot_number(struct plot *plot, const char *name, double value);

/* Opens a data file, e.g. "share.tsv"; closed by plot_end or by the next plot_file. */
FILE *plot_file(struct plot *plot, const char *name);

/* One column: a tab and the number, NaN as gnuplot knows it. */
void plot_column(FILE *data, double value);

/* Token that stands for the text in data files; valid until the plot ends. */
const char *plot_label(struct plot *plot, const char *text);

/*
 * Runs gnuplot and writes the SVG with the accessible name `alt` to out; ids in it begin with
 * "p<number>-". Frees the plot and its files in every case (out NULL: only that). Errors: gnuplot
 * is not installed, or failed (with what it said): ERR_SYSTEM.
 */
bool plot_end(struct plot *plot, FILE *out, const char *alt, int number, struct err *err);

#endif
