/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/check.h"

#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *file, int line, const char *text)
{
    fflush(stdout);
    fprintf(stderr, "%s:%d: internal error, please report: %s does not hold\n", file, line, text);
    abort();
}
