/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/quota_view.h"

#include <string.h>

#include "sim/check.h"

#define CARD_RESOURCE "nvidia.com/gpu"

struct queue_config quota_view_queue(const struct scenario *s, const struct arbiter_config *arb,
                                     int32_t queue)
{
    struct queue_config q = s->quota.queues[queue];
    for (int32_t i = 0; i < arb->queue_override_count; i++)
        if (arb->queue_override_ix[i] == queue)
            q = arb->queue_overrides[i];
    if (!arb->borrowing)
        q.cohort = -1;
    if (arb->strict_fifo)
        q.strategy = QUEUE_STRICT_FIFO;
    if (!arb->preemption) {
        q.within_cluster_queue = q.reclaim_within_cohort = q.borrow_within_cohort = PREEMPT_NEVER;
    } else if (arb->reclaim_any) {
        q.reclaim_within_cohort = PREEMPT_ANY;
    }
    return q;
}

/* BorrowLimit p: borrowingLimit = floor(nominal * p / 100); a limit given for the amount itself goes
 * before it, as AbsoluteBorrowLimits do (managed-and-costs 1.4). */
static int64_t borrowing_limit(const struct arbiter_config *arb, const struct queue_config *q,
                               const struct quota_amount *a)
{
    if (q->cohort < 0)
        return POLICY_NIL;
    if (arb->borrow_limit_percent >= 0 && a->borrowing_limit == QUOTA_UNSET)
        return a->nominal * arb->borrow_limit_percent / 100;
    return a->borrowing_limit == QUOTA_UNSET ? POLICY_NIL : a->borrowing_limit;
}

/* Resources that a flavor has quota for, as a bit set: equal sets make one resource group. */
static uint32_t resource_set(const struct quota_amount *amounts, int32_t count, int32_t flavor)
{
    uint32_t set = 0;
    for (int32_t i = 0; i < count; i++)
        if (amounts[i].flavor == flavor)
            set |= 1U << (amounts[i].resource + 1);
    return set;
}

struct group_build {
    struct arena *arena;
    const struct quota_amount *amounts;
    int32_t count;
    const struct arbiter_config *arb;
    const struct queue_config *queue; /* NULL: a cohort */
};

static struct policy_quota quota_of(const struct group_build *b, uint32_t flavor, uint32_t resource)
{
    for (int32_t i = 0; i < b->count; i++) {
        const struct quota_amount *a = &b->amounts[i];
        if ((uint32_t)a->flavor != flavor || (uint32_t)(a->resource + 1) != resource)
            continue;
        bool alone = b->queue != NULL && b->queue->cohort < 0;
        int64_t lend = a->lending_limit == QUOTA_UNSET || alone ? POLICY_NIL : a->lending_limit;
        int64_t borrow = b->queue != NULL ? borrowing_limit(b->arb, b->queue, a)
                         : a->borrowing_limit == QUOTA_UNSET ? POLICY_NIL
                                                             : a->borrowing_limit;
        return (struct policy_quota){
            .nominal = a->nominal, .borrowing_limit = borrow, .lending_limit = lend};
    }
    return (struct policy_quota){.borrowing_limit = POLICY_NIL, .lending_limit = POLICY_NIL};
}

static void group_fill(const struct group_build *b, uint32_t set, struct policy_resource_group *g)
{
    uint32_t *resources = arena_alloc(b->arena, 32, sizeof *resources);
    uint32_t *flavors = arena_alloc(b->arena, (size_t)b->count, sizeof *flavors);
    for (uint32_t r = 0; r < 32; r++)
        if ((set >> r & 1U) != 0)
            resources[g->resource_count++] = r;
    for (int32_t i = 0; i < b->count; i++) {
        int32_t f = b->amounts[i].flavor;
        bool seen = false;
        for (uint32_t k = 0; k < g->flavor_count; k++)
            seen |= flavors[k] == (uint32_t)f;
        if (!seen && resource_set(b->amounts, b->count, f) == set)
            flavors[g->flavor_count++] = (uint32_t)f;
    }
    struct policy_quota *q = arena_alloc(b->arena, (size_t)g->flavor_count * g->resource_count + 1,
                                         sizeof *q);
    for (uint32_t f = 0; f < g->flavor_count; f++)
        for (uint32_t r = 0; r < g->resource_count; r++)
            q[f * g->resource_count + r] = quota_of(b, flavors[f], resources[r]);
    g->resources = resources;
    g->flavors = flavors;
    g->quotas = q;
}

static struct policy_resource_group *groups_build(const struct group_build *b, uint32_t *count)
{
    struct policy_resource_group *g = arena_alloc(b->arena, (size_t)b->count + 1, sizeof *g);
    uint32_t *sets = arena_alloc(b->arena, (size_t)b->count + 1, sizeof *sets);
    *count = 0;
    for (int32_t i = 0; i < b->count; i++) {
        uint32_t set = resource_set(b->amounts, b->count, b->amounts[i].flavor);
        bool seen = false;
        for (uint32_t k = 0; k < *count; k++)
            seen |= sets[k] == set;
        if (seen)
            continue;
        sets[*count] = set;
        group_fill(b, set, &g[(*count)++]);
    }
    return g;
}

static enum policy_preemption preemption_of(enum preempt_policy p)
{
    switch (p) {
    case PREEMPT_NEVER:
        return POLICY_NEVER_PREEMPT;
    case PREEMPT_LOWER_PRIORITY:
        return POLICY_LOWER_PRIORITY;
    case PREEMPT_LOWER_OR_NEWER_EQUAL:
        return POLICY_LOWER_OR_NEWER_EQUAL;
    case PREEMPT_ANY:
        return POLICY_ANY;
    }
    return POLICY_NEVER_PREEMPT;
}

static enum policy_when when_of(enum fungibility f)
{
    return f == FUNGIBILITY_MAY_STOP_SEARCH ? POLICY_MAY_STOP_SEARCH : POLICY_TRY_NEXT_FLAVOR;
}

static const struct policy_selector every_namespace = {.labels = NULL};

static struct policy_cluster_queue queue_view(struct arena *arena, const struct scenario *s,
                                              const struct arbiter_config *arb, int32_t ix)
{
    struct queue_config q = quota_view_queue(s, arb, ix);
    struct group_build b = {arena, q.quotas, q.quota_count, arb, &q};
    struct policy_cluster_queue v = {
        .name = q.name,
        .cohort = q.cohort < 0 ? POLICY_NONE : (uint32_t)q.cohort,
        .queueing = q.strategy == QUEUE_STRICT_FIFO ? POLICY_STRICT_FIFO : POLICY_BEST_EFFORT_FIFO,
        .namespace_selector = &every_namespace,
        .when_can_borrow = when_of(q.when_can_borrow),
        .when_can_preempt = when_of(q.when_can_preempt),
        .preference = q.preference == PREFER_PREEMPTION ? POLICY_PREEMPTION_OVER_BORROWING : POLICY_BORROWING_OVER_PREEMPTION,
        .stop = q.stop == STOP_NONE ? POLICY_RUN : q.stop == STOP_HOLD ? POLICY_HOLD : POLICY_HOLD_AND_DRAIN,
        .within_cluster_queue = preemption_of(q.within_cluster_queue),
        .reclaim_within_cohort = preemption_of(q.reclaim_within_cohort),
        .borrow_within_cohort = preemption_of(q.borrow_within_cohort),
        .max_priority_threshold = q.has_borrow_threshold ? q.borrow_threshold : POLICY_NIL,
        .weight = q.weight};
    v.groups = groups_build(&b, &v.group_count);
    return v;
}

static struct policy_cohort cohort_view(struct arena *arena, const struct scenario *s,
                                        const struct arbiter_config *arb, int32_t ix)
{
    const struct cohort_config *c = &s->quota.cohorts[ix];
    struct group_build b = {arena, c->quotas, c->quota_count, arb, NULL};
    struct policy_cohort v = {.name = c->name,
                              .parent = c->parent < 0 ? POLICY_NONE : (uint32_t)c->parent,
                              .weight = c->weight};
    v.groups = groups_build(&b, &v.group_count);
    return v;
}

static enum policy_effect effect_view(enum taint_effect e)
{
    return e == TAINT_NO_SCHEDULE          ? POLICY_NO_SCHEDULE
           : e == TAINT_PREFER_NO_SCHEDULE ? POLICY_PREFER_NO_SCHEDULE
           : e == TAINT_NO_EXECUTE         ? POLICY_NO_EXECUTE
                                           : POLICY_EFFECT_ANY;
}

static struct policy_flavor flavor_view(struct arena *arena, const struct flavor_config *f)
{
    struct policy_label *labels = arena_alloc(arena, (size_t)f->node_label_count + 1, sizeof *labels);
    for (int32_t i = 0; i < f->node_label_count; i++)
        labels[i] = (struct policy_label){f->node_labels[i].key, f->node_labels[i].value};
    struct policy_taint *taints = arena_alloc(arena, (size_t)f->node_taint_count + 1, sizeof *taints);
    for (int32_t i = 0; i < f->node_taint_count; i++) {
        const struct taint *t = &f->node_taints[i];
        taints[i] = (struct policy_taint){t->key, t->value == NULL ? "" : t->value, effect_view(t->effect)};
    }
    struct policy_toleration *own = arena_alloc(arena, (size_t)f->toleration_count + 1, sizeof *own);
    for (int32_t i = 0; i < f->toleration_count; i++) {
        const struct taint *t = &f->tolerations[i];
        own[i] = (struct policy_toleration){.key = t->key,
                                            .value = t->value == NULL ? "" : t->value,
                                            .effect = effect_view(t->effect),
                                            .exists = t->value == NULL};
    }
    return (struct policy_flavor){.name = f->name,
                                  .labels = labels,
                                  .label_count = (uint32_t)f->node_label_count,
                                  .taints = taints,
                                  .taint_count = (uint32_t)f->node_taint_count,
                                  .tolerations = own,
                                  .toleration_count = (uint32_t)f->toleration_count,
                                  .topology = POLICY_NONE};
}

static void fill_objects(struct arena *a, const struct scenario *s, const struct arbiter_config *arb,
                         struct policy_config *cfg)
{
    const struct quota_config *q = &s->quota;
    struct policy_flavor *flavors = arena_alloc(a, (size_t)s->fleet.flavor_count + 1, sizeof *flavors);
    for (int32_t i = 0; i < s->fleet.flavor_count; i++)
        flavors[i] = flavor_view(a, &s->fleet.flavors[i]);
    struct policy_cohort *cohorts = arena_alloc(a, (size_t)q->cohort_count + 1, sizeof *cohorts);
    for (int32_t i = 0; i < q->cohort_count; i++)
        cohorts[i] = cohort_view(a, s, arb, i);
    struct policy_cluster_queue *cqs = arena_alloc(a, (size_t)q->queue_count + 1, sizeof *cqs);
    struct policy_local_queue *lqs = arena_alloc(a, (size_t)q->queue_count + 1, sizeof *lqs);
    for (int32_t i = 0; i < q->queue_count; i++) {
        cqs[i] = queue_view(a, s, arb, i);
        lqs[i] = (struct policy_local_queue){
            .name = q->queues[i].name, .cluster_queue = (uint32_t)i, .weight = 1.0};
    }
    cfg->flavors = flavors;
    cfg->cohorts = cohorts;
    cfg->cluster_queues = cqs;
    cfg->local_queues = lqs;
    cfg->flavor_count = (uint32_t)s->fleet.flavor_count;
    cfg->cohort_count = (uint32_t)q->cohort_count;
    cfg->cluster_queue_count = cfg->local_queue_count = (uint32_t)q->queue_count;
}

static void fill_kueue(struct arena *a, const struct kueue_config *k, struct policy_config *cfg)
{
    static const char *const profiles[] = {"HEAD", "v0.19", "v0.18"};
    struct policy_gate *gates = arena_alloc(a, (size_t)k->gate_count + 1, sizeof *gates);
    gates[0] = (struct policy_gate){"QuotaCheckStrategy", true}; /* v0.18 has it off: a queue may count cards only */
    for (int32_t i = 0; i < k->gate_count; i++)
        gates[i + 1] = (struct policy_gate){k->gates[i].name, k->gates[i].on};
    cfg->profile = profiles[k->version];
    cfg->gates = gates;
    cfg->gate_count = (uint32_t)k->gate_count + 1;
    cfg->strategy_count = k->strategies == KUEUE_BOTH_SHARES ? 0 : 1;
    cfg->strategies[0] = k->strategies == KUEUE_INITIAL_SHARE ? POLICY_LESS_THAN_INITIAL_SHARE : POLICY_LESS_OR_EQUAL_FINAL_SHARE;
}

struct policy_config *quota_view_config(struct arena *a, const struct scenario *s,
                                        const struct arbiter_config *arb)
{
    struct policy_config *cfg = arena_alloc(a, 1, sizeof *cfg);
    const char **names = arena_alloc(a, (size_t)s->fleet.resource_count + 1, sizeof *names);
    names[0] = CARD_RESOURCE;
    for (int32_t i = 0; i < s->fleet.resource_count; i++)
        names[i + 1] = s->fleet.resources[i];
    *cfg = (struct policy_config){.abi = POLICY_ABI,
                                  .size = sizeof *cfg,
                                  .fair_sharing = arb->fair_sharing,
                                  .ignore_undeclared = true, /* a queue may count cards only */
                                  .requeue_batch_ns = arb->requeue_batch,
                                  .record_pending = true,
                                  .resources = names,
                                  .resource_count = (uint32_t)s->fleet.resource_count + 1};
    fill_kueue(a, &arb->kueue, cfg);
    fill_objects(a, s, arb, cfg);
    return cfg;
}
