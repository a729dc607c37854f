/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the fleet: node pools, flavors, taints. */
#include <stdio.h>
#include <string.h>

#include "models/fleet/catalogue.h"
#include "scenarios/load/load_priv.h"

enum { NEAREST_MAX = 256 };

static const struct enum_name effect_names[] = {
    {"NoSchedule", TAINT_NO_SCHEDULE}, {"PreferNoSchedule", TAINT_PREFER_NO_SCHEDULE}, {"NoExecute",
        TAINT_NO_EXECUTE}, {NULL, 0}};

static const struct enum_name purchase_names[] = {
    {"onDemand", PURCHASE_ON_DEMAND}, {"reserved", PURCHASE_RESERVED}, {"spot",
        PURCHASE_SPOT}, {"owned", PURCHASE_OWNED}, {NULL, 0}};

static const struct field taint_fields[] = {
    {.name = "key", .kind = FIELD_STRING, .offset = offsetof(struct taint, key),
     .flags = FIELD_REQUIRED, .help = "Key of the taint."},
    {.name = "value", .kind = FIELD_STRING, .offset = offsetof(struct taint, value),
     .flags = FIELD_EMPTY_OK, .help = "Value of the taint."},
    {.name = "effect", .kind = FIELD_ENUM, .offset = offsetof(struct taint, effect),
     .names = effect_names, .help = "Effect of the taint."},
    {0}};

static void taint_defaults(void *out)
{
    ((struct taint *)out)->value = "";
}

const struct schema taint_schema = {.title = "a taint", .size = sizeof(struct taint),
                                    .fields = taint_fields, .defaults = taint_defaults};

static const struct field toleration_fields[] = {
    {.name = "key", .kind = FIELD_STRING, .offset = offsetof(struct taint, key),
     .flags = FIELD_EMPTY_OK, .fallback = "any key", .help = "Key of the taint it tolerates."},
    {.name = "value", .kind = FIELD_STRING, .offset = offsetof(struct taint, value),
     .flags = FIELD_EMPTY_OK, .fallback = "any value (operator Exists)",
     .help = "Value of the taint it tolerates."},
    {.name = "effect", .kind = FIELD_ENUM, .offset = offsetof(struct taint, effect),
     .names = effect_names, .fallback = "every effect", .help = "Effect it tolerates."},
    {0}};

static void toleration_defaults(void *out)
{
    *(struct taint *)out = (struct taint){.key = "", .effect = TAINT_EFFECT_ANY};
}

/* As the API server has it. */
static void toleration_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    const struct taint *t = out;
    if (t->key[0] == '\0' && t->value != NULL)
        field_problem(ctx, map, "a toleration with a value needs a key");
}

const struct schema toleration_schema = {.title = "a toleration", .size = sizeof(struct taint),
                                         .fields = toleration_fields, .defaults = toleration_defaults,
                                         .after = toleration_after};

static void read_card(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                      void *base)
{
    const struct catalogue *c = catalogue_builtin();
    (void)f;
    int32_t ix = n->kind == YNODE_SCALAR ? catalogue_find_card(c, n->text) : -1;
    if (ix >= 0) {
        ((struct node_pool_in *)base)->c.card = ix;
        return;
    }
    const char *names[NEAREST_MAX] = {""};
    size_t count = 0;
    for (int32_t i = 0; i < c->card_count && count < NEAREST_MAX; i++)
        names[count++] = c->cards[i].name;
    const char *near = n->kind == YNODE_SCALAR ? diag_nearest(n->text, names, count) : NULL;
    if (near != NULL)
        field_problem(ctx, n, "unknown card type '%.40s'; did you mean '%s'?", n->text, near);
    else
        field_expected(ctx, n, "a card type of the catalogue, such as %s or %s", names[0],
                       names[count > 0 ? count - 1 : 0]);
}

/* An instance type gives card, cards per node, price and resources; rows below may replace them. */
static void read_instance(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                          void *base)
{
    const struct catalogue *c = catalogue_builtin();
    struct node_pool_in *pool = base;
    (void)f;
    int32_t ix = n->kind == YNODE_SCALAR ? catalogue_find_instance(c, n->text) : -1;
    if (ix >= 0) {
        const struct instance_type *t = &c->instances[ix];
        pool->c.instance = t->name;
        pool->c.card = t->card;
        pool->c.cards_per_node = t->card_count;
        pool->c.price_uusd_per_node_h = t->price_uusd_per_h > 0 ? t->price_uusd_per_h : -1;
        pool->instance_cpu_milli = t->cpu_milli;
        pool->instance_memory_bytes = t->memory_bytes;
        return;
    }
    const char *names[NEAREST_MAX];
    size_t count = 0;
    for (int32_t i = 0; i < c->instance_count && count < NEAREST_MAX; i++)
        names[count++] = c->instances[i].name;
    const char *near = n->kind == YNODE_SCALAR ? diag_nearest(n->text, names, count) : NULL;
    if (near != NULL)
        field_problem(ctx, n, "unknown instance type '%.40s'; did you mean '%s'?", n->text, near);
    else
        field_expected(ctx, n, "an instance type of the catalogue, such as p5.48xlarge");
}

static const struct field domain_fields[] = {
    {.name = "name", .kind = FIELD_NAME, .offset = offsetof(struct network_domain, name), .flags = FIELD_REQUIRED,
     .help = "Name of the level, such as rack."},
    {.name = "nodes", .kind = FIELD_INT, .offset = offsetof(struct network_domain, nodes), .min = 1, .max = 1000000,
     .flags = FIELD_REQUIRED, .help = "Nodes in one domain of the level; a multiple of the level before."},
    {.name = "oversubscription", .kind = FIELD_REAL, .offset = offsetof(struct network_domain, oversubscription), .min = 1,
     .max = 1000,
     .help = "Bandwidth of its nodes among each other over that to other domains: 1 = full bisection, 7 = the upper level of "
             "Meta's 24,000-card cluster. Gangs with a communication model that leave a domain wait so much longer."},
    {0}};

static void domain_defaults(void *out)
{
    ((struct network_domain *)out)->oversubscription = 1;
}

static const struct schema domain_schema = {
    .title = "a level of the network", .size = sizeof(struct network_domain), .fields = domain_fields,
    .defaults = domain_defaults};

static void network_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    const struct node_pool_config *p = out;
    const struct ynode *list = ynode_get(map, "domains");
    for (int32_t i = 1; i < p->domain_count; i++) {
        int32_t inner = p->domains[i - 1].nodes;
        if (inner > 0 && p->domains[i].nodes > 0 &&
            (p->domains[i].nodes <= inner || p->domains[i].nodes % inner != 0))
            field_problem(ctx, ynode_get(list->items[i], "nodes"), "the domains of level '%.40s' have %d nodes; expected a multiple of the %d of level '%.40s', such as %d",
                          p->domains[i].name, (int)p->domains[i].nodes, (int)inner, p->domains[i - 1].name, (int)inner * 2);
    }
}

/* Rows of the pool itself. */
static const struct field network_fields[] = {
    {.name = "domains", .kind = FIELD_LIST, .offset = offsetof(struct node_pool_config, domains),
     .count_offset = offsetof(struct node_pool_config, domain_count), .sub = &domain_schema,
     .fallback = "none", .help = "Levels of the network, innermost first; nodes lie in them in order of their numbers."},
    {0}};

static const struct schema network_schema = {
    .title = "the network of a node pool", .size = sizeof(struct node_pool_config), .fields = network_fields,
    .after = network_after};

#define POOL(member) offsetof(struct node_pool_in, member)
/* Rows that nodeTypes has as well. */
#define KIND_ROWS \
    {.name = "instance", .kind = FIELD_CUSTOM, .read = read_instance, \
     .shape = "an instance type of the catalogue", \
     .help = "Instance type, such as p5.48xlarge: gives card, cardsPerNode, price, cpu and memory, " \
             "each of which may be overridden."}, \
    {.name = "card", .kind = FIELD_CUSTOM, .read = read_card, \
     .shape = "a card type of the catalogue", .fallback = "that of the instance", \
     .help = "Card type, such as H100-80; needed when no instance is given."}
#define PRICE_ROWS \
    {.name = "price", .kind = FIELD_USD_HOUR, .offset = POOL(c.price_uusd_per_node_h), .max = 1e15, \
     .fallback = "that of the instance", .help = "Price of a whole node."}, \
    {.name = "pricePerCard", .kind = FIELD_USD_HOUR, .offset = POOL(price_uusd_per_card_h), \
     .max = 1e15, .fallback = "none", \
     .help = "Price of a node divided by its cards; instead of price."}, \
    {.name = "purchase", .kind = FIELD_ENUM, .offset = POOL(c.purchase), .names = purchase_names, \
     .help = "How the nodes are paid."}
#define EXTRA_ROWS \
    {.name = "cacheSlots", .kind = FIELD_INT, .offset = POOL(c.cache_slots), .max = 1000, \
     .help = "Models whose weights a node keeps on its disk."}, \
    {.name = "sharing", .kind = FIELD_STRUCT, .offset = POOL(sharing), .sub = &sharing_schema, \
     .fallback = "none: shares take their part of a card undisturbed", .help = "How its cards are shared."}, \
    {.name = "network", .kind = FIELD_STRUCT, .offset = POOL(c), .sub = &network_schema, \
     .fallback = "none: all nodes are equally near", .help = "Which nodes are near each other, for arbiters with networkLocality."}

static const struct field node_pool_fields[] = {
    {.name = "name", .kind = FIELD_NAME, .offset = POOL(c.name), .flags = FIELD_REQUIRED,
     .help = "Name of the pool; also the name of its flavor when no flavors are given."},
    KIND_ROWS,
    {.name = "nodes", .kind = FIELD_INT, .offset = POOL(c.node_count), .min = 1, .max = 1000000,
     .flags = FIELD_REQUIRED, .help = "Number of nodes."},
    {.name = "cardsPerNode", .kind = FIELD_INT, .offset = POOL(c.cards_per_node), .min = 1,
     .max = 65536, .help = "Cards in a node."},
    PRICE_ROWS,
    {.name = "labels", .kind = FIELD_LABELS, .offset = POOL(c.labels),
     .count_offset = POOL(c.label_count),
     .help = "Labels of the nodes. Every pool also carries `node-pool: <name>`, `card: <card "
             "type>` and, with an instance, `node.kubernetes.io/instance-type`."},
    {.name = "taints", .kind = FIELD_LIST, .offset = POOL(c.taints),
     .count_offset = POOL(c.taint_count), .sub = &taint_schema, .help = "Taints of the nodes."},
    {.name = "allocatable", .kind = FIELD_AMOUNTS, .offset = POOL(c.allocatable),
     .count_offset = POOL(c.allocatable_count), .fallback = "cpu and memory of the instance",
     .help = "Named resources of a node beside its cards, in Kubernetes' quantities."},
    EXTRA_ROWS,
    {0}};

static void node_pool_in_defaults(void *out)
{
    struct node_pool_in *p = out;
    p->c = node_pool_defaults();
    p->c.price_uusd_per_node_h = -1;
    p->price_uusd_per_card_h = -1;
    sharing_schema.defaults(&p->sharing);
}

/* The instance's cpu and memory, unless the list names them already. */
static void add_instance_amounts(struct read_ctx *ctx, struct node_pool_in *p)
{
    const struct ynode none = {0};
    const char *names[] = {"cpu", "memory"};
    int64_t amounts[] = {p->instance_cpu_milli, p->instance_memory_bytes};
    struct resource_amount *all = arena_alloc(ctx->arena, (size_t)p->c.allocatable_count + 2,
                                              sizeof *all);
    if (p->c.allocatable_count > 0)
        memcpy(all, p->c.allocatable, (size_t)p->c.allocatable_count * sizeof *all);
    p->c.allocatable = all;
    for (int i = 0; i < 2; i++) {
        int32_t r = amounts[i] > 0 ? field_resource(ctx, names[i], &none) : -1;
        bool listed = r < 0;
        for (int32_t k = 0; k < p->c.allocatable_count && !listed; k++)
            listed = all[k].resource == r;
        if (!listed)
            all[p->c.allocatable_count++] = (struct resource_amount){r, amounts[i]};
    }
}

/* Labels every pool has, so that flavors and selectors can be written without declaring any. */
static void add_implicit_labels(struct read_ctx *ctx, struct node_pool_in *p)
{
    struct label implicit[3] = {
        {"node-pool", p->c.name},
        {"card", p->c.card >= 0 ? catalogue_builtin()->cards[p->c.card].name : NULL},
        {"node.kubernetes.io/instance-type", p->c.instance}};
    struct label *all = arena_alloc(ctx->arena, (size_t)p->c.label_count + 3, sizeof *all);
    if (p->c.label_count > 0)
        memcpy(all, p->c.labels, (size_t)p->c.label_count * sizeof *all);
    for (int i = 0; i < 3; i++) {
        bool listed = implicit[i].value == NULL;
        for (int32_t k = 0; k < p->c.label_count && !listed; k++)
            listed = strcmp(all[k].key, implicit[i].key) == 0;
        if (!listed)
            all[p->c.label_count++] = implicit[i];
    }
    p->c.labels = all;
}

static void missing_price(struct read_ctx *ctx, const struct node_pool_in *p, const struct ynode *map)
{
    if (map->place.source != NULL && map->place.source->is_objects)
        field_problem(ctx, map, "the price of the nodes of pool '%.60s' is missing; the catalogue has none, so the scenario needs nodeTypes: "
                      "[{labels: {...}, pricePerCard: 1.20usd/h}]", p->c.name == NULL ? "" : p->c.name);
    else
        field_problem(ctx, map,
                      "the price is missing; the catalogue has none for this, so write price: 12.50usd/h or pricePerCard: 1.20usd/h");
}

static void node_pool_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    struct node_pool_in *p = out;
    if (p->c.card < 0 && ynode_get(map, "card") == NULL && ynode_get(map, "instance") == NULL)
        field_problem(ctx, map, "a node pool needs an instance type or a card type");
    if (p->price_uusd_per_card_h >= 0 && ynode_get(map, "price") != NULL)
        field_problem(ctx, ynode_get(map, "pricePerCard"),
                      "price and pricePerCard exclude each other");
    if (p->price_uusd_per_card_h >= 0)
        p->c.price_uusd_per_node_h = p->price_uusd_per_card_h * p->c.cards_per_node;
    bool bad_instance = ynode_get(map, "instance") != NULL && p->c.instance == NULL;
    if (p->c.price_uusd_per_node_h < 0 && ynode_get(map, "price") == NULL && !bad_instance)
        missing_price(ctx, p, map);
    p->c.sharing = p->sharing.c;
    add_instance_amounts(ctx, p);
    add_implicit_labels(ctx, p);
}

#define TYPE(member) offsetof(struct node_type_in, member)
static const struct field node_type_fields[] = {
    {.name = "labels", .kind = FIELD_LABELS, .offset = TYPE(labels), .count_offset = TYPE(label_count),
     .fallback = "none: every node", .help = "Nodes that carry all of these; of several entries the first counts."},
    {.name = "pool", .kind = FIELD_NAME, .offset = POOL(c.name), .fallback = "the flavor's",
     .help = "Name of the node pool that they make."},
    KIND_ROWS,
    PRICE_ROWS,
    EXTRA_ROWS,
    {0}};

static void node_type_defaults(void *out)
{
    node_pool_in_defaults(&((struct node_type_in *)out)->pool);
}

const struct schema node_type_schema = {
    .title = "a type of node",
    .about = "What the objects of a cluster do not say about its nodes: fields of the node pools that are made of them.",
    .size = sizeof(struct node_type_in),
    .fields = node_type_fields,
    .defaults = node_type_defaults};

static const struct schema node_pool_schema = {
    .title = "a node pool",
    .about = "Physical nodes of one kind. A node is in exactly one pool; the ledger, prices and "
             "the weight cache go by pool.",
    .size = sizeof(struct node_pool_in),
    .fields = node_pool_fields,
    .defaults = node_pool_in_defaults,
    .after = node_pool_after};

#define FLAVOR(member) offsetof(struct flavor_config, member)
static const struct field flavor_fields[] = {
    {.name = "name", .kind = FIELD_NAME, .offset = FLAVOR(name), .flags = FIELD_REQUIRED,
     .help = "Name that quotas use."},
    {.name = "nodeLabels", .kind = FIELD_LABELS, .offset = FLAVOR(node_labels),
     .count_offset = FLAVOR(node_label_count),
     .help = "A pool belongs to the flavor when it carries all of these labels."},
    {.name = "nodeTaints", .kind = FIELD_LIST, .offset = FLAVOR(node_taints),
     .count_offset = FLAVOR(node_taint_count), .sub = &taint_schema,
     .help = "Taints of the flavor's nodes that a workload must tolerate."},
    {.name = "tolerations", .kind = FIELD_LIST, .offset = FLAVOR(tolerations),
     .count_offset = FLAVOR(toleration_count), .sub = &toleration_schema,
     .help = "Tolerations added to workloads admitted to the flavor."},
    {0}};

static const struct schema flavor_schema = {
    .title = "a flavor",
    .about = "A policy's selector over nodes (Kueue's ResourceFlavor). Flavors may overlap or miss "
             "pools. Without this list every node pool is a flavor of its own name.",
    .size = sizeof(struct flavor_config),
    .fields = flavor_fields};

static const struct field fleet_fields[] = {
    {.name = "nodePools", .kind = FIELD_LIST, .offset = offsetof(struct scenario_in, pools),
     .count_offset = offsetof(struct scenario_in, pool_count),
     .sub = &node_pool_schema, .flags = FIELD_REQUIRED, .help = "The nodes."},
    {.name = "flavors", .kind = FIELD_LIST,
     .offset = offsetof(struct scenario_in, s.fleet.flavors),
     .count_offset = offsetof(struct scenario_in, s.fleet.flavor_count),
     .sub = &flavor_schema, .fallback = "one per node pool", .help = "How quotas see the nodes."},
    {0}};

const struct schema fleet_schema = {.title = "the fleet", .size = sizeof(struct scenario_in),
                                    .fields = fleet_fields};
