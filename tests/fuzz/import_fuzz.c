/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One importer per executable: IMPORT_KIND is its name. What an importer writes as jobs or traffic
 * must be read by our own readers without complaint.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/import/import.h"
#include "scenarios/load/jobs_file.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_jobs(const char *text, size_t n)
{
    struct job_stream_config cfg = {0};
    struct jobs_file_options o = {0};
    struct job_reader reader;
    struct job_spec job;
    struct err err = {0};
    REQUIRE(jobs_file_read(text_input_memory("out", text, n, 0), &cfg, &o, &reader, &err));
    while (reader.next(reader.ctx, &job, &err)) {
    }
    REQUIRE(err.code == ERR_NONE);
    reader.close(reader.ctx);
}

static bool is_jobs(const char *text, size_t n)
{
    static const char mark[] = "# fleetsim jobs file";
    return n > sizeof mark && strncmp(text, mark, sizeof mark - 1) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct import_options o;
    struct err err = {0};
    import_options_init(&o);
    o.skip_bad = 10;
    o.lift_zero = size % 3 == 0;
    char *text = NULL;
    char *account = NULL;
    size_t n = 0;
    size_t account_n = 0;
    FILE *out = open_memstream(&text, &n);
    FILE *account_out = open_memstream(&account, &account_n);
    bool fine = import_memory(import_find(IMPORT_KIND), &o, (const char *)data, size, out, account_out, &err);
    fclose(out);
    fclose(account_out);
    REQUIRE(fine || err.code == ERR_INPUT);
    if (fine && is_jobs(text, n)) {
        read_jobs(text, n);
    }
    free(text);
    free(account);
    return 0;
}
