/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a cluster queue sees a shape: what the assigner needs, worked out once. */
#include <string.h>

#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/select.h"
#include "models/policies/kueue/shape.h"
#include "models/policies/kueue/topology.h"
#include "sim/fnv.h"

/* Filter 4 of 4.3: selector and required affinity, restricted to the flavor's own label keys. */
static bool selector_allows(const struct policy_pod_set *p, const struct policy_flavor *f)
{
    for (uint32_t i = 0; i < p->node_selector_count; i++) {
        const char *v = kq_label(f->labels, f->label_count, p->node_selector[i].key);
        if (v != NULL && strcmp(v, p->node_selector[i].value) != 0)
            return false;
    }
    if (p->affinity_term_count == 0)
        return true;
    bool any = false;
    for (uint32_t t = 0; t < p->affinity_term_count; t++) {
        const struct policy_selector *term = &p->affinity_terms[t];
        bool all = true;
        uint32_t own = 0;
        for (uint32_t e = 0; e < term->expr_count; e++) {
            if (kq_label(f->labels, f->label_count, term->exprs[e].key) == NULL)
                continue;
            own++;
            all = all && kq_expr_matches(&term->exprs[e], f->labels, f->label_count);
        }
        if (own == 0)
            return true; /* a term that became empty satisfies the whole affinity */
        any = any || all;
    }
    return any;
}

/* Filter 2 of 4.3. */
static bool topology_allows(const struct kq *k, const struct kq_cq *cq,
                            const struct kq_cq_group *group, const struct kq_flavor *f,
                            const struct policy_pod_set *p)
{
    const bool explicit_request = p->topology.mode != POLICY_TOPOLOGY_NONE;
    const bool tas = f->spec.topology != POLICY_NONE;
    if (!k->gate[KQ_TOPOLOGY])
        return true;
    if (!explicit_request)
        return !tas || cq->topology_only;
    if (tas)
        return kq_topo_has_levels(k, f->spec.topology, &p->topology);
    for (uint32_t i = 0; i < p->request_count; i++)
        for (uint32_t r = 0; r < group->resource_count; r++)
            if (group->resources[r] == p->requests[i].resource)
                return false;
    return true;
}

static bool flavor_allows(const struct kq *k, const struct kq_cq *cq,
                          const struct kq_cq_group *group, uint32_t flavor,
                          const struct policy_pod_set *p)
{
    if (flavor >= k->flavor_count || !k->flavors[flavor].exists)
        return false;
    const struct kq_flavor *f = &k->flavors[flavor];
    return topology_allows(k, cq, group, f, p) &&
           kq_taints_tolerated(f->spec.taints, f->spec.taint_count, p->tolerations,
                               p->toleration_count, f->spec.tolerations,
                               f->spec.toleration_count) &&
           selector_allows(p, &f->spec);
}

static void filter_flavors(struct kq *k, const struct kq_cq *cq, const struct kq_shape *s,
                           struct kq_plan_group *g)
{
    g->flavor_ok = arena_alloc(&k->build, cq->group_count, sizeof *g->flavor_ok);
    for (uint32_t rg = 0; rg < cq->group_count; rg++)
        for (uint32_t f = 0; f < cq->groups[rg].flavor_count && f < 64; f++) {
            bool ok = true;
            for (uint32_t i = 0; ok && i < g->set_count; i++)
                ok = flavor_allows(k, cq, &cq->groups[rg], cq->groups[rg].flavors[f],
                                   &s->sets[g->sets[i]]);
            if (ok)
                g->flavor_ok[rg] |= UINT64_C(1) << f;
        }
}

static uint64_t name_hash(const struct kq *k, uint32_t resource)
{
    const char *name = k->resources[resource];
    return fnv_add(FNV_START, name, strlen(name));
}

static bool visited_before(const struct kq *k, uint32_t a, uint32_t b)
{
    const uint64_t x = name_hash(k, a), y = name_hash(k, b);
    return x != y ? x < y : strcmp(k->resources[a], k->resources[b]) < 0;
}

static struct kq_plan_resource *resource_of(struct kq *k, struct kq_plan_group *g, uint32_t resource)
{
    uint32_t at = 0;
    while (at < g->resource_count && g->resources[at].resource != resource &&
           visited_before(k, g->resources[at].resource, resource))
        at++;
    if (at < g->resource_count && g->resources[at].resource == resource)
        return &g->resources[at];
    for (uint32_t i = g->resource_count; i > at; i--)
        g->resources[i] = g->resources[i - 1];
    g->resource_count++;
    struct kq_plan_resource *r = &g->resources[at];
    *r = (struct kq_plan_resource){.resource = resource,
                                   .cells = arena_alloc(&k->build, g->set_count, sizeof *r->cells)};
    for (uint32_t i = 0; i < g->set_count; i++)
        r->cells[i] = POLICY_NONE;
    return r;
}

static int64_t full_request(const struct kq_cq *cq, const struct kq_shape *s,
                            const struct kq_plan_group *g, const struct kq_plan_resource *p)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < g->set_count; i++) {
        const uint32_t set = g->sets[i], cell = p->cells[i];
        if (cell == POLICY_NONE)
            continue;
        const struct policy_pod_set *pods = &s->sets[set];
        const bool implicit = cq->covers_pods && cell == s->pods_cell[set];
        sum = kq_plus(sum, implicit ? pods->count
                                    : kq_times(pods->requests[cell - s->cell_base[set]].amount,
                                               pods->count));
    }
    return sum;
}

static void add_resources(struct kq *k, const struct kq_cq *cq, const struct kq_shape *s,
                          struct kq_plan_group *g)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < g->set_count; i++)
        most += s->sets[g->sets[i]].request_count;
    g->resources = arena_alloc(&k->build, most, sizeof *g->resources);
    for (uint32_t i = 0; i < g->set_count; i++) {
        const uint32_t set = g->sets[i], base = s->cell_base[set];
        for (uint32_t r = 0; r < s->sets[set].request_count; r++)
            resource_of(k, g, s->cell_resource[base + r])->cells[i] = base + r;
        if (cq->covers_pods)
            resource_of(k, g, k->pods_resource)->cells[i] = s->pods_cell[set];
    }
    g->want = arena_alloc(&k->build, g->resource_count, sizeof *g->want);
    for (uint32_t r = 0; r < g->resource_count; r++) {
        struct kq_plan_resource *p = &g->resources[r];
        g->want[r] = full_request(cq, s, g, p);
        p->group = cq->group_of[p->resource];
        for (uint32_t i = 0; p->group >= 0 && i < cq->groups[p->group].resource_count; i++)
            if (cq->groups[p->group].resources[i] == p->resource)
                p->slot = i;
    }
}

/* Pod sets that share a podSetGroupName, in order of the first one. */
static uint32_t group_with(const struct kq_shape *s, const struct kq_plan *p, uint32_t set)
{
    const char *name = s->sets[set].topology.group;
    for (uint32_t g = 0; name != NULL && name[0] != '\0' && g < p->group_count; g++) {
        const char *other = s->sets[p->groups[g].sets[0]].topology.group;
        if (other != NULL && strcmp(other, name) == 0)
            return g;
    }
    return p->group_count;
}

struct kq_plan *kq_plan_make(struct kq *k, const struct kq_cq *cq, const struct kq_shape *s)
{
    struct kq_plan *p = arena_alloc(&k->build, 1, sizeof *p);
    p->groups = arena_alloc(&k->build, s->set_count, sizeof *p->groups);
    for (uint32_t set = 0; set < s->set_count; set++) {
        const uint32_t g = group_with(s, p, set);
        if (g == p->group_count) {
            p->groups[g].sets = arena_alloc(&k->build, s->set_count, sizeof(uint32_t));
            p->group_count++;
        }
        p->groups[g].sets[p->groups[g].set_count++] = set;
    }
    for (uint32_t g = 0; g < p->group_count; g++) {
        add_resources(k, cq, s, &p->groups[g]);
        filter_flavors(k, cq, s, &p->groups[g]);
    }
    return p;
}
