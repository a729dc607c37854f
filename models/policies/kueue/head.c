/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of a queue, and whether quota alone would let it in: for alarms and for checks. */
#include "models/policies/kueue/query.h"

#include "models/policies/kueue/group.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/shape.h"

enum { USES_MAX = 64 };

struct fit { /* a gang tried on the quota of its own queue, or on what the queue could ever use */
    const struct kq *k;
    const struct kq_cq *cq;
    const struct kq_shape *shape;
    bool ever;
    struct kq_request uses[USES_MAX]; /* of the pod sets that have flavors already */
    uint32_t use_count;
    struct policy_numbers *numbers;
    bool told;
};

static const struct kq_cq *queue_of(const struct kq *k, uint32_t id)
{
    return id < k->cq_count && k->cqs[id] != NULL && k->cqs[id]->exists ? k->cqs[id] : NULL;
}

static int64_t used_before(const struct fit *f, uint32_t fr)
{
    for (uint32_t i = 0; i < f->use_count; i++)
        if (f->uses[i].fr == fr)
            return f->uses[i].amount;
    return 0;
}

static void use(struct fit *f, uint32_t fr, int64_t amount)
{
    for (uint32_t i = 0; i < f->use_count; i++)
        if (f->uses[i].fr == fr) {
            f->uses[i].amount = kq_plus(f->uses[i].amount, amount);
            return;
        }
    if (f->use_count < USES_MAX)
        f->uses[f->use_count++] = (struct kq_request){fr, amount};
}

static int64_t bound(const struct fit *f, uint32_t fr)
{
    const struct kq_quota *q = &f->cq->node.q[fr];
    return f->ever ? q->potential : kq_minus(q->nominal, q->use);
}

static void tell(struct fit *f, uint32_t fr, int64_t requested)
{
    const struct kq_quota *q = &f->cq->node.q[fr];
    const struct kq_fr *id = &f->cq->node.tree->frs[fr];
    *f->numbers = (struct policy_numbers){.flavor = id->flavor, .resource = id->resource, .requested = requested,
                                          .available = kq_avail(f->cq, fr), .potential = q->potential,
                                          .nominal = q->nominal, .used = q->use, .subtree = q->subtree,
                                          .borrowing_limit = q->borrow, .lending_limit = q->lend};
}

/* What the resource asks for at least: the smallest gang when the question is whether it can ever fit. */
static int64_t asked(const struct fit *f, const struct kq_plan_group *g, uint32_t r)
{
    const struct kq_plan_resource *p = &g->resources[r];
    int64_t sum = 0;
    if (!f->ever || !f->shape->reducible || !f->k->gate[KQ_PARTIAL_ADMISSION])
        return g->want[r];
    for (uint32_t i = 0; i < g->set_count; i++) {
        const uint32_t set = g->sets[i], cell = p->cells[i];
        const struct policy_pod_set *pods = &f->shape->sets[set];
        const int64_t count = pods->min_count == POLICY_NIL ? pods->count : pods->min_count;
        if (cell == POLICY_NONE)
            continue;
        const bool implicit = f->cq->covers_pods && cell == f->shape->pods_cell[set];
        sum = kq_plus(sum, implicit ? count
                                    : kq_times(pods->requests[cell - f->shape->cell_base[set]].amount, count));
    }
    return sum;
}

/* The requests of resource group rg on its flavor i; what is too little goes to the numbers, of the
 * flavor that has most. */
static bool flavor_fits(struct fit *f, const struct kq_plan_group *g, uint32_t rg, uint32_t i)
{
    const struct kq_cq_group *group = &f->cq->groups[rg];
    for (uint32_t r = 0; r < g->resource_count; r++) {
        const struct kq_plan_resource *p = &g->resources[r];
        if (p->group != (int32_t)rg)
            continue;
        const uint32_t fr = group->frs[(size_t)i * group->resource_count + p->slot];
        const int64_t v = kq_plus(f->ever ? 0 : used_before(f, fr), asked(f, g, r));
        if (v <= bound(f, fr))
            continue;
        if (!f->told || f->numbers->resource != p->resource || f->numbers->potential < f->cq->node.q[fr].potential)
            tell(f, fr, v);
        f->told = true;
        return false;
    }
    return true;
}

static void take(struct fit *f, const struct kq_plan_group *g, uint32_t rg, uint32_t i)
{
    const struct kq_cq_group *group = &f->cq->groups[rg];
    for (uint32_t r = 0; r < g->resource_count; r++) {
        const struct kq_plan_resource *p = &g->resources[r];
        if (p->group != (int32_t)rg)
            continue;
        const uint32_t fr = group->frs[(size_t)i * group->resource_count + p->slot];
        use(f, fr, g->want[r]);
        if (!f->told && g->want[r] > 0)
            tell(f, fr, g->want[r]);
    }
}

static bool group_fits(struct fit *f, const struct kq_plan_group *g, uint32_t rg)
{
    for (uint32_t i = 0; i < f->cq->groups[rg].flavor_count && i < 64; i++)
        if ((g->flavor_ok[rg] >> i & 1) != 0 && flavor_fits(f, g, rg, i)) {
            f->told = false;
            take(f, g, rg, i);
            f->told = true;
            return true;
        }
    return false;
}

static bool wants_of(const struct kq_plan_group *g, uint32_t rg)
{
    for (uint32_t r = 0; r < g->resource_count; r++)
        if (g->resources[r].group == (int32_t)rg)
            return true;
    return false;
}

static bool covered(struct fit *f, const struct kq_plan_group *g)
{
    for (uint32_t r = 0; r < g->resource_count; r++) {
        if (g->resources[r].group >= 0 || g->want[r] == 0 ||
            (f->k->cfg.ignore_undeclared && f->k->gate[KQ_QUOTA_CHECK_STRATEGY]))
            continue;
        f->numbers->flavor = POLICY_NONE;
        f->numbers->resource = g->resources[r].resource;
        f->numbers->requested = g->want[r];
        return false;
    }
    return true;
}

static bool fits(struct fit *f, const struct kq_plan *plan)
{
    *f->numbers = (struct policy_numbers){.flavor = POLICY_NONE, .resource = POLICY_NONE,
                                          .borrowing_limit = POLICY_NIL, .lending_limit = POLICY_NIL};
    for (uint32_t g = 0; g < plan->group_count; g++) {
        if (!covered(f, &plan->groups[g]))
            return false;
        for (uint32_t rg = 0; rg < f->cq->group_count; rg++) {
            f->told = false;
            if (wants_of(&plan->groups[g], rg) && !group_fits(f, &plan->groups[g], rg))
                return false;
        }
    }
    return true;
}

/* ---- the head ---- */

static bool stands_before(const struct kq *k, const struct kq_cq *cq, uint32_t a, uint32_t b)
{
    const struct kq_wl *p = kq_wl(k, a), *q = kq_wl(k, b);
    const bool x = cq->preemptor_sticky && cq->preemptor == a, y = cq->preemptor_sticky && cq->preemptor == b;
    if (x != y)
        return x;
    if (p->priority != q->priority)
        return p->priority > q->priority;
    return kq_earlier(p, q);
}

static uint32_t first_of(const struct kq *k, const struct kq_cq *cq)
{
    uint32_t best = kq_top(k, cq);
    if (k->suspended && cq->entry.workload < k->chunk_count << KQ_CHUNK_BITS &&
        kq_wl(k, cq->entry.workload)->place == POLICY_PLACE_FLIGHT && kq_wl(k, cq->entry.workload)->cq == cq->node.id)
        best = cq->entry.workload;
    for (size_t i = 0; i < cq->parked.count; i++) {
        const struct kq_group *g = &k->groups[cq->parked.v[i]];
        const uint32_t id = g->items[!g->active].v[0];
        if (best == POLICY_NONE || stands_before(k, cq, id, best))
            best = id;
    }
    return best;
}

bool kq_query_head(void *ctx, uint32_t cluster_queue, struct policy_head *head)
{
    struct kq *k = ctx;
    const struct kq_cq *cq = queue_of(k, cluster_queue);
    const uint32_t id = cq == NULL || cq->waiting == 0 ? POLICY_NONE : first_of(k, cq);
    if (id == POLICY_NONE)
        return false;
    struct kq_class *c = kq_class_of(k, kq_wl(k, id));
    const struct kq_shape *s = k->shapes[kq_wl(k, id)->shape];
    if (c->plan == NULL)
        c->plan = kq_plan_make(k, cq, s);
    struct fit f = {.k = k, .cq = cq, .shape = s, .numbers = &head->numbers};
    head->workload = id;
    head->place = kq_place(k, kq_wl(k, id));
    head->fits_nominal = fits(&f, c->plan);
    return true;
}

bool kq_query_may_fit(void *ctx, uint32_t cluster_queue, uint32_t shape, struct policy_numbers *numbers)
{
    struct kq *k = ctx;
    const struct kq_cq *cq = queue_of(k, cluster_queue);
    if (cq == NULL || shape >= k->shape_count)
        return true;
    struct fit f = {.k = k, .cq = cq, .shape = k->shapes[shape], .ever = true, .numbers = numbers};
    return fits(&f, kq_plan_make(k, cq, k->shapes[shape]));
}

/* ---- what it could ever use ---- */

struct telling {
    void (*fn)(void *arg, const struct policy_reach *reach);
    void *arg;
};

static void reach_flavor(struct fit *f, const struct kq_plan_group *g, uint32_t rg, uint32_t i, const struct telling *t)
{
    const struct kq_cq_group *group = &f->cq->groups[rg];
    for (uint32_t r = 0; r < g->resource_count; r++) {
        const struct kq_plan_resource *p = &g->resources[r];
        struct policy_reach v = {.pod_set = f->shape->sets[g->sets[0]].name, .allowed = (g->flavor_ok[rg] >> i & 1) != 0};
        if (p->group != (int32_t)rg || g->want[r] == 0)
            continue;
        tell(f, group->frs[(size_t)i * group->resource_count + p->slot], asked(f, g, r));
        v.numbers = *f->numbers;
        t->fn(t->arg, &v);
    }
}

static void reach_uncovered(struct fit *f, const struct kq_plan_group *g, const struct telling *t)
{
    for (uint32_t r = 0; r < g->resource_count; r++) {
        const struct policy_reach v = {.pod_set = f->shape->sets[g->sets[0]].name,
                                       .numbers = {.flavor = POLICY_NONE, .resource = g->resources[r].resource,
                                                   .requested = asked(f, g, r), .borrowing_limit = POLICY_NIL,
                                                   .lending_limit = POLICY_NIL}};
        if (g->resources[r].group < 0 && g->want[r] > 0 && !(f->k->cfg.ignore_undeclared && f->k->gate[KQ_QUOTA_CHECK_STRATEGY]))
            t->fn(t->arg, &v);
    }
}

void kq_query_reach(void *ctx, uint32_t cluster_queue, uint32_t shape, void (*fn)(void *arg, const struct policy_reach *reach),
                    void *arg)
{
    struct kq *k = ctx;
    struct policy_numbers numbers;
    const struct telling t = {fn, arg};
    const struct kq_cq *cq = queue_of(k, cluster_queue);
    if (cq == NULL || cq->node.tree == NULL || shape >= k->shape_count)
        return;
    struct fit f = {.k = k, .cq = cq, .shape = k->shapes[shape], .ever = true, .numbers = &numbers};
    const struct kq_plan *plan = kq_plan_make(k, cq, f.shape);
    for (uint32_t g = 0; g < plan->group_count; g++) {
        reach_uncovered(&f, &plan->groups[g], &t);
        for (uint32_t rg = 0; rg < cq->group_count; rg++)
            for (uint32_t i = 0; i < cq->groups[rg].flavor_count && i < 64; i++)
                reach_flavor(&f, &plan->groups[g], rg, i, &t);
    }
}
