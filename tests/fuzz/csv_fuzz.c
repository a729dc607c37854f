/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text input (plain, gzip, zstd), CSV splitting and the number and time parsers behind it. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scenarios/load/csv.h"
#include "scenarios/load/import/clock.h"
#include "scenarios/load/text_number.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_field(char *text)
{
    int64_t value;
    char printed[32];
    if (number_decimal(text, 9, true, &value) == NUMBER_OK) {
        int64_t again = 0;
        number_print(printed, value, 9);
        REQUIRE(number_decimal(printed, 9, false, &again) == NUMBER_OK && again == value);
    }
    struct clock c = {.unit_ns = 1000000};
    char instant[64];
    if (clock_read(&c, text, &value) == NULL && c.kind == CLOCK_DATES) {
        int64_t again = 0;
        clock_print(&c, value, instant);
        REQUIRE(clock_date(&c.tz, instant, &again) && again == value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct csv c;
    struct err err = {0};
    struct text_input *in = text_input_memory("fuzz", data, size, 1000);
    csv_init(&c, in, ',');
    if (csv_header(&c, &err)) {
        for (enum csv_status s; (s = csv_next(&c, &err)) == CSV_ROW || s == CSV_BAD;) {
            for (int i = 0; s == CSV_ROW && i < c.count; i++) {
                read_field(c.text[i]);
            }
        }
    }
    csv_fini(&c);
    text_input_close(in);
    return 0;
}
