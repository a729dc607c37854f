/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/explain_standing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table_priv.h"
#include "analysis/wrap.h"
#include "sim/arena.h"
#include "sim/text.h"

enum { INDENT = 7 };

/* ---- reading ---- */

struct reading {
    struct explain_standing *s;
    struct results *results;
    struct err *err;
    int64_t run, t_ns;
    const char *queue;
    bool holdings; /* they are recorded */
    size_t limit;
};

/* Services are not in table `workload`; the row `submitted` tells the priority of anybody. */
static int64_t told_priority(const char *detail)
{
    const char *at = strstr(detail, "priority ");
    return at == NULL ? 0 : strtoll(at + strlen("priority "), NULL, 10);
}

static void add_waiter(struct reading *r, sqlite3_stmt *q, size_t *capacity)
{
    struct explain_standing *s = r->s;
    s->waiters = mem_grow(s->waiters, capacity, s->waiter_count + 1, sizeof *s->waiters);
    s->waiters[s->waiter_count++] = (struct explain_waiter){
        .name = arena_strdup(&s->arena, results_text(q, 0)),
        .evicted = sqlite3_column_int(q, 2) != 0,
        .submitted = sqlite3_column_int64(q, 4),
        .order_ns = sqlite3_column_int64(q, 5),
        .group = arena_strdup(&s->arena, results_text(q, 6)),
        .priority = sqlite3_column_type(q, 8) == SQLITE_NULL ? told_priority(results_text(q, 7)) : sqlite3_column_int64(q, 8),
        .cards = results_real(q, 9) / 1000,
        .since_ns = sqlite3_column_int64(q, 10),
        .same_as = SIZE_MAX};
}

/* Who is somewhere: waiting, admitted, or on its way out. After the release of its quota an evicted
 * workload waits again. */
static void read_states(struct reading *r)
{
    size_t capacity = 0;
    const long long run = r->run, t = r->t_ns;
    sqlite3_stmt *q = results_query(
        r->results, r->err,
        "SELECT l.workload, l.state, l.evicted, %s, s.seq,"
        " coalesce((SELECT max(t_ns) FROM decision WHERE run = %lld AND workload = l.workload AND t_ns <= %lld"
        " AND kind = 'evicted' AND reason = 'PodsReadyTimeout'), s.t_ns), s.reason, s.detail, w.priority, w.cards_milli,"
        " coalesce((SELECT max(t_ns) FROM decision WHERE run = %lld AND workload = l.workload AND t_ns <= %lld"
        " AND kind IN ('submitted', 'evicted', 'released')), s.t_ns)"
        " FROM (SELECT workload, kind = 'evicted' AS evicted, " EXPLAIN_STATE " AS state FROM (SELECT workload, kind, reason,"
        " max(seq) FROM decision WHERE run = %lld AND queue = %Q AND t_ns <= %lld GROUP BY workload)) l"
        " JOIN decision s ON s.run = %lld AND s.workload = l.workload AND s.seq = (SELECT min(seq) FROM decision"
        " WHERE run = %lld AND workload = l.workload) LEFT JOIN workload w ON w.run = %lld AND w.id = l.workload"
        " WHERE l.state <> 'gone'",
        r->holdings ? "EXISTS (SELECT 1 FROM holding h WHERE h.run = s.run AND h.queue = s.queue AND h.workload = l.workload"
                      " AND h.from_ns <= :t AND (h.to_ns IS NULL OR h.to_ns > :t))"
                    : "1",
        run, t, run, t, run, r->queue, t, run, run, run);
    if (q != NULL)
        (void)sqlite3_bind_int64(q, sqlite3_bind_parameter_index(q, ":t"), t);
    while (results_next(r->results, q, r->err)) {
        const char *state = results_text(q, 1);
        if (strcmp(state, "holds") == 0)
            r->s->admitted++;
        else if (strcmp(state, "leaves") == 0 && sqlite3_column_int(q, 3) != 0)
            r->s->leaving++;
        else
            add_waiter(r, q, &capacity);
    }
    sqlite3_finalize(q);
}

static int by_rank(const void *a, const void *b)
{
    const struct explain_waiter *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->order_ns != y->order_ns)
        return x->order_ns < y->order_ns ? -1 : 1;
    return (x->submitted > y->submitted) - (x->submitted < y->submitted);
}

/* The last that anybody of its group was told, or it itself since its eviction. */
static void read_word(struct reading *r, struct explain_waiter *w)
{
    const size_t before = r->s->said.count;
    explain_rows_read(&r->s->said, r->results,
                      results_query(r->results, r->err,
                                    "SELECT " EXPLAIN_COLUMNS " FROM decision d WHERE run = %lld AND queue = %Q AND t_ns <= %lld"
                                    " AND (kind IN ('waiting', 'skipped', 'preempting') AND (workload = %Q OR"
                                    " EXISTS (SELECT 1 FROM decision s WHERE s.run = d.run AND s.workload = d.workload"
                                    " AND s.kind = 'submitted' AND s.reason = %Q)) OR %d AND workload = %Q AND kind = 'evicted')"
                                    " ORDER BY seq DESC LIMIT 1",
                                    (long long)r->run, r->queue, (long long)r->t_ns, w->name, w->group, w->evicted, w->name),
                      r->err);
    if (r->s->said.count == before)
        explain_rows_add(&r->s->said, (struct explain_row){.seq = -1, .workload = w->name, .queue = r->queue, .kind = "waiting",
                                                           .reason = "QueueOrder", .detail = ""});
    struct explain_row *said = &r->s->said.items[before];
    said->of_group = strcmp(said->workload, w->name) != 0;
}

static bool same_group(const struct explain_waiter *a, const struct explain_waiter *b)
{
    return strncmp(a->group, "group ", strlen("group ")) == 0 && strcmp(a->group, b->group) == 0 && !a->evicted && !b->evicted;
}

static void read_words(struct reading *r)
{
    struct explain_standing *s = r->s;
    const size_t most = r->limit == 0 || r->limit > s->waiter_count ? s->waiter_count : r->limit;
    for (size_t i = 0; i < most && r->err->code == ERR_NONE; i++) {
        for (size_t k = 0; k < i && s->waiters[i].same_as == SIZE_MAX; k++)
            if (s->waiters[k].same_as == SIZE_MAX && same_group(&s->waiters[k], &s->waiters[i]))
                s->waiters[i].same_as = k;
        read_word(r, &s->waiters[i]);
    }
    explain_tries_read(&s->said, r->results, r->run, r->err);
    explain_beside_read(&s->said, r->results, r->run, r->err);
}

static void read_holders(struct reading *r)
{
    struct explain_standing *s = r->s;
    size_t capacity = 0;
    sqlite3_stmt *q = results_query(
        r->results, r->err,
        "SELECT workload, group_concat(DISTINCT flavor), resource, sum(amount) AS amount, min(from_ns) FROM holding"
        " WHERE run = %lld AND queue = %Q AND from_ns <= %lld AND (to_ns IS NULL OR to_ns > %lld) AND resource ="
        " (SELECT resource FROM quota_node WHERE run = %lld AND kind = 'queue' AND node = %Q"
        " ORDER BY resource NOT LIKE '%%gpu%%', resource <> 'cpu', rowid LIMIT 1)"
        " GROUP BY workload ORDER BY amount DESC, min(from_ns), workload LIMIT %lld",
        (long long)r->run, r->queue, (long long)r->t_ns, (long long)r->t_ns, (long long)r->run, r->queue,
        r->limit == 0 ? -1LL : (long long)r->limit);
    while (results_next(r->results, q, r->err)) {
        s->holders = mem_grow(s->holders, &capacity, s->holder_count + 1, sizeof *s->holders);
        s->holders[s->holder_count++] = (struct explain_holder){.name = arena_strdup(&s->arena, results_text(q, 0)),
                                                                .flavor = arena_strdup(&s->arena, results_text(q, 1)),
                                                                .resource = arena_strdup(&s->arena, results_text(q, 2)),
                                                                .amount = results_real(q, 3),
                                                                .from_ns = sqlite3_column_int64(q, 4)};
    }
    sqlite3_finalize(q);
}

void explain_standing_read(struct explain_standing *s, struct results *results, int64_t run, const char *queue, int64_t t_ns,
                           size_t limit, struct err *err)
{
    struct reading r = {.s = s, .results = results, .err = err, .run = run, .t_ns = t_ns, .queue = queue, .limit = limit};
    *s = (struct explain_standing){.admitted = 0};
    r.holdings = explain_has_holdings(results, run, err);
    read_states(&r);
    if (s->waiter_count > 1)
        qsort(s->waiters, s->waiter_count, sizeof *s->waiters, by_rank);
    read_words(&r);
    if (r.holdings)
        read_holders(&r);
}

void explain_standing_fini(struct explain_standing *s)
{
    explain_rows_fini(&s->said);
    arena_fini(&s->arena);
    free(s->waiters);
    free(s->holders);
    *s = (struct explain_standing){.admitted = 0};
}

/* ---- text ---- */

static void wrapped(FILE *out, const char *text)
{
    fprintf(out, "%*s", INDENT, "");
    wrap_print(out, text, TABLE_WIDTH, INDENT, INDENT + 2);
}

static void word_text(FILE *out, const struct explain_row *said)
{
    char line[700], lacks[400], when[FIGURE_SIZE];
    struct text t = TEXT(line);
    line[0] = '\0';
    text_say(&t, "%s%s", strcmp(said->kind, "evicted") == 0 ? "evicted, " : "", said->reason);
    if (said->seq >= 0) {
        regress_time_text(when, (double)said->t_ns / 1e9);
        text_say(&t, ", told at %s", when);
    }
    if (said->of_group)
        text_say(&t, " to %.160s of its group", said->workload);
    if (said->repeats > 0)
        text_say(&t, ", repeated %lld time%s", (long long)said->repeats, said->repeats == 1 ? "" : "s");
    wrapped(out, line);
    if (said->try_count == 0 && said->share_count == 0 && said->spared_count == 0 && said->detail[0] != '\0')
        wrapped(out, said->detail);
    explain_tries_text(out, said, INDENT);
    explain_beside_text(out, said, INDENT);
    const char *wakes = explain_wakes(said->kind, said->reason);
    if (wakes[0] == '\0')
        return;
    explain_tries_missing(said, lacks, sizeof lacks);
    (void)snprintf(line, sizeof line, "wakes when: %s%s", wakes, lacks);
    wrapped(out, line);
}

void explain_waiter_text(FILE *out, const struct explain_standing *s, size_t i)
{
    const struct explain_waiter *w = &s->waiters[i];
    char head[400], when[FIGURE_SIZE];
    struct text t = TEXT(head);
    head[0] = '\0';
    regress_time_text(when, (double)w->since_ns / 1e9);
    text_say(&t, "%.160s, priority %lld", w->name, (long long)w->priority);
    if (!isnan(w->cards))
        text_say(&t, ", asks %.10g", w->cards);
    text_say(&t, ", since %s", when);
    fprintf(out, "  %3zu  ", i + 1);
    wrap_print(out, head, TABLE_WIDTH, INDENT, INDENT + 2);
    if (w->same_as == SIZE_MAX) {
        word_text(out, &s->said.items[i]);
        return;
    }
    (void)snprintf(head, sizeof head, "as number %zu (the same queue, shape and priority)", w->same_as + 1);
    wrapped(out, head);
}

static void holder_text(FILE *out, const struct explain_holder *h)
{
    char line[400], when[FIGURE_SIZE];
    regress_time_text(when, (double)h->from_ns / 1e9);
    (void)snprintf(line, sizeof line, "%.160s: %.10g %.60s on %.60s, since %s", h->name, h->amount, h->resource, h->flavor, when);
    wrapped(out, line);
}

void explain_standing_text(FILE *out, const struct explain_standing *s)
{
    fprintf(out, "\n  waiting: %zu%s\n", s->waiter_count, s->waiter_count > 1 ? ", by priority, then time" : "");
    for (size_t i = 0; i < s->said.count; i++)
        explain_waiter_text(out, s, i);
    if (s->said.count < s->waiter_count)
        fprintf(out, "       and %zu more; all with --limit 0\n", s->waiter_count - s->said.count);
    fprintf(out, "\n  admitted: %zu", s->admitted);
    if (s->leaving > 0)
        fprintf(out, ", and %zu evicted that still hold%s quota", s->leaving, s->leaving == 1 ? "s" : "");
    fputs(s->holder_count > 0 ? "; the largest:\n" : "\n", out);
    for (size_t i = 0; i < s->holder_count; i++)
        holder_text(out, &s->holders[i]);
}

/* ---- JSON ---- */

static void text_field(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\": ", key);
    rows_out_text(out, ROWS_JSON, text);
}

void explain_waiter_json(FILE *out, const struct explain_standing *s, size_t i)
{
    const struct explain_waiter *w = &s->waiters[i];
    fprintf(out, "{\"rank\": %zu, ", i + 1);
    text_field(out, "workload", w->name);
    fprintf(out, ", \"priority\": %lld, \"since_ns\": %lld, \"asks\": ", (long long)w->priority, (long long)w->since_ns);
    rows_out_real(out, ROWS_JSON, w->cards);
    fputs(", \"said\": ", out);
    explain_row_json(out, &s->said.items[i]);
    putc('}', out);
}

void explain_standing_json(FILE *out, const struct explain_standing *s)
{
    fprintf(out, ",\n  \"waiting_count\": %zu, \"waiting\": [", s->waiter_count);
    for (size_t i = 0; i < s->said.count; i++) {
        fputs(i == 0 ? "\n    " : ",\n    ", out);
        explain_waiter_json(out, s, i);
    }
    fprintf(out, "],\n  \"admitted\": %zu, \"leaving\": %zu, \"largest\": [", s->admitted, s->leaving);
    for (size_t i = 0; i < s->holder_count; i++) {
        const struct explain_holder *h = &s->holders[i];
        fputs(i == 0 ? "{" : ", {", out);
        text_field(out, "workload", h->name);
        fputs(", ", out);
        text_field(out, "flavor", h->flavor);
        fputs(", ", out);
        text_field(out, "resource", h->resource);
        fputs(", \"amount\": ", out);
        rows_out_real(out, ROWS_JSON, h->amount);
        fprintf(out, ", \"from_ns\": %lld}", (long long)h->from_ns);
    }
    putc(']', out);
}
