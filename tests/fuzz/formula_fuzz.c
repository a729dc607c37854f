/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text either compiles or is refused with a message; what compiles evaluates. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/elastic/formula.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a", "b", "queue"};
    static const struct formula_value values[] = {
        {FORMULA_NUMBER, 2.5}, {FORMULA_NIL, 0}, {FORMULA_NUMBER, -1e300}};
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct formula f;
    struct err e = {0};
    if (formula_parse(&f, text, names, 3, &e)) {
        if (f.count == 0)
            abort();
        (void)formula_eval(&f, values);
    } else if (e.text[0] == '\0') {
        abort();
    }
    free(text);
    return 0;
}
