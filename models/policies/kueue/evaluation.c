/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/evaluation.h"

#include <math.h>

#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/share.h"

void kq_note_try(const struct kq_cq *cq, struct kq_assign *a, uint32_t fr, int64_t amount, enum kq_mode mode,
                 uint32_t level)
{
    a->tries = mem_grow(a->tries, &a->try_capacity, a->try_count + 1, sizeof *a->tries);
    a->tries[a->try_count++] = (struct kq_try){fr, level, amount, kq_avail(cq, fr), cq->node.q[fr].use, mode};
}

static enum policy_grade grade_of(enum kq_mode mode)
{
    switch (mode) {
    case KQ_NO_FIT:
        break;
    case KQ_NO_CANDIDATES:
        return POLICY_GRADE_NO_CANDIDATES;
    case KQ_PREEMPT:
        return POLICY_GRADE_PREEMPT;
    case KQ_RECLAIM:
        return POLICY_GRADE_RECLAIM;
    case KQ_FIT:
        return POLICY_GRADE_FIT;
    }
    return POLICY_GRADE_NO_FIT;
}

static struct policy_try told(const struct kq_cq *cq, const struct kq_try *t, enum policy_grade grade)
{
    const struct kq_quota *q = &cq->node.q[t->fr];
    const struct kq_fr *id = &cq->node.tree->frs[t->fr];
    return (struct policy_try){.grade = grade,
                               .numbers = {.flavor = id->flavor,
                                           .resource = id->resource,
                                           .requested = t->amount,
                                           .available = t->available,
                                           .potential = q->potential,
                                           .nominal = q->nominal,
                                           .used = t->used,
                                           .subtree = q->subtree,
                                           .borrowing_limit = q->borrow,
                                           .lending_limit = q->lend,
                                           .level = t->level,
                                           .has_candidates = grade == POLICY_GRADE_PREEMPT ||
                                                             grade == POLICY_GRADE_RECLAIM}};
}

static double share_value(struct kq_node *n)
{
    const struct kq_share s = kq_share_of(n);
    return kq_share_infinite(s) ? HUGE_VAL : s.ratio == 0.0 ? 0.0 : s.ratio / s.weight;
}

static void asked(struct kq_cq *cq, bool add)
{
    const struct kq_assign *a = &cq->entry.assign;
    for (size_t i = 0; add && i < a->use_count; i++)
        kq_add(&cq->node, a->use[i].fr, a->use[i].amount);
    for (size_t i = a->use_count; !add && i-- > 0;)
        kq_remove(&cq->node, a->use[i].fr, a->use[i].amount);
}

/* Quota only: where they are placed has no part in a share. */
static void victims(const struct kq *k, const struct kq_targets *t, bool back)
{
    for (size_t n = 0; n < t->count; n++) {
        const struct kq_wl *w = kq_wl(k, t->v[back ? t->count - 1 - n : n].workload);
        struct kq_node *q = &k->cqs[w->cq]->node;
        for (size_t i = 0; !back && i < w->use_count; i++)
            kq_remove(q, w->use[i].fr, w->use[i].amount);
        for (size_t i = w->use_count; back && i-- > 0;)
            kq_add(q, w->use[i].fr, w->use[i].amount);
    }
}

static bool listed(const struct policy_evaluation *e, uint32_t queue)
{
    for (uint32_t i = 0; i < e->share_count; i++)
        if (e->shares[i].cluster_queue == queue)
            return true;
    return false;
}

/* Shares of the queue and of its victims' queues as it is, and once they are gone and it is in.
 * `counted`: what the workload asks for is already in the usage. */
static void shares(struct kq *k, struct kq_cq *cq, bool counted, struct policy_evaluation *e)
{
    const struct kq_targets *t = &cq->entry.targets;
    struct policy_shares *v = kq_bump_alloc(&k->bump, t->count + 1, sizeof *v);
    e->shares = v;
    v[e->share_count++].cluster_queue = cq->node.id;
    for (size_t i = 0; i < t->count; i++)
        if (!listed(e, kq_wl(k, t->v[i].workload)->cq))
            v[e->share_count++].cluster_queue = kq_wl(k, t->v[i].workload)->cq;
    if (counted)
        asked(cq, false);
    for (uint32_t i = 0; i < e->share_count; i++)
        v[i].before = share_value(&k->cqs[v[i].cluster_queue]->node);
    asked(cq, true);
    victims(k, t, false);
    for (uint32_t i = 0; i < e->share_count; i++)
        v[i].after = share_value(&k->cqs[v[i].cluster_queue]->node);
    victims(k, t, true);
    if (!counted)
        asked(cq, false);
}

void kq_say_evaluation(struct kq *k, struct kq_cq *cq, bool counted, int64_t now, struct policy_outputs *out)
{
    const struct kq_entry *entry = &cq->entry;
    const struct kq_assign *a = &entry->assign;
    if (!k->cfg.record_reasons || !entry->nominated)
        return;
    struct policy_evaluation *e = kq_bump_alloc(&k->bump, 1, sizeof *e);
    struct policy_try *tries = kq_bump_alloc(&k->bump, a->try_count + 1, sizeof *tries);
    uint32_t *back = kq_bump_alloc(&k->bump, entry->targets.returned.count + 1, sizeof *back);
    *e = (struct policy_evaluation){.workload = entry->workload,
                                    .cluster_queue = cq->node.id,
                                    .tries = tries,
                                    .filled_back = back};
    for (size_t i = 0; i < a->try_count; i++)
        tries[e->try_count++] = told(cq, &a->tries[i], grade_of(a->tries[i].mode));
    for (size_t i = 0; entry->targets.count > 0 && i < entry->targets.returned.count; i++)
        back[e->filled_back_count++] = entry->targets.returned.v[i];
    if (k->cfg.fair_sharing)
        shares(k, cq, counted, e);
    kq_say(out, POLICY_SAY_EVALUATION, entry->workload, now)->u.evaluation = e;
}

/* Every flavor that a group of pod sets may use, in the order of the queue. */
static void add_group(const struct kq_cq *cq, const struct kq_plan_group *g, struct policy_try *tries,
                      uint32_t *count)
{
    for (uint32_t rg = 0; rg < cq->group_count; rg++)
        for (uint32_t f = 0; f < cq->groups[rg].flavor_count; f++)
            for (uint32_t r = 0; (g->flavor_ok[rg] >> f & 1) != 0 && r < g->resource_count; r++) {
                if (g->resources[r].group != (int32_t)rg)
                    continue;
                const uint32_t fr = cq->groups[rg].frs[(size_t)f * cq->groups[rg].resource_count +
                                                       g->resources[r].slot];
                const struct kq_try t = {fr, 0, g->want[r], kq_avail(cq, fr), cq->node.q[fr].use, KQ_NO_FIT};
                tries[(*count)++] = told(cq, &t,
                                         t.amount <= t.available               ? POLICY_GRADE_FIT
                                         : t.amount > cq->node.q[fr].potential ? POLICY_GRADE_NO_FIT
                                                                               : POLICY_GRADE_SHORT);
            }
}

void kq_say_proven(struct kq *k, const struct kq_class *c, int64_t now, struct policy_outputs *out)
{
    const struct kq_cq *cq = k->cqs[c->cq];
    size_t room = 1;
    if (c->plan == NULL || cq->node.tree == NULL)
        return;
    for (uint32_t g = 0; g < c->plan->group_count; g++)
        for (uint32_t rg = 0; rg < cq->group_count; rg++)
            room += (size_t)cq->groups[rg].flavor_count * c->plan->groups[g].resource_count;
    struct policy_evaluation *e = kq_bump_alloc(&k->bump, 1, sizeof *e);
    struct policy_try *tries = kq_bump_alloc(&k->bump, room, sizeof *tries);
    *e = (struct policy_evaluation){.workload = POLICY_NONE, .cluster_queue = c->cq, .tries = tries};
    for (uint32_t g = 0; g < c->plan->group_count; g++)
        add_group(cq, &c->plan->groups[g], tries, &e->try_count);
    kq_say(out, POLICY_SAY_EVALUATION, POLICY_NONE, now)->u.evaluation = e;
}
