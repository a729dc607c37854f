/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/ready.h"

#include "models/policies/kueue/live.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/usage.h"

enum { NS_PER_S = 1000000000 };

/* ---- heap of timers by (time, name) ---- */

static bool sooner(const struct kq *k, uint32_t a, uint32_t b)
{
    const struct kq_wl *v = kq_wl(k, a), *w = kq_wl(k, b);
    return v->timer_at != w->timer_at ? v->timer_at < w->timer_at : v->name_order < w->name_order;
}

static void put(struct kq *k, uint32_t slot, uint32_t id)
{
    k->timers.v[slot] = id;
    kq_wl(k, id)->timer_slot = slot;
}

static void up(struct kq *k, uint32_t slot)
{
    const uint32_t id = k->timers.v[slot];
    for (; slot > 0 && sooner(k, id, k->timers.v[(slot - 1) / 2]); slot = (slot - 1) / 2)
        put(k, slot, k->timers.v[(slot - 1) / 2]);
    put(k, slot, id);
}

static void down(struct kq *k, uint32_t slot)
{
    const uint32_t id = k->timers.v[slot];
    for (;;) {
        uint32_t child = 2 * slot + 1;
        if (child >= k->timers.count)
            break;
        if (child + 1 < k->timers.count && sooner(k, k->timers.v[child + 1], k->timers.v[child]))
            child++;
        if (!sooner(k, k->timers.v[child], id))
            break;
        put(k, slot, k->timers.v[child]);
        slot = child;
    }
    put(k, slot, id);
}

static void drop_timer(struct kq *k, struct kq_wl *w)
{
    if (w->timer_slot == POLICY_NONE)
        return;
    const uint32_t slot = w->timer_slot, last = k->timers.v[--k->timers.count];
    w->timer_slot = POLICY_NONE;
    if (last == w->id)
        return;
    put(k, slot, last);
    up(k, slot);
    down(k, kq_wl(k, last)->timer_slot);
}

/* When the workload wants to be looked at: its timeout, or the end of its back-off. */
static int64_t wanted(const struct kq *k, const struct kq_wl *w)
{
    const struct policy_pods_ready *p = &k->cfg.pods_ready;
    if (!w->known || w->inactive)
        return POLICY_NEVER;
    if (w->requeue_at != POLICY_NEVER && !(w->live && !w->evicted))
        return w->requeue_passed ? POLICY_NEVER : w->requeue_at;
    if (!p->on || !w->live || w->evicted || w->ready)
        return POLICY_NEVER;
    if (!w->was_ready)
        return w->admitted_ns + p->timeout_ns;
    return p->recovery_timeout_ns > 0 ? w->unready_ns + p->recovery_timeout_ns : POLICY_NEVER;
}

void kq_ready_arm(struct kq *k, struct kq_wl *w)
{
    const int64_t at = wanted(k, w);
    if (at == POLICY_NEVER) {
        drop_timer(k, w);
        return;
    }
    if (w->timer_slot != POLICY_NONE) {
        if (w->timer_at == at)
            return;
        drop_timer(k, w);
    }
    w->timer_at = at;
    w->timer_slot = (uint32_t)k->timers.count;
    kq_ids_push(&k->timers, w->id);
    up(k, w->timer_slot);
}

int64_t kq_ready_next(const struct kq *k)
{
    return k->timers.count > 0 ? kq_wl(k, k->timers.v[0])->timer_at : POLICY_NEVER;
}

/* ---- what happens ---- */

void kq_ready_changed(struct kq *k, int64_t now, struct kq_wl *w, bool ready)
{
    if (!w->live || w->evicted || w->ready == ready)
        return;
    w->ready = ready;
    w->was_ready |= ready;
    if (!ready)
        w->unready_ns = now;
    kq_count_unready(k, w, !ready);
    kq_replaced(k, w);
    kq_ready_arm(k, w);
}

/* base, base * 2, base * 4, ... capped, but the first one never. */
static int64_t backoff(const struct policy_pods_ready *p, uint32_t n)
{
    int64_t d = p->backoff_base_ns;
    for (uint32_t i = 1; i < n; i++) {
        if (d > INT64_MAX / 4)
            break;
        d *= 2;
        if (p->backoff_max_ns > 0 && d >= p->backoff_max_ns)
            break;
    }
    if (n > 1 && p->backoff_max_ns > 0 && d > p->backoff_max_ns)
        d = p->backoff_max_ns;
    return d;
}

static struct policy_output *say_evicted(struct kq *k, int64_t now, struct kq_wl *w,
                                         enum policy_evict_reason reason,
                                         struct policy_outputs *out)
{
    kq_mark_evicted(k, w, now, reason);
    w->qtime_ms = kq_queue_time(k, w);
    struct policy_output *o = kq_say(out, POLICY_DO_EVICT, w->id, now);
    o->u.evict.reason = reason;
    o->u.evict.preemptor = POLICY_NONE;
    o->u.evict.until_ns = POLICY_NEVER;
    return o;
}

/* Its quota is free from the decision on, while its pods still run. */
static void deactivate(struct kq *k, int64_t now, struct kq_wl *w, struct policy_outputs *out)
{
    kq_say(out, POLICY_DO_DEACTIVATE, w->id, now);
    say_evicted(k, now, w, POLICY_EVICT_DEACTIVATED, out);
    w->inactive = true;
    w->backoff_count = 0;
    w->requeue_at = POLICY_NEVER;
    if (k->afs)
        kq_usage_drop(k, w);
    kq_release(k, w);
    w->stopping = true;
    kq_ask_wake(k, now, &k->cqs[w->cq]->node);
    kq_ready_arm(k, w);
}

static void time_out(struct kq *k, int64_t now, struct kq_wl *w, struct policy_outputs *out)
{
    const struct policy_pods_ready *p = &k->cfg.pods_ready;
    if (p->backoff_limit != POLICY_NIL && (int64_t)w->backoff_count + 1 > p->backoff_limit) {
        deactivate(k, now, w, out);
        return;
    }
    struct policy_output *o = say_evicted(k, now, w, POLICY_EVICT_PODS_READY_TIMEOUT, out);
    w->backoff_count++;
    const int64_t at = (now + backoff(p, w->backoff_count)) / NS_PER_S * NS_PER_S;
    if (w->requeue_at == POLICY_NEVER || at > w->requeue_at)
        w->requeue_at = at;
    w->requeue_passed = false;
    o->u.evict.count = w->backoff_count;
    o->u.evict.until_ns = w->requeue_at;
    kq_replaced(k, w);
    kq_ready_arm(k, w);
}

static void end_backoff(struct kq *k, int64_t now, struct kq_wl *w, struct policy_outputs *out)
{
    w->requeue_at = POLICY_NEVER;
    w->qtime_ms = kq_queue_time(k, w);
    if (w->place == POLICY_PLACE_BACKOFF)
        k->cqs[w->cq]->backoff_count--;
    kq_enqueue(k, w);
    kq_touch(k, k->cqs[w->cq]->node.tree);
    kq_ready_arm(k, w);
    struct policy_output *o = kq_say(out, POLICY_DO_REQUEUE, w->id, now);
    o->u.requeue.place = kq_place(k, w);
    o->u.requeue.backoff_finished = true;
}

void kq_ready_released(struct kq *k, int64_t now, struct kq_wl *w, struct policy_outputs *out)
{
    kq_count_waiting(k, w, 1);
    if (w->requeue_at == POLICY_NEVER) {
        w->qtime_ms = kq_queue_time(k, w);
        kq_enqueue(k, w);
        kq_touch(k, k->cqs[w->cq]->node.tree);
    } else if (w->requeue_at <= now) {
        end_backoff(k, now, w, out);
    } else {
        w->place = POLICY_PLACE_BACKOFF;
        k->cqs[w->cq]->backoff_count++;
    }
    kq_ready_arm(k, w);
}

/* One workload until nothing more follows from it. */
static void handle(struct kq *k, int64_t now, struct kq_wl *w, struct policy_outputs *out)
{
    if (w->live && !w->evicted) {
        time_out(k, now, w, out);
    } else if (w->place == POLICY_PLACE_BACKOFF) {
        end_backoff(k, now, w, out);
    } else { /* the back-off is over while the quota is still held */
        w->requeue_passed = true;
        kq_ready_arm(k, w);
    }
}

static void sort_by_name(struct kq *k, struct kq_ids *ids)
{
    for (size_t i = 1; i < ids->count; i++) {
        const uint32_t id = ids->v[i];
        size_t j = i;
        for (; j > 0 && kq_wl(k, id)->name_order < kq_wl(k, ids->v[j - 1])->name_order; j--)
            ids->v[j] = ids->v[j - 1];
        ids->v[j] = id;
    }
}

bool kq_ready_due(struct kq *k, int64_t now, struct policy_outputs *out)
{
    k->due.count = 0;
    while (kq_ready_next(k) <= now) {
        const uint32_t id = k->timers.v[0];
        drop_timer(k, kq_wl(k, id));
        kq_ids_push(&k->due, id);
    }
    sort_by_name(k, &k->due);
    for (size_t i = 0; i < k->due.count; i++)
        handle(k, now, kq_wl(k, k->due.v[i]), out);
    return k->due.count > 0;
}
