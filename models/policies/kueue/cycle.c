/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/cycle.h"

#include <stdlib.h>

#include "models/policies/kueue/fast.h"
#include "models/policies/kueue/live.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/topology.h"

/* Trees are quiet only where nothing outside of them can change what a cycle decides. */
static bool may_be_quiet(const struct kq *k, const struct kq_tree *t)
{
    return !t->by_usage && !k->cfg.pods_ready.block_admission &&
           !(t->topology && k->shared_topology);
}

static void sort_by_name(const struct kq *k, struct kq_ids *queues)
{
    for (size_t gap = queues->count / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < queues->count; i++) {
            const uint32_t q = queues->v[i];
            size_t j = i;
            for (; j >= gap && k->cqs[q]->name_rank < k->cqs[queues->v[j - gap]]->name_rank;
                 j -= gap)
                queues->v[j] = queues->v[j - gap];
            queues->v[j] = q;
        }
}

/* Queues with a head, of trees where another cycle may change something, by name. */
static void collect(struct kq *k)
{
    size_t kept = 0;
    k->order.count = 0;
    for (size_t i = 0; i < k->warm.count; i++) {
        struct kq_tree *t = &k->trees[k->warm.v[i]];
        if (t->quiet || t->hot.count == 0) {
            t->listed = false;
            continue;
        }
        k->warm.v[kept++] = k->warm.v[i];
        t->moved = false;
        t->cycle = k->cycle;
        for (size_t q = 0; q < t->hot.count; q++)
            if (k->cqs[t->hot.v[q]]->active)
                kq_ids_push(&k->order, t->hot.v[q]);
    }
    k->warm.count = kept;
    k->counts.cycles++;
    k->counts.repeated += k->ready_queues - k->order.count;
    sort_by_name(k, &k->order);
}

static void nominate_all(struct kq *k)
{
    size_t nominated = 0;
    k->inadmissible.count = 0;
    for (size_t i = 0; i < k->order.count; i++) {
        struct kq_cq *cq = k->cqs[k->order.v[i]];
        kq_nominate(k, cq, kq_pop(k, cq));
        if (cq->entry.nominated)
            k->order.v[nominated++] = k->order.v[i];
        else
            kq_ids_push(&k->inadmissible, k->order.v[i]);
    }
    k->order.count = nominated;
}

/* With fair sharing the order is made as entries are processed. */
static void begin_order(struct kq *k)
{
    k->order_done = 0;
    k->at_admission = false;
    if (!k->cfg.fair_sharing) {
        kq_sort_entries(k, &k->order);
        return;
    }
    k->left.count = 0;
    for (size_t i = 0; i < k->order.count; i++)
        kq_ids_push(&k->left, k->order.v[i]);
    k->left_count = (uint32_t)k->order.count;
    k->left_begun = false;
    k->order.count = 0;
}

static struct kq_cq *next_entry(struct kq *k)
{
    if (k->order_done < k->order.count)
        return k->cqs[k->order.v[k->order_done]];
    if (!k->cfg.fair_sharing || k->left_count == 0)
        return NULL;
    struct kq_cq *cq = kq_tournament(k);
    kq_ids_push(&k->order, cq->node.id);
    return cq;
}

static void undo_topology(struct kq *k)
{
    while (k->topo_undo_count > 0) {
        const struct kq_topo_undo *u = &k->topo_undo[--k->topo_undo_count];
        kq_topo_use(k, u->set, u->flavor, u->leaf, -u->pods);
    }
}

static void forget_victim(struct kq *k, struct kq_wl *w)
{
    w->victim = false;
    k->cqs[w->cq]->node.tree->victims.count = 0;
}

static void settle_trees(struct kq *k)
{
    for (size_t i = 0; i < k->warm.count; i++) {
        struct kq_tree *t = &k->trees[k->warm.v[i]];
        if (t->cycle == k->cycle)
            t->quiet = !t->moved && may_be_quiet(k, t);
    }
}

static enum policy_cycle finish(struct kq *k, int64_t now, struct policy_outputs *out)
{
    k->suspended = false;
    kq_undo_all(k);
    undo_topology(k);
    for (size_t i = 0; i < k->victims.count; i++)
        forget_victim(k, kq_wl(k, k->victims.v[i]));
    k->victims.count = 0;
    for (size_t i = 0; i < k->order.count; i++)
        kq_requeue_entry(k, k->cqs[k->order.v[i]], now, out);
    for (size_t i = 0; i < k->inadmissible.count; i++)
        kq_requeue_entry(k, k->cqs[k->inadmissible.v[i]], now, out);
    settle_trees(k);
    if (k->cfg.record_entries)
        kq_say_entries(k, now, out);
    struct policy_output *o = kq_say(out, POLICY_SAY_CYCLE, POLICY_NONE, now);
    o->u.cycle.cycle = k->cycle;
    o->u.cycle.began_ns = k->cycle_began_ns;
    o->u.cycle.changed = k->cycle_changed;
    kq_run_deferred(k, now, out);
    kq_say_classes(k, now, out);
    if (k->cycle_changed)
        return POLICY_CYCLE_CHANGED;
    for (size_t i = 0; i < k->warm.count; i++)
        if (!k->trees[k->warm.v[i]].quiet)
            return POLICY_CYCLE_SAME;
    return POLICY_CYCLE_IDENTICAL;
}

static enum policy_cycle process_rest(struct kq *k, int64_t now, struct policy_outputs *out)
{
    for (struct kq_cq *cq; (cq = next_entry(k)) != NULL; k->order_done++) {
        if (kq_process(k, cq, now, out))
            continue;
        k->suspended = k->at_admission = true;
        return POLICY_CYCLE_BLOCKED;
    }
    return finish(k, now, out);
}

static bool any_warm(const struct kq *k)
{
    for (size_t i = 0; i < k->warm.count; i++)
        if (!k->trees[k->warm.v[i]].quiet && k->trees[k->warm.v[i]].hot.count > 0)
            return true;
    return false;
}

/* Nothing is left but queues woken in proof: their cycles are counted at once. */
static enum policy_cycle count_woken(struct kq *k, int64_t now, struct policy_outputs *out)
{
    const uint64_t until = kq_woken_until(k);
    if (until > k->cycle) {
        k->skipped += (uint32_t)(until - k->cycle);
        k->counts.cycles += until - k->cycle;
        k->counts.repeated += (until - k->cycle) * k->ready_queues;
        k->cycle = until;
    }
    kq_end_woken(k);
    kq_say_classes(k, now, out);
    return k->skipped > 0 ? POLICY_CYCLE_CHANGED : POLICY_CYCLE_NONE;
}

/* Heads of the next cycle that has one without a proof; false: there is no such cycle. */
static bool next_heads(struct kq *k)
{
    for (;;) {
        k->cycle++;
        collect(k);
        k->cycle_changed = kq_woken_until(k) >= k->cycle;
        if (!k->fast || !kq_park_proven(k, &k->order))
            return true;
        k->cycle_changed = true;
        if (k->order.count > 0)
            return true;
        k->skipped++;
        if (k->ready_queues == 0 || !any_warm(k))
            return false;
    }
}

enum policy_cycle kq_cycle_run(struct kq *k, int64_t now, struct policy_outputs *out)
{
    k->skipped = 0;
    kq_recheck_woken(k);
    if (k->ready_queues == 0 || (k->woken.count > 0 && !any_warm(k))) {
        const enum policy_cycle counted = count_woken(k, now, out);
        if (counted != POLICY_CYCLE_NONE || k->ready_queues == 0)
            return counted;
    } /* else: heads that are looked at in vain once more */
    k->cycle_began_ns = now;
    if (!next_heads(k))
        return count_woken(k, now, out);
    k->counts.evaluated += k->order.count;
    nominate_all(k);
    begin_order(k);
    return process_rest(k, now, out);
}

enum policy_cycle kq_cycle_resume(struct kq *k, int64_t now, struct policy_outputs *out)
{
    struct kq_cq *cq = next_entry(k);
    k->at_admission = k->suspended = false;
    kq_admit(k, cq, now, out);
    k->order_done++;
    return process_rest(k, now, out);
}
