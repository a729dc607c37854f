/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings: sharing with less isolation than a tenant requires; and incidents with their victims. */
#include <string.h>

#include "analysis/audit_priv.h"

/* Rows of `sharing` that belong to a finding, and the other tenant of each. */
#define WITHIN                                                                                      \
    " FROM sharing WHERE run = %lld AND (tenant = %Q OR other = %Q) AND node_pool = %Q"             \
    " AND mechanism = %Q AND isolation = %Q "
#define WITHIN_OF(r, f)                                                                             \
    (long long)(r)->run->run, (f)->tenant, (f)->tenant, (f)->node_pool, (f)->mechanism, (f)->isolation

static void read_others(struct audit_reading *r, struct audit_finding *f)
{
    sqlite3_stmt *q = results_query(r->results, r->err,
                                    "SELECT CASE tenant WHEN %Q THEN other ELSE tenant END AS o, count(*),"
                                    " sum(shared_s) AS t" WITHIN "GROUP BY o ORDER BY t DESC, o",
                                    f->tenant, WITHIN_OF(r, f));
    while (results_next(r->results, q, r->err)) {
        struct audit_other *o = AUDIT_PUSH(&r->audit->arena, f->others, f->other_count);
        *o = (struct audit_other){audit_text(r, q, 0), sqlite3_column_int64(q, 1), results_real(q, 2)};
        f->shared_s += o->shared_s;
    }
    sqlite3_finalize(q);
}

static void read_cards(struct audit_reading *r, struct audit_finding *f)
{
    sqlite3_stmt *q = results_query(r->results, r->err,
                                    "SELECT node, card, sum(shared_s)" WITHIN "GROUP BY node, card ORDER BY node, card",
                                    WITHIN_OF(r, f));
    while (results_next(r->results, q, r->err)) {
        struct audit_card *c = AUDIT_PUSH(&r->audit->arena, f->cards, f->card_count);
        *c = (struct audit_card){sqlite3_column_int64(q, 0), sqlite3_column_int64(q, 1), results_real(q, 2)};
    }
    sqlite3_finalize(q);
}

static void read_losses(struct audit_reading *r, struct audit_finding *f)
{
    sqlite3_stmt *q = results_query(r->results, r->err,
                                    "SELECT count(*), total(lost_card_s) FROM incident WHERE run = %lld AND victim = %Q"
                                    " AND culprit <> victim AND node_pool = %Q AND mechanism = %Q",
                                    (long long)r->run->run, f->tenant, f->node_pool, f->mechanism);
    if (results_next(r->results, q, r->err)) {
        f->died_for_others = sqlite3_column_int64(q, 0);
        f->lost_card_s = results_real(q, 1);
    }
    sqlite3_finalize(q);
}

void audit_read_findings(struct audit_reading *r)
{
    struct audit_run *run = r->run;
    sqlite3_stmt *q = results_query(
        r->results, r->err,
        "SELECT DISTINCT t.tenant, t.requires, t.reason, s.node_pool, s.mechanism, s.isolation FROM tenant t"
        " JOIN sharing s ON s.run = t.run AND (s.tenant = t.tenant OR s.other = t.tenant)"
        " WHERE t.run = %lld AND " AUDIT_RANK("s.isolation") " < " AUDIT_RANK("t.requires")
        " AND (%Q IS NULL OR t.tenant = %Q)"
        " ORDER BY t.tenant, s.node_pool, s.mechanism, s.isolation",
        (long long)run->run, r->tenant, r->tenant);
    while (results_next(r->results, q, r->err)) {
        struct audit_finding *f = AUDIT_PUSH(&r->audit->arena, run->findings, run->finding_count);
        *f = (struct audit_finding){.tenant = audit_text(r, q, 0),
                                    .requires = audit_text(r, q, 1),
                                    .reason = audit_text(r, q, 2),
                                    .node_pool = audit_text(r, q, 3),
                                    .mechanism = audit_text(r, q, 4),
                                    .isolation = audit_text(r, q, 5)};
    }
    sqlite3_finalize(q);
    for (size_t i = 0; i < run->finding_count; i++) {
        read_others(r, &run->findings[i]);
        read_cards(r, &run->findings[i]);
        read_losses(r, &run->findings[i]);
    }
}

void audit_read_incidents(struct audit_reading *r)
{
    struct audit_run *run = r->run;
    sqlite3_stmt *q = results_query(
        r->results, r->err,
        "SELECT incident, min(t_s), cause, node_pool, node, card, mechanism, isolation, culprit, sum(n),"
        " total(CASE WHEN victim <> culprit THEN n END), sum(lost), group_concat(victim ||"
        "  CASE n WHEN 1 THEN '' ELSE ' (' || n || ' times)' END, ', ')"
        " FROM (SELECT incident, t_s, cause, node_pool, node, card, mechanism, isolation, culprit, victim,"
        "  count(*) AS n, sum(lost_card_s) AS lost FROM incident WHERE run = %lld AND (%Q IS NULL OR incident IN"
        "  (SELECT incident FROM incident WHERE run = %lld AND (culprit = %Q OR victim = %Q)))"
        "  GROUP BY incident, victim ORDER BY incident, victim)"
        " GROUP BY incident ORDER BY incident",
        (long long)run->run, r->tenant, (long long)run->run, r->tenant, r->tenant);
    while (results_next(r->results, q, r->err)) {
        struct audit_incident *i = AUDIT_PUSH(&r->audit->arena, run->incidents, run->incident_count);
        *i = (struct audit_incident){.incident = sqlite3_column_int64(q, 0),
                                     .t_s = results_real(q, 1),
                                     .cause = audit_text(r, q, 2),
                                     .node_pool = audit_text(r, q, 3),
                                     .node = sqlite3_column_int64(q, 4),
                                     .card = sqlite3_column_int64(q, 5),
                                     .mechanism = audit_text(r, q, 6),
                                     .isolation = audit_text(r, q, 7),
                                     .culprit = audit_text(r, q, 8),
                                     .victim_count = sqlite3_column_int64(q, 9),
                                     .others = sqlite3_column_int64(q, 10),
                                     .lost_card_s = results_real(q, 11),
                                     .victims = audit_text(r, q, 12)};
    }
    sqlite3_finalize(q);
}
