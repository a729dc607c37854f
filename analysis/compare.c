/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values of the headline metrics of one database, [arbiter][replication][metric]. */
struct side {
    struct results *results;
    const char **arbiters;
    size_t arbiter_count, replication_count, metric_count;
    double *values;
    bool *censored; /* [arbiter][metric] */
};

static size_t cell_of(const struct side *side, size_t arbiter, size_t replication)
{
    return (arbiter * side->replication_count + replication) * side->metric_count;
}

static void read_arbiters(struct side *side, struct arena *arena, struct err *err)
{
    size_t capacity = 0;
    const char **names = NULL;
    sqlite3_stmt *q = results_query(side->results, err,
                                    "SELECT arbiter, max(replication) FROM run"
                                    " GROUP BY arbiter ORDER BY arbiter_ix");
    while (results_next(side->results, q, err)) {
        size_t replications = (size_t)sqlite3_column_int64(q, 1) + 1;
        names = mem_grow(names, &capacity, side->arbiter_count + 1, sizeof *names);
        names[side->arbiter_count++] = arena_strdup(arena, results_text(q, 0));
        if (replications > side->replication_count)
            side->replication_count = replications;
    }
    sqlite3_finalize(q);
    side->arbiters = arena_alloc(arena, side->arbiter_count + 1, sizeof *names);
    for (size_t i = 0; i < side->arbiter_count; i++)
        side->arbiters[i] = names[i];
    free(names);
    if (err->code == ERR_NONE && side->arbiter_count == 0)
        err_set(err, ERR_INPUT, "'%s' holds no finished run", side->results->path);
}

static size_t find(const struct side *side, const char *arbiter)
{
    size_t i = 0;
    while (i < side->arbiter_count && strcmp(side->arbiters[i], arbiter) != 0)
        i++;
    return i;
}

static void read_values(struct side *side, struct arena *arena, struct err *err)
{
    const struct metric_def *defs = metric_defs_all(&side->metric_count);
    size_t cells = side->arbiter_count * side->replication_count * side->metric_count;
    side->values = arena_alloc(arena, cells + 1, sizeof *side->values);
    side->censored = arena_alloc(arena, side->arbiter_count * side->metric_count + 1, sizeof(bool));
    for (size_t i = 0; i < cells; i++)
        side->values[i] = (double)NAN;
    sqlite3_stmt *q = results_query(side->results, err,
                                    "SELECT r.arbiter, r.replication, m.name, m.value, m.censored"
                                    " FROM metric m JOIN run r ON r.run = m.run"
                                    " WHERE m.scope_kind = 'all'");
    while (results_next(side->results, q, err)) {
        size_t a = find(side, results_text(q, 0));
        const struct metric_def *def = metric_defs_find(results_text(q, 2));
        if (def == NULL || a == side->arbiter_count)
            continue;
        size_t m = (size_t)(def - defs);
        side->values[cell_of(side, a, (size_t)sqlite3_column_int64(q, 1)) + m] = results_real(q, 3);
        if (sqlite3_column_int(q, 4) != 0)
            side->censored[a * side->metric_count + m] = true;
    }
    sqlite3_finalize(q);
}

static bool side_read(struct side *side, struct results *results, struct arena *arena,
                      struct err *err)
{
    *side = (struct side){.results = results};
    read_arbiters(side, arena, err);
    if (err->code == ERR_NONE)
        read_values(side, arena, err);
    return err->code == ERR_NONE;
}

static enum compare_verdict judge(const struct compare_cell *cell, int better)
{
    const struct interval *d = &cell->difference;
    if (isnan(d->low))
        return COMPARE_UNKNOWN;
    if (d->low <= 0 && d->high >= 0)
        return COMPARE_SAME;
    if (better == 0)
        return COMPARE_OTHER;
    return d->mean * better > 0 ? COMPARE_BETTER : COMPARE_WORSE;
}

/* Both sides of one metric over the replications that both have. */
static struct compare_cell compare_metric(const struct side *a,
                                          size_t arbiter_a,
                                          const struct side *b,
                                          size_t arbiter_b,
                                          size_t metric,
                                          double level)
{
    size_t defs, n = a->replication_count < b->replication_count ? a->replication_count
                                                                 : b->replication_count;
    double *x = mem_alloc(n + 1, sizeof *x), *y = mem_alloc(n + 1, sizeof *y);
    for (size_t r = 0; r < n; r++) {
        x[r] = a->values[cell_of(a, arbiter_a, r) + metric];
        y[r] = b->values[cell_of(b, arbiter_b, r) + metric];
    }
    struct compare_cell cell = {.mean_a = stats_interval(x, n, level).mean,
                                .mean_b = stats_interval(y, n, level).mean,
                                .difference = stats_paired(x, y, n, level),
                                .censored = a->censored[arbiter_a * a->metric_count + metric] ||
                                            b->censored[arbiter_b * b->metric_count + metric]};
    cell.verdict = judge(&cell, metric_defs_all(&defs)[metric].better);
    free(x);
    free(y);
    return cell;
}

static void pair_up(struct compare *c, const struct side *a, const struct side *b, struct err *err)
{
    bool within = a == b;
    size_t *left = arena_alloc(&c->arena, b->arbiter_count + 1, sizeof *left);
    size_t *right = arena_alloc(&c->arena, b->arbiter_count + 1, sizeof *right);
    c->metric_count = a->metric_count;
    c->names_a = arena_alloc(&c->arena, b->arbiter_count + 1, sizeof *c->names_a);
    c->names_b = arena_alloc(&c->arena, b->arbiter_count + 1, sizeof *c->names_b);
    for (size_t i = within ? 1 : 0; i < b->arbiter_count; i++) {
        size_t other = within ? 0 : find(a, b->arbiters[i]);
        if (other == a->arbiter_count)
            continue;
        left[c->pair_count] = other;
        right[c->pair_count] = i;
        c->names_a[c->pair_count] = a->arbiters[other];
        c->names_b[c->pair_count++] = b->arbiters[i];
    }
    if (c->pair_count == 0) {
        if (within)
            err_set(err, ERR_INPUT, "'%s' has one arbiter only: nothing to compare within it",
                    a->results->path);
        else
            err_set(err, ERR_INPUT, "'%s' and '%s' have no arbiter of the same name",
                    a->results->path, b->results->path);
        return;
    }
    c->level = stats_bonferroni(0.95, c->pair_count);
    c->cells = arena_alloc(&c->arena, c->pair_count * c->metric_count, sizeof *c->cells);
    for (size_t p = 0; p < c->pair_count; p++)
        for (size_t m = 0; m < c->metric_count; m++)
            c->cells[p * c->metric_count + m] =
                compare_metric(a, left[p], b, right[p], m, c->level);
}

/* The demand hashes of a database by replication, as one text: "0:00d00d 1:...". */
static char *demand_of(struct results *results, struct arena *arena, struct err *err)
{
    char *text = NULL;
    sqlite3_stmt *q = results_query(results, err,
                                    "SELECT group_concat(h, ' ') FROM (SELECT DISTINCT replication"
                                    " || ':' || demand_hash AS h FROM run ORDER BY replication)");
    if (results_next(results, q, err))
        text = arena_strdup(arena, results_text(q, 0));
    sqlite3_finalize(q);
    return text;
}

static bool same_demand_within(struct results *results, struct err *err)
{
    bool same = false;
    sqlite3_stmt *q = results_query(
        results, err,
        "SELECT count(*) FROM (SELECT 1 FROM run GROUP BY replication"
        " HAVING count(DISTINCT demand_hash) > 1)");
    if (results_next(results, q, err))
        same = sqlite3_column_int(q, 0) == 0;
    sqlite3_finalize(q);
    return same;
}

/* One text is the beginning of the other when one side has more replications. */
static bool check_demand(struct compare *c, struct results *a, struct results *b, bool force,
                         struct err *err)
{
    bool same = same_demand_within(a, err) && (b == NULL || same_demand_within(b, err));
    if (same && b != NULL) {
        const char *x = demand_of(a, &c->arena, err), *y = demand_of(b, &c->arena, err);
        size_t n = x == NULL || y == NULL ? 0 : strlen(x) < strlen(y) ? strlen(x) : strlen(y);
        same = n > 0 && strncmp(x, y, n) == 0;
    }
    c->demand_differs = !same;
    if (err->code == ERR_NONE && !same && !force)
        err_set(err, ERR_INPUT,
                b == NULL ? "the arbiters of '%s' met different demand; --force compares anyway"
                          : "'%s' and '%s' hold different demand, so that their differences would "
                            "not tell the policies apart; --force compares anyway",
                a->path, b == NULL ? "" : b->path);
    return err->code == ERR_NONE;
}

bool compare_read(struct compare *compare,
                  struct results *a,
                  struct results *b,
                  bool force,
                  struct err *err)
{
    struct side left, right;
    *compare = (struct compare){0};
    if (!check_demand(compare, a, b, force, err) || !side_read(&left, a, &compare->arena, err))
        return false;
    if (b != NULL && !side_read(&right, b, &compare->arena, err))
        return false;
    pair_up(compare, &left, b == NULL ? &left : &right, err);
    return err->code == ERR_NONE;
}

void compare_fini(struct compare *compare)
{
    arena_fini(&compare->arena);
    *compare = (struct compare){0};
}

const struct compare_cell *compare_cell(const struct compare *compare, size_t pair, const char *metric)
{
    size_t count;
    const struct metric_def *def = metric_defs_find(metric);
    if (def == NULL || pair >= compare->pair_count)
        return NULL;
    return &compare->cells[pair * compare->metric_count + (size_t)(def - metric_defs_all(&count))];
}
