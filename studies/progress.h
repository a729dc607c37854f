/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A progress line with the time left, on stderr, at most four times a second. */
#ifndef STUDIES_PROGRESS_H
#define STUDIES_PROGRESS_H

#include <stdbool.h>

struct progress {
    bool on;
    int runs;
    double begun_s, shown_s;
};

/* on: the caller has checked that stderr is a terminal. */
void progress_begin(struct progress *p, bool on, int runs);
/* part of the whole that is done, 0..1. */
void progress_show(struct progress *p, double part);
/* Wipes the line. */
void progress_end(struct progress *p);

#endif
