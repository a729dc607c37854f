/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What needs all objects: references, inactive queues with the controller's reason, the policy's
 * configuration. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/policies/quantity.h"
#include "scenarios/load/manifest/manifest_priv.h"

static void *copy(struct mf *r, const void *from, size_t have, size_t count, size_t size)
{
    char *to = arena_alloc(&r->m->mem, count + 1, size);
    const size_t n = have < count ? have : count;
    if (n > 0)
        memcpy(to, from, n * size);
    return to;
}

static const char **names_of(struct mf *r, const struct mf_ids *ids)
{
    const uint32_t n = mf_id_count(ids);
    const char **to = arena_alloc(&r->m->mem, (size_t)n + 1, sizeof *to);
    for (uint32_t i = 0; i < n; i++)
        to[i] = mf_keep(r, mf_id_name(ids, i));
    return to;
}

/* ---- cohorts ---- */

static bool in_circle(const struct policy_cohort *c, uint32_t count, uint32_t id)
{
    uint32_t steps = 0;
    for (; id != POLICY_NONE; id = c[id].parent)
        if (steps++ > count)
            return true;
    return false;
}

static void link_cohorts(struct mf *r)
{
    struct policy_config *cfg = &r->m->config;
    const uint32_t n = mf_id_count(&r->cohorts);
    const char **names = names_of(r, &r->cohorts);
    struct policy_cohort *c = copy(r, r->cohort, r->cohort_capacity, n, sizeof *c);
    for (uint32_t i = 0; i < n; i++) {
        if (!mf_defined(&r->cohorts, i)) /* only named: no quota, no limits */
            c[i] = (struct policy_cohort){.parent = POLICY_NONE, .weight = 1.0};
        c[i].name = names[i];
    }
    cfg->cohorts = c;
    cfg->cohort_count = n;
    for (uint32_t i = 0; i < n; i++)
        if (in_circle(c, n, i)) {
            mf_about(r, "Cohort", names[i], &r->cohorts, i);
            mf_warn(r, NULL, "spec.parentName", "its parents run in a circle (\"%s\"): all ClusterQueues "
                    "of the structure are inactive", c[i].parent == POLICY_NONE ? "" : names[c[i].parent]);
        }
}

/* ---- flavors, topologies, nodes ---- */

static void link_flavors(struct mf *r)
{
    struct policy_config *cfg = &r->m->config;
    cfg->flavor_count = mf_id_count(&r->flavors);
    struct policy_flavor *f =
        copy(r, r->flavor, r->flavor_capacity, cfg->flavor_count, sizeof *f);
    for (uint32_t i = 0; i < cfg->flavor_count; i++)
        f[i].name = mf_defined(&r->flavors, i) ? mf_keep(r, mf_id_name(&r->flavors, i)) : NULL;
    cfg->flavors = f;
    cfg->topology_count = mf_id_count(&r->topologies);
    struct policy_topology *t =
        copy(r, r->topology, r->topology_capacity, cfg->topology_count, sizeof *t);
    for (uint32_t i = 0; i < cfg->topology_count; i++)
        t[i].name = mf_defined(&r->topologies, i) ? mf_keep(r, mf_id_name(&r->topologies, i)) : NULL;
    cfg->topologies = t;
    cfg->node_count = mf_id_count(&r->nodes);
    struct policy_node *n = copy(r, r->node, r->node_capacity, cfg->node_count, sizeof *n);
    for (uint32_t i = 0; i < cfg->node_count; i++)
        n[i].name = mf_keep(r, mf_id_name(&r->nodes, i));
    cfg->nodes = n;
}

/* ---- cluster queues ---- */

struct reasons {
    char text[400];
    size_t length;
};

static void because(struct reasons *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void because(struct reasons *s, const char *fmt, ...)
{
    const size_t left = sizeof s->text - s->length;
    char one[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(one, sizeof one, fmt, ap);
    va_end(ap);
    const int n = snprintf(s->text + s->length, left, "%s%s", s->length == 0 ? "" : ", ", one);
    s->length += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left - 1;
}

static void missing_flavors(struct mf *r, const struct policy_cluster_queue *q, struct reasons *s)
{
    const struct policy_config *cfg = &r->m->config;
    for (uint32_t g = 0; g < q->group_count; g++)
        for (uint32_t f = 0; f < q->groups[g].flavor_count; f++) {
            const uint32_t id = q->groups[g].flavors[f];
            if (id == POLICY_NONE)
                continue;
            const struct policy_flavor *flavor = &cfg->flavors[id];
            if (flavor->name == NULL)
                because(s, "references missing ResourceFlavor(s): %.80s", mf_id_name(&r->flavors, id));
            else if (flavor->topology != POLICY_NONE && cfg->topologies[flavor->topology].name == NULL)
                because(s, "there is no Topology \"%.60s\" for TAS flavor \"%.60s\"",
                        mf_id_name(&r->topologies, flavor->topology), flavor->name);
        }
}

static void checks(struct mf *r, uint32_t id, struct policy_cluster_queue *q, struct reasons *s)
{
    for (const struct mnode *c = mnode_first(r->queue[id].checks); c != NULL; c = c->next) {
        const char *name = c->kind == MNODE_MAP ? mnode_text(c, "name", "") : c->text;
        const uint32_t check = mf_id_find(&r->checks, name);
        r->m->queues[id].has_checks = true;
        if (!mf_defined(&r->checks, check))
            because(s, "references missing AdmissionCheck(s): %.80s", name);
        else if (r->check_inactive[check])
            because(s, "references inactive AdmissionCheck(s): %.80s", name);
        else
            continue;
        q->inactive = true;
    }
}

static void link_queue(struct mf *r, uint32_t id, struct policy_cluster_queue *q)
{
    const struct policy_config *cfg = &r->m->config;
    struct reasons s = {.length = 0};
    q->name = mf_keep(r, q->name);
    if (q->stop != POLICY_RUN)
        because(&s, "is stopped");
    missing_flavors(r, q, &s);
    checks(r, id, q, &s);
    if (q->cohort != POLICY_NONE && in_circle(cfg->cohorts, cfg->cohort_count, q->cohort))
        because(&s, "the cohort \"%.80s\" is part of a cycle", mf_id_name(&r->cohorts, q->cohort));
    if (s.length == 0)
        return;
    r->m->queues[id].inactive = arena_printf(&r->m->mem, "Can't admit new workloads: %s.", s.text);
    mf_warn(r, NULL, NULL, "inactive: %s", r->m->queues[id].inactive);
}

static void link_queues(struct mf *r)
{
    struct policy_config *cfg = &r->m->config;
    const uint32_t n = mf_id_count(&r->queues);
    struct policy_cluster_queue *q = arena_alloc(&r->m->mem, (size_t)n + 1, sizeof *q);
    r->m->queues = arena_alloc(&r->m->mem, (size_t)n + 1, sizeof *r->m->queues);
    for (uint32_t i = 0; i < n; i++) {
        q[i].cohort = POLICY_NONE;
        if (!mf_defined(&r->queues, i))
            continue;
        q[i] = r->queue[i].queue;
        mf_about(r, "ClusterQueue", mf_id_name(&r->queues, i), &r->queues, i);
        link_queue(r, i, &q[i]);
        if (q[i].namespace_selector == NULL)
            mf_warn(r, NULL, "spec.namespaceSelector", "is not set: no namespace matches");
    }
    cfg->cluster_queues = q;
    cfg->cluster_queue_count = n;
}

/* ---- local queues ---- */

static bool selects(const struct policy_cluster_queue *q)
{
    const struct policy_selector *s = q->namespace_selector;
    return s != NULL && s->label_count + s->expr_count > 0;
}

static void name_space_labels(struct mf *r, struct policy_local_queue *q, uint32_t space)
{
    if (mf_defined(&r->namespaces, space)) {
        q->namespace_labels = r->name_space_of[space].labels;
        q->namespace_label_count = r->name_space_of[space].label_count;
        return;
    }
    struct policy_label *l = arena_alloc(&r->m->mem, 1, sizeof *l);
    *l = (struct policy_label){"kubernetes.io/metadata.name", mf_keep(r, mf_id_name(&r->namespaces, space))};
    q->namespace_labels = l;
    q->namespace_label_count = 1;
}

static void link_locals(struct mf *r)
{
    struct policy_config *cfg = &r->m->config;
    const uint32_t n = mf_id_count(&r->locals);
    struct policy_local_queue *q = arena_alloc(&r->m->mem, (size_t)n + 1, sizeof *q);
    r->m->local_queue_keys = names_of(r, &r->locals);
    for (uint32_t i = 0; i < n; i++) {
        if (!mf_defined(&r->locals, i))
            continue;
        q[i] = r->local[i].queue;
        name_space_labels(r, &q[i], r->local[i].name_space);
        mf_about(r, "LocalQueue", r->m->local_queue_keys[i], &r->locals, i);
        const uint32_t cq = q[i].cluster_queue;
        if (cq == POLICY_NONE || cfg->cluster_queues[cq].name == NULL) {
            mf_warn(r, NULL, "spec.clusterQueue", "inactive: Can't submit new workloads to clusterQueue "
                    "(\"%.60s\" doesn't exist)", mf_id_name(&r->queues, cq));
            q[i].name = NULL; /* the policy is not told of it */
        } else if (!mf_defined(&r->namespaces, r->local[i].name_space) && selects(&cfg->cluster_queues[cq])) {
            mf_warn(r, NULL, NULL, "Namespace '%.60s' is not among the objects: it is taken to have no "
                    "labels but its name", mf_id_name(&r->namespaces, r->local[i].name_space));
        }
    }
    cfg->local_queues = q;
    cfg->local_queue_count = n;
}

/* ---- resources ---- */

static void link_resources(struct mf *r)
{
    static const char *const mains[] = {"nvidia.com/gpu", "amd.com/gpu"};
    struct policy_config *cfg = &r->m->config;
    struct manifest *m = r->m;
    if (cfg->admission_fair_sharing.on) {
        const uint32_t n = mf_id_count(&r->resources);
        double *w = arena_alloc(&m->mem, (size_t)n + 1, sizeof *w);
        for (uint32_t i = 0; i < n; i++)
            w[i] = 1.0;
        for (const struct mnode *x = mnode_first(r->weights); x != NULL; x = x->next)
            quantity_real(x->text, &w[mf_id(&r->resources, x->key)]);
        cfg->admission_fair_sharing.resource_weights = w;
    }
    cfg->resources = names_of(r, &r->resources);
    cfg->resource_count = mf_id_count(&r->resources);
    bool *covered = arena_alloc(&m->mem, (size_t)cfg->resource_count + 1, sizeof *covered);
    for (uint32_t i = 0; i < cfg->cluster_queue_count; i++)
        for (uint32_t g = 0; g < cfg->cluster_queues[i].group_count; g++)
            for (uint32_t k = 0; k < cfg->cluster_queues[i].groups[g].resource_count; k++)
                if (cfg->cluster_queues[i].groups[g].resources[k] != POLICY_NONE)
                    covered[cfg->cluster_queues[i].groups[g].resources[k]] = true;
    m->main_resource = POLICY_NONE;
    for (size_t i = 0; i < 2 && m->main_resource == POLICY_NONE; i++) {
        const uint32_t id = mf_id_find(&r->resources, mains[i]);
        if (id != POLICY_NONE && covered[id])
            m->main_resource = id;
    }
    for (uint32_t i = 0; i < cfg->resource_count && m->main_resource == POLICY_NONE; i++)
        if (covered[i] && (strstr(cfg->resources[i], "gpu") != NULL || strstr(cfg->resources[i], "mig-") != NULL))
            m->main_resource = i;
    const uint32_t cpu = mf_id_find(&r->resources, "cpu");
    if (m->main_resource == POLICY_NONE && cpu != POLICY_NONE && covered[cpu])
        m->main_resource = cpu;
    for (uint32_t i = 0; i < cfg->resource_count && m->main_resource == POLICY_NONE; i++)
        if (covered[i])
            m->main_resource = i;
    m->main_unit = m->main_resource != POLICY_NONE && m->main_resource == cpu ? 1000 : 1;
}

/* A covered resource that nobody provides and nobody asks for is most likely misspelt. */
static void warn_unknown_resources(struct mf *r)
{
    const struct policy_config *cfg = &r->m->config;
    bool *seen = arena_alloc(&r->tree, (size_t)cfg->resource_count + 1, sizeof *seen);
    for (uint32_t i = 0; i < cfg->node_count; i++)
        for (uint32_t k = 0; k < cfg->nodes[i].allocatable_count; k++)
            seen[cfg->nodes[i].allocatable[k].resource] = true;
    for (size_t i = 0; i < r->workload_count; i++)
        for (uint32_t s = 0; s < r->workloads[i].w.shape.pod_set_count; s++) {
            const struct policy_pod_set *p = &r->workloads[i].w.shape.pod_sets[s];
            for (uint32_t k = 0; k < p->request_count; k++)
                seen[p->requests[k].resource] = true;
        }
    for (uint32_t i = 0; i < cfg->cluster_queue_count; i++)
        for (uint32_t g = 0; g < cfg->cluster_queues[i].group_count; g++)
            for (uint32_t k = 0; k < cfg->cluster_queues[i].groups[g].resource_count; k++) {
                const uint32_t id = cfg->cluster_queues[i].groups[g].resources[k];
                if (id == POLICY_NONE || seen[id] || strcmp(cfg->resources[id], "pods") == 0)
                    continue;
                seen[id] = true;
                mf_about(r, "ClusterQueue", cfg->cluster_queues[i].name, &r->queues, i);
                mf_warn(r, NULL, NULL, "spec.resourceGroups[%u].coveredResources[%u]: no node provides and no "
                        "workload requests \"%.60s\"", (unsigned)g, (unsigned)k, cfg->resources[id]);
            }
}

void mf_link(struct mf *r)
{
    r->file = NULL;
    mf_out(r, 0);
    link_flavors(r);
    link_cohorts(r);
    link_queues(r);
    link_locals(r);
    link_resources(r);
    mf_link_workloads(r);
    if (r->workload_count > 0 || r->m->config.node_count > 0)
        warn_unknown_resources(r);
}
