/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/search.h"

#include "models/policies/kueue/place.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/topology.h"

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

void kq_targets_push(struct kq_targets *t, uint32_t workload, enum policy_evict_reason reason)
{
    t->v = mem_grow(t->v, &t->capacity, t->count + 1, sizeof *t->v);
    t->v[t->count++] = (struct kq_target){.workload = workload, .reason = reason};
}

void kq_fill_back(struct kq *k, struct kq_targets *t, bool (*fits)(struct kq *, void *), void *arg)
{
    t->returned.count = 0;
    for (size_t i = t->count < 2 ? 0 : t->count - 1; i-- > 0;) {
        kq_put(k, kq_wl(k, t->v[i].workload));
        if (fits(k, arg)) {
            if (k->cfg.record_reasons)
                kq_ids_push(&t->returned, t->v[i].workload);
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
    k->cursors.count = 0;
    const bool found = k->cfg.fair_sharing ? kq_search_fair(k, s, targets)
                                           : kq_search_classic(k, s, targets);
    if (!found)
        targets->count = 0;
    return found;
}
