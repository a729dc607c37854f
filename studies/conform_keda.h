/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replays recorded decisions of the KEDA operator through models/elastic/keda.h and scaledjob.h:
 * families poll, fallback, modifiers, annot (polls, reads, annotation changes), hpaspec (the HPA
 * that is made, or the refusal), scaledjob (single polls) and joint (KEDA and the HPA controller
 * together, also through models/elastic/scaler.h). One JSON object per line, plain or gzip.
 */
#ifndef STUDIES_CONFORM_KEDA_H
#define STUDIES_CONFORM_KEDA_H

#include <stdio.h>

/* Prints agreement per family and the first difference of each with both sides. Returns 0 when
 * everything agrees, 1 when something differs, 2 on bad input (a message goes to stderr). */
int conform_keda_files(int n, char **files, FILE *out);

#endif
