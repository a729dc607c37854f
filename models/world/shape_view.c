/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/shape_view.h"

#include <string.h>

static enum policy_effect effect_of(enum taint_effect e)
{
    return e == TAINT_NO_SCHEDULE          ? POLICY_NO_SCHEDULE
           : e == TAINT_PREFER_NO_SCHEDULE ? POLICY_PREFER_NO_SCHEDULE
           : e == TAINT_NO_EXECUTE         ? POLICY_NO_EXECUTE
                                           : POLICY_EFFECT_ANY;
}

static void selectors(const struct demand_config *d, int32_t source, struct shape_view *out)
{
    bool job = source < d->stream_count;
    int32_t k = job ? source : source - d->stream_count;
    const struct label *l = job ? d->streams[k].node_selector : d->services[k].node_selector;
    const struct taint *t = job ? d->streams[k].tolerations : d->services[k].tolerations;
    int32_t nl = job ? d->streams[k].node_selector_count : d->services[k].node_selector_count;
    int32_t nt = job ? d->streams[k].toleration_count : d->services[k].toleration_count;
    for (int32_t i = 0; i < nl && i < SHAPE_VIEW_LABELS; i++)
        out->labels[out->set.node_selector_count++] = (struct policy_label){l[i].key, l[i].value};
    for (int32_t i = 0; i < nt && i < SHAPE_VIEW_LABELS; i++)
        out->tolerations[out->set.toleration_count++] =
            (struct policy_toleration){.key = t[i].key,
                                       .value = t[i].value == NULL ? "" : t[i].value,
                                       .effect = effect_of(t[i].effect),
                                       .exists = t[i].value == NULL};
}

void shape_view_make(const struct scenario *s, int32_t source, int32_t workers, int64_t milli, struct shape_view *out)
{
    const struct demand_config *d = &s->demand;
    bool job = source < d->stream_count;
    const struct resource_amount *a = job ? d->streams[source].per_worker : d->services[source - d->stream_count].per_replica;
    int32_t n = job ? d->streams[source].per_worker_count : d->services[source - d->stream_count].per_replica_count;
    uint32_t count = 1;
    out->amounts[0] = (struct policy_amount){.resource = 0, .amount = milli};
    for (int32_t i = 0; i < n; i++)
        out->amounts[count++] = (struct policy_amount){(uint32_t)a[i].resource + 1, a[i].amount};
    out->set = (struct policy_pod_set){.name = "main",
                                       .count = workers,
                                       .min_count = POLICY_NIL,
                                       .requests = out->amounts,
                                       .request_count = count,
                                       .node_selector = out->labels,
                                       .tolerations = out->tolerations};
    selectors(d, source, out);
    out->shape = (struct policy_shape){.pod_sets = &out->set, .pod_set_count = 1};
}

/* The resource, if some node has it: a fleet that does not say how much cpu there is has enough; else -1. */
static int32_t resource_named(const struct fleet_config *f, const char *name)
{
    for (int32_t p = 0; p < f->pool_count; p++)
        for (int32_t a = 0; a < f->pools[p].allocatable_count; a++)
            if (strcmp(f->resources[f->pools[p].allocatable[a].resource], name) == 0)
                return f->pools[p].allocatable[a].resource;
    return -1;
}

static void ask_for(struct shape_view *v, int32_t resource, int64_t amount)
{
    uint32_t i = 1, mine = (uint32_t)resource + 1;
    if (resource < 0 || amount < 0)
        return;
    while (i < v->set.request_count && v->amounts[i].resource != mine)
        i++;
    v->amounts[i] = (struct policy_amount){mine, amount};
    v->set.request_count += i == v->set.request_count;
}

void shape_view_amounts(const struct scenario *s, const struct job_amounts *amounts, struct shape_view *view)
{
    ask_for(view, resource_named(&s->fleet, "cpu"), amounts->cpu_milli);
    ask_for(view, resource_named(&s->fleet, "memory"), amounts->memory_bytes);
}

void job_amounts_apply(const struct fleet_config *f, const struct job_amounts *amounts,
                       int64_t by_resource[FLEET_RESOURCES_MAX])
{
    int32_t cpu = amounts->cpu_milli >= 0 ? resource_named(f, "cpu") : -1;
    int32_t memory = amounts->memory_bytes >= 0 ? resource_named(f, "memory") : -1;
    if (cpu >= 0)
        by_resource[cpu] = amounts->cpu_milli;
    if (memory >= 0)
        by_resource[memory] = amounts->memory_bytes;
}
