/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/place.h"

#include <string.h>

#include "models/policies/kueue/topology.h"

struct unit { /* pod sets that are placed together */
    uint32_t flavor, first, second; /* second: POLICY_NONE */
};

static bool same_group(const struct kq_shape *s, uint32_t a, uint32_t b)
{
    const char *x = s->sets[a].topology.group, *y = s->sets[b].topology.group;
    return x != NULL && y != NULL && x[0] != '\0' && strcmp(x, y) == 0;
}

/* Units by flavor name, then by first pod set. */
static size_t make_units(struct kq *k, const struct kq_shape *s, const struct kq_assign *a,
                         struct unit *units)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->set_count; i++) {
        if (!a->assigned[i] || a->counts[i] == 0)
            continue;
        const uint32_t flavor = kq_assign_topology_flavor(k, s, a, i);
        if (flavor == POLICY_NONE)
            continue;
        size_t u = 0;
        while (u < n && !(units[u].flavor == flavor && same_group(s, units[u].first, i)))
            u++;
        if (u < n) {
            if (units[u].second == POLICY_NONE)
                units[u].second = i;
            continue;
        }
        for (u = n++; u > 0 && strcmp(k->flavors[units[u - 1].flavor].spec.name,
                                      k->flavors[flavor].spec.name) > 0;
             u--)
            units[u] = units[u - 1];
        units[u] = (struct unit){flavor, i, POLICY_NONE};
    }
    return n;
}

static void begin(struct kq_places *p, uint32_t set_count)
{
    p->sets = mem_grow(p->sets, &p->set_capacity, set_count, sizeof *p->sets);
    for (uint32_t i = 0; i < set_count; i++)
        p->sets[i] = (struct kq_placement){.flavor = POLICY_NONE};
    p->domain_count = 0;
    p->valid = false;
}

struct assumed {
    struct kq_placed_use *v;
    size_t count;
};

static void note(struct kq *k, struct kq_places *p, uint32_t set, const struct unit *u,
                 struct assumed *assumed)
{
    struct kq_placement *at = &p->sets[set];
    at->flavor = u->flavor;
    at->count = (uint32_t)p->domain_count - at->first;
    struct kq_placed_use *more =
        kq_bump_alloc(&k->bump, assumed->count + at->count, sizeof *more);
    if (assumed->count > 0)
        memcpy(more, assumed->v, assumed->count * sizeof *more);
    for (uint32_t i = 0; i < at->count; i++)
        more[assumed->count + i] = (struct kq_placed_use){
            u->flavor, p->domains[at->first + i].leaf, set, p->domains[at->first + i].pods};
    assumed->v = more;
    assumed->count += at->count;
}

static bool place_unit(struct kq *k, const struct kq_shape *s, const struct kq_assign *a,
                       const struct unit *u, bool empty, struct kq_places *p,
                       struct assumed *assumed)
{
    uint32_t workers = u->first, leader = u->second, leaf = POLICY_NONE;
    if (leader != POLICY_NONE && a->counts[leader] > a->counts[workers]) {
        workers = u->second;
        leader = u->first;
    }
    const struct kq_find f = {.topo = k->flavors[u->flavor].topo,
                              .flavor = u->flavor,
                              .set = &s->sets[workers],
                              .leader = leader != POLICY_NONE ? &s->sets[leader] : NULL,
                              .count = a->counts[workers],
                              .empty = empty,
                              .assumed = assumed->v,
                              .assumed_count = assumed->count,
                              .shape = s};
    p->sets[workers].first = (uint32_t)p->domain_count;
    if (!kq_find_run(k, &f, p, &leaf))
        return false;
    note(k, p, workers, u, assumed);
    if (leader == POLICY_NONE)
        return true;
    p->sets[leader].first = (uint32_t)p->domain_count;
    if (leaf != POLICY_NONE) {
        p->domains = mem_grow(p->domains, &p->domain_capacity, p->domain_count + 1,
                              sizeof *p->domains);
        p->domains[p->domain_count++] = (struct kq_domain){leaf, 1};
    }
    note(k, p, leader, u, assumed);
    return true;
}

bool kq_place_sets(struct kq *k, const struct kq_shape *s, const struct kq_assign *a, bool empty,
                   struct kq_places *places)
{
    struct unit *units = kq_bump_alloc(&k->bump, s->set_count, sizeof *units);
    struct assumed assumed = {0};
    const size_t n = make_units(k, s, a, units);
    begin(places, s->set_count);
    for (size_t u = 0; u < n; u++)
        if (!place_unit(k, s, a, &units[u], empty, places, &assumed))
            return false;
    return places->valid = true;
}

static bool one_topology_flavor(const struct kq *k, const struct kq_shape *s,
                                const struct kq_assign *a, uint32_t set)
{
    const uint32_t one = kq_assign_topology_flavor(k, s, a, set);
    const uint32_t end = s->cell_base[set] + s->sets[set].request_count + 1;
    for (uint32_t c = s->cell_base[set]; c < end; c++)
        if (a->cells[c].set && k->flavors[a->cells[c].flavor].topo != NULL &&
            a->cells[c].flavor != one)
            return false;
    return one != POLICY_NONE;
}

static void contest_all(struct kq_assign *a, const struct kq_shape *s, uint32_t set)
{
    const uint32_t end = s->cell_base[set] + s->sets[set].request_count + 1;
    for (uint32_t c = s->cell_base[set]; c < end; c++) {
        bool there = !a->cells[c].set;
        for (size_t i = 0; !there && i < a->contested.count; i++)
            there = a->contested.v[i] == a->cells[c].fr;
        if (!there)
            kq_ids_push(&a->contested, a->cells[c].fr);
    }
}

void kq_place_assignment(struct kq *k, const struct kq_decide *d, struct kq_assign *a)
{
    const struct kq_shape *s = d->shape;
    bool any = false;
    if (a->mode == POLICY_NO_FIT)
        return;
    for (uint32_t i = 0; i < s->set_count; i++) {
        if (a->counts[i] == 0)
            continue;
        const bool wanted =
            s->sets[i].topology.mode != POLICY_TOPOLOGY_NONE || d->cq->topology_only;
        any |= kq_assign_topology_flavor(k, s, a, i) != POLICY_NONE;
        if (wanted && !one_topology_flavor(k, s, a, i)) {
            a->mode = POLICY_NO_FIT;
            return;
        }
    }
    if (!any || (a->mode == POLICY_FIT && kq_place_sets(k, s, a, false, &a->places)))
        return;
    a->mode = POLICY_PREEMPT;
    if (!kq_place_sets(k, s, a, true, &a->places)) {
        a->mode = POLICY_NO_FIT;
        return;
    }
    a->needs_place = true;
    for (uint32_t i = 0; i < s->set_count; i++)
        if (a->counts[i] != 0 && kq_assign_topology_flavor(k, s, a, i) != POLICY_NONE)
            contest_all(a, s, i);
}

static int64_t pods_on(const struct kq_topo *t, uint32_t leaf, const struct policy_pod_set *set)
{
    int64_t most = set->request_count == 0 ? 0 : INT32_MAX;
    for (uint32_t r = 0; r < set->request_count; r++) {
        const struct policy_amount *q = &set->requests[r];
        const size_t at = (size_t)leaf * t->resource_count + q->resource;
        const int64_t free = t->allocatable[at] - t->used[at];
        const int64_t n = q->amount <= 0 ? INT32_MAX : free < 0 ? 0 : free / q->amount;
        most = n < most ? n : most;
    }
    return most;
}

bool kq_place_still_fits(const struct kq *k, const struct kq_shape *s, const struct kq_assign *a)
{
    for (uint32_t i = 0; a->places.valid && i < s->set_count; i++) {
        const struct kq_placement *p = &a->places.sets[i];
        for (uint32_t d = 0; p->flavor != POLICY_NONE && d < p->count; d++) {
            const struct kq_domain *at = &a->places.domains[p->first + d];
            if (pods_on(k->flavors[p->flavor].topo, at->leaf, &s->sets[i]) < at->pods)
                return false;
        }
    }
    return true;
}
