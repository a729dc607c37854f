/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workloads at the end of a reading: queues, priorities, order, delays of admission checks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/import/names.h"
#include "scenarios/load/manifest/manifest_priv.h"
#include "sim/sim_time.h"

static int compare_ids(const char *a, const char *b, const char *c, const char *d)
{
    const int x = strcmp(a, b);
    return x != 0 ? x : strcmp(c, d);
}

/* By creation, then name and namespace; those without a time come with the first. */
static int by_creation(const void *a, const void *b)
{
    const struct manifest_workload *x = a, *y = b;
    if (x->created != y->created)
        return x->created < y->created ? -1 : 1;
    return compare_ids(x->name, y->name, x->name_space, y->name_space);
}

struct ranked {
    const char *first, *second;
    uint32_t index;
};

static int by_text(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    const int c = compare_ids(x->first, y->first, x->second, y->second);
    return c != 0 ? c : (x->index > y->index) - (x->index < y->index);
}

static void rank(struct manifest *m, bool names)
{
    struct ranked *list = mem_alloc((size_t)m->workload_count + 1, sizeof *list);
    for (uint32_t i = 0; i < m->workload_count; i++) {
        const struct manifest_workload *w = &m->workloads[i];
        list[i] = names ? (struct ranked){w->name, w->name_space, i} : (struct ranked){w->uid, w->name, i};
    }
    if (m->workload_count > 1)
        qsort(list, m->workload_count, sizeof *list, by_text);
    for (uint32_t i = 0; i < m->workload_count; i++) {
        struct policy_workload *w = &m->workloads[list[i].index].policy;
        if (names)
            w->name_order = i;
        else
            w->uid_order = i;
    }
    free(list);
}

static void find_queue(struct mf *r, struct manifest_workload *w)
{
    const struct policy_config *cfg = &r->m->config;
    char key[512];
    snprintf(key, sizeof key, "%.250s/%.250s", w->name_space, w->queue);
    const uint32_t id = mf_id_find(&r->locals, key);
    w->policy.local_queue = POLICY_NONE;
    if (w->queue[0] == '\0')
        w->inadmissible = "no queueName";
    else if (!mf_defined(&r->locals, id))
        w->inadmissible = arena_printf(&r->m->mem, "LocalQueue %s doesn't exist", w->queue);
    else if (cfg->local_queues[id].name == NULL)
        w->inadmissible = arena_printf(&r->m->mem, "ClusterQueue %s doesn't exist",
                                       mf_id_name(&r->queues, r->local[id].queue.cluster_queue));
    else
        w->policy.local_queue = id;
}

static void find_priority(struct mf *r, struct mf_workload *w)
{
    if (w->has_priority || w->priority_class == NULL)
        return;
    const uint32_t id = mf_id_find(&r->classes, w->priority_class);
    if (mf_defined(&r->classes, id))
        w->w.policy.priority = r->class_value[id];
    else if (strcmp(w->priority_class, "pod/") != 0) /* no global default */
        w->w.inadmissible = arena_printf(&r->m->mem, "priority class %s doesn't exist",
                                         strchr(w->priority_class, '/') + 1);
}

/* Workloads of which an owner is known, as "namespace/Kind/name". */
static const char *owner_key(struct mf *r, const struct manifest_workload *w)
{
    return arena_printf(&r->tree, "%s/%s/%s", w->name_space, w->owner_kind, w->owner);
}

/* Objects whose Workload is here too are left out, and what can run no pod is. */
static void keep_workloads(struct mf *r)
{
    struct names owners = {0};
    struct manifest *m = r->m;
    uint32_t inactive = 0;
    r->slot = NULL;
    for (size_t i = 0; i < r->workload_count; i++)
        if (!r->workloads[i].from_job && r->workloads[i].w.owner[0] != '\0')
            names_add(&owners, owner_key(r, &r->workloads[i].w), NULL);
    m->workloads = arena_alloc(&m->mem, r->workload_count + 1, sizeof *m->workloads);
    for (size_t i = 0; i < r->workload_count; i++) {
        struct mf_workload *w = &r->workloads[i];
        if (w->from_job && names_find(&owners, owner_key(r, &w->w)) != 0)
            continue;
        if (!w->w.active && !w->w.finished) {
            inactive++;
            continue;
        }
        find_queue(r, &w->w);
        find_priority(r, w);
        m->workloads[m->workload_count++] = w->w;
    }
    names_fini(&owners);
    r->kind = NULL;
    if (inactive > 0)
        mf_warn(r, NULL, NULL, "%u workloads are deactivated (spec.active false) and left out", (unsigned)inactive);
}

static void settle_times(struct manifest *m)
{
    int64_t first = POLICY_NEVER;
    for (uint32_t i = 0; i < m->workload_count; i++)
        if (m->workloads[i].created < first)
            first = m->workloads[i].created;
    m->start_ns = first == POLICY_NEVER ? 0 : first / SIM_SECOND * SIM_SECOND;
    if (first != POLICY_NEVER && m->start_ns > first)
        m->start_ns -= SIM_SECOND; /* before 1970 */
    for (uint32_t i = 0; i < m->workload_count; i++)
        if (m->workloads[i].created == POLICY_NEVER)
            m->workloads[i].created = m->start_ns;
    if (m->workload_count > 1)
        qsort(m->workloads, m->workload_count, sizeof *m->workloads, by_creation);
    for (uint32_t i = 0; i < m->workload_count; i++) {
        m->workloads[i].policy.id = i;
        m->workloads[i].policy.created_ns = m->workloads[i].created - m->start_ns;
    }
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Admission checks are a delay: the median that the workloads of the queue tell. */
static void check_delays(struct mf *r)
{
    struct manifest *m = r->m;
    int64_t *v = mem_alloc((size_t)m->workload_count + 1, sizeof *v);
    for (uint32_t q = 0; q < m->config.cluster_queue_count; q++) {
        size_t n = 0;
        if (!m->queues[q].has_checks || m->queues[q].inactive != NULL)
            continue;
        for (uint32_t i = 0; i < m->workload_count; i++) {
            const struct manifest_workload *w = &m->workloads[i];
            if (w->cluster_queue == q && w->admitted != POLICY_NEVER && w->admitted >= w->reserved)
                v[n++] = w->admitted - w->reserved;
        }
        if (n > 1)
            qsort(v, n, sizeof *v, by_value);
        m->queues[q].check_delay_ns = n == 0 ? 0 : v[n / 2];
        mf_about(r, "ClusterQueue", m->config.cluster_queues[q].name, &r->queues, q);
        mf_warn(r, NULL, "spec.admissionChecksStrategy", "its checks are a delay of %lld s (median of %zu workloads); "
                "whether they pass is not modelled", (long long)(m->queues[q].check_delay_ns / SIM_SECOND), n);
    }
    free(v);
}

void mf_link_workloads(struct mf *r)
{
    keep_workloads(r);
    settle_times(r->m);
    rank(r->m, true);
    rank(r->m, false);
    check_delays(r);
}
