/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page under construction and its sections, in the order in which they are written. */
#ifndef ANALYSIS_REPORT_PAGE_H
#define ANALYSIS_REPORT_PAGE_H

#include <stdio.h>

#include "analysis/compare.h"
#include "analysis/report/gnuplot.h"
#include "analysis/report/html.h"
#include "analysis/summary_data.h"

#define ARBITERS_SHOWN 5 /* colours that can be told apart */

struct page {
    FILE *out;
    struct results *results;
    struct err *err;
    struct summary_data all, teams;
    struct compare compare; /* all arbiters against the first; no pairs when there is but one */
    size_t focus;  /* the arbiter that keeps most cards computing; 0 when none beats the first */
    double cards;  /* of the fleet; NaN when no arbiter runs it */
    bool about_sharing; /* arbiters differ in nothing else; set by section_opening */
    int plots;     /* written so far */
};

/* Reads what every section needs. */
bool page_read(struct page *page);

const char *page_arbiter(const struct page *page, size_t arbiter);
double page_value(const struct page *page, size_t arbiter, const char *metric);
size_t page_shown(const struct page *page); /* arbiters in plots: at most ARBITERS_SHOWN */

/* Comparison of an arbiter (> 0) with the first. */
const struct compare_cell *page_against_first(const struct page *page, size_t arbiter,
                                              const char *metric);

/* Ends the plot into a <figure>. */
void page_plot(struct page *page, struct plot *plot, const char *alt);

/* In place of a plot for which the database has no rows. */
void page_missing(struct page *page, const char *what);

/* "pools", "cohort" as a legend of the arbiters' colours; only those with a curve. */
void page_arbiter_keys(struct page *page, const bool shown[ARBITERS_SHOWN]);

/* Round step for an axis that ends at `most`: about `ticks` of 1, 2 or 5 times a power of ten. */
double page_tic(double most, int ticks);

void section_opening(struct page *page);
void section_agreement(struct page *page); /* of a dump with its own past, below the title */
void section_day(struct page *page);
void section_use(struct page *page);      /* card time, whole run and over time */
void section_waiting(struct page *page);
void section_quota(struct page *page);    /* over time at the nodes of the tree; alarms */
void section_replicas(struct page *page);
void section_sharing(struct page *page);  /* who shares cards; nothing in older databases */
/* What the page begins with where arbiters differ in sharing only: a sentence, three numbers, the ways;
 * false (and nothing written) elsewhere. */
bool sharing_opening(struct page *page);
void section_cost(struct page *page);
void section_teams(struct page *page);
void section_figures(struct page *page);  /* the table */
void section_about(struct page *page);    /* assumptions, words, how to repeat */

#endif
