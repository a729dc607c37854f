/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Field tables: one table per struct, one row per field. From the rows come reading, bounds
 * errors, the nearest known key, `fleetsim schema`, and docs/scenario-reference.md. Defaults come
 * from the struct's defaults function, so that they are written once.
 *
 * The row's kind fixes both what is written in YAML and what is stored:
 *
 *   kind                stored as        written as
 *   FIELD_INT           int32_t          12
 *   FIELD_SEED          uint64_t         12
 *   FIELD_REAL          double           1.5
 *   FIELD_FRACTION      double           0.99 (bounds 0..1)
 *   FIELD_DURATION      sim_time         5m
 *   FIELD_SECONDS       double, s        40ms
 *   FIELD_HOURS         double, h        17h30m (an hour of the day)
 *   FIELD_WINDOW        sim_time         300 or 5m: the name says seconds
 *   FIELD_BYTES         int64_t          80GiB
 *   FIELD_BYTES_REAL    double           128KiB
 *   FIELD_BYTE_RATE     double, B/s      10GB/s
 *   FIELD_RATE          double, 1/s      12/s
 *   FIELD_PER_DAY       double, 1/day    3/day
 *   FIELD_PER_MINUTE    double, 1/min    200000/min
 *   FIELD_USD_HOUR      int64_t, uusd/h  6.88usd/h
 *   FIELD_USD_YEAR      int64_t, uusd    200000usd/year
 *   FIELD_USD_SECOND    double, uusd/s   0.0001usd/s
 *   FIELD_TOKEN_PRICE   int64_t, uusd    0.72usd/Mtok
 *   FIELD_MILLI         int32_t, milli   0.25
 *   FIELD_BOOL          bool             true
 *   FIELD_ENUM          an enum (int)    one of .names
 *   FIELD_STRING        const char *     text
 *   FIELD_NAME          const char *     a name others refer to: printable, no brackets
 *   FIELD_INSTANT       int64_t, ns      2026-01-05T00:00:00Z
 *   FIELD_REF           int32_t          name of an item of another list
 *   FIELD_REALS         double[.fixed]   list of .fixed numbers
 *   FIELD_LABELS        struct label *   map of texts; count at .count_offset
 *   FIELD_AMOUNTS       struct resource_amount *   map resource: quantity
 *   FIELD_STRUCT        embedded struct  map, rows of .sub
 *   FIELD_LIST          array            list of maps, rows of .sub; count at .count_offset
 *   FIELD_CUSTOM        .read decides    .shape says what, for the reference and the schema
 */
#ifndef SCENARIOS_LOAD_FIELD_H
#define SCENARIOS_LOAD_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/fleet/fleet_config.h"
#include "scenarios/load/ytree.h"

enum field_kind {
    FIELD_INT, FIELD_SEED, FIELD_REAL, FIELD_FRACTION, FIELD_DURATION, FIELD_SECONDS, FIELD_HOURS,
    FIELD_WINDOW, FIELD_BYTES, FIELD_BYTES_REAL, FIELD_BYTE_RATE, FIELD_RATE, FIELD_PER_DAY,
    FIELD_PER_MINUTE, FIELD_USD_HOUR, FIELD_USD_YEAR, FIELD_USD_SECOND, FIELD_TOKEN_PRICE, FIELD_MILLI,
    FIELD_BOOL, FIELD_ENUM, FIELD_STRING, FIELD_NAME, FIELD_INSTANT, FIELD_REF, FIELD_REALS,
    FIELD_LABELS, FIELD_AMOUNTS, FIELD_STRUCT, FIELD_LIST, FIELD_CUSTOM, FIELD_KIND_COUNT
};

/* Lists that other fields refer to by name. */
enum ref_domain { REF_TEAM, REF_PRIORITY_CLASS, REF_COHORT, REF_QUEUE, REF_MODEL, REF_FLAVOR, REF_POOL, REF_COUNT };

enum field_flag { FIELD_REQUIRED = 1, FIELD_EMPTY_OK = 2 };

/* Names of an enum; the first of several names of one value is the one that is printed. */
struct enum_name {
    const char *name; /* NULL ends the list */
    int value;
};

struct field;
struct read_ctx;

struct schema {
    const char *title;                 /* what one of them is, for messages: "a node pool" */
    const char *about;                 /* paragraph of the reference, or NULL */
    size_t size;
    const struct field *fields;        /* ends with name NULL */
    void (*defaults)(void *out);       /* NULL: zeroed */
    /* Before the rows: defaults that depend on other keys of this map. */
    void (*before)(struct read_ctx *ctx, const struct ynode *map, void *out);
    /* After the rows: what follows from several of them. */
    void (*after)(struct read_ctx *ctx, const struct ynode *map, void *out);
};

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset, count_offset;
    double min, max;                   /* in the unit of the stored value; max 0 = no upper bound */
    const char *help;                  /* one sentence */
    const char *fallback;              /* default in words, when it is not a plain value */
    unsigned flags;
    const struct enum_name *names;
    const struct schema *sub;
    enum ref_domain domain;
    int32_t fixed;                     /* FIELD_REALS */
    void (*read)(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *out);
    const char *shape;                 /* FIELD_CUSTOM: how it is written */
};

struct name_list {
    const char **items;
    int32_t count;
    size_t capacity;
};

enum { READ_PATH_MAX = 256 };

struct read_ctx {
    struct arena *arena;
    struct diag_list *diags;
    char path[READ_PATH_MAX];          /* "fleet.nodePools[2].card" */
    struct name_list refs[REF_COUNT];  /* names of the lists, gathered before reading */
    struct name_list resources;        /* named resources beside the card, in order of appearance */
    void *scenario;                    /* struct scenario being filled */
    const void *priv;                  /* of the top level reader */
};

/* Reads map n into out (schema->size bytes): defaults, before, rows, after. Problems are added;
 * out is always fully set. */
void field_read_struct(struct read_ctx *ctx, const struct schema *s, const struct ynode *n, void *out);

/* The rows alone, over what out already holds. */
void field_read_rows(struct read_ctx *ctx, const struct schema *s, const struct ynode *n, void *out);

/* One value. */
void field_read(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base);

/* The same for the kinds that are one scalar (field_scalar.c). */
void field_read_scalar(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base);

/* Index of a name in a list, or -1 after a problem that names the nearest one. */
int32_t field_resolve(struct read_ctx *ctx, enum ref_domain domain, const struct ynode *n);
/* Index of a named resource; new names are added. -1 after a problem when there are too many. */
int32_t field_resource(struct read_ctx *ctx, const char *name, const struct ynode *n);

/* A problem at n: "path: text". */
void field_problem(struct read_ctx *ctx, const struct ynode *n, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The usual one: "path: expected <expected>, got <what n is>". */
void field_expected(struct read_ctx *ctx, const struct ynode *n, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Path handling: returns the mark to hand to field_path_pop. */
size_t field_path_push(struct read_ctx *ctx, const char *key);
size_t field_path_push_index(struct read_ctx *ctx, int32_t ix);
void field_path_pop(struct read_ctx *ctx, size_t mark);

/* What to write for a field: "a duration such as 5m". bounds: adds "of 1s to 28d". */
void field_expectation(const struct field *f, bool bounds, char *out, size_t n);
/* The value of a field in a struct as text; false when the kind has no short text. */
bool field_print(const struct field *f, const void *base, char *out, size_t n);

int32_t name_list_find(const struct name_list *list, const char *name);
void name_list_add(struct name_list *list, const char *name);

#endif
