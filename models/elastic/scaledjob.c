/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/elastic/scaledjob.h"

#include "sim/dmath.h"

#define DEFAULT_MAX_REPLICAS 100

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Both ends after KEDA's own corrections. */
struct bounds {
    int64_t min, max;
};

static struct bounds bounds_of(const struct scaledjob_config *cfg)
{
    struct bounds b = {cfg->minReplicaCount == SCALEDJOB_UNSET ? 0 : cfg->minReplicaCount,
                       DEFAULT_MAX_REPLICAS};
    int64_t written = cfg->maxReplicaCount;
    int64_t max = written == SCALEDJOB_UNSET ? DEFAULT_MAX_REPLICAS : written;
    if (b.min > max)
        return (struct bounds){max, max};
    if (written != SCALEDJOB_UNSET)
        b.max = written - b.min;
    return b;
}

struct demand {
    bool active;
    double queue, scale;
};

static struct demand demand_of(const struct scaledjob_trigger *t, int64_t max)
{
    struct demand d = {t->active, (double)t->queue_milli * 0.001, 0.0};
    double target = t->metricType == HPA_TARGET_AVERAGE_VALUE ? (double)t->target_milli * 0.001
                                                              : 0.0;
    if (target > 0.0)
        d.scale = d.queue / target;
    if (d.scale > (double)max)
        d.scale = (double)max;
    return d;
}

static bool is_picked(enum scaledjob_calculation how, const struct demand *best,
                      const struct demand *d)
{
    if (how == SCALEDJOB_MIN)
        return best->queue <= 0.0 || d->queue < best->queue;
    return d->queue > best->queue;
}

/* Several triggers: max and min pick one by its queue, avg and sum act on both numbers. */
static struct demand combine(const struct scaledjob_config *cfg,
                             const struct scaledjob_trigger *triggers, size_t count, int64_t max)
{
    struct demand all = {false, 0.0, 0.0};
    enum scaledjob_calculation how = cfg->multipleScalersCalculation;
    bool adds = how == SCALEDJOB_AVG || how == SCALEDJOB_SUM;
    size_t active = 0;
    for (size_t i = 0; i < count; i++) {
        struct demand d = demand_of(&triggers[i], max);
        if (!d.active)
            continue;
        active++;
        if (adds)
            all = (struct demand){true, all.queue + d.queue, all.scale + d.scale};
        else if (is_picked(how, &all, &d))
            all = d;
    }
    if (how == SCALEDJOB_AVG && active > 0) {
        all.queue /= (double)active;
        all.scale /= (double)active;
    }
    if (all.scale > (double)max)
        all.scale = (double)max;
    return all;
}

/* The table value of the strategy; running excludes the minimum. */
static int64_t effective(const struct scaledjob_config *cfg, int64_t max_scale, int64_t running,
                         int64_t pending, int64_t max)
{
    switch (cfg->strategy) {
    case SCALEDJOB_CUSTOM: {
        if (!cfg->percentage_given)
            break;
        double cut = (double)running * cfg->customScalingRunningJobPercentage;
        return least(max_scale - cfg->customScalingQueueLengthDeduction - (int64_t)cut, max);
    }
    case SCALEDJOB_ACCURATE:
        return max_scale + running - pending > max ? max - running : max_scale - pending;
    case SCALEDJOB_EAGER:
        return least(max - running - pending, max_scale);
    case SCALEDJOB_DEFAULT:
        break;
    }
    return max_scale - running;
}

struct scaledjob_decision scaledjob_poll(const struct scaledjob_config *cfg,
                                         const struct scaledjob_trigger *triggers, size_t count,
                                         int64_t running, int64_t pending)
{
    struct bounds b = bounds_of(cfg);
    struct demand d = combine(cfg, triggers, count, b.max);
    struct scaledjob_decision out = {.active = d.active || b.min > 0,
                                     .queue = (int64_t)dm_ceil(d.queue),
                                     .max_scale = (int64_t)dm_ceil(d.scale)};
    if (running < b.min) {
        out.created = b.min - running;
    } else {
        int64_t most = effective(cfg, out.max_scale, running - b.min, pending, b.max);
        int64_t wanted = cfg->strategy == SCALEDJOB_EAGER ? b.max : out.queue;
        out.created = least(wanted, most);
    }
    if (out.created < 0 || !out.active)
        out.created = 0;
    return out;
}
