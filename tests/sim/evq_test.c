/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/evq.h"
#include "sim/fnv.h"
#include "sim/rng.h"

/* The naive reference: an array sorted by insertion; equal (time, class, rank) stay in order. */
struct model_event {
    sim_time time;
    uint8_t cls;
    uint32_t rank, kind, gen;
};
struct model {
    struct model_event at[4096];
    size_t count;
};

static int compare_keys(const struct model_event *a, const struct model_event *b)
{
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->cls != b->cls)
        return a->cls < b->cls ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static void model_push(struct model *m, struct model_event e)
{
    size_t i = m->count++;
    while (i > 0 && compare_keys(&e, &m->at[i - 1]) < 0) {
        m->at[i] = m->at[i - 1];
        i--;
    }
    m->at[i] = e;
}

static struct model_event model_pop(struct model *m)
{
    struct model_event first = m->at[0];
    memmove(&m->at[0], &m->at[1], --m->count * sizeof m->at[0]);
    return first;
}

static void push_both(struct evq *q, struct model *m, struct model_event e)
{
    evq_push(q, e.time, e.cls, e.rank, e.kind, e.gen);
    model_push(m, e);
}

static void assert_same(const struct ev *e, const struct model_event *want)
{
    assert_int_equal(e->time, want->time);
    assert_int_equal(ev_class(e), want->cls);
    assert_int_equal(ev_rank(e), want->rank);
    assert_int_equal(e->kind, want->kind);
    assert_int_equal(e->gen, want->gen);
}

static void pop_both(struct evq *q, struct model *m)
{
    struct ev e, peeked;
    if (m->count == 0) {
        assert_false(evq_pop(q, &e));
        return;
    }
    struct model_event want = model_pop(m);
    assert_true(evq_peek(q, &peeked));
    assert_true(evq_pop(q, &e));
    assert_memory_equal(&peeked, &e, sizeof e);
    assert_same(&e, &want);
}

/* spread: number of different times, so that 1 means that everything ties. */
static struct model_event random_event(struct rng *r, uint64_t spread, uint32_t number)
{
    return (struct model_event){.time = (sim_time)rng_below(r, spread),
                                .cls = (uint8_t)rng_below(r, 3),
                                .rank = (uint32_t)rng_below(r, 4),
                                .kind = number,
                                .gen = (uint32_t)rng_u64(r)};
}

static void run_random_operations(uint64_t seed, uint64_t spread)
{
    struct model *m = calloc(1, sizeof *m);
    struct evq q;
    struct rng r;
    evq_init(&q, 0);
    rng_open(&r, seed, 0, 0, spread);
    for (uint32_t i = 0; i < 6000; i++) {
        bool growing = (i / 1000) % 2 == 0;
        if (m->count < 4096 && rng_below(&r, 10) < (growing ? 7 : 3))
            push_both(&q, m, random_event(&r, spread, i));
        else
            pop_both(&q, m);
        assert_int_equal(q.count, m->count);
    }
    while (m->count > 0)
        pop_both(&q, m);
    assert_int_equal(q.popped, q.pushed);
    evq_fini(&q);
    free(m);
}

static void random_operations_agree_with_a_sorted_array(void **state)
{
    static const uint64_t spreads[] = {1, 2, 8, 1000, UINT64_C(1) << 62};
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (size_t i = 0; i < sizeof spreads / sizeof spreads[0]; i++)
            run_random_operations(seed, spreads[i]);
    }
}

static void one_instant_is_ordered_by_class_then_rank_then_insertion(void **state)
{
    static const struct model_event pushed[] = {
        {5, 2, 0, 100, 0}, {5, 1, 9, 101, 0}, {5, 1, 3, 102, 0}, {5, 1, 9, 103, 0},
        {4, 255, UINT32_MAX, 104, 0}, {5, 0, UINT32_MAX, 105, 0}, {5, 1, 9, 106, 0}};
    static const uint32_t want[] = {104, 105, 102, 101, 103, 106, 100};
    struct evq q;
    struct ev e;
    (void)state;
    evq_init(&q, 1);
    for (size_t i = 0; i < 7; i++)
        evq_push(&q, pushed[i].time, pushed[i].cls, pushed[i].rank, pushed[i].kind, 0);
    for (size_t i = 0; i < 7; i++) {
        assert_true(evq_pop(&q, &e));
        assert_int_equal(e.kind, want[i]);
    }
    assert_false(evq_pop(&q, &e));
    evq_fini(&q);
}

static void an_instant_is_taken_whole_and_later_pushes_come_next(void **state)
{
    struct evq q;
    struct ev out[8];
    (void)state;
    evq_init(&q, 4);
    assert_int_equal(evq_pop_instant(&q, out, 8), 0);
    for (uint32_t i = 0; i < 5; i++)
        evq_push(&q, 10, 0, 5 - i, i, 0);
    evq_push(&q, 11, 0, 0, 77, 0);
    assert_int_equal(evq_pop_instant(&q, out, 8), 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(out[i].kind, 4 - i);
    evq_push(&q, 10, 0, 0, 88, 0);
    assert_int_equal(evq_pop_instant(&q, out, 8), 1);
    assert_int_equal(out[0].kind, 88);
    assert_int_equal(evq_pop_instant(&q, out, 8), 1);
    assert_int_equal(out[0].kind, 77);
    evq_fini(&q);
}

static void an_instant_larger_than_the_array_comes_in_parts(void **state)
{
    struct evq q;
    struct ev out[3];
    (void)state;
    evq_init(&q, 4);
    for (uint32_t i = 0; i < 7; i++)
        evq_push(&q, 10, 0, i, i, 0);
    assert_int_equal(evq_pop_instant(&q, out, 3), 3);
    assert_int_equal(out[2].kind, 2);
    assert_int_equal(evq_pop_instant(&q, out, 3), 3);
    assert_int_equal(evq_pop_instant(&q, out, 3), 1);
    assert_int_equal(out[0].kind, 6);
    evq_fini(&q);
}

static bool kind_is_even(void *ctx, const struct ev *e)
{
    size_t *asked = ctx;
    ++*asked;
    return e->kind % 2 == 0;
}

static void compaction_drops_the_dead_and_keeps_the_order(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 200; n++) {
        struct evq q;
        struct model *m = calloc(1, sizeof *m);
        struct rng r;
        size_t asked = 0;
        evq_init(&q, 0);
        rng_open(&r, 1, 0, 0, n);
        for (uint32_t i = 0; i < n; i++) {
            struct model_event e = random_event(&r, 50, i);
            evq_push(&q, e.time, e.cls, e.rank, e.kind, e.gen);
            if (e.kind % 2 == 0)
                model_push(m, e);
        }
        evq_compact(&q, kind_is_even, &asked);
        assert_int_equal(asked, n);
        assert_int_equal(q.count, m->count);
        while (m->count > 0)
            pop_both(&q, m);
        evq_fini(&q);
        free(m);
    }
}

/* 24 bits of sequence are used up after 16.8 million pushes; what is pending then must keep its
 * place against what comes later. */
static void insertion_order_survives_the_end_of_the_sequence_numbers(void **state)
{
    struct evq q;
    struct ev e;
    uint32_t pushed = 0, popped = 0;
    (void)state;
    evq_init(&q, 16);
    while (pushed < 1000)
        evq_push(&q, 7, 1, 4, pushed++, 0);
    while (pushed < 2 * (UINT32_C(1) << 24) + 5000) {
        evq_push(&q, 7, 1, 4, pushed++, 0);
        assert_true(evq_pop(&q, &e));
        assert_true(e.kind == popped++);
    }
    assert_int_equal(q.count, 1000);
    assert_int_equal(q.peak, 1001);
    evq_fini(&q);
}

static void counters_tell_what_happened(void **state)
{
    struct evq q;
    struct ev e;
    (void)state;
    evq_init(&q, 2);
    for (uint32_t i = 0; i < 5; i++)
        evq_push(&q, i, 0, 0, i, 0);
    evq_pop(&q, &e);
    evq_push(&q, 9, 0, 0, 9, 0);
    assert_int_equal(q.pushed, 6);
    assert_int_equal(q.popped, 1);
    assert_int_equal(q.peak, 5);
    evq_fini(&q);
    evq_fini(&q); /* a zeroed queue */
}

/* Two queues do not notice each other: interleaved and alone they give the same order. */
static uint64_t hash_of_run(uint64_t seed, struct evq *neighbour)
{
    struct evq q;
    struct rng r;
    struct ev e;
    uint64_t h = FNV_START;
    evq_init(&q, 3);
    rng_open(&r, seed, 0, 0, 0);
    for (uint32_t i = 0; i < 5000; i++) {
        evq_push(&q, (sim_time)rng_below(&r, 300), 0, (uint32_t)rng_below(&r, 9), i, 0);
        if (neighbour != NULL)
            evq_push(neighbour, 3, 0, 0, i, 0);
        if (i % 3 == 0 && evq_pop(&q, &e))
            h = fnv_add(h, &e.kind, sizeof e.kind);
    }
    while (evq_pop(&q, &e))
        h = fnv_add(h, &e.kind, sizeof e.kind);
    evq_fini(&q);
    return h;
}

static void two_queues_do_not_notice_each_other(void **state)
{
    struct evq other;
    (void)state;
    evq_init(&other, 1);
    assert_int_equal(hash_of_run(5, NULL), hash_of_run(5, &other));
    evq_fini(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_agree_with_a_sorted_array),
        cmocka_unit_test(one_instant_is_ordered_by_class_then_rank_then_insertion),
        cmocka_unit_test(an_instant_is_taken_whole_and_later_pushes_come_next),
        cmocka_unit_test(an_instant_larger_than_the_array_comes_in_parts),
        cmocka_unit_test(compaction_drops_the_dead_and_keeps_the_order),
        cmocka_unit_test(insertion_order_survives_the_end_of_the_sequence_numbers),
        cmocka_unit_test(counters_tell_what_happened),
        cmocka_unit_test(two_queues_do_not_notice_each_other),
    };
    return cmocka_run_group_tests_name("evq", tests, NULL, NULL);
}
