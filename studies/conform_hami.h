/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replays recorded decisions of the real HAMi scheduler through models/fleet/sharing/hami.h:
 * admission, normalised requests, per node candidate cards, score or reason, the choice, and what
 * the pod counts for. Among nodes of equal score the recorded one is followed.
 */
#ifndef STUDIES_CONFORM_HAMI_H
#define STUDIES_CONFORM_HAMI_H

#include <stdio.h>

/* Prints agreement per family and the first difference of each with both sides. Returns 0 when
 * everything agrees, 1 when something differs, 2 on bad input (a message goes to stderr). */
int conform_hami_files(int n, char **files, FILE *out);

#endif
