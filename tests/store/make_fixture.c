/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the fixture database to the named file, to try queries and pages on. */
#include <stdio.h>

#include "tests/store/fixture.h"

int main(int argc, char **argv)
{
    struct err err = {0};
    struct fixture fixture = fixture_default();
    if (argc != 2) {
        fputs("usage: make_fixture FILE.db\n", stderr);
        return 2;
    }
    if (!fixture_write(argv[1], &fixture, &err))
        fprintf(stderr, "error: %s\n", err.text);
    return err_exit_status(&err);
}
