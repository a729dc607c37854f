/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nodes and ResourceFlavors as node pools and flavors. Nodes make one pool when nothing tells them
 * apart that placement or a quota looks at: cards, card type, instance type, taints, the labels that
 * flavors, nodeTypes and the demand's selectors name, and allocatable amounts within 1 % (the least
 * one counts: kubelets of one instance type differ by some KiB).
 */
#include <stdio.h>
#include <string.h>

#include "models/fleet/catalogue.h"
#include "scenarios/load/objects/objects.h"
#include "sim/check.h"

static const char instance_label[] = "node.kubernetes.io/instance-type";
static const char host_label[] = "kubernetes.io/hostname";

static const char *value_of(const struct policy_label *labels, uint32_t count, const char *key)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(labels[i].key, key) == 0)
            return labels[i].value;
    return NULL;
}

static const char *node_value(const struct policy_node *n, const char *key)
{
    return value_of(n->labels, n->label_count, key);
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static int64_t amount_of(const struct policy_node *n, uint32_t resource)
{
    for (uint32_t i = 0; i < n->allocatable_count; i++)
        if (n->allocatable[i].resource == resource)
            return n->allocatable[i].amount;
    return -1;
}

/* ---- labels that tell nodes apart ---- */

static bool is_key(const struct ob *o, const char *key)
{
    for (int32_t i = 0; i < o->key_count; i++)
        if (strcmp(o->keys[i], key) == 0)
            return true;
    return false;
}

static void add_key(struct ob *o, const char *key)
{
    if (is_key(o, key))
        return;
    if ((o->key_count & (o->key_count - 1)) == 0) { /* full at every power of two */
        const char **grown = arena_alloc(o->a, (size_t)o->key_count * 2 + 1, sizeof *grown);
        if (o->key_count > 0)
            memcpy(grown, o->keys, (size_t)o->key_count * sizeof *grown);
        o->keys = grown;
    }
    o->keys[o->key_count++] = key;
}

static void find_keys(struct ob *o)
{
    static const char *const lists[] = {"training", "lora", "services"};
    const struct policy_config *cfg = &o->m->config;
    add_key(o, instance_label);
    for (uint32_t f = 0; f < cfg->flavor_count; f++)
        for (uint32_t i = 0; cfg->flavors[f].name != NULL && i < cfg->flavors[f].label_count; i++)
            add_key(o, cfg->flavors[f].labels[i].key);
    for (int32_t t = 0; t < o->in->node_type_count; t++)
        for (int32_t i = 0; i < o->in->node_types[t].label_count; i++)
            add_key(o, o->in->node_types[t].labels[i].key);
    for (int l = 0; l < 3; l++) {
        const struct ynode *list = ob_demand(o, lists[l]);
        for (int32_t i = 0; list != NULL && i < list->count; i++) {
            const struct ynode *selector = list->items[i]->kind == YNODE_MAP ? ynode_get(list->items[i], "nodeSelector") : NULL;
            for (int32_t k = 0; selector != NULL && selector->kind == YNODE_MAP && k < selector->count; k++)
                add_key(o, selector->keys[k]);
        }
    }
}

/* ---- pools ---- */

static bool selects(const struct policy_flavor *f, const struct policy_node *n)
{
    for (uint32_t i = 0; i < f->label_count; i++)
        if (!same_text(node_value(n, f->labels[i].key), f->labels[i].value))
            return false;
    return true;
}

static int32_t type_of(const struct ob *o, const struct policy_node *n)
{
    for (int32_t t = 0; t < o->in->node_type_count; t++) {
        const struct node_type_in *type = &o->in->node_types[t];
        bool all = true;
        for (int32_t i = 0; i < type->label_count; i++)
            all = all && same_text(node_value(n, type->labels[i].key), type->labels[i].value);
        if (all)
            return t;
    }
    return -1;
}

static bool has_taint(const struct policy_node *n, const struct policy_taint *t)
{
    for (uint32_t i = 0; i < n->taint_count; i++)
        if (n->taints[i].effect == t->effect && same_text(n->taints[i].key, t->key) && same_text(n->taints[i].value, t->value))
            return true;
    return false;
}

static bool near(int64_t a, int64_t b)
{
    const int64_t least = a < b ? a : b, most = a < b ? b : a;
    return a == b || (least >= 0 && most - least <= least / 100);
}

/* Taints are unique by key and effect, so that equal numbers and one inclusion make equal sets. */
static bool belongs(const struct ob *o, const struct ob_pool *p, const struct policy_node *n, const struct ob_pool *like)
{
    const struct policy_node *first = &o->m->config.nodes[p->first];
    if (like->cards != p->cards || like->type != p->type || like->card != p->card || n->taint_count != first->taint_count)
        return false;
    for (uint32_t i = 0; i < n->taint_count; i++)
        if (!has_taint(first, &n->taints[i]))
            return false;
    for (int32_t k = 0; k < o->key_count; k++)
        if (!same_text(node_value(n, o->keys[k]), node_value(first, o->keys[k])))
            return false;
    for (uint32_t r = 0; r < o->m->config.resource_count; r++)
        if (o->resource_kept[r] && !near(amount_of(n, r), amount_of(first, r)))
            return false;
    return true;
}

static struct ob_pool *new_pool(struct ob *o, const struct ob_pool *like)
{
    const struct policy_node *n = &o->m->config.nodes[like->first];
    struct ob_pool *p = &o->pools[o->pool_count++];
    *p = *like;
    p->labels = arena_alloc(o->a, (size_t)n->label_count + 1, sizeof *p->labels);
    for (uint32_t i = 0; i < n->label_count; i++)
        p->labels[p->label_count++] = &n->labels[i];
    p->least = arena_alloc(o->a, (size_t)o->m->config.resource_count + 1, sizeof *p->least);
    for (uint32_t r = 0; r < o->m->config.resource_count; r++)
        p->least[r] = amount_of(n, r);
    return p;
}

static void join(const struct ob *o, struct ob_pool *p, const struct policy_node *n)
{
    uint32_t kept = 0;
    p->nodes++;
    for (uint32_t i = 0; i < p->label_count; i++)
        if (same_text(node_value(n, p->labels[i]->key), p->labels[i]->value))
            p->labels[kept++] = p->labels[i];
    p->label_count = kept;
    for (uint32_t r = 0; r < o->m->config.resource_count; r++) {
        const int64_t v = amount_of(n, r);
        if (v < p->least[r])
            p->least[r] = v;
    }
}

struct left_out { /* nodes with cards that make no pool */
    int32_t count;
    uint32_t first;
};

static void leave(struct left_out *l, uint32_t node)
{
    if (l->count++ == 0)
        l->first = node;
}

static void tell_left_out(const struct ob *o, const struct left_out *l, const char *why)
{
    const char *name = l->count == 0 ? NULL : o->m->config.nodes[l->first].name;
    if (l->count > 0)
        ob_warn(o, ob_place(o, "Node", NULL, name, NULL), "Node '%.80s': left out of the fleet, %s (%d such node%s with cards)", name, why,
                (int)l->count, l->count == 1 ? "" : "s");
}

/* Flavors that select the node; false when none of them has a quota of cards. */
static bool mark_flavors(struct ob *o, const struct policy_node *n)
{
    const struct policy_config *cfg = &o->m->config;
    bool any = false;
    for (uint32_t f = 0; f < cfg->flavor_count; f++)
        if (o->flavors[f].named && cfg->flavors[f].name != NULL && selects(&cfg->flavors[f], n)) {
            o->flavors[f].nodes = true;
            any |= o->flavors[f].cards;
        }
    return any;
}

static void make_pools(struct ob *o)
{
    const struct policy_config *cfg = &o->m->config;
    struct left_out down = {0}, nobodys = {0};
    o->pools = arena_alloc(o->a, (size_t)cfg->node_count + 1, sizeof *o->pools);
    o->pool_of = arena_alloc(o->a, (size_t)cfg->node_count + 1, sizeof *o->pool_of);
    for (uint32_t i = 0; i < cfg->node_count; i++) {
        const struct policy_node *n = &cfg->nodes[i];
        const int64_t cards = amount_of(n, o->card);
        o->pool_of[i] = -1;
        if (cards <= 0)
            continue;
        if (!n->ready || n->unschedulable) {
            leave(&down, i);
            continue;
        }
        if (!mark_flavors(o, n)) {
            leave(&nobodys, i);
            continue;
        }
        const struct policy_label *label;
        const struct ob_pool like = {.first = i, .type = type_of(o, n), .cards = cards, .card = ob_card_type(n->labels, n->label_count, &label)};
        struct ob_pool *p = NULL;
        for (int32_t k = 0; k < o->pool_count && p == NULL; k++)
            if (belongs(o, &o->pools[k], n, &like))
                p = &o->pools[k];
        if (p == NULL)
            p = new_pool(o, &like);
        join(o, p, n);
        o->pool_of[i] = (int32_t)(p - o->pools);
    }
    tell_left_out(o, &down, "it is not Ready or takes no pods (unschedulable)");
    tell_left_out(o, &nobodys, "no ResourceFlavor with a quota of cards selects it");
}

/* ---- names: that of nodeTypes, else of the flavor that says most about the nodes ---- */

static const struct policy_flavor *flavor_of(const struct ob *o, const struct policy_node *n)
{
    const struct policy_config *cfg = &o->m->config;
    const struct policy_flavor *best = NULL;
    for (uint32_t f = 0; f < cfg->flavor_count; f++)
        if (o->flavors[f].cards && cfg->flavors[f].name != NULL && selects(&cfg->flavors[f], n) &&
            (best == NULL || cfg->flavors[f].label_count > best->label_count))
            best = &cfg->flavors[f];
    REQUIRE(best != NULL); /* else it would be in no pool */
    return best;
}

static bool name_taken(const struct ob *o, const char *name)
{
    for (int32_t i = 0; i < o->pool_count; i++)
        if (same_text(o->pools[i].name, name))
            return true;
    return false;
}

/* One name of nodeTypes for nodes that are not alike. */
static void tell_clash(const struct ob *o, const struct ob_pool *p)
{
    const struct policy_node *nodes = o->m->config.nodes;
    for (const struct ob_pool *q = o->pools; q < p; q++)
        if (q->name != NULL && strcmp(q->name, p->name) == 0) {
            ob_error(o, ynode_get(o->types->items[p->type], "pool")->place, "nodeTypes[%d].pool: '%.60s' would name two node pools; Node '%.80s' and "
                     "Node '%.80s' are not alike", (int)p->type, p->name, nodes[q->first].name, nodes[p->first].name);
            return;
        }
}

static void name_pools(struct ob *o)
{
    const struct policy_config *cfg = &o->m->config;
    int32_t *used = arena_alloc(o->a, (size_t)cfg->flavor_count + 1, sizeof *used); /* names made of a flavor's */
    for (int32_t i = 0; i < o->pool_count; i++)
        if (o->pools[i].type >= 0 && (o->pools[i].name = o->in->node_types[o->pools[i].type].pool.c.name) != NULL)
            tell_clash(o, &o->pools[i]);
    for (int32_t i = 0; i < o->pool_count; i++) {
        if (o->pools[i].name != NULL)
            continue;
        const struct policy_flavor *f = flavor_of(o, &cfg->nodes[o->pools[i].first]);
        const char *name;
        do {
            const int32_t k = ++used[f - cfg->flavors];
            name = k == 1 ? f->name : arena_printf(o->a, "%s-%d", f->name, (int)k);
        } while (name_taken(o, name));
        o->pools[i].name = name;
    }
}

/* ---- into the tree ---- */

static void put_kind(const struct ob *o, struct ynode *map, const struct ob_pool *p, struct yplace place)
{
    const struct policy_node *n = &o->m->config.nodes[p->first];
    const struct ynode *type = p->type < 0 ? NULL : o->types->items[p->type];
    const char *instance = node_value(n, instance_label);
    const struct policy_label *label;
    const int32_t card = ob_card_type(n->labels, n->label_count, &label); /* for the label as well */
    const bool known = instance != NULL && catalogue_find_instance(catalogue_builtin(), instance) >= 0;
    const bool told = ynode_get(type, "card") != NULL || ynode_get(type, "instance") != NULL;
    if (known && ynode_get(type, "instance") == NULL)
        ob_text(o, map, "instance", instance, place);
    if (card >= 0 && !told)
        ob_text(o, map, "card", catalogue_builtin()->cards[card].name, place);
    if (card < 0 && !known && !told)
        ob_error(o, place, "Node '%.80s': its card type is not known%s%.60s%s%.80s; the scenario needs nodeTypes: [{labels: {...}, card: H100-80}]",
                 n->name, label == NULL ? " (no label such as nvidia.com/gpu.product)" : ", label ", label == NULL ? "" : label->key,
                 label == NULL ? "" : ": ", label == NULL ? "" : label->value);
}

/* Fields of nodeTypes go as they are, with their places. */
static void put_type(const struct ob *o, struct ynode *map, int32_t ix)
{
    const struct ynode *type = ix < 0 ? NULL : o->types->items[ix];
    for (int32_t i = 0; type != NULL && i < type->count; i++)
        if (strcmp(type->keys[i], "labels") != 0 && strcmp(type->keys[i], "pool") != 0)
            ynode_add(o->a, map, type->keys[i], type->key_places[i], type->items[i]);
}

static void put_pool(const struct ob *o, struct ynode *list, const struct ob_pool *p)
{
    const struct policy_node *n = &o->m->config.nodes[p->first];
    const struct yplace place = ob_place(o, "Node", NULL, n->name, NULL);
    const struct ynode *named = p->type < 0 ? NULL : ynode_get(o->types->items[p->type], "pool");
    struct ynode *map = ob_new_item(o, list, place);
    ob_text(o, map, "name", p->name, named == NULL ? place : named->place);
    put_kind(o, map, p, place);
    ob_number(o, map, "nodes", p->nodes, place);
    ob_number(o, map, "cardsPerNode", p->cards, place);
    put_type(o, map, p->type);
    const struct policy_flavor *flavor = flavor_of(o, n);
    if (flavor->topology != POLICY_NONE && ynode_get(map, "network") == NULL)
        ob_put_network(o, map, (int32_t)(p - o->pools), flavor);
    struct ynode *labels = ob_under(o, map, "labels", YNODE_MAP, place);
    for (uint32_t i = 0; i < p->label_count; i++)
        if (strcmp(p->labels[i]->key, host_label) != 0 || is_key(o, host_label))
            ob_text(o, labels, p->labels[i]->key, p->labels[i]->value, place);
    if (n->taint_count > 0) {
        struct ynode *taints = ob_under(o, map, "taints", YNODE_LIST, place);
        for (uint32_t i = 0; i < n->taint_count; i++)
            ob_taint(o, taints, &n->taints[i], place);
    }
    struct ynode *amounts = ob_under(o, map, "allocatable", YNODE_MAP, place);
    for (uint32_t r = 0; r < o->m->config.resource_count; r++)
        if (o->resource_kept[r] && p->least[r] >= 0)
            ob_amount(o, amounts, o->m->config.resources[r], r, p->least[r], place);
}

static void put_flavor(const struct ob *o, struct ynode *list, const struct policy_flavor *f)
{
    const struct yplace place = ob_place(o, "ResourceFlavor", NULL, f->name, NULL);
    struct ynode *map = ob_new_item(o, list, place);
    ob_text(o, map, "name", f->name, place);
    struct ynode *labels = ob_under(o, map, "nodeLabels", YNODE_MAP, place);
    for (uint32_t i = 0; i < f->label_count; i++)
        ob_text(o, labels, f->labels[i].key, f->labels[i].value, place);
    struct ynode *taints = f->taint_count == 0 ? NULL : ob_under(o, map, "nodeTaints", YNODE_LIST, place);
    for (uint32_t i = 0; i < f->taint_count; i++)
        ob_taint(o, taints, &f->taints[i], place);
    struct ynode *own = f->toleration_count == 0 ? NULL : ob_under(o, map, "tolerations", YNODE_LIST, place);
    for (uint32_t i = 0; i < f->toleration_count; i++)
        ob_toleration(o, own, &f->tolerations[i], place);
}

/* Entries that no node matches are most likely misspelt. */
static void tell_unused_types(const struct ob *o)
{
    const struct policy_config *cfg = &o->m->config;
    for (int32_t t = 0; t < o->in->node_type_count; t++) {
        bool used = false;
        for (uint32_t i = 0; i < cfg->node_count && !used; i++)
            used = type_of(o, &cfg->nodes[i]) == t;
        if (!used)
            ob_error(o, o->types->items[t]->place, "nodeTypes[%d]: no node carries these labels, or an entry before it has them all", (int)t);
    }
}

void ob_fleet(struct ob *o)
{
    const struct policy_config *cfg = &o->m->config;
    const struct yplace place = o->root->place;
    find_keys(o);
    make_pools(o);
    name_pools(o);
    tell_unused_types(o);
    struct ynode *fleet = ob_under(o, o->root, "fleet", YNODE_MAP, place);
    struct ynode *pools = ob_under(o, fleet, "nodePools", YNODE_LIST, place), *flavors = ob_under(o, fleet, "flavors", YNODE_LIST, place);
    for (int32_t i = 0; i < o->pool_count; i++)
        put_pool(o, pools, &o->pools[i]);
    for (uint32_t f = 0; f < cfg->flavor_count; f++) {
        struct ob_flavor *v = &o->flavors[f];
        v->kept = v->named && cfg->flavors[f].name != NULL && (v->nodes || v->cards_above_0);
        if (v->kept)
            put_flavor(o, flavors, &cfg->flavors[f]);
    }
    if (o->pool_count == 0)
        ob_error(o, o->root->place, "the manifests have no node with cards (%.80s) that is Ready and that a ResourceFlavor selects",
                 cfg->resources[o->card]);
}
