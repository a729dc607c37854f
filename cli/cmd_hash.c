/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim hash: the content hash of results databases (design, section 3.5). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/store/results.h"
#include "cli/commands.h"

static const char help[] =
    "usage: fleetsim hash FILE.db...\n"
    "\n"
    "Prints the content hash of each results database. Equal hashes mean equal\n"
    "results: the same scenario and seed give the same hash with any compiler,\n"
    "optimisation or number of threads. Wall time, program version and host are left\n"
    "out.\n"
    "\n"
    "example:\n"
    "  fleetsim hash results.db\n";

int cmd_hash(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return 0;
    }
    if (argc < 2) {
        fputs("fleetsim hash: expected a results database\nfleetsim: see 'fleetsim hash --help'\n", stderr);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        uint64_t hash;
        struct err err = {0};
        if (!store_content_hash(argv[i], &hash, &err)) {
            fprintf(stderr, "fleetsim hash: %s\n", err.text);
            return err_exit_status(&err);
        }
        if (argc == 2)
            printf("%016" PRIx64 "\n", hash);
        else
            printf("%016" PRIx64 "  %s\n", hash, argv[i]);
    }
    return 0;
}
