/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/fgd/openb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/csv.h"
#include "scenarios/load/text_number.h"

#define AMOUNT_MAX INT64_C(1000000000000)
#define ROWS_MAX 10000000

/* One list being read: its columns and where in it we are. */
struct reader {
    struct csv csv;
    struct err *e;
    const char *const *columns;
    int at[6]; /* -1: column absent */
};

static bool open_reader(struct reader *r, struct text_input *in, const char *const *columns,
                        int needed, int all, struct err *e)
{
    *r = (struct reader){.e = e, .columns = columns};
    csv_init(&r->csv, in, ',');
    if (!csv_header(&r->csv, e))
        return false;
    for (int i = 0; i < all; i++) {
        r->at[i] = csv_find(&r->csv, columns[i]);
        if (i < needed && r->at[i] < 0)
            return err_set(e, ERR_INPUT, "%s: no column '%s'", text_input_name(in), columns[i]);
    }
    return true;
}

static const char *text_at(const struct reader *r, int column)
{
    return r->at[column] < 0 ? "" : r->csv.text[r->at[column]];
}

static bool bad_value(struct reader *r, int column, const char *wanted)
{
    char quoted[48];
    number_quote(quoted, text_at(r, column));
    return err_set(r->e, ERR_INPUT, "%s:%ld:%ld: %s '%s': expected %s",
                   text_input_name(r->csv.in), r->csv.line, r->csv.column[r->at[column]],
                   r->columns[column], quoted, wanted);
}

static bool whole(struct reader *r, int column, int64_t most, int64_t *out)
{
    if (number_decimal(text_at(r, column), 0, false, out) == NUMBER_OK && *out >= 0 && *out <= most)
        return true;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "a whole number from 0 to %" PRId64, most);
    return bad_value(r, column, wanted);
}

/* true: a row is there. false: end, or e is set. */
static bool next_row(struct reader *r, int32_t rows)
{
    enum csv_status status = csv_next(&r->csv, r->e);
    const char *name = text_input_name(r->csv.in);
    if (status == CSV_BAD)
        return err_set(r->e, ERR_INPUT, "%s:%ld:%ld: %s", name, r->csv.line, r->csv.problem_column,
                       r->csv.problem);
    if (status == CSV_ROW && rows >= ROWS_MAX)
        return err_set(r->e, ERR_INPUT, "%s: more than %d rows", name, ROWS_MAX);
    return status == CSV_ROW;
}

/* ---- order by name ---- */

struct named {
    char *name;
    int32_t index;
};

static int compare_names(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int c = strcmp(a->name, b->name);
    return c != 0 ? c : (a->index > b->index) - (a->index < b->index);
}

/* order[i] = index of the i-th name; names is put in order. */
static int32_t *sort_names(char **names, int32_t count)
{
    struct named *by = mem_alloc((size_t)count + 1, sizeof *by);
    int32_t *order = mem_alloc((size_t)count + 1, sizeof *order);
    for (int32_t i = 0; i < count; i++)
        by[i] = (struct named){names[i], i};
    qsort(by, (size_t)count, sizeof *by, compare_names);
    for (int32_t i = 0; i < count; i++) {
        names[i] = by[i].name;
        order[i] = by[i].index;
    }
    free(by);
    return order;
}

/* ---- nodes ---- */

static bool model_of(struct openb_nodes *n, struct reader *r, int column, int32_t *model)
{
    const char *name = text_at(r, column);
    *model = -1;
    if (name[0] == '\0')
        return true;
    for (int32_t i = 0; i < n->model_count; i++)
        if (strcmp(n->models[i], name) == 0) {
            *model = i;
            return true;
        }
    if (n->model_count == OPENB_MODELS_MAX)
        return bad_value(r, column, "at most 63 different models");
    *model = n->model_count;
    n->models[n->model_count++] = arena_strdup(&n->arena, name);
    return true;
}

static bool read_node(struct openb_nodes *n, struct reader *r, struct packing_node *node)
{
    int64_t cards;
    if (!whole(r, 1, AMOUNT_MAX, &node->cpu_milli) || !whole(r, 2, AMOUNT_MAX, &node->memory_mib) ||
        !whole(r, 3, PACKING_CARDS_MAX, &cards) || !model_of(n, r, 4, &node->model))
        return false;
    node->cards = (int32_t)cards;
    n->card_milli += cards * SCORE_CARD_MILLI;
    return true;
}

static void sort_nodes(struct openb_nodes *n)
{
    int32_t *order = sort_names(n->names, n->count);
    struct packing_node *sorted = mem_alloc((size_t)n->count + 1, sizeof *sorted);
    for (int32_t i = 0; i < n->count; i++)
        sorted[i] = n->nodes[order[i]];
    free(n->nodes);
    free(order);
    n->nodes = sorted;
}

bool openb_read_nodes(struct openb_nodes *n, struct text_input *in, struct err *e)
{
    static const char *const columns[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};
    struct reader r;
    size_t capacity = 0, name_capacity = 0;
    *n = (struct openb_nodes){0};
    bool ok = open_reader(&r, in, columns, 5, 5, e);
    while (ok && next_row(&r, n->count)) {
        struct packing_node node;
        ok = read_node(n, &r, &node);
        n->nodes = mem_grow(n->nodes, &capacity, (size_t)n->count + 1, sizeof *n->nodes);
        n->names = mem_grow(n->names, &name_capacity, (size_t)n->count + 1, sizeof *n->names);
        n->names[n->count] = arena_strdup(&n->arena, text_at(&r, 0));
        n->nodes[n->count++] = node;
    }
    csv_fini(&r.csv);
    if (e->code == ERR_NONE && n->card_milli == 0)
        err_set(e, ERR_INPUT, "%s: no node has a card", text_input_name(in));
    if (e->code == ERR_NONE)
        sort_nodes(n);
    return e->code == ERR_NONE;
}

void openb_nodes_fini(struct openb_nodes *n)
{
    free(n->nodes);
    free(n->names);
    arena_fini(&n->arena);
}

/* ---- pods ---- */

/* Models of "A|B" as bits; unknown ones match no node. */
static uint64_t spec_models(const struct openb_nodes *n, const char *spec)
{
    if (spec[0] == '\0')
        return SCORE_ANY_MODEL;
    uint64_t models = 0;
    for (const char *word = spec; word != NULL;) {
        const char *end = strchr(word, '|');
        size_t length = end != NULL ? (size_t)(end - word) : strlen(word);
        for (int32_t i = 0; i < n->model_count; i++)
            if (strlen(n->models[i]) == length && strncmp(n->models[i], word, length) == 0)
                models |= UINT64_C(1) << i;
        word = end != NULL ? end + 1 : NULL;
    }
    return models;
}

/* Texts of limits seen so far; a kind's spec is an index here until they are put in order. */
struct specs {
    char **texts;
    size_t count, capacity;
};

static int32_t spec_index(struct specs *s, struct arena *arena, const char *text)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->texts[i], text) == 0)
            return (int32_t)i;
    s->texts = mem_grow(s->texts, &s->capacity, s->count + 1, sizeof *s->texts);
    s->texts[s->count] = arena_strdup(arena, text);
    return (int32_t)s->count++;
}

static void rank_specs(struct openb_pods *p, struct specs *s)
{
    int32_t *order = sort_names(s->texts, (int32_t)s->count);
    int32_t *rank = mem_alloc(s->count + 1, sizeof *rank);
    for (size_t i = 0; i < s->count; i++)
        rank[order[i]] = (int32_t)i;
    for (int32_t i = 0; i < p->kind_count; i++)
        p->kinds[i].pod.spec = rank[p->kinds[i].pod.spec];
    free(order);
    free(rank);
    free(s->texts);
}

/* Cleaning rules of the experiment: a pod without cards has no limit; above 1000 milli is 1000. */
static bool read_pod(const struct openb_nodes *n, struct openb_pods *p, struct reader *r,
                     struct specs *specs, struct packing_pod *pod)
{
    int64_t cards, milli;
    *pod = (struct packing_pod){0};
    if (!whole(r, 1, AMOUNT_MAX, &pod->pod.cpu_milli) ||
        !whole(r, 2, AMOUNT_MAX, &pod->memory_mib) || !whole(r, 3, PACKING_CARDS_MAX, &cards) ||
        !whole(r, 4, AMOUNT_MAX, &milli))
        return false;
    const char *spec = cards > 0 ? text_at(r, 5) : "";
    milli = cards == 0 ? 0 : milli > SCORE_CARD_MILLI ? SCORE_CARD_MILLI : milli;
    if (cards > 0 && milli == 0)
        return bad_value(r, 4, "at least 1 for a pod with a card");
    if (cards > 1 && milli < SCORE_CARD_MILLI)
        return bad_value(r, 4, "1000 for a pod with several cards");
    pod->pod.cards = (int32_t)cards;
    pod->pod.milli = (int32_t)milli;
    pod->pod.models = spec_models(n, spec);
    pod->pod.spec = spec_index(specs, &p->arena, spec);
    return true;
}

static int32_t kind_of(struct openb_pods *p, size_t *capacity, const struct packing_pod *pod)
{
    for (int32_t i = 0; i < p->kind_count; i++)
        if (score_same_pod(&p->kinds[i].pod, &pod->pod) && p->kinds[i].memory_mib == pod->memory_mib)
            return i;
    p->kinds = mem_grow(p->kinds, capacity, (size_t)p->kind_count + 1, sizeof *p->kinds);
    p->kinds[p->kind_count] = *pod;
    return p->kind_count++;
}

static void sort_pods(struct openb_pods *p)
{
    int32_t *order = sort_names(p->names, p->count);
    for (int32_t i = 0; i < p->count; i++)
        order[i] = p->kind[order[i]];
    free(p->kind);
    p->kind = order;
}

bool openb_read_pods(struct openb_pods *p, const struct openb_nodes *n, struct text_input *in,
                     struct err *e)
{
    static const char *const columns[] = {"name",    "cpu_milli", "memory_mib",
                                          "num_gpu", "gpu_milli", "gpu_spec"};
    struct reader r;
    struct specs specs = {0};
    size_t capacity = 0, name_capacity = 0, kind_capacity = 0;
    *p = (struct openb_pods){0};
    bool ok = open_reader(&r, in, columns, 5, 6, e);
    while (ok && next_row(&r, p->count)) {
        struct packing_pod pod;
        ok = read_pod(n, p, &r, &specs, &pod);
        p->kind = mem_grow(p->kind, &capacity, (size_t)p->count + 1, sizeof *p->kind);
        p->names = mem_grow(p->names, &name_capacity, (size_t)p->count + 1, sizeof *p->names);
        p->names[p->count] = arena_strdup(&p->arena, text_at(&r, 0));
        p->kind[p->count++] = kind_of(p, &kind_capacity, &pod);
        p->card_milli += (int64_t)pod.pod.cards * pod.pod.milli;
    }
    csv_fini(&r.csv);
    rank_specs(p, &specs);
    if (e->code == ERR_NONE && p->card_milli == 0)
        err_set(e, ERR_INPUT, "%s: no pod asks for a card", text_input_name(in));
    if (e->code == ERR_NONE)
        sort_pods(p);
    return e->code == ERR_NONE;
}

void openb_pods_fini(struct openb_pods *p)
{
    free(p->kinds);
    free(p->kind);
    free(p->names);
    arena_fini(&p->arena);
}
