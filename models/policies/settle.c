/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/settle.h"

#include <stdlib.h>

#include "models/policies/loops.h"
#include "sim/arena.h"

enum { EVICTIONS_CAP = 64, PASSES_MAX = 60 };

struct release {
    int64_t at;
    uint64_t name_order;
    uint32_t workload;
};

struct ids {
    uint32_t *v;
    size_t count, capacity;
};

struct settle {
    const struct policy_ops *ops;
    void *policy;
    struct settle_config cfg;
    struct settle_host host;
    struct policy_outputs out;
    uint64_t *name_order; /* by workload */
    size_t name_capacity;
    struct release *releases; /* heap by (time, name) */
    size_t release_count, release_capacity;
    struct ids changed, late, admitted; /* whose watch events are still to be handled */
    size_t *order, *spare;              /* of the inputs */
    size_t order_capacity, spare_capacity;
    uint32_t cycles, number; /* in this instant; number of the cycle being told */
    uint32_t evictions;      /* in this instant, of the workload that was evicted most often */
    uint32_t suspended_number;
    struct loops *loops;
};

struct settle *settle_create(const struct policy_ops *ops, void *policy,
                             const struct settle_config *config, const struct settle_host *host)
{
    struct settle *s = mem_zalloc(1, sizeof *s);
    s->ops = ops;
    s->policy = policy;
    s->cfg = *config;
    s->host = *host;
    if (s->cfg.cycle_cap == 0)
        s->cfg.cycle_cap = UINT32_MAX;
    s->loops = loops_create();
    return s;
}

void settle_destroy(struct settle *s)
{
    loops_destroy(s->loops);
    free(s->out.items);
    free(s->name_order);
    free(s->releases);
    free(s->changed.v);
    free(s->late.v);
    free(s->admitted.v);
    free(s->order);
    free(s->spare);
    free(s);
}

static void push(struct ids *ids, uint32_t id)
{
    ids->v = mem_grow(ids->v, &ids->capacity, ids->count + 1, sizeof *ids->v);
    ids->v[ids->count++] = id;
}

/* ---- releases ---- */

static bool sooner(const struct release *a, const struct release *b)
{
    return a->at != b->at ? a->at < b->at : a->name_order < b->name_order;
}

static void push_release(struct settle *s, struct release r)
{
    s->releases =
        mem_grow(s->releases, &s->release_capacity, s->release_count + 1, sizeof *s->releases);
    size_t at = s->release_count++;
    for (; at > 0 && sooner(&r, &s->releases[(at - 1) / 2]); at = (at - 1) / 2)
        s->releases[at] = s->releases[(at - 1) / 2];
    s->releases[at] = r;
}

static struct release pop_release(struct settle *s)
{
    const struct release top = s->releases[0], last = s->releases[--s->release_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < s->release_count; at = child) {
        if (child + 1 < s->release_count &&
            sooner(&s->releases[child + 1], &s->releases[child]))
            child++;
        if (!sooner(&s->releases[child], &last))
            break;
        s->releases[at] = s->releases[child];
    }
    if (s->release_count > 0)
        s->releases[at] = last;
    return top;
}

void settle_release_at(struct settle *s, uint32_t workload, int64_t t)
{
    push_release(s, (struct release){t, s->name_order[workload], workload});
}

static bool release_due(const struct settle *s, int64_t now)
{
    return s->release_count > 0 && s->releases[0].at <= now;
}

/* ---- outputs ---- */

static void note(struct settle *s, int64_t now, const struct policy_output *o)
{
    if (o->kind == POLICY_DO_ADMIT) {
        push(&s->changed, o->workload);
    } else if (o->kind == POLICY_DO_EVICT) {
        push(&s->changed, o->workload);
        const uint32_t n =
            loops_note(s->loops, o->workload, o->u.evict.preemptor, o->u.evict.reason, now);
        s->evictions = n > s->evictions ? n : s->evictions;
        if (s->cfg.eviction_ns >= 0)
            settle_release_at(s, o->workload, now + s->cfg.eviction_ns);
    }
}

static void tell(struct settle *s, int64_t now)
{
    const size_t n = s->out.count;
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        note(s, now, &s->out.items[i]);
    if (s->host.apply != NULL)
        s->host.apply(s->host.ctx, now, s->out.items, n);
    s->out.count = 0;
    s->ops->release_outputs(s->policy);
}

/* ---- watch events ---- */

static void sort_by_name(const struct settle *s, struct ids *ids)
{
    for (size_t gap = ids->count / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < ids->count; i++) {
            const uint32_t id = ids->v[i];
            size_t j = i;
            for (; j >= gap && s->name_order[id] < s->name_order[ids->v[j - gap]]; j -= gap)
                ids->v[j] = ids->v[j - gap];
            ids->v[j] = id;
        }
}

static void observe_all(struct settle *s, int64_t now, struct ids *ids)
{
    sort_by_name(s, ids);
    for (size_t i = 0; i < ids->count; i++) {
        s->ops->observed(s->policy, now, ids->v[i], &s->out);
        tell(s, now);
    }
    ids->count = 0;
}

/* Late events of the cycle before, then those of this one; its own late ones wait. */
static void observe(struct settle *s, int64_t now)
{
    size_t kept = 0;
    s->admitted.count = 0;
    for (size_t i = 0; i < s->changed.count; i++) {
        const uint32_t id = s->changed.v[i];
        if (s->ops->observed_late != NULL && s->ops->observed_late(s->policy, id))
            push(&s->admitted, id);
        else
            s->changed.v[kept++] = id;
    }
    s->changed.count = kept;
    observe_all(s, now, &s->late);
    observe_all(s, now, &s->changed);
    for (size_t i = 0; i < s->admitted.count; i++)
        push(&s->late, s->admitted.v[i]);
}

/* ---- steps ---- */

static bool blocked(const struct settle *s)
{
    return s->ops->blocked != NULL && s->ops->blocked(s->policy);
}

/* A suspended cycle goes on directly after the event that freed it. */
static void try_resume(struct settle *s, int64_t now)
{
    while (blocked(s) && s->ops->ready_to_resume(s->policy)) {
        s->number = s->suspended_number;
        s->ops->resume(s->policy, now, &s->out);
        tell(s, now);
        observe(s, now);
    }
}

/* The workload is gone: no release of it is due any more, and its id may be used again. */
static void forget(struct settle *s, uint32_t workload)
{
    loops_forget(s->loops, workload);
    for (size_t i = 0; i < s->release_count; i++)
        if (s->releases[i].workload == workload)
            s->releases[i].workload = POLICY_NONE;
}

static void give(struct settle *s, int64_t now, const struct policy_input *in)
{
    if (in->kind == POLICY_IN_FINISHED || in->kind == POLICY_IN_WITHDRAW)
        forget(s, in->workload);
    s->ops->input(s->policy, now, in, &s->out);
    tell(s, now);
    if (s->changed.count > 0)
        observe(s, now);
    try_resume(s, now);
}

static bool complete_releases(struct settle *s, int64_t now)
{
    bool any = false;
    while (release_due(s, now)) {
        const struct policy_input in = {.kind = POLICY_IN_RELEASED,
                                        .workload = pop_release(s).workload};
        if (in.workload == POLICY_NONE)
            continue;
        give(s, now, &in);
        any = true;
    }
    return any;
}

static bool run_due(struct settle *s, int64_t now, enum policy_due what)
{
    if (s->ops->next_due(s->policy, what) > now)
        return false;
    const bool moved = s->ops->due(s->policy, now, what, &s->out);
    tell(s, now);
    if (s->changed.count > 0)
        observe(s, now);
    try_resume(s, now);
    return moved;
}

static bool same_phase(enum policy_input_kind a, enum policy_input_kind b)
{
    return a == b || (a == POLICY_IN_READY && b == POLICY_IN_UNREADY) ||
           (a == POLICY_IN_UNREADY && b == POLICY_IN_READY);
}

static uint64_t rank(const struct settle *s, const struct policy_input *in)
{
    if (in->kind == POLICY_IN_OBJECT || in->kind == POLICY_IN_SUBMIT)
        return 0; /* keep their order */
    return in->workload < s->name_capacity ? s->name_order[in->workload] : 0;
}

static bool input_before(const struct settle *s, const struct policy_input *a,
                         const struct policy_input *b)
{
    return same_phase(a->kind, b->kind) ? rank(s, a) < rank(s, b) : a->kind < b->kind;
}

static void merge(const struct settle *s, const struct policy_input *in, const size_t *from,
                  size_t *to, size_t low, size_t mid, size_t high)
{
    for (size_t i = low, j = mid, at = low; at < high; at++)
        to[at] = i == mid || (j < high && input_before(s, &in[from[j]], &in[from[i]])) ? from[j++]
                                                                                      : from[i++];
}

/* Stable, so that what keeps its order does. The result is in s->order. */
static void sort_inputs(struct settle *s, const struct policy_input *inputs, size_t count)
{
    bool sorted = true;
    s->order = mem_grow(s->order, &s->order_capacity, count, sizeof *s->order);
    s->spare = mem_grow(s->spare, &s->spare_capacity, count, sizeof *s->spare);
    for (size_t i = 0; i < count; i++) {
        s->order[i] = i;
        sorted = sorted && (i == 0 || !input_before(s, &inputs[i], &inputs[i - 1]));
    }
    for (size_t width = 1; !sorted && width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            const size_t mid = low + width < count ? low + width : count;
            const size_t high = mid + width < count ? mid + width : count;
            merge(s, inputs, s->order, s->spare, low, mid, high);
        }
        size_t *swap = s->order;
        const size_t capacity = s->order_capacity;
        s->order = s->spare;
        s->order_capacity = s->spare_capacity;
        s->spare = swap;
        s->spare_capacity = capacity;
    }
}

static void learn_names(struct settle *s, const struct policy_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (inputs[i].kind != POLICY_IN_SUBMIT)
            continue;
        const struct policy_workload *w = inputs[i].submit;
        s->name_order =
            mem_grow(s->name_order, &s->name_capacity, (size_t)w->id + 1, sizeof *s->name_order);
        s->name_order[w->id] = w->name_order;
    }
}

/* Gives the sorted inputs from *next on up to the last one of a kind. */
static void give_until(struct settle *s, int64_t now, const struct policy_input *inputs,
                       size_t count, size_t *next, enum policy_input_kind last)
{
    for (; *next < count && inputs[s->order[*next]].kind <= last; (*next)++)
        if (inputs[s->order[*next]].kind != POLICY_IN_RELEASED) /* these are in the heap */
            give(s, now, &inputs[s->order[*next]]);
}

static void submissions(struct settle *s, int64_t now, const struct policy_input *inputs,
                        size_t count, size_t *next)
{
    for (; *next < count; (*next)++)
        give(s, now, &inputs[s->order[*next]]);
}

/* Cycles proven to be identical are counted, not run. */
static void skip_identical(struct settle *s, int64_t now, uint32_t idle, uint32_t limit)
{
    const uint32_t wanted = limit - idle, left = s->cfg.cycle_cap - s->cycles;
    const uint32_t n = wanted < left ? wanted : left;
    s->ops->repeat(s->policy, now, n);
    s->cycles += n;
}

static enum settle_status run_cycles(struct settle *s, int64_t now)
{
    const uint32_t limit = s->ops->idle_limit(s->policy);
    for (uint32_t idle = 0; idle < limit;) {
        if (s->cycles >= s->cfg.cycle_cap || s->evictions >= EVICTIONS_CAP) {
            loops_instant(s->loops, now, s->cycles);
            return SETTLE_LOOP;
        }
        s->number = s->cycles;
        const enum policy_cycle c = s->ops->cycle(s->policy, now, &s->out);
        if (c == POLICY_CYCLE_NONE)
            break;
        s->suspended_number = s->cycles++;
        tell(s, now);
        observe(s, now);
        if (c == POLICY_CYCLE_BLOCKED)
            return SETTLE_BLOCKED;
        bool changed = c == POLICY_CYCLE_CHANGED;
        changed |= complete_releases(s, now);
        changed |= run_due(s, now, POLICY_DUE_WAKES);
        idle = changed ? 0 : idle + 1;
        if (s->host.cycle != NULL)
            s->host.cycle(s->host.ctx, now, changed);
        if (!changed && c == POLICY_CYCLE_IDENTICAL && idle < limit) {
            skip_identical(s, now, idle, limit);
            if (s->cycles < s->cfg.cycle_cap)
                break;
        }
    }
    return SETTLE_REST;
}

static bool more_due(const struct settle *s, int64_t now)
{
    return release_due(s, now) || s->ops->next_due(s->policy, POLICY_DUE_WAKES) <= now ||
           s->ops->next_due(s->policy, POLICY_DUE_TIMEOUTS) <= now;
}

static enum settle_status one_pass(struct settle *s, int64_t now, const struct policy_input *inputs,
                                   size_t count)
{
    size_t next = 0;
    s->cycles = s->evictions = 0;
    give_until(s, now, inputs, count, &next, POLICY_IN_WITHDRAW);
    complete_releases(s, now);
    give_until(s, now, inputs, count, &next, POLICY_IN_UNREADY);
    run_due(s, now, POLICY_DUE_TIMEOUTS);
    complete_releases(s, now);
    run_due(s, now, POLICY_DUE_SAMPLES);
    submissions(s, now, inputs, count, &next);
    run_due(s, now, POLICY_DUE_WAKES);
    const enum settle_status status = blocked(s) ? SETTLE_BLOCKED : run_cycles(s, now);
    observe_all(s, now, &s->late);
    return status;
}

static void add_release_inputs(struct settle *s, int64_t now, const struct policy_input *inputs,
                               size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (inputs[i].kind == POLICY_IN_RELEASED)
            settle_release_at(s, inputs[i].workload, now);
}

enum settle_status policy_settle(struct settle *s, int64_t now, const struct policy_input *inputs,
                                 size_t count)
{
    learn_names(s, inputs, count);
    sort_inputs(s, inputs, count);
    add_release_inputs(s, now, inputs, count);
    enum settle_status status = one_pass(s, now, inputs, count);
    for (uint32_t pass = 0; status == SETTLE_REST && more_due(s, now) && pass < PASSES_MAX; pass++)
        status = one_pass(s, now, NULL, 0);
    return status;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t settle_next(struct settle *s, bool with_samples)
{
    int64_t t = s->release_count > 0 ? s->releases[0].at : POLICY_NEVER;
    t = earlier(t, s->ops->next_due(s->policy, POLICY_DUE_WAKES));
    t = earlier(t, s->ops->next_due(s->policy, POLICY_DUE_TIMEOUTS));
    if (with_samples)
        t = earlier(t, s->ops->next_due(s->policy, POLICY_DUE_SAMPLES));
    return t;
}

uint32_t settle_cycles(const struct settle *s)
{
    return s->number;
}

const struct settle_loop *settle_loop(struct settle *s)
{
    return loops_last(s->loops);
}
