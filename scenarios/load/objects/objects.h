/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The objects of a cluster as parts of a scenario's tree (docs/manifests.md): what somebody would
 * have written by hand as fleet, cohorts, queues, teams and priorityClasses, each node with the place
 * of its object, so that every check of a scenario names it there, and --set finds it.
 */
#ifndef SCENARIOS_LOAD_OBJECTS_OBJECTS_H
#define SCENARIOS_LOAD_OBJECTS_OBJECTS_H

#include "scenarios/load/load_priv.h"
#include "scenarios/load/manifest/manifest.h"

struct ob_flavor { /* by flavor id */
    bool named;          /* some quota is in it */
    bool cards;          /* some quota of cards, be it 0 */
    bool cards_above_0;
    bool nodes;          /* some node with cards */
    bool kept;           /* becomes a flavor of the scenario */
};

struct ob_pool { /* nodes that are alike */
    uint32_t first;             /* node id */
    int32_t nodes;
    int32_t type;               /* item of nodeTypes, -1 = none */
    int32_t card;               /* card type by its labels, -1 = not known */
    int64_t cards;              /* of one node */
    int64_t *least;             /* by resource id; -1 = not listed */
    const struct policy_label **labels; /* those that all nodes have */
    uint32_t label_count;
    const char *name;
};

struct ob {
    struct arena *a;
    struct diag_list *diags;
    struct read_ctx *ctx;
    struct ynode *root;
    struct scenario_in *in;     /* manifests and nodeTypes as read */
    const struct ynode *types;  /* nodeTypes as written, or NULL */
    const struct manifest *m;
    struct ysource *sources;    /* by file */
    uint32_t card;              /* resource id of the cards */
    bool *resource_kept;        /* by resource id; the card is not among them */
    struct ob_flavor *flavors;
    const char **keys;          /* labels that tell nodes apart */
    int32_t key_count;
    struct ob_pool *pools;
    int32_t pool_count;
    int32_t *pool_of;           /* by node id, -1 = in none */
    struct load_objects *left;
};

/* ---- objects_node.c: nodes of the tree ---- */

/* Place of an object, or of its field ("spec.stopPolicy") where that is written. name_space NULL: none. */
struct yplace ob_place(const struct ob *o, const char *kind, const char *name_space, const char *name, const char *field);
struct yplace ob_place_in(const struct ob *o, const struct manifest_object *object, const struct mnode *n);
/* The ith item of a list, NULL when there is none. */
const struct mnode *ob_item(const struct mnode *list, uint32_t i);
/* A map entry: text, number, or a new map or list. */
void ob_text(const struct ob *o, struct ynode *map, const char *key, const char *text, struct yplace place);
void ob_number(const struct ob *o, struct ynode *map, const char *key, int64_t v, struct yplace place);
void ob_real(const struct ob *o, struct ynode *map, const char *key, double v, struct yplace place);
struct ynode *ob_under(const struct ob *o, struct ynode *map, const char *key, enum ynode_kind kind, struct yplace place);
struct ynode *ob_new_item(const struct ob *o, struct ynode *list, struct yplace place);
void ob_taint(const struct ob *o, struct ynode *list, const struct policy_taint *t, struct yplace place);
void ob_toleration(const struct ob *o, struct ynode *list, const struct policy_toleration *t, struct yplace place);
/* Amount of a named resource as a scenario writes it. */
void ob_amount(const struct ob *o, struct ynode *map, const char *key, uint32_t resource, int64_t amount, struct yplace place);
void ob_warn(const struct ob *o, struct yplace place, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void ob_error(const struct ob *o, struct yplace place, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A list of the demand ("training", "lora", "services"), or NULL. */
struct ynode *ob_demand(const struct ob *o, const char *list);

/* ---- one subject each ---- */

/* objects_fleet.c: node pools and flavors; sets pools, flavors[].nodes and kept. */
void ob_fleet(struct ob *o);
/* objects_network.c: domains of a pool that the flavor's topology makes; the flavor has one. */
void ob_put_network(const struct ob *o, struct ynode *map, int32_t pool, const struct policy_flavor *f);
/* objects_quota.c: what quotas there are (before the fleet), then cohorts, queues, teams. */
void ob_count_quotas(struct ob *o);
void ob_quota(struct ob *o);
/* objects_demand.c: local queues become queues, priority classes, arbiters of the Configuration. */
void ob_priority_classes(struct ob *o);
void ob_local_queues(struct ob *o);
void ob_arbiters(struct ob *o);
/* objects_warn.c: what the objects say, decisions depend on, and a scenario does not have. */
void ob_tell(const struct ob *o);

/* card_label.c: the card type that labels of a node name; -1 = not known. *label: the one that was
 * looked at, NULL = there is none. */
int32_t ob_card_type(const struct policy_label *labels, uint32_t count, const struct policy_label **label);
/* Index of a card type by a name such as NVIDIA-A100-SXM4-80GB or nvidia-h100-80gb; memory_mib 0: not known. -1. */
int32_t ob_card_named(const char *text, int64_t memory_mib);

#endif
