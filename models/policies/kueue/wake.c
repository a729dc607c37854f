/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wakes of trees, and what changes when objects do (spec 2.3, 2.11). */
#include "models/policies/kueue/fast.h"
#include "models/policies/kueue/group.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/select.h"

enum { MS_PER_S = 1000, NS_PER_S = 1000000000 };

static int64_t whole_ms(int64_t ns)
{
    return ns / NS_PER_S * MS_PER_S; /* times read back from the API are whole seconds */
}

int64_t kq_queue_time(const struct kq *k, const struct kq_wl *w)
{
    if (!k->cfg.pods_ready.creation_timestamp && w->evicted &&
        w->evict_reason == POLICY_EVICT_PODS_READY_TIMEOUT)
        return whole_ms(w->evicted_ns);
    if (!k->gate[KQ_PRIORITY_SORTING] && w->preempted &&
        w->preempt_reason == POLICY_EVICT_IN_COHORT_RECLAIM_WHILE_BORROWING)
        return whole_ms(w->preempted_ns) + 1;
    return w->created_ns >= 0 ? whole_ms(w->created_ns)
                              : -whole_ms(-w->created_ns + NS_PER_S - 1);
}

static struct kq_node *root_of(struct kq_node *n)
{
    while (n->parent != NULL)
        n = n->parent;
    return n;
}

static void grow_ring(struct kq *k)
{
    const size_t old = k->wake_capacity;
    k->wakes = mem_grow(k->wakes, &k->wake_capacity, old + 1, sizeof(struct kq_node *));
    for (size_t i = 0; i < k->wake_first; i++) /* what wrapped around follows the old end */
        k->wakes[old + i] = k->wakes[i];
}

/* Every wake comes the same time after it was asked for, so the ring is in order of time. */
void kq_ask_wake(struct kq *k, int64_t now, struct kq_node *n)
{
    struct kq_node *root = root_of(n);
    if (root->wake_at != POLICY_NEVER)
        return;
    root->wake_at = now + k->cfg.requeue_batch_ns;
    if (k->wake_count == k->wake_capacity)
        grow_ring(k);
    k->wakes[(k->wake_first + k->wake_count++) % k->wake_capacity] = root;
}

bool kq_wake_due(struct kq *k, int64_t now)
{
    bool moved = false;
    while (k->wake_count > 0 && k->wakes[k->wake_first]->wake_at <= now) {
        struct kq_node *root = k->wakes[k->wake_first];
        k->wake_first = (k->wake_first + 1) % k->wake_capacity;
        k->wake_count--;
        root->wake_at = POLICY_NEVER;
        if (root->tree != NULL && root->tree->root == root) /* still a root */
            moved |= kq_flush_tree(k, root->tree);
    }
    return moved;
}

int64_t kq_next_wake(const struct kq *k)
{
    return k->wake_count > 0 ? k->wakes[k->wake_first]->wake_at : POLICY_NEVER;
}

bool kq_namespace_matches(const struct kq *k, const struct kq_cq *cq, uint32_t lq)
{
    const struct policy_local_queue *q = &k->lqs[lq].spec;
    return cq->has_selector &&
           kq_selector_matches(&cq->selector, q->namespace_labels, q->namespace_label_count);
}

/* In a quiet tree every cycle so far evaluated the same heads again. */
void kq_touch(struct kq *k, struct kq_tree *t)
{
    t->version++;
    if (!t->quiet)
        return;
    t->quiet = false;
    kq_warm_up(k, t);
    for (size_t i = 0; i < t->hot.count; i++) {
        const struct kq_cq *cq = k->cqs[t->hot.v[i]];
        struct kq_wl *w =
            cq->entry.workload != POLICY_NONE ? kq_wl(k, cq->entry.workload) : NULL;
        if (w != NULL && w->has_progress && kq_place(k, w) == POLICY_PLACE_QUEUE)
            w->progress_cycle = k->cycle;
    }
}

static void empty_groups(struct kq *k, struct kq_cq *cq, struct kq_ids *waiting)
{
    for (size_t c = 0; c < cq->classes.count; c++) {
        const struct kq_class *cls = &k->classes[cq->classes.v[c]];
        for (uint32_t g = cls->first_group; g != POLICY_NONE; g = k->groups[g].next_in_class)
            for (int i = 0; i < 2; i++) {
                struct kq_heap *h = &k->groups[g].items[i];
                for (size_t w = 0; w < h->count; w++)
                    kq_ids_push(waiting, h->v[w]);
            }
    }
}

/* Groups are split by local queue, or no longer: everybody is put in anew. */
static void regroup(struct kq *k, struct kq_cq *cq, bool split)
{
    struct kq_ids waiting = {0}, parked = {0};
    empty_groups(k, cq, &waiting);
    for (size_t i = 0; i < waiting.count; i++) {
        struct kq_wl *w = kq_wl(k, waiting.v[i]);
        if (kq_place(k, w) == POLICY_PLACE_PARKED)
            kq_ids_push(&parked, w->id);
    }
    for (size_t i = 0; i < waiting.count; i++)
        kq_dequeue(k, kq_wl(k, waiting.v[i]));
    cq->split = split;
    for (size_t i = 0, p = 0; i < waiting.count; i++) {
        const bool was_parked = p < parked.count && parked.v[p] == waiting.v[i];
        p += was_parked;
        kq_requeue(k, kq_wl(k, waiting.v[i]), !was_parked);
    }
    kq_ids_fini(&waiting);
    kq_ids_fini(&parked);
}

void kq_queue_rebuilt(struct kq *k, struct kq_cq *cq)
{
    bool first = true, mixed = false;
    if (cq->heap_count > 0) { /* into the new tree's list */
        cq->hot_slot = (uint32_t)cq->node.tree->hot.count;
        kq_ids_push(&cq->node.tree->hot, cq->node.id);
        kq_warm_up(k, cq->node.tree);
    }
    cq->matches = cq->has_selector;
    cq->bounds = NULL; /* they lived with the old tree */
    cq->bounds_stale = true;
    cq->live_serial++; /* indices of quota records are new */
    kq_end_wake(k, cq);
    for (uint32_t i = 0; i < k->lq_count; i++) {
        if (!k->lqs[i].exists || k->lqs[i].spec.cluster_queue != cq->node.id)
            continue;
        const bool m = kq_namespace_matches(k, cq, i);
        mixed |= !first && m != cq->matches;
        cq->matches = m;
        first = false;
    }
    const bool split = cq->usage_order || mixed;
    if (split != cq->split)
        regroup(k, cq, split);
}
