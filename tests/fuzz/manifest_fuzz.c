/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Manifests, YAML and JSON: what is read must be taken by the policy, and a short replay of it must
 * come to an end. Seeds: tests/fuzz/corpus/manifest.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/manifest/durations.h"
#include "scenarios/load/manifest/manifest.h"
#include "sim/check.h"
#include "sim/sim_time.h"
#include "studies/manifest_play.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORKLOADS_MAX = 50 };

static void replay(struct manifest *m)
{
    struct err e = {0};
    struct mplay p;
    const struct mplay_options o = {.horizon_ns = SIM_HOUR, .requeue_batch_ns = MPLAY_KUEUE_BATCH};
    REQUIRE(manifest_durations(m, "10m", 1, &e));
    REQUIRE(mplay_run(&p, m, &o, &e) || e.code == ERR_INPUT);
    mplay_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag_list diags = {0};
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    struct manifest *m = manifest_read_text("fuzz", text, size, &diags);
    REQUIRE((m == NULL) == (diags.error_count > 0));
    if (m != NULL && m->workload_count <= WORKLOADS_MAX)
        replay(m);
    manifest_free(m);
    diag_fini(&diags);
    free(text);
    return 0;
}
