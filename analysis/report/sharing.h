/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section about sharing cards: what was read, and its two pictures. */
#ifndef ANALYSIS_REPORT_SHARING_H
#define ANALYSIS_REPORT_SHARING_H

#include "analysis/audit.h"
#include "analysis/report/page.h"

/* A way of sharing is what all node pools of an arbiter do together. */
struct way {
    const struct audit_run *run;
    const char *mechanisms; /* "mig", "mig + whole" */
    int rank;               /* audit_rank of the weakest isolation of a pool in use */
    double cards;           /* most in use at once, over its pools */
    double latency_s;       /* 99th percentile; NaN: no requests */
    bool latency_censored;
    double brought_down;    /* tenants that died of another's failure; NaN: not recorded */
};

#define SHARING_ROWS_MAX 30 /* in the picture of pools */
#define SHARING_WAYS_MAX 12

/* Colour (place of the palette) and words of an isolation. */
int sharing_place(int rank);
const char *sharing_colour(int rank);
const char *sharing_words(int rank);

/* The arbiters side by side: cards, latency, victims. */
void sharing_draw_ways(struct page *page, const struct way *ways, size_t count);

/* Every pool in use, in groups of falling isolation; false (and nothing drawn) without a row. */
bool sharing_draw_pools(struct page *page, const struct audit *audit);

#endif
