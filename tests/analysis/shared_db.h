/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A database in which tenants share cards, chosen by hand so that every figure can be added up on
 * paper. One day, one pool a100 of 8 cards, five tenants:
 *   fraud     requires hardware (PCI-DSS)      ledger  requires hardware (BACEN 4.893)
 *   chat      requires software                tune-a, tune-b  require nothing
 * Under 'slicing' (time-slicing, none) fraud shares card 0/0 with chat for 2 h and with tune-a for
 * 1 h, and card 0/1 with tune-a for 3 h; chat shares 0/0 with tune-a for 1 h; tune-a and tune-b
 * share 1/0 for 5 h; ledger shares nothing. One fault of tune-a takes fraud and chat with it; one
 * allocation of tune-b when the card is full kills tune-a.
 * Under 'mig' (hardware) fraud shares 0/0 with chat for 4 h; tune-b exceeds its memory, alone.
 * Under 'whole' nobody shares. 'managed' has no cards.
 */
#ifndef TESTS_ANALYSIS_SHARED_DB_H
#define TESTS_ANALYSIS_SHARED_DB_H

#include "analysis/store/store.h"
#include "models/world/tables.h"

#define SHARED_FINDINGS 2 /* fraud and chat under slicing */

struct shared_db {
    bool nameless; /* as --record summary: no tenants, no pairs, no incidents */
};

static inline void shared_tenants(const struct record_sink *sink, int64_t run)
{
    static const char *const t[][4] = {{"chat", "service", "software", NULL},
                                       {"fraud", "service", "hardware", "PCI-DSS"},
                                       {"ledger", "service", "hardware", "BACEN 4.893"},
                                       {"tune-a", "jobs", "none", NULL},
                                       {"tune-b", "jobs", "none", NULL}};
    for (int i = 0; i < 5; i++) {
        struct record_value v[] = {rec_int(run),       rec_text(t[i][0]), rec_text(t[i][1]),
                                   rec_text("bank"), rec_text(t[i][2]), rec_text(t[i][3])};
        record_row(sink, &table_tenant, v);
    }
}

static inline void shared_pair(const struct record_sink *sink, int64_t run, const char *mechanism,
                               const char *isolation, int node, int card, const char *tenant, const char *other,
                               double hours)
{
    struct record_value v[] = {rec_int(run),        rec_text("a100"),   rec_int(node),    rec_int(card),
                               rec_text(mechanism), rec_text(isolation), rec_text(tenant), rec_text(other),
                               rec_real(3600),      rec_real(3600 + 3600 * hours), rec_real(3600 * hours), rec_int(1)};
    record_row(sink, &table_sharing, v);
}

static inline void shared_victim(const struct record_sink *sink, int64_t run, int incident, const char *cause,
                                 const char *mechanism, const char *isolation, int node, const char *culprit,
                                 const char *victim, double lost_h)
{
    struct record_value v[] = {rec_int(run),        rec_int(incident),   rec_real(7200 + 3600 * incident),
                               rec_text(cause),     rec_text("a100"),    rec_int(node),   rec_int(0),
                               rec_text(mechanism), rec_text(isolation), rec_text(culprit), rec_text(victim),
                               rec_real(3600 * lost_h)};
    record_row(sink, &table_incident, v);
}

static inline void shared_pool(const struct record_sink *sink, int64_t run, const char *mechanism,
                               const char *isolation, int peak, double shared_h, int incidents, int victims)
{
    struct record_value v[] = {rec_int(run),      rec_text("a100"), rec_text("A100-80"),
                               rec_text(mechanism), rec_text(isolation), rec_int(8),
                               rec_int(peak),     rec_real(peak / 2.0), rec_real(1.5),
                               rec_real(3600 * shared_h), rec_int(incidents), rec_int(victims)};
    record_row(sink, &table_sharing_pool, v);
}

/* Computing for half of the time that the pool's cards had a tenant. */
static inline void shared_ledger(const struct record_sink *sink, int64_t run, int peak)
{
    struct record_value v[] = {rec_int(run),      rec_int(0),        rec_text("a100"),
                               rec_text("owned"), rec_text("bank"), rec_text("replica"),
                               rec_text("serving"), rec_int(peak * 86400 / 4), rec_int(0)};
    record_row(sink, &table_ledger, v);
}

static inline void shared_slicing(const struct record_sink *s, int64_t run)
{
    const char *m = "time-slicing", *i = "none";
    shared_tenants(s, run);
    shared_pair(s, run, m, i, 0, 0, "chat", "fraud", 2);
    shared_pair(s, run, m, i, 0, 0, "fraud", "tune-a", 1);
    shared_pair(s, run, m, i, 0, 1, "fraud", "tune-a", 3);
    shared_pair(s, run, m, i, 0, 0, "chat", "tune-a", 1);
    shared_pair(s, run, m, i, 1, 0, "tune-a", "tune-b", 5);
    shared_victim(s, run, 1, "fault", m, i, 0, "tune-a", "tune-a", 0.25);
    shared_victim(s, run, 1, "fault", m, i, 0, "tune-a", "fraud", 0.5);
    shared_victim(s, run, 1, "fault", m, i, 0, "tune-a", "chat", 0.25);
    shared_victim(s, run, 2, "card-full", m, i, 1, "tune-b", "tune-a", 1);
}

static inline void shared_mig(const struct record_sink *s, int64_t run)
{
    shared_tenants(s, run);
    shared_pair(s, run, "mig", "hardware", 0, 0, "chat", "fraud", 4);
    shared_victim(s, run, 1, "over-limit", "mig", "hardware", 1, "tune-b", "tune-b", 0.5);
}

static inline bool shared_db(const char *path, const struct shared_db *o, struct err *err)
{
    static const char *const arbiters[] = {"whole", "mig", "slicing", "managed"};
    struct store *store = store_create(path, world_tables, err);
    if (store == NULL)
        return false;
    struct record_sink s = store_sink(store);
    for (int64_t run = 0; run < 4; run++) {
        struct store_run r = {.run = run, .arbiter_ix = run, .arbiter = arbiters[run],
                              .preset = run == 3 ? "managed" : "cohort", .horizon_s = 86400, .scenario_name = "shared",
                              .scenario_text = "name: shared\n", .demand_hash = 1};
        store_add_run(store, &r);
        struct record_value v[] = {rec_int(run), rec_text("all"), rec_text(""), rec_text("inference.latency.p99"),
                                   rec_real(1.0 + (double)run), rec_int(0)};
        record_row(&s, &table_metric, v);
        if (run < 3)
            shared_ledger(&s, run, run == 0 ? 8 : 4);
    }
    if (!o->nameless) {
        shared_tenants(&s, 0);
        shared_mig(&s, 1);
        shared_slicing(&s, 2);
    }
    shared_pool(&s, 0, "whole", "exclusive", 8, 0, 0, 0);
    shared_pool(&s, 1, "mig", "hardware", 4, 4, 1, 1);
    shared_pool(&s, 2, "time-slicing", "none", 4, 10, 2, 4);
    return store_commit(store, err);
}

#endif
