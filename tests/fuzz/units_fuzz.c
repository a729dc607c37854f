/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values with units: what is read and printed reads back to the same value. */
#include <stdint.h>
#include <string.h>

#include "scenarios/load/units.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_reals(const char *text)
{
    double v = 0;
    if (units_real(text, &v) == UNITS_OK)
        REQUIRE(v - v == 0); /* finite */
    if (units_rate(text, &v) == UNITS_OK || units_byte_rate(text, &v) == UNITS_OK ||
        units_money_rate(text, &v) == UNITS_OK ||
        units_seconds(text, &v) == UNITS_OK)
        REQUIRE(v >= 0 && v - v == 0);
}

static void read_whole(const char *text)
{
    int64_t v, back;
    char out[128];
    if (units_duration(text, &v) == UNITS_OK) {
        units_print_duration(out, sizeof out, v);
        REQUIRE(units_duration(out, &back) == UNITS_OK && back == v);
    }
    if (units_bytes(text, &v) == UNITS_OK) {
        units_print_bytes(out, sizeof out, v);
        REQUIRE(units_bytes(out, &back) == UNITS_OK && back == v);
    }
    if (units_milli(text, &v) == UNITS_OK) {
        units_print_milli(out, sizeof out, v);
        REQUIRE(units_milli(out, &back) == UNITS_OK && back == v);
    }
    if (units_instant(text, &v) == UNITS_OK) {
        units_print_instant(out, sizeof out, v);
        REQUIRE(units_instant(out, &back) == UNITS_OK && back == v);
    }
    if (units_money_hour(text, &v) == UNITS_OK || units_money_year(text, &v) == UNITS_OK ||
        units_token_price(text, &v) == UNITS_OK ||
        units_quantity("cpu", text, &v) == UNITS_OK || units_quantity("memory", text,
                                                                      &v) == UNITS_OK)
        REQUIRE(v >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256];
    size_t n = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, data, n);
    text[n] = '\0';
    read_reals(text);
    read_whole(text);
    return 0;
}
