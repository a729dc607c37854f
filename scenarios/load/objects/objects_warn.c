/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the objects say, the cluster's decisions depend on, and the world of a scenario does not have.
 * Everything here is decision-exact in a replay of the manifests' own workloads; a scenario with other
 * demand goes without it, so each is named where it stands.
 */
#include <string.h>

#include "scenarios/load/objects/objects.h"

/* Places and cores are decided by the demand's own `resources`; "pods" no demand asks for. */
static void tell_pods(const struct ob *o, const struct policy_cluster_queue *q)
{
    for (uint32_t g = 0; g < q->group_count; g++)
        for (uint32_t r = 0; r < q->groups[g].resource_count; r++)
            if (strcmp(o->m->config.resources[q->groups[g].resources[r]], "pods") == 0)
                ob_warn(o, ob_place(o, "ClusterQueue", NULL, q->name, "spec.resourceGroups"),
                        "ClusterQueue '%.80s': its quota of pods is left out; a scenario counts no pods", q->name);
}

static void tell_flavors_without_cards(const struct ob *o, const struct policy_cluster_queue *q)
{
    for (uint32_t g = 0; g < q->group_count; g++)
        for (uint32_t f = 0; f < q->groups[g].flavor_count; f++) {
            const uint32_t id = q->groups[g].flavors[f];
            if (o->flavors[id].kept || o->flavors[id].cards || o->m->config.flavors[id].name == NULL)
                continue;
            ob_warn(o, ob_place(o, "ClusterQueue", NULL, q->name, "spec.resourceGroups"),
                    "ClusterQueue '%.80s': its quota on flavor '%.80s', which selects no node with cards, is left out", q->name,
                    o->m->config.flavors[id].name);
        }
}

static void tell_queue(const struct ob *o, uint32_t ix)
{
    const struct policy_cluster_queue *q = &o->m->config.cluster_queues[ix];
    const struct manifest_queue *more = &o->m->queues[ix];
    const char *field = "spec.admissionChecks";
    const struct manifest_object *object = manifest_find(o->m, "ClusterQueue", NULL, q->name);
    if (object != NULL && mnode_at(object->node, field) == NULL)
        field = "spec.admissionChecksStrategy";
    if (more->has_checks && more->inactive == NULL)
        ob_warn(o, ob_place(o, "ClusterQueue", NULL, q->name, field),
                "ClusterQueue '%.80s': its admission checks are left out; in the scenario work starts as soon as it has quota", q->name);
    if (q->usage_based_admission && o->m->config.admission_fair_sharing.on)
        ob_warn(o, ob_place(o, "ClusterQueue", NULL, q->name, "spec.admissionScope"),
                "ClusterQueue '%.80s': admission fair sharing among its local queues is left out; it has one queue in the scenario", q->name);
    tell_pods(o, q);
    tell_flavors_without_cards(o, q);
}

static bool any_local(const struct ob *o)
{
    const struct ynode *list = ynode_get(o->root, "arbiters");
    for (int32_t i = 0; list != NULL && list->kind == YNODE_LIST && i < list->count; i++) {
        const struct ynode *n = list->items[i]->kind == YNODE_MAP ? ynode_get(list->items[i], "networkLocality") : NULL;
        if (n != NULL && strcmp(n->text, "true") == 0)
            return true;
    }
    return false;
}

static void tell_flavor(const struct ob *o, const struct policy_flavor *f)
{
    if (f->topology != POLICY_NONE && !any_local(o))
        ob_warn(o, ob_place(o, "ResourceFlavor", NULL, f->name, "spec.topologyName"),
                "ResourceFlavor '%.80s': no arbiter has networkLocality; gangs are placed without regard to its Topology", f->name);
}

/* The operator sees shares of cards as cards. */
static void tell_replicas(const struct ob *o)
{
    for (int32_t i = 0; i < o->pool_count; i++)
        for (uint32_t k = 0; k < o->pools[i].label_count; k++) {
            const struct policy_label *l = o->pools[i].labels[k];
            if (strcmp(l->key, "nvidia.com/gpu.replicas") != 0 || strcmp(l->value, "0") == 0 || strcmp(l->value, "1") == 0)
                continue;
            const char *node = o->m->config.nodes[o->pools[i].first].name;
            ob_warn(o, ob_place(o, "Node", NULL, node, NULL), "Node '%.80s': nvidia.com/gpu.replicas is %.20s, so that its %lld GPUs are shares of "
                    "cards; in the scenario each is a card", node, l->value, (long long)o->pools[i].cards);
        }
}

/* Fields of the Configuration that the policy of an arbiter does not take. */
static void tell_configuration(const struct ob *o)
{
    static const struct {
        const char *field, *what;
    } fields[] = {
        {"waitForPodsReady", "workloads whose pods are not ready in time are not evicted"},
        {"admissionFairSharing", "local queues do not share by usage"},
        {"resources.transformations", "requests are not transformed"},
        {"resources.excludeResourcePrefixes", "no resource is left out of the count"},
    };
    for (uint32_t i = 0; i < o->m->object_count; i++) {
        const struct manifest_object *c = &o->m->objects[i];
        for (size_t f = 0; strcmp(c->kind, "Configuration") == 0 && f < sizeof fields / sizeof fields[0]; f++) {
            const struct mnode *n = mnode_at(c->node, fields[f].field);
            const bool empty = n != NULL && (n->kind == MNODE_MAP || n->kind == MNODE_LIST) && n->count == 0;
            const bool off = strcmp(mnode_text(n, "enable", ""), "false") == 0;
            if (n != NULL && !empty && !off)
                ob_warn(o, ob_place_in(o, c, n), "Configuration %s is left out: in the scenario %s", fields[f].field, fields[f].what);
        }
    }
}

void ob_tell(const struct ob *o)
{
    const struct policy_config *cfg = &o->m->config;
    for (uint32_t i = 0; i < cfg->cluster_queue_count; i++)
        if (cfg->cluster_queues[i].name != NULL)
            tell_queue(o, i);
    for (uint32_t i = 0; i < cfg->flavor_count; i++)
        if (o->flavors[i].kept)
            tell_flavor(o, &cfg->flavors[i]);
    tell_replicas(o);
    tell_configuration(o);
    if (o->m->workload_count > 0)
        yplace_report(&ynode_get(o->root, "manifests")->place, DIAG_NOTE, o->diags,
                      "workloads of the manifests are left out, %u in all: the scenario has demand of its own", (unsigned)o->m->workload_count);
}
