/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SQL of the results database: tables from struct record_table, the store's own tables, indexes
 * and views. Names and meaning: docs/results-schema.md. */
#ifndef ANALYSIS_STORE_SCHEMA_H
#define ANALYSIS_STORE_SCHEMA_H

#include <sqlite3.h>

#include "sim/record.h"

/* The store's own tables of hashed content, described like those of the worlds. */
extern const struct record_table schema_run;
extern const struct record_table schema_scenario;
extern const struct record_table schema_input;
extern const struct record_table schema_param;
/* Constant tables beside the hashed content. */
extern const struct record_table schema_metric_def;
extern const struct record_table schema_bucket_def;
extern const struct record_table schema_student;

#define SCHEMA_STUDENT_MAX 1000 /* degrees of freedom; above, the last row serves */

/* CREATE TABLE ... STRICT; release with sqlite3_free. */
char *schema_table_sql(const struct record_table *table);

/* INSERT of `rows` rows with numbered parameters; release with sqlite3_free. */
char *schema_insert_sql(const struct record_table *table, int rows);

/* Indexes for a table whose first field is `run` ("" for others); release with sqlite3_free. */
char *schema_index_sql(const struct record_table *table);

/* All views, one text; static. */
const char *schema_views_sql(void);

#endif
