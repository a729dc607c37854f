/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenario text, and after a NUL byte one --set argument. What loads must load again from the
 * text that results keep, to the same text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/load.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *copy(const uint8_t *data, size_t n)
{
    char *s = malloc(n + 1);
    REQUIRE(s != NULL);
    memcpy(s, data, n);
    s[n] = '\0';
    return s;
}

static void load_again(const struct scenario *s)
{
    struct diag_list diags = {0};
    struct scenario *again = scenario_load_text("again", s->text, strlen(s->text), NULL, 0, &diags);
    REQUIRE(again != NULL);
    REQUIRE(again->demand.stream_count == s->demand.stream_count);
    REQUIRE(again->quota.queue_count == s->quota.queue_count);
    REQUIRE(again->horizon == s->horizon && again->seed == s->seed);
    scenario_free(again);
    diag_fini(&diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size == 0 ? NULL : memchr(data, '\0', size);
    size_t n = nul == NULL ? size : (size_t)(nul - data);
    char *text = copy(data, n), *set = nul == NULL ? NULL : copy(nul + 1, size - n - 1);
    const char *sets[] = {set};
    struct diag_list diags = {0};
    struct scenario *s = scenario_load_text("fuzz.yaml", text, n, sets, set != NULL, &diags);
    REQUIRE((s == NULL) == (diags.error_count > 0));
    if (s != NULL)
        load_again(s);
    scenario_free(s);
    diag_fini(&diags);
    free(text);
    free(set);
    return 0;
}
