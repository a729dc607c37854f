/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a pending view: tables quota_node, series (quota.*) and alarm. */
#ifndef MODELS_WORLD_PENDING_ROWS_H
#define MODELS_WORLD_PENDING_ROWS_H

#include "models/policies/pending_view.h"
#include "sim/record.h"

struct pending_rows {
    const struct policy_config *config;
    const double *units; /* by resource: policy units in one unit as people say it */
    int64_t run_id;
    const struct record_sink *sink;
};

/* After pending_finish. */
void pending_rows_emit(const struct pending_rows *r, struct pending_view *v);

#endif
