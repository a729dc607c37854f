/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "sim/diag.h"

#define NAMES_MAX 64
#define NAME_SIZE 64

static size_t add_long_names(const struct argp *argp, const char **names, size_t n)
{
    for (const struct argp_option *o = argp->options; o->name != NULL || o->key != 0; o++)
        if (o->name != NULL && n < NAMES_MAX)
            names[n++] = o->name;
    for (const struct argp_child *c = argp->children; c != NULL && c->argp != NULL; c++)
        n = add_long_names(c->argp, names, n);
    return n;
}

/* An option may be cut short as long as it is the start of one. */
static bool is_known(const char *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(word, names[i], strlen(word)) == 0)
            return true;
    return false;
}

static bool option_known(const char *argument, const char *name, const char *const *names, size_t count)
{
    char word[NAME_SIZE];
    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    if (is_known(word, names, count))
        return true;
    const char *near = diag_nearest(word, names, count);
    fprintf(stderr, "%s: there is no option '--%s'", name, word);
    if (near != NULL)
        fprintf(stderr, "; did you mean '--%s'?", near);
    fprintf(stderr, "\n%s: see '%s --help'\n", name, name);
    return false;
}

bool options_parse(const struct argp *argp, const char *name, int argc, char **argv, void *input)
{
    const char *names[NAMES_MAX];
    char program[NAME_SIZE];
    names[0] = "help";
    names[1] = "usage";
    size_t count = add_long_names(argp, names, 2);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "--", 2) == 0 && !option_known(argv[i], name, names, count))
            return false;
    (void)snprintf(program, sizeof program, "%s", name);
    argv[0] = program;
    argp_err_exit_status = 2;
    return argp_parse(argp, argc, argv, 0, NULL, input) == 0;
}

int options_unknown(const char *name, const char *what, const char *word, const char *const *names,
                    size_t count)
{
    const char *near = diag_nearest(word, names, count);
    fprintf(stderr, "%s: '%s' is not a %s", name, word, what);
    if (near != NULL)
        fprintf(stderr, "; did you mean '%s'?", near);
    fprintf(stderr, "\nfleetsim: see '%s --help'\n", name);
    return 2;
}
