/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gnuplot templates (*.gp of this folder), compiled in. Colours in them are places in a
 * palette, #0000NN, which analysis/report/svg.c turns into CSS variables. */
#ifndef ANALYSIS_PLOTS_PLOTS_H
#define ANALYSIS_PLOTS_PLOTS_H

struct plot_template {
    const char *name;
    const char *const *lines; /* each with its newline; ends with NULL */
};

extern const struct plot_template plot_templates[]; /* ends with a NULL name */

#endif
