/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the results database that worlds write to (defined in models/world/tables.c; the one
 * description from which analysis/store makes the SQL schema and docs/results-schema.md). */
#ifndef MODELS_WORLD_TABLES_H
#define MODELS_WORLD_TABLES_H

#include "sim/record.h"

extern const struct record_table table_metric;           /* run, scope_kind, scope, name, value, censored */
extern const struct record_table table_ledger;           /* run, period, node_pool, purchase, team, class, bucket, card_s, rest_mcns */
extern const struct record_table table_series;           /* run, name, scope, t_s, value */
extern const struct record_table table_histogram;        /* run, name, scope, lo, hi, mass */
extern const struct record_table table_workload;         /* run, id, name, kind, team, queue, ... */
extern const struct record_table table_service_interval; /* run, service, t_s, dur_s, arrivals, served, rejected, backlog, replicas, desired, p50_s, p99_s */
extern const struct record_table table_decision;         /* run, t_ns, seq, workload, queue, kind, reason, detail, repeats */
extern const struct record_table table_sharing;          /* run, t_s, node_pool, card, tenant, mechanism, asked_milli, got_milli, dur_s */
extern const struct record_table table_incident;         /* run, t_s, kind, node_pool, victims, detail */
extern const struct record_table table_cost;             /* run, node_pool, purchase, team, item, usd_micro */
extern const struct record_table table_event_of_note;    /* run, t_s, kind, team, magnitude, detail: e.g. costliest reclaim */

/* All tables above, in order of creation; ends with NULL. */
extern const struct record_table *const world_tables[];

#endif
