/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One poll of a KEDA ScaledJob: how many whole jobs to create (specs "autoscaling" 1.8; kedacore/
 * keda 8b4f083). Nothing is ever scaled in. Checked call by call against recordings.
 */
#ifndef MODELS_ELASTIC_SCALEDJOB_H
#define MODELS_ELASTIC_SCALEDJOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/elastic/hpa_metric.h"

enum scaledjob_strategy { SCALEDJOB_DEFAULT, SCALEDJOB_CUSTOM, SCALEDJOB_ACCURATE,
                          SCALEDJOB_EAGER };
enum scaledjob_calculation { SCALEDJOB_MAX, SCALEDJOB_MIN, SCALEDJOB_AVG, SCALEDJOB_SUM };

#define SCALEDJOB_UNSET (-1)

struct scaledjob_config {
    int32_t minReplicaCount; /* SCALEDJOB_UNSET = 0 */
    int32_t maxReplicaCount; /* SCALEDJOB_UNSET = 100, which the minimum does not reduce */
    enum scaledjob_strategy strategy;
    int32_t customScalingQueueLengthDeduction;
    bool percentage_given; /* customScalingRunningJobPercentage parses as a number */
    double customScalingRunningJobPercentage;
    enum scaledjob_calculation multipleScalersCalculation;
};

struct scaledjob_trigger {
    bool active;
    int64_t queue_milli, target_milli;
    enum hpa_target_type metricType; /* Value creates nothing beyond the minimum */
};

struct scaledjob_decision {
    bool active;
    int64_t queue;     /* rounded up */
    int64_t max_scale; /* rounded up */
    int64_t created;
};

/* running: all unfinished jobs; pending: those of them without a running or succeeded pod. */
struct scaledjob_decision scaledjob_poll(const struct scaledjob_config *cfg,
                                         const struct scaledjob_trigger *triggers, size_t count,
                                         int64_t running, int64_t pending);

#endif
