/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/manifest_pending.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "models/world/pending_rows.h"
#include "sim/arena.h"
#include "sim/sim_time.h"

enum { STEPS = 400, WARNINGS_MAX = 20 };

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

/* ---- before the replay ---- */

struct asked {
    uint32_t queue, shape, workload;
};

static int by_queue_and_shape(const void *a, const void *b)
{
    const struct asked *x = a, *y = b;
    if (x->queue != y->queue)
        return x->queue < y->queue ? -1 : 1;
    if (x->shape != y->shape)
        return x->shape < y->shape ? -1 : 1;
    return (x->workload > y->workload) - (x->workload < y->workload);
}

static void warn(const struct manifest *m, const struct asked *a, uint32_t count, const struct policy_numbers *n, FILE *out)
{
    const struct manifest_workload *w = &m->workloads[a->workload];
    const struct policy_cluster_queue *q = &m->config.cluster_queues[a->queue];
    const char *resource = n->resource < m->config.resource_count ? m->config.resources[n->resource] : "of any flavor";
    const double unit = n->resource < m->config.resource_count && strcmp(resource, "cpu") == 0 ? 1000.0 : 1.0;
    const char *strict = q->queueing == POLICY_STRICT_FIFO ? "; StrictFIFO then blocks all workloads behind it" : "";
    fprintf(out, "warning: workload %s/%s", w->name_space, w->name);
    if (count > 1)
        fprintf(out, " (and %" PRIu32 " more like it)", count - 1);
    fprintf(out, " can never be admitted to queue '%s': ", q->name);
    if (n->flavor == POLICY_NONE && n->resource == POLICY_NONE)
        fprintf(out, "it may use none of the queue's flavors%s\n", strict);
    else if (n->flavor == POLICY_NONE)
        fprintf(out, "it asks %.10g %s, of which the queue has no quota%s\n", (double)n->requested / unit, resource, strict);
    else
        fprintf(out, "it asks %.10g %s, the queue may get %.10g of flavor '%s'%s\n", (double)n->requested / unit, resource,
                (double)n->potential / unit, m->config.flavors[n->flavor].name, strict);
}

static uint32_t check_all(const struct manifest *m, const struct policy_ops *ops, void *policy, FILE *out)
{
    struct asked *list = mem_alloc((size_t)m->workload_count + 1, sizeof *list);
    uint32_t count = 0, found = 0;
    for (uint32_t i = 0; i < m->workload_count; i++)
        if (m->workloads[i].inadmissible == NULL)
            list[count++] = (struct asked){mplay_queue(m, i), ops->register_shape(policy, &m->workloads[i].shape), i};
    if (count > 1)
        qsort(list, count, sizeof *list, by_queue_and_shape);
    for (uint32_t i = 0, next; i < count; i = next) {
        struct policy_numbers n;
        for (next = i; next < count && list[next].queue == list[i].queue && list[next].shape == list[i].shape;)
            next++;
        if (ops->may_fit(policy, list[i].queue, list[i].shape, &n) || found++ >= WARNINGS_MAX)
            continue;
        warn(m, &list[i], next - i, &n, out);
    }
    if (found > WARNINGS_MAX)
        fprintf(out, "warning: and %" PRIu32 " more that can never be admitted\n", found - WARNINGS_MAX);
    free(list);
    return found;
}

uint32_t manifest_never_fit(const struct manifest *m, FILE *out)
{
    char error[256] = "";
    const struct policy_host host = {.abi = POLICY_ABI, .size = sizeof host};
    const struct policy_ops *ops = policy_kueue();
    struct policy_config cfg = m->config;
    void *policy = ops->create(&cfg, &host, error, sizeof error);
    const uint32_t found = policy == NULL ? 0 : check_all(m, ops, policy, out); /* the replay tells an error */
    if (policy != NULL)
        ops->destroy(policy);
    return found;
}
