/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Event queue against an unordered list: the input is a list of operations of four bytes (what,
 * time, class, rank). Every popped event must be the least of the list, oldest first.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/check.h"
#include "sim/evq.h"

enum { MOST = 4096, OPERATION_BYTES = 4 };

struct reference {
    struct ev at[MOST]; /* key without sequence; kind numbers the pushes */
    size_t count;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_before(const struct ev *a, const struct ev *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->key != b->key ? a->key < b->key : a->kind < b->kind;
}

static void push(struct evq *q, struct reference *r, const uint8_t *op)
{
    sim_time time = op[1] == 255 ? SIM_NEVER - 1 : (sim_time)op[1];
    uint32_t number = (uint32_t)q->pushed;
    uint64_t key = (uint64_t)op[2] << 56 | (uint64_t)op[3] << 24;
    evq_push(q, time, op[2], op[3], number, ~number);
    r->at[r->count++] = (struct ev){.time = time, .key = key, .kind = number, .gen = ~number};
}

static void expect(struct reference *r, const struct ev *e)
{
    size_t least = 0;
    for (size_t i = 1; i < r->count; i++)
        least = is_before(&r->at[i], &r->at[least]) ? i : least;
    const struct ev *want = &r->at[least];
    REQUIRE(r->count > 0 && e->kind == want->kind && e->gen == want->gen);
    REQUIRE(e->time == want->time && e->key >> 24 == want->key >> 24);
    r->at[least] = r->at[--r->count];
}

static void pop_instant(struct evq *q, struct reference *r, size_t max)
{
    struct ev out[8];
    size_t n = evq_pop_instant(q, out, max % 9);
    for (size_t i = 0; i < n; i++) {
        expect(r, &out[i]);
        REQUIRE(out[i].time == out[0].time);
    }
    REQUIRE(n == max % 9 || r->count == 0 || n == 0 || q->heap[0].time > out[0].time);
}

static bool is_alive(void *ctx, const struct ev *e)
{
    const uint8_t *op = ctx;
    return (e->kind ^ op[1]) % 3 != 0;
}

static void compact(struct evq *q, struct reference *r, const uint8_t *op)
{
    uint8_t copy[OPERATION_BYTES] = {op[0], op[1], op[2], op[3]};
    size_t n = 0;
    evq_compact(q, is_alive, copy);
    for (size_t i = 0; i < r->count; i++) {
        if (is_alive(copy, &r->at[i]))
            r->at[n++] = r->at[i];
    }
    r->count = n;
}

static void operate(struct evq *q, struct reference *r, const uint8_t *op)
{
    struct ev e;
    if (op[0] < 128 && r->count < MOST)
        push(q, r, op);
    else if (op[0] < 230 && evq_pop(q, &e))
        expect(r, &e);
    else if (op[0] < 250)
        pop_instant(q, r, op[1]);
    else
        compact(q, r, op);
    REQUIRE(q->count == r->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct evq q;
    struct reference r;
    struct ev e;
    r.count = 0;
    evq_init(&q, 0);
    for (size_t i = 0; i + OPERATION_BYTES <= size; i += OPERATION_BYTES)
        operate(&q, &r, data + i);
    while (evq_pop(&q, &e))
        expect(&r, &e);
    REQUIRE(r.count == 0);
    evq_fini(&q);
    return 0;
}
