/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/queue.h"

#include "models/policies/kueue/fast.h"
#include "models/policies/kueue/group.h"
#include "models/policies/kueue/select.h"
#include "models/policies/kueue/usage.h"

/* ---- classes and groups ---- */

static uint64_t class_key(const struct kq_wl *w)
{
    uint64_t key = (uint64_t)w->cq << 40 ^ (uint64_t)w->shape << 16 ^ (uint64_t)w->priority;
    return key * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t new_class(struct kq *k, const struct kq_wl *w)
{
    struct kq_cq *cq = k->cqs[w->cq];
    k->classes = mem_grow(k->classes, &k->class_capacity, k->class_count + 1, sizeof *k->classes);
    k->classes[k->class_count] = (struct kq_class){.cq = w->cq,
                                                   .shape = w->shape,
                                                   .priority = w->priority,
                                                   .first_group = POLICY_NONE,
                                                   .cq_slot = (uint32_t)cq->classes.count};
    kq_ids_push(&cq->classes, (uint32_t)k->class_count);
    return (uint32_t)k->class_count++;
}

static uint32_t class_of(struct kq *k, const struct kq_wl *w)
{
    uint64_t key = class_key(w);
    uint32_t id;
    while ((id = kq_map_get(&k->class_map, key)) != POLICY_NONE) {
        const struct kq_class *c = &k->classes[id];
        if (c->cq == w->cq && c->shape == w->shape && c->priority == w->priority)
            return id;
        key++;
    }
    id = new_class(k, w);
    kq_map_put(&k->class_map, key, id);
    return id;
}

void kq_classify(struct kq *k, struct kq_wl *w)
{
    w->cls = class_of(k, w);
}

void kq_count_waiting(struct kq *k, const struct kq_wl *w, int by)
{
    struct kq_class *c = &k->classes[w->cls];
    c->waiting += (uint32_t)by;
    k->cqs[w->cq]->waiting += (uint32_t)by;
    kq_mark_class(k, c);
}

void kq_count_progress(struct kq *k, struct kq_wl *w, bool pending)
{
    if (w->counted_progress == pending)
        return;
    w->counted_progress = pending;
    k->classes[w->cls].progress += pending ? 1u : UINT32_MAX;
}

static uint32_t group_of(struct kq *k, const struct kq_wl *w)
{
    const uint32_t cls = w->cls;
    const uint32_t lq = k->cqs[w->cq]->split ? w->lq : POLICY_NONE;
    for (uint32_t g = k->classes[cls].first_group; g != POLICY_NONE; g = k->groups[g].next_in_class)
        if (k->groups[g].lq == lq)
            return g;
    k->groups = mem_grow(k->groups, &k->group_capacity, k->group_count + 1, sizeof *k->groups);
    k->groups[k->group_count] = (struct kq_group){.cls = cls,
                                                  .lq = lq,
                                                  .next_in_class = k->classes[cls].first_group,
                                                  .heap_slot = POLICY_NONE,
                                                  .parked_slot = POLICY_NONE};
    k->classes[cls].first_group = (uint32_t)k->group_count;
    return (uint32_t)k->group_count++;
}

static struct kq_heap *active_of(const struct kq *k, uint32_t group)
{
    return &k->groups[group].items[k->groups[group].active];
}

static struct kq_heap *parked_of(const struct kq *k, uint32_t group)
{
    return &k->groups[group].items[!k->groups[group].active];
}

/* ---- the heap of groups ---- */

static bool group_before(const struct kq *k, uint32_t a, uint32_t b)
{
    const struct kq_group *g = &k->groups[a], *h = &k->groups[b];
    if (g->priority != h->priority)
        return g->priority > h->priority;
    if (g->first_qtime_ms != h->first_qtime_ms)
        return g->first_qtime_ms < h->first_qtime_ms;
    return g->first_uid < h->first_uid;
}

static void put_group(struct kq *k, struct kq_cq *cq, uint32_t slot, uint32_t group)
{
    cq->heap.v[slot] = group;
    k->groups[group].heap_slot = slot;
}

static void group_up(struct kq *k, struct kq_cq *cq, uint32_t slot)
{
    const uint32_t group = cq->heap.v[slot];
    while (slot > 0 && group_before(k, group, cq->heap.v[(slot - 1) / 2])) {
        put_group(k, cq, slot, cq->heap.v[(slot - 1) / 2]);
        slot = (slot - 1) / 2;
    }
    put_group(k, cq, slot, group);
}

static void group_down(struct kq *k, struct kq_cq *cq, uint32_t slot)
{
    const uint32_t group = cq->heap.v[slot];
    for (;;) {
        uint32_t child = 2 * slot + 1;
        if (child >= cq->heap.count)
            break;
        if (child + 1 < cq->heap.count &&
            group_before(k, cq->heap.v[child + 1], cq->heap.v[child]))
            child++;
        if (!group_before(k, cq->heap.v[child], group))
            break;
        put_group(k, cq, slot, cq->heap.v[child]);
        slot = child;
    }
    put_group(k, cq, slot, group);
}

static void heap_drop(struct kq *k, struct kq_cq *cq, uint32_t group)
{
    const uint32_t slot = k->groups[group].heap_slot, last = cq->heap.v[--cq->heap.count];
    k->groups[group].heap_slot = POLICY_NONE;
    if (last == group)
        return;
    put_group(k, cq, slot, last);
    group_up(k, cq, slot);
    group_down(k, cq, k->groups[last].heap_slot);
}

/* Puts a group where its first one belongs, after its content changed. */
static void heap_settle(struct kq *k, struct kq_cq *cq, uint32_t group)
{
    struct kq_group *g = &k->groups[group];
    if (active_of(k, group)->count == 0) {
        if (g->heap_slot != POLICY_NONE)
            heap_drop(k, cq, group);
        return;
    }
    const struct kq_wl *first = kq_wl(k, active_of(k, group)->v[0]);
    g->priority = first->priority;
    g->first_qtime_ms = first->qtime_ms;
    g->first_uid = first->uid_order;
    if (g->heap_slot == POLICY_NONE) {
        kq_ids_push(&cq->heap, group);
        g->heap_slot = (uint32_t)cq->heap.count - 1;
    }
    group_up(k, cq, g->heap_slot);
    group_down(k, cq, g->heap_slot);
}

static void parked_settle(struct kq *k, struct kq_cq *cq, uint32_t group)
{
    struct kq_group *g = &k->groups[group];
    const bool has = parked_of(k, group)->count > 0;
    if (has != (g->parked_slot != POLICY_NONE))
        kq_parked_changed(cq);
    if (has && g->parked_slot == POLICY_NONE) {
        g->parked_slot = (uint32_t)cq->parked.count;
        kq_ids_push(&cq->parked, group);
    } else if (!has && g->parked_slot != POLICY_NONE) {
        const uint32_t last = cq->parked.v[--cq->parked.count];
        cq->parked.v[g->parked_slot] = last;
        k->groups[last].parked_slot = g->parked_slot;
        g->parked_slot = POLICY_NONE;
    }
}

/* ---- queues with something to look at ---- */

void kq_warm_up(struct kq *k, struct kq_tree *t)
{
    if (t->listed || t->hot.count == 0)
        return;
    t->listed = true;
    kq_ids_push(&k->warm, (uint32_t)(t - k->trees));
}

static void set_hot(struct kq *k, struct kq_cq *cq)
{
    struct kq_ids *hot = &cq->node.tree->hot;
    if (cq->heap_count > 0 && cq->hot_slot == POLICY_NONE) {
        cq->hot_slot = (uint32_t)hot->count;
        kq_ids_push(hot, cq->node.id);
        kq_warm_up(k, cq->node.tree);
        k->ready_queues += cq->active;
    } else if (cq->heap_count == 0 && cq->hot_slot != POLICY_NONE) {
        const uint32_t last = hot->v[--hot->count];
        hot->v[cq->hot_slot] = last;
        k->cqs[last]->hot_slot = cq->hot_slot;
        cq->hot_slot = POLICY_NONE;
        k->ready_queues -= cq->active;
    }
}

static void add(struct kq *k, struct kq_wl *w, bool to_heap)
{
    struct kq_cq *cq = k->cqs[w->cq];
    const uint32_t group = group_of(k, w);
    const uint8_t active = k->groups[group].active;
    w->place = POLICY_PLACE_QUEUE;
    kq_group_push(k, group, to_heap ? active : !active, w);
    if (to_heap) {
        cq->heap_count++;
        heap_settle(k, cq, group);
        set_hot(k, cq);
    } else {
        cq->parked_count++;
        parked_settle(k, cq, group);
    }
}

void kq_enqueue(struct kq *k, struct kq_wl *w)
{
    if (k->cqs[w->cq]->woken_left > 0)
        kq_before_enqueue(k, k->cqs[w->cq]);
    const struct kq_class *c = kq_class_of(k, w);
    const bool blocked =
        k->gate[KQ_SHAPE_HASHING] && c->blocked_epoch == k->cqs[w->cq]->epoch;
    add(k, w, !blocked);
}

void kq_requeue(struct kq *k, struct kq_wl *w, bool to_heap)
{
    add(k, w, to_heap);
}

void kq_dequeue(struct kq *k, struct kq_wl *w)
{
    struct kq_cq *cq = k->cqs[w->cq];
    const bool active = w->which == k->groups[w->group].active;
    kq_group_remove(k, w);
    if (active) {
        cq->heap_count--;
        heap_settle(k, cq, w->group);
        set_hot(k, cq);
    } else {
        cq->parked_count--;
        parked_settle(k, cq, w->group);
        cq->emptied |= parked_of(k, w->group)->count == 0;
    }
    w->place = POLICY_PLACE_NONE;
}

/* ---- the head ---- */

static bool sticky_waits(const struct kq *k, const struct kq_cq *cq)
{
    if (cq->preemptor == POLICY_NONE || !cq->preemptor_sticky)
        return false;
    return kq_place(k, kq_wl(k, cq->preemptor)) == POLICY_PLACE_QUEUE;
}

static bool sticky_first(const struct kq *k, const struct kq_cq *cq, uint32_t a, uint32_t b)
{
    const bool x = cq->preemptor_sticky && cq->preemptor == a;
    const bool y = cq->preemptor_sticky && cq->preemptor == b;
    if (x != y)
        return x;
    const struct kq_wl *p = kq_wl(k, a), *q = kq_wl(k, b);
    if (p->priority != q->priority)
        return p->priority > q->priority;
    return kq_earlier(p, q);
}

/* 2.2 with the usage of local queues in front. */
static uint32_t top_by_usage(const struct kq *k, const struct kq_cq *cq)
{
    uint32_t best = POLICY_NONE;
    double best_usage = 0.0;
    for (size_t i = 0; i <= cq->heap.count; i++) {
        uint32_t id;
        if (i < cq->heap.count)
            id = active_of(k, cq->heap.v[i])->v[0];
        else if (sticky_waits(k, cq))
            id = cq->preemptor;
        else
            break;
        const double usage = kq_usage_of(k, kq_wl(k, id)->lq);
        if (best == POLICY_NONE || usage < best_usage ||
            (usage == best_usage && sticky_first(k, cq, id, best))) {
            best = id;
            best_usage = usage;
        }
    }
    return best;
}

uint32_t kq_top(const struct kq *k, const struct kq_cq *cq)
{
    if (cq->heap.count == 0)
        return POLICY_NONE;
    if (cq->usage_order)
        return top_by_usage(k, cq);
    if (sticky_waits(k, cq))
        return cq->preemptor;
    return active_of(k, cq->heap.v[0])->v[0];
}

uint32_t kq_pop(struct kq *k, struct kq_cq *cq)
{
    const uint32_t id = kq_top(k, cq);
    if (id == POLICY_NONE)
        return id;
    kq_dequeue(k, kq_wl(k, id));
    kq_wl(k, id)->place = POLICY_PLACE_FLIGHT;
    cq->flushed = false;
    return id;
}

/* ---- bulk moves ---- */

bool kq_park_class(struct kq *k, uint32_t cls)
{
    struct kq_class *c = &k->classes[cls];
    struct kq_cq *cq = k->cqs[c->cq];
    bool moved = false;
    c->blocked_epoch = cq->epoch;
    for (uint32_t g = c->first_group; g != POLICY_NONE; g = k->groups[g].next_in_class) {
        const size_t n = kq_group_move(k, g, false);
        if (n == 0)
            continue;
        moved = true;
        cq->heap_count -= (uint32_t)n;
        cq->parked_count += (uint32_t)n;
        heap_settle(k, cq, g);
        parked_settle(k, cq, g);
    }
    set_hot(k, cq);
    return moved;
}

bool kq_flush(struct kq *k, struct kq_cq *cq)
{
    bool moved = false;
    cq->flushed = true;
    cq->epoch++;
    if (!cq->split && !cq->matches)
        return false;
    for (size_t i = cq->parked.count; i-- > 0;) {
        const uint32_t g = cq->parked.v[i];
        if (cq->split && !kq_namespace_matches(k, cq, k->groups[g].lq))
            continue;
        const size_t n = kq_group_move(k, g, true);
        moved = true;
        cq->heap_count += (uint32_t)n;
        cq->parked_count -= (uint32_t)n;
        heap_settle(k, cq, g);
        parked_settle(k, cq, g);
    }
    set_hot(k, cq);
    return moved;
}

enum policy_place kq_place(const struct kq *k, const struct kq_wl *w)
{
    if (w->place != POLICY_PLACE_QUEUE)
        return (enum policy_place)w->place;
    return w->which == k->groups[w->group].active ? POLICY_PLACE_QUEUE : POLICY_PLACE_PARKED;
}
