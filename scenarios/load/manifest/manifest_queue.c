/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ClusterQueue and Cohort: what their webhooks refuse, and the API's defaults (decision
 * specification 1.3, 1.4). */
#include <stdio.h>
#include <string.h>

#include "models/policies/quantity.h"
#include "scenarios/load/manifest/manifest_priv.h"

enum { GROUPS_MAX = 16, RESOURCES_MAX = 64, FLAVORS_MAX = 64, TOTAL_MAX = 256, PAIRS_MAX = 512 };

struct group_rules { /* the one difference between the two kinds */
    bool has_parent, lending_below_nominal;
    const char *parent_word;
    uint32_t flavors, resources;  /* totals so far */
};

static void limit(struct mf *r, const struct mnode *q, const char *key, const char *resource,
                  const struct group_rules *rules, int64_t *to)
{
    *to = POLICY_NIL;
    const struct mnode *n = mnode_get(q, key);
    if (n == NULL)
        return;
    if (!mf_quantity(r, q, key, resource, to))
        return;
    if (*to < 0)
        mf_error(r, n, key, "Invalid value: \"%.60s\": must be greater than or equal to 0", n->text);
    if (!rules->has_parent)
        mf_error(r, n, key, "Invalid value: \"%.60s\": must be nil when %s is empty", n->text,
                 rules->parent_word);
}

static void quota(struct mf *r, const struct mnode *q, const char *resource,
                  const struct group_rules *rules, struct policy_quota *to)
{
    static const char *const fields[] = {"name", "nominalQuota", "borrowingLimit", "lendingLimit", NULL};
    mf_known(r, q, fields);
    const struct mnode *n = mnode_get(q, "nominalQuota");
    if (mf_quantity(r, q, "nominalQuota", resource, &to->nominal) && to->nominal < 0)
        mf_error(r, n, "nominalQuota", "Invalid value: \"%.60s\": must be greater than or equal to 0",
                 n->text);
    limit(r, q, "borrowingLimit", resource, rules, &to->borrowing_limit);
    limit(r, q, "lendingLimit", resource, rules, &to->lending_limit);
    if (rules->lending_below_nominal && to->lending_limit != POLICY_NIL &&
        to->lending_limit > to->nominal)
        mf_error(r, q, "lendingLimit",
                 "Invalid value: \"%.60s\": must be less than or equal to the nominalQuota",
                 mnode_text(q, "lendingLimit", ""));
}

/* One flavor's row of quotas; they must stand in the order of coveredResources. */
static void flavor_row(struct mf *r, const struct mnode *f, struct policy_resource_group *g,
                       const struct group_rules *rules, struct policy_quota *row)
{
    static const char *const fields[] = {"name", "resources", NULL};
    mf_known(r, f, fields);
    const struct mnode *list = mf_list(r, f, "resources");
    uint32_t i = 0;
    if (mnode_count(list) != g->resource_count) {
        mf_error(r, f, "resources",
                 "Invalid value: flavors must have the same number of resources as the "
                 "coveredResources (%u and %u)",
                 (unsigned)mnode_count(list), (unsigned)g->resource_count);
        return;
    }
    for (const struct mnode *q = mnode_first(list); q != NULL; q = q->next, i++) {
        const size_t mark = mf_into(r, ".resources[%u]", (unsigned)i);
        const char *name = mf_string(r, q, "name", ""), *covered = mf_id_name(&r->resources, g->resources[i]);
        if (strcmp(name, covered) != 0)
            mf_error(r, q, "name", "Invalid value: \"%.60s\": must match the name in coveredResources",
                     name);
        quota(r, q, covered, rules, &row[i]);
        mf_out(r, mark);
    }
}

static bool among(const uint32_t *ids, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Resources and flavors belong to one group only. */
static bool used_before(const struct policy_resource_group *groups, uint32_t count, uint32_t id,
                        bool flavor)
{
    for (uint32_t i = 0; i < count; i++)
        if (flavor ? among(groups[i].flavors, groups[i].flavor_count, id)
                   : among(groups[i].resources, groups[i].resource_count, id))
            return true;
    return false;
}

static void covered_resources(struct mf *r, const struct mnode *g, struct policy_resource_group *groups,
                              uint32_t at)
{
    struct policy_resource_group *to = &groups[at];
    const struct mnode *list = mf_list(r, g, "coveredResources");
    uint32_t *ids = arena_alloc(&r->m->mem, (size_t)mnode_count(list) + 1, sizeof *ids), i = 0;
    to->resources = ids;
    if (mnode_count(list) == 0)
        mf_error(r, g, "coveredResources", "Invalid value: should have at least 1 items");
    if (mnode_count(list) > RESOURCES_MAX)
        mf_error(r, list, "coveredResources", "Too many: must have at most 64 items");
    for (const struct mnode *c = mnode_first(list); c != NULL; c = c->next, i++) {
        const size_t mark = mf_into(r, ".coveredResources[%u]", (unsigned)i);
        ids[i] = mf_id(&r->resources, c->text);
        if (ids[i] == POLICY_NONE)
            mf_error(r, c, NULL, "Invalid value: \"\": name part must be non-empty");
        else if (among(ids, i, ids[i]) || used_before(groups, at, ids[i], false))
            mf_error(r, c, NULL, "Duplicate value: \"%.60s\"", c->text);
        mf_out(r, mark);
    }
    to->resource_count = i;
}

static void group(struct mf *r, const struct mnode *g, struct policy_resource_group *groups, uint32_t at,
                  struct group_rules *rules)
{
    static const char *const fields[] = {"coveredResources", "flavors", NULL};
    struct policy_resource_group *to = &groups[at];
    mf_known(r, g, fields);
    covered_resources(r, g, groups, at);
    const struct mnode *list = mf_list(r, g, "flavors");
    const uint32_t n = mnode_count(list);
    uint32_t *ids = arena_alloc(&r->m->mem, (size_t)n + 1, sizeof *ids), i = 0;
    to->flavors = ids;
    if (n == 0)
        mf_error(r, g, "flavors", "Invalid value: should have at least 1 items");
    if (n > FLAVORS_MAX)
        mf_error(r, list, "flavors", "Too many: must have at most 64 items");
    if ((uint64_t)n * to->resource_count > PAIRS_MAX) {
        mf_error(r, g, NULL, "Invalid value: number of flavor-resource combinations in a resourceGroup "
                 "must be ≤ 512, got %llu", (unsigned long long)n * to->resource_count);
        to->resource_count = 0;
        return;
    }
    struct policy_quota *quotas = arena_alloc(&r->m->mem, (size_t)n * to->resource_count + 1, sizeof *quotas);
    to->quotas = quotas;
    for (size_t c = 0; c < (size_t)n * to->resource_count; c++)
        quotas[c].borrowing_limit = quotas[c].lending_limit = POLICY_NIL;
    for (const struct mnode *f = mnode_first(list); f != NULL; f = f->next, i++) {
        const size_t mark = mf_into(r, ".flavors[%u]", (unsigned)i);
        const char *name = mf_string(r, f, "name", "");
        ids[i] = mf_id(&r->flavors, name);
        if (ids[i] == POLICY_NONE)
            mf_error(r, f, "name", "Required value");
        else if (among(ids, i, ids[i]) || used_before(groups, at, ids[i], true))
            mf_error(r, f, "name", "Duplicate value: \"%.60s\"", name);
        flavor_row(r, f, to, rules, &quotas[(size_t)i * to->resource_count]);
        mf_out(r, mark);
    }
    to->flavor_count = i;
    rules->flavors += n;
    rules->resources += to->resource_count;
}

static void groups(struct mf *r, const struct mnode *spec, struct group_rules *rules,
                   const struct policy_resource_group **to, uint32_t *count)
{
    const struct mnode *list = mf_list(r, spec, "resourceGroups");
    struct policy_resource_group *v =
        arena_alloc(&r->m->mem, (size_t)mnode_count(list) + 1, sizeof *v);
    *to = v;
    if (mnode_count(list) > GROUPS_MAX) {
        mf_error(r, list, "resourceGroups", "Too many: must have at most 16 items");
        return;
    }
    for (const struct mnode *g = mnode_first(list); g != NULL; g = g->next) {
        const size_t mark = mf_into(r, ".resourceGroups[%u]", (unsigned)*count);
        group(r, g, v, *count, rules);
        mf_out(r, mark);
        ++*count;
    }
    if (rules->flavors > TOTAL_MAX)
        mf_error(r, list, "resourceGroups", "Invalid value: total number of flavors across all "
                 "resourceGroups must be ≤ 256, got %u", (unsigned)rules->flavors);
    if (rules->resources > TOTAL_MAX)
        mf_error(r, list, "resourceGroups", "Invalid value: total number of covered resources across "
                 "all resourceGroups must be ≤ 256, got %u", (unsigned)rules->resources);
}

/* fairSharing.weight: a decimal from 0; what is not 0 must exceed 10^-9. */
double mf_weight(struct mf *r, const struct mnode *spec)
{
    const struct mnode *fair = mf_map(r, spec, "fairSharing"), *n = mnode_get(fair, "weight");
    double w = 1.0;
    if (n == NULL)
        return w;
    const size_t mark = mf_into(r, ".fairSharing");
    if ((n->kind != MNODE_STRING && n->kind != MNODE_NUMBER) || !quantity_real(n->text, &w)) {
        mf_error(r, n, "weight", "Invalid value: \"%.60s\": not a quantity", n->text);
        w = 1.0;
    } else if (w < 0) {
        mf_error(r, n, "weight", "Invalid value: \"%.60s\": must be greater than or equal to 0", n->text);
    } else if (w > 0 && w <= 1e-9) {
        mf_error(r, n, "weight", "Invalid value: \"%.60s\": When not 0, weight must be > 10e-9", n->text);
    }
    mf_out(r, mark);
    return w;
}

static enum policy_preemption policy_of(int choice)
{
    static const enum policy_preemption values[] = {POLICY_NEVER_PREEMPT, POLICY_LOWER_PRIORITY,
                                                    POLICY_LOWER_OR_NEWER_EQUAL, POLICY_ANY};
    return values[choice];
}

static void preemption(struct mf *r, const struct mnode *spec, struct policy_cluster_queue *q)
{
    static const char *const reclaim[] = {"Never", "LowerPriority", "Any", NULL};
    static const char *const within[] = {"Never", "LowerPriority", "LowerOrNewerEqualPriority", NULL};
    static const char *const borrow[] = {"Never", "LowerPriority", NULL};
    static const char *const fields[] = {"reclaimWithinCohort", "borrowWithinCohort", "withinClusterQueue", NULL};
    const struct mnode *p = mf_map(r, spec, "preemption"), *b = mf_map(r, p, "borrowWithinCohort");
    const size_t mark = mf_into(r, ".preemption");
    mf_known(r, p, fields);
    const int any = mf_choice(r, p, "reclaimWithinCohort", reclaim, 0);
    q->reclaim_within_cohort = policy_of(any == 2 ? 3 : any);
    q->within_cluster_queue = policy_of(mf_choice(r, p, "withinClusterQueue", within, 0));
    const size_t inner = mf_into(r, ".borrowWithinCohort");
    q->borrow_within_cohort = policy_of(mf_choice(r, b, "policy", borrow, 0));
    q->max_priority_threshold =
        mf_int(r, b, "maxPriorityThreshold", INT32_MIN, INT32_MAX, POLICY_NIL);
    mf_out(r, inner);
    if (q->reclaim_within_cohort == POLICY_NEVER_PREEMPT &&
        q->borrow_within_cohort != POLICY_NEVER_PREEMPT)
        mf_error(r, p, NULL, "Invalid value: reclaimWithinCohort=Never and "
                             "borrowWithinCohort.Policy!=Never");
    mf_out(r, mark);
}

/* v1beta1 also knows Borrow and Preempt for MayStopSearch. */
static void fungibility(struct mf *r, const struct mnode *spec, struct policy_cluster_queue *q)
{
    static const char *const when[] = {"MayStopSearch", "TryNextFlavor", "Borrow", "Preempt", NULL};
    static const char *const preference[] = {"BorrowingOverPreemption", "PreemptionOverBorrowing", NULL};
    static const char *const fields[] = {"whenCanBorrow", "whenCanPreempt", "preference", NULL};
    const struct mnode *f = mf_map(r, spec, "flavorFungibility");
    const size_t mark = mf_into(r, ".flavorFungibility");
    mf_known(r, f, fields);
    q->when_can_borrow =
        mf_choice(r, f, "whenCanBorrow", when, 0) == 1 ? POLICY_TRY_NEXT_FLAVOR : POLICY_MAY_STOP_SEARCH;
    q->when_can_preempt =
        mf_choice(r, f, "whenCanPreempt", when, 1) == 1 ? POLICY_TRY_NEXT_FLAVOR : POLICY_MAY_STOP_SEARCH;
    q->preference = mf_choice(r, f, "preference", preference, 0) == 1 ? POLICY_PREEMPTION_OVER_BORROWING
                                                                      : POLICY_BORROWING_OVER_PREEMPTION;
    if (mnode_get(f, "preference") != NULL && (q->when_can_borrow != POLICY_TRY_NEXT_FLAVOR ||
                                               q->when_can_preempt != POLICY_TRY_NEXT_FLAVOR))
        mf_error(r, f, "preference", "Invalid value: preference can only be set when both "
                 "whenCanBorrow and whenCanPreempt are TryNextFlavor");
    mf_out(r, mark);
}

enum policy_stop mf_stop(struct mf *r, const struct mnode *spec)
{
    static const char *const names[] = {"None", "Hold", "HoldAndDrain", NULL};
    static const enum policy_stop values[] = {POLICY_RUN, POLICY_HOLD, POLICY_HOLD_AND_DRAIN};
    return values[mf_choice(r, spec, "stopPolicy", names, 0)];
}

void mf_cluster_queue_spec(struct mf *r, const struct mnode *spec, struct policy_cluster_queue *q)
{
    static const char *const strategies[] = {"BestEffortFIFO", "StrictFIFO", NULL};
    static const char *const modes[] = {"NoAdmissionFairSharing", "UsageBasedAdmissionFairSharing", NULL};
    static const char *const fields[] = {"resourceGroups", "cohort", "cohortName", "queueingStrategy",
        "namespaceSelector", "flavorFungibility", "preemption", "admissionChecks",
        "admissionChecksStrategy", "stopPolicy", "fairSharing", "admissionScope",
        "concurrentAdmissionPolicy", NULL};
    const size_t mark = mf_into(r, ".spec");
    mf_known(r, spec, fields);
    const char *cohort = mf_string(r, spec, "cohortName", mf_string(r, spec, "cohort", ""));
    struct group_rules rules = {.has_parent = cohort[0] != '\0', .lending_below_nominal = true,
                                .parent_word = "cohort"};
    q->cohort = mf_id(&r->cohorts, cohort);
    q->queueing = mf_choice(r, spec, "queueingStrategy", strategies, 0) == 1 ? POLICY_STRICT_FIFO
                                                                             : POLICY_BEST_EFFORT_FIFO;
    const struct mnode *selector = mf_map(r, spec, "namespaceSelector");
    if (selector != NULL) {
        const size_t inner = mf_into(r, ".namespaceSelector");
        struct policy_selector *s = arena_alloc(&r->m->mem, 1, sizeof *s);
        *s = mf_selector(r, selector);
        q->namespace_selector = s;
        mf_out(r, inner);
    }
    groups(r, spec, &rules, &q->groups, &q->group_count);
    preemption(r, spec, q);
    fungibility(r, spec, q);
    q->weight = mf_weight(r, spec);
    q->stop = mf_stop(r, spec);
    q->usage_based_admission =
        mf_choice(r, mf_map(r, spec, "admissionScope"), "admissionMode", modes, 0) == 1;
    if (mnode_get(spec, "concurrentAdmissionPolicy") != NULL)
        mf_unsupported(r, "ClusterQueue spec.concurrentAdmissionPolicy");
    mf_out(r, mark);
}

void mf_cluster_queue(struct mf *r, const struct mnode *o)
{
    const uint32_t id = mf_id(&r->queues, r->name);
    const struct mnode *spec = mf_map(r, o, "spec");
    if (!mf_define(r, &r->queues, id, o))
        return;
    r->queue = mf_room(r->queue, &r->queue_capacity, id, sizeof *r->queue);
    struct policy_cluster_queue q = {.name = mf_id_name(&r->queues, id)};
    mf_cluster_queue_spec(r, spec, &q);
    r->queue[id].queue = q;
    const struct mnode *strategy = mnode_get(spec, "admissionChecksStrategy");
    r->queue[id].checks = strategy != NULL ? mnode_get(strategy, "admissionChecks")
                                           : mnode_get(spec, "admissionChecks");
}

void mf_cohort(struct mf *r, const struct mnode *o)
{
    static const char *const fields[] = {"parent", "parentName", "resourceGroups", "fairSharing", NULL};
    const uint32_t id = mf_id(&r->cohorts, r->name);
    const struct mnode *spec = mf_map(r, o, "spec");
    if (!mf_define(r, &r->cohorts, id, o))
        return;
    const size_t mark = mf_into(r, ".spec");
    mf_known(r, spec, fields);
    const char *parent = mf_string(r, spec, "parentName", mf_string(r, spec, "parent", ""));
    struct group_rules rules = {.has_parent = parent[0] != '\0', .parent_word = "parent"};
    struct policy_cohort c = {.name = mf_id_name(&r->cohorts, id), .parent = mf_id(&r->cohorts, parent)};
    c.weight = mf_weight(r, spec);
    groups(r, spec, &rules, &c.groups, &c.group_count);
    r->cohort = mf_room(r->cohort, &r->cohort_capacity, id, sizeof *r->cohort);
    r->cohort[id] = c;
    mf_out(r, mark);
}
