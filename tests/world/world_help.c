/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/world/world_help.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/ledger/i128.h"
#include "scenarios/load/load.h"
#include "sim/arena.h"
#include "tests/store/scratch.h"

struct row {
    const struct record_table *table;
    struct record_value values[RECORD_FIELDS_MAX]; /* texts are owned by the arena */
};

struct told {
    struct arena arena;
    struct row *rows;
    size_t count, capacity;
    struct world_outcome outcome;
};

static void keep(void *ctx, const struct record_table *table, const struct record_value *values)
{
    struct told *t = ctx;
    t->rows = mem_grow(t->rows, &t->capacity, t->count + 1, sizeof *t->rows);
    struct row *r = &t->rows[t->count++];
    r->table = table;
    for (int i = 0; i < table->field_count; i++) {
        r->values[i] = values[i];
        if (values[i].kind == RECORD_TEXT)
            r->values[i].u.s = arena_strdup(&t->arena, values[i].u.s);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *f = text == NULL ? NULL : fopen(path, "w");
    if (f != NULL) {
        fputs(text, f);
        fclose(f);
    }
}

struct told *tell(const struct story *story)
{
    struct scratch dir;
    struct diag_list diags = {0};
    struct told *t = mem_zalloc(1, sizeof *t);
    scratch_open(&dir);
    write_file(scratch_file(&dir, "jobs.csv"), story->jobs);
    write_file(scratch_file(&dir, "traffic.csv"), story->traffic);
    struct scenario *s = scenario_load_text(scratch_file(&dir, "story.yaml"), story->yaml,
                                            strlen(story->yaml), NULL, 0, &diags);
    diag_print(&diags, stderr);
    diag_fini(&diags);
    assert_non_null(s);
    struct err err = {0};
    struct world_options opt = {.arbiter = story->arbiter,
                                .replication = story->replication,
                                .run_id = 1,
                                .level = story->level,
                                .sink = {.ctx = t, .row = keep}};
    bool ok = world_run(s, &opt, &t->outcome, &err);
    if (!ok)
        fail_msg("%s", err.text);
    scenario_free(s);
    scratch_close(&dir);
    return t;
}

void told_free(struct told *t)
{
    arena_fini(&t->arena);
    free(t->rows);
    free(t);
}

static const struct record_value *field(const struct row *r, const char *name)
{
    for (int i = 0; i < r->table->field_count; i++)
        if (strcmp(r->table->fields[i].name, name) == 0)
            return &r->values[i];
    fail_msg("table %s has no field %s", r->table->name, name);
    return NULL;
}

static bool is_text(const struct row *r, const char *name, const char *text)
{
    const struct record_value *v = field(r, name);
    return v->kind == RECORD_TEXT && strcmp(v->u.s, text) == 0;
}

static bool is_of(const struct row *r, const char *table)
{
    return strcmp(r->table->name, table) == 0;
}

double told_metric_of(const struct told *t, const char *kind, const char *scope, const char *name)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct row *r = &t->rows[i];
        if (!is_of(r, "metric") || !is_text(r, "name", name) || !is_text(r, "scope_kind", kind) ||
            !is_text(r, "scope", scope))
            continue;
        const struct record_value *v = field(r, "value");
        return v->kind == RECORD_REAL ? v->u.r : (double)NAN;
    }
    fail_msg("no metric %s of %s '%s'", name, kind, scope);
    return 0;
}

double told_metric(const struct told *t, const char *name)
{
    return told_metric_of(t, "all", "", name);
}

static int64_t card_ms(const struct told *t, const char *bucket)
{
    i128 sum = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct row *r = &t->rows[i];
        if (!is_of(r, "ledger") || (bucket != NULL && !is_text(r, "bucket", bucket)))
            continue;
        sum += i128_join((struct i128_card_s){field(r, "card_s")->u.i, field(r, "rest_mcns")->u.i});
    }
    const i128 unit = I128_MCNS_PER_CARD_S / 1000;
    if (sum % unit != 0)
        fail_msg("%s is no whole number of card-milliseconds", bucket == NULL ? "the ledger" : bucket);
    return (int64_t)(sum / unit);
}

int64_t told_card_ms(const struct told *t, const char *bucket)
{
    return card_ms(t, bucket);
}

int64_t told_card_ms_all(const struct told *t)
{
    return card_ms(t, NULL);
}

int64_t told_uusd(const struct told *t, const char *item)
{
    int64_t sum = 0;
    for (size_t i = 0; i < t->count; i++)
        if (is_of(&t->rows[i], "cost") && field(&t->rows[i], "team")->kind == RECORD_NULL &&
            is_text(&t->rows[i], "item", item))
            sum += field(&t->rows[i], "uusd")->u.i;
    return sum;
}

int32_t told_rows(const struct told *t, const char *table)
{
    int32_t n = 0;
    for (size_t i = 0; i < t->count; i++)
        n += is_of(&t->rows[i], table);
    return n;
}

const struct world_outcome *told_outcome(const struct told *t)
{
    return &t->outcome;
}

static const struct row *nth(const struct told *t, const char *table, int32_t n)
{
    for (size_t i = 0; i < t->count; i++)
        if (is_of(&t->rows[i], table) && n-- == 0)
            return &t->rows[i];
    fail_msg("table %s has too few rows", table);
    return NULL;
}

const char *told_text(const struct told *t, const char *table, int32_t row, const char *name)
{
    const struct record_value *v = field(nth(t, table, row), name);
    return v->kind == RECORD_TEXT ? v->u.s : NULL;
}

double told_real(const struct told *t, const char *table, int32_t row, const char *name)
{
    const struct record_value *v = field(nth(t, table, row), name);
    return v->kind == RECORD_REAL ? v->u.r : v->kind == RECORD_INT ? (double)v->u.i : (double)NAN;
}

const struct row *told_next(const struct told *t, const char *table, size_t *at)
{
    while (*at < t->count)
        if (is_of(&t->rows[(*at)++], table))
            return &t->rows[*at - 1];
    return NULL;
}

const char *row_text(const struct row *r, const char *name)
{
    const struct record_value *v = field(r, name);
    return v->kind == RECORD_TEXT ? v->u.s : NULL;
}

int64_t row_int(const struct row *r, const char *name)
{
    return field(r, name)->u.i;
}
