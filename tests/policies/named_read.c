/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/policies/named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void split(struct named_line *l, char *text, const char *path)
{
    for (char *save, *w = strtok_r(text, " \t\n", &save); w != NULL; w = strtok_r(NULL, " \t\n", &save)) {
        if (l->count == NAMED_WORDS) {
            fprintf(stderr, "%s:%d: too many words\n", path, l->number);
            exit(99);
        }
        l->word[l->count++] = w;
    }
}

static char *rest_of_line(struct arena *mem, const char *text, size_t skip)
{
    char *rest = arena_strdup(mem, text + skip);
    rest[strcspn(rest, "\n")] = '\0';
    return rest;
}

static void add_line(struct named_file *f, const char *text, int number)
{
    struct named_case *c = &f->cases[f->count - 1];
    c->lines = mem_grow(c->lines, &c->capacity, c->count + 1, sizeof *c->lines);
    struct named_line *l = &c->lines[c->count++];
    memset(l, 0, sizeof *l);
    l->number = number;
    split(l, arena_strdup(&f->mem, text), f->path);
}

void named_read(struct named_file *f, const char *path)
{
    char text[8192];
    const char *test = "";
    snprintf(f->path, sizeof f->path, "%s", path);
    FILE *in = fopen(path, "r");
    if (in == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(99);
    }
    for (int number = 1; fgets(text, sizeof text, in) != NULL; number++) {
        if (text[0] == '#' || strspn(text, " \n") == strlen(text))
            continue;
        if (strncmp(text, "test ", 5) == 0) {
            test = rest_of_line(&f->mem, text, 5);
        } else if (strncmp(text, "case ", 5) == 0) {
            f->cases = mem_grow(f->cases, &f->capacity, f->count + 1, sizeof *f->cases);
            f->cases[f->count++] = (struct named_case){test, rest_of_line(&f->mem, text, 5), NULL, 0, 0};
        } else {
            add_line(f, text, number);
        }
    }
    fclose(in);
}

void named_file_fini(struct named_file *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->cases[i].lines);
    free(f->cases);
    arena_fini(&f->mem);
}
