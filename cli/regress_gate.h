/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate as `regress` and `run --baseline` run it. */
#ifndef CLI_REGRESS_GATE_H
#define CLI_REGRESS_GATE_H

#include <argp.h>

#include "analysis/regress.h"

struct regress_gate {
    const char *tolerance, *junit, *markdown, *arbiter; /* files and name; NULL: none */
    enum rows_format format;
    size_t top;
    bool strict;
};

/* --tolerance, --junit and --markdown; its input is a struct regress_gate. */
extern const struct argp regress_gate_argp;

/* Prints to stdout, writes the files; messages begin with `name`. Returns the exit status. */
int regress_gate_run(const struct regress_gate *gate, const char *before, const char *after, const char *name);

#endif
