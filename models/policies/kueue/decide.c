/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "models/policies/kueue/assign.h"
#include "models/policies/kueue/place.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/search.h"
#include "sim/check.h"

static void add_request(struct kq *k, uint32_t fr, int64_t amount)
{
    struct kq_requests *r = &k->requests;
    for (size_t i = 0; i < r->count; i++)
        if (r->v[i].fr == fr) {
            r->v[i].amount = kq_plus(r->v[i].amount, amount);
            return;
        }
    r->v = mem_grow(r->v, &r->capacity, r->count + 1, sizeof *r->v);
    r->v[r->count++] = (struct kq_request){fr, amount};
}

/* Requests from the pod templates; the implicit "pods" is not among them (4.7). */
static void gather_requests(struct kq *k, const struct kq_shape *s, const struct kq_assign *a)
{
    k->requests.count = 0;
    for (uint32_t set = 0; set < s->set_count; set++)
        for (uint32_t r = 0; r < s->sets[set].request_count; r++) {
            const uint32_t cell = s->cell_base[set] + r;
            const int64_t v = kq_times(s->sets[set].requests[r].amount, a->counts[set]);
            if (a->cells[cell].set && v > 0)
                add_request(k, a->cells[cell].fr, v);
        }
}

/* The last search for a single flavor asked the same on the same state. */
static bool answered(const struct kq *k, const struct kq_search *s)
{
    return s->contested_count == 1 && s->want_count == 1 && s->place == NULL &&
           k->found_in == k->decisions && k->found_for.fr == s->want[0].fr &&
           s->contested[0] == s->want[0].fr && k->found_for.amount == s->want[0].amount;
}

static bool copy_found(struct kq *k, struct kq_targets *targets)
{
    targets->count = targets->returned.count = 0;
    for (size_t i = 0; i < k->found.count; i++)
        kq_targets_push(targets, k->found.v[i].workload, k->found.v[i].reason);
    for (size_t i = 0; i < k->found.returned.count; i++)
        kq_ids_push(&targets->returned, k->found.returned.v[i]);
    return targets->count > 0;
}

/* Victims for the whole assignment (4.7); with topology, the placement once they are gone. */
static bool find_targets(struct kq *k, const struct kq_decide *d, struct kq_assign *a,
                         struct kq_targets *targets)
{
    gather_requests(k, d->shape, a);
    const struct kq_search search = {.wl = d->wl,
                                     .cq = d->cq,
                                     .contested = a->contested.v,
                                     .contested_count = a->contested.count,
                                     .want = k->requests.v,
                                     .want_count = k->requests.count,
                                     .place = a->needs_place ? a : NULL};
    if (!(answered(k, &search) ? copy_found(k, targets) : kq_search_run(k, &search, targets)))
        return false;
    if (a->needs_place) {
        for (size_t i = 0; i < targets->count; i++)
            kq_take(k, kq_wl(k, targets->v[i].workload));
        kq_place_sets(k, d->shape, a, false, &a->places);
        for (size_t i = targets->count; i-- > 0;)
            kq_put(k, kq_wl(k, targets->v[i].workload));
    }
    return true;
}

static bool succeeds(struct kq *k, const struct kq_decide *d, struct kq_assign *a,
                     struct kq_targets *targets)
{
    targets->count = 0;
    return a->mode == POLICY_FIT ||
           (a->mode == POLICY_PREEMPT && find_targets(k, d, a, targets));
}

static void reduced_counts(const struct kq_shape *s, int64_t step, int64_t all, int64_t *counts)
{
    for (uint32_t i = 0; i < s->set_count; i++) {
        const struct policy_pod_set *p = &s->sets[i];
        const int64_t d = p->min_count != POLICY_NIL ? p->count - p->min_count : 0;
        counts[i] = p->count - (d / all * step + d % all * step / all);
    }
}

static void swap_assign(struct kq_assign *a, struct kq_assign *b)
{
    const struct kq_assign t = *a;
    *a = *b;
    *b = t;
}

static void swap_targets(struct kq_targets *a, struct kq_targets *b)
{
    const struct kq_targets t = *a;
    *a = *b;
    *b = t;
}

/* 4.8: the largest counts that fit or find victims, by binary search. */
static void reduce(struct kq *k, const struct kq_decide *d, struct kq_assign *assign,
                   struct kq_targets *targets)
{
    int64_t *counts = kq_bump_alloc(&k->bump, d->shape->set_count, sizeof *counts);
    int64_t all = 0;
    for (uint32_t i = 0; i < d->shape->set_count; i++) {
        const struct policy_pod_set *p = &d->shape->sets[i];
        all += p->min_count != POLICY_NIL ? p->count - p->min_count : 0;
    }
    REQUIRE(all > 0); /* reducible, and a minCount is at most its count */
    int64_t low = 0, high = all + 1;
    bool found = false;
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        reduced_counts(d->shape, mid, all, counts);
        kq_assign_run(k, d, counts, &k->probe);
        if (succeeds(k, d, &k->probe, &k->probe_targets)) {
            found = true;
            high = mid;
            swap_assign(&k->probe, &k->best);
            swap_targets(&k->probe_targets, targets);
        } else {
            low = mid + 1;
        }
    }
    if (found)
        swap_assign(&k->best, assign);
    else
        targets->count = 0;
}

void kq_decide_run(struct kq *k, const struct kq_decide *d, struct kq_assign *assign,
                   struct kq_targets *targets)
{
    int64_t few[8], *counts = few;
    k->decisions++;
    if (d->shape->set_count > 8)
        counts = kq_bump_alloc(&k->bump, d->shape->set_count, sizeof *counts);
    for (uint32_t i = 0; i < d->shape->set_count; i++)
        counts[i] = d->shape->sets[i].count;
    kq_assign_run(k, d, counts, assign);
    if (succeeds(k, d, assign, targets))
        return;
    if (k->gate[KQ_PARTIAL_ADMISSION] && d->shape->reducible)
        reduce(k, d, assign, targets);
}
