/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nomination and scan progress (spec 2.6, 4.6). */
#include <string.h>

#include "models/policies/kueue/assign.h"
#include "models/policies/kueue/cycle.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/search.h"
#include "models/policies/kueue/shape.h"

static void drop_stale_progress(const struct kq *k, const struct kq_cq *cq, struct kq_wl *w)
{
    if (!w->has_progress)
        return;
    if (!k->gate[KQ_FLAVOR_FUNGIBILITY])
        w->has_progress = false;
    else if (k->gate[KQ_PRESERVE_SCAN_PROGRESS] && k->cycle - w->progress_cycle <= 1)
        return;
    else if (cq->generation > w->progress_generation)
        w->has_progress = false;
}

/* -1, "start over", and no index at all mean the same to the next scan. */
static int8_t effective(const struct kq_wl *w, uint32_t cell)
{
    return w->has_progress && w->progress[cell] >= 0 ? w->progress[cell] : KQ_NO_PROGRESS;
}

static void note_progress_in(struct kq_entry *e, const struct kq_wl *w, uint32_t cells)
{
    e->progress_in =
        mem_grow(e->progress_in, &e->progress_in_capacity, cells, sizeof *e->progress_in);
    for (uint32_t c = 0; c < cells; c++)
        e->progress_in[c] = effective(w, c);
}

static bool progress_as_before(const struct kq_entry *e, const struct kq_wl *w, uint32_t cells)
{
    for (uint32_t c = 0; c < cells; c++)
        if (e->progress_in[c] != effective(w, c))
            return false;
    return true;
}

/* The same head met the same state before: its nomination still holds. */
static bool remembered(const struct kq *k, const struct kq_cq *cq, const struct kq_wl *w)
{
    const struct kq_entry *e = &cq->entry;
    return e->reusable && e->workload == w->id && e->version == cq->node.tree->version &&
           (!cq->node.tree->topology || e->topology_version == k->topology_version) &&
           progress_as_before(e, w, k->shapes[w->shape]->cell_count);
}

void kq_keep_progress(struct kq *k, struct kq_cq *cq)
{
    struct kq_wl *w = kq_wl(k, cq->entry.workload);
    const uint32_t cells = k->shapes[w->shape]->cell_count;
    w->progress = mem_grow(w->progress, &w->progress_capacity, cells, sizeof *w->progress);
    memcpy(w->progress, cq->entry.assign.progress, cells);
    w->has_progress = true;
    w->progress_cycle = k->cycle;
    w->progress_generation = cq->generation;
}

bool kq_progress_pending(const struct kq *k, const struct kq_wl *w)
{
    if (!w->has_progress)
        return false;
    for (uint32_t c = 0; c < k->shapes[w->shape]->cell_count; c++)
        if (w->progress[c] >= 0)
            return true;
    return false;
}

static struct kq_decide decision(struct kq *k, struct kq_cq *cq, struct kq_wl *w)
{
    struct kq_class *c = kq_class_of(k, w);
    if (c->plan == NULL)
        c->plan = kq_plan_make(k, cq, k->shapes[w->shape]);
    return (struct kq_decide){
        .wl = w, .cq = cq, .shape = k->shapes[w->shape], .plan = c->plan, .pin = NULL};
}

void kq_nominate(struct kq *k, struct kq_cq *cq, uint32_t workload)
{
    struct kq_wl *w = kq_wl(k, workload);
    struct kq_entry *e = &cq->entry;
    kq_count_progress(k, w, false);
    e->live = true;
    e->outcome = POLICY_OUT_WAITING;
    e->reason = POLICY_RQ_NONE;
    e->recorded_preemptor = cq->preemptor == workload;
    e->nominated = cq->split ? kq_namespace_matches(k, cq, w->lq) : cq->matches;
    if (!e->nominated) {
        e->workload = workload;
        e->reason = POLICY_RQ_NAMESPACE_MISMATCH;
        e->reusable = false;
        return;
    }
    drop_stale_progress(k, cq, w);
    if (!remembered(k, cq, w)) {
        e->workload = workload;
        note_progress_in(e, w, k->shapes[w->shape]->cell_count);
        const struct kq_decide d = decision(k, cq, w);
        kq_decide_run(k, &d, &e->assign, &e->targets);
        e->version = cq->node.tree->version;
        e->topology_version = k->topology_version;
        e->reusable = true;
    }
    kq_keep_progress(k, cq);
}

/* A resource that had no flavor can match nothing. */
static const uint32_t *pin_flavors(struct kq *k, const struct kq_shape *s,
                                   const struct kq_assign *a)
{
    k->pin.count = 0;
    for (uint32_t c = 0; c < s->cell_count; c++)
        kq_ids_push(&k->pin, a->cells[c].set ? a->cells[c].flavor : POLICY_NONE);
    return k->pin.v;
}

void kq_decide_again(struct kq *k, struct kq_cq *cq)
{
    struct kq_entry *e = &cq->entry;
    struct kq_wl *w = kq_wl(k, e->workload);
    struct kq_decide d = decision(k, cq, w);
    w->has_progress = false;
    d.pin = pin_flavors(k, d.shape, &e->assign);
    kq_decide_run(k, &d, &e->assign, &e->targets);
    e->reusable = false;
    kq_keep_progress(k, cq);
}
