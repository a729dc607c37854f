/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replays recorded decisions of the Kubernetes HPA controller through models/elastic/hpa.h:
 * traces (families legacy, behavior, value, pods, multi, zero), single calls of the replica
 * calculator (calc) and of stabilisation and limits (norm). Format: one JSON object per line,
 * plain or gzip; fields are described where the files are kept.
 */
#ifndef STUDIES_CONFORM_HPA_H
#define STUDIES_CONFORM_HPA_H

#include <stdio.h>

/* Prints agreement per family and the first difference of each with both sides. Returns 0 when
 * everything agrees, 1 when something differs, 2 on bad input (a message goes to stderr). */
int conform_hpa_files(int n, char **files, FILE *out);

#endif
