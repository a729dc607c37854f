/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The audit for programs: one row per card and pair, with both requirements beside it. */
#include "analysis/audit_priv.h"

#define PAIR_COLUMNS                                                                                \
    "s.node_pool, s.node, s.card, s.mechanism, s.isolation, s.tenant, s.other, s.from_s, s.to_s,"   \
    " s.shared_s / 3600 AS shared_h, s.times, a.requires AS tenant_requires,"                       \
    " b.requires AS other_requires, " AUDIT_RANK("s.isolation") " < max("                           \
    AUDIT_RANK("a.requires") ", " AUDIT_RANK("b.requires") ") AS finding"
#define PAIR_TABLES                                                                                 \
    " FROM sharing s JOIN run r USING (run) LEFT JOIN tenant a ON a.run = s.run AND"                \
    " a.tenant = s.tenant LEFT JOIN tenant b ON b.run = s.run AND b.tenant = s.other"
#define PAIR_ORDER " ORDER BY r.arbiter_ix, s.node_pool, s.node, s.card, s.tenant, s.other"

/* Runs of the audit: the lowest replication of each arbiter. */
#define AUDITED                                                                                     \
    " r.replication = (SELECT min(replication) FROM run x WHERE x.arbiter_ix = r.arbiter_ix)"       \
    " AND (%Q IS NULL OR r.arbiter = %Q) AND (%Q IS NULL OR s.tenant = %Q OR s.other = %Q)"

void audit_csv(FILE *out, const struct audit *audit, struct results *results, const struct audit_options *options,
               struct err *err)
{
    (void)audit;
    sqlite3_stmt *q = results_query(results, err, "SELECT r.arbiter, " PAIR_COLUMNS PAIR_TABLES " WHERE" AUDITED PAIR_ORDER,
                                    options->arbiter, options->arbiter, options->tenant, options->tenant,
                                    options->tenant);
    rows_out_query(out, ROWS_CSV, results, q, err);
    sqlite3_finalize(q);
}

static void text(FILE *out, const char *name, const char *value)
{
    fprintf(out, ", \"%s\": ", name);
    rows_out_text(out, ROWS_JSON, value);
}

static void whole(FILE *out, const char *name, int64_t value)
{
    fprintf(out, ", \"%s\": %lld", name, (long long)value);
}

static void real(FILE *out, const char *name, double value)
{
    fprintf(out, ", \"%s\": ", name);
    rows_out_real(out, ROWS_JSON, value);
}

static void first_text(FILE *out, size_t i, const char *name, const char *value)
{
    fprintf(out, "%s\n    {\"%s\": ", i == 0 ? "" : ",", name);
    rows_out_text(out, ROWS_JSON, value);
}

static void findings(FILE *out, const struct audit_run *run)
{
    fputs(",\n   \"findings\": [", out);
    for (size_t i = 0; i < run->finding_count; i++) {
        const struct audit_finding *f = &run->findings[i];
        first_text(out, i, "tenant", f->tenant);
        text(out, "requires", f->requires);
        text(out, "reason", f->reason[0] == '\0' ? NULL : f->reason);
        text(out, "node_pool", f->node_pool);
        text(out, "mechanism", f->mechanism);
        text(out, "isolation", f->isolation);
        real(out, "shared_h", f->shared_s / 3600);
        whole(out, "died_for_others", f->died_for_others);
        real(out, "lost_card_h", f->lost_card_s / 3600);
        fputs(",\n     \"with\": [", out);
        for (size_t k = 0; k < f->other_count; k++) {
            fprintf(out, "%s{\"tenant\": ", k == 0 ? "" : ", ");
            rows_out_text(out, ROWS_JSON, f->others[k].name);
            whole(out, "cards", f->others[k].cards);
            real(out, "shared_h", f->others[k].shared_s / 3600);
            putc('}', out);
        }
        fputs("],\n     \"cards\": [", out);
        for (size_t k = 0; k < f->card_count; k++) {
            fprintf(out, "%s{\"node\": %lld", k == 0 ? "" : ", ", (long long)f->cards[k].node);
            whole(out, "card", f->cards[k].card);
            real(out, "shared_h", f->cards[k].shared_s / 3600);
            putc('}', out);
        }
        fputs("]}", out);
    }
    putc(']', out);
}

static void requirements(FILE *out, const struct audit_run *run)
{
    fputs(",\n   \"requirements\": [", out);
    for (size_t i = 0; i < run->requirement_count; i++) {
        const struct audit_requirement *t = &run->requirements[i];
        first_text(out, i, "tenant", t->tenant);
        text(out, "requires", t->requires);
        text(out, "reason", t->reason[0] == '\0' ? NULL : t->reason);
        fprintf(out, ", \"shared\": %s, \"held\": %s}", t->shared ? "true" : "false", t->broken ? "false" : "true");
    }
    putc(']', out);
}

static void incidents(FILE *out, const struct audit_run *run)
{
    fputs(",\n   \"incidents\": [", out);
    for (size_t i = 0; i < run->incident_count; i++) {
        const struct audit_incident *x = &run->incidents[i];
        first_text(out, i, "cause", x->cause);
        whole(out, "incident", x->incident);
        real(out, "t_s", x->t_s);
        text(out, "node_pool", x->node_pool);
        whole(out, "node", x->node);
        whole(out, "card", x->card);
        text(out, "mechanism", x->mechanism);
        text(out, "isolation", x->isolation);
        text(out, "culprit", x->culprit);
        text(out, "victims", x->victims);
        whole(out, "victim_count", x->victim_count);
        whole(out, "of_others", x->others);
        real(out, "lost_card_h", x->lost_card_s / 3600);
        putc('}', out);
    }
    putc(']', out);
}

static void pools(FILE *out, const struct audit_run *run)
{
    fputs(",\n   \"node_pools\": [", out);
    for (size_t i = 0; i < run->pool_count; i++) {
        const struct audit_pool *p = &run->pools[i];
        first_text(out, i, "node_pool", p->node_pool);
        text(out, "card", p->card);
        text(out, "mechanism", p->mechanism);
        text(out, "shared_by", p->shared_by);
        text(out, "isolation", p->isolation);
        whole(out, "cards", p->cards);
        whole(out, "cards_peak", p->cards_peak);
        real(out, "cards_mean", p->cards_mean);
        real(out, "tenants_mean", p->tenants_mean);
        real(out, "shared_card_h", p->shared_card_s / 3600);
        real(out, "computing_card_h", p->computing_card_s / 3600);
        whole(out, "incidents", p->incidents);
        whole(out, "victims", p->victims);
        putc('}', out);
    }
    putc(']', out);
}

void audit_json(FILE *out, const struct audit *audit, struct results *results, const struct audit_options *options,
                struct err *err)
{
    fprintf(out, "{\"findings\": %zu, \"scenario\": ", audit->finding_count);
    rows_out_text(out, ROWS_JSON, audit->scenario);
    fputs(", \"runs\": [", out);
    for (size_t i = 0; i < audit->run_count && err->code == ERR_NONE; i++) {
        const struct audit_run *run = &audit->runs[i];
        fprintf(out, "%s\n  {\"arbiter\": ", i == 0 ? "" : ",");
        rows_out_text(out, ROWS_JSON, run->arbiter);
        whole(out, "replication", run->replication);
        real(out, "horizon_s", run->horizon_s);
        findings(out, run);
        requirements(out, run);
        fputs(",\n   \"sharing\": ", out);
        sqlite3_stmt *q = results_query(results, err,
                                        "SELECT " PAIR_COLUMNS PAIR_TABLES
                                        " WHERE s.run = %lld AND (%Q IS NULL OR s.tenant = %Q OR s.other = %Q)" PAIR_ORDER,
                                        (long long)run->run, options->tenant, options->tenant, options->tenant);
        rows_out_query(out, ROWS_JSON, results, q, err);
        sqlite3_finalize(q);
        incidents(out, run);
        pools(out, run);
        putc('}', out);
    }
    fputs("]}\n", out);
}
