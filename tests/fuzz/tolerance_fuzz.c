/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text is a tolerance file or is refused with a place; what is read answers for every metric. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/tolerance.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tolerance_list list = {0};
    struct diag_list diags = {0};
    size_t count;
    const struct metric_def *defs = metric_defs_all(&count);
    bool ok = tolerance_read_text(&list, "fuzz", (const char *)data, size, &diags);
    if (ok == (diags.error_count > 0))
        abort();
    for (size_t i = 0; i < count; i++) {
        struct tolerance_limit l = tolerance_of(&list, &defs[i], i % 2 == 0 ? "all" : "team", i % 2 == 0 ? "" : "x");
        if (!isfinite(l.relative) || !isfinite(l.absolute) || l.relative < 0 || l.absolute < 0)
            abort();
    }
    diag_fini(&diags);
    tolerance_fini(&list);
    return 0;
}
