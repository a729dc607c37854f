/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"

void csv_init(struct csv *c, struct text_input *in, char separator)
{
    memset(c, 0, sizeof *c);
    c->in = in;
    c->separator = separator;
}

/* A quoted field: unescapes in place. Returns the character after the closing quote, NULL if open. */
static char *unquote(char *p, char **text)
{
    char *write = p;
    char *read = p + 1;
    *text = p;
    for (;; read++) {
        if (*read == '\0') {
            return NULL;
        }
        if (*read == '"') {
            if (read[1] != '"') {
                break;
            }
            read++;
        }
        *write++ = *read;
    }
    *write = '\0';
    return read + 1;
}

static bool problem(struct csv *c, long column, const char *text)
{
    c->problem_column = column;
    snprintf(c->problem, sizeof c->problem, "%s", text);
    return false;
}

bool csv_split(struct csv *c, char *line)
{
    c->count = 0;
    char *p = line;
    for (;;) {
        long column = (long)(p - line) + 1;
        if (c->count == CSV_FIELDS_MAX) {
            return problem(c, column, "more than 512 fields");
        }
        char *end;
        c->column[c->count] = column;
        if (*p == '"') {
            end = unquote(p, &c->text[c->count]);
            if (end == NULL) {
                return problem(c, column, "the quote that opens here is not closed on this line");
            }
            if (*end != '\0' && *end != c->separator) {
                return problem(c, (long)(end - line) + 1, "text after a closing quote");
            }
        } else {
            c->text[c->count] = p;
            end = strchr(p, c->separator);
            end = end != NULL ? end : p + strlen(p);
        }
        c->count++;
        if (*end == '\0') {
            return true;
        }
        *end = '\0';
        p = end + 1;
    }
}

/* The next line that is neither blank nor a comment. */
static bool content_line(struct csv *c, char **line, struct err *err)
{
    size_t n;
    while (text_input_line(c->in, line, &n, err)) {
        if ((*line)[0] != '#' && (*line)[strspn(*line, " \t")] != '\0') {
            return true;
        }
    }
    return false;
}

bool csv_header(struct csv *c, struct err *err)
{
    char *line;
    struct err inner = {0};
    const char *name = text_input_name(c->in);
    if (!content_line(c, &line, &inner)) {
        if (inner.code != ERR_NONE) {
            return err_set(err, inner.code, "%s", inner.text);
        }
        return err_set(err, ERR_INPUT, "%s: empty file, expected a header line with column names", name);
    }
    c->line = text_input_line_number(c->in);
    if (!csv_split(c, line)) {
        return err_set(err, ERR_INPUT, "%s:%ld:%ld: %s", name, c->line, c->problem_column, c->problem);
    }
    for (int i = 0; i < c->count; i++) {
        for (int k = 0; k < i; k++) {
            if (c->text[i][0] != '\0' && strcmp(c->text[i], c->text[k]) == 0) {
                return err_set(err, ERR_INPUT, "%s:%ld:%ld: column '%.60s' occurs twice", name, c->line,
                               c->column[i], c->text[i]);
            }
        }
    }
    const char *names[CSV_FIELDS_MAX];
    for (int i = 0; i < c->count; i++) {
        names[i] = c->text[i];
    }
    csv_set_header(c, names, c->count);
    return true;
}

static void free_names(struct csv *c)
{
    for (int i = 0; i < c->name_count; i++) {
        free(c->names[i]);
    }
    free(c->names);
    c->names = NULL;
    c->name_count = 0;
}

void csv_set_header(struct csv *c, const char *const *names, int count)
{
    free_names(c);
    c->names = mem_alloc((size_t)count, sizeof *c->names);
    for (int i = 0; i < count; i++) {
        c->names[i] = mem_strdup(names[i]);
    }
    c->name_count = count;
}

enum csv_status csv_next(struct csv *c, struct err *err)
{
    char *line;
    struct err inner = {0};
    if (!content_line(c, &line, &inner)) {
        if (inner.code == ERR_NONE) {
            return CSV_END;
        }
        err_set(err, inner.code, "%s", inner.text);
        return CSV_ERROR;
    }
    c->line = text_input_line_number(c->in);
    if (!csv_split(c, line)) {
        return CSV_BAD;
    }
    if (c->name_count > 0 && c->count != c->name_count) {
        c->problem_column = 1;
        snprintf(c->problem, sizeof c->problem, "%d fields, expected %d as in the header", c->count,
                 c->name_count);
        return CSV_BAD;
    }
    return CSV_ROW;
}

int csv_find(const struct csv *c, const char *name)
{
    for (int i = 0; i < c->name_count; i++) {
        if (strcmp(c->names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

void csv_fini(struct csv *c)
{
    free_names(c);
}
