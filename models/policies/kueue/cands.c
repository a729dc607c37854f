/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Candidates in the order of 5.2, drawn one by one: the list of each queue is in that order
 * already, so a heap of cursors merges them as far as they are needed.
 */
#include <string.h>

#include "models/policies/kueue/search.h"
#include "models/policies/kueue/usage.h"

static bool uses(const struct kq_search *s, const struct kq_wl *w)
{
    for (size_t i = 0; i < s->contested_count; i++)
        for (uint32_t u = 0; u < w->use_count; u++)
            if (w->use[u].fr == s->contested[i])
                return true;
    return false;
}

/* Live lists are sorted by priority behind the evicted ones: nobody behind w can be allowed. */
static bool out_of_reach(const struct kq_wl *p, const struct kq_wl *w, enum policy_preemption policy)
{
    if (w->evicted || policy == POLICY_ANY)
        return false;
    return policy == POLICY_LOWER_PRIORITY ? w->priority >= p->priority
                                           : w->priority > p->priority;
}

/* To the next candidate from c->at on. */
static void settle(struct kq *k, const struct kq_gather *g, struct kq_cursor *c)
{
    for (; c->at < c->count; c->at++) {
        const struct kq_wl *w = kq_wl(k, c->ids[c->at]);
        if (!w->out && kq_allowed(g->s->wl, w, g->policy) && uses(g->s, w))
            return;
        if (!c->cq->usage_order && out_of_reach(g->s->wl, w, g->policy))
            c->at = c->count - 1;
    }
}

void kq_cursor_step(struct kq *k, const struct kq_gather *g, struct kq_cursor *c)
{
    c->at++;
    settle(k, g, c);
}

/* With admission fair sharing the usage of local queues comes before the priority. */
static bool by_usage(const struct kq *k, uint32_t a, uint32_t b)
{
    const struct kq_wl *v = kq_wl(k, a), *w = kq_wl(k, b);
    if (v->evicted != w->evicted || v->lq == w->lq)
        return false; /* as they are */
    return kq_usage_of(k, v->lq) > kq_usage_of(k, w->lq);
}

static const uint32_t *ids_of(struct kq *k, const struct kq_cq *cq)
{
    const size_t n = cq->live.count;
    if (!cq->usage_order || n < 2)
        return cq->live.v;
    uint32_t *ids = kq_bump_alloc(&k->bump, n, sizeof *ids);
    for (size_t i = 0; i < n; i++) {
        size_t j = i;
        for (; j > 0 && by_usage(k, cq->live.v[i], ids[j - 1]); j--)
            ids[j] = ids[j - 1];
        ids[j] = cq->live.v[i];
    }
    return ids;
}

void kq_cursor_add(struct kq *k, const struct kq_gather *g, struct kq_cq *cq)
{
    struct kq_cursors *all = &k->cursors;
    struct kq_cursor c = {.count = cq->live.count, .cq = cq, .ancestor = g->ancestor, .list = g->list};
    if (c.count == 0)
        return;
    c.ids = ids_of(k, cq);
    settle(k, g, &c);
    if (c.at >= c.count)
        return;
    c.first = c.at;
    all->v = mem_grow(all->v, &all->capacity, all->count + 1, sizeof *all->v);
    all->v[all->count++] = c;
}

bool kq_cursor_before(const struct kq *k, const struct kq_cursor *a, const struct kq_cursor *b)
{
    const struct kq_wl *v = kq_wl(k, a->ids[a->at]), *w = kq_wl(k, b->ids[b->at]);
    if (v->evicted != w->evicted)
        return v->evicted;
    if (a->list != b->list)
        return a->list < b->list;
    if (v->priority != w->priority)
        return v->priority < w->priority;
    if (v->reserved_s != w->reserved_s)
        return v->reserved_s > w->reserved_s;
    return v->uid_order < w->uid_order;
}

static void down(struct kq *k, size_t at)
{
    struct kq_cursors *all = &k->cursors;
    const uint32_t moving = all->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= all->heap_count)
            break;
        if (child + 1 < all->heap_count &&
            kq_cursor_before(k, &all->v[all->heap[child + 1]], &all->v[all->heap[child]]))
            child++;
        if (!kq_cursor_before(k, &all->v[all->heap[child]], &all->v[moving]))
            break;
        all->heap[at] = all->heap[child];
        at = child;
    }
    all->heap[at] = moving;
}

void kq_cursors_begin(struct kq *k)
{
    struct kq_cursors *all = &k->cursors;
    all->heap = mem_grow(all->heap, &all->heap_capacity, all->count, sizeof *all->heap);
    all->heap_count = all->count;
    for (size_t i = 0; i < all->count; i++) {
        all->v[i].at = all->v[i].first;
        all->heap[i] = (uint32_t)i;
    }
    for (size_t i = all->count / 2; i-- > 0;)
        down(k, i);
}

void kq_cursors_settle(struct kq *k, bool drop)
{
    struct kq_cursors *all = &k->cursors;
    if (drop || kq_cursor_at(&all->v[all->heap[0]]) == POLICY_NONE)
        all->heap[0] = all->heap[--all->heap_count];
    if (all->heap_count > 0)
        down(k, 0);
}
