/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a gang of a job stream, or a replica of a service, asks the admission policy for. Resources are
 * numbered as in quota_view.h. */
#ifndef MODELS_WORLD_SHAPE_VIEW_H
#define MODELS_WORLD_SHAPE_VIEW_H

#include "models/demand/demand.h"
#include "models/policies/policy.h"
#include "models/world/scenario.h"

enum { SHAPE_VIEW_LABELS = 16 };

struct shape_view { /* not to be copied: the shape points into it, and into the scenario */
    struct policy_label labels[SHAPE_VIEW_LABELS];
    struct policy_toleration tolerations[SHAPE_VIEW_LABELS];
    struct policy_amount amounts[FLEET_RESOURCES_MAX + 1];
    struct policy_pod_set set;
    struct policy_shape shape;
};

/* source: a job stream, or stream_count + a service; milli: cards of one worker. */
void shape_view_make(const struct scenario *s, int32_t source, int32_t workers, int64_t milli, struct shape_view *out);

/* What a job says itself takes the place of its stream's cpu and memory, where some node pool says how much
 * it has: by resource, and in the view. */
void shape_view_amounts(const struct scenario *s, const struct job_amounts *amounts, struct shape_view *view);
void job_amounts_apply(const struct fleet_config *f, const struct job_amounts *amounts,
                       int64_t by_resource[FLEET_RESOURCES_MAX]);

#endif
