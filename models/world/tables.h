/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the results database that worlds write to (defined in models/world/tables.c; the one
 * description from which analysis/store makes the SQL schema and docs/results-schema.md). */
#ifndef MODELS_WORLD_TABLES_H
#define MODELS_WORLD_TABLES_H

#include "sim/record.h"

extern const struct record_table table_metric;
extern const struct record_table table_ledger;
extern const struct record_table table_series;
extern const struct record_table table_histogram;
extern const struct record_table table_workload;
extern const struct record_table table_service_interval;
extern const struct record_table table_decision;
extern const struct record_table table_nomination;
extern const struct record_table table_decision_share;
extern const struct record_table table_decision_spared;
extern const struct record_table table_tenant;
extern const struct record_table table_sharing;
extern const struct record_table table_incident;
extern const struct record_table table_sharing_pool;
extern const struct record_table table_cost;
extern const struct record_table table_event_of_note;
extern const struct record_table table_assumption;
extern const struct record_table table_quota_node;
extern const struct record_table table_alarm;
extern const struct record_table table_holding;

/* All tables above, in order of creation; ends with NULL. */
extern const struct record_table *const world_tables[];

#endif
