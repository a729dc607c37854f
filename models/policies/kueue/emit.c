/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the engine says about its decisions. */
#include <math.h>
#include <string.h>

#include "models/policies/kueue/assign.h"
#include "models/policies/kueue/cycle.h"
#include "models/policies/kueue/evaluation.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/share.h"
#include "models/policies/kueue/topology.h"

/* ---- entries ---- */

static void emit_choices(struct kq *k, const struct kq_shape *s, const struct kq_assign *a,
                         uint32_t set, struct policy_assigned_set *to)
{
    const uint32_t n = s->sets[set].request_count + 1, base = s->cell_base[set];
    struct policy_choice *choices = kq_bump_alloc(&k->bump, n, sizeof *choices);
    to->choices = choices;
    for (uint32_t c = base; c < base + n; c++) {
        if (!a->cells[c].set)
            continue;
        const uint32_t resource =
            s->cell_resource[c] == POLICY_NONE ? k->pods_resource : s->cell_resource[c];
        choices[to->choice_count++] = (struct policy_choice){resource, a->cells[c].flavor};
    }
}

/* Hostname topologies name only the host. */
static void emit_domains(struct kq *k, const struct kq_assign *a, uint32_t set,
                         struct policy_assigned_set *to)
{
    if (!a->places.valid)
        return;
    const struct kq_placement *p = &a->places.sets[set];
    if (p->flavor == POLICY_NONE)
        return;
    const struct kq_topo *t = k->flavors[p->flavor].topo;
    const uint32_t skip = t->host ? t->level_count - 1 : 0;
    struct policy_domain *domains = kq_bump_alloc(&k->bump, p->count, sizeof *domains);
    to->placed = true;
    to->levels = t->levels + skip;
    to->level_count = t->level_count - skip;
    to->domains = domains;
    to->domain_count = p->count;
    for (uint32_t d = 0; d < p->count; d++) {
        const struct kq_domain *from = &a->places.domains[p->first + d];
        const struct kq_dom *leaf = &t->doms[t->level_count - 1][from->leaf];
        domains[d] = (struct policy_domain){
            .node = t->host ? t->nodes[t->first_node[from->leaf]] : POLICY_NONE,
            .values = (const char *const *)leaf->values + skip,
            .count = from->pods};
    }
}

static void emit_sets(struct kq *k, const struct kq_cq *cq, struct policy_entry *to)
{
    const struct kq_wl *w = kq_wl(k, cq->entry.workload);
    const struct kq_shape *s = k->shapes[w->shape];
    const struct kq_assign *a = &cq->entry.assign;
    struct policy_assigned_set *sets = kq_bump_alloc(&k->bump, s->set_count, sizeof *sets);
    const struct kq_plan *plan = kq_class_of(k, w)->plan;
    to->sets = sets;
    for (uint32_t g = 0; g < plan->group_count; g++)
        for (uint32_t i = 0; i < plan->groups[g].set_count; i++) {
            const uint32_t set = plan->groups[g].sets[i];
            if (!a->assigned[set])
                continue;
            struct policy_assigned_set *at = &sets[to->set_count++];
            at->name = s->sets[set].name;
            at->count = a->counts[set];
            emit_choices(k, s, a, set, at);
            emit_domains(k, a, set, at);
        }
}

static void emit_victims(struct kq *k, const struct kq_entry *e, struct policy_entry *to)
{
    struct policy_victim *v = kq_bump_alloc(&k->bump, e->targets.count, sizeof *v);
    to->victims = v;
    to->victim_count = (uint32_t)e->targets.count;
    for (uint32_t i = 0; i < to->victim_count; i++) {
        const struct kq_target *t = &e->targets.v[i];
        uint32_t j = i;
        for (; j > 0 && kq_wl(k, t->workload)->name_order < kq_wl(k, v[j - 1].workload)->name_order;
             j--)
            v[j] = v[j - 1];
        v[j] = (struct policy_victim){t->workload, t->reason,
                                      t->already && e->outcome == POLICY_OUT_PREEMPTING};
    }
}

const struct policy_entry *kq_make_entry(struct kq *k, const struct kq_cq *cq)
{
    const struct kq_entry *e = &cq->entry;
    struct policy_entry *to = kq_bump_alloc(&k->bump, 1, sizeof *to);
    *to = (struct policy_entry){.workload = e->workload,
                                .cluster_queue = cq->node.id,
                                .nominated = e->nominated,
                                .mode = e->nominated ? e->assign.mode : POLICY_NO_FIT,
                                .outcome = e->outcome,
                                .reason = e->reason,
                                .goes_to = (enum policy_place)e->goes_to,
                                .at_ns = e->at_ns,
                                .borrowing_level = e->nominated ? e->assign.level : 0};
    if (e->outcome == POLICY_OUT_ADMITTED)
        emit_sets(k, cq, to);
    else if (e->nominated)
        emit_victims(k, e, to);
    return to;
}

/* ---- the log of a cycle ---- */

static bool logged_before(const struct kq *k, uint32_t a, uint32_t b)
{
    const struct kq_cq *p = k->cqs[a], *q = k->cqs[b];
    if (p->entry.nominated != q->entry.nominated)
        return p->entry.nominated;
    if (!p->entry.nominated)
        return kq_wl(k, p->entry.workload)->name_order < kq_wl(k, q->entry.workload)->name_order;
    if (p->node.tree != q->node.tree)
        return p->node.tree->name_rank < q->node.tree->name_rank;
    return p->entry.position < q->entry.position;
}

static void gather(struct kq *k, struct kq_ids *list)
{
    list->count = 0;
    for (size_t i = 0; i < k->order.count; i++) {
        k->cqs[k->order.v[i]]->entry.position = (uint32_t)i;
        kq_ids_push(list, k->order.v[i]);
    }
    for (size_t i = 0; i < k->inadmissible.count; i++)
        kq_ids_push(list, k->inadmissible.v[i]);
    for (uint32_t t = 0; t < k->tree_count; t++) {
        const struct kq_tree *tree = &k->trees[t];
        for (size_t i = 0; tree->quiet && tree->cycle != k->cycle && i < tree->hot.count; i++)
            if (k->cqs[tree->hot.v[i]]->active)
                kq_ids_push(list, tree->hot.v[i]);
    }
}

/* Every head of the cycle: evaluated in it, or known to be evaluated as before. */
void kq_say_entries(struct kq *k, int64_t now, struct policy_outputs *out)
{
    struct kq_ids *list = &k->logged;
    gather(k, list);
    for (size_t i = 1; i < list->count; i++) {
        const uint32_t q = list->v[i];
        size_t j = i;
        for (; j > 0 && logged_before(k, q, list->v[j - 1]); j--)
            list->v[j] = list->v[j - 1];
        list->v[j] = q;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct kq_cq *cq = k->cqs[list->v[i]];
        kq_say(out, POLICY_SAY_ENTRY, cq->entry.workload, now)->u.entry = kq_make_entry(k, cq);
    }
}

/* ---- reasons and waiting classes ---- */

static enum policy_wait wait_of(const struct kq_entry *e)
{
    if (!e->nominated || e->assign.needs_place || e->assign.tried == POLICY_NONE)
        return POLICY_WAIT_OTHER;
    if (e->reason == POLICY_RQ_FAILED_AFTER_NOMINATION)
        return POLICY_WAIT_ORDER;
    return POLICY_WAIT_QUOTA;
}

static void fill_numbers(const struct kq_cq *cq, const struct kq_assign *a,
                         struct policy_numbers *n)
{
    *n = (struct policy_numbers){.flavor = POLICY_NONE, .resource = a->why_resource,
                                 .requested = a->why_amount, .level = a->level};
    if (a->why_fr == POLICY_NONE)
        return;
    const struct kq_quota *q = &cq->node.q[a->why_fr];
    n->flavor = cq->node.tree->frs[a->why_fr].flavor;
    n->resource = cq->node.tree->frs[a->why_fr].resource;
    n->available = kq_avail(cq, a->why_fr);
    n->potential = q->potential;
    n->nominal = q->nominal;
    n->used = q->use;
    n->subtree = q->subtree;
    n->borrowing_limit = q->borrow;
    n->lending_limit = q->lend;
    n->has_candidates = a->why_mode == KQ_PREEMPT || a->why_mode == KQ_RECLAIM;
}

static double share_value(struct kq_node *n)
{
    const struct kq_share s = kq_share_of(n);
    return kq_share_infinite(s) ? HUGE_VAL : s.ratio == 0.0 ? 0.0 : s.ratio / s.weight;
}

/* Under fair sharing: the queue's share as it is, and with what the workload asks for. */
static void fill_shares(const struct kq *k, struct kq_cq *cq, struct policy_reason *r)
{
    const struct kq_assign *a = &cq->entry.assign;
    if (!k->cfg.fair_sharing)
        return;
    r->share_before = share_value(&cq->node);
    for (size_t i = 0; i < a->use_count; i++)
        kq_add(&cq->node, a->use[i].fr, a->use[i].amount);
    r->share_after = share_value(&cq->node);
    for (size_t i = a->use_count; i-- > 0;)
        kq_remove(&cq->node, a->use[i].fr, a->use[i].amount);
}

static bool same_reason(const struct policy_reason *a, const struct policy_reason *b)
{
    return a->outcome == b->outcome && a->mode == b->mode && a->requeue == b->requeue &&
           a->wait == b->wait && a->flavor_tried == b->flavor_tried &&
           a->numbers.flavor == b->numbers.flavor && a->numbers.resource == b->numbers.resource;
}

bool kq_note_reason(struct kq *k, const struct kq_cq *cq)
{
    const struct kq_entry *e = &cq->entry;
    struct kq_class *c = kq_class_of(k, kq_wl(k, e->workload));
    struct policy_reason r = {.workload = e->workload,
                              .cluster_queue = cq->node.id,
                              .outcome = e->outcome,
                              .mode = e->nominated ? e->assign.mode : POLICY_NO_FIT,
                              .requeue = e->reason,
                              .wait = wait_of(e),
                              .flavor_tried = e->nominated ? e->assign.tried : POLICY_NONE,
                              .share_before = -1.0,
                              .share_after = -1.0};
    r.numbers.flavor = r.numbers.resource = POLICY_NONE;
    if (e->nominated && k->cfg.record_reasons) {
        fill_numbers(cq, &e->assign, &r.numbers);
        fill_shares(k, k->cqs[cq->node.id], &r);
    }
    if (c->has_reason && same_reason(&c->reason, &r)) {
        c->reason.repeats++;
        return false;
    }
    r.group_count = c->has_reason ? c->reason.repeats : 0; /* until it is said */
    c->reason = r;
    c->has_reason = c->reason_new = true;
    kq_mark_class(k, c);
    return true;
}

void kq_note_proven(struct kq *k, struct kq_class *c)
{
    const struct kq_cq *cq = k->cqs[c->cq];
    const struct kq_cq_group *g = cq->group_count > 0 ? &cq->groups[0] : NULL;
    const uint32_t repeats = c->has_reason ? c->reason.repeats : 0;
    c->reason = (struct policy_reason){.workload = POLICY_NONE,
                                       .cluster_queue = c->cq,
                                       .mode = POLICY_NO_FIT,
                                       .requeue = POLICY_RQ_NO_FIT,
                                       .wait = POLICY_WAIT_QUOTA,
                                       .flavor_tried = POLICY_NONE,
                                       .group_count = repeats,
                                       .share_before = -1.0,
                                       .share_after = -1.0};
    for (uint32_t f = 0; g != NULL && f < g->flavor_count; f++)
        if (c->plan == NULL || (c->plan->groups[0].flavor_ok[0] >> f & 1) != 0)
            c->reason.flavor_tried = g->flavors[f];
    c->reason.numbers.flavor = c->reason.numbers.resource = POLICY_NONE;
    c->has_reason = c->reason_new = true;
    kq_mark_class(k, c);
}

void kq_mark_class(struct kq *k, struct kq_class *c)
{
    if (c->dirty || !(k->cfg.record_pending || k->cfg.record_reasons))
        return;
    c->dirty = true;
    kq_ids_push(&k->dirty_classes, (uint32_t)(c - k->classes));
}

static void say_class(struct kq *k, struct kq_class *c, int64_t now, struct policy_outputs *out)
{
    c->dirty = false;
    if (k->cfg.record_pending) {
        struct policy_output *o = kq_say(out, POLICY_SAY_PENDING, POLICY_NONE, now);
        o->u.pending = (struct policy_pending){
            .cluster_queue = c->cq,
            .shape = c->shape,
            .priority = c->priority,
            .count = c->waiting,
            .wait = c->has_reason ? c->reason.wait : POLICY_WAIT_ORDER,
            .flavor_tried = c->has_reason ? c->reason.flavor_tried : POLICY_NONE};
    }
    if (c->reason_new && k->cfg.record_reasons) {
        if (c->reason.workload == POLICY_NONE)
            kq_say_proven(k, c, now, out);
        struct policy_reason *r = kq_bump_alloc(&k->bump, 1, sizeof *r);
        *r = c->reason;
        r->repeats = c->reason.group_count;
        r->group_count = c->waiting;
        kq_say(out, POLICY_SAY_REASON, r->workload, now)->u.reason = r;
    }
    c->reason_new = false;
}

void kq_say_classes(struct kq *k, int64_t now, struct policy_outputs *out)
{
    for (size_t i = 0; i < k->dirty_classes.count; i++)
        say_class(k, &k->classes[k->dirty_classes.v[i]], now, out);
    k->dirty_classes.count = 0;
}
