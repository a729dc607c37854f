/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "scenarios/load/traffic_file.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct service_config service = {.name = "a"};
    struct traffic_file_options o = {.skip_bad = 5};
    struct traffic_reader reader;
    struct err err = {0};
    struct text_input *in = text_input_memory("fuzz", data, size, 1000);
    if (!traffic_file_read(in, &service, &o, &reader, &err)) {
        REQUIRE(err.code == ERR_INPUT);
        return 0;
    }
    struct traffic_point p;
    for (int i = 0; i < 50 && reader.at(reader.ctx, i * SIM_MINUTE, SIM_MINUTE, &p, &err); i++) {
        REQUIRE(isfinite(p.rate_per_s) && p.rate_per_s >= 0);
        REQUIRE(isfinite(p.input_tokens_mean) && p.input_tokens_mean >= 0);
    }
    reader.close(reader.ctx);
    return 0;
}
