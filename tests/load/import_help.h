/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of readers and importers share: scratch files, captured output, shared traces. */
#ifndef TESTS_LOAD_IMPORT_HELP_H
#define TESTS_LOAD_IMPORT_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scenarios/load/import/import.h"
#include "sim/err.h"

/* Writes a file into a fresh directory and fills path. */
static inline void help_write(char path[256], const char *name, const void *data, size_t n)
{
    char directory[] = "fleetsim-test-XXXXXX";
    assert_non_null(mkdtemp(directory));
    snprintf(path, 256, "%s/%s", directory, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Removes what help_write made. */
static inline void help_remove(char path[256])
{
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

/* An import of text in memory, with what it wrote. */
struct help_import {
    bool fine;
    struct err err;
    char *out;     /* the file */
    char *account; /* the printed account */
};

static inline struct help_import help_import(const char *kind, const char *data, size_t n,
                                             const struct import_options *o)
{
    struct help_import r = {0};
    struct import_options usual;
    import_options_init(&usual);
    size_t out_n;
    size_t account_n;
    FILE *out = open_memstream(&r.out, &out_n);
    FILE *account = open_memstream(&r.account, &account_n);
    const struct importer *which = import_find(kind);
    assert_non_null(which);
    r.fine = import_memory(which, o != NULL ? o : &usual, data, n, out, account, &r.err);
    fclose(out);
    fclose(account);
    return r;
}

static inline struct help_import help_import_text(const char *kind, const char *text,
                                                  const struct import_options *o)
{
    return help_import(kind, text, strlen(text), o);
}

static inline void help_import_free(struct help_import *r)
{
    free(r->out);
    free(r->account);
}

/* The rows of the written file: without its comments. */
static inline const char *help_rows(const struct help_import *r)
{
    const char *p = r->out;
    while (*p == '#') {
        p = strchr(p, '\n') + 1;
    }
    return p;
}

/* The path of a shared trace, or NULL after saying that the test is skipped. */
static inline const char *help_trace(char path[512], const char *name)
{
    const char *shared = getenv("FLEETSIM_SHARED");
    const char *root = getenv("FLEETSIM_SOURCE_ROOT");
    if (shared != NULL) {
        snprintf(path, 512, "%s/traces/%s", shared, name);
    } else {
        snprintf(path, 512, "%s/../shared/traces/%s", root != NULL ? root : ".", name);
    }
    if (access(path, R_OK) != 0) {
        print_message("# skipped: the shared trace %s is not there\n", name);
        return NULL;
    }
    return path;
}

/* Imports files into a scratch output; both account and rows are kept. */
static inline struct help_import help_import_files(const char *kind, char *const *files, int count,
                                                   const struct import_options *o)
{
    struct help_import r = {0};
    struct import_options usual;
    import_options_init(&usual);
    char path[256];
    help_write(path, "out.csv", "", 0);
    size_t account_n;
    FILE *account = open_memstream(&r.account, &account_n);
    r.fine = import_run(import_find(kind), o != NULL ? o : &usual, files, count, path, account, &r.err);
    fclose(account);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f);
    rewind(f);
    r.out = malloc(n + 1);
    assert_non_null(r.out);
    assert_int_equal(fread(r.out, 1, n, f), n);
    r.out[n] = '\0';
    fclose(f);
    help_remove(path);
    return r;
}

/* The text after a label of the account up to its line end, for comparing. */
static inline void help_account(const struct help_import *r, const char *label, char value[128])
{
    value[0] = '\0';
    size_t n = strlen(label);
    for (const char *p = r->account; p != NULL && *p != '\0'; p = strchr(p, '\n'), p = p ? p + 1 : p) {
        if (strncmp(p, label, n) == 0 && p[n] == ' ') {
            p += n;
            p += strspn(p, " ");
            snprintf(value, 128, "%.*s", (int)strcspn(p, "\n"), p);
            return;
        }
    }
}

#define assert_account(r, label, expected)                                                             \
    do {                                                                                               \
        char help_value[128];                                                                          \
        help_account(r, label, help_value);                                                            \
        assert_string_equal(help_value, expected);                                                     \
    } while (0)

#endif
