/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/pending_view.h"

#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/check.h"
#include "sim/fnv.h"
#include "sim/sim_time.h"

struct request { /* of one pod set: per pod */
    uint32_t set, resource;
    int64_t amount;
};

struct shape {
    struct request *requests;
    int64_t *counts;
    uint32_t request_count, set_count;
};

struct class { /* waiting workloads of one (queue, shape, priority) */
    uint32_t queue, shape, count, tried;
    int64_t priority;
};

struct use { /* a list per workload, in a pool */
    uint32_t cell, next;
    int64_t amount;
    size_t holding; /* SIZE_MAX: not kept */
};

struct holder { /* by workload */
    uint32_t first;      /* use; POLICY_NONE: holds nothing */
    uint32_t generation;
    bool reserved_only;
};

struct check { /* the end of admission checks: a heap by time */
    int64_t at;
    uint32_t workload, generation;
};

struct pending_view {
    struct pending_options o;
    struct qflow *flow;
    struct pending_watch *watch;
    struct arena mem;
    struct shape *shapes;
    size_t shape_capacity;
    struct class *classes;
    size_t class_count, class_capacity;
    uint32_t *map; /* open addressing: class + 1 */
    size_t map_size;
    struct use *uses;
    size_t use_count, use_capacity;
    uint32_t free_use;
    struct holder *holders;
    size_t holder_capacity;
    struct check *checks;
    size_t check_count, check_capacity;
    uint32_t pods_resource;
    struct pending_holding *holdings;
    size_t holding_count, holding_capacity;
};

struct pending_view *pending_create(const struct pending_options *o)
{
    struct pending_view *v = mem_zalloc(1, sizeof *v);
    v->o = *o;
    v->flow = qflow_create(o->config);
    v->watch = pending_watch_create(o, v->flow);
    v->free_use = v->pods_resource = POLICY_NONE;
    for (uint32_t i = 0; i < o->config->resource_count; i++)
        if (strcmp(o->config->resources[i], "pods") == 0)
            v->pods_resource = i;
    return v;
}

void pending_destroy(struct pending_view *v)
{
    if (v == NULL)
        return;
    qflow_destroy(v->flow);
    pending_watch_destroy(v->watch);
    arena_fini(&v->mem);
    free(v->shapes);
    free(v->classes);
    free(v->map);
    free(v->uses);
    free(v->holders);
    free(v->checks);
    free(v->holdings);
    free(v);
}

struct qflow *pending_flow(struct pending_view *v)
{
    return v->flow;
}

uint64_t pending_alarms(const struct pending_view *v, const struct pending_alarm **alarms, size_t *count)
{
    return pending_watch_alarms(v->watch, alarms, count);
}

size_t pending_holdings(const struct pending_view *v, const struct pending_holding **holdings)
{
    *holdings = v->holdings;
    return v->holding_count;
}

/* ---- shapes ---- */

static int64_t times(int64_t a, int64_t b)
{
    int64_t r;
    if (a <= 0 || b <= 0)
        return 0;
    return __builtin_mul_overflow(a, b, &r) || r > QFLOW_UNLIMITED ? QFLOW_UNLIMITED : r;
}

static void add_request(struct shape *s, uint32_t set, uint32_t resource, int64_t amount)
{
    s->requests[s->request_count++] = (struct request){set, resource, amount};
}

/* Where a queue covers "pods", it is their count, whatever the pods say of it themselves. */
void pending_shape(struct pending_view *v, uint32_t id, const struct policy_shape *shape)
{
    if (id >= v->shape_capacity) {
        const size_t old = v->shape_capacity;
        v->shapes = mem_grow(v->shapes, &v->shape_capacity, (size_t)id + 1, sizeof *v->shapes);
        memset(v->shapes + old, 0, (v->shape_capacity - old) * sizeof *v->shapes);
    }
    struct shape *s = &v->shapes[id];
    size_t most = 1;
    if (s->requests != NULL)
        return;
    for (uint32_t i = 0; i < shape->pod_set_count; i++)
        most += shape->pod_sets[i].request_count + 1;
    s->requests = arena_alloc(&v->mem, most, sizeof *s->requests);
    s->counts = arena_alloc(&v->mem, (size_t)shape->pod_set_count + 1, sizeof *s->counts);
    s->set_count = shape->pod_set_count;
    for (uint32_t i = 0; i < shape->pod_set_count; i++) {
        const struct policy_pod_set *p = &shape->pod_sets[i];
        s->counts[i] = p->count;
        for (uint32_t r = 0; r < p->request_count; r++)
            if (p->requests[r].resource != v->pods_resource)
                add_request(s, i, p->requests[r].resource, p->requests[r].amount);
        if (v->pods_resource != POLICY_NONE)
            add_request(s, i, v->pods_resource, 1);
    }
}

/* ---- waiting ---- */

static uint64_t key_of(uint32_t queue, uint32_t shape, int64_t priority)
{
    const int64_t v[] = {queue, shape, priority};
    return fnv_add(FNV_START, v, sizeof v);
}

static void map_grow(struct pending_view *v)
{
    v->map_size = v->map_size == 0 ? 256 : 2 * v->map_size;
    free(v->map);
    v->map = mem_zalloc(v->map_size, sizeof *v->map);
    for (size_t i = 0; i < v->class_count; i++) {
        const struct class *c = &v->classes[i];
        size_t at = key_of(c->queue, c->shape, c->priority) & (v->map_size - 1);
        while (v->map[at] != 0)
            at = (at + 1) & (v->map_size - 1);
        v->map[at] = (uint32_t)i + 1;
    }
}

static struct class *class_of(struct pending_view *v, const struct policy_pending *p)
{
    if (2 * (v->class_count + 1) > v->map_size)
        map_grow(v);
    size_t at = key_of(p->cluster_queue, p->shape, p->priority) & (v->map_size - 1);
    for (; v->map[at] != 0; at = (at + 1) & (v->map_size - 1)) {
        struct class *c = &v->classes[v->map[at] - 1];
        if (c->queue == p->cluster_queue && c->shape == p->shape && c->priority == p->priority)
            return c;
    }
    v->classes = mem_grow(v->classes, &v->class_capacity, v->class_count + 1, sizeof *v->classes);
    v->classes[v->class_count] = (struct class){p->cluster_queue, p->shape, 0, POLICY_NONE, p->priority};
    v->map[at] = (uint32_t)++v->class_count;
    return &v->classes[v->class_count - 1];
}

/* `count` more of the class wait, with what they tried. */
static void count_waiting(struct pending_view *v, int64_t now, const struct class *c, int64_t count)
{
    const struct shape *s = &v->shapes[c->shape];
    for (uint32_t i = 0; i < s->request_count; i++) {
        const struct request *r = &s->requests[i];
        const uint32_t cell = qflow_waiting_cell(v->flow, c->queue, c->tried, r->resource);
        const int64_t all = times(r->amount, s->counts[r->set]);
        if (cell != POLICY_NONE && all > 0)
            qflow_pend(v->flow, now, cell, count < 0 ? -times(all, -count) : times(all, count));
    }
}

static void on_pending(struct pending_view *v, int64_t now, const struct policy_pending *p)
{
    struct class *c = class_of(v, p);
    REQUIRE(p->shape < v->shape_capacity && v->shapes[p->shape].requests != NULL);
    pending_watch_dirty(v->watch, p->cluster_queue);
    if (c->tried == p->flavor_tried) {
        if (p->count != c->count)
            count_waiting(v, now, c, (int64_t)p->count - (int64_t)c->count);
        c->count = p->count;
        return;
    }
    count_waiting(v, now, c, -(int64_t)c->count);
    c->count = p->count;
    c->tried = p->flavor_tried;
    count_waiting(v, now, c, c->count);
}

/* ---- holding ---- */

static void checks_due(struct pending_view *v, int64_t now);

static void add_use(struct pending_view *v, struct holder *h, uint32_t cell, int64_t amount)
{
    uint32_t at = v->free_use;
    if (at != POLICY_NONE) {
        v->free_use = v->uses[at].next;
    } else {
        v->uses = mem_grow(v->uses, &v->use_capacity, v->use_count + 1, sizeof *v->uses);
        at = (uint32_t)v->use_count++;
    }
    v->uses[at] = (struct use){cell, h->first, amount, SIZE_MAX};
    h->first = at;
}

/* The use that was added last, under its name; a workload's uses share the text. */
static const char *keep_holding(struct pending_view *v, const struct holder *h, int64_t now, uint32_t workload, const char *known)
{
    char name[PENDING_NAME_SIZE] = "";
    struct use *u = &v->uses[h->first];
    if (known == NULL) {
        v->o.name(v->o.ctx, workload, name);
        known = arena_strdup(&v->mem, name);
    }
    v->holdings = mem_grow(v->holdings, &v->holding_capacity, v->holding_count + 1, sizeof *v->holdings);
    u->holding = v->holding_count;
    v->holdings[v->holding_count++] = (struct pending_holding){known, u->cell, u->amount, now, POLICY_NEVER};
    return known;
}

static uint32_t flavor_of(const struct policy_assigned_set *set, uint32_t resource)
{
    for (uint32_t i = 0; i < set->choice_count; i++)
        if (set->choices[i].resource == resource)
            return set->choices[i].flavor;
    return POLICY_NONE;
}

static void push_check(struct pending_view *v, struct check e)
{
    v->checks = mem_grow(v->checks, &v->check_capacity, v->check_count + 1, sizeof *v->checks);
    size_t at = v->check_count++;
    for (; at > 0 && e.at < v->checks[(at - 1) / 2].at; at = (at - 1) / 2)
        v->checks[at] = v->checks[(at - 1) / 2];
    v->checks[at] = e;
}

static struct check pop_check(struct pending_view *v)
{
    const struct check top = v->checks[0], last = v->checks[--v->check_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < v->check_count; at = child) {
        if (child + 1 < v->check_count && v->checks[child + 1].at < v->checks[child].at)
            child++;
        if (last.at <= v->checks[child].at)
            break;
        v->checks[at] = v->checks[child];
    }
    if (v->check_count > 0)
        v->checks[at] = last;
    return top;
}

static struct holder *holder_of(struct pending_view *v, uint32_t workload)
{
    if (workload >= v->holder_capacity) {
        size_t old = v->holder_capacity;
        v->holders = mem_grow(v->holders, &v->holder_capacity, (size_t)workload + 1, sizeof *v->holders);
        for (; old < v->holder_capacity; old++)
            v->holders[old] = (struct holder){.first = POLICY_NONE};
    }
    return &v->holders[workload];
}

static void on_admit(struct pending_view *v, int64_t now, uint32_t workload, const struct policy_entry *e,
                     uint32_t shape, int64_t checks_ns)
{
    struct holder *h = holder_of(v, workload);
    const struct shape *s = &v->shapes[shape];
    const char *name = NULL;
    REQUIRE(h->first == POLICY_NONE);
    for (uint32_t i = 0; i < s->request_count; i++) {
        const struct request *r = &s->requests[i];
        const struct policy_assigned_set *set = r->set < e->set_count ? &e->sets[r->set] : NULL;
        const uint32_t flavor = set == NULL ? POLICY_NONE : flavor_of(set, r->resource);
        const uint32_t cell = flavor == POLICY_NONE ? POLICY_NONE
                              : qflow_cell(v->flow, POLICY_OBJ_CLUSTER_QUEUE, e->cluster_queue, flavor, r->resource);
        const int64_t amount = set == NULL ? 0 : times(r->amount, set->count);
        if (cell == POLICY_NONE || amount == 0)
            continue;
        add_use(v, h, cell, amount);
        if (v->o.holdings)
            name = keep_holding(v, h, now, workload, name);
        qflow_reserve(v->flow, now, cell, amount);
        if (checks_ns == 0)
            qflow_admit(v->flow, now, cell, amount);
    }
    h->reserved_only = checks_ns > 0;
    if (h->reserved_only)
        push_check(v, (struct check){sim_time_after(now, checks_ns), workload, h->generation});
}

static void checks_due(struct pending_view *v, int64_t now)
{
    while (v->check_count > 0 && v->checks[0].at <= now) {
        const struct check e = pop_check(v);
        struct holder *h = &v->holders[e.workload];
        if (h->generation != e.generation)
            continue;
        h->reserved_only = false;
        for (uint32_t u = h->first; u != POLICY_NONE; u = v->uses[u].next)
            qflow_admit(v->flow, e.at, v->uses[u].cell, v->uses[u].amount);
    }
}

void pending_release(struct pending_view *v, int64_t now, uint32_t workload)
{
    struct holder *h = holder_of(v, workload);
    checks_due(v, now);
    for (uint32_t u = h->first, next; u != POLICY_NONE; u = next) {
        next = v->uses[u].next;
        qflow_reserve(v->flow, now, v->uses[u].cell, -v->uses[u].amount);
        if (!h->reserved_only)
            qflow_admit(v->flow, now, v->uses[u].cell, -v->uses[u].amount);
        pending_watch_dirty(v->watch, qflow_place(v->flow, v->uses[u].cell).id);
        if (v->uses[u].holding != SIZE_MAX)
            v->holdings[v->uses[u].holding].to_ns = now;
        v->uses[u].next = v->free_use;
        v->free_use = u;
    }
    h->first = POLICY_NONE;
    h->generation++;
}

void pending_output(struct pending_view *v, int64_t now, const struct policy_output *o, uint32_t shape, int64_t checks_ns)
{
    checks_due(v, now);
    if (o->kind == POLICY_DO_ADMIT)
        on_admit(v, now, o->workload, o->u.entry, shape, checks_ns);
    else if (o->kind == POLICY_SAY_PENDING)
        on_pending(v, now, &o->u.pending);
}

void pending_settled(struct pending_view *v, int64_t now)
{
    checks_due(v, now);
    pending_watch_settled(v->watch, now);
}

void pending_finish(struct pending_view *v, int64_t now)
{
    checks_due(v, now);
    pending_watch_finish(v->watch, now);
    qflow_finish(v->flow, now);
}
