/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The traffic file (docs/traffic-file.md): CSV with a header, sorted by t_s, in one of two forms.
 *   rates:    t_s, rate_per_s [, step_s, service, input_tokens, output_tokens]
 *             A row holds for step_s; without that column until the next row of the service, the
 *             last one as long as the row before it. Outside of rows the rate is 0.
 *   requests: t_s [, service, input_tokens, output_tokens]; one request a row.
 * Read as a stream. traffic.scale is applied by models/demand, not here.
 */
#ifndef SCENARIOS_LOAD_TRAFFIC_FILE_H
#define SCENARIOS_LOAD_TRAFFIC_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/demand/demand.h"
#include "scenarios/load/text_input.h"
#include "sim/err.h"

#define TRAFFIC_FILE_RATE_MAX 1e9   /* requests per second */
#define TRAFFIC_FILE_TOKENS_MAX 1e9 /* tokens of one request */

struct traffic_file_options {
    const char *service; /* NULL: cfg->name; only rows of this service count when the file names services */
    uint64_t skip_bad;
};

/* Opens path (plain, gzip, zstd, "-"). cfg and options must outlive the reader. at() gives the
 * integral of the rate over the step divided by the step, and token means weighted by requests,
 * or cfg's where the file gives none. When the file ends without a row of the service, at() fails. */
bool traffic_file_open(const char *path, const struct service_config *cfg,
                       const struct traffic_file_options *options, struct traffic_reader *out,
                       struct err *err);

/* The same over an open input, which it closes, also on failure. */
bool traffic_file_read(struct text_input *in, const struct service_config *cfg,
                       const struct traffic_file_options *options, struct traffic_reader *out,
                       struct err *err);

#endif
