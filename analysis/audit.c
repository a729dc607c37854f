/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/audit.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/audit_priv.h"
#include "sim/diag.h"

enum { NAMES_MAX = 100000 };

int audit_rank(const char *isolation)
{
    static const char *const ranks[] = {"none", "software", "hardware", "exclusive"};
    for (int i = 0; i < 4; i++)
        if (strcmp(isolation, ranks[i]) == 0)
            return i;
    return 0;
}

void *audit_grow(struct arena *arena, void *items, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return items; /* there is place up to the next power of two */
    void *more = arena_alloc(arena, count == 0 ? 1 : 2 * count, size);
    if (count > 0)
        memcpy(more, items, count * size);
    return more;
}

const char *audit_text(struct audit_reading *r, sqlite3_stmt *query, int column)
{
    return arena_strdup(&r->audit->arena, results_text(query, column));
}

/* ---- may it be read? ---- */

static bool has_rows(struct results *results, struct err *err, sqlite3_stmt *q)
{
    bool any = results_next(results, q, err);
    sqlite3_finalize(q);
    return any;
}

bool audit_has_tables(struct results *results, struct err *err)
{
    /* Older databases have tables of the same names with other columns. */
    return has_rows(results, err,
                    results_query(results, err,
                                  "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'sharing_pool'"
                                  " AND EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'tenant')"
                                  " AND EXISTS (SELECT 1 FROM pragma_table_info('sharing') WHERE name = 'other')"));
}

/* ERR_INPUT with the nearest of the names that the query gives, or with all when they are few. */
static void no_such(struct results *results, const char *what, const char *name, const char *sql, struct err *err)
{
    struct arena arena = {0};
    size_t count = 0, capacity = 0;
    const char **names = NULL;
    sqlite3_stmt *q = results_query(results, err, "%s", sql);
    while (count < NAMES_MAX && results_next(results, q, err)) {
        names = mem_grow((void *)names, &capacity, count + 1, sizeof *names);
        names[count++] = arena_strdup(&arena, results_text(q, 0));
    }
    sqlite3_finalize(q);
    const char *near = count == 0 ? NULL : diag_nearest(name, names, count);
    if (err->code == ERR_NONE && near != NULL)
        err_set(err, ERR_INPUT, "'%s' has no %s '%s'; did you mean '%s'?", results->path, what, name, near);
    else if (err->code == ERR_NONE)
        err_set(err, ERR_INPUT, "'%s' has no %s '%s'; the first of %zu is '%s'", results->path, what, name, count,
                count == 0 ? "" : names[0]);
    free((void *)names);
    arena_fini(&arena);
}

static void check_names(struct results *results, const struct audit_options *o, struct err *err)
{
    if (o->arbiter != NULL &&
        !has_rows(results, err, results_query(results, err, "SELECT 1 FROM run WHERE arbiter = %Q", o->arbiter)))
        no_such(results, "arbiter", o->arbiter, "SELECT DISTINCT arbiter FROM run ORDER BY arbiter_ix", err);
    if (o->tenant != NULL && err->code == ERR_NONE &&
        !has_rows(results, err, results_query(results, err, "SELECT 1 FROM tenant WHERE tenant = %Q", o->tenant)))
        no_such(results, "tenant", o->tenant, "SELECT DISTINCT tenant FROM tenant ORDER BY tenant", err);
}

/* ---- one run ---- */

static void read_pools(struct audit_reading *r)
{
    struct audit_run *run = r->run;
    sqlite3_stmt *q = results_query(
        r->results, r->err,
        "SELECT node_pool, card, mechanism, isolation, cards, cards_peak, incidents, victims, cards_mean,"
        " tenants_mean, shared_card_s, (SELECT total(card_s) + total(rest_mcns) / 1e12 FROM ledger l"
        "  WHERE l.run = p.run AND l.node_pool = p.node_pool"
        "  AND l.bucket IN ('serving', 'training_useful', 'lora_useful'))"
        " FROM sharing_pool p WHERE run = %lld ORDER BY rowid",
        (long long)run->run);
    while (results_next(r->results, q, r->err)) {
        struct audit_pool *p = AUDIT_PUSH(&r->audit->arena, run->pools, run->pool_count);
        *p = (struct audit_pool){.node_pool = audit_text(r, q, 0),
                                 .card = audit_text(r, q, 1),
                                 .mechanism = audit_text(r, q, 2),
                                 .isolation = audit_text(r, q, 3),
                                 .cards = sqlite3_column_int64(q, 4),
                                 .cards_peak = sqlite3_column_int64(q, 5),
                                 .incidents = sqlite3_column_int64(q, 6),
                                 .victims = sqlite3_column_int64(q, 7),
                                 .cards_mean = results_real(q, 8),
                                 .tenants_mean = results_real(q, 9),
                                 .shared_card_s = results_real(q, 10),
                                 .computing_card_s = results_real(q, 11)};
    }
    sqlite3_finalize(q);
}

static void read_pairs(struct audit_reading *r)
{
    struct audit_run *run = r->run;
    sqlite3_stmt *q = results_query(
        r->results, r->err,
        "SELECT s.node_pool, s.mechanism, s.isolation, s.tenant, s.other, count(*), sum(s.times), sum(s.shared_s) AS t,"
        " " AUDIT_RANK("s.isolation") " < " AUDIT_RANK("a.requires") ","
        " " AUDIT_RANK("s.isolation") " < " AUDIT_RANK("b.requires")
        " FROM sharing s LEFT JOIN tenant a ON a.run = s.run AND a.tenant = s.tenant"
        " LEFT JOIN tenant b ON b.run = s.run AND b.tenant = s.other"
        " WHERE s.run = %lld AND (%Q IS NULL OR s.tenant = %Q OR s.other = %Q)"
        " GROUP BY s.node_pool, s.mechanism, s.isolation, s.tenant, s.other"
        " ORDER BY t DESC, s.tenant, s.other, s.node_pool, s.mechanism",
        (long long)run->run, r->tenant, r->tenant, r->tenant);
    while (results_next(r->results, q, r->err)) {
        struct audit_pair *p = AUDIT_PUSH(&r->audit->arena, run->pairs, run->pair_count);
        *p = (struct audit_pair){.node_pool = audit_text(r, q, 0),
                                 .mechanism = audit_text(r, q, 1),
                                 .isolation = audit_text(r, q, 2),
                                 .tenant = audit_text(r, q, 3),
                                 .other = audit_text(r, q, 4),
                                 .cards = sqlite3_column_int64(q, 5),
                                 .times = sqlite3_column_int64(q, 6),
                                 .shared_s = results_real(q, 7),
                                 .tenant_broken = sqlite3_column_int(q, 8) != 0,
                                 .other_broken = sqlite3_column_int(q, 9) != 0};
    }
    sqlite3_finalize(q);
}

/* Some sharing is not the pool's: several adapters on one base model share a card that is given out whole. */
static void name_sharing(struct audit_run *run)
{
    for (size_t i = 0; i < run->pool_count; i++) {
        struct audit_pool *p = &run->pools[i];
        p->shared_by = p->mechanism;
        for (size_t k = run->pair_count; k-- > 0;) /* the longest last */
            if (strcmp(run->pairs[k].node_pool, p->node_pool) == 0)
                p->shared_by = run->pairs[k].mechanism;
    }
}

static void read_requirements(struct audit_reading *r)
{
    struct audit_run *run = r->run;
    sqlite3_stmt *q = results_query(
        r->results, r->err,
        "SELECT t.tenant, t.requires, t.reason, count(s.run), max(s.run IS NOT NULL AND " AUDIT_RANK("s.isolation") " < "
        AUDIT_RANK("t.requires") ")"
        " FROM tenant t LEFT JOIN sharing s ON s.run = t.run AND (s.tenant = t.tenant OR s.other = t.tenant)"
        " WHERE t.run = %lld AND t.requires <> 'none' AND (%Q IS NULL OR t.tenant = %Q)"
        " GROUP BY t.tenant ORDER BY t.tenant",
        (long long)run->run, r->tenant, r->tenant);
    while (results_next(r->results, q, r->err)) {
        struct audit_requirement *t = AUDIT_PUSH(&r->audit->arena, run->requirements, run->requirement_count);
        *t = (struct audit_requirement){.tenant = audit_text(r, q, 0),
                                        .requires = audit_text(r, q, 1),
                                        .reason = audit_text(r, q, 2),
                                        .shared = sqlite3_column_int64(q, 3) > 0,
                                        .broken = sqlite3_column_int(q, 4) != 0};
    }
    sqlite3_finalize(q);
}

/* Cards were shared and nobody is named: a run with --record summary. */
static bool is_nameless(struct audit_reading *r)
{
    bool shared = false;
    for (size_t i = 0; i < r->run->pool_count; i++)
        shared |= r->run->pools[i].shared_card_s > 0;
    return shared && !has_rows(r->results, r->err,
                               results_query(r->results, r->err, "SELECT 1 FROM tenant WHERE run = %lld",
                                             (long long)r->run->run));
}

static void read_run(struct audit_reading *r)
{
    read_pools(r);
    r->run->no_names = is_nameless(r);
    read_pairs(r);
    name_sharing(r->run);
    read_requirements(r);
    audit_read_findings(r);
    audit_read_incidents(r);
    r->audit->finding_count += r->run->finding_count;
}

static void read_runs(struct audit *audit, struct results *results, const struct audit_options *o, struct err *err)
{
    struct audit_reading r = {.audit = audit, .results = results, .tenant = o->tenant, .err = err};
    sqlite3_stmt *q = results_query(results, err,
                                    "SELECT run, min(replication), arbiter, preset, horizon_s, name FROM run"
                                    " LEFT JOIN scenario USING (scenario_hash) WHERE %Q IS NULL OR arbiter = %Q"
                                    " GROUP BY arbiter_ix ORDER BY arbiter_ix",
                                    o->arbiter, o->arbiter);
    while (results_next(results, q, err)) {
        struct audit_run *run = AUDIT_PUSH(&audit->arena, audit->runs, audit->run_count);
        *run = (struct audit_run){.run = sqlite3_column_int64(q, 0),
                                  .replication = sqlite3_column_int64(q, 1),
                                  .arbiter = audit_text(&r, q, 2),
                                  .preset = audit_text(&r, q, 3),
                                  .horizon_s = results_real(q, 4)};
        audit->scenario = audit_text(&r, q, 5);
    }
    sqlite3_finalize(q);
    for (size_t i = 0; i < audit->run_count && err->code == ERR_NONE; i++) {
        r.run = &audit->runs[i];
        read_run(&r);
    }
}

bool audit_read(struct audit *audit, struct results *results, const struct audit_options *options, bool nameless,
                struct err *err)
{
    *audit = (struct audit){.scenario = ""};
    if (!audit_has_tables(results, err)) {
        if (err->code == ERR_NONE)
            err_set(err, ERR_INPUT,
                    "'%s' was written before fleetsim recorded who shares a card; run the scenario again",
                    results->path);
        return false;
    }
    check_names(results, options, err);
    if (err->code == ERR_NONE)
        read_runs(audit, results, options, err);
    for (size_t i = 0; i < audit->run_count && err->code == ERR_NONE && !nameless; i++)
        if (audit->runs[i].no_names)
            err_set(err, ERR_INPUT,
                    "'%s' (--record summary) tells how long cards were shared under %s, but not by whom;"
                    " run the scenario again with --record series",
                    results->path, audit->runs[i].arbiter);
    return err->code == ERR_NONE;
}

void audit_fini(struct audit *audit)
{
    arena_fini(&audit->arena);
    *audit = (struct audit){0};
}

void audit_print(FILE *out, const struct audit *audit, struct results *results, const struct audit_options *options,
                 struct err *err)
{
    if (options->format == ROWS_JSON)
        audit_json(out, audit, results, options, err);
    else if (options->format == ROWS_CSV)
        audit_csv(out, audit, results, options, err);
    else
        audit_table(out, audit, options);
}
