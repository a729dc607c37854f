/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows are packed into chunks of bytes: table number, then per field a kind byte and its payload
 * (zigzag varint, 8 bytes of a double, or varint length and the text with its NUL). A row never
 * straddles two chunks, so a replay can hand out pointers into them.
 */
#include "sim/record.h"

#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/check.h"
#include "sim/fnv.h"

enum { CHUNK_BYTES = 1 << 16, VARINT_MAX_BYTES = 10 };

struct chunk {
    struct chunk *next;
    size_t used_bytes, size_bytes;
    unsigned char data[];
};

struct record_log {
    struct chunk *first, *last;
    const struct record_table **tables;
    size_t table_count, table_capacity, recent; /* recent: table of the last row */
    size_t rows;
};

struct record_log *record_log_create(void)
{
    return mem_zalloc(1, sizeof(struct record_log));
}

void record_log_destroy(struct record_log *log)
{
    if (log == NULL)
        return;
    while (log->first != NULL) {
        struct chunk *c = log->first;
        log->first = c->next;
        free(c);
    }
    free((void *)log->tables);
    free(log);
}

size_t record_log_rows(const struct record_log *log)
{
    return log->rows;
}

size_t record_log_bytes(const struct record_log *log)
{
    size_t bytes = sizeof *log + log->table_capacity * sizeof *log->tables;
    for (const struct chunk *c = log->first; c != NULL; c = c->next)
        bytes += sizeof *c + c->size_bytes;
    return bytes;
}

static size_t table_number(struct record_log *log, const struct record_table *table)
{
    if (log->recent < log->table_count && log->tables[log->recent] == table)
        return log->recent;
    for (size_t i = 0; i < log->table_count; i++) {
        if (log->tables[i] == table)
            return log->recent = i;
    }
    log->tables = mem_grow((void *)log->tables,
                           &log->table_capacity,
                           log->table_count + 1,
                           sizeof(const struct record_table *));
    log->tables[log->table_count] = table;
    return log->recent = log->table_count++;
}

static unsigned char *put_varint(unsigned char *p, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        *p++ = (unsigned char)(x | 0x80);
    *p++ = (unsigned char)x;
    return p;
}

static const unsigned char *get_varint(const unsigned char *p, uint64_t *x)
{
    *x = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char c = *p++;
        *x |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return p;
    }
}

static uint64_t zigzag(int64_t i)
{
    return (uint64_t)i << 1 ^ (i < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t u)
{
    uint64_t bits = u >> 1 ^ (0 - (u & 1));
    int64_t i;
    memcpy(&i, &bits, sizeof i);
    return i;
}

static unsigned char *put_value(unsigned char *p, const struct record_value *v)
{
    *p++ = (unsigned char)v->kind;
    switch (v->kind) {
    case RECORD_NULL:
        break;
    case RECORD_INT:
        p = put_varint(p, zigzag(v->u.i));
        break;
    case RECORD_REAL:
        memcpy(p, &v->u.r, sizeof v->u.r);
        p += sizeof v->u.r;
        break;
    case RECORD_TEXT: {
        size_t n = strlen(v->u.s) + 1;
        p = put_varint(p, n);
        memcpy(p, v->u.s, n);
        p += n;
        break;
    }
    }
    return p;
}

static const unsigned char *get_value(const unsigned char *p, struct record_value *v)
{
    uint64_t x;
    v->kind = (enum record_kind)*p++;
    switch (v->kind) {
    case RECORD_NULL:
        v->u.i = 0;
        break;
    case RECORD_INT:
        p = get_varint(p, &x);
        v->u.i = unzigzag(x);
        break;
    case RECORD_REAL:
        memcpy(&v->u.r, p, sizeof v->u.r);
        p += sizeof v->u.r;
        break;
    case RECORD_TEXT:
        p = get_varint(p, &x);
        v->u.s = (const char *)p;
        p += x;
        break;
    }
    return p;
}

/* Checks the row against its table; returns an upper bound of its packed size. */
static size_t row_bytes(const struct record_table *table, const struct record_value *values)
{
    size_t bytes = VARINT_MAX_BYTES;
    REQUIRE(table->field_count >= 0 && table->field_count <= RECORD_FIELDS_MAX);
    for (int i = 0; i < table->field_count; i++) {
        const struct record_field *f = &table->fields[i];
        const struct record_value *v = &values[i];
        REQUIRE(v->kind == f->kind || (v->kind == RECORD_NULL && f->nullable));
        bytes += 1 + VARINT_MAX_BYTES;
        if (v->kind == RECORD_TEXT)
            bytes += strlen(v->u.s) + 1;
    }
    return bytes;
}

static struct chunk *room_for(struct record_log *log, size_t bytes)
{
    struct chunk *c = log->last;
    if (c != NULL && c->size_bytes - c->used_bytes >= bytes)
        return c;
    size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    c = mem_alloc(1, sizeof *c + size);
    *c = (struct chunk){.size_bytes = size};
    if (log->last != NULL)
        log->last->next = c;
    else
        log->first = c;
    log->last = c;
    return c;
}

static void add_row(void *ctx, const struct record_table *table, const struct record_value *values)
{
    struct record_log *log = ctx;
    struct chunk *c = room_for(log, row_bytes(table, values));
    unsigned char *p = put_varint(c->data + c->used_bytes, table_number(log, table));
    for (int i = 0; i < table->field_count; i++)
        p = put_value(p, &values[i]);
    c->used_bytes = (size_t)(p - c->data);
    log->rows++;
}

struct record_sink record_log_sink(struct record_log *log)
{
    return (struct record_sink){.ctx = log, .row = add_row};
}

static void replay_chunk(const struct record_log *log, const struct chunk *c,
                         const struct record_sink *into)
{
    struct record_value values[RECORD_FIELDS_MAX];
    const unsigned char *p = c->data, *end = c->data + c->used_bytes;
    while (p < end) {
        uint64_t number;
        p = get_varint(p, &number);
        const struct record_table *table = log->tables[number];
        for (int i = 0; i < table->field_count; i++)
            p = get_value(p, &values[i]);
        record_row(into, table, values);
    }
}

void record_log_replay(const struct record_log *log, const struct record_sink *into)
{
    for (const struct chunk *c = log->first; c != NULL; c = c->next)
        replay_chunk(log, c, into);
}

static uint64_t hash_value(uint64_t h, const struct record_value *v)
{
    unsigned char kind = (unsigned char)v->kind;
    h = fnv_add(h, &kind, 1);
    switch (v->kind) {
    case RECORD_NULL:
        break;
    case RECORD_INT:
        h = fnv_add(h, &v->u.i, sizeof v->u.i);
        break;
    case RECORD_REAL:
        h = fnv_add(h, &v->u.r, sizeof v->u.r);
        break;
    case RECORD_TEXT:
        h = fnv_add(h, v->u.s, strlen(v->u.s) + 1);
        break;
    }
    return h;
}

static void hash_row(void *ctx, const struct record_table *table,
                     const struct record_value *values)
{
    uint64_t *h = ctx;
    *h = fnv_add(*h, table->name, strlen(table->name) + 1);
    for (int i = 0; i < table->field_count; i++)
        *h = hash_value(*h, &values[i]);
}

uint64_t record_log_hash(const struct record_log *log, uint64_t start)
{
    uint64_t h = start;
    record_log_replay(log, &(struct record_sink){.ctx = &h, .row = hash_row});
    return h;
}
