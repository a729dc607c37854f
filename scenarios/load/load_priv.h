/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the field tables fill before it becomes a struct scenario. Each *_in struct is the plain
 * struct of the models plus what is only needed to complete it.
 */
#ifndef SCENARIOS_LOAD_LOAD_PRIV_H
#define SCENARIOS_LOAD_LOAD_PRIV_H

#include "models/world/scenario.h"
#include "scenarios/load/field.h"

struct sharing_in {
    struct share_config c;
    double memory_scaling;
    struct share_change *changes;
    int32_t change_count;
    int mig_single, starts;
    bool fail_above_one;
};

struct pool_sharing_in {
    int32_t pool;
    struct sharing_in sharing;
};

struct sharing_model_in {
    struct sharing_model c;
    int victim;
};

struct node_pool_in {
    struct node_pool_config c;
    struct sharing_in sharing;
    int64_t price_uusd_per_card_h;      /* -1 = not given */
    int64_t instance_cpu_milli, instance_memory_bytes; /* 0 = no instance type */
};

struct node_type_in { /* pool first: rows of pools are used for both */
    struct node_pool_in pool;
    struct label *labels;
    int32_t label_count;
};

struct stream_in {
    struct job_stream_config c;
    struct law duration;                /* kind of the only gang, when gangs are not given */
    bool has_duration;
};

struct service_in {
    struct service_config c;
    struct scaling_config scaling;
};

struct arbiter_in {
    struct arbiter_config c;
    struct queue_config *overrides;
    int32_t override_count;
    struct pool_sharing_in *sharings;
    int32_t sharing_count;
};

/* What the objects of a cluster leave behind when they have become fleet and quota. */
struct load_objects {
    const char **files;
    int32_t file_count;
    const char **local_queues; /* "namespace/name"; its queue and its team by name */
    const char **local_queue_of, **local_queue_team;
    int32_t local_queue_count;
};

struct scenario_in {
    struct scenario s;
    struct replay_config replay;
    struct node_type_in *node_types;
    int32_t node_type_count;
    const struct load_objects *objects; /* NULL: a scenario without manifests */
    struct sharing_model_in sharing_model;
    struct node_pool_in *pools;
    int32_t pool_count;
    struct stream_in *training, *lora;
    int32_t training_count, lora_count;
    struct service_in *services;
    int32_t service_count;
    struct arbiter_in *arbiters;
    int32_t arbiter_count;
};

extern const struct schema scenario_schema;     /* table_scenario.c: the top level */
extern const struct schema replay_schema;       /* table_replay.c: a file with manifests */
extern const struct schema node_type_schema;    /* table_fleet.c: nodeTypes */
extern const struct schema fleet_schema;        /* table_fleet.c */
extern const struct schema team_schema;         /* table_quota.c */
extern const struct schema priority_class_schema;
extern const struct schema cohort_schema;
extern const struct schema queue_schema;
extern const struct schema queue_override_schema;
extern const struct schema model_schema;        /* table_demand.c */
extern const struct schema demand_schema;
extern const struct schema communication_schema; /* table_communication.c: a struct communication */
extern const struct schema service_schema;      /* table_service.c */
extern const struct schema scaling_schema;      /* table_arbiter.c */
extern const struct schema arbiter_schema;
extern const struct schema kueue_schema;        /* table_kueue.c: kueue of an arbiter */
extern const struct schema sharing_schema;      /* table_sharing.c */
extern const struct schema pool_sharing_schema;
extern const struct schema sharing_model_schema;
extern const struct schema law_schema;          /* table_law.c */
extern const struct schema window_schema;
extern const struct schema gang_schema;
extern const struct schema taint_schema;        /* table_fleet.c */
extern const struct schema toleration_schema;
extern const struct schema quota_amount_schema; /* table_quota.c: resources: of resourceGroups */

extern const struct schema adapter_schema;      /* table_lora.c: a struct lora_adapter */
extern const struct schema lora_sharing_schema;

/* Readers of fields that need more than one scalar (FIELD_CUSTOM). */
void read_law(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base);
void read_gangs(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base);
void read_profile_preset(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base);
void read_window(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base);
void read_cards_quota(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base);
void read_resource_groups(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base);

/* The whole of the scenario being filled, for rows that look at earlier ones. */
static inline struct scenario_in *scenario_of(struct read_ctx *ctx)
{
    return ctx->scenario;
}

/* priority from priorityClass, and the other way round nothing: shared by streams and services. */
void resolve_priority(struct read_ctx *ctx, const struct ynode *map, const char *priority_class,
                      int32_t *priority);
/* team from the queue when none is given. */
void resolve_team(struct read_ctx *ctx, int32_t queue, int32_t *team);

/* A tenant of a base: `model` is the base, ranks are legal, one card at most (table_lora.c). */
void resolve_lora(struct read_ctx *ctx, const struct ynode *map, int32_t lora_base, int32_t *model,
                  const struct lora_adapter *adapter);
/* table_lora.c: a base with one adapter fits the cards that its tenants may use. */
void load_check_lora(struct read_ctx *ctx, const struct ynode *root);

/* load_finish.c: flavors' pools, team and label defaults, per-service arrays. */
void load_finish(struct read_ctx *ctx, const struct ynode *root);
/* cross_check.c: errors that span structs. Runs only when every field could be read. */
void load_cross_check(struct read_ctx *ctx, const struct ynode *root);
/* check_sharing.c: mechanisms that cards do not have, and tenants that no pool can hold. */
void load_check_mechanisms(struct read_ctx *ctx, const struct ynode *root);
void load_check_tenants(struct read_ctx *ctx, const struct ynode *root);

/* Path of a file that a scenario names, as seen from the current directory. */
const char *load_path_beside(struct read_ctx *ctx, const struct ynode *n);

/* table_replay.c: whether a file with manifests asks something else of the cluster than its own workloads. */
bool replay_has_demand(const struct ynode *root);
/* The keys manifests and nodeTypes alone. */
void replay_read_objects(struct read_ctx *ctx, const struct ynode *root, struct scenario_in *to);
/* False after a problem at every key that may not stand beside manifests. */
bool replay_keys_ok(struct read_ctx *ctx, const struct ynode *root);

/* objects_world.c: manifests and nodeTypes of the tree become fleet, cohorts, queues, teams and priorityClasses, as if
 * they had been written there; demand and arbiters are completed. NULL after problems. */
const struct load_objects *objects_expand(struct read_ctx *ctx, struct ynode *root);

#endif
