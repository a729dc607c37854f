/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVIDIA: MIG instances and choice by link scores. */
#include <string.h>

#include "models/fleet/sharing/hami_priv.h"

static uint32_t slices_of(const struct hami_mig_profile *p, int32_t start)
{
    return ((UINT32_C(1) << p->size) - 1) << start;
}

/* 1g and 3g start high, the others low (balanced packing, gpu-sharing 1.4). */
static bool prefers_high(const char *profile)
{
    return strncmp(profile, "1g.", 3) == 0 || strncmp(profile, "3g.", 3) == 0;
}

/* First free start in the order of preference, or -1. */
static int32_t free_start(const struct hami_mig_profile *p, uint32_t taken)
{
    int32_t best = -1;
    bool high = prefers_high(p->name);
    for (int32_t i = 0; i < p->start_count; i++) {
        int32_t s = p->starts[i];
        if ((slices_of(p, s) & taken) == 0 && (best < 0 || (high ? s > best : s < best)))
            best = s;
    }
    return best;
}

/* Smallest profile (memory, then slices) that covers the memory and has a free place. */
static int32_t choose_profile(const struct hami_card *d, uint32_t taken, int32_t mem,
                              int32_t *start)
{
    int32_t best = -1;
    for (int32_t i = 0; i < d->mig_count; i++) {
        const struct hami_mig_profile *p = &d->mig[i];
        if (p->mem < mem || free_start(p, taken) < 0)
            continue;
        if (best < 0 || p->mem < d->mig[best].mem ||
            (p->mem == d->mig[best].mem && p->slices < d->mig[best].slices))
            best = i;
    }
    if (best >= 0)
        *start = free_start(&d->mig[best], taken);
    return best;
}

bool hami_nvidia_mig_fits(const struct hami_fit *f, int32_t card, int32_t mem)
{
    const struct hami_card *d = hami_fit_card(f, card);
    if (strcmp(d->mode, "mig") != 0)
        return true;
    uint32_t taken = f->use[card].mig_taken;
    int32_t start;
    for (int32_t i = 0; i < f->found.count; i++) { /* earlier picks, by the memory they asked */
        if (f->found.items[i].card != card)
            continue;
        int32_t p = choose_profile(d, taken, f->found.items[i].mem, &start);
        if (p < 0)
            return false;
        taken |= slices_of(&d->mig[p], start);
    }
    return choose_profile(d, taken, mem, &start) >= 0;
}

bool hami_take_nvidia(const struct hami_fit *f, struct hami_grant *g)
{
    const struct hami_card *d = hami_fit_card(f, g->card);
    struct hami_use *u = &f->use[g->card];
    if (strcmp(d->mode, "mig") == 0) {
        g->profile = choose_profile(d, u->mig_taken, g->mem, &g->start);
        if (g->profile < 0)
            return false;
        const struct hami_mig_profile *p = &d->mig[g->profile];
        g->mem = p->mem;
        g->cores = p->cores;
        u->mig_taken |= slices_of(p, g->start);
    }
    return hami_take_plain(f, g);
}

static int64_t link(const struct hami_fit *f, int32_t from, int32_t to)
{
    const int32_t *pair = hami_fit_card(f, from)->pair;
    return pair != NULL ? pair[to] : 0;
}

/* The card with the lowest sum of scores to the other cards that fit. */
static void choose_worst(struct hami_fit *f)
{
    int64_t lowest = 0;
    int32_t best = -1;
    for (int32_t i = 0; i < f->found.count; i++) {
        int64_t sum = 0;
        for (int32_t k = 0; k < f->found.count; k++)
            if (f->found.items[k].card != f->found.items[i].card)
                sum += link(f, f->found.items[i].card, f->found.items[k].card);
        if (best < 0 || sum < lowest) {
            best = i;
            lowest = sum;
        }
    }
    f->found.items[0] = f->found.items[best];
    f->found.count = 1;
}

static int64_t combination_score(const struct hami_fit *f, const int32_t *at)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < f->req.count; i++)
        for (int32_t k = i + 1; k < f->req.count; k++)
            sum += link(f, f->found.items[at[i]].card, f->found.items[at[k]].card);
    return sum;
}

/* Next combination in lexicographic order; false after the last. */
static bool next_combination(int32_t *at, int32_t k, int32_t n)
{
    int32_t i = k - 1;
    while (i >= 0 && at[i] == n - k + i)
        i--;
    if (i < 0)
        return false;
    at[i]++;
    for (int32_t j = i + 1; j < k; j++)
        at[j] = at[j - 1] + 1;
    return true;
}

/* The combination with the highest sum, first of equals. */
static void choose_best(struct hami_fit *f)
{
    int32_t k = f->req.count;
    int32_t *at = arena_alloc(f->arena, (size_t)k, sizeof(*at));
    int32_t *best = arena_alloc(f->arena, (size_t)k, sizeof(*best));
    for (int32_t i = 0; i < k; i++)
        at[i] = best[i] = i;
    int64_t highest = combination_score(f, at);
    while (next_combination(at, k, f->found.count)) {
        int64_t score = combination_score(f, at);
        if (score > highest) {
            highest = score;
            memcpy(best, at, (size_t)k * sizeof(*best));
        }
    }
    for (int32_t i = 0; i < k; i++) /* best[] ascends, so nothing is overwritten too early */
        f->found.items[i] = f->found.items[best[i]];
    f->found.count = k;
}

void hami_nvidia_topology(struct hami_fit *f)
{
    if (f->req.count == 1)
        choose_worst(f);
    else
        choose_best(f);
}
