/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/policies/quantity.h"
#include "tests/policies/named.h"

static const struct policy_selector everything;

/* ---- objects ---- */

static void read_flavor(struct named *n, const struct named_line *l)
{
    struct policy_flavor *f = &n->flavor[named_id(&n->flavors, l->word[1])];
    f->name = l->word[1];
    f->labels = named_labels(n, l, "label:", &f->label_count);
    f->taints = named_taints(n, l, &f->taint_count);
    f->tolerations = named_tolerations(n, l, &f->toleration_count);
    const char *t = named_word(l, "topology=", NULL);
    f->topology = t != NULL ? named_id(&n->topologies, t) : POLICY_NONE;
}

static void read_topology(struct named *n, const struct named_line *l)
{
    struct policy_topology *t = &n->topology[named_id(&n->topologies, l->word[1])];
    t->name = l->word[1];
    t->levels = (const char *const *)&l->word[2];
    t->level_count = (uint32_t)l->count - 2;
}

static void read_node(struct named *n, const struct named_line *l)
{
    struct policy_node *v = &n->node[named_id(&n->nodes, l->word[1])];
    v->name = l->word[1];
    v->labels = named_labels(n, l, "label:", &v->label_count);
    v->taints = named_taints(n, l, &v->taint_count);
    v->allocatable = named_amounts(n, l, &v->allocatable_count);
    v->ready = !named_has(l, "unready");
    v->unschedulable = named_has(l, "unschedulable");
}

static void read_foreign(struct named *n, const struct named_line *l)
{
    const uint32_t node = named_id(&n->nodes, l->word[1]);
    uint32_t count;
    const struct policy_amount *a = named_amounts(n, l, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        while (at < n->foreign_count[node] && n->foreign[node][at].resource != a[i].resource)
            at++;
        n->foreign[node][at].resource = a[i].resource;
        n->foreign[node][at].amount += a[i].amount;
        if (at == n->foreign_count[node])
            n->foreign_count[node]++;
    }
}

static struct named_builder read_cohort(struct named *n, const struct named_line *l)
{
    struct policy_cohort *c = &n->cohort[named_id(&n->cohorts, l->word[1])];
    const char *parent = named_word(l, "parent=", NULL);
    struct policy_resource_group *groups = arena_alloc(&n->mem, NAMED_GROUPS, sizeof *groups);
    c->parent = parent != NULL ? named_id(&n->cohorts, parent) : POLICY_NONE;
    c->weight = named_weight(l);
    c->groups = groups;
    return (struct named_builder){groups, &c->group_count};
}

static enum policy_preemption preemption(const char *text)
{
    static const char *const names[] = {"Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any", "unset"};
    for (int i = 0; i < 5; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum policy_preemption)i;
    fprintf(stderr, "no such policy: %s\n", text);
    exit(99);
}

/* "none", or key:value|value. */
static const struct policy_selector *namespaces(struct named *n, const char *text)
{
    if (text == NULL)
        return &everything;
    if (strcmp(text, "none") == 0)
        return NULL;
    struct policy_selector *s = arena_alloc(&n->mem, 1, sizeof *s);
    struct policy_expr *e = arena_alloc(&n->mem, 1, sizeof *e);
    const char **values = arena_alloc(&n->mem, NAMED_WORDS, sizeof *values);
    const char *colon = strchr(text, ':');
    *e = (struct policy_expr){.key = arena_strndup(&n->mem, text, (size_t)(colon - text)), .op = POLICY_IN, .values = values};
    char *save, *list = arena_strdup(&n->mem, colon + 1);
    for (char *v = strtok_r(list, "|", &save); v != NULL; v = strtok_r(NULL, "|", &save))
        values[e->value_count++] = v;
    s->exprs = e;
    s->expr_count = 1;
    return s;
}

static struct named_builder read_queue(struct named *n, const struct named_line *l)
{
    struct policy_cluster_queue *q = &n->queue[named_id(&n->queues, l->word[1])];
    const char *cohort = named_word(l, "cohort=", NULL), *threshold = named_word(l, "threshold=", NULL);
    struct policy_resource_group *groups = arena_alloc(&n->mem, NAMED_GROUPS, sizeof *groups);
    *q = (struct policy_cluster_queue){
        .name = l->word[1],
        .cohort = cohort != NULL ? named_id(&n->cohorts, cohort) : POLICY_NONE,
        .groups = groups,
        .queueing = named_has(l, "strict") ? POLICY_STRICT_FIFO : POLICY_BEST_EFFORT_FIFO,
        .namespace_selector = namespaces(n, named_word(l, "namespaces=", NULL)),
        .when_can_borrow = strcmp(named_word(l, "canBorrow=", ""), "TryNextFlavor") == 0 ? POLICY_TRY_NEXT_FLAVOR
                                                                                        : POLICY_MAY_STOP_SEARCH,
        .when_can_preempt = strcmp(named_word(l, "canPreempt=", ""), "MayStopSearch") == 0 ? POLICY_MAY_STOP_SEARCH
                                                                                          : POLICY_TRY_NEXT_FLAVOR,
        .preference = strcmp(named_word(l, "preference=", ""), "PreemptionOverBorrowing") == 0
                          ? POLICY_PREEMPTION_OVER_BORROWING
                          : POLICY_BORROWING_OVER_PREEMPTION,
        .within_cluster_queue = preemption(named_word(l, "within=", "Never")),
        .reclaim_within_cohort = preemption(named_word(l, "reclaim=", "Never")),
        .borrow_within_cohort = preemption(named_word(l, "whileBorrowing=", "Never")),
        .max_priority_threshold = threshold != NULL ? strtoll(threshold, NULL, 10) : POLICY_NIL,
        .weight = named_weight(l),
        .usage_based_admission = named_has(l, "usage-based")};
    return (struct named_builder){groups, &q->group_count};
}

/* Column of a resource in the group, new or known. */
static uint32_t column(struct policy_resource_group *g, uint32_t *resources, uint32_t resource)
{
    for (uint32_t i = 0; i < g->resource_count; i++)
        if (resources[i] == resource)
            return i;
    resources[g->resource_count] = resource;
    return g->resource_count++;
}

static struct policy_quota quota_of(const struct named *n, uint32_t resource, const char *text, struct arena *mem)
{
    struct policy_quota q = {0, POLICY_NIL, POLICY_NIL};
    int64_t *const to[] = {&q.nominal, &q.borrowing_limit, &q.lending_limit};
    char *save, *list = arena_strdup(mem, text);
    int i = 0;
    for (char *v = strtok_r(list, ",", &save); v != NULL && i < 3; v = strtok_r(NULL, ",", &save), i++)
        if (strcmp(v, "-") != 0)
            *to[i] = named_amount(n, resource, v);
    return q;
}

/* Quotas of a group under way are a table of NAMED_GROUPS columns; packed when the group ends. */
static void read_quota(struct named *n, const struct named_line *l, struct named_builder *b)
{
    struct policy_resource_group *g = &b->groups[*b->group_count == 0 ? (*b->group_count)++ : *b->group_count - 1];
    if (g->flavors == NULL) {
        g->resources = arena_alloc(&n->mem, NAMED_GROUPS, sizeof *g->resources);
        g->flavors = arena_alloc(&n->mem, NAMED_MAX, sizeof *g->flavors);
        g->quotas = arena_alloc(&n->mem, (size_t)NAMED_MAX * NAMED_GROUPS, sizeof *g->quotas);
    }
    uint32_t *resources = (uint32_t *)(uintptr_t)g->resources, *flavors = (uint32_t *)(uintptr_t)g->flavors;
    struct policy_quota *row = (struct policy_quota *)(uintptr_t)&g->quotas[(size_t)g->flavor_count * NAMED_GROUPS];
    for (int c = 0; c < NAMED_GROUPS; c++)
        row[c] = (struct policy_quota){0, POLICY_NIL, POLICY_NIL};
    flavors[g->flavor_count++] = named_id(&n->flavors, l->word[1]);
    for (int i = 2; i < l->count; i++) {
        const char *rest;
        const uint32_t r = named_resource(n, l->word[i], &rest);
        if (r == POLICY_NONE)
            named_refuse(n, l, "resource=quota expected");
        row[column(g, resources, r)] = quota_of(n, r, rest, &n->mem);
    }
}

static void pack(struct policy_resource_group *groups, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct policy_quota *q = (struct policy_quota *)(uintptr_t)groups[i].quotas;
        for (uint32_t f = 0; f < groups[i].flavor_count; f++)
            for (uint32_t r = 0; r < groups[i].resource_count; r++)
                q[f * groups[i].resource_count + r] = q[f * NAMED_GROUPS + r];
    }
}

/* "used:resource=amount" of a local queue: its decayed usage, in whole units. */
static const struct policy_usage_amount *consumed(struct named *n, const struct named_line *l, uint32_t *count)
{
    struct policy_usage_amount *to = arena_alloc(&n->mem, NAMED_WORDS, sizeof *to);
    for (int i = 3; i < l->count; i++) {
        const char *used = named_value(l->word[i], "used:"), *rest;
        const uint32_t r = used != NULL ? named_resource(n, used, &rest) : POLICY_NONE;
        if (r != POLICY_NONE && quantity_real(rest, &to[*count].consumed))
            to[(*count)++].resource = r;
    }
    return to;
}

static void read_local(struct named *n, const struct named_line *l)
{
    struct policy_local_queue *q = &n->local[named_id(&n->locals, l->word[1])];
    *q = (struct policy_local_queue){.name = l->word[1], .cluster_queue = named_id(&n->queues, l->word[2]), .weight = named_weight(l)};
    q->consumed = consumed(n, l, &q->consumed_count);
    q->namespace_labels = named_labels(n, l, "label:", &q->namespace_label_count);
}

/* ---- workloads ---- */

static struct named_workload *read_workload(struct named *n, const struct named_line *l)
{
    const uint32_t id = named_id(&n->workloads, l->word[1]);
    struct named_workload *w = &n->workload[id];
    const char *local = named_word(l, "local=", NULL), *queue = named_word(l, "queue=", NULL);
    w->uid = named_word(l, "uid=", "");
    w->reserved_s = strtoll(named_word(l, "reserved=", "-1"), NULL, 10);
    w->evicted = named_has(l, "evicted");
    w->queue = queue != NULL ? named_id(&n->queues, queue) : POLICY_NONE;
    w->w = (struct policy_workload){.id = id,
                                    .local_queue = local != NULL ? named_id(&n->locals, local) : POLICY_NONE,
                                    .priority = strtoll(named_word(l, "priority=", "0"), NULL, 10),
                                    .created_ns = strtoll(named_word(l, "created=", "0"), NULL, 10) * NAMED_S,
                                    .name_order = id};
    return w;
}

static enum policy_operator operator_of(const char *word, const char **rest)
{
    static const char *const names[] = {"in:", "notin:", "exists:", "absent:", "gt:", "lt:"};
    for (int i = 0; i < 6; i++)
        if ((*rest = named_value(word, names[i])) != NULL)
            return (enum policy_operator)i;
    return POLICY_IN;
}

static void read_terms(struct named *n, const struct named_line *l, struct policy_pod_set *set)
{
    struct policy_selector *terms = arena_alloc(&n->mem, NAMED_WORDS, sizeof *terms);
    struct policy_expr *exprs = arena_alloc(&n->mem, NAMED_WORDS, sizeof *exprs);
    uint32_t used = 0;
    for (int i = 3; i < l->count; i++) {
        const char *rest;
        if (strcmp(l->word[i], "term") == 0) {
            terms[set->affinity_term_count++].exprs = &exprs[used];
            continue;
        }
        const enum policy_operator op = operator_of(l->word[i], &rest);
        if (rest == NULL)
            continue;
        struct policy_expr *e = &exprs[used++];
        const char *eq = strchr(rest, '=');
        const char **values = arena_alloc(&n->mem, NAMED_WORDS, sizeof *values);
        *e = (struct policy_expr){.key = arena_strndup(&n->mem, rest, (size_t)(eq - rest)), .op = op, .values = values};
        char *save, *list = arena_strdup(&n->mem, eq + 1);
        for (char *v = strtok_r(list, "|", &save); v != NULL; v = strtok_r(NULL, "|", &save))
            values[e->value_count++] = v;
        terms[set->affinity_term_count - 1].expr_count++;
    }
    set->affinity_terms = terms;
}

static void read_topology_request(struct named *n, const struct named_line *l, struct policy_topology_request *t)
{
    const char *required = named_word(l, "required=", NULL), *preferred = named_word(l, "preferred=", NULL);
    t->group = named_word(l, "podSetGroup=", NULL);
    for (int i = 3; i < l->count; i++) {
        const char *slice = named_value(l->word[i], "slice=");
        if (slice == NULL)
            continue;
        const char *colon = strrchr(slice, ':');
        t->slices[t->slice_count].level = arena_strndup(&n->mem, slice, (size_t)(colon - slice));
        t->slices[t->slice_count++].size = strtoll(colon + 1, NULL, 10);
    }
    t->level = required != NULL ? required : preferred;
    t->mode = required != NULL               ? POLICY_TOPOLOGY_REQUIRED
              : preferred != NULL            ? POLICY_TOPOLOGY_PREFERRED
              : named_has(l, "unconstrained") ? POLICY_TOPOLOGY_UNCONSTRAINED
              : t->slice_count > 0           ? POLICY_TOPOLOGY_SLICES
                                             : POLICY_TOPOLOGY_NONE;
}

static void read_set(struct named *n, const struct named_line *l, struct named_workload *w)
{
    struct policy_pod_set *s = &w->sets[w->set_count++];
    const char *min = named_word(l, "min=", NULL);
    s->name = l->word[1];
    s->count = strtoll(l->word[2], NULL, 10);
    s->min_count = min != NULL ? strtoll(min, NULL, 10) : POLICY_NIL;
    s->requests = named_amounts(n, l, &s->request_count);
    s->node_selector = named_labels(n, l, "select:", &s->node_selector_count);
    s->tolerations = named_tolerations(n, l, &s->toleration_count);
    read_terms(n, l, s);
    read_topology_request(n, l, &s->topology);
}

static void read_held(struct named *n, const struct named_line *l, struct named_workload *w)
{
    struct named_held *h = &w->held[w->held_count++];
    *h = (struct named_held){.count = strtoll(l->word[2], NULL, 10), .line = l};
    while (h->set < w->set_count && strcmp(w->sets[h->set].name, l->word[1]) != 0)
        h->set++;
    if (h->set == w->set_count)
        named_refuse(n, l, "no such pod set");
}

/* ---- settings ---- */

static void read_fair(struct named *n, const struct named_line *l)
{
    n->cfg.fair_sharing = true;
    n->cfg.strategy_count = (uint32_t)l->count - 1;
    for (int i = 1; i < l->count; i++)
        n->cfg.strategies[i - 1] = strcmp(l->word[i], "LessThanInitialShare") == 0 ? POLICY_LESS_THAN_INITIAL_SHARE
                                                                                  : POLICY_LESS_OR_EQUAL_FINAL_SHARE;
}

static void finish(struct named *n)
{
    for (uint32_t i = 0; i < n->cohorts.count; i++) {
        if (n->cohort[i].weight == 0.0 && n->cohort[i].groups == NULL) /* only named */
            n->cohort[i] = (struct policy_cohort){.parent = POLICY_NONE, .weight = 1.0};
        n->cohort[i].name = n->cohorts.v[i];
        pack((struct policy_resource_group *)(uintptr_t)n->cohort[i].groups, n->cohort[i].group_count);
    }
    for (uint32_t i = 0; i < n->queues.count; i++) {
        pack((struct policy_resource_group *)(uintptr_t)n->queue[i].groups, n->queue[i].group_count);
        n->local[n->locals.count + i] =
            (struct policy_local_queue){.name = n->queues.v[i], .cluster_queue = i, .weight = 1.0};
    }
    for (uint32_t i = 0; i < n->workloads.count; i++) { /* UIDs as text, then the order of names */
        uint64_t before = 0;
        for (uint32_t j = 0; j < n->workloads.count; j++) {
            const int c = strcmp(n->workload[j].uid, n->workload[i].uid);
            before += c < 0 || (c == 0 && j < i);
        }
        n->workload[i].w.uid_order = before;
        if (n->workload[i].queue != POLICY_NONE)
            n->workload[i].w.local_queue = n->locals.count + n->workload[i].queue;
    }
}

static void read_line(struct named *n, const struct named_line *l, struct named_builder *b, struct named_workload **w)
{
    const char *key = l->word[0];
    if (strcmp(key, "flavor") == 0)
        read_flavor(n, l);
    else if (strcmp(key, "topology") == 0)
        read_topology(n, l);
    else if (strcmp(key, "node") == 0)
        read_node(n, l);
    else if (strcmp(key, "foreign") == 0)
        read_foreign(n, l);
    else if (strcmp(key, "cohort") == 0)
        *b = read_cohort(n, l);
    else if (strcmp(key, "queue") == 0)
        *b = read_queue(n, l);
    else if (strcmp(key, "group") == 0)
        (*b->group_count)++;
    else if (strcmp(key, "quota") == 0)
        read_quota(n, l, b);
    else if (strcmp(key, "local") == 0)
        read_local(n, l);
    else if (strcmp(key, "workload") == 0)
        *w = read_workload(n, l);
    else if (strcmp(key, "set") == 0)
        read_set(n, l, *w);
    else if (strcmp(key, "held") == 0)
        read_held(n, l, *w);
    else if (strcmp(key, "fair") == 0)
        read_fair(n, l);
    else if (strcmp(key, "usage") == 0) /* half-life and interval between samples, seconds */
        n->cfg.admission_fair_sharing =
            (struct policy_admission_fair_sharing){.on = true,
                                                   .half_life_ns = strtoll(l->word[1], NULL, 10) * NAMED_S,
                                                   .sampling_ns = strtoll(l->word[2], NULL, 10) * NAMED_S};
    else if (strcmp(key, "gate") == 0)
        n->gates[n->cfg.gate_count++] = (struct policy_gate){l->word[1], strcmp(l->word[2], "on") == 0};
}

void named_objects(struct named *n, const struct named_case *c)
{
    struct named_builder b = {NULL, NULL};
    struct named_workload *w = NULL;
    n->c = c;
    named_id(&n->resources, "pods"); /* topologies count them in any case */
    for (size_t i = 0; i < c->count; i++)
        read_line(n, &c->lines[i], &b, &w);
    finish(n);
    n->cfg.abi = POLICY_ABI;
    n->cfg.size = sizeof n->cfg;
    n->cfg.gates = n->gates;
    n->cfg.record_entries = true;
    n->cfg.resources = n->resources.v;
    n->cfg.resource_count = n->resources.count;
    n->cfg.flavors = n->flavor;
    n->cfg.flavor_count = n->flavors.count;
    n->cfg.topologies = n->topology;
    n->cfg.topology_count = n->topologies.count;
    n->cfg.nodes = n->node;
    n->cfg.node_count = n->nodes.count;
    n->cfg.cohorts = n->cohort;
    n->cfg.cohort_count = n->cohorts.count;
    n->cfg.cluster_queues = n->queue;
    n->cfg.cluster_queue_count = n->queues.count;
    n->cfg.local_queues = n->local;
    n->cfg.local_queue_count = n->locals.count + n->queues.count;
}
