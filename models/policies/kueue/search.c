/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/search.h"

#include <string.h>

#include "models/policies/kueue/place.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/topology.h"
#include "models/policies/kueue/usage.h"

void kq_take(struct kq *k, const struct kq_wl *w)
{
    for (size_t i = 0; i < w->use_count; i++)
        kq_remove(&k->cqs[w->cq]->node, w->use[i].fr, w->use[i].amount);
    if (w->placed_count > 0)
        kq_topo_use_workload(k, w, -1);
}

void kq_put(struct kq *k, const struct kq_wl *w)
{
    for (size_t i = 0; i < w->use_count; i++)
        kq_add(&k->cqs[w->cq]->node, w->use[i].fr, w->use[i].amount);
    if (w->placed_count > 0)
        kq_topo_use_workload(k, w, 1);
}

bool kq_allowed(const struct kq_wl *p, const struct kq_wl *c, enum policy_preemption policy)
{
    switch (policy) {
    case POLICY_ANY:
        return true;
    case POLICY_LOWER_PRIORITY:
        return p->priority > c->priority;
    case POLICY_LOWER_OR_NEWER_EQUAL:
        return p->priority > c->priority ||
               (p->priority == c->priority && p->qtime_ms < c->qtime_ms);
    case POLICY_NEVER_PREEMPT:
    case POLICY_UNSET:
        break;
    }
    return false;
}

bool kq_search_fits(struct kq *k, const struct kq_search *s, bool allow_borrow)
{
    for (size_t i = 0; i < s->want_count; i++) {
        const struct kq_request *r = &s->want[i];
        if (!allow_borrow && kq_borrowing_with(&s->cq->node, r->fr, r->amount))
            return false;
        if (r->amount > kq_avail(s->cq, r->fr))
            return false;
    }
    return s->place == NULL ||
           kq_place_sets(k, k->shapes[s->wl->shape], s->place, false, &k->place_scratch);
}

static bool uses(const struct kq_search *s, const struct kq_wl *w)
{
    for (size_t i = 0; i < s->contested_count; i++)
        for (size_t u = 0; u < w->use_count; u++)
            if (w->use[u].fr == s->contested[i])
                return true;
    return false;
}

/* Live lists are sorted by priority behind the evicted ones: nobody behind w can be allowed. */
static bool out_of_reach(const struct kq_wl *p, const struct kq_wl *w, enum policy_preemption policy)
{
    if (w->evicted || policy == POLICY_ANY)
        return false;
    return policy == POLICY_LOWER_PRIORITY ? w->priority >= p->priority : w->priority > p->priority;
}

void kq_gather_queue(struct kq *k, const struct kq_gather *g, struct kq_cq *cq)
{
    struct kq_cands *list = &k->cands;
    for (size_t i = 0; i < cq->live.count; i++) {
        const struct kq_wl *w = kq_wl(k, cq->live.v[i]);
        if (out_of_reach(g->s->wl, w, g->policy))
            break;
        if (w->out || !kq_allowed(g->s->wl, w, g->policy) || !uses(g->s, w))
            continue;
        list->v = mem_grow(list->v, &list->capacity, list->count + 1, sizeof *list->v);
        struct kq_cand *c = &list->v[list->count++];
        *c = (struct kq_cand){.priority = w->priority,
                              .reserved_s = w->reserved_s,
                              .uid = w->uid_order,
                              .usage = cq->usage_order ? kq_usage_of(k, w->lq) : 0.0,
                              .workload = w->id,
                              .lq = w->lq,
                              .cq = cq,
                              .ancestor = g->ancestor,
                              .evicted = w->evicted,
                              .list = g->list};
        g->classify(g, w, c);
    }
}

/* 5.2 */
static bool before(const struct kq_cand *a, const struct kq_cand *b)
{
    if (a->evicted != b->evicted)
        return a->evicted > b->evicted;
    if (a->list != b->list)
        return a->list < b->list;
    if (a->cq == b->cq && a->cq->usage_order && a->lq != b->lq && a->usage != b->usage)
        return a->usage > b->usage;
    if (a->priority != b->priority)
        return a->priority < b->priority;
    if (a->reserved_s != b->reserved_s)
        return a->reserved_s > b->reserved_s;
    return a->uid < b->uid;
}

static void insertion_sort(struct kq_cand *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (!before(&v[i], &v[i - 1]))
            continue;
        const struct kq_cand c = v[i];
        size_t j = i;
        for (; j > 0 && before(&c, &v[j - 1]); j--)
            v[j] = v[j - 1];
        v[j] = c;
    }
}

static void merge_sort(struct kq_cand *v, struct kq_cand *spare, size_t n)
{
    if (n <= 12) {
        insertion_sort(v, n);
        return;
    }
    const size_t half = n / 2;
    merge_sort(v, spare, half);
    merge_sort(v + half, spare, n - half);
    if (!before(&v[half], &v[half - 1]))
        return;
    memcpy(spare, v, half * sizeof *v);
    for (size_t i = 0, j = half, at = 0; i < half; at++)
        v[at] = j < n && before(&v[j], &spare[i]) ? v[j++] : spare[i++];
}

void kq_cands_sort(struct kq *k)
{
    struct kq_cands *c = &k->cands;
    c->spare = mem_grow(c->spare, &c->spare_capacity, c->count, sizeof *c->spare);
    merge_sort(c->v, c->spare, c->count);
}

void kq_targets_push(struct kq_targets *t, uint32_t workload, enum policy_evict_reason reason)
{
    t->v = mem_grow(t->v, &t->capacity, t->count + 1, sizeof *t->v);
    t->v[t->count++] = (struct kq_target){.workload = workload, .reason = reason};
}

void kq_fill_back(struct kq *k, struct kq_targets *t, bool (*fits)(struct kq *, void *), void *arg)
{
    for (size_t i = t->count < 2 ? 0 : t->count - 1; i-- > 0;) {
        kq_put(k, kq_wl(k, t->v[i].workload));
        if (fits(k, arg)) {
            t->v[i] = t->v[t->count - 1];
            t->count--;
        } else {
            kq_take(k, kq_wl(k, t->v[i].workload));
        }
    }
}

bool kq_search_run(struct kq *k, const struct kq_search *s, struct kq_targets *targets)
{
    targets->count = 0;
    k->cands.count = 0;
    const bool found = k->cfg.fair_sharing ? kq_search_fair(k, s, targets)
                                           : kq_search_classic(k, s, targets);
    if (!found)
        targets->count = 0;
    return found;
}
