/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HPA specifications and pods from JSON, for the conform studies. */
#ifndef STUDIES_HPA_JSON_H
#define STUDIES_HPA_JSON_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "models/elastic/hpa.h"
#include "sim/err.h"

/* behavior as the user wrote it, with the API's defaults filled in; NULL gives an absent block.
 * False with e set: unknown policy type, too many policies. */
bool hpa_json_behavior(const cJSON *o, int32_t downscale_stabilization_s, struct hpa_behavior *b,
                       struct err *e);

/* "AverageValue", "Value", "Utilization". */
bool hpa_json_target(const char *text, enum hpa_target_type *t, struct err *e);

#endif
