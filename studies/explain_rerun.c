/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/explain_rerun.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/store/rows.h"
#include "analysis/store/schema.h"
#include "models/world/tables.h"
#include "models/world/world.h"
#include "scenarios/load/file_hash.h"
#include "scenarios/load/load.h"
#include "sim/arena.h"
#include "studies/manifest_run.h"

/* What is known of the stored run. */
struct stored_run {
    struct arena arena;
    const char *arbiter, *text, *demand_hash;
    int64_t run, replication;
    const char **inputs; /* names as they were opened */
    size_t input_count;
};

/* ---- the stored run ---- */

static bool read_run(struct stored_run *s, struct results *stored, int64_t run, char *version, size_t size,
                     struct err *err)
{
    sqlite3_stmt *q = results_query(stored, err,
                                    "SELECT arbiter, replication, demand_hash, text, version FROM run"
                                    " JOIN scenario USING (scenario_hash) WHERE run = %lld", (long long)run);
    bool found = results_next(stored, q, err);
    if (found) {
        s->run = run;
        s->arbiter = arena_strdup(&s->arena, results_text(q, 0));
        s->replication = sqlite3_column_int64(q, 1);
        s->demand_hash = arena_strdup(&s->arena, results_text(q, 2));
        s->text = arena_strdup(&s->arena, results_text(q, 3));
        (void)snprintf(version, size, "%s", results_text(q, 4));
    }
    sqlite3_finalize(q);
    if (!found)
        err_set(err, ERR_INPUT, "'%s' holds no run %lld", stored->path, (long long)run);
    return err->code == ERR_NONE;
}

static bool check_input(const char *name, const char *wanted, struct err *err)
{
    char found[17], no_file[17];
    uint64_t hash;
    (void)snprintf(no_file, sizeof no_file, "%016" PRIx64, FILE_HASH_NONE);
    if (strcmp(wanted, no_file) == 0)
        return err_set(err, ERR_INPUT, "the run cannot be repeated: its input '%s' was no plain file", name);
    struct stat st;
    if (stat(name, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) /* a pipe would keep us waiting */
        return err_set(err, ERR_INPUT, "the run cannot be repeated: its input '%s' is no plain file any more", name);
    if (!file_hash(name, &hash))
        return err_set(err, ERR_INPUT, "the run cannot be repeated: its input '%s' cannot be read: %s", name,
                       strerror(errno));
    (void)snprintf(found, sizeof found, "%016" PRIx64, hash);
    return strcmp(found, wanted) == 0 ||
           err_set(err, ERR_INPUT, "the run cannot be repeated: its input '%s' has changed (hash %s, was %s)", name,
                   found, wanted);
}

static bool read_inputs(struct stored_run *s, struct results *stored, struct err *err)
{
    size_t capacity = 0;
    const char **names = NULL;
    sqlite3_stmt *q = results_query(stored, err, "SELECT name, hash FROM input WHERE run = %lld ORDER BY rowid",
                                    (long long)s->run);
    while (err->code == ERR_NONE && results_next(stored, q, err)) {
        names = mem_grow(names, &capacity, s->input_count + 1, sizeof *names);
        names[s->input_count++] = arena_strdup(&s->arena, results_text(q, 0));
        check_input(results_text(q, 0), results_text(q, 1), err);
    }
    sqlite3_finalize(q);
    s->inputs = arena_alloc(&s->arena, s->input_count + 1, sizeof *names);
    for (size_t i = 0; names != NULL && i < s->input_count; i++)
        s->inputs[i] = names[i];
    free((void *)names);
    return err->code == ERR_NONE;
}

/* ---- a replay of manifests: its options are among the settings that the run keeps ---- */

struct replay {
    struct manifest_run_options options;
    bool is; /* else the run is of a world */
};

static bool read_replay(struct replay *r, struct stored_run *s, struct results *stored, struct err *err)
{
    sqlite3_stmt *q = results_query(stored, err,
                                    "SELECT h.value, d.value, seed FROM run JOIN param h ON h.run = run.run AND h.key = %Q"
                                    " JOIN param d ON d.run = run.run AND d.key = 'durations' WHERE run.run = %lld",
                                    MANIFEST_HORIZON_PARAM, (long long)s->run);
    r->is = results_next(stored, q, err);
    if (r->is) {
        const char *horizon = results_text(q, 0), *durations = results_text(q, 1);
        r->options.horizon_ns = horizon[0] == '\0' ? INT64_MAX : strtoll(horizon, NULL, 10);
        r->options.durations = strcmp(durations, MANIFEST_DURATIONS_RECORDED) == 0 ? NULL : arena_strdup(&s->arena, durations);
        r->options.seed = (uint64_t)sqlite3_column_int64(q, 2);
        r->options.decisions = true;
    }
    sqlite3_finalize(q);
    for (size_t i = 0; i < s->input_count && r->is && r->options.file_count < MANIFEST_FILES_MAX; i++)
        if (r->options.durations == NULL || strcmp(s->inputs[i], r->options.durations) != 0)
            r->options.files[r->options.file_count++] = s->inputs[i];
    return err->code == ERR_NONE;
}

/* ---- the scenario: relative names belong to the directory that it was in ---- */

static bool same_inputs(const struct stored_run *s, const struct scenario *scenario)
{
    bool same = (size_t)scenario->input_count == s->input_count;
    for (size_t i = 0; same && i < s->input_count; i++)
        same = strcmp(scenario->input_files[i], s->inputs[i]) == 0;
    return same;
}

static struct scenario *load_in(const struct stored_run *s, const char *directory, struct diag_list *diags)
{
    char path[4200];
    (void)snprintf(path, sizeof path, "%.4096s%sstored scenario", directory, directory[0] == '\0' ? "" : "/");
    return scenario_load_text(path, s->text, strlen(s->text), NULL, 0, diags);
}

/* Tries the directories above the first input, then the current one: the first that gives all
 * inputs their stored names. */
static struct scenario *load(const struct stored_run *s, struct diag_list *diags)
{
    char directory[4096] = "";
    if (s->input_count > 0)
        (void)snprintf(directory, sizeof directory, "%s", s->inputs[0]);
    for (char *slash; (slash = strrchr(directory, '/')) != NULL;) {
        struct diag_list ignored = {0};
        *slash = '\0';
        struct scenario *scenario = load_in(s, directory, &ignored);
        diag_fini(&ignored);
        if (scenario != NULL && same_inputs(s, scenario))
            return scenario;
        scenario_free(scenario);
    }
    return load_in(s, "", diags);
}

static int32_t arbiter_of(const struct scenario *scenario, const char *name)
{
    for (int32_t i = 0; i < scenario->arbiter_count; i++)
        if (strcmp(scenario->arbiters[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- the database in memory ---- */

static const struct record_table *const kept[] = {&schema_run, &table_metric, &table_workload, &table_decision, &table_nomination,
                                                  &table_decision_share, &table_decision_spared, &table_event_of_note,
                                                  &table_quota_node, &table_alarm, &table_holding};
enum { KEPT = sizeof kept / sizeof kept[0] };

struct memory {
    sqlite3 *db;
    struct rows rows[KEPT];
    int failed; /* SQLite's code of the first failure */
};

static void keep_row(void *ctx, const struct record_table *table, const struct record_value *values)
{
    struct memory *m = ctx;
    for (int i = 0; i < KEPT && m->failed == SQLITE_OK; i++)
        if (kept[i] == table)
            m->failed = rows_add(&m->rows[i], values);
}

static void memory_begin(struct memory *m)
{
    m->failed = sqlite3_open(":memory:", &m->db);
    for (int i = 0; i < KEPT && m->failed == SQLITE_OK; i++)
        m->failed = rows_init(&m->rows[i], m->db, kept[i]);
    if (m->failed == SQLITE_OK)
        m->failed = sqlite3_exec(m->db, "BEGIN", NULL, NULL, NULL);
}

static void memory_end(struct memory *m)
{
    for (int i = 0; i < KEPT; i++) {
        if (m->failed == SQLITE_OK)
            m->failed = rows_flush(&m->rows[i]);
        rows_fini(&m->rows[i]);
        char *sql = schema_index_sql(kept[i]);
        if (m->failed == SQLITE_OK)
            m->failed = sqlite3_exec(m->db, sql, NULL, NULL, NULL);
        sqlite3_free(sql);
    }
    if (m->failed == SQLITE_OK)
        m->failed = sqlite3_exec(m->db, "COMMIT", NULL, NULL, NULL);
}

/* The stored row of the run, so that readers find it; and how the figures compare. */
static bool compare(struct explain_rerun *rerun, struct results *stored, int64_t run, struct err *err)
{
    struct results *r = &rerun->results;
    sqlite3_stmt *q = results_query(r, err, "ATTACH DATABASE %Q AS stored", stored->path);
    (void)results_next(r, q, err);
    sqlite3_finalize(q);
    q = results_query(r, err, "INSERT INTO main.run SELECT * FROM stored.run WHERE run = %lld", (long long)run);
    (void)results_next(r, q, err);
    sqlite3_finalize(q);
    q = results_query(r, err,
                      "SELECT count(*), sum(m.value IS NOT s.value) FROM main.metric m JOIN stored.metric s"
                      " ON s.run = m.run AND s.scope_kind = m.scope_kind AND s.scope = m.scope AND s.name = m.name"
                      " WHERE m.scope_kind = 'all' AND m.name NOT LIKE 'idle.%%'");
    if (results_next(r, q, err)) {
        rerun->figures = sqlite3_column_int64(q, 0);
        rerun->figures_that_differ = sqlite3_column_int64(q, 1);
    }
    sqlite3_finalize(q);
    q = results_query(r, err, "DETACH DATABASE stored");
    (void)results_next(r, q, err);
    sqlite3_finalize(q);
    return err->code == ERR_NONE;
}

/* The demand must be that of the stored run. */
static bool same_demand(const struct stored_run *s, uint64_t demand, struct err *err)
{
    char hash[17];
    (void)snprintf(hash, sizeof hash, "%016" PRIx64, demand);
    return strcmp(hash, s->demand_hash) == 0 ||
           err_set(err, ERR_INPUT, "the run cannot be repeated: this version makes other demand of the scenario"
                                   " (hash %s, was %s)", hash, s->demand_hash);
}

static bool kept_all(const struct memory *m, struct err *err)
{
    return m->failed == SQLITE_OK ||
           err_set(err, ERR_SYSTEM, "cannot keep the decisions in memory: %s", sqlite3_errstr(m->failed));
}

static bool replay_again(const struct stored_run *s, const struct replay *r, struct memory *m, struct err *err)
{
    const struct record_sink sink = {.ctx = m, .row = keep_row};
    uint64_t demand = 0;
    memory_begin(m);
    const bool ok = manifest_repeat(&r->options, s->run, &sink, &demand, err);
    memory_end(m);
    if (!ok && err->code != ERR_NONE && err->text[0] == '\0')
        err_set(err, ERR_INPUT, "the manifests cannot be read by this version");
    return ok && kept_all(m, err) && same_demand(s, demand, err);
}

static bool run_again(const struct stored_run *s, const struct scenario *scenario, struct memory *m, struct err *err)
{
    struct world_outcome outcome;
    struct world_options options = {.arbiter = arbiter_of(scenario, s->arbiter),
                                    .replication = (uint32_t)s->replication,
                                    .run_id = s->run,
                                    .level = RECORD_LEVEL_FULL,
                                    .sink = {.ctx = m, .row = keep_row}};
    if (scenario->replay != NULL)
        return err_set(err, ERR_INPUT, "the replay cannot be repeated: an older version ran it, which did not keep its settings");
    if (options.arbiter < 0)
        return err_set(err, ERR_INPUT, "the stored scenario has no arbiter '%s'", s->arbiter);
    memory_begin(m);
    bool ok = world_run(scenario, &options, &outcome, err);
    memory_end(m);
    return ok && kept_all(m, err) && same_demand(s, outcome.demand_hash, err);
}

bool explain_rerun(struct explain_rerun *rerun, struct results *stored, int64_t run, struct diag_list *diags,
                   struct err *err)
{
    struct stored_run s = {0};
    struct memory memory = {0};
    struct scenario *scenario = NULL;
    *rerun = (struct explain_rerun){0};
    struct replay replay = {.is = false};
    bool ok = read_run(&s, stored, run, rerun->version, sizeof rerun->version, err) && read_inputs(&s, stored, err) &&
              read_replay(&replay, &s, stored, err);
    if (ok && replay.is) {
        ok = replay_again(&s, &replay, &memory, err);
    } else if (ok) {
        scenario = load(&s, diags);
        ok = scenario != NULL && run_again(&s, scenario, &memory, err);
    }
    rerun->results = (struct results){.db = memory.db, .path = mem_strdup(stored->path)};
    ok = ok && compare(rerun, stored, run, err);
    scenario_free(scenario);
    arena_fini(&s.arena);
    return ok;
}

void explain_rerun_fini(struct explain_rerun *rerun)
{
    results_close(&rerun->results);
    *rerun = (struct explain_rerun){0};
}
