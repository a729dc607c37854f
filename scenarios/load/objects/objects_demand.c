/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the demand and the arbiters take from the objects: local queues, priority classes, the mode of
 * the Configuration. */
#include <string.h>

#include "models/policies/kueue/select.h"
#include "scenarios/load/objects/objects.h"

static const char *const lists[] = {"training", "lora", "services"};

static const char *scalar(const struct ynode *map, const char *key)
{
    const struct ynode *n = map->kind == YNODE_MAP ? ynode_get(map, key) : NULL;
    return n != NULL && n->kind == YNODE_SCALAR ? n->text : NULL;
}

/* ---- priority classes ---- */

static bool listed(const struct ynode *list, const char *name)
{
    for (int32_t i = 0; i < list->count; i++) {
        const char *other = scalar(list->items[i], "name");
        if (other != NULL && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

static void put_classes(const struct ob *o, struct ynode *list, const char *kind)
{
    const bool pods = strcmp(kind, "PriorityClass") == 0;
    for (uint32_t i = 0; i < o->m->object_count; i++) {
        const struct manifest_object *c = &o->m->objects[i];
        if (strcmp(c->kind, kind) != 0 || listed(list, c->name) || (pods && strncmp(c->name, "system-", 7) == 0))
            continue;
        struct ynode *map = ob_new_item(o, list, ob_place_in(o, c, NULL));
        ob_text(o, map, "name", c->name, map->place);
        ynode_add(o->a, map, "value", map->place, ynode_scalar(o->a, mnode_text(c->node, "value", "0"), map->place));
        if (pods && strcmp(mnode_text(c->node, "preemptionPolicy", ""), "Never") == 0)
            ob_text(o, map, "preemptionPolicy", "Never", map->place);
    }
}

/* Of one name, the file's class counts, then the WorkloadPriorityClass: a job names that by its label. */
void ob_priority_classes(struct ob *o)
{
    struct ynode *list = ynode_get(o->root, "priorityClasses");
    if (list == NULL)
        list = ob_under(o, o->root, "priorityClasses", YNODE_LIST, o->root->place);
    if (list->kind != YNODE_LIST)
        return;
    put_classes(o, list, "WorkloadPriorityClass");
    put_classes(o, list, "PriorityClass");
}

/* ---- local queues ---- */

static const char *space_of(const struct ob *o, const char *key)
{
    return arena_strndup(o->a, key, strcspn(key, "/"));
}

static void gather(struct ob *o)
{
    const struct policy_config *cfg = &o->m->config;
    struct load_objects *l = o->left;
    const size_t n = (size_t)cfg->local_queue_count + 1;
    l->local_queues = arena_alloc(o->a, n, sizeof *l->local_queues);
    l->local_queue_of = arena_alloc(o->a, n, sizeof *l->local_queue_of);
    l->local_queue_team = arena_alloc(o->a, n, sizeof *l->local_queue_team);
    for (uint32_t i = 0; i < cfg->local_queue_count; i++) {
        const struct policy_local_queue *q = &cfg->local_queues[i];
        if (q->name == NULL)
            continue;
        const int32_t at = l->local_queue_count++;
        l->local_queues[at] = arena_strdup(o->a, o->m->local_queue_keys[i]);
        l->local_queue_of[at] = arena_strdup(o->a, cfg->cluster_queues[q->cluster_queue].name);
        l->local_queue_team[at] = space_of(o, o->m->local_queue_keys[i]);
    }
}

static const struct policy_local_queue *policy_queue(const struct ob *o, const char *key)
{
    for (uint32_t i = 0; i < o->m->config.local_queue_count; i++)
        if (strcmp(o->m->local_queue_keys[i], key) == 0)
            return &o->m->config.local_queues[i];
    return NULL;
}

/* What would keep the cluster from taking work through this local queue. */
static void tell_local(const struct ob *o, const struct ynode *at, const struct policy_local_queue *q)
{
    const struct policy_selector *s = o->m->config.cluster_queues[q->cluster_queue].namespace_selector;
    const char *queue = o->m->config.cluster_queues[q->cluster_queue].name;
    if (q->stop != POLICY_RUN)
        ob_warn(o, at->place, "LocalQueue '%.100s' is stopped (stopPolicy): the cluster takes nothing through it, the scenario does", at->text);
    if (s == NULL || !kq_selector_matches(s, q->namespace_labels, q->namespace_label_count))
        ob_warn(o, at->place, "the namespaceSelector of ClusterQueue '%.60s' does not match the namespace of LocalQueue '%.100s': the cluster "
                "takes nothing through it, the scenario does", queue, at->text);
}

static void unknown_local(const struct ob *o, const struct ynode *at)
{
    const struct policy_local_queue *q = policy_queue(o, at->text);
    if (q != NULL) {
        ob_error(o, at->place, "LocalQueue '%.100s' belongs to a ClusterQueue that the manifests do not have", at->text);
        return;
    }
    const char *near = diag_nearest(at->text, o->left->local_queues, (size_t)o->left->local_queue_count);
    ob_error(o, at->place, "the manifests have no LocalQueue '%.100s'%s%.100s%s", at->text, near == NULL ? "" : "; did you mean '",
             near == NULL ? "" : near, near == NULL ? "" : "'?");
}

/* "namespace/name" becomes the name of its ClusterQueue; the namespace is the team. */
static void resolve(const struct ob *o, struct ynode *item)
{
    const int32_t at = item->kind == YNODE_MAP ? ynode_find(item, "queue") : -1;
    if (at < 0 || item->items[at]->kind != YNODE_SCALAR || strchr(item->items[at]->text, '/') == NULL)
        return;
    const struct ynode *n = item->items[at];
    const struct load_objects *l = o->left;
    int32_t i = 0;
    while (i < l->local_queue_count && strcmp(l->local_queues[i], n->text) != 0)
        i++;
    if (i == l->local_queue_count) {
        unknown_local(o, n);
        return;
    }
    tell_local(o, n, policy_queue(o, n->text));
    struct ynode *queue = ynode_scalar(o->a, l->local_queue_of[i], n->place);
    queue->quoted = true;
    item->items[at] = queue;
    if (ynode_find(item, "team") < 0)
        ob_text(o, item, "team", l->local_queue_team[i], n->place);
}

void ob_local_queues(struct ob *o)
{
    gather(o);
    for (int k = 0; k < 3; k++) {
        const struct ynode *list = ob_demand(o, lists[k]);
        for (int32_t i = 0; list != NULL && i < list->count; i++)
            resolve(o, list->items[i]);
    }
}

/* ---- arbiters ---- */

/* What the Configuration and the controller's version say, for an arbiter that does not say it. */
static void put_kueue(const struct ob *o, struct ynode *arbiter)
{
    const struct policy_config *cfg = &o->m->config;
    static const char *const strategies[] = {"LessThanOrEqualToFinalShare", "LessThanInitialShare"};
    const struct yplace place = arbiter->place;
    const bool head = strcmp(cfg->profile, "HEAD") == 0;
    if (ynode_find(arbiter, "kueue") >= 0 || (head && cfg->gate_count == 0 && cfg->strategy_count == 0))
        return;
    struct ynode *map = ob_under(o, arbiter, "kueue", YNODE_MAP, place);
    if (!head)
        ob_text(o, map, "version", cfg->profile, place);
    struct ynode *gates = cfg->gate_count == 0 ? NULL : ob_under(o, map, "featureGates", YNODE_MAP, place);
    for (uint32_t i = 0; i < cfg->gate_count; i++)
        ynode_add(o->a, gates, arena_strdup(o->a, cfg->gates[i].name), place, ynode_scalar(o->a, cfg->gates[i].on ? "true" : "false", place));
    struct ynode *list = cfg->strategy_count == 0 ? NULL : ob_under(o, map, "preemptionStrategies", YNODE_LIST, place);
    for (uint32_t i = 0; i < cfg->strategy_count; i++)
        ob_text(o, list, NULL, strategies[cfg->strategies[i] == POLICY_LESS_THAN_INITIAL_SHARE], place);
}

/* Without a list, the cluster's own policy. */
void ob_arbiters(struct ob *o)
{
    struct ynode *list = ynode_get(o->root, "arbiters");
    if (list == NULL) {
        list = ob_under(o, o->root, "arbiters", YNODE_LIST, o->root->place);
        ob_text(o, ob_new_item(o, list, o->root->place), "preset", "cohort", o->root->place);
    }
    for (int32_t i = 0; list->kind == YNODE_LIST && i < list->count; i++) {
        struct ynode *arbiter = list->items[i];
        const char *preset = scalar(arbiter, "preset");
        if (preset == NULL || strcmp(preset, "cohort") != 0)
            continue;
        if (o->m->config.fair_sharing && ynode_find(arbiter, "fairSharing") < 0)
            ynode_add(o->a, arbiter, "fairSharing", arbiter->place, ynode_scalar(o->a, "true", arbiter->place));
        put_kueue(o, arbiter);
    }
}
