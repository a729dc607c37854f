/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/walk.h"

#include <string.h>

#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/share.h"

/* ---- queues in the order of their shares ---- */

void kq_walk_static(struct kq_node *root, struct arena *mem)
{
    const uint32_t n = root->queue_count;
    struct kq_rank *r = arena_alloc(mem, 1, sizeof *r);
    r->by_share = arena_alloc(mem, n, sizeof *r->by_share);
    r->unsorted = arena_alloc(mem, n, sizeof(struct kq_node *));
    r->open = arena_alloc(mem, n, sizeof(struct kq_node *));
    for (uint32_t i = 0; i < n; i++) {
        struct kq_node *q = root->queues[i];
        q->siblings = r;
        q->ranked = false;
        q->unsorted = true;
        r->unsorted[r->unsorted_count++] = q;
    }
    root->rank = r;
    for (uint32_t i = 0; i < root->cohort_count; i++)
        kq_walk_static(root->cohorts[i], mem);
}

static bool same_candidate(const struct kq_candidate *a, const struct kq_candidate *b)
{
    return a->evicted == b->evicted && a->priority == b->priority &&
           a->reserved_s == b->reserved_s && a->uid_order == b->uid_order;
}

static bool stands_before(const struct kq_ranked *a, const struct kq_ranked *b)
{
    if (a->share != b->share)
        return a->share > b->share;
    if (same_candidate(&a->first, &b->first)) /* both have none */
        return a->q->id < b->q->id;
    return kq_candidate_before(&a->first, &b->first);
}

/* Index of the first one that does not stand before x. */
static uint32_t place_of(const struct kq_rank *r, const struct kq_ranked *x)
{
    uint32_t low = 0, high = r->ranked;
    while (low < high) {
        const uint32_t mid = (low + high) / 2;
        if (stands_before(&r->by_share[mid], x))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void rank_queue(struct kq_rank *r, struct kq_node *q)
{
    const struct kq_ranked now = {kq_share_key_of(q), q->first, q};
    const struct kq_ranked was = {q->ranked_share, q->ranked_first, q};
    const bool borrows = q->share_borrows;
    q->unsorted = false;
    if (q->ranked == borrows &&
        (!borrows || (now.share == was.share && same_candidate(&now.first, &was.first))))
        return;
    if (q->ranked) {
        struct kq_ranked *at = &r->by_share[place_of(r, &was)];
        memmove(at, at + 1, (size_t)(&r->by_share[r->ranked--] - (at + 1)) * sizeof *at);
    }
    q->ranked = borrows;
    if (!borrows)
        return;
    struct kq_ranked *at = &r->by_share[place_of(r, &now)];
    memmove(at + 1, at, (size_t)(&r->by_share[r->ranked++] - at) * sizeof *at);
    *at = now;
    q->ranked_share = now.share;
    q->ranked_first = now.first;
}

static void sort(struct kq_rank *r, uint64_t state)
{
    if (r->state == state)
        return;
    for (uint32_t i = 0; i < r->unsorted_count; i++)
        rank_queue(r, r->unsorted[i]);
    r->unsorted_count = 0;
    r->state = state;
}

/* ---- candidates ---- */

static bool borrows_contested(const struct kq_search *s, const struct kq_node *q)
{
    for (size_t i = 0; i < s->contested_count; i++)
        if (kq_borrowing_with(q, s->contested[i], 0))
            return true;
    return false;
}

static const struct kq_gather *gather_of(const struct kq_walk *w, const struct kq_node *q)
{
    return q == w->own ? &w->within : &w->others;
}

static void find_candidates(struct kq_walk *w, struct kq_node *q)
{
    struct kq *k = w->k;
    const size_t before = k->cursors.count;
    if (q == w->own || borrows_contested(w->s, q))
        kq_cursor_add(k, gather_of(w, q), k->cqs[q->id]);
    q->cursor = k->cursors.count > before ? (uint32_t)k->cursors.count : POLICY_NONE;
}

uint32_t kq_walk_first(struct kq_walk *w, struct kq_node *q)
{
    if (w->second && q->cursor != 0)
        return q->retry;
    if (q->cursor == 0)
        find_candidates(w, q);
    const uint32_t id =
        q->cursor == POLICY_NONE ? POLICY_NONE : kq_cursor_at(&w->k->cursors.v[q->cursor - 1]);
    if (w->second)
        q->retry = id;
    return id;
}

uint32_t kq_walk_pop(struct kq_walk *w, struct kq_node *q)
{
    const uint32_t id = kq_walk_first(w, q);
    if (w->second)
        q->retry = POLICY_NONE;
    else
        kq_cursor_step(w->k, gather_of(w, q), &w->k->cursors.v[q->cursor - 1]);
    return id;
}

void kq_walk_leave(struct kq_walk *w, struct kq_node *q, uint32_t workload)
{
    if (q->retry != POLICY_NONE)
        return;
    q->retry = workload;
    kq_ids_push(&w->k->retries, q->id);
}

void kq_walk_close(struct kq_walk *w, struct kq_node *q)
{
    struct kq_cursor *c = &w->k->cursors.v[q->cursor - 1];
    c->at = c->count;
}

/* ---- what is open ---- */

static struct kq_candidate candidate_of(struct kq_walk *w, struct kq_node *q)
{
    return kq_as_candidate(kq_wl(w->k, kq_walk_first(w, q)));
}

/* Whether a, with its first candidate, comes before b, with the candidate d. */
static bool ahead_of(struct kq_walk *w, struct kq_node *a, struct kq_node *b,
                     const struct kq_candidate *d)
{
    const uint64_t x = kq_share_key_of(a), y = kq_share_key_of(b);
    if (x != y)
        return x > y;
    const struct kq_candidate c = candidate_of(w, a);
    if (c.evicted == d->evicted && (a == w->own || b == w->own))
        return b == w->own;
    return kq_candidate_before(&c, d);
}

static bool ahead(struct kq_walk *w, struct kq_node *a, struct kq_node *b)
{
    if (kq_share_key_of(a) != kq_share_key_of(b))
        return kq_share_key_of(a) > kq_share_key_of(b);
    const struct kq_candidate d = candidate_of(w, b);
    return ahead_of(w, a, b, &d);
}

static bool prunes(struct kq_walk *w, struct kq_node *q)
{
    return kq_walk_first(w, q) == POLICY_NONE || (q != w->own && !kq_share_of(q).borrows);
}

/* Among the open ones of its cohort, or it is pruned. */
static void open_queue(struct kq_walk *w, struct kq_rank *r, struct kq_node *q)
{
    if (prunes(w, q))
        return;
    uint32_t at = r->open_count++;
    for (; at > 0 && ahead(w, q, r->open[(at - 1) / 2]); at = (at - 1) / 2)
        r->open[at] = r->open[(at - 1) / 2];
    r->open[at] = q;
}

/* The best one has changed for the worse since it was picked. */
static void settle_best(struct kq_walk *w, struct kq_rank *r)
{
    if (r->open_count == 0)
        return;
    struct kq_node *q = prunes(w, r->open[0]) ? r->open[--r->open_count] : r->open[0];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < r->open_count; at = child) {
        if (child + 1 < r->open_count && ahead(w, r->open[child + 1], r->open[child]))
            child++;
        if (!ahead(w, r->open[child], q))
            break;
        r->open[at] = r->open[child];
    }
    r->open[at] = q;
}

static struct kq_rank *opened(struct kq_walk *w, struct kq_node *cohort)
{
    struct kq_rank *r = cohort->rank;
    if (r->stamp == w->k->stamp)
        return r;
    r->stamp = w->k->stamp;
    r->open_count = 0;
    r->next = r->ranked;
    if (w->second)
        return r;
    if (w->has_others) {
        sort(r, w->state);
        r->next = 0;
    }
    if (cohort == w->own->parent && w->has_within)
        open_queue(w, r, w->own);
    return r;
}

/* ---- queues that the strategies is sure to refuse ---- */

static int64_t least_use(const struct kq *k, const struct kq_cq *cq, uint32_t fr)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < cq->live.count; i++) {
        const struct kq_wl *w = kq_wl(k, cq->live.v[i]);
        for (uint32_t u = 0; u < w->use_count; u++)
            if (w->use[u].fr == fr)
                least = kq_min(least, w->use[u].amount);
    }
    return least;
}

/* What is remembered of a queue and fr; its key is not up to date. */
static struct kq_least *least_of(const struct kq *k, struct kq_cq *cq, uint32_t fr)
{
    struct kq_least *l = &cq->least[fr % KQ_LEAST];
    if (l->fr == fr && l->live_serial == cq->live_serial)
        return l;
    *l = (struct kq_least){.fr = fr, .live_serial = cq->live_serial, .amount = least_use(k, cq, fr)};
    return l;
}

/* The share of a queue without the smallest workload on fr; 0: nobody uses it. */
static uint64_t key_without_least(const struct kq *k, struct kq_cq *cq, uint32_t fr)
{
    struct kq_least *l = least_of(k, cq, fr);
    if (l->use_serial == cq->node.use_serial)
        return l->key;
    const struct kq_use use = {.amount = l->amount, .fr = fr};
    l->use_serial = cq->node.use_serial;
    l->key = l->amount == INT64_MAX ? 0 : kq_share_key_without(&cq->node, &use, 1);
    return l->key;
}

bool kq_walk_refused(struct kq_walk *w, struct kq_node *q, struct kq_node *y, uint64_t floor)
{
    for (size_t i = 0; i < w->s->contested_count; i++) {
        const uint32_t fr = w->s->contested[i];
        const int64_t least = least_of(w->k, w->k->cqs[q->id], fr)->amount;
        if (least == INT64_MAX)
            continue;
        if (least > q->q[fr].use)
            return false; /* not sure: those that use it may be out already */
        kq_remove(q, fr, least);
        const uint64_t key = kq_share_key_of(y);
        kq_add(q, fr, least);
        if (key >= floor)
            return false;
    }
    return true;
}

/* Of equal shares the preemptor's own comes last, unless its first candidate is on its way out. */
static bool own_may_be_first(struct kq_walk *w)
{
    const uint32_t id = w->own->cursor == POLICY_NONE ? POLICY_NONE : kq_walk_first(w, w->own);
    return id != POLICY_NONE && kq_wl(w->k, id)->evicted;
}

/* Without any one of its candidates the share of q would be below that of the preemptor, its sibling:
 * they are left to the second strategy, and not even looked for. */
static bool refused(struct kq_walk *w, struct kq_node *q)
{
    if (!w->final_share || w->second || q == w->own || q->parent != w->own->parent)
        return false;
    const uint64_t floor = kq_share_key_of(w->own), key = kq_share_key_of(q);
    if (key < floor || (key == floor && own_may_be_first(w)))
        return false;
    for (size_t i = 0; i < w->s->contested_count; i++)
        if (key_without_least(w->k, w->k->cqs[q->id], w->s->contested[i]) >= floor)
            return false;
    if (q->cursor == 0)
        kq_ids_push(&w->k->retries, q->id);
    else if (kq_walk_first(w, q) != POLICY_NONE)
        kq_walk_leave(w, q, kq_walk_first(w, q));
    return true;
}

/* ---- the walk ---- */

/* The next queue that the walk has not come to; NULL: the rest does not borrow. */
static struct kq_node *next_of(const struct kq_walk *w, struct kq_rank *r)
{
    if (r->next < r->ranked && r->by_share[r->next].q == w->own)
        r->next++;
    return r->next < r->ranked ? r->by_share[r->next].q : NULL;
}

static void come_to(struct kq_walk *w, struct kq_rank *r, struct kq_node *q)
{
    r->next++;
    q->cursor = 0;
    q->retry = POLICY_NONE;
    if (!refused(w, q))
        open_queue(w, r, q);
}

/* The best queue of the cohort, at the front of the open ones. A queue that the walk has not come to
 * has no candidate before the first one of its list. */
static struct kq_node *pick_queue(struct kq_walk *w, struct kq_node *cohort)
{
    struct kq_rank *r = opened(w, cohort);
    for (;;) {
        struct kq_node *q = next_of(w, r);
        struct kq_node *best = r->open_count > 0 ? r->open[0] : NULL;
        if (q == NULL || (best != NULL && ahead_of(w, best, q, &q->first)))
            return best;
        come_to(w, r, q);
    }
}

static bool is_ancestor(const struct kq_node *a, const struct kq_node *n)
{
    for (n = n->parent; n != NULL; n = n->parent)
        if (n == a)
            return true;
    return false;
}

static struct kq_node *pick_cohort(struct kq_walk *w, struct kq_node *cohort)
{
    struct kq_node *best = NULL;
    for (uint32_t i = 0; i < cohort->cohort_count; i++) {
        struct kq_node *h = cohort->cohorts[i];
        if (h->mark == w->k->stamp)
            continue;
        if (!kq_share_of(h).borrows && !is_ancestor(h, w->own)) {
            h->mark = w->k->stamp;
            continue;
        }
        if (best == NULL || kq_share_key_of(h) >= kq_share_key_of(best))
            best = h;
    }
    return best;
}

/* One walk from a cohort down; NULL when the cohort has nothing left and was pruned. */
static struct kq_node *walk(struct kq_walk *w, struct kq_node *cohort)
{
    for (;;) {
        struct kq_node *q = pick_queue(w, cohort);
        struct kq_node *h = pick_cohort(w, cohort);
        if (q == NULL && h == NULL) {
            cohort->mark = w->k->stamp;
            return NULL;
        }
        if (h == NULL || (q != NULL && kq_share_key_of(h) < kq_share_key_of(q)))
            return q;
        cohort = h;
    }
}

struct kq_node *kq_walk_pick(struct kq_walk *w)
{
    if (w->own->parent == NULL)
        return kq_walk_first(w, w->own) != POLICY_NONE ? w->own : NULL;
    if (w->picked != NULL)
        settle_best(w, w->picked->parent->rank);
    w->picked = NULL;
    while (w->picked == NULL && w->root->mark != w->k->stamp)
        w->picked = walk(w, w->root);
    return w->picked;
}

/* ---- the end of it ---- */

/* What is below the cohort, as far as the walk would have come to it, is left to the second strategy. */
static void leave_below(struct kq_walk *w, struct kq_node *cohort)
{
    struct kq_rank *r = opened(w, cohort);
    for (struct kq_node *q; (q = next_of(w, r)) != NULL; r->next++) {
        q->cursor = 0;
        q->retry = POLICY_NONE;
        kq_ids_push(&w->k->retries, q->id);
    }
    for (uint32_t i = 0; i < r->open_count; i++)
        if (r->open[i] != w->own && kq_walk_first(w, r->open[i]) != POLICY_NONE)
            kq_walk_leave(w, r->open[i], kq_walk_first(w, r->open[i]));
    for (uint32_t i = 0; i < cohort->cohort_count; i++) {
        struct kq_node *h = cohort->cohorts[i];
        if (h->mark != w->k->stamp && (kq_share_of(h).borrows || is_ancestor(h, w->own)))
            leave_below(w, h);
    }
}

void kq_walk_close_below(struct kq_walk *w, struct kq_node *cohort, bool leave)
{
    if (leave)
        leave_below(w, cohort);
    cohort->mark = w->k->stamp;
}

/* ---- begin and end ---- */

enum { LIST_OTHERS, LIST_OWN };

bool kq_walk_begin(struct kq_walk *w, struct kq *k, const struct kq_search *s)
{
    const struct policy_cluster_queue *spec = &s->cq->spec;
    *w = (struct kq_walk){.k = k, .s = s, .own = &s->cq->node, .root = s->cq->node.tree->root};
    w->others = (struct kq_gather){.s = s, .policy = spec->reclaim_within_cohort, .list = LIST_OTHERS};
    w->within = (struct kq_gather){.s = s, .policy = spec->within_cluster_queue, .list = LIST_OWN};
    w->has_others = w->own->parent != NULL && spec->reclaim_within_cohort != POLICY_NEVER_PREEMPT;
    w->has_within = spec->within_cluster_queue != POLICY_NEVER_PREEMPT;
    w->own->cursor = w->has_within ? 0 : POLICY_NONE;
    w->own->retry = POLICY_NONE;
    w->state = w->root->tree->state;
    if (w->has_others)
        sort(w->own->parent->rank, w->state); /* other cohorts are as they were until they are opened */
    k->stamp++;
    k->retries.count = 0;
    return w->has_others || w->has_within;
}

void kq_walk_second(struct kq_walk *w)
{
    const struct kq *k = w->k;
    w->second = true;
    w->picked = NULL;
    w->k->stamp++;
    for (size_t i = 0; i < k->retries.count; i++) {
        struct kq_node *q = &k->cqs[k->retries.v[i]]->node;
        if (q->parent != w->own->parent || kq_share_key_of(q) > kq_share_key_of(w->own))
            open_queue(w, opened(w, q->parent), q); /* else it is refused again */
    }
}

void kq_walk_end(const struct kq_walk *w)
{
    w->root->tree->state = w->state;
}
