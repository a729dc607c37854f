/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the requests still queued already tell: how long they have waited at least. */
#include "models/demand/fluid.h"

/* Least age at which a queued request has missed its target; 0: no target. */
static double due_age_s(const struct service_config *cfg)
{
    double latency_s = cfg->slo_latency_s > 0.0 ? cfg->slo_latency_s : 0.0;
    double ttft_s = cfg->kind == SERVICE_LLM && cfg->slo_ttft_s > 0.0 ? cfg->slo_ttft_s : 0.0;
    if (latency_s > 0.0 && ttft_s > 0.0)
        return latency_s < ttft_s ? latency_s : ttft_s;
    return latency_s + ttft_s;
}

double fluid_queued(const struct fluid *f, struct qhist *ages)
{
    double due = due_age_s(f->cfg), overdue = 0.0;
    for (int32_t i = 0; i < f->queue.count; i++) {
        const struct cohort *c = &f->queue.items[f->queue.first + i];
        double youngest = f->now_s - c->to_s, oldest = f->now_s - c->from_s;
        youngest = youngest > 0.0 ? youngest : 0.0;
        oldest = oldest > youngest ? oldest : youngest;
        qhist_add_uniform(ages, youngest, oldest, c->mass);
        if (due <= 0.0 || oldest <= due)
            continue;
        overdue += youngest >= due ? c->mass : c->mass * (oldest - due) / (oldest - youngest);
    }
    return overdue;
}
