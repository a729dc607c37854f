/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a fleet is made of, as plain structs filled by scenarios/load (design, section 4).
 * Strings belong to the scenario's arena. Indices refer to arrays of the same scenario.
 */
#ifndef MODELS_FLEET_FLEET_CONFIG_H
#define MODELS_FLEET_FLEET_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "models/fleet/sharing/share_config.h"

#define FLEET_RESOURCES_MAX 8 /* named resources beside the card: cpu, memory, efa, ... */

struct label {
    const char *key, *value;
};

/* ANY: of tolerations only. */
enum taint_effect { TAINT_NO_SCHEDULE, TAINT_PREFER_NO_SCHEDULE, TAINT_NO_EXECUTE, TAINT_EFFECT_ANY };

struct taint {
    const char *key, *value;
    enum taint_effect effect;
};

enum purchase { PURCHASE_ON_DEMAND, PURCHASE_RESERVED, PURCHASE_SPOT, PURCHASE_OWNED, PURCHASE_COUNT };

/* An amount of a named resource in Kueue's units: cpu in milli, memory in bytes, others whole. */
struct resource_amount {
    int32_t resource; /* index into fleet_config.resources */
    int64_t amount;
};

/* A level of the network: domains of so many nodes, numbered in order (models/fleet/locality.h). */
struct network_domain {
    const char *name;
    int32_t nodes;
    double oversubscription; /* bandwidth of nodes among each other over that to other domains; up to 1 = full */
};

/* Physical nodes of one kind; a node is in exactly one pool. Ledger, prices and cache key on it. */
struct node_pool_config {
    const char *name;
    int32_t card;              /* index into the accelerator catalogue (models/fleet/catalogue.h) */
    const char *instance;      /* instance type of the catalogue, or NULL */
    int32_t node_count;
    int32_t cards_per_node;
    int64_t price_uusd_per_node_h; /* micro-USD per node and hour */
    enum purchase purchase;
    struct label *labels;
    int32_t label_count;
    struct taint *taints;
    int32_t taint_count;
    struct resource_amount *allocatable; /* per node; cards are not listed here */
    int32_t allocatable_count;
    int32_t cache_slots;       /* models whose weights a node keeps on its disk, 0 = none */
    struct network_domain *domains; /* innermost first; each a multiple of the former */
    int32_t domain_count;
    /* Mechanism of all cards of the pool. Whole (zero): no mechanism limits a share; a request for
     * one takes its milli. Check with fleet_pool_sharing_ok. */
    struct share_config sharing;
};

/* A policy's selector over nodes (Kueue's ResourceFlavor): a pool belongs to it when it carries
 * all its labels. Flavors may overlap or miss pools. */
struct flavor_config {
    const char *name;
    struct label *node_labels;
    int32_t node_label_count;
    struct taint *node_taints;
    int32_t node_taint_count;
    struct taint *tolerations; /* models/fleet/taints.h */
    int32_t toleration_count;
    int32_t *pools;            /* node pools selected, ascending; computed by the loader */
    int32_t pool_count;
};

struct fleet_config {
    const char **resources; /* names of non-card resources, e.g. "cpu", "memory" */
    int32_t resource_count;
    struct node_pool_config *pools;
    int32_t pool_count;
    struct flavor_config *flavors;
    int32_t flavor_count;
};

#endif
