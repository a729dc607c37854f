/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/store/schema.h"

#include <string.h>

#define INT_(n) {n, RECORD_INT, false}
#define REAL_(n) {n, RECORD_REAL, false}
#define TEXT_(n) {n, RECORD_TEXT, false}
#define REAL_NULL(n) {n, RECORD_REAL, true}
#define TEXT_NULL(n) {n, RECORD_TEXT, true}

const struct record_table schema_run = {
    "run",
    "one arbiter in one replication; wall_s, version and host are beside the hashed content",
    {INT_("run"), INT_("arbiter_ix"), TEXT_("arbiter"), TEXT_("preset"), INT_("replication"),
     INT_("seed"), REAL_("horizon_s"), TEXT_("scenario_hash"), TEXT_("demand_hash"), REAL_NULL("wall_s"),
     TEXT_NULL("version"), TEXT_NULL("host")},
    12};

const struct record_table schema_scenario = {
    "scenario",
    "the text that repeats a run, once per distinct text",
    {TEXT_("scenario_hash"), TEXT_("name"), TEXT_("text")},
    3};

const struct record_table schema_input = {
    "input",
    "a file that the scenario read, and the hash of its bytes",
    {INT_("run"), TEXT_("name"), TEXT_("hash")},
    3};

const struct record_table schema_param = {
    "param",
    "effective settings of a run",
    {INT_("run"), TEXT_("key"), TEXT_NULL("value")},
    3};

const struct record_table schema_metric_def = {
    "metric_def",
    "what a figure means: better = 1 more is better, -1 less is better, 0 neither; tolerance is "
    "relative, but absolute for fractions",
    {TEXT_("name"), TEXT_("unit"), INT_("better"), REAL_("tolerance"), TEXT_NULL("heading"),
     TEXT_("label"), TEXT_("title")},
    7};

const struct record_table schema_bucket_def = {
    "bucket_def",
    "buckets of the card-time ledger and their groups",
    {TEXT_("bucket"), TEXT_("bucket_group"), TEXT_("label")},
    3};

const struct record_table schema_student = {
    "student",
    "0.975 quantile of Student's t for df degrees of freedom (from GSL)",
    {INT_("df"), REAL_("t975")},
    2};

static const char *const kind_names[] = {"ANY", "INTEGER", "REAL", "TEXT"};

/* Tables that are looked up by one key get it as primary key. */
static const char *primary_key(const struct record_table *table)
{
    static const struct record_table *const keyed[] = {
        &schema_run, &schema_scenario, &schema_metric_def, &schema_bucket_def, &schema_student};
    for (size_t i = 0; i < sizeof keyed / sizeof keyed[0]; i++)
        if (table == keyed[i])
            return table->fields[0].name;
    return NULL;
}

char *schema_table_sql(const struct record_table *table)
{
    sqlite3_str *s = sqlite3_str_new(NULL);
    const char *key = primary_key(table);
    sqlite3_str_appendf(s, "CREATE TABLE \"%w\"(", table->name);
    for (int i = 0; i < table->field_count; i++) {
        const struct record_field *f = &table->fields[i];
        sqlite3_str_appendf(s, "%s\"%w\" %s%s", i == 0 ? "" : ", ", f->name, kind_names[f->kind],
                            f->nullable ? "" : " NOT NULL");
    }
    if (key != NULL)
        sqlite3_str_appendf(s, ", PRIMARY KEY(\"%w\")", key);
    if (table == &schema_run)
        sqlite3_str_appendall(s, ", UNIQUE(arbiter, replication)");
    sqlite3_str_appendall(s, ") STRICT;");
    return sqlite3_str_finish(s);
}

char *schema_insert_sql(const struct record_table *table, int rows)
{
    sqlite3_str *s = sqlite3_str_new(NULL);
    sqlite3_str_appendf(s, "INSERT INTO \"%w\" VALUES", table->name);
    for (int r = 0; r < rows; r++) {
        sqlite3_str_appendall(s, r == 0 ? "(" : ",(");
        for (int i = 0; i < table->field_count; i++)
            sqlite3_str_appendall(s, i == 0 ? "?" : ",?");
        sqlite3_str_appendchar(s, 1, ')');
    }
    return sqlite3_str_finish(s);
}

/* Columns after `run` by which a table is looked up. */
struct index_columns {
    const char *table, *columns;
};
static const struct index_columns indexes[] = {
    {"metric", "run, scope_kind, scope, name"},
    {"series", "run, name, scope, t_s"},
    {"histogram", "run, name, scope"},
    {"workload", "run, id"},
    {"decision", "run, workload, seq"},
    {"nomination", "run, seq, n"},
    {"decision_share", "run, seq, n"},
    {"decision_spared", "run, seq, n"},
    {"holding", "run, queue, from_ns"},
    {"service_interval", "run, service, t_s"},
    {"ledger", "run, bucket"},
};

char *schema_index_sql(const struct record_table *table)
{
    const char *columns = "run";
    if (strcmp(table->fields[0].name, "run") != 0 || table == &schema_run)
        return sqlite3_mprintf("%s", "");
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++)
        if (strcmp(indexes[i].table, table->name) == 0)
            columns = indexes[i].columns;
    return sqlite3_mprintf("CREATE INDEX \"%w_by_run\" ON \"%w\"(%s);", table->name, table->name,
                           columns);
}

/* Mean and two-sided 95 % Student interval over the replications in which the figure applies;
 * deviations are taken from the mean, so that large values with small spread lose nothing. */
#define STATISTICS(where)                                                                          \
    "WITH dev AS (SELECT r.arbiter_ix, r.arbiter, m.scope_kind, m.scope, m.name, m.value,"         \
    " m.censored, avg(m.value) OVER (PARTITION BY r.arbiter_ix, m.scope_kind, m.scope, m.name)"    \
    " AS mean FROM metric m JOIN run r ON r.run = m.run WHERE " where "),"                         \
    " stat AS (SELECT arbiter_ix, arbiter, scope_kind, scope, name, avg(value) AS mean,"           \
    " count(value) AS n, sum((value - mean) * (value - mean)) AS ss, max(censored) AS censored"    \
    " FROM dev GROUP BY arbiter_ix, arbiter, scope_kind, scope, name)"
#define HALF_WIDTH "t.t975 * sqrt(ss / (n - 1) / n)"
#define FIGURES                                                                                    \
    " s.name AS metric, d.unit, s.mean,"                                                           \
    " CASE WHEN n > 1 THEN s.mean - " HALF_WIDTH " END AS low95,"                                  \
    " CASE WHEN n > 1 THEN s.mean + " HALF_WIDTH " END AS high95,"                                 \
    " n AS replications, s.censored"                                                               \
    " FROM stat s LEFT JOIN metric_def d ON d.name = s.name"                                       \
    " LEFT JOIN student t ON t.df = min(n - 1, 1000)"

_Static_assert(SCHEMA_STUDENT_MAX == 1000, "the view clamps at 1000");

const char *schema_views_sql(void)
{
    return "CREATE VIEW summary AS " STATISTICS("m.scope_kind = 'all'") //
           " SELECT s.arbiter," FIGURES " ORDER BY s.arbiter_ix, d.rowid, s.name;"
           "CREATE VIEW summary_by AS " STATISTICS("m.scope_kind <> 'all'") //
           " SELECT s.arbiter, s.scope_kind, s.scope," FIGURES
           " ORDER BY s.arbiter_ix, s.scope_kind, s.scope, d.rowid, s.name;"
           "CREATE VIEW card_hours AS SELECT r.arbiter, r.replication, l.period, l.node_pool,"
           " l.purchase, l.team, l.class, l.bucket, b.bucket_group,"
           " (l.card_s + l.rest_mcns / 1e12) / 3600 AS card_h"
           " FROM ledger l JOIN run r ON r.run = l.run"
           " LEFT JOIN bucket_def b ON b.bucket = l.bucket;"
           "CREATE VIEW usd AS SELECT r.arbiter, r.replication, c.node_pool, c.purchase, c.team,"
           " c.item, c.uusd / 1e6 AS usd FROM cost c JOIN run r ON r.run = c.run;";
}
