/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Table of the top level. Rows stand in the order of reading: later ones rely on earlier ones. */
#include "scenarios/load/load_priv.h"

#define TRANSFER(member) offsetof(struct transfer_config, member)
static const struct field transfer_fields[] = {
    {.name = "image", .kind = FIELD_BYTE_RATE, .offset = TRANSFER(image_bytes_per_s), .min = 1,
     .max = 1e13, .help = "Pull of a container image, effective."},
    {.name = "store", .kind = FIELD_BYTE_RATE, .offset = TRANSFER(store_bytes_per_s), .min = 1,
     .max = 1e13, .help = "Weights from the object store to one node."},
    {.name = "fluid", .kind = FIELD_BYTE_RATE, .offset = TRANSFER(fluid_bytes_per_s), .min = 1,
     .max = 1e13, .help = "Weights from a distributed cache."},
    {.name = "node", .kind = FIELD_BYTE_RATE, .offset = TRANSFER(node_bytes_per_s), .min = 1,
     .max = 1e13, .help = "Weights from the node's own disk."},
    {.name = "processStart", .kind = FIELD_DURATION, .offset = TRANSFER(process_start),
     .max = 86400e9, .help = "Container create and process start."},
    {.name = "drain", .kind = FIELD_DURATION, .offset = TRANSFER(drain), .max = 86400e9,
     .help = "A stopping replica finishes what it has."},
    {0}};
static const struct schema transfer_schema = {.title = "transfer",
                                              .about = "How fast bytes move; what a cold start is made of.", .fields = transfer_fields, .size = sizeof(struct transfer_config)};

static const struct field money_fields[] = {
    {.name = "engineer", .kind = FIELD_USD_YEAR,
     .offset = offsetof(struct money_config, engineer_uusd_per_year), .max = 1e13,
     .help = "Loaded cost of a platform engineer."},
    {0}};
static const struct schema money_schema = {.title = "money", .fields = money_fields,
                                           .size = sizeof(struct money_config)};

#define IN(member) offsetof(struct scenario_in, member)
#define LIST(array) .offset = IN(s.quota.array##s), .count_offset = IN(s.quota.array##_count)
static const struct field scenario_fields[] = {
    {.name = "name", .kind = FIELD_NAME, .offset = IN(s.name), .help = "Name of the scenario."},
    {.name = "description", .kind = FIELD_STRING, .offset = IN(s.description),
     .flags = FIELD_EMPTY_OK, .help = "What question it asks."},
    {.name = "horizon", .kind = FIELD_DURATION, .offset = IN(s.horizon), .min = 1e9,
     .max = 3650 * 86400e9, .help = "Length of a run."},
    {.name = "start", .kind = FIELD_INSTANT, .offset = IN(s.start_epoch),
     .help = "Calendar time of the start; hours and weekdays come from it."},
    {.name = "seed", .kind = FIELD_SEED, .offset = IN(s.seed),
     .help = "Seed of all random streams."},
    {.name = "replications", .kind = FIELD_INT, .offset = IN(s.replications), .min = 1,
     .max = 100000, .help = "Runs of every arbiter with other random numbers."},
    {.name = "fleet", .kind = FIELD_STRUCT, .sub = &fleet_schema, .flags = FIELD_REQUIRED,
     .help = "The cards."},
    {.name = "teams", .kind = FIELD_LIST, LIST(team), .sub = &team_schema,
     .fallback = "one per queue", .help = "Who asks."},
    {.name = "priorityClasses", .kind = FIELD_LIST, .offset = IN(s.quota.priority_classes),
     .count_offset = IN(s.quota.priority_class_count), .sub = &priority_class_schema,
     .help = "Named priorities."},
    {.name = "cohorts", .kind = FIELD_LIST, LIST(cohort), .sub = &cohort_schema,
     .help = "Who lends to whom."},
    {.name = "queues", .kind = FIELD_LIST, LIST(queue), .sub = &queue_schema,
     .flags = FIELD_REQUIRED, .help = "Quota."},
    {.name = "models", .kind = FIELD_LIST, .offset = IN(s.demand.models),
     .count_offset = IN(s.demand.model_count), .sub = &model_schema, .help = "Base models."},
    {.name = "scaling", .kind = FIELD_STRUCT, .offset = IN(s.scaling), .sub = &scaling_schema,
     .help = "How replicas follow traffic."},
    {.name = "transfer", .kind = FIELD_STRUCT, .offset = IN(s.transfer), .sub = &transfer_schema,
     .help = "How fast bytes move."},
    {.name = "sharingModel", .kind = FIELD_STRUCT, .offset = IN(sharing_model),
     .sub = &sharing_model_schema, .help = "Tenants of one card beside each other."},
    {.name = "money", .kind = FIELD_STRUCT, .offset = IN(s.money), .sub = &money_schema,
     .help = "Cost of people."},
    {.name = "loraSharing", .kind = FIELD_STRUCT, .offset = IN(s.lora), .sub = &lora_sharing_schema,
     .help = "Several adapters on one base model."},
    {.name = "demand", .kind = FIELD_STRUCT, .sub = &demand_schema, .flags = FIELD_REQUIRED,
     .help = "What is asked of the fleet."},
    {.name = "arbiters", .kind = FIELD_LIST, .offset = IN(arbiters),
     .count_offset = IN(arbiter_count), .sub = &arbiter_schema, .flags = FIELD_REQUIRED,
     .help = "Ways to share the fleet."},
    {0}};

static void scenario_in_defaults(void *out)
{
    ((struct scenario_in *)out)->s = scenario_defaults();
    ((struct scenario_in *)out)->sharing_model.c = sharing_model_defaults();
}

const struct schema scenario_schema = {.title = "a scenario",
                                       .about = "Fleet, quota and demand, and the arbiters to compare.", .size = sizeof(struct scenario_in),
                                       .fields = scenario_fields, .defaults = scenario_in_defaults};
