/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/dmath.h"
#include "sim/fnv.h"
#include "sim/record.h"
#include "sim/rng.h"

static const struct record_table job_table = {
    .name = "job",
    .help = "a job",
    .fields = {{"id", RECORD_INT, false},
               {"name", RECORD_TEXT, true},
               {"wait_s", RECORD_REAL, true}},
    .field_count = 3,
};
static const struct record_table tick_table = {
    .name = "tick",
    .help = "an instant",
    .fields = {{"t_ns", RECORD_INT, false}},
    .field_count = 1,
};

/* A sink that writes each row as text. */
struct page {
    char text[8192];
    size_t used;
};

static void print_value(struct page *p, const struct record_value *v)
{
    char *at = p->text + p->used;
    size_t room = sizeof p->text - p->used;
    int n = 0;
    switch (v->kind) {
    case RECORD_NULL:
        n = snprintf(at, room, " null");
        break;
    case RECORD_INT:
        n = snprintf(at, room, " %" PRId64, v->u.i);
        break;
    case RECORD_REAL:
        n = snprintf(at, room, " %a", v->u.r);
        break;
    case RECORD_TEXT:
        n = snprintf(at, room, " '%s'", v->u.s);
        break;
    }
    p->used += (size_t)n;
    assert_true(p->used < sizeof p->text);
}

static void print_row(void *ctx, const struct record_table *table,
                      const struct record_value *values)
{
    struct page *p = ctx;
    p->used += (size_t)snprintf(p->text + p->used, sizeof p->text - p->used, "%s", table->name);
    for (int i = 0; i < table->field_count; i++)
        print_value(p, &values[i]);
    p->text[p->used++] = '\n';
}

static void add_job(const struct record_sink *sink, int64_t id, const char *name, double wait_s)
{
    struct record_value row[] = {rec_int(id), rec_text(name), rec_real(wait_s)};
    record_row(sink, &job_table, row);
}

static void add_tick(const struct record_sink *sink, int64_t t_ns)
{
    struct record_value row[] = {rec_int(t_ns)};
    record_row(sink, &tick_table, row);
}

static void a_replay_gives_all_rows_in_order_with_their_values(void **state)
{
    struct record_log *log = record_log_create();
    struct record_sink sink = record_log_sink(log);
    struct page page = {0};
    char name[] = "first";
    (void)state;
    add_job(&sink, 1, name, 0.1);
    name[0] = 'X'; /* the log has its own copy */
    add_tick(&sink, INT64_MIN);
    add_tick(&sink, INT64_MAX);
    add_job(&sink, -2, NULL, DM_NAN);
    add_job(&sink, 0, "", -0.0);
    add_tick(&sink, -1);
    record_log_replay(log, &(struct record_sink){&page, print_row});
    assert_string_equal(page.text,
                        "job 1 'first' 0x1.999999999999ap-4\n"
                        "tick -9223372036854775808\n"
                        "tick 9223372036854775807\n"
                        "job -2 null null\n"
                        "job 0 '' -0x0p+0\n"
                        "tick -1\n");
    assert_int_equal(record_log_rows(log), 6);
    record_log_destroy(log);
}

static void count_row(void *ctx, const struct record_table *table,
                      const struct record_value *values)
{
    size_t *n = ctx;
    if (table == &job_table && values[1].kind == RECORD_TEXT)
        assert_int_equal(strlen(values[1].u.s), (size_t)values[0].u.i);
    ++*n;
}

static void texts_of_any_length_survive(void **state)
{
    struct record_log *log = record_log_create();
    struct record_sink sink = record_log_sink(log);
    char *text = malloc(300001);
    size_t rows = 0;
    (void)state;
    memset(text, 'a', 300000);
    text[300000] = '\0';
    for (int64_t length = 0; length <= 300000; length = length * 3 / 2 + 1) {
        for (int i = 0; i < 5; i++)
            add_job(&sink, length, text + 300000 - length, 1);
    }
    record_log_replay(log, &(struct record_sink){&rows, count_row});
    assert_int_equal(rows, record_log_rows(log));
    assert_true(rows > 100);
    record_log_destroy(log);
    free(text);
}

static struct record_log *random_log(uint64_t seed, int rows)
{
    struct record_log *log = record_log_create();
    struct record_sink sink = record_log_sink(log);
    struct rng r;
    rng_open(&r, seed, 0, 0, 0);
    for (int i = 0; i < rows; i++) {
        if (rng_below(&r, 3) == 0)
            add_tick(&sink, (int64_t)(rng_u64(&r) >> rng_below(&r, 64)));
        else
            add_job(&sink, i, rng_below(&r, 2) == 0 ? "trainer" : NULL, rng_exp(&r, 10));
    }
    return log;
}

static void a_log_replayed_into_a_log_is_the_same_log(void **state)
{
    struct record_log *log = random_log(1, 20000), *copy = record_log_create();
    struct record_sink sink = record_log_sink(copy);
    (void)state;
    record_log_replay(log, &sink);
    assert_int_equal(record_log_rows(copy), 20000);
    assert_int_equal(record_log_hash(log, FNV_START), record_log_hash(copy, FNV_START));
    record_log_destroy(log);
    record_log_destroy(copy);
}

static uint64_t hash_of(const struct record_value *row, const struct record_table *table)
{
    struct record_log *log = record_log_create();
    struct record_sink sink = record_log_sink(log);
    record_row(&sink, table, row);
    uint64_t h = record_log_hash(log, FNV_START);
    record_log_destroy(log);
    return h;
}

static void the_hash_sees_every_field_and_the_kind(void **state)
{
    struct record_value rows[][3] = {
        {rec_int(1), rec_text("a"), rec_real(2)},  {rec_int(2), rec_text("a"), rec_real(2)},
        {rec_int(1), rec_text("b"), rec_real(2)},  {rec_int(1), rec_null(), rec_real(2)},
        {rec_int(1), rec_text(""), rec_real(2)},   {rec_int(1), rec_text("a"), rec_null()},
        {rec_int(1), rec_text("a"), rec_real(-0.0)}, {rec_int(1), rec_text("a"), rec_real(0.0)},
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    uint64_t h[ROWS];
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        h[i] = hash_of(rows[i], &job_table);
        for (int j = 0; j < i; j++)
            assert_true(h[i] != h[j]);
    }
    struct record_table renamed = job_table;
    renamed.name = "jobs";
    assert_true(hash_of(rows[0], &renamed) != h[0]);
    assert_int_equal(hash_of(rows[0], &job_table), h[0]);
}

static void the_hash_depends_on_the_order_and_goes_on_from_its_start(void **state)
{
    struct record_log *forward = record_log_create(), *backward = record_log_create();
    struct record_sink f = record_log_sink(forward), b = record_log_sink(backward);
    (void)state;
    add_tick(&f, 1), add_tick(&f, 2);
    add_tick(&b, 2), add_tick(&b, 1);
    assert_true(record_log_hash(forward, FNV_START) != record_log_hash(backward, FNV_START));
    struct record_log *one = record_log_create(), *two = record_log_create();
    struct record_sink s1 = record_log_sink(one), s2 = record_log_sink(two);
    add_tick(&s1, 1);
    add_tick(&s2, 2);
    assert_int_equal(record_log_hash(two, record_log_hash(one, FNV_START)),
                     record_log_hash(forward, FNV_START));
    record_log_destroy(forward), record_log_destroy(backward);
    record_log_destroy(one), record_log_destroy(two);
}

static void a_log_is_compact(void **state)
{
    struct record_log *log = record_log_create();
    struct record_sink sink = record_log_sink(log);
    (void)state;
    for (int64_t i = 0; i < 200000; i++)
        add_tick(&sink, i);
    assert_int_equal(record_log_rows(log), 200000);
    /* table, kind and at most three bytes of number: five bytes a row */
    assert_true(record_log_bytes(log) < 200000 * 5 + 100000);
    record_log_destroy(log);
    record_log_destroy(NULL);
}

static void rows_into_no_sink_are_dropped(void **state)
{
    struct record_value row[] = {rec_int(1)};
    (void)state;
    record_row(NULL, &tick_table, row);
    record_row(&(struct record_sink){0}, &tick_table, row);
    assert_int_equal(rec_real(DM_NAN).kind, RECORD_NULL);
    assert_int_equal(rec_text(NULL).kind, RECORD_NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_gives_all_rows_in_order_with_their_values),
        cmocka_unit_test(texts_of_any_length_survive),
        cmocka_unit_test(a_log_replayed_into_a_log_is_the_same_log),
        cmocka_unit_test(the_hash_sees_every_field_and_the_kind),
        cmocka_unit_test(the_hash_depends_on_the_order_and_goes_on_from_its_start),
        cmocka_unit_test(a_log_is_compact),
        cmocka_unit_test(rows_into_no_sink_are_dropped),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
