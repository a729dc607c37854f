/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One placement in a topology (spec 6.2): capacities, level, descent. */
#include <stdlib.h>
#include <string.h>

#include "models/policies/kueue/place.h"
#include "models/policies/kueue/select.h"
#include "models/policies/kueue/topology.h"

struct part { /* a domain with what it is to hold */
    uint32_t dom;
    int64_t pods;
    bool leader;
};

struct dom_list {
    uint32_t *v;
    size_t count, capacity;
};

struct kq_topo_scratch {
    struct dom_list order, rest;
    struct part *now, *next;
    size_t now_count, next_count, now_capacity, next_capacity;
};

struct finder {
    struct kq *k;
    const struct kq_find *f;
    struct kq_topo *t;
    struct kq_topo_scratch *s;
    uint32_t leaf_level, slice_level, level;
    int64_t size, need;
    int64_t inner[16]; /* inner slice size per level; 1 */
    bool best_fit;
};

void kq_topo_scratch_destroy(struct kq_topo_scratch *s)
{
    if (s == NULL)
        return;
    free(s->order.v);
    free(s->rest.v);
    free(s->now);
    free(s->next);
    free(s);
}

/* ---- phase 1: capacities ---- */

static bool node_takes(const struct kq *k, uint32_t node, const struct policy_pod_set *p,
                       const struct policy_flavor *flavor)
{
    const struct policy_node *n = &k->nodes[node].spec;
    if (!kq_taints_tolerated(n->taints, n->taint_count, p->tolerations, p->toleration_count,
                             flavor->tolerations, flavor->toleration_count))
        return false;
    const struct policy_selector own = {p->node_selector, NULL, p->node_selector_count, 0};
    if (!kq_selector_matches(&own, n->labels, n->label_count))
        return false;
    for (uint32_t t = 0; t < p->affinity_term_count; t++)
        if (kq_selector_matches(&p->affinity_terms[t], n->labels, n->label_count))
            return true;
    return p->affinity_term_count == 0;
}

static bool leaf_takes(const struct finder *x, uint32_t leaf)
{
    const struct kq_topo *t = x->t;
    if (!t->host)
        return true; /* the real placement does not look at nodes of other leaves */
    for (uint32_t i = t->first_node[leaf]; i < t->first_node[leaf + 1]; i++)
        if (!node_takes(x->k, t->nodes[i], x->f->set, &x->k->flavors[x->f->flavor].spec))
            return false;
    return true;
}

static int64_t request_of(const struct policy_pod_set *p, uint32_t resource)
{
    for (uint32_t r = 0; r < p->request_count; r++)
        if (p->requests[r].resource == resource)
            return p->requests[r].amount;
    return 0;
}

/* What one pod takes, its own "pods" included. */
static int64_t takes(const struct finder *x, const struct policy_pod_set *p, uint32_t resource)
{
    return request_of(p, resource) + (resource == x->k->pods_resource ? 1 : 0);
}

static int64_t free_of(const struct finder *x, uint32_t leaf, uint32_t resource)
{
    const size_t at = (size_t)leaf * x->t->resource_count + resource;
    int64_t free = x->t->allocatable[at] - (x->f->empty ? 0 : x->t->used[at]);
    for (size_t i = 0; i < x->f->assumed_count; i++) {
        const struct kq_placed_use *u = &x->f->assumed[i];
        if (kq_topo_seen_as(x->k, u->flavor, u->leaf, x->f->flavor) == leaf)
            free -= takes(x, &x->f->shape->sets[u->set], resource) * u->pods;
    }
    return free;
}

/* Pods of `p` that fit on the leaf beside one pod of `beside` (NULL: nothing). */
static int64_t room_for(const struct finder *x, uint32_t leaf, const struct policy_pod_set *p,
                        const struct policy_pod_set *beside)
{
    int64_t most = INT32_MAX;
    bool counted_pods = false;
    for (uint32_t r = 0; r <= p->request_count; r++) {
        const uint32_t resource =
            r < p->request_count ? p->requests[r].resource : x->k->pods_resource;
        if (resource == x->k->pods_resource) {
            if (counted_pods)
                continue;
            counted_pods = true;
        }
        const int64_t v = takes(x, p, resource);
        int64_t free = free_of(x, leaf, resource);
        if (beside != NULL)
            free -= takes(x, beside, resource);
        const int64_t n = v <= 0 ? INT32_MAX : free < 0 ? 0 : free / v;
        most = n < most ? n : most;
    }
    return most;
}

static void measure_leaf(struct finder *x, uint32_t leaf)
{
    struct kq_dom *d = &x->t->doms[x->leaf_level][leaf];
    d->pods = d->pods_leader = d->units = d->units_leader = 0;
    d->lead = false;
    if (!leaf_takes(x, leaf))
        return;
    const struct policy_pod_set *leader = x->f->leader;
    d->pods = d->pods_leader = room_for(x, leaf, x->f->set, NULL);
    d->lead = leader != NULL && room_for(x, leaf, leader, NULL) > 0;
    if (d->lead)
        d->pods_leader = room_for(x, leaf, x->f->set, leader);
}

static int64_t whole(int64_t pods, int64_t z)
{
    return pods / z * z;
}

static void measure_parent(struct finder *x, uint32_t level, struct kq_dom *d)
{
    const int64_t z = x->inner[level + 1];
    int64_t loss = INT64_MAX, unit_loss = INT64_MAX;
    d->pods = d->units = 0;
    d->lead = false;
    for (uint32_t i = 0; i < d->child_count; i++) {
        const struct kq_dom *c = &x->t->doms[level + 1][d->first_child + i];
        d->pods += whole(c->pods, z);
        d->units += c->units;
        d->lead |= c->lead;
        if (x->f->leader != NULL && !c->lead)
            continue;
        const int64_t l = whole(c->pods, z) - whole(c->pods_leader, z);
        const int64_t u = c->units - c->units_leader;
        loss = l < loss ? l : loss;
        unit_loss = u < unit_loss ? u : unit_loss;
    }
    d->pods_leader = loss == INT64_MAX ? 0 : d->pods - loss;
    d->units_leader = unit_loss == INT64_MAX ? 0 : d->units - unit_loss;
}

static void measure(struct finder *x)
{
    for (uint32_t level = x->leaf_level + 1; level-- > 0;)
        for (uint32_t i = 0; i < x->t->dom_counts[level]; i++) {
            struct kq_dom *d = &x->t->doms[level][i];
            if (level == x->leaf_level)
                measure_leaf(x, i);
            else
                measure_parent(x, level, d);
            if (level == x->slice_level) {
                d->units = d->pods / x->size;
                d->units_leader = d->pods_leader / x->size;
            }
        }
}

/* ---- orders ---- */

static bool before(const struct finder *x, uint32_t a, uint32_t b, bool by_leader)
{
    const struct kq_dom *p = &x->t->doms[x->level][a], *q = &x->t->doms[x->level][b];
    if (by_leader && p->lead != q->lead)
        return p->lead;
    const int64_t u = by_leader ? p->units_leader : p->units;
    const int64_t v = by_leader ? q->units_leader : q->units;
    if (u != v)
        return x->best_fit ? u > v : u < v;
    const int64_t m = by_leader ? p->pods_leader : p->pods;
    const int64_t n = by_leader ? q->pods_leader : q->pods;
    if (m != n)
        return m < n;
    return a < b; /* domains are sorted by level values */
}

static void sort(const struct finder *x, uint32_t *v, size_t n, bool by_leader)
{
    for (size_t gap = n / 2; gap > 0; gap /= 2) /* Shell; the order is total */
        for (size_t i = gap; i < n; i++) {
            const uint32_t d = v[i];
            size_t j = i;
            for (; j >= gap && before(x, d, v[j - gap], by_leader); j -= gap)
                v[j] = v[j - gap];
            v[j] = d;
        }
}

static void push(struct dom_list *l, uint32_t d)
{
    l->v = mem_grow(l->v, &l->capacity, l->count + 1, sizeof *l->v);
    l->v[l->count++] = d;
}

static void push_part(struct finder *x, struct part p)
{
    struct kq_topo_scratch *s = x->s;
    s->next = mem_grow(s->next, &s->next_capacity, s->next_count + 1, sizeof *s->next);
    s->next[s->next_count++] = p;
}

static void next_parts(struct finder *x)
{
    struct kq_topo_scratch *s = x->s;
    struct part *v = s->now;
    const size_t capacity = s->now_capacity;
    s->now = s->next;
    s->now_capacity = s->next_capacity;
    s->now_count = s->next_count;
    s->next = v;
    s->next_capacity = capacity;
    s->next_count = 0;
}

enum measure_kind { UNITS, PODS };

static int64_t held(const struct finder *x, uint32_t d, enum measure_kind kind, bool leader)
{
    const struct kq_dom *p = &x->t->doms[x->level][d];
    if (kind == UNITS)
        return leader ? p->units_leader : p->units;
    return leader ? p->pods_leader : p->pods;
}

/* Smallest of v[from..] that holds n (and the leader); v[from] if none does. */
static uint32_t smallest(const struct finder *x, const struct dom_list *l, size_t from, int64_t n,
                         enum measure_kind kind, bool count_leader, bool lead)
{
    uint32_t best = POLICY_NONE;
    for (size_t i = from; i < l->count; i++) {
        const int64_t c = held(x, l->v[i], kind, count_leader);
        if (c < n || (lead && !x->t->doms[x->level][l->v[i]].lead))
            continue;
        if (best == POLICY_NONE || c < held(x, best, kind, count_leader))
            best = l->v[i];
    }
    return best == POLICY_NONE ? l->v[from] : best;
}

/* The first domain that can lead without losing too much moves to the front. */
static void leader_first(const struct finder *x, struct dom_list *l, int64_t n,
                         enum measure_kind kind)
{
    int64_t slack = -n;
    for (size_t i = 0; i < l->count; i++)
        slack += held(x, l->v[i], kind, false);
    for (size_t i = 0; i < l->count; i++) {
        const uint32_t d = l->v[i];
        if (!x->t->doms[x->level][d].lead ||
            held(x, d, kind, false) - held(x, d, kind, true) > slack)
            continue;
        memmove(l->v + 1, l->v, i * sizeof *l->v);
        l->v[0] = d;
        return;
    }
}

/* ---- phase 2b ---- */

/* Hands n units of z pods out over the list, in order; appends to the next parts. */
static void share(struct finder *x, struct dom_list *l, int64_t n, bool leader, int64_t z,
                  enum measure_kind kind)
{
    const size_t start = x->s->next_count;
    if (leader)
        leader_first(x, l, n, kind);
    for (size_t i = 0; i < l->count; i++) {
        uint32_t d = l->v[i];
        const bool lead = x->t->doms[x->level][d].lead;
        int64_t c = held(x, d, kind, leader);
        if (c >= n && (lead || !leader)) {
            if (x->best_fit)
                d = smallest(x, l, i, n, kind, leader, leader);
            push_part(x, (struct part){d, n * z, leader});
            return;
        }
        c = c < n ? c : n;
        push_part(x, (struct part){d, c * z, leader && lead});
        n -= c;
        leader = leader && !lead;
    }
    x->s->next_count = start; /* ran out: nobody gets anything */
}

static void list_children(struct finder *x, struct dom_list *l, uint32_t parent)
{
    const struct kq_dom *p = &x->t->doms[x->level - 1][parent];
    for (uint32_t i = 0; i < p->child_count; i++)
        push(l, p->first_child + i);
}

static void descend_slices(struct finder *x)
{
    struct kq_topo_scratch *s = x->s;
    const uint32_t last = x->leaf_level < x->slice_level ? x->leaf_level : x->slice_level;
    while (x->level < last) {
        x->level++;
        s->order.count = 0;
        for (size_t i = 0; i < s->now_count; i++)
            list_children(x, &s->order, s->now[i].dom);
        sort(x, s->order.v, s->order.count, false);
        share(x, &s->order, x->need, x->f->leader != NULL, x->size, UNITS);
        next_parts(x);
    }
}

static void descend_pods(struct finder *x)
{
    struct kq_topo_scratch *s = x->s;
    while (x->level < x->leaf_level) {
        x->level++;
        const int64_t z = x->inner[x->level];
        for (size_t i = 0; i < s->now_count; i++) {
            s->order.count = 0;
            list_children(x, &s->order, s->now[i].dom);
            sort(x, s->order.v, s->order.count, false);
            for (size_t c = 0; z > 1 && c < s->order.count; c++) {
                struct kq_dom *d = &x->t->doms[x->level][s->order.v[c]];
                d->units = d->pods / z;
                d->units_leader = d->pods_leader / z;
            }
            share(x, &s->order, s->now[i].pods / z, s->now[i].leader, z, z > 1 ? UNITS : PODS);
        }
        next_parts(x);
    }
}

/* ---- phase 2a ---- */

static void take_whole(struct finder *x, uint32_t d)
{
    push(&x->s->rest, d);
}

/* Spreads over several domains of the level; the chosen ones end up in s->rest. */
static bool spread(struct finder *x)
{
    struct dom_list *l = &x->s->order;
    int64_t rest = x->need;
    size_t first = 0;
    x->s->rest.count = 0;
    if (x->f->leader != NULL) {
        leader_first(x, l, rest, UNITS);
        if (!x->t->doms[x->level][l->v[0]].lead)
            return false;
        take_whole(x, l->v[0]);
        rest -= held(x, l->v[0], UNITS, true);
        first = 1;
    }
    sort(x, l->v + first, l->count - first, false);
    for (size_t i = first; i < l->count && rest > 0; i++) {
        uint32_t d = l->v[i];
        if (x->best_fit && held(x, d, UNITS, false) >= rest)
            d = smallest(x, l, i, rest, UNITS, false, false);
        take_whole(x, d);
        rest -= held(x, d, UNITS, false);
    }
    return rest <= 0;
}

/* The one domain of the level that holds everything; POLICY_NONE. */
static uint32_t single(struct finder *x)
{
    struct dom_list *l = &x->s->order;
    const bool lead = x->f->leader != NULL;
    for (size_t i = 0; i < l->count; i++) {
        const struct kq_dom *d = &x->t->doms[x->level][l->v[i]];
        if (d->units_leader < x->need || (lead && !d->lead))
            continue;
        return x->best_fit ? smallest(x, l, i, x->need, UNITS, true, lead) : l->v[i];
    }
    return POLICY_NONE;
}

static bool choose_level(struct finder *x)
{
    const enum policy_topology_mode mode = x->f->set->topology.mode;
    for (;; x->level--) {
        struct dom_list *l = &x->s->order;
        l->count = 0;
        for (uint32_t i = 0; i < x->t->dom_counts[x->level]; i++)
            push(l, i);
        if (l->count == 0)
            return false;
        sort(x, l->v, l->count, true);
        const uint32_t one = single(x);
        if (one != POLICY_NONE) {
            x->s->rest.count = 0;
            take_whole(x, one);
            return true;
        }
        if (mode == POLICY_TOPOLOGY_REQUIRED)
            return false;
        if (mode != POLICY_TOPOLOGY_PREFERRED || x->level == 0)
            return spread(x);
    }
}

static bool slice_layers(struct finder *x)
{
    const struct policy_topology_request *r = &x->f->set->topology;
    x->slice_level = x->leaf_level;
    x->size = 1;
    for (uint32_t i = 0; i < 16; i++)
        x->inner[i] = 1;
    if (r->slice_count == 0)
        return true;
    x->slice_level = kq_topo_level(x->t, r->slices[0].level);
    x->size = r->slices[0].size;
    for (uint32_t i = 1; x->k->gate[KQ_TOPOLOGY_LAYERS] && i < r->slice_count; i++) {
        const uint32_t up = kq_topo_level(x->t, r->slices[i - 1].level);
        const uint32_t low = kq_topo_level(x->t, r->slices[i].level);
        if (low == POLICY_NONE || up == POLICY_NONE || r->slices[i].size <= 0)
            return false;
        for (uint32_t l = up + 1; l <= low; l++)
            x->inner[l] = r->slices[i].size;
    }
    return x->slice_level != POLICY_NONE && x->size > 0;
}

static bool start_level(struct finder *x)
{
    const struct policy_topology_request *r = &x->f->set->topology;
    const bool named =
        r->mode == POLICY_TOPOLOGY_REQUIRED || r->mode == POLICY_TOPOLOGY_PREFERRED;
    x->best_fit = named || !x->k->gate[KQ_TOPOLOGY_MIXED];
    x->level = named ? kq_topo_level(x->t, r->level) : r->slice_count > 0 ? 0 : x->leaf_level;
    return x->level != POLICY_NONE && x->level <= x->slice_level;
}

static void emit(struct finder *x, struct kq_places *out, uint32_t *leader)
{
    const struct kq_topo_scratch *s = x->s;
    const size_t first = out->domain_count;
    for (size_t i = 0; i < s->now_count; i++) {
        if (s->now[i].leader && *leader == POLICY_NONE)
            *leader = s->now[i].dom;
        if (s->now[i].pods == 0)
            continue;
        out->domains = mem_grow(out->domains, &out->domain_capacity, out->domain_count + 1,
                                sizeof *out->domains);
        size_t at = out->domain_count++;
        for (; at > first && out->domains[at - 1].leaf > s->now[i].dom; at--)
            out->domains[at] = out->domains[at - 1];
        out->domains[at] = (struct kq_domain){s->now[i].dom, s->now[i].pods};
    }
}

bool kq_find_run(struct kq *k, const struct kq_find *f, struct kq_places *out, uint32_t *leader)
{
    if (k->topo_scratch == NULL)
        k->topo_scratch = mem_zalloc(1, sizeof *k->topo_scratch);
    struct finder x = {.k = k, .f = f, .t = f->topo, .s = k->topo_scratch};
    x.leaf_level = x.t->level_count - 1;
    *leader = POLICY_NONE;
    if (!slice_layers(&x) || !start_level(&x))
        return false;
    x.need = f->count / x.size;
    measure(&x);
    if (!choose_level(&x))
        return false;
    x.s->next_count = 0;
    x.s->order.count = 0;
    for (size_t i = 0; i < x.s->rest.count; i++)
        push(&x.s->order, x.s->rest.v[i]);
    share(&x, &x.s->order, x.need, f->leader != NULL, x.size, UNITS);
    next_parts(&x);
    descend_slices(&x);
    descend_pods(&x);
    emit(&x, out, leader);
    return true;
}
