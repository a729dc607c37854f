/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clusters and pods of recorded HAMi cases from JSON, for conform_hami. */
#ifndef STUDIES_HAMI_JSON_H
#define STUDIES_HAMI_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "models/fleet/sharing/hami.h"
#include "sim/arena.h"
#include "sim/err.h"

/* Text points into the JSON, which must outlive the results; arrays live in the arena. */
struct hami_config hami_json_config(const cJSON *config);

/* Nodes in file order; NULL with e set: no nodes, unknown vendor, more profiles than fit. */
struct hami_node *hami_json_nodes(const cJSON *nodes, int32_t *count, struct arena *arena,
                                  struct err *e);

/* A pod as submitted (fields ns, anno, ctr of an `add` event); false with e set: a quantity that
 * is not one, init containers after others. */
bool hami_json_pod(const cJSON *event, struct hami_pod *pod, struct arena *arena, struct err *e);

/* A Kubernetes quantity, integer or text with a unit; false when it is not a whole number. */
bool hami_json_quantity(const cJSON *value, int64_t *number, bool *unit);

#endif
