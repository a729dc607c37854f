/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processing of one entry of a cycle (spec 2.8) and what becomes of its workload (2.9). */
#include <string.h>

#include "models/policies/kueue/assign.h"
#include "models/policies/kueue/cycle.h"
#include "models/policies/kueue/evaluation.h"
#include "models/policies/kueue/live.h"
#include "models/policies/kueue/place.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/search.h"
#include "models/policies/kueue/topology.h"

struct fit {
    bool quota, topology;
};

static const struct kq_shape *shape_of(const struct kq *k, const struct kq_entry *e)
{
    return k->shapes[kq_wl(k, e->workload)->shape];
}

/* The victims so far that count for what is left to this queue: not those in other trees, unless
 * trees share the nodes of a topology. */
static const struct kq_ids *victims_for(const struct kq *k, const struct kq_cq *cq)
{
    return k->shared_topology ? &k->victims : &cq->node.tree->victims;
}

static void take_victims(struct kq *k, const struct kq_cq *cq)
{
    const struct kq_ids *victims = victims_for(k, cq);
    for (size_t i = 0; i < victims->count; i++) {
        kq_take(k, kq_wl(k, victims->v[i]));
        kq_wl(k, victims->v[i])->out = true;
    }
}

static void put_victims(struct kq *k, const struct kq_cq *cq)
{
    const struct kq_ids *victims = victims_for(k, cq);
    for (size_t i = victims->count; i-- > 0;) {
        kq_wl(k, victims->v[i])->out = false;
        kq_put(k, kq_wl(k, victims->v[i]));
    }
}

/* fits of 2.8: with the usage of this entry's targets taken out. */
static struct fit fits_without_targets(struct kq *k, struct kq_cq *cq)
{
    const struct kq_entry *e = &cq->entry;
    struct fit f = {true, true};
    for (size_t i = 0; i < e->targets.count; i++)
        if (!kq_wl(k, e->targets.v[i].workload)->victim)
            kq_take(k, kq_wl(k, e->targets.v[i].workload));
    for (size_t i = 0; i < e->assign.use_count && f.quota; i++)
        f.quota = kq_avail(cq, e->assign.use[i].fr) >= e->assign.use[i].amount;
    if (f.quota && e->assign.places.valid)
        f.topology = kq_place_still_fits(k, shape_of(k, e), &e->assign);
    for (size_t i = e->targets.count; i-- > 0;)
        if (!kq_wl(k, e->targets.v[i].workload)->victim)
            kq_put(k, kq_wl(k, e->targets.v[i].workload));
    return f;
}

/* The same with that of all victims so far taken out too. */
static struct fit fits(struct kq *k, struct kq_cq *cq)
{
    take_victims(k, cq);
    const struct fit f = fits_without_targets(k, cq);
    put_victims(k, cq);
    return f;
}

static bool overlaps(const struct kq *k, const struct kq_entry *e)
{
    for (size_t i = 0; i < e->targets.count; i++)
        if (kq_wl(k, e->targets.v[i].workload)->victim)
            return true;
    return false;
}

static void add_places(struct kq *k, const struct kq_entry *e)
{
    const struct kq_shape *s = shape_of(k, e);
    for (uint32_t i = 0; e->assign.places.valid && i < s->set_count; i++) {
        const struct kq_placement *p = &e->assign.places.sets[i];
        for (uint32_t d = 0; p->flavor != POLICY_NONE && d < p->count; d++) {
            const struct kq_domain *at = &e->assign.places.domains[p->first + d];
            k->topo_undo = mem_grow(k->topo_undo, &k->topo_undo_capacity, k->topo_undo_count + 1,
                                    sizeof *k->topo_undo);
            k->topo_undo[k->topo_undo_count++] =
                (struct kq_topo_undo){&s->sets[i], p->flavor, at->leaf, at->pods};
            kq_topo_use(k, &s->sets[i], p->flavor, at->leaf, at->pods);
        }
    }
}

static void add_use(struct kq *k, struct kq_cq *cq)
{
    const struct kq_assign *a = &cq->entry.assign;
    for (size_t i = 0; i < a->use_count; i++)
        kq_add_logged(k, &cq->node, a->use[i].fr, a->use[i].amount);
    add_places(k, &cq->entry);
}

/* Reservation for an entry that needs victims and found none. */
static void reserve(struct kq *k, struct kq_cq *cq)
{
    const struct kq_assign *a = &cq->entry.assign;
    for (size_t i = 0; i < a->use_count; i++) {
        const struct kq_quota *q = &cq->node.q[a->use[i].fr];
        int64_t v = a->use[i].amount;
        if (a->level == 0)
            v = kq_max(0, kq_min(v, kq_minus(q->nominal, q->use)));
        else if (q->borrow != POLICY_NIL)
            v = kq_min(v, kq_minus(kq_plus(q->nominal, q->borrow), q->use));
        kq_add_logged(k, &cq->node, a->use[i].fr, v);
    }
    add_places(k, &cq->entry);
}

static void evict_target(struct kq *k, struct kq_cq *cq, struct kq_target *t, int64_t now,
                         struct policy_outputs *out)
{
    struct kq_wl *v = kq_wl(k, t->workload);
    t->already = v->evicted;
    if (v->evicted || !v->live)
        return;
    kq_mark_evicted(k, v, now, t->reason);
    v->preempted = true;
    v->preempt_reason = t->reason;
    v->preempted_ns = now;
    k->cycle_changed = cq->node.tree->moved = true;
    struct policy_output *o = kq_say(out, POLICY_DO_EVICT, t->workload, now);
    o->u.evict.reason = t->reason;
    o->u.evict.preemptor = cq->entry.workload;
    o->u.evict.until_ns = POLICY_NEVER;
}

static void preempt(struct kq *k, struct kq_cq *cq, int64_t now, struct policy_outputs *out)
{
    struct kq_entry *e = &cq->entry;
    kq_wl(k, e->workload)->has_progress = false;
    kq_say_evaluation(k, cq, true, now, out);
    for (size_t i = 0; i < e->targets.count; i++)
        evict_target(k, cq, &e->targets.v[i], now, out);
    e->reason = POLICY_RQ_PENDING_PREEMPTION;
    e->outcome = POLICY_OUT_PREEMPTING;
}

void kq_admit(struct kq *k, struct kq_cq *cq, int64_t now, struct policy_outputs *out)
{
    struct kq_entry *e = &cq->entry;
    e->outcome = POLICY_OUT_ADMITTED;
    e->at_ns = now;
    e->reusable = false;
    k->cycle_changed = cq->node.tree->moved = true;
    kq_say_evaluation(k, cq, true, now, out);
    kq_reserve(k, now, kq_wl(k, e->workload), &e->assign);
    if (cq->preemptor == e->workload)
        cq->preemptor = POLICY_NONE;
    kq_say(out, POLICY_DO_ADMIT, e->workload, now)->u.entry = kq_make_entry(k, cq);
}

/* It is settled already what becomes of the entry, whether or not it fits. */
static bool settled(const struct kq_entry *e)
{
    return e->assign.mode == POLICY_NO_FIT || e->assign.mode == POLICY_DEFERRED_FIT ||
           (e->assign.mode == POLICY_PREEMPT && e->targets.count == 0);
}

/* Step A: the assignment is computed again where that is called for. */
static struct fit refresh(struct kq *k, struct kq_cq *cq)
{
    struct kq_entry *e = &cq->entry;
    struct fit f = {true, true};
    const bool overlap = k->gate[KQ_RECOMPUTE_OVERLAP] && overlaps(k, e);
    if (!overlap) {
        if (!settled(e) || e->assign.places.valid)
            f = fits(k, cq);
        if (f.topology || !k->gate[KQ_TOPOLOGY_RECOMPUTE])
            return f;
    }
    if (overlap)
        take_victims(k, cq);
    kq_decide_again(k, cq);
    if (overlap && e->assign.mode == POLICY_FIT)
        e->assign.mode = POLICY_DEFERRED_FIT;
    if (!settled(e))
        f = overlap ? fits_without_targets(k, cq) : fits(k, cq);
    if (overlap)
        put_victims(k, cq);
    return f;
}

static void no_candidates(struct kq *k, struct kq_cq *cq)
{
    cq->entry.reason = POLICY_RQ_PREEMPTION_NO_CANDIDATES;
    if (cq->spec.reclaim_within_cohort != POLICY_ANY ||
        (k->gate[KQ_PRIORITIZE_PREEMPTOR] && cq->entry.recorded_preemptor))
        reserve(k, cq);
}

static void deferred_fit(struct kq *k, struct kq_cq *cq)
{
    cq->entry.reason = POLICY_RQ_PENDING_PREEMPTION;
    kq_wl(k, cq->entry.workload)->has_progress = false;
    add_use(k, cq);
}

static void skip(struct kq *k, struct kq_entry *e)
{
    e->outcome = POLICY_OUT_SKIPPED;
    e->reason = POLICY_RQ_FAILED_AFTER_NOMINATION;
    if (!k->gate[KQ_PRESERVE_SCAN_PROGRESS])
        kq_wl(k, e->workload)->has_progress = false;
}

static void add_victims(struct kq *k, const struct kq_cq *cq)
{
    const struct kq_entry *e = &cq->entry;
    for (size_t i = 0; i < e->targets.count; i++) {
        kq_wl(k, e->targets.v[i].workload)->victim = true;
        kq_ids_push(&k->victims, e->targets.v[i].workload);
        kq_ids_push(&cq->node.tree->victims, e->targets.v[i].workload);
    }
}

bool kq_process(struct kq *k, struct kq_cq *cq, int64_t now, struct policy_outputs *out)
{
    struct kq_entry *e = &cq->entry;
    if (e->assign.mode == POLICY_NO_FIT) {
        e->reason = POLICY_RQ_NO_FIT;
        return true;
    }
    const struct fit f = refresh(k, cq);
    if (e->assign.mode == POLICY_NO_FIT) {
        e->reason = POLICY_RQ_NO_FIT;
    } else if (e->assign.mode == POLICY_PREEMPT && e->targets.count == 0) {
        no_candidates(k, cq);
    } else if (e->assign.mode == POLICY_DEFERRED_FIT) {
        deferred_fit(k, cq);
    } else if (!f.quota || !f.topology || overlaps(k, e)) {
        skip(k, e);
    } else {
        add_victims(k, cq);
        add_use(k, cq);
        if (e->assign.mode == POLICY_PREEMPT)
            preempt(k, cq, now, out);
        else if (k->cfg.pods_ready.block_admission && k->unready_live > 0)
            return false;
        else
            kq_admit(k, cq, now, out);
    }
    return true;
}

static bool immediate(const struct kq_cq *cq, enum policy_requeue_reason r)
{
    if (cq->spec.queueing == POLICY_STRICT_FIFO)
        return r != POLICY_RQ_NAMESPACE_MISMATCH;
    return r == POLICY_RQ_FAILED_AFTER_NOMINATION || r == POLICY_RQ_PENDING_PREEMPTION ||
           r == POLICY_RQ_PREEMPTION_FAILED;
}

static bool parks_its_class(const struct kq *k, const struct kq_cq *cq,
                            enum policy_requeue_reason r)
{
    return k->gate[KQ_SHAPE_HASHING] && cq->spec.queueing == POLICY_BEST_EFFORT_FIFO &&
           (r == POLICY_RQ_NO_FIT || r == POLICY_RQ_PREEMPTION_NO_CANDIDATES);
}

/* The cycle leaves scan progress and recorded preemptor as they were before it. */
static bool as_before(const struct kq *k, const struct kq_cq *cq, const struct kq_wl *w)
{
    const struct kq_entry *e = &cq->entry;
    const uint32_t cells = e->nominated ? k->shapes[w->shape]->cell_count : 0;
    for (uint32_t c = 0; c < cells; c++) {
        const bool pending = w->has_progress && w->progress[c] >= 0;
        if (e->progress_in[c] != (pending ? w->progress[c] : KQ_NO_PROGRESS))
            return false;
    }
    return true;
}

static void record_preemptor(struct kq_cq *cq, struct kq_wl *w)
{
    const bool sticky = cq->spec.queueing == POLICY_BEST_EFFORT_FIFO;
    if (cq->preemptor == w->id && cq->preemptor_sticky == sticky)
        return;
    cq->preemptor = w->id;
    cq->preemptor_sticky = sticky;
    cq->node.tree->moved = true;
}

void kq_requeue_entry(struct kq *k, struct kq_cq *cq, int64_t now, struct policy_outputs *out)
{
    struct kq_entry *e = &cq->entry;
    struct kq_wl *w = kq_wl(k, e->workload);
    e->live = false;
    e->goes_to = POLICY_PLACE_NONE;
    if (e->outcome == POLICY_OUT_ADMITTED || w->place != POLICY_PLACE_FLIGHT) {
        cq->node.tree->moved = true;
        return; /* admitted, or withdrawn while the cycle was suspended */
    }
    if (e->reason == POLICY_RQ_PENDING_PREEMPTION)
        record_preemptor(cq, w);
    const bool pending = kq_progress_pending(k, w);
    const bool to_heap = immediate(cq, e->reason) || cq->flushed || pending;
    kq_count_progress(k, w, pending);
    kq_requeue(k, w, to_heap);
    e->goes_to = to_heap ? POLICY_PLACE_QUEUE : POLICY_PLACE_PARKED;
    if (!to_heap) {
        k->cycle_changed = cq->node.tree->moved = true;
        if (parks_its_class(k, cq, e->reason))
            kq_park_class(k, k->groups[w->group].cls);
    } else if (!as_before(k, cq, w)) {
        cq->node.tree->moved = true;
        e->reusable = false;
    }
    if (kq_note_reason(k, cq) && e->outcome != POLICY_OUT_PREEMPTING)
        kq_say_evaluation(k, cq, false, now, out);
    struct policy_output *o = kq_say(out, POLICY_DO_REQUEUE, w->id, now);
    o->u.requeue.place = (enum policy_place)e->goes_to;
    o->u.requeue.reason = e->reason;
}
