/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An admission policy outside of fleetsim: strictly first come first served in every queue, on the
 * queue's own quota, nobody lends, nobody is evicted. It needs nothing but models/policies/policy.h.
 * README.md beside this file says how to build and use it.
 *
 * What a policy keeps: a copy of the objects it needs, the shapes, and a table of workloads. A queue
 * is a list in order of priority, then of creation; a cycle looks at the head of every queue.
 */
#include "models/policies/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct amount { /* quota of a queue: one (flavor, resource) */
    uint32_t flavor, resource;
    int64_t nominal, used;
};

struct queue {
    struct amount *amounts;
    uint32_t amount_count;
    uint32_t *flavors; /* in order of preference */
    uint32_t flavor_count;
    uint32_t head, count; /* waiting workloads */
    uint32_t admitted;
};

struct flavor {
    struct policy_label *labels;
    uint32_t label_count;
};

struct shape {
    struct policy_amount *requests; /* per pod */
    struct policy_label *selector;
    uint32_t request_count, selector_count;
    int64_t pods;
};

struct workload {
    uint32_t next, queue, shape;
    uint32_t flavor; /* POLICY_NONE: waits */
    int64_t priority, created_ns;
    uint64_t order;
};

struct fifo {
    struct queue *queues;
    struct flavor *flavors;
    uint32_t *queue_of; /* by local queue */
    struct shape *shapes;
    struct workload *workloads;
    uint32_t queue_count, flavor_count, shape_count, workload_capacity;
    bool ignore_undeclared, tell_pending;
    /* Memory of outputs, until release_outputs: one admission per queue and cycle. */
    struct policy_entry *entries;
    struct policy_assigned_set *sets;
    struct policy_choice *choices;
};

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (p == NULL)
        abort();
    return p;
}

static void *grow(void *old, size_t n, size_t size)
{
    void *p = realloc(old, (n + 1) * size);
    if (p == NULL)
        abort();
    return p;
}

static struct policy_label *copy_labels(const struct policy_label *from, uint32_t n)
{
    struct policy_label *to = allocate(n, sizeof *to);
    for (uint32_t i = 0; i < n; i++)
        to[i] = (struct policy_label){strdup(from[i].key), strdup(from[i].value)};
    return to;
}

static void free_labels(struct policy_label *labels, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        free((char *)(uintptr_t)labels[i].key);
        free((char *)(uintptr_t)labels[i].value);
    }
    free(labels);
}

/* ---- objects ---- */

static void add_group(struct queue *q, const struct policy_resource_group *g)
{
    uint32_t amounts = q->amount_count + g->flavor_count * g->resource_count;
    q->amounts = grow(q->amounts, amounts, sizeof *q->amounts);
    q->flavors = grow(q->flavors, q->flavor_count + g->flavor_count, sizeof *q->flavors);
    for (uint32_t f = 0; f < g->flavor_count; f++) {
        q->flavors[q->flavor_count++] = g->flavors[f];
        for (uint32_t r = 0; r < g->resource_count; r++)
            q->amounts[q->amount_count++] =
                (struct amount){.flavor = g->flavors[f],
                                .resource = g->resources[r],
                                .nominal = g->quotas[f * g->resource_count + r].nominal};
    }
}

static void *fifo_create(const struct policy_config *c, const struct policy_host *host, char *error,
                         size_t error_size)
{
    (void)host;
    if (c->abi != POLICY_ABI || c->size < sizeof *c) {
        snprintf(error, error_size, "fifo: built for another version of the interface");
        return NULL;
    }
    struct fifo *p = allocate(1, sizeof *p);
    p->queue_count = c->cluster_queue_count;
    p->flavor_count = c->flavor_count;
    p->ignore_undeclared = c->ignore_undeclared;
    p->tell_pending = c->record_pending;
    p->queues = allocate(p->queue_count, sizeof *p->queues);
    p->flavors = allocate(p->flavor_count, sizeof *p->flavors);
    p->queue_of = allocate(c->local_queue_count, sizeof *p->queue_of);
    p->entries = allocate(p->queue_count, sizeof *p->entries);
    p->sets = allocate(p->queue_count, sizeof *p->sets);
    p->choices = allocate((size_t)p->queue_count * c->resource_count, sizeof *p->choices);
    for (uint32_t i = 0; i < p->queue_count; i++) {
        p->queues[i].head = POLICY_NONE;
        for (uint32_t g = 0; g < c->cluster_queues[i].group_count; g++)
            add_group(&p->queues[i], &c->cluster_queues[i].groups[g]);
    }
    for (uint32_t i = 0; i < p->flavor_count; i++)
        p->flavors[i] = (struct flavor){copy_labels(c->flavors[i].labels, c->flavors[i].label_count),
                                        c->flavors[i].label_count};
    for (uint32_t i = 0; i < c->local_queue_count; i++)
        p->queue_of[i] = c->local_queues[i].cluster_queue;
    return p;
}

static void fifo_destroy(void *ctx)
{
    struct fifo *p = ctx;
    for (uint32_t i = 0; i < p->queue_count; i++) {
        free(p->queues[i].amounts);
        free(p->queues[i].flavors);
    }
    for (uint32_t i = 0; i < p->flavor_count; i++)
        free_labels(p->flavors[i].labels, p->flavors[i].label_count);
    for (uint32_t i = 0; i < p->shape_count; i++) {
        free(p->shapes[i].requests);
        free_labels(p->shapes[i].selector, p->shapes[i].selector_count);
    }
    free(p->queues);
    free(p->flavors);
    free(p->queue_of);
    free(p->shapes);
    free(p->workloads);
    free(p->entries);
    free(p->sets);
    free(p->choices);
    free(p);
}

/* ---- shapes ---- */

static bool same_shape(const struct shape *a, const struct policy_pod_set *b)
{
    if (a->pods != b->count || a->request_count != b->request_count ||
        a->selector_count != b->node_selector_count)
        return false;
    for (uint32_t i = 0; i < a->request_count; i++)
        if (a->requests[i].resource != b->requests[i].resource || a->requests[i].amount != b->requests[i].amount)
            return false;
    for (uint32_t i = 0; i < a->selector_count; i++)
        if (strcmp(a->selector[i].key, b->node_selector[i].key) != 0 ||
            strcmp(a->selector[i].value, b->node_selector[i].value) != 0)
            return false;
    return true;
}

/* One pod set is enough for fleetsim's own jobs and replicas. */
static uint32_t fifo_register_shape(void *ctx, const struct policy_shape *shape)
{
    struct fifo *p = ctx;
    const struct policy_pod_set *set = &shape->pod_sets[0];
    for (uint32_t i = 0; i < p->shape_count; i++)
        if (same_shape(&p->shapes[i], set))
            return i;
    p->shapes = grow(p->shapes, p->shape_count + 1, sizeof *p->shapes);
    struct shape *s = &p->shapes[p->shape_count];
    *s = (struct shape){.pods = set->count,
                        .request_count = set->request_count,
                        .requests = allocate(set->request_count, sizeof *s->requests),
                        .selector = copy_labels(set->node_selector, set->node_selector_count),
                        .selector_count = set->node_selector_count};
    for (uint32_t i = 0; i < set->request_count; i++)
        s->requests[i] = set->requests[i];
    return p->shape_count++;
}

/* ---- telling ---- */

static void append(struct policy_outputs *out, struct policy_output o)
{
    if (out->count == out->capacity) {
        out->capacity = out->capacity * 2 + 16;
        out->items = grow(out->items, out->capacity, sizeof *out->items);
    }
    out->items[out->count++] = o;
}

/* The group of waiting workloads that this one belongs, or belonged, to: that of the head waits for
 * quota, the others wait because of the order. */
static struct policy_pending group_of(const struct fifo *p, const struct workload *w)
{
    struct policy_pending g = {.cluster_queue = w->queue,
                               .shape = w->shape,
                               .priority = w->priority,
                               .wait = POLICY_WAIT_ORDER,
                               .flavor_tried = POLICY_NONE};
    uint32_t head = p->queues[w->queue].head;
    for (uint32_t id = head; id != POLICY_NONE; id = p->workloads[id].next)
        if (p->workloads[id].shape == w->shape && p->workloads[id].priority == w->priority) {
            g.count++;
            if (id == head)
                g.wait = POLICY_WAIT_QUOTA;
        }
    return g;
}

static void tell_group(const struct fifo *p, int64_t now, uint32_t id, struct policy_outputs *out)
{
    if (p->tell_pending && id != POLICY_NONE)
        append(out, (struct policy_output){.kind = POLICY_SAY_PENDING,
                                           .workload = POLICY_NONE,
                                           .time_ns = now,
                                           .u.pending = group_of(p, &p->workloads[id])});
}

/* After a workload came or went: its group, and those whose turn may have changed. */
static void tell(const struct fifo *p, int64_t now, uint32_t id, struct policy_outputs *out)
{
    uint32_t head = p->queues[p->workloads[id].queue].head;
    tell_group(p, now, id, out);
    tell_group(p, now, head, out);
    if (head != POLICY_NONE)
        tell_group(p, now, p->workloads[head].next, out);
}

/* ---- inputs ---- */

static bool before(const struct workload *a, const struct workload *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->created_ns != b->created_ns ? a->created_ns < b->created_ns : a->order < b->order;
}

static void enqueue(struct fifo *p, uint32_t id)
{
    struct workload *w = &p->workloads[id];
    struct queue *q = &p->queues[w->queue];
    uint32_t *at = &q->head;
    while (*at != POLICY_NONE && before(&p->workloads[*at], w))
        at = &p->workloads[*at].next;
    w->flavor = POLICY_NONE;
    w->next = *at;
    *at = id;
    q->count++;
}

static void dequeue(struct fifo *p, uint32_t id)
{
    struct queue *q = &p->queues[p->workloads[id].queue];
    uint32_t *at = &q->head;
    while (*at != id)
        at = &p->workloads[*at].next;
    *at = p->workloads[id].next;
    q->count--;
}

/* Adds the workload's requests, times sign, to what its queue uses of the flavor. */
static void use(struct fifo *p, uint32_t id, int sign)
{
    const struct workload *w = &p->workloads[id];
    const struct shape *s = &p->shapes[w->shape];
    struct queue *q = &p->queues[w->queue];
    for (uint32_t r = 0; r < s->request_count; r++)
        for (uint32_t i = 0; i < q->amount_count; i++)
            if (q->amounts[i].flavor == w->flavor && q->amounts[i].resource == s->requests[r].resource)
                q->amounts[i].used += sign * s->requests[r].amount * s->pods;
}

/* Leaves whatever state it is in: no longer waits, or gives its quota back. */
static void leave(struct fifo *p, uint32_t id)
{
    struct workload *w = &p->workloads[id];
    if (w->flavor == POLICY_NONE) {
        dequeue(p, id);
        return;
    }
    use(p, id, -1);
    p->queues[w->queue].admitted--;
}

static void submit(struct fifo *p, const struct policy_workload *w)
{
    if (w->id >= p->workload_capacity) {
        p->workload_capacity = w->id * 2 + 64;
        p->workloads = grow(p->workloads, p->workload_capacity, sizeof *p->workloads);
    }
    p->workloads[w->id] = (struct workload){.queue = p->queue_of[w->local_queue],
                                            .shape = w->shape,
                                            .priority = w->priority,
                                            .created_ns = w->created_ns,
                                            .order = w->uid_order};
    enqueue(p, w->id);
}

static void fifo_input(void *ctx, int64_t now, const struct policy_input *in, struct policy_outputs *out)
{
    struct fifo *p = ctx;
    if (in->kind == POLICY_IN_SUBMIT) {
        submit(p, in->submit);
        tell(p, now, in->submit->id, out);
    } else if (in->kind == POLICY_IN_FINISHED || in->kind == POLICY_IN_WITHDRAW) {
        leave(p, in->workload);
        tell(p, now, in->workload, out);
    }
}

/* ---- a cycle ---- */

static bool selects(const struct shape *s, const struct flavor *f)
{
    for (uint32_t i = 0; i < s->selector_count; i++)
        for (uint32_t k = 0; k < f->label_count; k++)
            if (strcmp(s->selector[i].key, f->labels[k].key) == 0 &&
                strcmp(s->selector[i].value, f->labels[k].value) != 0)
                return false;
    return true;
}

static bool fits(const struct fifo *p, const struct queue *q, const struct shape *s, uint32_t flavor)
{
    for (uint32_t r = 0; r < s->request_count; r++) {
        bool declared = p->ignore_undeclared && s->requests[r].resource != 0;
        for (uint32_t i = 0; i < q->amount_count; i++) {
            const struct amount *a = &q->amounts[i];
            if (a->flavor != flavor || a->resource != s->requests[r].resource)
                continue;
            if (a->used + s->requests[r].amount * s->pods > a->nominal)
                return false;
            declared = true;
        }
        if (!declared)
            return false;
    }
    return selects(s, &p->flavors[flavor]);
}

static void admit(struct fifo *p, int64_t now, uint32_t queue, uint32_t flavor, struct policy_outputs *out)
{
    struct queue *q = &p->queues[queue];
    uint32_t id = q->head;
    struct workload *w = &p->workloads[id];
    const struct shape *s = &p->shapes[w->shape];
    dequeue(p, id);
    w->flavor = flavor;
    use(p, id, 1);
    q->admitted++;
    p->choices[queue] = (struct policy_choice){.resource = 0, .flavor = flavor};
    p->sets[queue] = (struct policy_assigned_set){
        .name = "main", .count = s->pods, .choices = &p->choices[queue], .choice_count = 1};
    p->entries[queue] = (struct policy_entry){.workload = id,
                                              .cluster_queue = queue,
                                              .mode = POLICY_FIT,
                                              .nominated = true,
                                              .outcome = POLICY_OUT_ADMITTED,
                                              .goes_to = POLICY_PLACE_ADMITTED,
                                              .at_ns = now,
                                              .sets = &p->sets[queue],
                                              .set_count = 1};
    append(out, (struct policy_output){
                    .kind = POLICY_DO_ADMIT, .workload = id, .time_ns = now, .u.entry = &p->entries[queue]});
    tell(p, now, id, out);
}

static enum policy_cycle fifo_cycle(void *ctx, int64_t now, struct policy_outputs *out)
{
    struct fifo *p = ctx;
    bool any = false, changed = false;
    for (uint32_t i = 0; i < p->queue_count; i++) {
        struct queue *q = &p->queues[i];
        if (q->head == POLICY_NONE)
            continue;
        any = true;
        const struct shape *s = &p->shapes[p->workloads[q->head].shape];
        for (uint32_t f = 0; f < q->flavor_count; f++)
            if (fits(p, q, s, q->flavors[f])) {
                admit(p, now, i, q->flavors[f], out);
                changed = true;
                break;
            }
    }
    return !any ? POLICY_CYCLE_NONE : changed ? POLICY_CYCLE_CHANGED : POLICY_CYCLE_IDENTICAL;
}

/* ---- nothing happens by itself ---- */

static void fifo_repeat(void *ctx, int64_t now, uint32_t cycles)
{
    (void)ctx;
    (void)now;
    (void)cycles;
}

static void fifo_observed(void *ctx, int64_t now, uint32_t workload, struct policy_outputs *out)
{
    (void)ctx;
    (void)now;
    (void)workload;
    (void)out;
}

static bool fifo_due(void *ctx, int64_t now, enum policy_due what, struct policy_outputs *out)
{
    (void)ctx;
    (void)now;
    (void)what;
    (void)out;
    return false;
}

static int64_t fifo_next_due(void *ctx, enum policy_due what)
{
    (void)ctx;
    (void)what;
    return POLICY_NEVER;
}

static uint32_t fifo_idle_limit(void *ctx)
{
    (void)ctx;
    return 1;
}

static void fifo_release_outputs(void *ctx)
{
    (void)ctx;
}

/* ---- answers ---- */

static enum policy_place fifo_place(void *ctx, uint32_t workload)
{
    const struct fifo *p = ctx;
    return p->workloads[workload].flavor == POLICY_NONE ? POLICY_PLACE_QUEUE : POLICY_PLACE_ADMITTED;
}

static bool fifo_quota(void *ctx, enum policy_object_kind kind, uint32_t id, uint32_t flavor,
                       uint32_t resource, struct policy_quota_state *state)
{
    const struct fifo *p = ctx;
    if (kind != POLICY_OBJ_CLUSTER_QUEUE || id >= p->queue_count)
        return false;
    for (uint32_t i = 0; i < p->queues[id].amount_count; i++) {
        const struct amount *a = &p->queues[id].amounts[i];
        if (a->flavor != flavor || a->resource != resource)
            continue;
        *state = (struct policy_quota_state){.nominal = a->nominal,
                                             .subtree = a->nominal,
                                             .used = a->used,
                                             .available = a->nominal > a->used ? a->nominal - a->used : 0};
        return true;
    }
    return false;
}

static uint32_t fifo_pending_count(void *ctx, uint32_t queue)
{
    const struct fifo *p = ctx;
    return p->queues[queue].count;
}

static uint32_t fifo_admitted_count(void *ctx, uint32_t queue)
{
    const struct fifo *p = ctx;
    return p->queues[queue].admitted;
}

/* Each group once: when its first member comes up. */
static void fifo_pending(void *ctx, uint32_t queue, void (*fn)(void *arg, const struct policy_pending *group),
                         void *arg)
{
    const struct fifo *p = ctx;
    for (uint32_t id = p->queues[queue].head; id != POLICY_NONE; id = p->workloads[id].next) {
        const struct workload *w = &p->workloads[id];
        uint32_t first = p->queues[queue].head;
        while (p->workloads[first].shape != w->shape || p->workloads[first].priority != w->priority)
            first = p->workloads[first].next;
        struct policy_pending group = group_of(p, w);
        if (first == id)
            fn(arg, &group);
    }
}

static bool fifo_reason(void *ctx, uint32_t workload, struct policy_reason *reason)
{
    (void)ctx;
    (void)workload;
    (void)reason;
    return false;
}

static double fifo_share(void *ctx, enum policy_object_kind kind, uint32_t id)
{
    (void)ctx;
    (void)kind;
    (void)id;
    return 0;
}

const struct policy_ops *fleetsim_policy(void);

const struct policy_ops *fleetsim_policy(void)
{
    static const struct policy_ops ops = {.abi = POLICY_ABI,
                                          .size = sizeof ops,
                                          .name = "fifo",
                                          .create = fifo_create,
                                          .destroy = fifo_destroy,
                                          .register_shape = fifo_register_shape,
                                          .input = fifo_input,
                                          .cycle = fifo_cycle,
                                          .repeat = fifo_repeat,
                                          .observed = fifo_observed,
                                          .due = fifo_due,
                                          .next_due = fifo_next_due,
                                          .idle_limit = fifo_idle_limit,
                                          .place = fifo_place,
                                          .quota = fifo_quota,
                                          .pending_count = fifo_pending_count,
                                          .admitted_count = fifo_admitted_count,
                                          .pending = fifo_pending,
                                          .reason = fifo_reason,
                                          .share = fifo_share,
                                          .release_outputs = fifo_release_outputs};
    return &ops;
}
