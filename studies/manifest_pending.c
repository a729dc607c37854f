/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/manifest_pending.h"

#include <stdlib.h>
#include <string.h>

#include "models/world/pending_rows.h"
#include "sim/arena.h"
#include "sim/sim_time.h"

enum { STEPS = 400 };

struct mpending {
    const struct manifest *m;
    struct pending_view *view; /* made with the first output: the policy exists then */
    double *units;
};

struct mpending *mpending_create(const struct manifest *m)
{
    struct mpending *v = mem_zalloc(1, sizeof *v);
    v->m = m;
    v->units = mem_alloc((size_t)m->config.resource_count + 1, sizeof *v->units);
    for (uint32_t r = 0; r < m->config.resource_count; r++)
        v->units[r] = strcmp(m->config.resources[r], "cpu") == 0 ? 1000.0 : 1.0;
    return v;
}

void mpending_destroy(struct mpending *v)
{
    if (v == NULL)
        return;
    pending_destroy(v->view);
    free(v->units);
    free(v);
}

static void name(void *ctx, uint32_t workload, char text[PENDING_NAME_SIZE])
{
    const struct mpending *v = ctx;
    const struct manifest_workload *w = &v->m->workloads[workload];
    (void)snprintf(text, PENDING_NAME_SIZE, "%.70s/%.80s", w->name_space, w->name);
}

/* About STEPS steps until the last workload would end if none of them waited. */
static int64_t step_of(const struct manifest *m)
{
    int64_t span = SIM_SECOND;
    for (uint32_t i = 0; i < m->workload_count; i++) {
        const struct manifest_workload *w = &m->workloads[i];
        const int64_t end = sim_time_after(w->policy.created_ns, w->duration_ns == POLICY_NEVER ? 0 : w->duration_ns);
        span = end > span && end < POLICY_NEVER ? end : span;
    }
    return (span / STEPS / SIM_SECOND + 1) * SIM_SECOND;
}

static void begin(struct mpending *v, const struct mplay *p)
{
    const struct manifest *m = v->m;
    const struct pending_options o = {.config = &m->config,
                                      .ops = p->ops,
                                      .policy = p->policy,
                                      .patience_ns = p->opt.requeue_batch_ns + p->opt.eviction_ns + PENDING_PATIENCE_NS,
                                      .main_resource = m->main_resource,
                                      .units = v->units,
                                      .ctx = v,
                                      .name = name,
                                      .holdings = true};
    const int64_t step = step_of(m);
    v->view = pending_create(&o);
    const int64_t wide = qflow_step(pending_flow(v->view), step * STEPS); /* where there are many nodes */
    qflow_keep(pending_flow(v->view), qflow_cell_count(pending_flow(v->view)) > 60 && wide > step ? wide : step);
    for (uint32_t i = 0; i < m->workload_count; i++)
        if (m->workloads[i].inadmissible == NULL)
            pending_shape(v->view, m->workloads[i].policy.shape, &m->workloads[i].shape);
}

void mpending_output(struct mpending *v, const struct mplay *p, int64_t now, const struct policy_output *o)
{
    if (v->view == NULL)
        begin(v, p);
    if (o->kind == POLICY_DO_ADMIT)
        pending_output(v->view, now, o, v->m->workloads[o->workload].policy.shape,
                       v->m->queues[mplay_queue(v->m, o->workload)].check_delay_ns);
    else if (o->kind == POLICY_SAY_PENDING)
        pending_output(v->view, now, o, 0, 0);
    else if (o->kind == POLICY_DO_EVICT)
        pending_release(v->view, now, o->workload);
}

void mpending_finished(struct mpending *v, int64_t now, uint32_t workload)
{
    if (v->view != NULL)
        pending_release(v->view, now, workload);
}

void mpending_instant(struct mpending *v, const struct mplay *p)
{
    if (v->view != NULL)
        pending_settled(v->view, p->now);
}

void mpending_emit(struct mpending *v, const struct mplay *p, int64_t run_id, const struct record_sink *sink)
{
    const struct pending_rows r = {&v->m->config, v->units, run_id, sink};
    if (v->view == NULL)
        return;
    pending_finish(v->view, p->end_ns > p->now ? p->end_ns : p->now);
    pending_rows_emit(&r, v->view);
}
