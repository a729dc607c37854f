/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/fgd/run.h"

#include <stdlib.h>
#include <string.h>

#include "sim/dmath.h"

#define CLIENT_START_DRAWS 10 /* thrown away by the Kubernetes client of the original */

static int64_t milli_of(const struct openb_pods *p, int32_t pod)
{
    const struct score_pod *s = &p->kinds[p->kind[pod]].pod;
    return (int64_t)s->cards * s->milli;
}

/* Copies of drawn pods at the end, until one would exceed the target. The original adds that
 * pod's milli per card, not times its cards, when it looks ahead. */
static void grow(struct fgd_events *v, const struct openb_pods *p, struct go_rand *r,
                 int64_t total, int64_t target)
{
    size_t capacity = (size_t)v->count;
    for (;;) {
        int32_t pod = go_rand_intn(r, p->count);
        if (total + p->kinds[p->kind[pod]].pod.milli > target)
            return;
        v->pod = mem_grow(v->pod, &capacity, (size_t)v->count + 1, sizeof *v->pod);
        v->pod[v->count++] = pod;
        total += milli_of(p, pod);
    }
}

static void cut(struct fgd_events *v, const struct openb_pods *p, struct go_rand *r, int64_t total,
                int64_t target)
{
    while (total > target) {
        int32_t i = go_rand_intn(r, v->count);
        total -= milli_of(p, v->pod[i]);
        memmove(v->pod + i, v->pod + i + 1, (size_t)(v->count - i - 1) * sizeof *v->pod);
        v->count--;
    }
}

void fgd_events_make(struct fgd_events *v, const struct openb_nodes *n, const struct openb_pods *p,
                     const struct go_rand_table *table, int64_t seed)
{
    struct go_rand r;
    go_rand_seed(&r, table, seed);
    go_rand_u64(&r);
    *v = (struct fgd_events){.count = p->count};
    v->pod = mem_alloc((size_t)p->count, sizeof *v->pod);
    for (int32_t i = 0; i < p->count; i++)
        v->pod[i] = i;
    go_rand_shuffle(&r, v->pod, v->count);
    int64_t target = n->card_milli / 1000 * FGD_TUNE_MILLI;
    if (p->card_milli > target)
        cut(v, p, &r, p->card_milli, target);
    else
        grow(v, p, &r, p->card_milli, target);
    for (int i = 0; i < CLIENT_START_DRAWS; i++)
        go_rand_u64(&r);
    v->rank = mem_alloc((size_t)n->count, sizeof *v->rank);
    go_rand_perm(&r, v->rank, n->count);
}

void fgd_events_fini(struct fgd_events *v)
{
    free(v->pod);
    free(v->rank);
}

void fgd_mix_make(struct frag_mix *mix, const struct openb_pods *p)
{
    struct frag_count *counts = mem_zalloc((size_t)p->kind_count + 1, sizeof *counts);
    int32_t *of_kind = mem_alloc((size_t)p->kind_count + 1, sizeof *of_kind), n = 0;
    for (int32_t k = 0; k < p->kind_count; k++) { /* memory does not tell expected pods apart */
        int32_t i = 0;
        while (i < n && !score_same_pod(&counts[i].pod, &p->kinds[k].pod))
            i++;
        if (i == n)
            counts[n++].pod = p->kinds[k].pod;
        of_kind[k] = i;
    }
    for (int32_t i = 0; i < p->count; i++)
        counts[of_kind[p->kind[i]]].count++;
    frag_mix_init(mix, counts, n, FGD_COVERED);
    free(counts);
    free(of_kind);
}

/* ---- measuring ---- */

struct column {
    double sum[FGD_METRICS];
    int32_t events;
};

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static double two_digits(double x)
{
    return dm_round(x * 100) / 100;
}

static void measure(struct column *columns, int64_t arrived_milli, const struct packing_totals *t)
{
    double capacity = (double)t->capacity_milli, idle = capacity - (double)t->used_milli;
    int64_t k = (int64_t)dm_round(percent((double)arrived_milli, capacity));
    if (k >= FGD_COLUMNS)
        return;
    struct column *c = &columns[k];
    c->events++;
    c->sum[FGD_ALLOCATED] += two_digits(percent((double)t->used_milli, capacity));
    c->sum[FGD_FRAGMENTED] += two_digits(percent(t->frag_milli, capacity));
    c->sum[FGD_FRAGMENT_RATIO] += two_digits(percent(t->frag_milli, idle));
}

/* Means per column; a column without events takes the nearest one, the lower of two. */
static void fill_columns(struct fgd_result *r, const struct column *columns)
{
    for (int k = 0; k < FGD_COLUMNS; k++) {
        int from = k;
        for (int d = 0; d < FGD_COLUMNS && columns[from].events == 0; d++) {
            if (k - d >= 0 && columns[k - d].events > 0)
                from = k - d;
            else if (k + d < FGD_COLUMNS && columns[k + d].events > 0)
                from = k + d;
        }
        for (int m = 0; m < FGD_METRICS && columns[from].events > 0; m++)
            r->percent[m][k] = columns[from].sum[m] / columns[from].events;
    }
}

static struct packing *make_packing(const struct openb_nodes *n, const struct openb_pods *p,
                                    const struct frag_mix *mix, const int32_t *rank,
                                    enum score_kind rule, uint64_t seed)
{
    struct packing_node *ranked = mem_alloc((size_t)n->count, sizeof *ranked);
    for (int32_t i = 0; i < n->count; i++)
        ranked[rank[i]] = n->nodes[i];
    struct packing *packing = packing_create(ranked, n->count, rule, mix, seed);
    for (int32_t k = 0; k < p->kind_count; k++)
        packing_add_kind(packing, &p->kinds[k]);
    free(ranked);
    return packing;
}

void fgd_run(struct fgd_result *r, const struct openb_nodes *n, const struct openb_pods *p,
             const struct frag_mix *mix, const struct fgd_events *v, enum score_kind rule,
             uint64_t seed)
{
    struct column columns[FGD_COLUMNS] = {0};
    struct packing *packing = make_packing(n, p, mix, v->rank, rule, seed);
    const struct packing_totals *totals = packing_totals_of(packing);
    int64_t arrived_milli = 0;
    *r = (struct fgd_result){.events = v->count};
    for (int32_t i = 0; i < v->count; i++) {
        arrived_milli += milli_of(p, v->pod[i]);
        r->failed += packing_place(packing, p->kind[v->pod[i]]).node < 0;
        measure(columns, arrived_milli, totals);
    }
    fill_columns(r, columns);
    r->end = *totals;
    packing_destroy(packing);
}
