/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a conform study counts and prints: per group, cases and single checks that agree with the
 * recording, and the first difference with both sides.
 */
#ifndef STUDIES_CONFORM_REPORT_H
#define STUDIES_CONFORM_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CONFORM_GROUP_LIMIT = 32, CONFORM_FIELD_LIMIT = 32 };

struct conform_field {
    char name[24];
    uint64_t checks, differences;
};

struct conform_group {
    char name[32];
    uint64_t cases, cases_agreed, checks, checks_agreed;
    size_t field_count;
    struct conform_field fields[CONFORM_FIELD_LIMIT];
    char first[1024]; /* first difference, "" if none */
};

struct conform_report {
    size_t group_count;
    struct conform_group groups[CONFORM_GROUP_LIMIT]; /* in order of appearance */
    /* the case at hand */
    struct conform_group *group;
    char where[160]; /* case, instant, ... */
    bool case_agrees;
};

/* Begins a case of a group; conform_end closes it. */
void conform_begin(struct conform_report *r, const char *group, const char *id);
void conform_end(struct conform_report *r);
/* Where inside the case the next checks are, e.g. "sync at 15000 ms". */
void conform_at(struct conform_report *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* One check each. recorded is the other system's side. */
void conform_int(struct conform_report *r, const char *field, int64_t ours, int64_t recorded);
void conform_text(struct conform_report *r, const char *field, const char *ours,
                  const char *recorded);

/* Prints the table and the first differences. Returns 0 when all agree, 1 otherwise. */
int conform_print(const struct conform_report *r, const char *title, FILE *out);

#endif
