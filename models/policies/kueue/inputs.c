/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "models/policies/kueue/cycle.h"
#include "models/policies/kueue/live.h"
#include "models/policies/kueue/objects.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/ready.h"
#include "models/policies/kueue/usage.h"
#include "sim/check.h"

static void make_room(struct kq *k, uint32_t id)
{
    while (k->chunk_count <= id >> KQ_CHUNK_BITS) {
        k->chunks =
            mem_grow(k->chunks, &k->chunk_capacity, k->chunk_count + 1, sizeof(struct kq_wl *));
        struct kq_wl *chunk = mem_zalloc(KQ_CHUNK, sizeof *chunk);
        for (uint32_t i = 0; i < KQ_CHUNK; i++)
            chunk[i].timer_slot = POLICY_NONE;
        k->chunks[k->chunk_count++] = chunk;
    }
}

/* A new workload in the place of an old one keeps the old one's memory. */
static void init_workload(struct kq_wl *w, const struct policy_workload *s, uint32_t cq)
{
    const struct kq_wl old = *w;
    *w = (struct kq_wl){.id = s->id,
                        .lq = s->local_queue,
                        .cq = cq,
                        .shape = s->shape,
                        .known = true,
                        .priority = s->priority,
                        .created_ns = s->created_ns,
                        .uid_order = s->uid_order,
                        .name_order = s->name_order,
                        .requeue_at = POLICY_NEVER,
                        .timer_slot = POLICY_NONE,
                        .progress = old.progress,
                        .progress_capacity = old.progress_capacity,
                        .use = old.use,
                        .use_capacity = old.use_capacity,
                        .placed = old.placed,
                        .placed_capacity = old.placed_capacity};
}

static bool stopped(const struct kq *k, const struct kq_wl *w)
{
    return k->lqs[w->lq].spec.stop != POLICY_RUN;
}

static void enter(struct kq *k, struct kq_wl *w)
{
    w->qtime_ms = kq_queue_time(k, w);
    kq_count_waiting(k, w, 1);
    kq_enqueue(k, w);
    kq_touch(k, k->cqs[w->cq]->node.tree);
}

static void submit(struct kq *k, const struct policy_workload *s)
{
    make_room(k, s->id);
    REQUIRE(s->local_queue < k->lq_count && s->shape < k->shape_count);
    const uint32_t cq = k->lqs[s->local_queue].spec.cluster_queue;
    REQUIRE(cq < k->cq_count && k->cqs[cq] != NULL && k->cqs[cq]->node.tree != NULL);
    struct kq_wl *w = kq_wl(k, s->id);
    REQUIRE(!w->known && !w->in_list);
    init_workload(w, s, cq);
    kq_classify(k, w);
    if (stopped(k, w))
        kq_ids_push(&k->held, w->id);
    else
        enter(k, w);
}

/* The workload leaves for good. */
static void forget(struct kq *k, struct kq_wl *w)
{
    struct kq_cq *cq = k->cqs[w->cq];
    if (cq->preemptor == w->id)
        cq->preemptor = POLICY_NONE;
    if (cq->entry.workload == w->id)
        cq->entry.reusable = false;
    w->known = false;
    w->place = POLICY_PLACE_NONE;
    kq_ready_arm(k, w);
}

static void give_back(struct kq *k, int64_t now, struct kq_wl *w)
{
    if (k->afs)
        kq_usage_drop(k, w);
    kq_release(k, w);
    kq_ask_wake(k, now, &k->cqs[w->cq]->node);
}

static void finished(struct kq *k, int64_t now, struct kq_wl *w)
{
    give_back(k, now, w);
    forget(k, w);
}

static void leave_queue(struct kq *k, struct kq_wl *w)
{
    kq_count_progress(k, w, false);
    switch (kq_place(k, w)) {
    case POLICY_PLACE_QUEUE:
    case POLICY_PLACE_PARKED:
        kq_dequeue(k, w);
        kq_touch(k, k->cqs[w->cq]->node.tree);
        break;
    case POLICY_PLACE_BACKOFF:
        k->cqs[w->cq]->backoff_count--;
        break;
    case POLICY_PLACE_NONE:
        for (size_t i = 0; i < k->held.count; i++)
            if (k->held.v[i] == w->id)
                k->held.v[i--] = k->held.v[--k->held.count];
        return; /* it was not counted as waiting */
    case POLICY_PLACE_FLIGHT:
    case POLICY_PLACE_ADMITTED:
        break;
    }
    kq_count_waiting(k, w, -1);
}

static void withdraw(struct kq *k, int64_t now, struct kq_wl *w)
{
    if (w->live)
        give_back(k, now, w);
    else
        leave_queue(k, w);
    forget(k, w);
}

static void released(struct kq *k, int64_t now, struct kq_wl *w, struct policy_outputs *out)
{
    if (w->inactive) { /* its quota was free since the decision */
        w->stopping = false;
        kq_ask_wake(k, now, &k->cqs[w->cq]->node);
        forget(k, w);
        return;
    }
    if (!w->live)
        return;
    give_back(k, now, w);
    w->has_progress = false;
    if (stopped(k, w))
        kq_ids_push(&k->held, w->id);
    else
        kq_ready_released(k, now, w, out);
}

static void set_priority(struct kq *k, int64_t now, struct kq_wl *w, int64_t priority)
{
    if (w->priority == priority)
        return;
    const enum policy_place place = kq_place(k, w);
    if (place == POLICY_PLACE_ADMITTED) {
        kq_set_priority(k, w, priority);
        kq_classify(k, w);
        kq_replaced(k, w);
        kq_ask_wake(k, now, &k->cqs[w->cq]->node);
        return;
    }
    const bool counted = place != POLICY_PLACE_NONE;
    if (counted)
        leave_queue(k, w);
    w->priority = priority;
    kq_classify(k, w);
    if (place == POLICY_PLACE_QUEUE || place == POLICY_PLACE_PARKED)
        enter(k, w); /* its own update moves it out of the parked ones */
    else if (counted)
        kq_count_waiting(k, w, 1);
}

/* ---- objects ---- */

static void evict_all(struct kq *k, int64_t now, struct kq_cq *cq, uint32_t lq,
                      struct policy_outputs *out)
{
    const size_t n = cq->live.count;
    uint32_t *ids = kq_bump_alloc(&k->bump, n, sizeof *ids);
    if (n > 0)
        memcpy(ids, cq->live.v, n * sizeof *ids);
    for (size_t i = 0; i < n; i++) {
        struct kq_wl *w = kq_wl(k, ids[i]);
        if (w->evicted || (lq != POLICY_NONE && w->lq != lq))
            continue;
        kq_mark_evicted(k, w, now, POLICY_EVICT_STOPPED);
        kq_replaced(k, w);
        kq_ready_arm(k, w);
        struct policy_output *o = kq_say(out, POLICY_DO_EVICT, w->id, now);
        o->u.evict.reason = POLICY_EVICT_STOPPED;
        o->u.evict.preemptor = POLICY_NONE;
        o->u.evict.until_ns = POLICY_NEVER;
    }
}

/* Waiting workloads of a stopped local queue are in no queue; a resumed one gets them back. */
static void local_queue_changed(struct kq *k, int64_t now, uint32_t id, struct policy_outputs *out)
{
    const struct kq_lq *q = &k->lqs[id];
    if (q->exists && q->spec.stop == POLICY_RUN) {
        for (size_t i = 0; i < k->held.count; i++) {
            struct kq_wl *w = kq_wl(k, k->held.v[i]);
            if (w->lq != id)
                continue;
            k->held.v[i--] = k->held.v[--k->held.count];
            enter(k, w);
        }
        return;
    }
    for (size_t c = 0; c < k->chunk_count; c++)
        for (uint32_t i = 0; i < KQ_CHUNK; i++) {
            struct kq_wl *w = &k->chunks[c][i];
            const enum policy_place p = w->known && w->lq == id ? kq_place(k, w)
                                                                : POLICY_PLACE_NONE;
            if (p != POLICY_PLACE_QUEUE && p != POLICY_PLACE_PARKED)
                continue;
            leave_queue(k, w);
            kq_ids_push(&k->held, w->id);
        }
    if (q->exists && q->spec.stop == POLICY_HOLD_AND_DRAIN)
        evict_all(k, now, k->cqs[q->spec.cluster_queue], id, out);
}

static struct kq_node *node_of(const struct kq *k, const struct policy_input *in)
{
    const uint32_t id = in->object_id;
    if (in->object_kind == POLICY_OBJ_CLUSTER_QUEUE && id < k->cq_count && k->cqs[id] != NULL)
        return &k->cqs[id]->node;
    if (in->object_kind == POLICY_OBJ_COHORT && id < k->cohort_count && k->cohorts[id] != NULL)
        return &k->cohorts[id]->node;
    return NULL;
}

/* Queues of the changed tree, or all of them, get a new generation (3.5), and a wake. */
static void tree_changed(struct kq *k, int64_t now, const struct kq_node *n)
{
    for (uint32_t i = 0; i < k->by_name_count; i++)
        if (n == NULL || k->by_name[i]->node.tree == n->tree)
            k->by_name[i]->generation++;
    for (uint32_t i = 0; i < k->tree_count; i++)
        if (n == NULL || n->tree == &k->trees[i])
            kq_ask_wake(k, now, k->trees[i].root);
}

void kq_change_object(struct kq *k, int64_t now, const struct policy_input *in,
                      struct policy_outputs *out)
{
    struct kq_node *node = node_of(k, in);
    if (node != NULL && node->tree != NULL)
        kq_ask_wake(k, now, node); /* the old tree */
    kq_set_object(k, in->object_kind, in->object_id, in->object);
    kq_build(k);
    if (in->object_kind == POLICY_OBJ_LOCAL_QUEUE) {
        local_queue_changed(k, now, in->object_id, out);
        return;
    }
    node = in->object != NULL ? node_of(k, in) : NULL;
    tree_changed(k, now, node);
    if (node != NULL && node->is_queue && k->cqs[node->id]->spec.stop == POLICY_HOLD_AND_DRAIN)
        evict_all(k, now, k->cqs[node->id], POLICY_NONE, out);
}

static void object(struct kq *k, int64_t now, const struct policy_input *in,
                   struct policy_outputs *out)
{
    if (!k->suspended) {
        kq_change_object(k, now, in, out);
        return;
    }
    struct kq_node *node = node_of(k, in);
    if (node != NULL && node->tree != NULL)
        kq_ask_wake(k, now, node);
    kq_defer_object(k, in);
}

static struct kq_wl *known(struct kq *k, uint32_t id)
{
    if (id >> KQ_CHUNK_BITS >= k->chunk_count || !kq_wl(k, id)->known)
        return NULL;
    return kq_wl(k, id);
}

static void workload_input(struct kq *k, int64_t now, const struct policy_input *in,
                           struct policy_outputs *out)
{
    struct kq_wl *w = known(k, in->workload);
    if (w == NULL)
        return;
    switch (in->kind) {
    case POLICY_IN_PRIORITY:
        set_priority(k, now, w, in->value);
        break;
    case POLICY_IN_FINISHED:
        finished(k, now, w);
        break;
    case POLICY_IN_WITHDRAW:
        withdraw(k, now, w);
        break;
    case POLICY_IN_RELEASED:
        released(k, now, w, out);
        break;
    case POLICY_IN_READY:
    case POLICY_IN_UNREADY:
        kq_ready_changed(k, now, w, in->kind == POLICY_IN_READY);
        break;
    case POLICY_IN_OBJECT:
    case POLICY_IN_SUBMIT:
        break;
    }
}

void kq_input(void *ctx, int64_t now, const struct policy_input *in, struct policy_outputs *out)
{
    struct kq *k = ctx;
    if (in->kind == POLICY_IN_OBJECT)
        object(k, now, in, out);
    else if (in->kind == POLICY_IN_SUBMIT)
        submit(k, in->submit);
    else
        workload_input(k, now, in, out);
    kq_say_classes(k, now, out);
}

void kq_observed(void *ctx, int64_t now, uint32_t workload, struct policy_outputs *out)
{
    struct kq *k = ctx;
    struct kq_wl *w = known(k, workload);
    (void)out;
    if (w == NULL)
        return;
    kq_replaced(k, w);
    if (k->afs && w->live)
        kq_usage_settle(k, now, w);
    kq_ready_arm(k, w);
}

bool kq_observed_late(void *ctx, uint32_t workload)
{
    struct kq *k = ctx;
    const struct kq_wl *w = known(k, workload);
    return w != NULL && w->penalty && w->live && !w->evicted;
}
