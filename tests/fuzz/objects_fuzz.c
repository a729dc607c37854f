/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Manifests beside demand: whatever the objects are, there is a scenario or a problem. Seeds:
 * tests/fuzz/corpus/manifest and tests/load/data/objects.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/load/load.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scenario_text[] =
    "manifests: [%s]\n"
    "nodeTypes: [{pricePerCard: 1usd/h}]\n"
    "demand: {training: [{name: j, queue: %s, nodeSelector: {gpu: h100}, arrivals: {base: 1/h}, gangs: [{duration: 1h}]}]}\n"
    "arbiters: [{preset: cohort}, {preset: pools, networkLocality: true}]\n";

static void load(const char *path, const char *queue)
{
    char text[1024];
    struct diag_list diags = {0};
    const int n = snprintf(text, sizeof text, scenario_text, path, queue);
    struct scenario *s = scenario_load_text("fuzz", text, (size_t)n, NULL, 0, &diags);
    REQUIRE((s == NULL) == (diags.error_count > 0));
    scenario_free(s);
    diag_fini(&diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/objects_fuzz.XXXXXX";
    const int fd = mkstemp(path);
    REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    load(path, "research");
    load(path, "lab/jobs");
    unlink(path);
    return 0;
}
