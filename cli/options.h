/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of a command: argp, with the nearest known name for one that does not exist. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

/* Parses into input, as argp_parse; `name` ("fleetsim run") is what messages begin with. False,
 * after a message, when the options are wrong: the command ends with status 2. --help and
 * --usage do not return. */
bool options_parse(const struct argp *argp, const char *name, int argc, char **argv, void *input);

/* Says that `word` is not a `what` of the command, with the nearest of the names; returns 2. */
int options_unknown(const char *name, const char *what, const char *word, const char *const *names,
                    size_t count);

#endif
