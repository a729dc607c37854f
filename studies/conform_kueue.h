/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replays decisions recorded from the real Kueue scheduler through the shipped policy and
 * policy_settle. Format: one JSON object per line, plain or gzip.
 */
#ifndef STUDIES_CONFORM_KUEUE_H
#define STUDIES_CONFORM_KUEUE_H

#include <stdint.h>
#include <stdio.h>

struct conform_kueue_counts {
    uint64_t cases, agreed, lines, cycles;
};

/* Prints agreement per group and, for the first case that differs, the first differing cycle with
 * both sides. Returns 0 when all cases agree, 1 when one differs, 2 on bad input (a message goes
 * to stderr). counts may be NULL. */
int conform_kueue_main(int file_count, char **files, FILE *out, struct conform_kueue_counts *counts);

/* The same as a row of the conform command. */
int conform_kueue_files(int n, char **files, FILE *out);

#endif
