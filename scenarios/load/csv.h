/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CSV rows over text_input: one row a line, a header line with names, double quotes around fields
 * that hold separators, quotes doubled inside. Blank lines are skipped, and lines that start with
 * '#' before the header or between rows are comments. A field may not hold a line end.
 */
#ifndef SCENARIOS_LOAD_CSV_H
#define SCENARIOS_LOAD_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "scenarios/load/text_input.h"
#include "sim/err.h"

#define CSV_FIELDS_MAX 512

struct csv {
    struct text_input *in; /* not owned */
    char separator;
    /* header: names in file order, owned */
    char **names;
    int name_count;
    /* current row: texts are valid until the next row */
    long line;
    int count;
    char *text[CSV_FIELDS_MAX];
    long column[CSV_FIELDS_MAX]; /* 1-based byte column of each field */
    /* what was wrong with the row when csv_next says CSV_BAD */
    long problem_column;
    char problem[128];
};

enum csv_status {
    CSV_ROW,
    CSV_BAD,  /* this row is malformed (quotes, field count); the next may be read */
    CSV_END,
    CSV_ERROR /* err is set */
};

/* Starts at the current position of in. */
void csv_init(struct csv *c, struct text_input *in, char separator);

/* Reads the header line. False and err when the file is empty, a name occurs twice or the line is
 * malformed. */
bool csv_header(struct csv *c, struct err *err);

/* Sets names for a file without header. */
void csv_set_header(struct csv *c, const char *const *names, int count);

/* The next row; with a header, a row of another number of fields is CSV_BAD. */
enum csv_status csv_next(struct csv *c, struct err *err);

/* Position of a column by its exact name, -1 when there is none. */
int csv_find(const struct csv *c, const char *name);

/* Splits one line in place; false with problem set. Used by csv_next. */
bool csv_split(struct csv *c, char *line);

void csv_fini(struct csv *c);

#endif
