/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flushes in proof: queues that are woken only by counting the cycles it would take (fast.h). */
#include "models/policies/kueue/cycle.h"
#include "models/policies/kueue/fast.h"
#include "models/policies/kueue/queue.h"

/* ---- flush in proof ---- */

/* Were they looked at, they would now be told to wait for quota, whatever held them before. */
static void note_parked(struct kq *k, const struct kq_cq *cq)
{
    for (size_t i = 0; i < cq->parked.count; i++) {
        struct kq_class *c = &k->classes[k->groups[cq->parked.v[i]].cls];
        if (!c->has_reason || c->reason.wait != POLICY_WAIT_QUOTA)
            kq_note_proven(k, c);
    }
}

/* Heads that were counted when the queue was woken, and whose cycles did not come. */
static uint64_t not_taken(const struct kq *k, const struct kq_cq *cq)
{
    const uint64_t taken = k->cycle - cq->woken_since;
    return taken < cq->woken_left ? cq->woken_left - taken : 0;
}

void kq_end_wake(struct kq *k, struct kq_cq *cq)
{
    k->counts.proven -= not_taken(k, cq);
    cq->woken_left = 0;
}

static void wake_in_proof(struct kq *k, struct kq_cq *cq)
{
    struct kq_tree *t = cq->node.tree;
    k->counts.proven -= not_taken(k, cq);
    k->counts.proven += cq->parked.count;
    if (cq->woken_left == 0) {
        if (t->woken.count == 0)
            kq_ids_push(&k->woken, (uint32_t)(t - k->trees));
        kq_ids_push(&t->woken, cq->node.id);
    }
    cq->woken_left = (uint32_t)cq->parked.count;
    cq->woken_since = k->cycle;
    t->woken_version = t->version;
    note_parked(k, cq);
}

static bool flush_really(struct kq *k, struct kq_tree *t)
{
    bool moved = false;
    for (uint32_t i = 0; i < t->queue_count; i++)
        moved |= kq_flush(k, t->queues[i]);
    if (moved)
        kq_touch(k, t);
    return moved;
}

bool kq_flush_tree(struct kq *k, struct kq_tree *t)
{
    bool any = false, open = t->hot.count > 0, moved = false;
    if (!k->fast)
        return flush_really(k, t);
    for (uint32_t i = 0; i < t->queue_count; i++) {
        struct kq_cq *cq = t->queues[i];
        cq->proof = KQ_WAITS;
        if (cq->parked_count == 0)
            continue;
        any = true;
        cq->proof = (uint8_t)kq_prove_parked(k, cq);
        open |= cq->proof == KQ_OPEN;
    }
    for (uint32_t i = 0; i < t->queue_count; i++) {
        struct kq_cq *cq = t->queues[i];
        if (cq->parked_count == 0 || cq->proof == KQ_OPEN || (cq->proof == KQ_RESERVES && open)) {
            kq_end_wake(k, cq);
            cq->emptied = false;
            moved |= kq_flush(k, cq);
        } else {
            wake_in_proof(k, cq);
        }
    }
    if (moved)
        kq_touch(k, t);
    t->woken_version = t->version;
    return any;
}

/* ---- until its cycles are over ---- */

static bool class_first(const struct kq *k, const struct kq_cq *cq, uint32_t a, uint32_t b)
{
    const struct kq_group *g = &k->groups[a], *h = &k->groups[b];
    if (cq->preemptor != POLICY_NONE && cq->preemptor_sticky) { /* first of all (2.2) */
        const struct kq_wl *p = kq_wl(k, cq->preemptor);
        if (p->place == POLICY_PLACE_QUEUE && (p->group == a || p->group == b))
            return p->group == a;
    }
    const struct kq_wl *v = kq_wl(k, g->items[!g->active].v[0]);
    const struct kq_wl *w = kq_wl(k, h->items[!h->active].v[0]);
    if (v->priority != w->priority)
        return v->priority > w->priority;
    return v->qtime_ms != w->qtime_ms ? v->qtime_ms < w->qtime_ms : v->uid_order < w->uid_order;
}

/* The classes that were not yet looked at go to the heap; those before stay parked. */
static void wake_rest(struct kq *k, struct kq_cq *cq, uint64_t taken)
{
    uint32_t *order = kq_bump_alloc(&k->bump, cq->parked.count, sizeof *order);
    const size_t n = cq->parked.count;
    for (size_t i = 0; i < n; i++) {
        size_t j = i;
        for (; j > 0 && class_first(k, cq, cq->parked.v[i], order[j - 1]); j--)
            order[j] = order[j - 1];
        order[j] = cq->parked.v[i];
    }
    kq_end_wake(k, cq);
    kq_flush(k, cq);
    for (uint64_t i = 0; i < taken && i < n; i++)
        kq_park_class(k, k->groups[order[i]].cls);
    kq_touch(k, cq->node.tree);
}

void kq_before_enqueue(struct kq *k, struct kq_cq *cq)
{
    const uint64_t taken = k->cycle - cq->woken_since;
    if (taken < cq->woken_left)
        wake_rest(k, cq, taken);
    kq_end_wake(k, cq);
}

static void recheck_tree(struct kq *k, struct kq_tree *t)
{
    size_t kept = 0;
    if (t->woken_version == t->version)
        return;
    for (size_t i = 0; i < t->woken.count; i++) {
        struct kq_cq *cq = k->cqs[t->woken.v[i]];
        const uint64_t taken = k->cycle - cq->woken_since;
        if (taken >= cq->woken_left) {
            kq_end_wake(k, cq);
            continue;
        }
        const enum kq_proof p = kq_prove_parked(k, cq);
        if (p == KQ_WAITS || (p == KQ_RESERVES && t->hot.count == 0))
            t->woken.v[kept++] = t->woken.v[i];
        else
            wake_rest(k, cq, taken);
    }
    t->woken.count = kept;
    t->woken_version = t->version;
}

void kq_recheck_woken(struct kq *k)
{
    for (size_t i = 0; i < k->woken.count; i++)
        recheck_tree(k, &k->trees[k->woken.v[i]]);
}

uint64_t kq_woken_until(const struct kq *k)
{
    uint64_t until = 0;
    for (size_t i = 0; i < k->woken.count; i++) {
        const struct kq_tree *t = &k->trees[k->woken.v[i]];
        for (size_t q = 0; q < t->woken.count; q++) {
            const struct kq_cq *cq = k->cqs[t->woken.v[q]];
            const uint64_t end = cq->woken_since + cq->woken_left;
            until = end > until ? end : until;
        }
    }
    return until;
}

void kq_end_woken(struct kq *k)
{
    for (size_t i = 0; i < k->woken.count; i++) {
        struct kq_tree *t = &k->trees[k->woken.v[i]];
        for (size_t q = 0; q < t->woken.count; q++)
            kq_end_wake(k, k->cqs[t->woken.v[q]]);
        t->woken.count = 0;
    }
    k->woken.count = 0;
}
