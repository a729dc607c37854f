/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metric_defs.h"
#include "analysis/stats.h"
#include "analysis/store/rows.h"
#include "analysis/store/schema.h"
#include "analysis/store/target.h"
#include "sim/arena.h"

#define ROWS_PER_TRANSACTION 10000
#define TABLES_MAX 64

struct store {
    struct target target;
    char *name; /* as the user wrote it */
    sqlite3 *db;
    struct rows *rows; /* table_count; the store's own first */
    int table_count;
    int rows_in_transaction;
    int64_t run_count;
    struct err err;
};

static const struct record_table *const own_tables[] = {
    &schema_run,        &schema_scenario,   &schema_input,  &schema_param,
    &schema_metric_def, &schema_bucket_def, &schema_student};
#define OWN_TABLES ((int)(sizeof own_tables / sizeof own_tables[0]))

static bool fail(struct store *store, int rc)
{
    (void)rc;
    return err_set(&store->err, ERR_SYSTEM, "cannot write '%s': %s", store->name,
                   sqlite3_errmsg(store->db));
}

static bool exec(struct store *store, const char *sql)
{
    if (store->err.code != ERR_NONE)
        return false;
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? true : fail(store, rc);
}

static struct rows *rows_of(struct store *store, const struct record_table *table)
{
    for (int i = 0; i < store->table_count; i++)
        if (store->rows[i].table == table)
            return &store->rows[i];
    return NULL;
}

static bool flush_all(struct store *store)
{
    for (int i = 0; i < store->table_count && store->err.code == ERR_NONE; i++) {
        int rc = rows_flush(&store->rows[i]);
        if (rc != SQLITE_OK)
            fail(store, rc);
    }
    return store->err.code == ERR_NONE;
}

static void add(struct store *store, const struct record_table *table,
                const struct record_value *values)
{
    if (store->err.code != ERR_NONE)
        return;
    struct rows *rows = rows_of(store, table);
    if (rows == NULL) {
        err_set(&store->err, ERR_SYSTEM, "row for table '%s', which the store was not told of",
                table->name);
        return;
    }
    int misfit = rows_misfit(table, values);
    if (misfit >= 0) {
        err_set(&store->err, ERR_SYSTEM, "table '%s': value of field '%s' has the wrong kind",
                table->name, table->fields[misfit].name);
        return;
    }
    int rc = rows_add(rows, values);
    if (rc != SQLITE_OK)
        fail(store, rc);
    if (++store->rows_in_transaction >= ROWS_PER_TRANSACTION) {
        exec(store, "COMMIT; BEGIN");
        store->rows_in_transaction = 0;
    }
}

/* Constant tables: they explain the database to a reader of another year. */
static void add_constants(struct store *store)
{
    size_t count;
    const struct metric_def *d = metric_defs_all(&count);
    for (size_t i = 0; i < count; i++)
        add(store, &schema_metric_def,
            (struct record_value[]){rec_text(d[i].name), rec_text(d[i].unit),
                                    rec_int(d[i].better), rec_real(d[i].tolerance),
                                    rec_text(d[i].group), rec_text(d[i].label),
                                    rec_text(d[i].title)});
    const struct bucket_def *b = bucket_defs_all(&count);
    for (size_t i = 0; i < count; i++)
        add(store, &schema_bucket_def,
            (struct record_value[]){rec_text(b[i].name), rec_text(b[i].group),
                                    rec_text(b[i].label)});
    for (int df = 1; df <= SCHEMA_STUDENT_MAX; df++)
        add(store, &schema_student,
            (struct record_value[]){rec_int(df), rec_real(stats_student(0.975, df))});
}

static bool begin(struct store *store)
{
    char pragmas[256];
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
             "PRAGMA cache_size=-16000; PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN",
             STORE_APPLICATION_ID, STORE_SCHEMA_VERSION);
    if (!exec(store, pragmas))
        return false;
    for (int i = 0; i < store->table_count; i++) {
        int rc = rows_init(&store->rows[i], store->db, store->rows[i].table);
        if (rc != SQLITE_OK)
            return fail(store, rc);
    }
    add_constants(store);
    return flush_all(store);
}

static void store_free(struct store *store)
{
    for (int i = 0; i < store->table_count; i++)
        rows_fini(&store->rows[i]);
    sqlite3_close(store->db);
    target_discard(&store->target);
    free(store->rows);
    free(store->name);
    free(store);
}

/* A file of another kind under the target's name is somebody's work: it is not overwritten. */
static bool may_replace(const char *path, struct err *err)
{
    unsigned char head[72];
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return true; /* absent, or unreadable: then creating or renaming will tell */
    size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    if (n == 0)
        return true;
    uint32_t id = n < sizeof head ? 0
                                  : (uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 |
                                        (uint32_t)head[70] << 8 | (uint32_t)head[71];
    if (n == sizeof head && memcmp(head, "SQLite format 3", 16) == 0 && id == STORE_APPLICATION_ID)
        return true;
    return err_set(err, ERR_INPUT,
                   "%s: exists and is not a results database; choose another name or remove it",
                   path);
}

static struct store *allocate(const char *path, const struct record_table *const *tables)
{
    struct store *store = mem_zalloc(1, sizeof *store);
    while (tables[store->table_count] != NULL)
        store->table_count++;
    store->table_count += OWN_TABLES;
    store->rows = mem_zalloc((size_t)store->table_count, sizeof *store->rows);
    for (int i = 0; i < store->table_count; i++)
        store->rows[i].table = i < OWN_TABLES ? own_tables[i] : tables[i - OWN_TABLES];
    store->name = mem_strdup(path);
    return store;
}

struct store *store_create(const char *path, const struct record_table *const *tables,
                           struct err *err)
{
    struct store *store = allocate(path, tables);
    bool ok = target_open(&store->target, path, &store->err) && may_replace(path, &store->err);
    if (ok && sqlite3_open_v2(store->target.temporary, &store->db, SQLITE_OPEN_READWRITE, NULL) !=
                  SQLITE_OK)
        ok = fail(store, 0);
    if (ok && begin(store))
        return store;
    err_set(err, store->err.code, "%s", store->err.text);
    store_free(store);
    return NULL;
}

static const char *hex(char buffer[17], uint64_t value)
{
    snprintf(buffer, 17, "%016" PRIx64, value);
    return buffer;
}

/* One text for all runs that share it. */
static void add_scenario(struct store *store, const struct store_run *run, const char *hash)
{
    bool known = false;
    sqlite3_stmt *q = NULL;
    struct rows *rows = rows_of(store, &schema_scenario);
    int rc = rows_flush(rows);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(store->db, "SELECT 1 FROM scenario WHERE scenario_hash = ?", -1,
                                &q, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(q, 1, hash, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK) {
        known = sqlite3_step(q) == SQLITE_ROW;
        rc = sqlite3_reset(q);
    }
    sqlite3_finalize(q);
    if (rc != SQLITE_OK)
        fail(store, rc);
    else if (!known)
        add(store, &schema_scenario,
            (struct record_value[]){rec_text(hash), rec_text(run->scenario_name),
                                    rec_text(run->scenario_text)});
}

void store_add_run(struct store *store, const struct store_run *run)
{
    char hash[17], demand[17];
    if (store->err.code != ERR_NONE)
        return;
    hex(hash, run->scenario_hash);
    add_scenario(store, run, hash);
    add(store, &schema_run,
        (struct record_value[]){rec_int(run->run), rec_int(run->arbiter_ix),
                                rec_text(run->arbiter), rec_text(run->preset),
                                rec_int(run->replication), rec_int((int64_t)run->seed),
                                rec_real(run->horizon_s), rec_text(hash),
                                rec_text(hex(demand, run->demand_hash)), rec_real(run->wall_s),
                                rec_text(run->version), rec_text(run->host)});
    for (size_t i = 0; i < run->input_count; i++)
        add(store, &schema_input,
            (struct record_value[]){rec_int(run->run), rec_text(run->inputs[i].name),
                                    rec_text(hex(hash, run->inputs[i].hash))});
    store->run_count++;
}

void store_param(struct store *store, int64_t run, const char *key, const char *value)
{
    add(store, &schema_param, (struct record_value[]){rec_int(run), rec_text(key), rec_text(value)});
}

static void on_row(void *ctx, const struct record_table *table, const struct record_value *values)
{
    struct store *store = ctx;
    add(store, table, values);
}

struct record_sink store_sink(struct store *store)
{
    return (struct record_sink){.ctx = store, .row = on_row};
}

bool store_failed(const struct store *store, struct err *err)
{
    if (store->err.code == ERR_NONE)
        return false;
    if (err != NULL)
        err_set(err, store->err.code, "%s", store->err.text);
    return true;
}

/* Everything but the rename: rows, indexes, views, statistics of the query planner. */
static bool finish(struct store *store)
{
    if (!flush_all(store))
        return false;
    for (int i = 0; i < store->table_count; i++) {
        char *sql = schema_index_sql(store->rows[i].table);
        bool ok = sql == NULL ? fail(store, SQLITE_NOMEM) : exec(store, sql);
        sqlite3_free(sql);
        rows_fini(&store->rows[i]);
        if (!ok)
            return false;
    }
    if (!exec(store, schema_views_sql()) || !exec(store, "COMMIT; ANALYZE"))
        return false;
    int rc = sqlite3_close(store->db);
    if (rc != SQLITE_OK)
        return fail(store, rc);
    store->db = NULL;
    return true;
}

static bool complete(struct store *store, const char *path, struct err *err)
{
    bool ok = finish(store) && target_commit(&store->target, path, &store->err);
    if (!ok)
        err_set(err, store->err.code, "%s", store->err.text);
    store_free(store);
    return ok;
}

bool store_commit(struct store *store, struct err *err)
{
    return complete(store, NULL, err);
}

bool store_abort(struct store *store, bool keep_partial, char *partial, size_t size)
{
    struct err err = {0};
    if (!keep_partial || store->run_count == 0 || store->err.code != ERR_NONE) {
        store_free(store);
        return false;
    }
    size_t stem = strlen(store->target.path);
    if (stem > 3 && strcmp(store->target.path + stem - 3, ".db") == 0)
        stem -= 3;
    char *name = mem_alloc(stem + sizeof ".partial.db", 1);
    memcpy(name, store->target.path, stem);
    memcpy(name + stem, ".partial.db", sizeof ".partial.db");
    bool kept = complete(store, name, &err);
    if (kept && partial != NULL)
        snprintf(partial, size, "%s", name);
    free(name);
    return kept;
}
