/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cohorts and ClusterQueues as cohorts and queues, namespaces as teams. */
#include <string.h>

#include "scenarios/load/objects/objects.h"

static const int64_t cards_max = 1000000000; /* the most that a scenario's quota can name */

/* ---- what quotas there are ---- */

static void count_groups(struct ob *o, const struct policy_resource_group *groups, uint32_t count)
{
    for (uint32_t g = 0; g < count; g++)
        for (uint32_t f = 0; f < groups[g].flavor_count; f++)
            for (uint32_t r = 0; r < groups[g].resource_count; r++) {
                const uint32_t resource = groups[g].resources[r];
                struct ob_flavor *v = &o->flavors[groups[g].flavors[f]];
                v->named = true;
                if (resource == o->card) {
                    v->cards = true;
                    v->cards_above_0 |= groups[g].quotas[f * groups[g].resource_count + r].nominal > 0;
                } else if (strcmp(o->m->config.resources[resource], "pods") != 0) {
                    o->resource_kept[resource] = true;
                }
            }
}

void ob_count_quotas(struct ob *o)
{
    const struct policy_config *cfg = &o->m->config;
    o->flavors = arena_alloc(o->a, (size_t)cfg->flavor_count + 1, sizeof *o->flavors);
    o->resource_kept = arena_alloc(o->a, (size_t)cfg->resource_count + 1, sizeof *o->resource_kept);
    for (uint32_t r = 0; r < cfg->resource_count; r++) /* what a demand may ask for beside */
        o->resource_kept[r] = strcmp(cfg->resources[r], "cpu") == 0 || strcmp(cfg->resources[r], "memory") == 0;
    for (uint32_t i = 0; i < cfg->cluster_queue_count; i++)
        count_groups(o, cfg->cluster_queues[i].groups, cfg->cluster_queues[i].group_count);
    for (uint32_t i = 0; i < cfg->cohort_count; i++)
        count_groups(o, cfg->cohorts[i].groups, cfg->cohorts[i].group_count);
}

/* ---- amounts ---- */

struct quota_at { /* where a group's quotas stand */
    const struct manifest_object *object;
    const struct mnode *group; /* of spec.resourceGroups; NULL: not known */
};

static struct yplace place_of_amount(const struct ob *o, const struct quota_at *at, uint32_t f, uint32_t r)
{
    const struct mnode *flavor = ob_item(mnode_get(at->group, "flavors"), f);
    const struct mnode *row = ob_item(mnode_get(flavor, "resources"), r);
    return ob_place_in(o, at->object, row != NULL ? row : flavor);
}

static void put_amount(const struct ob *o, struct ynode *map, const char *key, uint32_t resource, int64_t v, struct yplace place)
{
    if (v == POLICY_NIL)
        return;
    if (resource == o->card)
        ob_number(o, map, key, v < cards_max ? v : cards_max, place);
    else
        ob_amount(o, map, key, resource, v, place);
}

static void put_amounts(const struct ob *o, struct ynode *map, uint32_t resource, const struct policy_quota *q, struct yplace place)
{
    put_amount(o, map, "nominalQuota", resource, q->nominal, place);
    put_amount(o, map, "borrowingLimit", resource, q->borrowing_limit, place);
    put_amount(o, map, "lendingLimit", resource, q->lending_limit, place);
}

static bool kept(const struct ob *o, const struct policy_resource_group *g, uint32_t r)
{
    return g->resources[r] == o->card || o->resource_kept[g->resources[r]];
}

/* A group of cards alone, in the short form: {h100: 16, a100: {nominalQuota: 8, lendingLimit: 2}}. */
static void put_cards(const struct ob *o, struct ynode *queue, const struct policy_resource_group *g, const struct quota_at *at)
{
    struct ynode *map = ob_under(o, queue, "cards", YNODE_MAP, ob_place_in(o, at->object, at->group));
    for (uint32_t f = 0; f < g->flavor_count; f++) {
        const struct policy_quota *q = &g->quotas[f * g->resource_count];
        const char *flavor = o->m->config.flavors[g->flavors[f]].name;
        const struct yplace place = place_of_amount(o, at, f, 0);
        if (!o->flavors[g->flavors[f]].kept)
            continue;
        if (q->borrowing_limit == POLICY_NIL && q->lending_limit == POLICY_NIL)
            put_amount(o, map, flavor, o->card, q->nominal, place);
        else
            put_amounts(o, ob_under(o, map, flavor, YNODE_MAP, place), o->card, q, place);
    }
}

static const char *resource_name(const struct ob *o, uint32_t resource)
{
    return resource == o->card ? "cards" : o->m->config.resources[resource];
}

static void put_group(const struct ob *o, struct ynode *list, const struct policy_resource_group *g, const struct quota_at *at)
{
    const struct yplace place = ob_place_in(o, at->object, at->group);
    struct ynode *map = ob_new_item(o, list, place), *covered = ob_under(o, map, "coveredResources", YNODE_LIST, place);
    struct ynode *flavors = ob_under(o, map, "flavors", YNODE_LIST, place);
    for (uint32_t r = 0; r < g->resource_count; r++)
        if (kept(o, g, r))
            ob_text(o, covered, NULL, resource_name(o, g->resources[r]), place);
    for (uint32_t f = 0; f < g->flavor_count; f++) {
        if (!o->flavors[g->flavors[f]].kept)
            continue;
        struct ynode *flavor = ob_new_item(o, flavors, place_of_amount(o, at, f, 0));
        ob_text(o, flavor, "name", o->m->config.flavors[g->flavors[f]].name, flavor->place);
        struct ynode *rows = ob_under(o, flavor, "resources", YNODE_LIST, flavor->place);
        for (uint32_t r = 0; r < g->resource_count; r++) {
            if (!kept(o, g, r))
                continue;
            struct ynode *row = ob_new_item(o, rows, place_of_amount(o, at, f, r));
            ob_text(o, row, "name", resource_name(o, g->resources[r]), row->place);
            put_amounts(o, row, g->resources[r], &g->quotas[f * g->resource_count + r], row->place);
        }
    }
}

/* Something of the group is left: a resource and a flavor. */
static bool left(const struct ob *o, const struct policy_resource_group *g)
{
    bool resource = false, flavor = false;
    for (uint32_t r = 0; r < g->resource_count; r++)
        resource |= kept(o, g, r);
    for (uint32_t f = 0; f < g->flavor_count; f++)
        flavor |= o->flavors[g->flavors[f]].kept;
    return resource && flavor;
}

static void put_groups(const struct ob *o, struct ynode *map, const struct manifest_object *object,
                       const struct policy_resource_group *groups, uint32_t count)
{
    const struct mnode *written = object == NULL ? NULL : mnode_at(object->node, "spec.resourceGroups");
    struct ynode *list = NULL;
    uint32_t many = 0;
    for (uint32_t g = 0; g < count; g++)
        many += left(o, &groups[g]);
    for (uint32_t g = 0; g < count; g++) {
        const struct quota_at at = {object, ob_item(written, g)};
        if (!left(o, &groups[g]))
            continue;
        if (many == 1 && groups[g].resource_count == 1 && groups[g].resources[0] == o->card) {
            put_cards(o, map, &groups[g], &at);
            return;
        }
        if (list == NULL)
            list = ob_under(o, map, "resourceGroups", YNODE_LIST, ob_place_in(o, object, written));
        put_group(o, list, &groups[g], &at);
    }
}

static void put_weight(const struct ob *o, struct ynode *map, double weight)
{
    if (weight != 1.0)
        ob_real(o, ob_under(o, map, "fairSharing", YNODE_MAP, map->place), "weight", weight, map->place);
}

/* ---- cohorts ---- */

static void put_cohort(const struct ob *o, struct ynode *list, const struct policy_cohort *c)
{
    const struct manifest_object *object = manifest_find(o->m, "Cohort", NULL, c->name);
    struct ynode *map = ob_new_item(o, list, ob_place_in(o, object, NULL));
    ob_text(o, map, "name", c->name, map->place);
    if (c->parent != POLICY_NONE)
        ob_text(o, map, "parentName", o->m->config.cohorts[c->parent].name, map->place);
    put_groups(o, map, object, c->groups, c->group_count);
    put_weight(o, map, c->weight);
}

/* ---- queues ---- */

static const char *preemption_name(enum policy_preemption p)
{
    switch (p) {
    case POLICY_LOWER_PRIORITY:
        return "LowerPriority";
    case POLICY_LOWER_OR_NEWER_EQUAL:
        return "LowerOrNewerEqualPriority";
    case POLICY_ANY:
        return "Any";
    case POLICY_NEVER_PREEMPT:
    case POLICY_UNSET:
        break;
    }
    return "Never";
}

static const char *when_name(enum policy_when w)
{
    return w == POLICY_TRY_NEXT_FLAVOR ? "TryNextFlavor" : "MayStopSearch";
}

static void put_rules(const struct ob *o, struct ynode *map, const struct policy_cluster_queue *q)
{
    struct ynode *p = ob_under(o, map, "preemption", YNODE_MAP, map->place);
    ob_text(o, p, "withinClusterQueue", preemption_name(q->within_cluster_queue), map->place);
    ob_text(o, p, "reclaimWithinCohort", preemption_name(q->reclaim_within_cohort), map->place);
    struct ynode *b = ob_under(o, p, "borrowWithinCohort", YNODE_MAP, map->place);
    ob_text(o, b, "policy", preemption_name(q->borrow_within_cohort), map->place);
    if (q->max_priority_threshold != POLICY_NIL)
        ob_number(o, b, "maxPriorityThreshold", q->max_priority_threshold, map->place);
    struct ynode *f = ob_under(o, map, "flavorFungibility", YNODE_MAP, map->place);
    ob_text(o, f, "whenCanBorrow", when_name(q->when_can_borrow), map->place);
    ob_text(o, f, "whenCanPreempt", when_name(q->when_can_preempt), map->place);
    if (q->preference == POLICY_PREEMPTION_OVER_BORROWING)
        ob_text(o, f, "preference", "PreemptionOverBorrowing", map->place);
}

/* The namespace of all its local queues, else its own name. */
static const char *team_of(const struct ob *o, uint32_t queue)
{
    const struct policy_config *cfg = &o->m->config;
    const char *team = NULL;
    for (int32_t i = 0; i < o->left->local_queue_count; i++) {
        if (strcmp(o->left->local_queue_of[i], cfg->cluster_queues[queue].name) != 0)
            continue;
        if (team != NULL && strcmp(team, o->left->local_queue_team[i]) != 0)
            return cfg->cluster_queues[queue].name;
        team = o->left->local_queue_team[i];
    }
    return team != NULL ? team : cfg->cluster_queues[queue].name;
}

static void put_queue(const struct ob *o, struct ynode *list, uint32_t ix)
{
    const struct policy_cluster_queue *q = &o->m->config.cluster_queues[ix];
    const struct manifest_object *object = manifest_find(o->m, "ClusterQueue", NULL, q->name);
    struct ynode *map = ob_new_item(o, list, ob_place_in(o, object, NULL));
    ob_text(o, map, "name", q->name, map->place);
    ob_text(o, map, "team", team_of(o, ix), map->place);
    if (q->cohort != POLICY_NONE)
        ob_text(o, map, "cohortName", o->m->config.cohorts[q->cohort].name, map->place);
    ob_text(o, map, "queueingStrategy", q->queueing == POLICY_STRICT_FIFO ? "StrictFIFO" : "BestEffortFIFO", map->place);
    put_groups(o, map, object, q->groups, q->group_count);
    put_rules(o, map, q);
    put_weight(o, map, q->weight);
    if (q->stop == POLICY_HOLD_AND_DRAIN)
        ob_text(o, map, "stopPolicy", "HoldAndDrain", ob_place(o, "ClusterQueue", NULL, q->name, "spec.stopPolicy"));
    else if (o->m->queues[ix].inactive != NULL) /* stopped, or something is missing: it admits nothing either way */
        ob_text(o, map, "stopPolicy", "Hold", ob_place(o, "ClusterQueue", NULL, q->name, "spec.stopPolicy"));
}

/* ---- teams ---- */

static void put_team(const struct ob *o, struct ynode *list, const char *name, struct yplace place)
{
    for (int32_t i = 0; i < list->count; i++) {
        const struct ynode *other = list->items[i]->kind == YNODE_MAP ? ynode_get(list->items[i], "name") : NULL;
        if (other != NULL && other->kind == YNODE_SCALAR && strcmp(other->text, name) == 0)
            return;
    }
    ob_text(o, ob_new_item(o, list, place), "name", name, place);
}

/* Those of the file come first; a namespace of the same name is one of them. */
static void put_teams(const struct ob *o)
{
    struct ynode *list = ynode_get(o->root, "teams");
    if (list == NULL)
        list = ob_under(o, o->root, "teams", YNODE_LIST, o->root->place);
    if (list->kind != YNODE_LIST)
        return; /* its reader says so */
    for (uint32_t i = 0; i < o->m->config.cluster_queue_count; i++)
        if (o->m->config.cluster_queues[i].name != NULL)
            put_team(o, list, team_of(o, i), ob_place(o, "ClusterQueue", NULL, o->m->config.cluster_queues[i].name, NULL));
    for (int32_t i = 0; i < o->left->local_queue_count; i++)
        put_team(o, list, o->left->local_queue_team[i], o->root->place);
}

void ob_quota(struct ob *o)
{
    const struct policy_config *cfg = &o->m->config;
    put_teams(o);
    struct ynode *cohorts = ob_under(o, o->root, "cohorts", YNODE_LIST, o->root->place);
    for (uint32_t i = 0; i < cfg->cohort_count; i++)
        put_cohort(o, cohorts, &cfg->cohorts[i]);
    struct ynode *queues = ob_under(o, o->root, "queues", YNODE_LIST, o->root->place);
    for (uint32_t i = 0; i < cfg->cluster_queue_count; i++)
        if (cfg->cluster_queues[i].name != NULL)
            put_queue(o, queues, i);
}
