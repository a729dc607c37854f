/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The catalogue reader on arbitrary bytes: no crash, and success exactly when nothing was reported. */
#include "models/fleet/catalogue_read.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct diag_list problems = {0};
    struct catalogue c;
    bool ok = catalogue_read(&c, &arena, "fuzz", (const char *)data, size, &problems);
    REQUIRE(ok == (problems.error_count == 0));
    for (int32_t i = 0; i < c.fact_count; i++)
        REQUIRE(catalogue_fact(&c, c.facts[i].kind, c.facts[i].name, c.facts[i].field) != NULL);
    diag_fini(&problems);
    arena_fini(&arena);
    return 0;
}
