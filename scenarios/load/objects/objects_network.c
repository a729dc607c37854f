/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A flavor's Topology as the network of its node pools. Node pools know domains of equal size, the last
 * of which may be smaller (models/fleet/locality.h), in which nodes lie by their numbers: which node of a
 * pool is which counts for nothing else, so that the sizes are all there is to carry. The level
 * kubernetes.io/hostname is the node itself.
 */
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/import/names.h"
#include "scenarios/load/objects/objects.h"

static const char host_label[] = "kubernetes.io/hostname";

struct level {
    const char *label;
    int64_t *counts;       /* nodes by domain */
    int64_t most, least;
    int32_t domains, smaller;
};

static const char *value_of(const struct policy_node *n, const char *key)
{
    for (uint32_t i = 0; i < n->label_count; i++)
        if (strcmp(n->labels[i].key, key) == 0)
            return n->labels[i].value;
    return NULL;
}

/* A domain is told by its values of this level and of all around it. False: a node has no such label. */
static bool count_level(const struct ob *o, int32_t pool, const struct policy_topology *t, uint32_t at, struct level *l)
{
    const struct policy_config *cfg = &o->m->config;
    struct names domains = {.count = 0};
    bool all = true;
    *l = (struct level){.label = t->levels[at], .counts = mem_zalloc((size_t)o->pools[pool].nodes + 1, sizeof *l->counts)};
    for (uint32_t i = 0; i < cfg->node_count && all; i++) {
        const char *key = "";
        if (o->pool_of[i] != pool)
            continue;
        for (uint32_t k = 0; k <= at && all; k++) {
            const char *value = value_of(&cfg->nodes[i], t->levels[k]);
            all = value != NULL;
            key = all ? arena_printf(o->a, "%s\n%s", key, value) : key;
        }
        if (all)
            l->counts[names_add(&domains, key, NULL) - 1]++;
    }
    l->domains = (int32_t)domains.count;
    names_fini(&domains);
    l->least = l->most = l->counts[0];
    for (int32_t d = 0; d < l->domains; d++) {
        l->most = l->counts[d] > l->most ? l->counts[d] : l->most;
        l->least = l->counts[d] < l->least ? l->counts[d] : l->least;
    }
    for (int32_t d = 0; d < l->domains; d++)
        l->smaller += l->counts[d] < l->most;
    free(l->counts);
    return all;
}

static const char *short_name(const char *label)
{
    const char *slash = strrchr(label, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : label;
}

/* Innermost first; a level that tells nothing more than the one before it is left out. */
static void put_levels(const struct ob *o, struct ynode *map, const struct level *levels, uint32_t count, struct yplace place)
{
    struct ynode *list = NULL;
    int64_t inner = 1;
    for (uint32_t i = count; i-- > 0;) {
        if (levels[i].most <= inner)
            continue;
        inner = levels[i].most;
        if (list == NULL)
            list = ob_under(o, ob_under(o, map, "network", YNODE_MAP, place), "domains", YNODE_LIST, place);
        struct ynode *item = ob_new_item(o, list, place);
        ob_text(o, item, "name", short_name(levels[i].label), place);
        ob_number(o, item, "nodes", inner, place);
    }
}

void ob_put_network(const struct ob *o, struct ynode *map, int32_t pool, const struct policy_flavor *f)
{
    const struct policy_topology *t = &o->m->config.topologies[f->topology];
    const struct yplace place = ob_place(o, "ResourceFlavor", NULL, f->name, "spec.topologyName");
    struct level levels[16]; /* the most that the API allows */
    uint32_t count = 0;
    for (; count < t->level_count && count < 16 && strcmp(t->levels[count], host_label) != 0; count++) {
        struct level *l = &levels[count];
        if (!count_level(o, pool, t, count, l)) {
            ob_warn(o, place, "ResourceFlavor '%.80s': its Topology is left out for node pool '%.60s'; not all of its nodes have the label %.80s",
                    f->name, o->pools[pool].name, l->label);
            return;
        }
        if (l->smaller > 1 || (count > 0 && levels[count - 1].most % l->most != 0)) {
            ob_warn(o, place, "ResourceFlavor '%.80s': its Topology is left out for node pool '%.60s'; domains of %.80s have %lld to %lld of its "
                    "nodes, and a scenario's are of equal size", f->name, o->pools[pool].name, l->label, (long long)l->least, (long long)l->most);
            return;
        }
    }
    put_levels(o, map, levels, count, place);
}
