/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/manifest_never.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "models/policies/quota_flow.h"
#include "sim/arena.h"
#include "studies/manifest_play.h"

enum { WARNINGS_MAX = 20, DEEPEST = 64 };

/* ---- finding ---- */

struct asked {
    uint32_t queue, shape, workload;
};

struct waiting { /* by cluster queue */
    uint32_t count, first;
};

static int by_queue_and_shape(const void *a, const void *b)
{
    const struct asked *x = a, *y = b;
    if (x->queue != y->queue)
        return x->queue < y->queue ? -1 : 1;
    if (x->shape != y->shape)
        return x->shape < y->shape ? -1 : 1;
    return (x->workload > y->workload) - (x->workload < y->workload);
}

static bool holds(const struct manifest_workload *w)
{
    return w->cluster_queue != POLICY_NONE && w->reserved != POLICY_NEVER && !w->finished;
}

/* Who waits in each queue now, and who is first: by priority, then creation. */
static struct waiting *count_waiting(const struct manifest *m)
{
    struct waiting *q = mem_alloc((size_t)m->config.cluster_queue_count + 1, sizeof *q);
    for (uint32_t i = 0; i < m->config.cluster_queue_count; i++)
        q[i] = (struct waiting){0, POLICY_NONE};
    for (uint32_t i = 0; i < m->workload_count; i++) {
        const struct manifest_workload *w = &m->workloads[i];
        if (w->inadmissible != NULL || w->finished || holds(w))
            continue;
        struct waiting *at = &q[mplay_queue(m, i)];
        if (at->first == POLICY_NONE || w->policy.priority > m->workloads[at->first].policy.priority)
            at->first = i;
        at->count++;
    }
    return q;
}

static int by_weight(const void *a, const void *b)
{
    const struct mnever *x = a, *y = b;
    const int p = 2 * x->strict + (x->strict && x->first), q = 2 * y->strict + (y->strict && y->first);
    if (p != q)
        return p > q ? -1 : 1;
    return x->queue != y->queue ? (x->queue < y->queue ? -1 : 1) : (x->workload > y->workload) - (x->workload < y->workload);
}

static void found(const struct manifest *m, struct mnever_list *l, const struct asked *a, uint32_t count,
                  const struct waiting *waiting, const struct policy_numbers *n)
{
    const struct waiting *q = &waiting[a->queue];
    struct mnever v = {.workload = a->workload, .count = count, .queue = a->queue, .shape = a->shape, .numbers = *n,
                       .strict = m->config.cluster_queues[a->queue].queueing == POLICY_STRICT_FIFO};
    for (uint32_t i = 0; i < count; i++)
        if (a[i].workload == q->first) {
            v.workload = q->first;
            v.first = true;
        }
    v.holds = holds(&m->workloads[v.workload]);
    v.behind = q->count - (v.holds || q->count == 0 ? 0 : 1);
    l->items[l->count++] = v;
}

/* An inactive queue admits nobody anyway, and says why; a stopped one may go on. */
static bool is_broken(const struct manifest *m, uint32_t queue)
{
    return m->queues[queue].inactive != NULL && m->config.cluster_queues[queue].stop == POLICY_RUN;
}

static void look(const struct manifest *m, enum mnever_who who, struct mnever_list *l)
{
    struct asked *list = mem_alloc((size_t)m->workload_count + 1, sizeof *list);
    struct waiting *waiting = count_waiting(m);
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->workload_count; i++)
        if (m->workloads[i].inadmissible == NULL && (who == MNEVER_ALL || !m->workloads[i].finished) &&
            !is_broken(m, mplay_queue(m, i)))
            list[count++] = (struct asked){mplay_queue(m, i), l->ops->register_shape(l->policy, &m->workloads[i].shape), i};
    if (count > 1)
        qsort(list, count, sizeof *list, by_queue_and_shape);
    l->items = mem_alloc((size_t)count + 1, sizeof *l->items);
    for (uint32_t i = 0, next; i < count; i = next) {
        struct policy_numbers n;
        for (next = i; next < count && list[next].queue == list[i].queue && list[next].shape == list[i].shape;)
            next++;
        if (!l->ops->may_fit(l->policy, list[i].queue, list[i].shape, &n))
            found(m, l, &list[i], next - i, waiting, &n);
    }
    if (l->count > 1)
        qsort(l->items, l->count, sizeof *l->items, by_weight);
    free(waiting);
    free(list);
}

/* A configuration that the policy refuses is told by whoever replays it. */
void mnever_find(const struct manifest *m, enum mnever_who who, struct mnever_list *l)
{
    char error[256] = "";
    const struct policy_host host = {.abi = POLICY_ABI, .size = sizeof host};
    struct policy_config cfg = m->config;
    *l = (struct mnever_list){.ops = policy_kueue()};
    l->policy = l->ops->create(&cfg, &host, error, sizeof error);
    l->flow = qflow_create(&m->config);
    if (l->policy != NULL)
        look(m, who, l);
}

void mnever_fini(struct mnever_list *l)
{
    if (l->policy != NULL)
        l->ops->destroy(l->policy);
    qflow_destroy(l->flow);
    free(l->items);
    *l = (struct mnever_list){.count = 0};
}

/* ---- words ---- */

static const char *resource_name(const struct manifest *m, uint32_t id)
{
    return id < m->config.resource_count ? m->config.resources[id] : "of any flavor";
}

static const char *flavor_name(const struct manifest *m, uint32_t id)
{
    return m->config.flavors[id].name == NULL ? "?" : m->config.flavors[id].name;
}

static void amount(struct text *t, const struct manifest *m, uint32_t resource, int64_t v)
{
    const char *name = resource_name(m, resource);
    const int64_t mebi = INT64_C(1) << 20, gibi = INT64_C(1) << 30;
    const bool bytes = strcmp(name, "memory") == 0 || strstr(name, "storage") != NULL || strncmp(name, "hugepages-", 10) == 0;
    if (v == POLICY_UNLIMITED)
        text_say(t, "no end of");
    else if (strcmp(name, "cpu") == 0)
        text_say(t, "%.10g", (double)v / 1000);
    else if (bytes && v != 0 && v % mebi == 0)
        text_say(t, "%" PRId64 "%s", v % gibi == 0 ? v / gibi : v / mebi, v % gibi == 0 ? "Gi" : "Mi");
    else
        text_say(t, "%" PRId64, v);
}

void mnever_sentence(const struct manifest *m, const struct mnever *n, struct text *t)
{
    const struct manifest_workload *w = &m->workloads[n->workload];
    const struct policy_numbers *v = &n->numbers;
    text_say(t, "workload %s/%s", w->name_space, w->name);
    if (n->count > 1)
        text_say(t, " (and %" PRIu32 " more like it)", n->count - 1);
    text_say(t, " can never be admitted to queue '%s': ", m->config.cluster_queues[n->queue].name);
    if (v->flavor == POLICY_NONE && v->resource == POLICY_NONE) {
        text_say(t, "it may use none of the queue's flavors");
    } else {
        text_say(t, "it asks ");
        amount(t, m, v->resource, v->requested);
        text_say(t, " %s, ", resource_name(m, v->resource));
        if (v->flavor == POLICY_NONE) {
            text_say(t, "of which the queue has no quota");
        } else {
            text_say(t, "the queue may get ");
            amount(t, m, v->resource, v->potential);
            text_say(t, " of flavor '%s'", flavor_name(m, v->flavor));
        }
    }
    if (n->strict)
        text_say(t, "; StrictFIFO then blocks all workloads behind it");
}

uint32_t manifest_never_fit(const struct manifest *m, FILE *out)
{
    struct mnever_list l;
    mnever_find(m, MNEVER_ALL, &l);
    const uint32_t count = l.count;
    for (uint32_t i = 0; i < count && i < WARNINGS_MAX; i++) {
        char line[800] = "";
        struct text t = TEXT(line);
        mnever_sentence(m, &l.items[i], &t);
        fprintf(out, "warning: %s\n", line);
    }
    if (count > WARNINGS_MAX)
        fprintf(out, "warning: and %" PRIu32 " more that can never be admitted\n", count - WARNINGS_MAX);
    mnever_fini(&l);
    return count;
}

/* ---- arithmetic ---- */

struct lines {
    const struct manifest *m;
    const struct qflow *flow;
    uint32_t queue;
    FILE *out;
    const char *pod_set; /* that the last lines were about */
    bool one_set;
};

/* One step of the way up: what the node could use at most, and the limit that makes it so. */
static void step(struct text *t, const struct lines *l, uint32_t cell, bool root)
{
    const struct qflow_place p = qflow_place(l->flow, cell);
    const int64_t most = qflow_potential(l->flow, cell), limit = qflow_borrowing_limit(l->flow, cell),
                  subtree = qflow_state(l->flow, cell).subtree, nominal = qflow_nominal(l->flow, cell);
    if (p.kind == POLICY_OBJ_COHORT)
        text_say(t, "cohort %s ", l->m->config.cohorts[p.id].name);
    else
        text_say(t, "%s ", l->m->config.cluster_queues[p.id].name);
    amount(t, l->m, p.resource, most);
    if (most == POLICY_UNLIMITED)
        return;
    if (root && nominal > most) {
        text_say(t, " (of ");
        amount(t, l->m, p.resource, nominal);
        text_say(t, "; lendingLimit keeps the rest)");
    } else if (!root && limit != POLICY_NIL && most == subtree + limit) {
        text_say(t, " (borrowingLimit ");
        amount(t, l->m, p.resource, limit);
        text_say(t, ")");
    }
}

static void way_up(const struct lines *l, const struct policy_numbers *n)
{
    uint32_t path[DEEPEST], count = 0;
    char line[800] = "";
    struct text t = TEXT(line);
    uint32_t cell = qflow_cell(l->flow, POLICY_OBJ_CLUSTER_QUEUE, l->queue, n->flavor, n->resource);
    for (; cell != POLICY_NONE && count < DEEPEST; cell = qflow_place(l->flow, cell).parent)
        path[count++] = cell;
    if (count < 2)
        return;
    for (uint32_t i = count; i-- > 0;) {
        step(&t, l, path[i], i == count - 1);
        text_say(&t, i > 0 ? " > " : "");
    }
    fprintf(l->out, "        %s\n", line);
}

static void sum(struct text *t, const struct manifest *m, const struct policy_numbers *n)
{
    text_say(t, ": nominal ");
    amount(t, m, n->resource, n->nominal);
    if (n->nominal == POLICY_UNLIMITED || n->potential == POLICY_UNLIMITED)
        return;
    text_say(t, " + borrowable ");
    amount(t, m, n->resource, n->potential - n->nominal);
    if (n->borrowing_limit == POLICY_NIL)
        return;
    text_say(t, "; borrowingLimit ");
    amount(t, m, n->resource, n->borrowing_limit);
}

static void reach_line(void *arg, const struct policy_reach *r)
{
    struct lines *l = arg;
    const struct policy_numbers *n = &r->numbers;
    char line[800] = "";
    struct text t = TEXT(line);
    if (!l->one_set && (l->pod_set == NULL || strcmp(l->pod_set, r->pod_set) != 0))
        fprintf(l->out, "      pods '%s'\n", r->pod_set);
    l->pod_set = r->pod_set;
    text_say(&t, "%s %s: asks ", n->flavor == POLICY_NONE ? "no flavor has" : flavor_name(l->m, n->flavor),
             resource_name(l->m, n->resource));
    amount(&t, l->m, n->resource, n->requested);
    if (n->flavor != POLICY_NONE && !r->allowed)
        text_say(&t, "; the flavor is not for it (labels, taints or topology)");
    if (n->flavor == POLICY_NONE || !r->allowed) {
        fprintf(l->out, "      %s\n", line);
        return;
    }
    text_say(&t, ", at most ");
    amount(&t, l->m, n->resource, n->potential);
    sum(&t, l->m, n);
    if (n->requested > n->potential) {
        text_say(&t, "; ");
        amount(&t, l->m, n->resource, n->requested - n->potential);
        text_say(&t, " too many");
    }
    fprintf(l->out, "      %s\n", line);
    if (n->requested > n->potential)
        way_up(l, n);
}

void mnever_arithmetic(const struct manifest *m, const struct mnever_list *list, const struct mnever *n, FILE *out)
{
    struct lines l = {.m = m, .flow = list->flow, .queue = n->queue, .out = out,
                      .one_set = m->workloads[n->workload].shape.pod_set_count < 2};
    list->ops->reach(list->policy, n->queue, n->shape, reach_line, &l);
}
