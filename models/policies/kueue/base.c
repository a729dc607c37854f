/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "models/policies/kueue/kq.h"

enum { FIRST_CHUNK_BYTES = 16384 };

struct kq_bump_chunk {
    struct kq_bump_chunk *next;
    size_t used, size;
};

void kq_ids_push(struct kq_ids *ids, uint32_t id)
{
    if (ids->count == ids->capacity)
        ids->v = mem_grow(ids->v, &ids->capacity, ids->count + 1, sizeof *ids->v);
    ids->v[ids->count++] = id;
}

void kq_ids_fini(struct kq_ids *ids)
{
    free(ids->v);
    *ids = (struct kq_ids){0};
}

static struct kq_bump_chunk *new_chunk(size_t size)
{
    struct kq_bump_chunk *c = mem_alloc(1, sizeof *c + size);
    *c = (struct kq_bump_chunk){.size = size};
    return c;
}

/* Memory that outputs point to; kept when reset, so that steady state does not allocate. */
void *kq_bump_alloc(struct kq_bump *b, size_t count, size_t size)
{
    const size_t bytes = (count * size + 15) & ~(size_t)15;
    if (b->first == NULL)
        b->first = b->current = new_chunk(FIRST_CHUNK_BYTES);
    while (b->current->size - b->current->used < bytes) {
        if (b->current->next == NULL) {
            size_t next = b->current->size * 2;
            b->current->next = new_chunk(next > bytes ? next : bytes);
        }
        b->current = b->current->next;
        b->current->used = 0;
    }
    void *p = (char *)(b->current + 1) + b->current->used;
    b->current->used += bytes;
    memset(p, 0, bytes);
    return p;
}

void kq_bump_reset(struct kq_bump *b)
{
    b->current = b->first;
    if (b->first != NULL)
        b->first->used = 0;
}

void kq_bump_fini(struct kq_bump *b)
{
    for (struct kq_bump_chunk *c = b->first, *next; c != NULL; c = next) {
        next = c->next;
        free(c);
    }
    *b = (struct kq_bump){0};
}

/* Finalizer of splitmix64: spreads keys that differ in few bits. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static size_t map_slot(const struct kq_map *m, uint64_t key)
{
    size_t i = mix(key) & (m->capacity - 1);
    while (m->values[i] != POLICY_NONE && m->keys[i] != key)
        i = (i + 1) & (m->capacity - 1);
    return i;
}

uint32_t kq_map_get(const struct kq_map *m, uint64_t key)
{
    return m->capacity == 0 ? POLICY_NONE : m->values[map_slot(m, key)];
}

static void map_resize(struct kq_map *m, size_t capacity)
{
    struct kq_map bigger = {.keys = mem_alloc(capacity, sizeof *m->keys),
                            .values = mem_alloc(capacity, sizeof *m->values),
                            .capacity = capacity};
    memset(bigger.values, 0xff, capacity * sizeof *bigger.values);
    for (size_t i = 0; i < m->capacity; i++)
        if (m->values[i] != POLICY_NONE)
            kq_map_put(&bigger, m->keys[i], m->values[i]);
    kq_map_fini(m);
    *m = bigger;
}

void kq_map_put(struct kq_map *m, uint64_t key, uint32_t value)
{
    if (m->count * 2 >= m->capacity)
        map_resize(m, m->capacity == 0 ? 64 : m->capacity * 2);
    size_t i = map_slot(m, key);
    if (m->values[i] == POLICY_NONE)
        m->count++;
    m->keys[i] = key;
    m->values[i] = value;
}

void kq_map_fini(struct kq_map *m)
{
    free(m->keys);
    free(m->values);
    *m = (struct kq_map){0};
}

struct policy_output *kq_say(struct policy_outputs *out, enum policy_output_kind kind,
                             uint32_t workload, int64_t now)
{
    if (out->count == out->capacity)
        out->items = mem_grow(out->items, &out->capacity, out->count + 1, sizeof *out->items);
    struct policy_output *o = &out->items[out->count++];
    memset(o, 0, sizeof *o);
    o->kind = kind;
    o->workload = workload;
    o->time_ns = now;
    return o;
}
