/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quantities: what is read in milli-units is never less than the whole units say, a negative text is
 * the mirror of the positive one, and the real number agrees to the rounding.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "models/policies/policy.h"
#include "models/policies/quantity.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[64], mirrored[66];
    int64_t whole, milli, other;
    double real;
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    const bool ok = quantity_parse(text, false, &whole);
    REQUIRE(ok == quantity_parse(text, true, &milli) && ok == quantity_real(text, &real));
    if (!ok || text[0] == '-' || text[0] == '+')
        return 0;
    REQUIRE(whole >= 0 && milli >= whole);
    if (whole < INT64_MAX / 1000)
        REQUIRE(milli <= whole * 1000);
    if (whole < INT64_C(1) << 50)
        REQUIRE(real <= (double)whole * (1 + 1e-9) + 1e-8 && real >= (double)whole - 1 - 1e-6 * (double)whole);
    snprintf(mirrored, sizeof mirrored, "-%s", text);
    REQUIRE(quantity_parse(mirrored, false, &other) && other == -whole);
    return 0;
}
