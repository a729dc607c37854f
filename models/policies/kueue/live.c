/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/live.h"

#include <string.h>

#include "models/policies/kueue/clone.h"
#include "models/policies/kueue/inputs.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/search.h"
#include "models/policies/kueue/topology.h"
#include "models/policies/kueue/usage.h"

enum { DEFER_ADD, DEFER_REMOVE, DEFER_REPLACED, DEFER_OBJECT };
enum { NS_PER_S = 1000000000 };

/* First index that is not before w. */
static size_t position(const struct kq *k, const struct kq_cq *cq, const struct kq_wl *w)
{
    const struct kq_candidate c = kq_as_candidate(w);
    size_t low = 0, high = cq->live.count;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        const struct kq_candidate m = kq_as_candidate(kq_wl(k, cq->live.v[mid]));
        if (kq_candidate_before(&m, &c))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void list_changed(struct kq *k, struct kq_cq *cq)
{
    static const struct kq_candidate none = {INT64_MAX, 0, UINT64_MAX, false};
    cq->live_serial++;
    cq->node.first = cq->live.count > 0 ? kq_as_candidate(kq_wl(k, cq->live.v[0])) : none;
    kq_changed(&cq->node);
}

static void insert(struct kq *k, struct kq_cq *cq, struct kq_wl *w)
{
    const size_t at = position(k, cq, w);
    kq_ids_push(&cq->live, w->id);
    memmove(&cq->live.v[at + 1], &cq->live.v[at], (cq->live.count - 1 - at) * sizeof *cq->live.v);
    cq->live.v[at] = w->id;
    w->in_list = true;
    list_changed(k, cq);
}

static void erase(struct kq *k, struct kq_cq *cq, struct kq_wl *w)
{
    const size_t at = position(k, cq, w);
    memmove(&cq->live.v[at], &cq->live.v[at + 1], (cq->live.count - 1 - at) * sizeof *cq->live.v);
    cq->live.count--;
    w->in_list = false;
    list_changed(k, cq);
}

static void add_now(struct kq *k, struct kq_wl *w)
{
    struct kq_cq *cq = k->cqs[w->cq];
    insert(k, cq, w);
    kq_put(k, w);
    if (w->placed_count > 0) { /* seen by all flavors on the same nodes, not only its own */
        kq_topo_use_workload(k, w, -1);
        kq_topo_commit(k, w, 1);
    }
    kq_touch(k, cq->node.tree);
}

static void remove_now(struct kq *k, struct kq_wl *w)
{
    struct kq_cq *cq = k->cqs[w->cq];
    if (!w->in_list)
        return;
    erase(k, cq, w);
    kq_take(k, w);
    if (w->placed_count > 0) {
        kq_topo_use_workload(k, w, 1);
        kq_topo_commit(k, w, -1);
    }
    w->use_count = 0;
    w->placed_count = 0;
    cq->generation++;
    kq_touch(k, cq->node.tree);
}

static void defer(struct kq *k, struct kq_deferred d)
{
    k->deferred = mem_grow(k->deferred, &k->deferred_capacity, k->deferred_count + 1,
                           sizeof *k->deferred);
    k->deferred[k->deferred_count++] = d;
}

static void copy_use(struct kq_wl *w, const struct kq_assign *a)
{
    w->use = mem_grow(w->use, &w->use_capacity, a->use_count, sizeof *w->use);
    if (a->use_count > 0)
        memcpy(w->use, a->use, a->use_count * sizeof *w->use);
    w->use_count = (uint32_t)a->use_count;
}

static void copy_places(struct kq_wl *w, const struct kq_assign *a, uint32_t set_count)
{
    w->placed_count = 0;
    if (!a->places.valid)
        return;
    w->placed =
        mem_grow(w->placed, &w->placed_capacity, a->places.domain_count, sizeof *w->placed);
    for (uint32_t i = 0; i < set_count; i++) {
        const struct kq_placement *p = &a->places.sets[i];
        for (uint32_t d = 0; p->flavor != POLICY_NONE && d < p->count; d++) {
            const struct kq_domain *at = &a->places.domains[p->first + d];
            w->placed[w->placed_count++] = (struct kq_placed_use){p->flavor, at->leaf, i, at->pods};
        }
    }
}

void kq_count_unready(struct kq *k, struct kq_wl *w, bool counts)
{
    if (w->counts_unready == counts)
        return;
    w->counts_unready = counts;
    k->unready_live += counts ? 1u : UINT32_MAX;
}

void kq_reserve(struct kq *k, int64_t now, struct kq_wl *w, const struct kq_assign *a)
{
    kq_count_waiting(k, w, -1);
    copy_use(w, a);
    copy_places(w, a, k->shapes[w->shape]->set_count);
    w->live = true;
    w->place = POLICY_PLACE_ADMITTED;
    w->evicted = w->preempted = false;
    w->ready = w->was_ready = false;
    w->reserved_s = now / NS_PER_S;
    w->admitted_ns = now;
    w->has_progress = false;
    w->qtime_ms = kq_queue_time(k, w);
    k->cqs[w->cq]->admitted++;
    kq_count_unready(k, w, true);
    if (k->afs)
        kq_usage_reserved(k, w);
    defer(k, (struct kq_deferred){.what = DEFER_ADD, .workload = w->id});
}

void kq_release(struct kq *k, struct kq_wl *w)
{
    if (!w->live)
        return;
    w->live = false;
    w->place = POLICY_PLACE_NONE;
    k->cqs[w->cq]->admitted--;
    kq_count_unready(k, w, false);
    if (k->afs)
        kq_usage_live(k, w, -1);
    if (k->suspended)
        defer(k, (struct kq_deferred){.what = DEFER_REMOVE, .workload = w->id});
    else
        remove_now(k, w);
}

void kq_mark_evicted(struct kq *k, struct kq_wl *w, int64_t now, enum policy_evict_reason reason)
{
    struct kq_cq *cq = k->cqs[w->cq];
    const bool listed = w->in_list;
    if (listed)
        erase(k, cq, w);
    w->evicted = true;
    w->evict_reason = reason;
    w->evicted_ns = now;
    w->evictions++;
    if (listed)
        insert(k, cq, w);
    kq_touch(k, cq->node.tree);
}

void kq_set_priority(struct kq *k, struct kq_wl *w, int64_t priority)
{
    struct kq_cq *cq = k->cqs[w->cq];
    const bool listed = w->in_list;
    if (listed)
        erase(k, cq, w);
    w->priority = priority;
    if (listed)
        insert(k, cq, w);
    kq_touch(k, cq->node.tree);
}

void kq_replaced(struct kq *k, struct kq_wl *w)
{
    if (!w->live)
        return;
    if (k->suspended)
        defer(k, (struct kq_deferred){.what = DEFER_REPLACED, .workload = w->id});
    else
        k->cqs[w->cq]->generation++;
}

void kq_defer_object(struct kq *k, const struct policy_input *in)
{
    defer(k, (struct kq_deferred){
                 .what = DEFER_OBJECT,
                 .kind = in->object_kind,
                 .id = in->object_id,
                 .object = kq_clone_object(&k->deferred_mem, in->object_kind, in->object)});
}

void kq_run_deferred(struct kq *k, int64_t now, struct policy_outputs *out)
{
    for (size_t i = 0; i < k->deferred_count; i++) {
        const struct kq_deferred *d = &k->deferred[i];
        struct kq_wl *w = d->what == DEFER_OBJECT ? NULL : kq_wl(k, d->workload);
        switch (d->what) {
        case DEFER_ADD:
            add_now(k, w);
            break;
        case DEFER_REMOVE:
            remove_now(k, w);
            break;
        case DEFER_REPLACED:
            k->cqs[w->cq]->generation++;
            break;
        default:
            kq_change_object(k, now,
                             &(struct policy_input){.kind = POLICY_IN_OBJECT,
                                                    .object_kind = d->kind,
                                                    .object_id = d->id,
                                                    .object = d->object},
                             out);
            break;
        }
    }
    k->deferred_count = 0;
    arena_fini(&k->deferred_mem);
}
