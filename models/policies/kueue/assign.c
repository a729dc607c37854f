/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/assign.h"

#include <stdlib.h>
#include <string.h>

#include "models/policies/kueue/evaluation.h"
#include "models/policies/kueue/place.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/search.h"

enum { RESOURCES_MAX = 64 }; /* covered resources of a group, as the API limits them */

struct graded {
    enum kq_mode mode;
    uint32_t level;
};

struct pick { /* what one resource of the group got */
    struct graded grade;
    uint32_t flavor, fr;
    int8_t progress;
    bool done;
};

struct scan { /* one group of pod sets being assigned */
    struct kq *k;
    const struct kq_decide *d;
    struct kq_assign *a;
    const struct kq_plan_group *g;
    int64_t want[RESOURCES_MAX];
    struct pick picks[RESOURCES_MAX];
    bool all_fit;
};

void kq_assign_fini(struct kq_assign *a)
{
    free(a->cells);
    free(a->progress);
    free(a->counts);
    free(a->assigned);
    free(a->use);
    kq_ids_fini(&a->contested);
    free(a->places.sets);
    free(a->places.domains);
    free(a->tries);
    *a = (struct kq_assign){0};
}

static void begin(struct kq_assign *a, const struct kq_shape *s, const int64_t *counts)
{
    a->cells = mem_grow(a->cells, &a->cell_capacity, s->cell_count, sizeof *a->cells);
    a->progress = mem_grow(a->progress, &a->progress_capacity, s->cell_count, sizeof *a->progress);
    a->counts = mem_grow(a->counts, &a->set_capacity, s->set_count, sizeof *a->counts);
    a->assigned = mem_grow(a->assigned, &a->assigned_capacity, s->set_count, sizeof *a->assigned);
    memset(a->cells, 0, s->cell_count * sizeof *a->cells);
    memset(a->progress, KQ_NO_PROGRESS, s->cell_count);
    memcpy(a->counts, counts, s->set_count * sizeof *counts);
    memset(a->assigned, 0, s->set_count * sizeof *a->assigned);
    a->mode = POLICY_FIT;
    a->level = 0;
    a->sets_done = 0;
    a->try_count = 0;
    a->use_count = a->contested.count = 0;
    a->needs_place = a->places.valid = false;
    a->tried = a->why_fr = a->why_resource = POLICY_NONE;
    a->why_amount = 0;
    a->why_mode = KQ_FIT;
}

static int64_t use_on(const struct kq_assign *a, uint32_t fr)
{
    for (size_t i = 0; i < a->use_count; i++)
        if (a->use[i].fr == fr)
            return a->use[i].amount;
    return 0;
}

/* 4.5: a is strictly better than b. */
static bool preferred(const struct kq_cq *cq, struct graded a, struct graded b)
{
    if (a.mode == KQ_NO_FIT)
        return false;
    if (b.mode == KQ_NO_FIT)
        return true;
    if ((a.mode == KQ_NO_CANDIDATES) != (b.mode == KQ_NO_CANDIDATES))
        return b.mode == KQ_NO_CANDIDATES;
    if (cq->spec.preference == POLICY_PREEMPTION_OVER_BORROWING)
        return a.level != b.level ? a.level < b.level : a.mode > b.mode;
    return a.mode != b.mode ? a.mode > b.mode : a.level < b.level;
}

/* 4.2: the scan goes on behind a flavor of this grade. */
static bool try_next(const struct kq_cq *cq, struct graded m)
{
    if (m.mode == KQ_NO_FIT || m.mode == KQ_NO_CANDIDATES)
        return true;
    if (m.mode != KQ_FIT && cq->spec.when_can_preempt == POLICY_TRY_NEXT_FLAVOR)
        return true;
    return m.level > 0 && cq->spec.when_can_borrow == POLICY_TRY_NEXT_FLAVOR;
}

/* What preemption on one (flavor, resource) would bring. */
static struct graded with_preemption(struct scan *s, uint32_t fr, int64_t v, uint32_t level)
{
    struct kq *k = s->k;
    const struct kq_request want = {fr, v};
    const struct kq_search search = {.wl = s->d->wl,
                                     .cq = s->d->cq,
                                     .contested = &fr,
                                     .contested_count = 1,
                                     .want = &want,
                                     .want_count = 1};
    k->found_for = want;
    k->found_in = k->decisions;
    if (!kq_search_run(k, &search, &k->found))
        return (struct graded){KQ_NO_CANDIDATES, level};
    bool same = false, may_reclaim;
    for (size_t i = 0; i < k->found.count; i++) {
        kq_take(k, kq_wl(k, k->found.v[i].workload));
        same |= kq_wl(k, k->found.v[i].workload)->cq == s->d->cq->node.id;
    }
    level = kq_borrow_level(&s->d->cq->node, fr, v, &may_reclaim);
    for (size_t i = k->found.count; i-- > 0;)
        kq_put(k, kq_wl(k, k->found.v[i].workload));
    return (struct graded){same ? KQ_PREEMPT : KQ_RECLAIM, level};
}

static bool policy_on(enum policy_preemption p)
{
    return p != POLICY_NEVER_PREEMPT;
}

/* 4.4 */
static struct graded grade(struct scan *s, uint32_t fr, int64_t v)
{
    const struct kq_cq *cq = s->d->cq;
    const struct kq_quota *q = &cq->node.q[fr];
    bool may_reclaim;
    if (v > q->potential)
        return (struct graded){KQ_NO_FIT, 0};
    const uint32_t level = kq_borrow_level(&cq->node, fr, v, &may_reclaim);
    if (v <= kq_avail(cq, fr))
        return (struct graded){KQ_FIT, level};
    if (q->nominal >= v || may_reclaim || policy_on(cq->spec.borrow_within_cohort) ||
        (s->k->cfg.fair_sharing && policy_on(cq->spec.reclaim_within_cohort)))
        return with_preemption(s, fr, v, level);
    return (struct graded){KQ_NO_FIT, level};
}

static bool pinned_elsewhere(const struct scan *s, uint32_t r, uint32_t flavor)
{
    if (s->d->pin == NULL)
        return false;
    const struct kq_plan_resource *p = &s->g->resources[r];
    for (uint32_t i = 0; i < s->g->set_count; i++)
        if (p->cells[i] != POLICY_NONE && s->d->pin[p->cells[i]] == flavor)
            return false;
    return true;
}

/* Grades all requested resources of resource group rg on flavor f; the worst is returned. */
static struct graded grade_flavor(struct scan *s, uint32_t rg, uint32_t f, struct graded *grades)
{
    const struct kq_cq_group *group = &s->d->cq->groups[rg];
    struct graded worst = {KQ_FIT, 0};
    for (uint32_t r = 0; r < s->g->resource_count; r++) {
        const struct kq_plan_resource *p = &s->g->resources[r];
        if (p->group != (int32_t)rg)
            continue;
        const uint32_t fr = group->frs[(size_t)f * group->resource_count + p->slot];
        const int64_t v = kq_plus(use_on(s->a, fr), s->want[r]);
        grades[r] = grade(s, fr, v);
        if (s->k->cfg.record_reasons)
            kq_note_try(s->d->cq, s->a, fr, v, grades[r].mode, grades[r].level);
        if (grades[r].mode != KQ_FIT) {
            s->a->why_fr = fr;
            s->a->why_amount = v;
            s->a->why_mode = grades[r].mode;
        }
        if (preferred(s->d->cq, worst, grades[r]))
            worst = grades[r];
    }
    return worst;
}

static void keep_pick(struct scan *s, uint32_t rg, uint32_t f, const struct graded *grades)
{
    const struct kq_cq_group *group = &s->d->cq->groups[rg];
    for (uint32_t r = 0; r < s->g->resource_count; r++) {
        const struct kq_plan_resource *p = &s->g->resources[r];
        if (p->group != (int32_t)rg)
            continue;
        s->picks[r] = (struct pick){.grade = grades[r],
                                    .flavor = group->flavors[f],
                                    .fr = group->frs[(size_t)f * group->resource_count + p->slot],
                                    .done = true};
    }
}

/* Index at which the scan starts for resource r of this group (4.6). */
static uint32_t scan_start(const struct scan *s, uint32_t r)
{
    const struct kq_wl *w = s->d->wl;
    const uint32_t cell = s->g->resources[r].cells[0];
    if (!w->has_progress || !s->k->gate[KQ_FLAVOR_FUNGIBILITY] || cell == POLICY_NONE ||
        w->progress[cell] < 0)
        return 0;
    return (uint32_t)w->progress[cell] + 1;
}

/* 4.2 without the fungibility gate: the best mode, first of equals, until one fits. */
static bool takes_over(const struct scan *s, struct graded g, struct graded best)
{
    if (!s->k->gate[KQ_FLAVOR_FUNGIBILITY])
        return g.mode > best.mode;
    return !try_next(s->d->cq, g) || preferred(s->d->cq, g, best);
}

static bool scan_ends(const struct scan *s, struct graded g)
{
    if (!s->k->gate[KQ_FLAVOR_FUNGIBILITY])
        return g.mode == KQ_FIT;
    return !try_next(s->d->cq, g);
}

/* 4.2: chooses a flavor for all requested resources of the resource group of r. */
static bool choose(struct scan *s, uint32_t r)
{
    const uint32_t rg = (uint32_t)s->g->resources[r].group;
    const struct kq_cq_group *group = &s->d->cq->groups[rg];
    struct graded best = {KQ_NO_FIT, 0}, grades[RESOURCES_MAX];
    bool found = false;
    uint32_t attempted = group->flavor_count;
    for (uint32_t f = scan_start(s, r); f < group->flavor_count; f++) {
        attempted = f;
        if (pinned_elsewhere(s, r, group->flavors[f]) || !(s->g->flavor_ok[rg] >> f & 1))
            continue;
        s->a->tried = group->flavors[f];
        const struct graded g = grade_flavor(s, rg, f, grades);
        if (takes_over(s, g, best)) {
            best = g;
            found = true;
            keep_pick(s, rg, f, grades);
        }
        if (scan_ends(s, g))
            break;
    }
    if (!found)
        return false;
    s->all_fit = s->all_fit && best.mode == KQ_FIT;
    int8_t progress = attempted + 1 == group->flavor_count ? -1 : (int8_t)attempted;
    if (!s->k->gate[KQ_FLAVOR_FUNGIBILITY])
        progress = 0;
    for (uint32_t i = 0; i < s->g->resource_count; i++)
        if (s->g->resources[i].group == (int32_t)rg)
            s->picks[i].progress = progress;
    return true;
}

static void sum_wants(struct scan *s)
{
    const struct kq_shape *shape = s->d->shape;
    for (uint32_t r = 0; r < s->g->resource_count; r++) {
        const struct kq_plan_resource *p = &s->g->resources[r];
        s->want[r] = 0;
        s->picks[r].done = false;
        for (uint32_t i = 0; i < s->g->set_count; i++) {
            if (p->cells[i] == POLICY_NONE)
                continue;
            const uint32_t set = s->g->sets[i], cell = p->cells[i];
            const int64_t count = s->a->counts[set];
            const bool implicit = s->d->cq->covers_pods && cell == shape->pods_cell[set];
            s->a->cells[cell].amount =
                implicit ? count
                         : kq_times(shape->sets[set].requests[cell - shape->cell_base[set]].amount,
                                    count);
            s->want[r] = kq_plus(s->want[r], s->a->cells[cell].amount);
        }
    }
}

static void add_use(struct kq_assign *a, uint32_t fr, uint32_t flavor, uint32_t resource, int64_t v)
{
    for (size_t i = 0; i < a->use_count; i++)
        if (a->use[i].fr == fr) {
            a->use[i].amount = kq_plus(a->use[i].amount, v);
            return;
        }
    a->use = mem_grow(a->use, &a->use_capacity, a->use_count + 1, sizeof *a->use);
    a->use[a->use_count++] = (struct kq_use){v, fr, flavor, resource};
}

static void contest(struct kq_assign *a, uint32_t fr)
{
    for (size_t i = 0; i < a->contested.count; i++)
        if (a->contested.v[i] == fr)
            return;
    kq_ids_push(&a->contested, fr);
}

static void commit_cell(struct scan *s, uint32_t r, uint32_t cell)
{
    const struct pick *p = &s->picks[r];
    struct kq_assign *a = s->a;
    struct kq_cell *c = &a->cells[cell];
    c->flavor = p->flavor;
    c->fr = p->fr;
    c->level = p->grade.level;
    c->mode = (uint8_t)p->grade.mode;
    c->set = true;
    a->progress[cell] = p->progress;
    add_use(a, p->fr, p->flavor, s->g->resources[r].resource, c->amount);
    if (c->level > a->level)
        a->level = c->level;
    if (p->grade.mode == KQ_FIT)
        return;
    if (!s->all_fit)
        a->mode = POLICY_PREEMPT;
    contest(a, p->fr);
}

static void commit_group(struct scan *s)
{
    for (uint32_t i = 0; i < s->g->set_count; i++) {
        s->a->assigned[s->g->sets[i]] = true;
        s->a->sets_done++;
        for (uint32_t r = 0; r < s->g->resource_count; r++)
            if (s->picks[r].done && s->g->resources[r].cells[i] != POLICY_NONE)
                commit_cell(s, r, s->g->resources[r].cells[i]);
    }
}

static bool assign_group(struct scan *s)
{
    sum_wants(s);
    s->all_fit = true;
    for (uint32_t r = 0; r < s->g->resource_count; r++) {
        if (s->g->resources[r].group < 0) {
            if (s->want[r] == 0 ||
                (s->k->cfg.ignore_undeclared && s->k->gate[KQ_QUOTA_CHECK_STRATEGY]))
                continue;
            s->a->why_resource = s->g->resources[r].resource;
            s->a->why_amount = s->want[r];
            return false;
        }
        if (!s->picks[r].done && !choose(s, r))
            return false;
    }
    commit_group(s);
    return true;
}

void kq_assign_run(struct kq *k, const struct kq_decide *d, const int64_t *counts,
                   struct kq_assign *a)
{
    begin(a, d->shape, counts);
    struct scan s;
    s.k = k;
    s.d = d;
    s.a = a;
    for (uint32_t g = 0; g < d->plan->group_count; g++) {
        s.g = &d->plan->groups[g];
        if (assign_group(&s))
            continue;
        a->mode = POLICY_NO_FIT;
        break;
    }
    if (k->gate[KQ_TOPOLOGY] && (d->cq->has_topology || d->shape->topology))
        kq_place_assignment(k, d, a);
}

uint32_t kq_assign_topology_flavor(const struct kq *k, const struct kq_shape *s,
                                   const struct kq_assign *a, uint32_t set)
{
    const uint32_t end = s->cell_base[set] + s->sets[set].request_count + 1;
    for (uint32_t c = s->cell_base[set]; c < end; c++)
        if (a->cells[c].set && k->flavors[a->cells[c].flavor].topo != NULL)
            return a->cells[c].flavor;
    return POLICY_NONE;
}
