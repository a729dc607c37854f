/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/regress_priv.h"

static void text(FILE *out, const char *key, const char *value)
{
    fprintf(out, "\"%s\": ", key);
    rows_out_text(out, ROWS_JSON, value);
}

static void real(FILE *out, const char *key, double value)
{
    fprintf(out, ", \"%s\": ", key);
    rows_out_real(out, ROWS_JSON, value);
}

static void more_text(FILE *out, const char *key, const char *value)
{
    fputs(", ", out);
    text(out, key, value);
}

static void number(FILE *out, const char *key, int64_t value)
{
    fprintf(out, ", \"%s\": %lld", key, (long long)value);
}

static void finding(FILE *out, const struct regress_finding *f)
{
    putc('{', out);
    text(out, "arbiter", f->arbiter);
    more_text(out, "metric", f->def->name);
    more_text(out, "scope_kind", f->kind);
    more_text(out, "scope", f->scope);
    more_text(out, "unit", f->def->unit);
    more_text(out, "verdict", regress_verdict_word(f->verdict));
    real(out, "before", f->before);
    real(out, "after", f->after);
    real(out, "change", f->change.mean);
    real(out, "low", f->change.low);
    real(out, "high", f->change.high);
    real(out, "allowed", f->allowed);
    number(out, "replications", (int64_t)f->change.count);
    fprintf(out, ", \"censored\": %s}", f->censored ? "true" : "false");
}

static void job(FILE *out, const struct regress_job *j)
{
    putc('{', out);
    text(out, "arbiter", j->arbiter);
    number(out, "replication", j->replication);
    more_text(out, "id", j->id);
    more_text(out, "team", j->team);
    more_text(out, "queue", j->queue);
    number(out, "priority", j->priority);
    number(out, "cards_milli", j->cards_milli);
    real(out, "wait_before_s", j->wait_before_s);
    real(out, "wait_after_s", j->wait_after_s);
    fprintf(out, ", \"started_before\": %s, \"started_after\": %s", j->started_before ? "true" : "false",
            j->started_after ? "true" : "false");
    number(out, "evictions_before", j->evictions_before);
    number(out, "evictions_after", j->evictions_after);
    real(out, "rework_after_card_s", j->rework_after_card_s);
    more_text(out, "wait_reason", j->reason[0] != '\0' ? j->reason : NULL);
    putc('}', out);
}

static void jobs(FILE *out, const char *key, const struct regress_jobs *list)
{
    fprintf(out, "  \"%s\": {\"total\": %lld, \"worst\": [", key, (long long)list->total);
    for (size_t i = 0; i < list->count; i++) {
        fputs(i == 0 ? "\n    " : ",\n    ", out);
        job(out, &list->items[i]);
    }
    fputs("]},\n", out);
}

static void side(FILE *out, const char *key, const struct regress_side *s)
{
    fprintf(out, ", \"%s\": ", key);
    if (!s->found) {
        fputs("null", out);
        return;
    }
    fprintf(out, "{\"t_ns\": %lld", (long long)s->t_ns);
    more_text(out, "kind", s->kind);
    more_text(out, "reason", s->reason);
    more_text(out, "detail", s->detail[0] != '\0' ? s->detail : NULL);
    putc('}', out);
}

static void differences(FILE *out, const struct regress *r)
{
    fputs("  \"first_decisions\": [", out);
    for (size_t i = 0; i < r->difference_count; i++) {
        const struct regress_difference *d = &r->differences[i];
        fputs(i == 0 ? "\n    {" : ",\n    {", out);
        text(out, "arbiter", d->arbiter);
        number(out, "replication", d->replication);
        number(out, "t_ns", d->t_ns);
        more_text(out, "workload", d->workload);
        more_text(out, "queue", d->queue);
        side(out, "before", &d->before);
        side(out, "after", &d->after);
        putc('}', out);
    }
    fputs("],\n", out);
}

void regress_json(FILE *out, const struct regress *r)
{
    fputs("{\n  ", out);
    text(out, "before", r->path_before);
    more_text(out, "after", r->path_after);
    number(out, "status", regress_status(r));
    number(out, "replications", r->replications);
    for (int v = 0; v <= REGRESS_WORSE; v++)
        number(out, regress_verdict_word((enum regress_verdict)v), (int64_t)r->counts[v]);
    number(out, "loops_before", r->loops_before);
    number(out, "loops_after", r->loops_after);
    number(out, "jobs_paired", r->jobs_paired);
    fputs(",\n  \"findings\": [", out);
    for (size_t i = 0; i < r->finding_count; i++) {
        fputs(i == 0 ? "\n    " : ",\n    ", out);
        finding(out, &r->findings[i]);
    }
    fputs("],\n", out);
    jobs(out, "wait_longer", &r->longer);
    jobs(out, "newly_evicted", &r->evicted);
    differences(out, r);
    fputs("  \"notes\": [", out);
    for (size_t i = 0; i < r->note_count; i++) {
        fputs(i == 0 ? "" : ", ", out);
        rows_out_text(out, ROWS_JSON, r->notes[i]);
    }
    fputs("]\n}\n", out);
}
